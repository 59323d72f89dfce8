//! OpenSSH's work without OpenSSL's EVP, estimated from its work with EVP.
//!
//! OpenSSH has its own C code for Poly1305, UMAC, Curve25519, Ed25519 and NTRU Prime. Up to version 9.8, its calls of RSA
//! and ECDSA do not go through EVP. The cipher, and the digests of the key exchange, show what OpenSSH negotiated. The cost
//! comes from measurements on another machine: the constants below.

use outboard_observation::{Operation, Work};
use outboard_programs::Launch;
use serde::Serialize;

/// Work that was not seen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// What it is.
    pub algorithm: &'static str,
    /// The bytes that it processed; 0 for key exchanges.
    pub bytes: u64,
    /// Key exchanges; 0 for what processes bytes.
    pub exchanges: u64,
    /// Its time, by what each took elsewhere.
    pub nanoseconds: u64,
    /// The reason for the inference.
    pub because: String,
}

/// What OpenSSH's own C takes for a byte, and for its part in a key exchange with sntrup761: OpenSSH 9.2 on an AMD
/// EPYC (Zen 4), by samples of `perf` and the user time of logins (docs/observe.md).
const POLY1305_PICOSECONDS: u64 = 750;
const UMAC_PICOSECONDS: u64 = 950;
const SNTRUP761_CLIENT_NANOSECONDS: u64 = 70_000_000;
const SNTRUP761_SERVER_NANOSECONDS: u64 = 11_000_000;

/// The minor version of the installed OpenSSH by its hundreds, 902 for 9.2; none if it does not say.
pub fn installed() -> Option<u32> {
    let said = Launch::new("ssh").ok()?.arg("-V").finish().ok()?.errors;
    version(&said)
}

fn version(said: &str) -> Option<u32> {
    let (_, version) = said.split_once("OpenSSH_")?;
    let (major, rest) = version.split_once('.')?;
    let minor: String = rest.chars().take_while(char::is_ascii_digit).collect();
    Some(major.parse::<u32>().ok()? * 100 + minor.parse::<u32>().ok()?)
}

/// Whether a program is OpenSSH's.
pub fn is_openssh(program: &str) -> bool {
    matches!(program, "ssh" | "sshd" | "sftp-server")
        || program.starts_with("sshd-")
        || program.starts_with("ssh-")
}

/// Whether a program is one of OpenSSH's that exchange keys and encrypt what they send: what the others do (files of
/// keys, signatures) says nothing of a connection.
pub fn speaks_ssh(program: &str) -> bool {
    matches!(program, "ssh" | "sshd" | "ssh-keyscan") || program.starts_with("sshd-")
}

/// An algorithm that a process of OpenSSH used unseen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inferred {
    /// What it is.
    pub algorithm: Algorithm,
    /// The bytes that it processed; 0 for key exchanges.
    pub bytes: u64,
    /// Key exchanges; 0 for what processes bytes.
    pub exchanges: u64,
}

/// OpenSSH's own algorithms that leave traces in the visible work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Algorithm {
    /// The authenticator of chacha20-poly1305@openssh.com.
    Poly1305,
    /// umac-64 or umac-128.
    Umac,
    /// The key encapsulation of sntrup761x25519-sha512.
    Sntrup761,
}

impl Algorithm {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Poly1305 => "Poly1305",
            Self::Umac => "UMAC",
            Self::Sntrup761 => "sntrup761",
        }
    }

    /// The reason for the inference.
    pub fn because(self) -> &'static str {
        match self {
            Self::Poly1305 => {
                "ChaCha20 was seen without a MAC, so the cipher is chacha20-poly1305@openssh.com"
            }
            Self::Umac => {
                "more bytes were encrypted than hashed, so the MAC is umac-64 or umac-128"
            }
            Self::Sntrup761 => {
                "its public key and session key were hashed, so the key exchange is sntrup761x25519-sha512"
            }
        }
    }

    /// The condition, besides the machine, under which its time is right.
    fn provided(self) -> &'static str {
        match self {
            Self::Poly1305 | Self::Umac => "",
            Self::Sntrup761 => {
                "; this time is right only if the program has the version of 'ssh -V'"
            }
        }
    }

    /// The time for that many bytes or exchanges, in a process of that `program` and `version`, if it is known.
    fn nanoseconds(self, inferred: &Inferred, program: &str, version: Option<u32>) -> Option<u64> {
        match self {
            Self::Poly1305 => Some(inferred.bytes / 1000 * POLY1305_PICOSECONDS),
            Self::Umac => Some(inferred.bytes / 1000 * UMAC_PICOSECONDS),
            // OpenSSH 9.9 has a much faster implementation.
            Self::Sntrup761 if version.is_some_and(|version| version < 909) => {
                let each = match program.starts_with("sshd") {
                    true => SNTRUP761_SERVER_NANOSECONDS,
                    false => SNTRUP761_CLIENT_NANOSECONDS,
                };
                Some(inferred.exchanges.saturating_mul(each))
            }
            Self::Sntrup761 => None,
        }
    }
}

