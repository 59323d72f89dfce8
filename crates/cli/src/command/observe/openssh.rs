//! What OpenSSH does without OpenSSL's EVP, estimated from what it does with it.
//!
//! OpenSSH has its own C for Poly1305, UMAC, Curve25519, Ed25519 and NTRU Prime, and until 9.8 calls
//! RSA and ECDSA past EVP. The cipher and the digests of the key exchange tell which it negotiated;
//! its cost is assumed by the constants below.

use outboard_observation::{Operation, Work};
use serde::Serialize;

/// Work that was not seen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Estimate {
    /// What it is.
    pub(super) algorithm: &'static str,
    /// The bytes that it processed.
    pub(super) bytes: u64,
    /// Its time, by what is assumed for a byte.
    pub(super) nanoseconds: u64,
    /// How we come to think so.
    pub(super) because: &'static str,
}

/// What OpenSSH's own C is assumed to take for a byte on a processor of some 3 GHz (docs/observe.md): nobody
/// measured it here.
const POLY1305_PICOSECONDS: u64 = 700;
const UMAC_PICOSECONDS: u64 = 350;

/// Whether a program is OpenSSH's.
pub(super) fn is_openssh(program: &str) -> bool {
    matches!(program, "ssh" | "sshd" | "sftp-server")
        || program.starts_with("sshd-")
        || program.starts_with("ssh-")
}

/// What a process of OpenSSH did unseen.
pub(super) fn estimates(work: &[Work]) -> Vec<Estimate> {
    let bytes_of = |is: &dyn Fn(&str) -> bool, operations: &[Operation]| {
        work.iter()
            .filter(|work| operations.contains(&work.operation))
            .filter(|work| is(&work.algorithm.to_ascii_uppercase()))
            .map(|work| work.bytes)
            .sum::<u64>()
    };
    let ciphers = [Operation::Seal, Operation::Open];
    let mut estimates = Vec::new();
    let chacha = bytes_of(&|name| name == "CHACHA20", &ciphers);
    if chacha > 0 {
        estimates.push(Estimate {
            algorithm: "Poly1305",
            bytes: chacha,
            nanoseconds: chacha / 1000 * POLY1305_PICOSECONDS,
            because: "ChaCha20 alone was seen: the cipher is chacha20-poly1305@openssh.com",
        });
    }
    let counter_mode = bytes_of(
        &|name| name.ends_with("-CTR") || name.ends_with("-CBC"),
        &ciphers,
    );
    let hashed = bytes_of(&|_| true, &[Operation::Digest, Operation::Mac]);
    // With a hash for a MAC, as many bytes are hashed as are encrypted; with UMAC next to none.
    if counter_mode > 0 && hashed < counter_mode / 2 {
        estimates.push(Estimate {
            algorithm: "UMAC",
            bytes: counter_mode,
            nanoseconds: counter_mode / 1000 * UMAC_PICOSECONDS,
            because: "more was encrypted than hashed: the MAC is umac-64 or umac-128",
        });
    }
    estimates
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
        let names =
            |work: &[Work]| -> Vec<&str> { estimates(work).iter().map(|e| e.algorithm).collect() };
        let sealed = bytes("ChaCha20", Operation::Seal, 1 << 30);
        assert_eq!(names(&[sealed]), ["Poly1305"]);
        let counter = bytes("AES-128-CTR", Operation::Seal, 1 << 30);
        assert_eq!(names(std::slice::from_ref(&counter)), ["UMAC"]);
        let hashed = bytes("SHA2-256", Operation::Digest, 1 << 30);
        assert_eq!(names(&[counter, hashed]), Vec::<&str>::new());
        let gcm = bytes("AES-256-GCM", Operation::Open, 1 << 30);
        assert_eq!(names(&[gcm]), Vec::<&str>::new());
    }
}
