//! Protocols by the traces that they leave in a process's algorithms, and what was agreed on in them.

use super::openssh;
use outboard_observation::{Operation, Work};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A protocol that leaves traces in its algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Protocol {
    Ssh,
    /// 1.0 or 1.1, which derive keys alike.
    OldTls,
    Tls12,
    Tls13,
}

impl Protocol {
    /// Those of a process: TLS has functions of its own to derive keys, SSH is the only business of some.
    pub(crate) fn of(program: &str, work: &[Work]) -> impl Iterator<Item = Self> {
        let enciphers = work.iter().any(|work| work.operation == Operation::Seal);
        // The digest distinguishes TLS 1.2 (RFC 5246, 5) from earlier versions (RFC 4346, 5).
        let derives_as = |is_old: bool| {
            work.iter().any(|work| {
                work.algorithm.eq_ignore_ascii_case("TLS1-PRF")
                    && (work.digest == "MD5-SHA1") == is_old
            })
        };
        [
            (Self::Ssh, openssh::speaks_ssh(program) && enciphers),
            (Self::OldTls, derives_as(true)),
            (Self::Tls12, derives_as(false)),
            (Self::Tls13, derives(work, "TLS13-KDF")),
        ]
        .into_iter()
        .filter_map(|(protocol, is_used)| is_used.then_some(protocol))
    }

    /// The name by which others refer to it.
    pub(crate) fn reference(self) -> String {
        let (kind, version) = self.parts();
        format!("protocol/{kind}/{}", version.replace(' ', "-"))
    }

    fn parts(self) -> (&'static str, &'static str) {
        match self {
            Self::Ssh => ("ssh", "2.0"),
            Self::OldTls => ("tls", "1.0 or 1.1"),
            Self::Tls12 => ("tls", "1.2"),
            Self::Tls13 => ("tls", "1.3"),
        }
    }

    /// A component of a bill of materials.
    pub(crate) fn component(self, suites: &BTreeSet<Suite>) -> Value {
        let (kind, version) = self.parts();
        let mut component = json!({
            "type": "cryptographic-asset",
            "bom-ref": self.reference(),
            "name": format!("{} {version}", kind.to_ascii_uppercase()),
            "cryptoProperties": {
                "assetType": "protocol",
                "protocolProperties": { "type": kind, "version": version },
            },
        });
        if !suites.is_empty() {
            let suites = suites.iter().map(Suite::component).collect();
            component["cryptoProperties"]["protocolProperties"]["cipherSuites"] = suites;
        }
        component
    }
}

fn derives(work: &[Work], function: &str) -> bool {
    work.iter()
        .any(|work| work.algorithm.eq_ignore_ascii_case(function))
}

/// A cipher suite of TLS 1.3 (RFC 8446, B.4): a cipher and the digest of the key derivation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Suite {
    Aes128Gcm,
    Aes256Gcm,
    ChaCha20Poly1305,
}

impl Suite {
    const ALL: [Self; 3] = [Self::Aes128Gcm, Self::Aes256Gcm, Self::ChaCha20Poly1305];

    /// The cipher suites that a process used in a protocol, as far as its algorithms show them: keys were derived with
    /// the suite's digest, and only the suite's cipher can have used them. If the process also used TLS 1.2, a cipher
    /// may belong to TLS 1.2. (For TLS 1.2 itself, the algorithms do not show which were used together.)
    pub(crate) fn of(protocol: Protocol, work: &[Work]) -> Vec<Self> {
        if protocol != Protocol::Tls13 {
            return Vec::new();
        }
        let is_done = |suite: &Self| {
            let (_, cipher, digest, _) = suite.parts();
            let has_derived = work.iter().any(|work| {
                work.algorithm.eq_ignore_ascii_case("TLS13-KDF") && work.digest == digest
            });
            let has_enciphered = work.iter().any(|work| {
                work.algorithm.eq_ignore_ascii_case(cipher)
                    && matches!(work.operation, Operation::Seal | Operation::Open)
            });
            has_derived && has_enciphered
        };
        let suites: Vec<Self> = Self::ALL.into_iter().filter(is_done).collect();
        let is_alone = |suite: &Self| {
            let same_digest = |other: &&Self| other.parts().2 == suite.parts().2;
            suites.iter().filter(same_digest).count() == 1
        };
        let all_are_of_it = !derives(work, "TLS1-PRF");
        let certain = suites
            .iter()
            .filter(|suite| all_are_of_it || is_alone(suite));
        certain.copied().collect()
    }

