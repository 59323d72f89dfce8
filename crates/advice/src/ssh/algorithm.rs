//! The judgements about OpenSSH's algorithms: which may still be used, and why.
//!
//! The judgement is a table, so that a reader who disagrees finds the line. docs/advising.md has the
//! sources in full.

use super::super::level::Level;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The purpose of an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Encrypts the packets.
    Cipher,
    /// Protects the packets of ciphers that don't do so themselves.
    Mac,
    /// Agrees on the keys.
    KeyExchange,
    /// Signs for the server.
    HostKey,
}

impl Kind {
    /// All of them, in the order of a report.
    pub const ALL: [Self; 4] = [Self::Cipher, Self::Mac, Self::KeyExchange, Self::HostKey];

    /// The kinds whose order an advice sets. Host keys are not among them: a client that knows a server by a key of one
    /// type must not ask for a key of another type.
    pub const ORDERED: [Self; 3] = [Self::Cipher, Self::Mac, Self::KeyExchange];

    /// The keyword in `sshd_config` and `ssh_config`.
    pub fn keyword(self) -> &'static str {
        match self {
            Self::Cipher => "Ciphers",
            Self::Mac => "MACs",
            Self::KeyExchange => "KexAlgorithms",
            Self::HostKey => "HostKeyAlgorithms",
        }
    }

    /// Its name for `ssh -Q`.
    pub fn query(self) -> &'static str {
        match self {
            Self::Cipher => "cipher",
            Self::Mac => "mac",
            Self::KeyExchange => "kex",
            Self::HostKey => "HostKeyAlgorithms",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Cipher => "cipher",
            Self::Mac => "MAC",
            Self::KeyExchange => "key exchange",
            Self::HostKey => "host key",
        })
    }
}

/// How much an algorithm may be trusted, whatever it costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// Safe, also against an attacker who records today and has a quantum computer later.
    PostQuantum,
    /// Safe.
    Good,
    /// Not broken, but there is better.
    Tolerated,
    /// Broken, or about to be.
    Never,
}

/// The judgement of a level about an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    /// Comes first, whatever it costs.
    First(&'static str),
    /// In, where its cost puts it.
    In(&'static str),
    /// After all others, for peers that have nothing better.
    Last(&'static str),
    /// Out.
    Out(&'static str),
}

impl Judgement {
    /// In one word.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::First(_) => "first",
            Self::In(_) => "in",
            Self::Last(_) => "last",
            Self::Out(_) => "out",
        }
    }

    /// In a few words.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::First(reason) | Self::In(reason) | Self::Last(reason) | Self::Out(reason) => {
                reason
            }
        }
    }
}

/// A version of OpenSSH and its year.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Since {
    major: u8,
    minor: u8,
    year: u16,
}

impl fmt::Display for Since {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{} ({})", self.major, self.minor, self.year)
    }
}

struct Known {
    kind: Kind,
    name: &'static str,
    standing: Standing,
    /// Whether a module validated for FIPS 140-3 may use it.
    fips: bool,
    since: Since,
    reason: &'static str,
}

const fn known(
    kind: Kind,
    name: &'static str,
    standing: Standing,
    fips: bool,
    (major, minor, year): (u8, u8, u16),
    reason: &'static str,
) -> Known {
    let since = Since { major, minor, year };
    Known {
        kind,
        name,
        standing,
        fips,
        since,
        reason,
    }
}

/// The judgement of `level` about the algorithm of that name.
///
/// `strict_key_exchange`: whether this OpenSSH knows the remedy against Terrapin (CVE-2023-48795).
pub(super) fn judge(kind: Kind, name: &str, level: Level, strict_key_exchange: bool) -> Judgement {
    let Some(known) = find(kind, name) else {
        return match (is_broken_by_name(name), level) {
            (Some(reason), _) => Judgement::Out(reason),
            (None, Level::Fips) => Judgement::Out("unknown to Outboard, so perhaps not approved"),
            (None, _) => Judgement::Last("unknown to Outboard; kept, but not recommended"),
        };
    };
    if known.standing == Standing::Never {
        return Judgement::Out(known.reason);
    }
    if level == Level::Fips && !known.fips {
        return Judgement::Out("not approved (FIPS 140-3, SP 800-140C and D)");
    }
    let falls_to_terrapin = known.name.starts_with("chacha20") && !strict_key_exchange;
    if falls_to_terrapin {
        return Judgement::Last(
            "Terrapin (CVE-2023-48795): this OpenSSH lacks strict key exchange",
        );
    }
    match (known.standing, level) {
        (Standing::PostQuantum, _) => Judgement::First(known.reason),
        (Standing::Tolerated, Level::Modern) => Judgement::Last(known.reason),
        (_, _) => Judgement::In(known.reason),
    }
}

/// The first OpenSSH that has it.
pub(super) fn since(kind: Kind, name: &str) -> Option<Since> {
    find(kind, name).map(|known| known.since)
}