/// The algorithms that a process of that `program` used unseen. Key exchanges are a least number.
pub fn inferred(program: &str, work: &[Work]) -> Vec<Inferred> {
    if !speaks_ssh(program) {
        return Vec::new();
    }
    let bytes_of = |is: &dyn Fn(&str) -> bool, operations: &[Operation]| {
        work.iter()
            .filter(|work| operations.contains(&work.operation))
            .filter(|work| is(&work.algorithm.to_ascii_uppercase()))
            .fold(0, |sum: u64, work| sum.saturating_add(work.bytes))
    };
    let ciphers = [Operation::Seal, Operation::Open];
    let chacha = bytes_of(&|name| name == "CHACHA20", &ciphers);
    let counter_mode = bytes_of(
        &|name| name.ends_with("-CTR") || name.ends_with("-CBC"),
        &ciphers,
    );
    let hashed = bytes_of(&|_| true, &[Operation::Digest, Operation::Mac]);
    // With a hash for a MAC, as many bytes are hashed as are encrypted; with UMAC next to none.
    let has_umac = hashed < counter_mode / 2;
    let all = [
        (Algorithm::Poly1305, chacha, 0),
        (Algorithm::Umac, if has_umac { counter_mode } else { 0 }, 0),
        (Algorithm::Sntrup761, 0, sntrup761_exchanges(work)),
    ];
    all.into_iter()
        .filter(|(_, bytes, exchanges)| bytes + exchanges > 0)
        .map(|(algorithm, bytes, exchanges)| Inferred {
            algorithm,
            bytes,
            exchanges,
        })
        .collect()
}

/// The time of these algorithms in a process of that `program` and `version`, as far as it is known.
pub fn estimates(program: &str, work: &[Work], version: Option<u32>) -> Vec<Estimate> {
    let estimate = |inferred: Inferred| {
        let algorithm = inferred.algorithm;
        Some(Estimate {
            algorithm: algorithm.name(),
            bytes: inferred.bytes,
            exchanges: inferred.exchanges,
            nanoseconds: algorithm.nanoseconds(&inferred, program, version)?,
            because: algorithm.because().to_owned() + algorithm.provided(),
        })
    };
    let inferred = inferred(program, work);
    inferred.into_iter().filter_map(estimate).collect()
}

