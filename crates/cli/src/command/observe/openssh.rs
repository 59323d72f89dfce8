//! What OpenSSH does without OpenSSL's EVP, estimated from what it does with it.
//!
//! OpenSSH has its own C for Poly1305, UMAC, Curve25519, Ed25519 and NTRU Prime, and until 9.8 calls
//! RSA and ECDSA past EVP. The cipher and the digests of the key exchange tell which it negotiated;
//! what that costs is known from another machine, by the constants below.

use outboard_observation::{Operation, SizeClass, Work};
use outboard_programs::Launch;
use serde::Serialize;

/// Work that was not seen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Estimate {
    /// What it is.
    pub(super) algorithm: &'static str,
    /// The bytes that it processed; 0 for key exchanges.
    pub(super) bytes: u64,
    /// Key exchanges; 0 for what processes bytes.
    pub(super) exchanges: u64,
    /// Its time, by what each took elsewhere.
    pub(super) nanoseconds: u64,
    /// How we come to think so.
    pub(super) because: &'static str,
}

/// What OpenSSH's own C takes for a byte, and for its part in a key exchange with sntrup761: OpenSSH 9.2 on an AMD
/// EPYC (Zen 5), by samples of `perf` and the user time of logins (docs/observe.md).
const POLY1305_PICOSECONDS: u64 = 750;
const UMAC_PICOSECONDS: u64 = 950;
const SNTRUP761_CLIENT_NANOSECONDS: u64 = 70_000_000;
const SNTRUP761_SERVER_NANOSECONDS: u64 = 11_000_000;

/// sntrup761's public key after the byte that tells this hash from others: both sides hash it once with SHA-512.
const SNTRUP761_HASHED: u64 = 1 + 1158;
/// That key, the ciphertext and X25519's halves, which the hash of the whole exchange covers, too.
const SNTRUP761_SENT: u64 = 1158 + 1039 + 2 * 32;

/// The minor version of the installed OpenSSH by its hundreds, 902 for 9.2; none if it does not say.
pub(super) fn installed() -> Option<u32> {
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
pub(super) fn is_openssh(program: &str) -> bool {
    matches!(program, "ssh" | "sshd" | "sftp-server")
        || program.starts_with("sshd-")
        || program.starts_with("ssh-")
}

/// What a process of OpenSSH used unseen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Inferred {
    /// What it is.
    pub(super) algorithm: Algorithm,
    /// The bytes that it processed; 0 for key exchanges.
    pub(super) bytes: u64,
    /// Key exchanges; 0 for what processes bytes.
    pub(super) exchanges: u64,
}

/// What of OpenSSH's own leaves traces in what is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Algorithm {
    Poly1305,
    Umac,
    Sntrup761,
}

impl Algorithm {
    /// Its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Poly1305 => "Poly1305",
            Self::Umac => "UMAC",
            Self::Sntrup761 => "sntrup761",
        }
    }

    /// How we come to think so.
    pub(super) fn because(self) -> &'static str {
        match self {
            Self::Poly1305 => {
                "ChaCha20 alone was seen: the cipher is chacha20-poly1305@openssh.com"
            }
            Self::Umac => "more was encrypted than hashed: the MAC is umac-64 or umac-128",
            Self::Sntrup761 => {
                "its public key was hashed: the key exchange is sntrup761x25519-sha512"
            }
        }
    }

    /// What one takes, of that many bytes or exchanges, in a process of that `program` and `version`, if that is known.
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

/// What a process of OpenSSH used unseen.
pub(super) fn inferred(work: &[Work]) -> Vec<Inferred> {
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

/// What that cost a process, as far as it is known: of that `program`, and that `version`.
pub(super) fn estimates(program: &str, work: &[Work], version: Option<u32>) -> Vec<Estimate> {
    let estimate = |inferred: Inferred| {
        let algorithm = inferred.algorithm;
        Some(Estimate {
            algorithm: algorithm.name(),
            bytes: inferred.bytes,
            exchanges: inferred.exchanges,
            nanoseconds: algorithm.nanoseconds(&inferred, program, version)?,
            because: algorithm.because(),
        })
    };
    inferred(work).into_iter().filter_map(estimate).collect()
}

/// How many key exchanges with sntrup761 a process's digests tell of.
fn sntrup761_exchanges(work: &[Work]) -> u64 {
    let is_sha512 = |work: &&Work| {
        work.operation == Operation::Digest && work.algorithm.eq_ignore_ascii_case("SHA2-512")
    };
    let exchanges = |class: &SizeClass| {
        let (calls, bytes) = (class.calls, class.bytes);
        let with_exchange = (calls / 2).saturating_mul(SNTRUP761_HASHED + SNTRUP761_SENT);
        if bytes == calls.saturating_mul(SNTRUP761_HASHED) {
            calls
        } else if calls % 2 == 0 && bytes > with_exchange {
            // With short lists of algorithms the hash of the exchange is of this class, too.
            calls / 2
        } else {
            0
        }
    };
    let classes = work.iter().filter(is_sha512).flat_map(|work| &work.sizes);
    let of_its_size = classes.filter(|class| class.up_to == Some(4096));
    of_its_size.map(exchanges).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::super::catalogue::tests::work;
    use super::*;

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

    #[test]
    fn a_key_exchange_is_inferred_from_its_hashes() {
        let digests = |calls, bytes| {
            let mut work = work("SHA2-512", Operation::Digest, "", "");
            work.sizes = vec![SizeClass {
                up_to: Some(4096),
                calls,
                bytes,
                nanoseconds: 0,
            }];
            vec![work]
        };
        let of = |program, work: &[Work], version| {
            let estimates = estimates(program, work, version);
            estimates.first().map(|e| (e.exchanges, e.nanoseconds))
        };
        assert_eq!(
            of("ssh", &digests(1, 1159), Some(902)),
            Some((1, 70_000_000))
        );
        assert_eq!(
            of("sshd", &digests(3, 3 * 1159), Some(804)),
            Some((3, 33_000_000))
        );
        // With the hash of the exchange; without a public key (Diffie-Hellman's group 16); another version.
        assert_eq!(
            of("ssh", &digests(2, 1159 + 3000), Some(902)),
            Some((1, 70_000_000))
        );
        assert_eq!(of("ssh", &digests(1, 4060), Some(902)), None);
        assert_eq!(of("ssh", &digests(0, 0), Some(902)), None);
        assert_eq!(of("ssh", &digests(1, 1159), Some(909)), None);
        assert_eq!(of("ssh", &digests(1, 1159), None), None);
    }

    #[test]
    fn versions_are_read() {
        let said = "OpenSSH_9.2p1 Debian-2+deb12u10, OpenSSL 3.0.19 27 Jan 2026";
        assert_eq!(version(said), Some(902));
        assert_eq!(version("OpenSSH_10.0p2, OpenSSL"), Some(1000));
        assert_eq!(version("something else"), None);
    }
}
