//! What is known of algorithms: the names that people use, what is weak and why, what a quantum
//! computer would break.

use Severity::{Legacy, Weak};
use outboard_observation::{Operation, Work};
use serde::Serialize;

/// A kind of work by the names that people use: `ECDSA P-256`, `RSA-2048`, `SHA-256`.
pub fn algorithm(work: &Work) -> String {
    let name = match work.algorithm.to_ascii_uppercase().as_str() {
        "SHA1" => "SHA-1".into(),
        "DES-EDE3-CBC" => "3DES-CBC".into(),
        "DES-EDE3" => "3DES-ECB".into(),
        "CHACHA20-POLY1305" => "ChaCha20-Poly1305".into(),
        "CHACHA20" => "ChaCha20".into(),
        "TLS13-KDF" => "TLS 1.3 KDF".into(),
        "TLS1-PRF" if digest(&work.digest) == "MD5-SHA1" => "TLS 1.0 PRF".into(),
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
pub(crate) fn with(work: &Work) -> String {
    let digest = digest(&work.digest);
    let padding = match work.mode.as_str() {
        "" => String::new(),
        // Signatures have it unless PSS is named.
        "pkcs1" if is_signature(work) => String::new(),
        "none" => "no padding".into(),
        TLS_PADDING => "PKCS1 of TLS".into(),
        mode => mode.to_ascii_uppercase(),
    };
    match (digest.as_str(), padding.as_str()) {
        (digest, "") => digest.to_owned(),
        ("", padding) => padding.to_owned(),
        (digest, padding) => format!("{digest} {padding}"),
    }
}

/// The padding of a TLS server that opens what a client encrypted with its RSA key: PKCS #1 v1.5 in constant time.
pub(crate) const TLS_PADDING: &str = "tls";

/// Gives equal work equal names: the standard's name of a digest, and the default padding where the program named none.
pub(crate) fn settle(work: &mut Work) {
    work.digest = digest(&work.digest);
    let is_encryption = matches!(
        work.operation,
        Operation::KeyEncrypt | Operation::KeyDecrypt
    );
    // (Not of signatures: keys of RSA-PSS have another padding then.)
    if is_encryption && work.algorithm.eq_ignore_ascii_case("RSA") && work.mode.is_empty() {
        work.mode = "pkcs1".into();
    }
}

fn is_signature(work: &Work) -> bool {
    matches!(work.operation, Operation::Sign | Operation::Verify)
}

/// The curve, the group or the length of the key.
pub(crate) fn key(work: &Work) -> Option<String> {
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
pub(crate) fn digest(name: &str) -> String {
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
pub enum Severity {
    /// Broken, or so short that an attacker with enough money can break it.
    Weak,
    /// Not broken in this use, but on its way out.
    Legacy,
}

/// The finding about a kind of work, if there is one.
pub(crate) fn finding(work: &Work) -> Option<(Severity, &'static str)> {
    all_findings(work).into_iter().next()
}

/// All findings about this work, the worst first. For example, a key may be short, and may also sign a weak digest.
pub(crate) fn all_findings(work: &Work) -> Vec<(Severity, &'static str)> {
    use Operation as O;
    let name = work.algorithm.to_ascii_uppercase();
    let (one, another) = match work.operation {
        O::Digest => (of_digest(&name), None),
        O::Seal | O::Open => (of_cipher(&name), None),
        O::Mac | O::Kdf => (of_keyed(&name, &digest(&work.digest)), None),
        _ => (of_key(work, &name), of_use(work, &name)),
    };
    let mut findings: Vec<_> = one.into_iter().chain(another).collect();
    findings.sort_by_key(|(severity, _)| *severity);
    findings
}

fn of_digest(name: &str) -> Option<(Severity, &'static str)> {
    match name {
        "MD2" | "MD4" | "MDC2" => Some((Weak, "anyone can make collisions")),
        "MD5" => Some((
            Legacy,
            "anyone can make collisions; use it only for checksums",
        )),
        "MD5-SHA1" => Some((Legacy, OLD_TLS)),
        _ => None,
    }
}

fn of_cipher(name: &str) -> Option<(Severity, &'static str)> {
    const SMALL_BLOCKS: &str = "64-bit blocks repeat within some gigabytes (Sweet32)";
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    if name == "NULL" {
        return Some((Weak, "it encrypts nothing"));
    }
    if starts(&["DES-EDE", "DES3"]) {
        return Some((Weak, "64-bit blocks, retired by NIST (SP 800-131A)"));
    }
    if starts(&["RC4"]) {
        return Some((Weak, "its output is biased (RFC 7465)"));
    }
    if starts(&["DESX"]) {
        return Some((Weak, SMALL_BLOCKS));
    }
    if starts(&["DES-"]) {
        return Some((Weak, "an attacker can try all keys of 56 bits"));
    }
    if starts(&["RC2", "RC5", "IDEA", "BF-", "CAST5"]) {
        return Some((Weak, SMALL_BLOCKS));
    }
    if starts(&["SEED-"]) {
        return Some((Legacy, "rarely used; AES has replaced it"));
    }
    if name.contains("-CBC-HMAC-") {
        return Some((
            Legacy,
            "authenticates before it encrypts, like TLS before 1.3 (Lucky Thirteen)",
        ));
    }
    None
}

fn of_keyed(name: &str, digest: &str) -> Option<(Severity, &'static str)> {
    if digest == "MD5-SHA1" {
        return Some((Legacy, OLD_TLS));
    }
    if digest == "SHA-1" || digest == "MD5" {
        return Some((Legacy, "not broken within HMAC, but SHA-2 has replaced it"));
    }
    let is_old = ["PBKDF1", "PVKKDF", "PKCS12KDF"]
        .iter()
        .any(|prefix| name.starts_with(prefix));
    is_old.then_some((
        Legacy,
        "a password derivation that is too cheap for an attacker",
    ))
}

/// What is wrong with a key.
fn of_key(work: &Work, name: &str) -> Option<(Severity, &'static str)> {
    let key = work.key.to_ascii_lowercase();
    let is_below = |limit| length(&key).is_some_and(|bits| bits < limit);
    if name.starts_with("RSA") && is_below(2048) {
        return Some((
            Weak,
            "an attacker with enough money can factor RSA keys below 2048 bits",
        ));
    }
    if matches!(name, "DH" | "DHX") && is_below(2048) {
        return Some((Weak, "Diffie-Hellman groups below 2048 bits (Logjam)"));
    }
    if name.starts_with("DSA") {
        return Some((Weak, "DSA is retired (FIPS 186-5)"));
    }
    if name.starts_with("EC") {
        if is_below(224) {
            return Some((Weak, "a curve below 224 bits"));
        }
        const BINARY: [&str; 4] = ["sect", "c2", "wap-", "oakley-"];
        let is_binary = BINARY.iter().any(|prefix| key.starts_with(prefix));
        if is_binary && key != "wap-wsg-idm-ecid-wtls12" {
            return Some((Legacy, "binary curves are deprecated (SP 800-186)"));
        }
    }
    None
}

/// What is wrong with the use of a key.
fn of_use(work: &Work, name: &str) -> Option<(Severity, &'static str)> {
    let digest = digest(&work.digest);
    // OpenSSL 3.4 has algorithms that name their digest.
    let ends = |digests: &[&str]| digests.iter().any(|digest| name.ends_with(digest));
    if is_signature(work) {
        if digest == "SHA-1" || ends(&["-SHA1"]) {
            return Some((
                Weak,
                "an attacker can forge SHA-1 signatures by collision (RFC 9155)",
            ));
        }
        if digest.starts_with("MD5") || ends(&["-MD5"]) {
            return Some((
                Weak,
                "an attacker can forge MD5 signatures by collision (RFC 9155)",
            ));
        }
        let is_older = ["MD2", "MD4", "MDC2"].contains(&digest.to_ascii_uppercase().as_str());
        if is_older || ends(&["-MD2", "-MD4", "-MDC2"]) {
            return Some((Weak, "anyone can make collisions"));
        }
    }
    match (work.operation, work.mode.as_str()) {
        (Operation::KeyDecrypt, TLS_PADDING) => Some((
            Weak,
            "RSA key exchange has no forward secrecy and invites Bleichenbacher's attack (RFC 9325)",
        )),
        (Operation::KeyDecrypt, "pkcs1") => Some((
            Weak,
            "PKCS #1 v1.5 decryption invites Bleichenbacher's attack",
        )),
        (Operation::KeyEncrypt, "pkcs1") => Some((
            Legacy,
            "PKCS #1 v1.5 encryption, as in RSA key exchange; OAEP has replaced it (RFC 8017)",
        )),
        _ => None,
    }
}

const OLD_TLS: &str = "part of TLS 1.0 and 1.1, which RFC 8996 retired";

/// How many bits a key, the field of a curve or the modulus of a group has: `2048`, `modp_1536`, `dh_1024_160`,
/// `secp112r1`, and curves of WAP and Oakley, which only have numbers. None if the name does not contain it.
fn length(key: &str) -> Option<u32> {
    if let Some(number) = key.strip_prefix("wap-wsg-idm-ecid-wtls") {
        return Some(match number {
            "1" | "4" => 113,
            "3" | "5" => 163,
            "6" | "8" => 112,
            "7" | "9" => 160,
            "10" | "11" => 233,
            "12" => 224,
            _ => return None,
        });
    }
    match key {
        "oakley-ec2n-3" => return Some(155),
        "oakley-ec2n-4" => return Some(185),
        _ => {}
    }
    key.split(|c: char| !c.is_ascii_digit())
        .find(|digits| digits.len() >= 3)?
        .parse()
        .ok()
}

/// Whether a large quantum computer would break it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantum {
    /// By Shor's algorithm.
    Breaks,
    /// Made to withstand it.
    Withstands,
    /// Symmetric: large keys withstand it.
    Symmetric,
}

/// Whether a large quantum computer would break that kind of work.
pub(crate) fn quantum(work: &Work) -> Quantum {
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
pub(crate) mod tests {
    use super::*;

    /// A row of that kind that counted nothing.
    pub(crate) fn work(algorithm: &str, operation: Operation, key: &str, digest: &str) -> Work {
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
            untimed: 0,
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
        assert_eq!(
            named("TLS1-PRF", Operation::Kdf, "", "MD5-SHA1"),
            "TLS 1.0 PRF|MD5-SHA1"
        );
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
            ("DH", Operation::Derive, "ffdhe2048", ""),
            ("DH", Operation::Derive, "modp_2048", ""),
            ("DHX", Operation::Derive, "dh_2048_224", ""),
            ("ECDH", Operation::Derive, "secp224r1", ""),
            ("ECDSA", Operation::Sign, "brainpoolP256r1", "SHA256"),
            ("EC", Operation::Generate, "secp521r1", ""),
        ] {
            assert_eq!(severity(name, operation, key, digest), None, "{name}");
        }
    }

    #[test]
    fn weak_curves_and_groups_are_found_by_their_names() {
        let severity = |name, key| finding(&work(name, Operation::Derive, key, "")).map(|(s, _)| s);
        for curve in [
            "secp112r1",
            "secp128r2",
            "secp160k1",
            "prime192v1",
            "brainpoolP160r1",
            "brainpoolP192t1",
            "sect113r1",
            "sect193r2",
            "c2pnb163v1",
            "c2tnb191v3",
            "wap-wsg-idm-ecid-wtls1",
            "wap-wsg-idm-ecid-wtls9",
            "Oakley-EC2N-3",
            "160",
        ] {
            assert_eq!(severity("ECDH", curve), Some(Weak), "{curve}");
        }
        for curve in ["sect283k1", "c2onb239v4", "wap-wsg-idm-ecid-wtls11"] {
            assert_eq!(severity("ECDH", curve), Some(Legacy), "{curve}");
        }
        for group in ["modp_1536", "dh_1024_160", "1024"] {
            assert_eq!(severity("DH", group), Some(Weak), "{group}");
        }
    }

    #[test]
    fn pkcs1_decryption_is_found_whoever_named_it() {
        let severity = |operation, mode: &str| {
            let mut work = work("RSA", operation, "2048", "");
            work.mode = mode.into();
            settle(&mut work);
            (finding(&work).map(|(s, _)| s), with(&work))
        };
        use Operation::{KeyDecrypt, KeyEncrypt, Sign};
        assert_eq!(severity(KeyDecrypt, ""), (Some(Weak), "PKCS1".into()));
        assert_eq!(severity(KeyDecrypt, "pkcs1"), severity(KeyDecrypt, ""));
        assert_eq!(
            severity(KeyDecrypt, TLS_PADDING),
            (Some(Weak), "PKCS1 of TLS".into())
        );
        assert_eq!(severity(KeyDecrypt, "oaep"), (None, "OAEP".into()));
        assert_eq!(severity(KeyDecrypt, "none"), (None, "no padding".into()));
        assert_eq!(severity(KeyEncrypt, ""), (Some(Legacy), "PKCS1".into()));
        assert_eq!(severity(Sign, ""), severity(Sign, "pkcs1"));
    }

    #[test]
    fn old_ciphers_are_found_for_what_is_wrong_with_them() {
        let of = |name| finding(&work(name, Operation::Seal, "", "")).expect("it is old");
        for name in ["DESX-CBC", "IDEA-CBC", "BF-CBC", "CAST5-ECB", "RC2-40-CBC"] {
            assert_eq!(of(name).0, Weak);
            assert!(of(name).1.contains("64-bit blocks"), "{name}");
        }
        assert!(of("RC4-40").1.contains("biased"));
        assert!(of("DES-CBC").1.contains("56 bits"));
        assert_eq!(of("NULL").0, Weak);
        // Of 128-bit blocks.
        assert_eq!(of("SEED-CBC").0, Legacy);
        assert_eq!(of("AES-128-CBC-HMAC-SHA1").0, Legacy);
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
