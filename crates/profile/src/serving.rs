//! The processor features that an operation uses on a path: special instructions, lanes, or none.

use crate::Machine;
use outboard_operation::{Operation, Path};
use serde::Serialize;
use std::fmt;

/// The means that serve an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "kind", content = "with")]
pub enum Serving {
    /// Instructions of the processor that were made for this kind of work.
    Instructions(&'static str),
    /// Eight at once, one in each lane of a vector.
    Lanes,
    /// General instructions.
    Software,
}

impl fmt::Display for Serving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Instructions(names) => f.write_str(names),
            Self::Lanes => f.write_str("8 lanes"),
            Self::Software => f.write_str("software"),
        }
    }
}

/// What serves `operation` on `path` of this machine. `libcrypto` is the version's major and minor
/// number, for OpenSSL learnt some instructions late (its CHANGES, 3.1.0).
pub fn serving(
    operation: Operation,
    path: Path,
    machine: &Machine,
    libcrypto: (u32, u32),
) -> Serving {
    let has = |features: &[&str]| features.iter().all(|feature| machine.has(feature));
    let knows_avx512 = path == Path::Scalar || libcrypto >= (3, 1);
    match (path, kind(operation)) {
        (Path::Wide | Path::Card, _) => Serving::Lanes,
        (_, Kind::AesGcm) => {
            // OpenSSL has them on vectors of 512 bits, the engine on those of 256 as well.
            let wide_enough = path == Path::Scalar || has(&["avx512bw"]);
            if knows_avx512 && wide_enough && has(&["vaes", "vpclmulqdq"]) {
                Serving::Instructions("VAES, VPCLMULQDQ")
            } else if has(&["aes", "pclmulqdq"]) {
                Serving::Instructions("AES-NI, PCLMULQDQ")
            } else if has(&["aes", "pmull"]) {
                Serving::Instructions("AES, PMULL")
            } else {
                Serving::Software
            }
        }
        (_, Kind::Sha256) if has(&["sha"]) => Serving::Instructions("SHA-NI"),
        (_, Kind::Sha256) if has(&["sha2"]) => Serving::Instructions("SHA-2"),
        // OpenSSL 3.0 has the multiplication for primes of 1024 bits alone.
        (_, Kind::RsaPrivate { bits }) if knows_avx512 || bits == 2048 => {
            if has(&["avx512ifma", "avx512vl"]) {
                Serving::Instructions("AVX-512 IFMA")
            } else {
                Serving::Software
            }
        }
        _ => Serving::Software,
    }
}

enum Kind {
    AesGcm,
    Sha256,
    RsaPrivate { bits: u32 },
    Other,
}

fn kind(operation: Operation) -> Kind {
    use Operation as O;
    match operation {
        O::Rsa2048Sign | O::Rsa2048Decrypt => Kind::RsaPrivate { bits: 2048 },
        O::Rsa3072Sign | O::Rsa3072Decrypt => Kind::RsaPrivate { bits: 3072 },
        O::Rsa4096Sign | O::Rsa4096Decrypt => Kind::RsaPrivate { bits: 4096 },
        O::Tls13KdfSha256 | O::Tls1PrfSha256 | O::HkdfSha256 => Kind::Sha256,
        operation if operation.is_bulk() => Kind::AesGcm,
        _ => Kind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(features: &[&str]) -> Machine {
        let mut machine = Machine::detect();
        machine.features = features.iter().map(|&feature| feature.to_owned()).collect();
        machine
    }

    #[test]
    fn openssl_3_0_lacks_what_3_1_has() {
        let ice_lake = machine(&[
            "aes",
            "pclmulqdq",
            "vaes",
            "vpclmulqdq",
            "avx512bw",
            "avx512vl",
            "avx512ifma",
        ]);
        let on =
            |operation, path, version| serving(operation, path, &ice_lake, version).to_string();
        assert_eq!(
            on(Operation::Aes128GcmSeal, Path::Stock, (3, 0)),
            "AES-NI, PCLMULQDQ"
        );
        assert_eq!(
            on(Operation::Aes128GcmSeal, Path::Stock, (3, 5)),
            "VAES, VPCLMULQDQ"
        );
        assert_eq!(
            on(Operation::Aes128GcmSeal, Path::Scalar, (3, 0)),
            "VAES, VPCLMULQDQ"
        );
        assert_eq!(
            on(Operation::Rsa2048Sign, Path::Stock, (3, 0)),
            "AVX-512 IFMA"
        );
        assert_eq!(on(Operation::Rsa4096Sign, Path::Stock, (3, 0)), "software");
        assert_eq!(
            on(Operation::Rsa4096Verify, Path::Scalar, (3, 0)),
            "software"
        );
        assert_eq!(on(Operation::P256Sign, Path::Card, (3, 0)), "8 lanes");
    }

    #[test]
    fn the_engine_has_vaes_without_avx512() {
        let zen_3 = machine(&["aes", "pclmulqdq", "vaes", "vpclmulqdq", "avx2"]);
        let on = |path| serving(Operation::Aes128GcmSeal, path, &zen_3, (3, 5)).to_string();
        assert_eq!(on(Path::Scalar), "VAES, VPCLMULQDQ");
        assert_eq!(on(Path::Stock), "AES-NI, PCLMULQDQ");
    }

    #[test]
    fn an_old_processor_has_software() {
        let old = machine(&[]);
        for &operation in Operation::ALL {
            let stock = serving(operation, Path::Stock, &old, (3, 0));
            assert_eq!(stock, Serving::Software);
        }
    }
}
