//! The judgements about TLS certificates, groups and cipher suites. Sources: docs/advising.md.

use super::super::level::Level;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The kind of a choice that has a cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The key in the server's certificate.
    Certificate,
    /// The key exchange.
    Group,
    /// What protects the records.
    Suite,
}

impl Kind {
    /// All of them, in the order of a report.
    pub const ALL: [Self; 3] = [Self::Certificate, Self::Group, Self::Suite];
}

/// Something to choose.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub kind: Kind,
    /// As OpenSSL's configuration calls it; a certificate by its key.
    pub name: &'static str,
    standing: Standing,
    fips: bool,
    reason: &'static str,
    /// Certificates: what `openssl req -newkey` needs. Suites: their ciphers' name before TLS 1.3.
    pub detail: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    PostQuantum,
    Good,
    Tolerated,
    /// Safe, but much of the world does not take it.
    Private,
}

/// The judgement of a level, in the order of preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Judgement {
    /// Comes first, whatever it costs.
    First,
    /// In, where its cost puts it.
    In,
    /// Behind everything else.
    Last,
    /// Out.
    Out,
}

impl fmt::Display for Judgement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::First => "first",
            Self::In => "in",
            Self::Last => "last",
            Self::Out => "out",
        })
    }
}

impl Known {
    /// The judgement of `level`, and its reason.
    pub(super) fn judge(&self, level: Level) -> (Judgement, &'static str) {
        if level == Level::Fips && !self.fips {
            return (
                Judgement::Out,
                "not approved (FIPS 140-3, SP 800-140C and D)",
            );
        }
        let judgement = match (self.standing, level) {
            (Standing::PostQuantum, _) => Judgement::First,
            (Standing::Private, _) | (Standing::Tolerated, Level::Modern) => Judgement::Last,
            (Standing::Good | Standing::Tolerated, _) => Judgement::In,
        };
        (judgement, self.reason)
    }
}

/// All that has that kind.
pub(super) fn all(kind: Kind) -> impl Iterator<Item = &'static Known> {
    KNOWN.iter().filter(move |known| known.kind == kind)
}

/// The one of that name.
pub(super) fn find(kind: Kind, name: &str) -> Option<&'static Known> {
    all(kind).find(|known| known.name == name)
}

const fn known(
    kind: Kind,
    name: &'static str,
    standing: Standing,
    fips: bool,
    detail: &'static str,
    reason: &'static str,
) -> Known {
    Known {
        kind,
        name,
        standing,
        fips,
        reason,
        detail,
    }
}

const POST_QUANTUM: &str =
    "post-quantum hybrid: protects against recording now and decrypting later";

#[rustfmt::skip]
const KNOWN: &[Known] = {
    use Kind::{Certificate, Group, Suite};
    use Standing::{Good, PostQuantum, Private, Tolerated};
    &[
        known(Certificate, "P-256", Good, true, "ec -pkeyopt ec_paramgen_curve:P-256", "128 bits of strength; every client since 2014"),
        known(Certificate, "P-384", Good, true, "ec -pkeyopt ec_paramgen_curve:P-384", "192 bits of strength"),
        known(Certificate, "RSA-2048", Tolerated, true, "rsa:2048", "112 bits of strength, until 2030 (SP 800-57); for the oldest clients"),
        known(Certificate, "RSA-3072", Good, true, "rsa:3072", "128 bits of strength; for the oldest clients"),
        known(Certificate, "RSA-4096", Good, true, "rsa:4096", "more than 128 bits of strength; for the oldest clients"),
        known(Certificate, "Ed25519", Private, true, "ed25519", "no public authority signs it and no browser \
                                                                 accepts it; only for your own clients"),

        known(Group, "X25519MLKEM768", PostQuantum, true, "", POST_QUANTUM),
        known(Group, "SecP256r1MLKEM768", PostQuantum, true, "", POST_QUANTUM),
        known(Group, "SecP384r1MLKEM1024", PostQuantum, true, "", POST_QUANTUM),
        known(Group, "X25519", Good, false, "", "RFC 7748, RFC 8446"),
        known(Group, "P-256", Good, true, "", "RFC 8446; every client has it"),
        known(Group, "P-384", Good, true, "", "RFC 8446"),

        known(Suite, "TLS_AES_128_GCM_SHA256", Good, true, "AES128-GCM-SHA256", "RFC 8446, RFC 9325"),
        known(Suite, "TLS_AES_256_GCM_SHA384", Good, true, "AES256-GCM-SHA384", "RFC 8446, RFC 9325"),
        known(Suite, "TLS_CHACHA20_POLY1305_SHA256", Good, false, "CHACHA20-POLY1305", "RFC 8446; for clients without instructions for AES"),
    ]
};
