//! What is taken for granted of classes of processors without measuring: only large wins. `outboard
//! calibrate` knows better; `outboard-bench evp --offer all` shows the figures behind this table.

use outboard_operation::{Operation, Path};

use super::Choices;
use crate::machine::{Class, Machine, TakesLanes};

/// The choices for a processor against a version of libcrypto.
pub(super) fn choices(machine: &Machine, libcrypto_version: &str) -> Choices {
    use Operation::*;

    let class = machine.class();

    /// AWS-LC has formally verified assembly for these, on x86-64 and Arm; OpenSSL has portable C
    /// (P-384, P-521, Ed25519) or older assembly (P-256, X25519), in 4.0 as in 3.0. All curves of EC or none:
    /// their keys are of one type, and to hand one back to stock costs more than P-256 wins.
    const CURVES: &[Operation] = &[
        P256Keygen,
        P256Sign,
        P256Verify,
        P256Derive,
        P384Keygen,
        P384Sign,
        P384Verify,
        P384Derive,
        P521Keygen,
        P521Sign,
        P521Verify,
        P521Derive,
        X25519Keygen,
        X25519Derive,
        Ed25519Keygen,
        Ed25519Sign,
        Ed25519Verify,
    ];
    /// What OpenSSL 3.0 lacks: kernels for AVX-512 IFMA. Verification draws or wins a little, and comes with the keys. 4.0 has its own;
    /// versions between were not measured, and are left alone.
    const LARGE_RSA: &[Operation] = &[
        Rsa2048Verify,
        Rsa3072Sign,
        Rsa3072Verify,
        Rsa4096Sign,
        Rsa4096Verify,
    ];
    /// The same of VAES, on vectors of 512 and of 256 bits. Later versions have it for 512 bits: against them the engine wins from 1 KiB
    /// on, and loses at 256 bytes (Zen 4).
    const AES_GCM: &[Operation] = &[
        Aes128GcmSeal,
        Aes128GcmOpen,
        Aes192GcmSeal,
        Aes192GcmOpen,
        Aes256GcmSeal,
        Aes256GcmOpen,
    ];

    /// libcrypto sets up a context, a digest and an HMAC for each derivation; the hashes themselves are the same. Measured
    /// in 3.0, 3.5 and 4.0.
    const KEY_SCHEDULE: &[Operation] = &[
        Tls13KdfSha256,
        Tls13KdfSha384,
        Tls1PrfSha256,
        Tls1PrfSha384,
        HkdfSha256,
        HkdfSha384,
    ];

    /// What eight lanes do several times as fast as one after another (`docs/lanes.md`), and what alone is
    /// no slower than stock.
    const IN_COMPANY: &[Operation] = &[Rsa2048Sign, P384Keygen, P384Sign, P384Derive, X25519Derive];
    const IN_COMPANY_3_0: &[Operation] = &[Rsa3072Sign, Rsa4096Sign, P256Sign, P256Derive];
    /// What one operation across the lanes wins on processors where that was measured, and what company makes faster still.
    const ALONE: &[Operation] = &[P256Keygen, X25519Keygen, Ed25519Sign];
    const ALONE_AND_IN_COMPANY: &[Operation] = &[Rsa2048Sign, P256Sign, X25519Derive];
    /// The same where the processor takes all lanes at once: else it wins less than a fifth against kernels for AVX-512 IFMA.
    const AT_ONCE: &[Operation] = &[Rsa3072Sign, Rsa4096Sign];

    let series = super::series(libcrypto_version);
    let is_3_0 = series == ("3", "0");
    // OpenSSL 3.0 has nothing for VAES. Later ones have it for AVX-512 alone: measured in 3.5 and 4.0; still later ones may know better.
    let lacks_vaes = match series {
        ("3", "0") => true,
        ("3", _) | ("4", "0") => !machine.has("avx512vl"),
        _ => false,
    };
    let has_vaes = machine.has("vaes") && machine.has("vpclmulqdq");
    let wins: &[&[Operation]] = match class {
        Class::Avx512 if is_3_0 => &[CURVES, KEY_SCHEDULE, LARGE_RSA, AES_GCM],
        Class::Avx2 if lacks_vaes && has_vaes => &[CURVES, KEY_SCHEDULE, AES_GCM],
        Class::Avx512 | Class::Avx2 | Class::Arm => &[CURVES, KEY_SCHEDULE],
        Class::Other => &[],
    };
    let mut choices = Choices::default();
    for &operation in wins.iter().copied().flatten() {
        choices.set(operation, Path::Scalar);
    }
    let in_company: &[&[Operation]] = match class {
        Class::Avx512 if is_3_0 => &[IN_COMPANY, IN_COMPANY_3_0],
        Class::Avx512 => &[IN_COMPANY],
        _ => &[],
    };
    for &operation in in_company.iter().copied().flatten() {
        choices.set(operation, Path::Card);
    }
    // One across the lanes is faster than any libcrypto's, whatever its version.
    let (alone, in_company): (_, &[&[Operation]]) = match machine.takes_lanes() {
        Some(TakesLanes::AtOnce) => (ALONE, &[ALONE_AND_IN_COMPANY, AT_ONCE]),
        Some(TakesLanes::InHalves) => (ALONE, &[ALONE_AND_IN_COMPANY]),
        None => (&[][..], &[]),
    };
    for &operation in alone {
        choices.set(operation, Path::Wide);
    }
    // ML-KEM and ML-DSA: one across the lanes is 1.5 to 2.6 times as fast as AWS-LC's, on Zen 4 (`docs/lanes.md`).
    if machine.takes_lanes().is_some() {
        let wide = Operation::ALL.iter().filter(|any| any.is_wide_alone());
        wide.for_each(|&operation| choices.set(operation, Path::Wide));
    }
    for &operation in in_company.iter().copied().flatten() {
        choices.set(operation, Path::Card);
    }
    choices
}
