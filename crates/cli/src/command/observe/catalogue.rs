//! What is known of algorithms: the names that people use, what is weak and why, what a quantum
//! computer would break.

use outboard_observation::{Operation, Work};
use serde::Serialize;

/// A kind of work by the names that people use: `ECDSA P-256`, `RSA-2048`, `SHA-256`.
pub(super) fn algorithm(work: &Work) -> String {
    let name = match work.algorithm.to_ascii_uppercase().as_str() {
        "SHA1" => "SHA-1".into(),
        "DES-EDE3-CBC" => "3DES-CBC".into(),
        "DES-EDE3" => "3DES-ECB".into(),
        "CHACHA20-POLY1305" => "ChaCha20-Poly1305".into(),
        "CHACHA20" => "ChaCha20".into(),
        "TLS13-KDF" => "TLS 1.3 KDF".into(),
        "TLS1-PRF" => "TLS 1.2 PRF".into(),
        upper if upper.starts_with("SHA2-") => format!("SHA-{}", &work.algorithm[5..]),
        _ => work.algorithm.clone(),
    };
    match key(work) {
        None => name,
        Some(key) if name.starts_with("RSA") || name.starts_with("DSA") => {
            format!(
                "{}-{key}",
                if name.starts_with("RSA") {
                    "RSA"
                } else {
                    "DSA"
                }
            )
        }
        Some(key) => format!("{name} {key}"),
    }
}

/// The digest within, and the padding: `SHA-256`, `SHA-256 PSS`.
pub(super) fn with(work: &Work) -> String {
    let digest = digest(&work.digest);
    match (digest.as_str(), work.mode.as_str()) {
        (digest, "" | "none" | "pkcs1") => digest.to_owned(),
        ("", mode) => mode.to_ascii_uppercase(),
        (digest, mode) => format!("{digest} {}", mode.to_ascii_uppercase()),
    }
}

/// The curve, the group or the length of the key.
pub(super) fn key(work: &Work) -> Option<String> {
    let name = match work.key.as_str() {
        "" => return None,
        "prime256v1" => "P-256",
        "secp384r1" => "P-384",
        "secp521r1" => "P-521",
        other => other,
    };
    Some(name.to_owned())
}

/// A digest by the name that its standard gives it.
pub(super) fn digest(name: &str) -> String {
    let plain: String = name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect::<String>()
        .to_ascii_uppercase();
    match plain.as_str() {
        "SHA1" | "SSL3SHA1" => "SHA-1".into(),
        "MD5SHA1" => "MD5-SHA1".into(),
        "SHA224" | "SHA2224" => "SHA-224".into(),
        "SHA256" | "SHA2256" => "SHA-256".into(),
        "SHA384" | "SHA2384" => "SHA-384".into(),
        "SHA512" | "SHA2512" => "SHA-512".into(),
        _ => name.to_owned(),
    }
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Severity {
    /// Broken, or short enough to be broken by those who can pay for it.
    Weak,
    /// Not broken in this use, but on its way out.
    Legacy,
}

/// What is wrong with a kind of work, if anything is.
pub(super) fn finding(work: &Work) -> Option<(Severity, &'static str)> {
    use Operation as O;
    use Severity::{Legacy, Weak};
    let name = work.algorithm.to_ascii_uppercase();
    let digest = digest(&work.digest);
    let is_signature = matches!(work.operation, O::Sign | O::Verify);
    let bits: Option<u32> = work.key.parse().ok();
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));

    if starts(&["DES-EDE3", "DES3"]) {
        return Some((Weak, "64-bit blocks, retired by NIST (SP 800-131A)"));
    }
    if starts(&["DES-", "RC2", "RC4", "RC5", "IDEA", "SEED-", "BF-", "CAST5"]) {
        return Some((Weak, "broken, or has blocks of 64 bits"));
    }
    if starts(&["MD4", "MD2", "MDC2"]) || (name == "MD5" && is_signature) {
        return Some((Weak, "collisions are made at will"));
    }
    if is_signature && digest == "SHA-1" {
        return Some((
            Weak,
            "SHA-1 signatures can be forged by collision (RFC 9155)",
        ));
    }
    if is_signature && digest.starts_with("MD5") {
        return Some((Weak, "MD5 signatures can be forged by collision (RFC 9155)"));
    }
    if starts(&["RSA"]) && bits.is_some_and(|bits| bits < 2048) {
        return Some((
            Weak,
            "RSA keys below 2048 bits can be factored by those who can pay",
        ));
    }
    if matches!(name.as_str(), "DH" | "DHX") && bits.is_some_and(|bits| bits < 2048) {
        return Some((Weak, "Diffie-Hellman groups below 2048 bits (Logjam)"));
    }
    if name == "DSA" {
        return Some((Weak, "DSA is retired (FIPS 186-5)"));
    }
    if work.operation == O::KeyDecrypt && work.mode == "pkcs1" {
        return Some((
            Weak,
            "PKCS #1 v1.5 decryption invites Bleichenbacher's attack",
        ));
    }
    if name == "MD5-SHA1" || digest == "MD5-SHA1" {
        return Some((Legacy, "of TLS 1.0 and 1.1, retired by RFC 8996"));
    }
    if name == "MD5" {
        return Some((
            Legacy,
            "collisions are made at will; fit for checksums only",
        ));
    }
    if matches!(work.operation, O::Mac | O::Kdf) && (digest == "SHA-1" || digest == "MD5") {
        return Some((Legacy, "not broken within HMAC; SHA-2 has taken its place"));
    }
    if starts(&["PBKDF1", "PVKKDF", "PKCS12KDF"]) {
        return Some((Legacy, "a password derivation without a modern cost"));
    }
    if work.key == "prime192v1" || work.key == "secp192r1" || work.key == "secp160r1" {
        return Some((Weak, "a curve below 224 bits"));
    }
    None
}