    /// Its name, its cipher as OpenSSL has it, its digest, and its number.
    fn parts(self) -> (&'static str, &'static str, &'static str, [&'static str; 2]) {
        match self {
            Self::Aes128Gcm => (
                "TLS_AES_128_GCM_SHA256",
                "AES-128-GCM",
                "SHA-256",
                ["0x13", "0x01"],
            ),
            Self::Aes256Gcm => (
                "TLS_AES_256_GCM_SHA384",
                "AES-256-GCM",
                "SHA-384",
                ["0x13", "0x02"],
            ),
            Self::ChaCha20Poly1305 => (
                "TLS_CHACHA20_POLY1305_SHA256",
                "ChaCha20-Poly1305",
                "SHA-256",
                ["0x13", "0x03"],
            ),
        }
    }

    fn component(&self) -> Value {
        let (name, cipher, digest, number) = self.parts();
        json!({
            "name": name,
            "algorithms": [
                format!("crypto/ae/{cipher}"),
                format!("crypto/kdf/TLS-1.3-KDF-with-{digest}"),
            ],
            "identifiers": number,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::catalogue::tests::work;
    use super::*;

    #[test]
    fn old_versions_of_tls_are_told_apart() {
        let of = |digests: &[&str]| -> Vec<Protocol> {
            let derived = |digest: &&str| work("TLS1-PRF", Operation::Kdf, "", digest);
            let work: Vec<Work> = digests.iter().map(derived).collect();
            Protocol::of("nginx", &work).collect()
        };
        assert_eq!(of(&["MD5-SHA1"]), [Protocol::OldTls]);
        assert_eq!(of(&["SHA-256"]), [Protocol::Tls12]);
        assert_eq!(
            of(&["SHA-384", "MD5-SHA1"]),
            [Protocol::OldTls, Protocol::Tls12]
        );
        let component = Protocol::OldTls.component(&BTreeSet::new());
        assert_eq!(component["name"], "TLS 1.0 or 1.1");
    }

    #[test]
    fn suites_are_told_where_they_are_certain() {
        let derived = |function, digest| work(function, Operation::Kdf, "", digest);
        let sealed = |cipher| work(cipher, Operation::Seal, "", "");
        let (short, long) = (
            derived("TLS13-KDF", "SHA-256"),
            derived("TLS13-KDF", "SHA-384"),
        );
        let older = derived("TLS1-PRF", "SHA-256");
        let (aes128, aes256) = (sealed("AES-128-GCM"), sealed("AES-256-GCM"));
        let chacha20 = sealed("ChaCha20-Poly1305");
        let both = [Suite::Aes128Gcm, Suite::ChaCha20Poly1305];
        for (what, work, suites) in [
            ("one", vec![&long, &aes256], &[Suite::Aes256Gcm][..]),
            ("not that digest", vec![&short, &aes256], &[]),
            ("two of a digest", vec![&short, &aes128, &chacha20], &both),
            (
                "one of TLS 1.2",
                vec![&short, &older, &aes128, &chacha20],
                &[],
            ),
            (
                "no other",
                vec![&short, &older, &aes128, &aes256],
                &both[..1],
            ),
            ("no TLS", vec![&aes128], &[]),
        ] {
            let work: Vec<Work> = work.into_iter().cloned().collect();
            assert_eq!(Suite::of(Protocol::Tls13, &work), suites, "{what}");
        }
        assert_eq!(Suite::of(Protocol::Tls12, &[short, aes128]), []);
    }
}
