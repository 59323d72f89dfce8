//! How many times as fast as stock each workload has to be.

/// The least ratio for an operation that Outboard offers or passes through. The room below 1 is the uncertainty of the
/// method.
const NEVER_WORSE: f64 = 0.97;

/// Stock against stock: the method has to be truer than this.
pub(super) const CONTROL: f64 = 0.98;

/// At least this many times as fast as the system's OpenSSL 3.0, by name and size.
pub(super) fn target(name: &str, size: usize) -> f64 {
    match (name, size) {
        ("rsa-3072-sign" | "rsa-4096-sign", _) => 2.0,
        ("p384-sign", _) => 8.0,
        ("p384-verify", _) => 3.0,
        ("p384-derive", _) => 5.0,
        ("p521-sign", _) => 1.5,
        ("x25519-derive" | "x25519-keygen", _) => 1.3,
        ("ed25519-sign", _) => 3.0,
        ("ed25519-verify", _) => 2.5,
        ("tls13-kdf-sha256", _) => 2.0,
        ("tls13-extract-sha256", _) => 3.0,
        (name, 16384) if is_gcm(name) => 1.8,
        (name, 1024) if is_gcm(name) => 1.3,
        _ => NEVER_WORSE,
    }
}

fn is_gcm(name: &str) -> bool {
    matches!(
        name,
        "aes-128-gcm-seal" | "aes-128-gcm-open" | "aes-256-gcm-seal" | "aes-256-gcm-open"
    )
}

/// Whether a target was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Verdict {
    /// The median is there.
    Met,
    /// The median is not, but its 95 % interval is: measure for longer.
    Unclear,
    /// It is not.
    Missed,
}

impl Verdict {
    pub(super) fn new(ratio: f64, confidence: (f64, f64), target: f64) -> Self {
        if ratio >= target {
            Self::Met
        } else if confidence.1 >= target {
            Self::Unclear
        } else {
            Self::Missed
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Unclear => "unclear",
            Self::Missed => "MISSED",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_by_name_and_size() {
        assert_eq!(target("p384-sign", 0), 8.0);
        assert_eq!(target("aes-256-gcm-seal", 16384), 1.8);
        assert_eq!(target("aes-256-gcm-seal", 256), NEVER_WORSE);
        assert_eq!(target("chacha20-poly1305", 16384), NEVER_WORSE);
        assert_eq!(target("p384-read-sign", 0), NEVER_WORSE);
    }

    #[test]
    fn near_misses_are_unclear() {
        assert_eq!(Verdict::new(2.0, (1.9, 2.1), 2.0), Verdict::Met);
        assert_eq!(Verdict::new(1.99, (1.9, 2.1), 2.0), Verdict::Unclear);
        assert_eq!(Verdict::new(1.9, (1.8, 1.95), 2.0), Verdict::Missed);
    }
}