/// Whether a large quantum computer would break it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Quantum {
    /// By Shor's algorithm.
    Breaks,
    /// Made to withstand it.
    Withstands,
    /// Symmetric: large keys withstand it.
    Symmetric,
}

/// Whether a large quantum computer would break that kind of work.
pub(super) fn quantum(work: &Work) -> Quantum {
    use Operation as O;
    let name = work.algorithm.to_ascii_uppercase();
    let is_post_quantum = ["ML-KEM", "MLKEM", "ML-DSA", "SLH-DSA", "LMS"]
        .iter()
        .any(|part| name.contains(part));
    match work.operation {
        _ if is_post_quantum => Quantum::Withstands,
        O::Generate
        | O::Derive
        | O::Sign
        | O::Verify
        | O::KeyEncrypt
        | O::KeyDecrypt
        | O::Encapsulate
        | O::Decapsulate => Quantum::Breaks,
        O::Digest | O::Seal | O::Open | O::Mac | O::Kdf => Quantum::Symmetric,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A row of that kind that counted nothing.
    pub(in super::super) fn work(
        algorithm: &str,
        operation: Operation,
        key: &str,
        digest: &str,
    ) -> Work {
        Work {
            algorithm: algorithm.into(),
            operation,
            implementation: "default".into(),
            key: key.into(),
            digest: digest.into(),
            mode: String::new(),
            calls: 1,
            bytes: 0,
            nanoseconds: 1000,
            preparations: 0,
            preparation_nanoseconds: 0,
            interrupted: 0,
            failed: 0,
            sizes: Vec::new(),
            telling: [0; 2],
        }
    }

    #[test]
    fn names_are_those_that_people_use() {
        let named = |name, operation, key, digest| {
            let work = work(name, operation, key, digest);
            [algorithm(&work), with(&work)].join("|")
        };
        assert_eq!(
            named("ECDSA", Operation::Sign, "prime256v1", "SHA2-256"),
            "ECDSA P-256|SHA-256"
        );
        assert_eq!(
            named("RSA", Operation::Verify, "2048", "sha1"),
            "RSA-2048|SHA-1"
        );
        assert_eq!(named("SHA2-512", Operation::Digest, "", ""), "SHA-512|");
        assert_eq!(named("DES-EDE3-CBC", Operation::Open, "", ""), "3DES-CBC|");
        assert_eq!(
            named("DH", Operation::Derive, "ffdhe2048", ""),
            "DH ffdhe2048|"
        );
    }

    #[test]
    fn what_is_weak_is_found_and_nothing_else() {
        let severity = |name, operation, key, digest| {
            finding(&work(name, operation, key, digest)).map(|(severity, _)| severity)
        };
        let weak = Some(Severity::Weak);
        assert_eq!(severity("RSA", Operation::Verify, "2048", "SHA1"), weak);
        assert_eq!(severity("RSA", Operation::Sign, "1024", "SHA256"), weak);
        assert_eq!(severity("DES-EDE3-CBC", Operation::Seal, "", ""), weak);
        assert_eq!(severity("RC4", Operation::Seal, "", ""), weak);
        assert_eq!(
            severity("HMAC", Operation::Mac, "", "SHA1"),
            Some(Severity::Legacy)
        );
        for (name, operation, key, digest) in [
            ("RSA", Operation::Sign, "2048", "SHA2-256"),
            ("ECDSA", Operation::Sign, "prime256v1", "SHA256"),
            ("AES-128-GCM", Operation::Seal, "", ""),
            ("SHA1", Operation::Digest, "", ""),
            ("X25519", Operation::Derive, "", ""),
            ("DESX", Operation::Digest, "", ""),
        ] {
            assert_eq!(severity(name, operation, key, digest), None, "{name}");
        }
    }

    #[test]
    fn hybrids_count_as_post_quantum() {
        let of = |name, operation| quantum(&work(name, operation, "", ""));
        assert_eq!(
            of("X25519MLKEM768", Operation::Encapsulate),
            Quantum::Withstands
        );
        assert_eq!(of("X25519", Operation::Derive), Quantum::Breaks);
        assert_eq!(of("AES-256-GCM", Operation::Seal), Quantum::Symmetric);
    }
}