/// The name under which the same algorithm was measured. Two names of one algorithm have one cost.
pub(super) fn measured_as(name: &str) -> &str {
    match name {
        "curve25519-sha256@libssh.org" => "curve25519-sha256",
        "sntrup761x25519-sha512" => "sntrup761x25519-sha512@openssh.com",
        other => other,
    }
}

fn find(kind: Kind, name: &str) -> Option<&'static Known> {
    KNOWN
        .iter()
        .find(|known| known.kind == kind && known.name == name)
}

/// Recognises broken algorithms by parts of their names, in other versions and distributions.
fn is_broken_by_name(name: &str) -> Option<&'static str> {
    [
        ("cbc", CBC),
        ("3des", TRIPLE_DES),
        ("sha1", SHA1),
        ("md5", "MD5 is broken (RFC 6151)"),
        ("arcfour", "RC4 is broken (RFC 8758)"),
        ("ripemd", "dropped by OpenSSH 7.6"),
        ("none", "no protection at all"),
    ]
    .into_iter()
    .find_map(|(part, reason)| name.contains(part).then_some(reason))
}

const CBC: &str = "CBC in SSH reveals plaintext (CVE-2008-5161, and Terrapin)";
const TRIPLE_DES: &str =
    "64-bit blocks (Sweet32, CVE-2016-2183); disallowed since 2024 (SP 800-131A)";
const SHA1: &str = "SHA-1 has collisions (SHAttered 2017, Shambles 2020); NIST ends it by 2030";
const GCM: &str = "authenticates by itself (RFC 5647)";
const CTR: &str = "safe together with a MAC (RFC 4344)";
const ETM: &str = "encrypt-then-MAC";
const NOT_ETM: &str = "MAC of the plaintext; encrypt-then-MAC is better (RFC 7366, section 1)";
const SHORT_TAG: &str = "a tag of 64 bits";
const POST_QUANTUM: &str =
    "post-quantum hybrid: protects against recording now and decrypting later";

/// One line for each name. Sources: docs/advising.md.
#[rustfmt::skip]
const KNOWN: &[Known] = {
    use Kind::{Cipher, HostKey, KeyExchange, Mac};
    use Standing::{Good, Never, PostQuantum, Tolerated};
    &[
        known(Cipher, "aes128-gcm@openssh.com", Good, true, (6, 2, 2013), GCM),
        known(Cipher, "aes256-gcm@openssh.com", Good, true, (6, 2, 2013), GCM),
        known(Cipher, "chacha20-poly1305@openssh.com", Good, false, (6, 5, 2014), "authenticates by itself (RFC 8439)"),
        known(Cipher, "aes128-ctr", Good, true, (3, 7, 2003), CTR),
        known(Cipher, "aes192-ctr", Good, true, (3, 7, 2003), CTR),
        known(Cipher, "aes256-ctr", Good, true, (3, 7, 2003), CTR),
        known(Cipher, "aes128-cbc", Never, true, (2, 3, 2000), CBC),
        known(Cipher, "aes192-cbc", Never, true, (2, 3, 2000), CBC),
        known(Cipher, "aes256-cbc", Never, true, (2, 3, 2000), CBC),
        known(Cipher, "3des-cbc", Never, false, (2, 0, 2000), TRIPLE_DES),

        known(Mac, "hmac-sha2-256-etm@openssh.com", Good, true, (6, 2, 2013), ETM),
        known(Mac, "hmac-sha2-512-etm@openssh.com", Good, true, (6, 2, 2013), ETM),
        known(Mac, "umac-128-etm@openssh.com", Good, false, (6, 2, 2013), ETM),
        known(Mac, "umac-64-etm@openssh.com", Tolerated, false, (6, 2, 2013), SHORT_TAG),
        known(Mac, "hmac-sha2-256", Tolerated, true, (5, 9, 2011), NOT_ETM),
        known(Mac, "hmac-sha2-512", Tolerated, true, (5, 9, 2011), NOT_ETM),
        known(Mac, "umac-128@openssh.com", Tolerated, false, (6, 2, 2013), NOT_ETM),
        known(Mac, "umac-64@openssh.com", Tolerated, false, (4, 7, 2007), SHORT_TAG),
        known(Mac, "hmac-sha1", Never, true, (2, 0, 2000), SHA1),
        known(Mac, "hmac-sha1-etm@openssh.com", Never, true, (6, 2, 2013), SHA1),

        known(KeyExchange, "mlkem768x25519-sha256", PostQuantum, true, (9, 9, 2024), POST_QUANTUM),
        known(KeyExchange, "sntrup761x25519-sha512", PostQuantum, false, (9, 9, 2024), POST_QUANTUM),
        known(KeyExchange, "sntrup761x25519-sha512@openssh.com", PostQuantum, false, (8, 5, 2021), POST_QUANTUM),
        known(KeyExchange, "curve25519-sha256", Good, false, (7, 4, 2016), "RFC 8731"),
        known(KeyExchange, "curve25519-sha256@libssh.org", Good, false, (6, 5, 2014), "the older name of curve25519-sha256"),
        known(KeyExchange, "ecdh-sha2-nistp256", Good, true, (5, 7, 2011), "RFC 5656"),
        known(KeyExchange, "ecdh-sha2-nistp384", Good, true, (5, 7, 2011), "RFC 5656"),
        known(KeyExchange, "ecdh-sha2-nistp521", Good, true, (5, 7, 2011), "RFC 5656"),
        known(KeyExchange, "diffie-hellman-group16-sha512", Good, true, (7, 3, 2016), "4096 bits (RFC 8268)"),
        known(KeyExchange, "diffie-hellman-group18-sha512", Good, true, (7, 3, 2016), "8192 bits (RFC 8268)"),
        known(KeyExchange, "diffie-hellman-group14-sha256", Tolerated, true, (7, 3, 2016), "2048 bits: 112 bits of strength, until 2030 (SP 800-57)"),
        known(KeyExchange, "diffie-hellman-group-exchange-sha256", Tolerated, false, (4, 4, 2006), "the server's \
                                                                                                    file decides \
                                                                                                    the group \
                                                                                                    (RFC 4419)"),
        known(KeyExchange, "diffie-hellman-group-exchange-sha1", Never, false, (2, 3, 2000), SHA1),
        known(KeyExchange, "diffie-hellman-group14-sha1", Never, false, (3, 9, 2004), SHA1),
        known(KeyExchange, "diffie-hellman-group1-sha1", Never, false, (2, 0, 2000), "1024 bits (Logjam, CVE-2015-4000), and SHA-1"),

        known(HostKey, "ssh-ed25519", Good, true, (6, 5, 2014), "RFC 8709"),
        known(HostKey, "ecdsa-sha2-nistp256", Good, true, (5, 7, 2011), "RFC 5656"),
        known(HostKey, "ecdsa-sha2-nistp384", Good, true, (5, 7, 2011), "RFC 5656"),
        known(HostKey, "ecdsa-sha2-nistp521", Good, true, (5, 7, 2011), "RFC 5656"),
        known(HostKey, "rsa-sha2-256", Good, true, (7, 2, 2016), "RFC 8332, with 3072 bits"),
        known(HostKey, "rsa-sha2-512", Good, true, (7, 2, 2016), "RFC 8332, with 3072 bits"),
        known(HostKey, "ssh-rsa", Never, false, (2, 0, 2000), SHA1),
        known(HostKey, "ssh-dss", Never, false, (2, 3, 2000), "1024 bits, and SHA-1"),
    ]
};