/// The least number of key exchanges with sntrup761 that a process's digests show. Each exchange hashes each of these
/// messages. On both sides they are, with SHA-512:
///
/// ```text
/// 1159    the public key                                       TELLING_SIZES
/// 1072    the secret's hash, confirmed, with the ciphertext    TELLING_SIZES
/// 192     the secret, twice                                    class 256
/// 65      its hash with the public key's                       class 64
/// 64      both secrets, this one's and Curve25519's            class 64
/// ≤ 197   six keys, each of the secret and two hashes          class 256
/// ```
///
/// Other digests may have such sizes too (the hash of the exchange, if the lists of algorithms are short; signed data). To
/// count one exchange too many, two of them would need exactly these sizes.
fn sntrup761_exchanges(work: &[Work]) -> u64 {
    let digests = work
        .iter()
        .filter(|work| work.operation == Operation::Digest)
        .filter(|work| work.algorithm.eq_ignore_ascii_case("SHA2-512"));
    let of_class = |up_to: u64| {
        digests
            .clone()
            .flat_map(|work| &work.sizes)
            .filter(|class| class.up_to == Some(up_to))
            .fold(0, |sum: u64, class| sum.saturating_add(class.calls))
    };
    let telling = |index: usize| {
        digests
            .clone()
            .fold(0, |sum: u64, work| sum.saturating_add(work.telling[index]))
    };
    [telling(0), telling(1), of_class(64) / 2, of_class(256) / 8]
        .into_iter()
        .min()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::catalogue::tests::work;
    use super::*;
    use outboard_observation::SizeClass;

    fn bytes(algorithm: &str, operation: Operation, bytes: u64) -> Work {
        let mut work = work(algorithm, operation, "", "");
        work.bytes = bytes;
        work
    }

    #[test]
    fn the_negotiated_algorithms_are_inferred() {
        let names = |work: &[Work]| -> Vec<&str> {
            estimates("ssh", work, Some(902))
                .iter()
                .map(|e| e.algorithm)
                .collect()
        };
        let sealed = bytes("ChaCha20", Operation::Seal, 1 << 30);
        assert_eq!(names(&[sealed]), ["Poly1305"]);
        let counter = bytes("AES-128-CTR", Operation::Seal, 1 << 30);
        assert_eq!(names(std::slice::from_ref(&counter)), ["UMAC"]);
        let hashed = bytes("SHA2-256", Operation::Digest, 1 << 30);
        assert_eq!(names(&[counter, hashed]), Vec::<&str>::new());
        let gcm = bytes("AES-256-GCM", Operation::Open, 1 << 30);
        assert_eq!(names(&[gcm]), Vec::<&str>::new());
    }

    /// SHA-512's calls of the smallest two classes, and of each of the telling sizes.
    fn digests(up_to_64: u64, up_to_256: u64, telling: [u64; 2]) -> Vec<Work> {
        let mut work = work("SHA2-512", Operation::Digest, "", "");
        let class = |(up_to, calls)| SizeClass {
            up_to: Some(up_to),
            calls,
            bytes: 0,
            nanoseconds: 0,
        };
        work.sizes = [(64, up_to_64), (256, up_to_256)].map(class).into();
        work.telling = telling;
        vec![work]
    }

    #[test]
    fn a_key_exchange_is_inferred_from_its_hashes() {
        let of = |program, work: &[Work], version| {
            let estimates = estimates(program, work, version);
            estimates.first().map(|e| (e.exchanges, e.nanoseconds))
        };
        let one = digests(2, 8, [1, 1]);
        assert_eq!(of("ssh", &one, Some(902)), Some((1, 70_000_000)));
        // A login hashes more than the exchange takes, as it happens of a telling size.
        for one in [digests(8, 10, [1, 1]), digests(8, 16, [2, 1])] {
            assert_eq!(of("ssh", &one, Some(902)), Some((1, 70_000_000)));
        }
        let three = digests(24, 24, [3, 3]);
        for program in ["sshd", "sshd-session"] {
            assert_eq!(of(program, &three, Some(804)), Some((3, 33_000_000)));
        }
        // How long another version takes is not known; that it is one is.
        assert_eq!(of("ssh", &one, Some(909)), None);
        assert_eq!(of("ssh", &one, None), None);
        assert_eq!(inferred("ssh", &one).len(), 1);
    }

    #[test]
    fn no_key_exchange_is_made_up() {
        for (what, program, digests) in [
            ("nothing", "ssh", digests(0, 0, [0, 0])),
            ("group16, and much signed", "ssh", digests(9, 9, [0, 0])),
            ("two files signed", "ssh-keygen", digests(9, 9, [1, 1])),
            ("a key without secret", "ssh-keyscan", digests(9, 9, [0, 1])),
            ("a secret without key", "ssh", digests(9, 9, [1, 0])),
            ("no keys derived", "ssh", digests(9, 7, [1, 1])),
            ("nothing hashed again", "ssh", digests(1, 9, [1, 1])),
            ("who exchanges no keys", "ssh-agent", digests(9, 9, [1, 1])),
        ] {
            assert_eq!(inferred(program, &digests), [], "{what}");
        }
        let sealed = bytes("AES-256-CTR", Operation::Seal, 400);
        assert_eq!(inferred("ssh-keygen", std::slice::from_ref(&sealed)), []);
        assert_eq!(inferred("ssh", &[sealed]).len(), 1);
    }

    #[test]
    fn versions_are_read() {
        let said = "OpenSSH_9.2p1 Debian-2+deb12u10, OpenSSL 3.0.19 27 Jan 2026";
        assert_eq!(version(said), Some(902));
        assert_eq!(version("OpenSSH_10.0p2, OpenSSL"), Some(1000));
        assert_eq!(version("something else"), None);
    }
}