#[cfg(test)]
mod tests {
    use super::*;

    const LEVELS: [Level; 3] = [Level::Modern, Level::Compatible, Level::Fips];

    #[test]
    fn what_is_broken_is_out_at_every_level() {
        for (kind, name) in [
            (Kind::Cipher, "3des-cbc"),
            (Kind::Cipher, "aes256-cbc"),
            (Kind::Cipher, "rijndael-cbc@lysator.liu.se"),
            (Kind::Mac, "hmac-sha1"),
            (Kind::Mac, "hmac-sha1-etm@openssh.com"),
            (Kind::Mac, "hmac-sha1-96-etm@openssh.com"),
            (Kind::Mac, "hmac-md5"),
            (Kind::KeyExchange, "diffie-hellman-group14-sha1"),
            (Kind::KeyExchange, "gss-group14-sha1-"),
        ] {
            for level in LEVELS {
                let judgement = judge(kind, name, level, true);
                assert!(
                    matches!(judgement, Judgement::Out(_)),
                    "{name} {judgement:?}"
                );
            }
        }
    }

    #[test]
    fn fips_takes_only_what_is_approved() {
        let fips = |kind, name| judge(kind, name, Level::Fips, true);
        assert!(matches!(
            fips(Kind::KeyExchange, "mlkem768x25519-sha256"),
            Judgement::First(_)
        ));
        for (kind, name) in [
            (Kind::Cipher, "chacha20-poly1305@openssh.com"),
            (Kind::Mac, "umac-128-etm@openssh.com"),
            (Kind::KeyExchange, "curve25519-sha256"),
            (Kind::KeyExchange, "sntrup761x25519-sha512"),
            (Kind::Cipher, "something-new@example.org"),
        ] {
            assert!(matches!(fips(kind, name), Judgement::Out(_)), "{name}");
        }
    }

    #[test]
    fn what_terrapin_breaks_comes_last_without_its_remedy() {
        for level in [Level::Modern, Level::Compatible] {
            let chacha20 =
                |strict| judge(Kind::Cipher, "chacha20-poly1305@openssh.com", level, strict);
            assert!(matches!(chacha20(true), Judgement::In(_)));
            assert!(matches!(chacha20(false), Judgement::Last(_)));
        }
    }

    #[test]
    fn what_is_new_is_kept_and_not_recommended() {
        let judgement = judge(Kind::Cipher, "new@openssh.com", Level::Compatible, true);
        assert!(matches!(judgement, Judgement::Last(_)), "{judgement:?}");
    }
}
