//! Post-quantum keys for an OpenSSL that has none: ML-KEM, the groups of TLS 1.3 that join it with a curve, and ML-DSA.
//!
//! OpenSSL has these from 3.5 on, and there its own stay. Before, no other provider stands behind them: what a key or a
//! context answers is ours alone, and follows what OpenSSL 3.5 answers. A program meets these names only where the setting
//! `post-quantum` asks for them.
//!
//! ```text
//! libssl ──▶ groups.rs: the capability TLS-GROUP; signature_algorithms.rs: TLS-SIGALG
//!    └────▶ hybrid.rs ──▶ classical.rs (X25519, P-256, P-384) and ml_kem.rs ──▶ engine
//! EVP ────▶ ml_kem.rs, context.rs (encapsulate, decapsulate) ──▶ engine
//!    └────▶ ml_dsa.rs, signature.rs ──▶ engine          lattice.rs: the keys of both
//! files ──▶ decoder.rs, encoder.rs ──▶ format.rs (RFC 9935, RFC 9881)
//! X.509 ──▶ objects.rs: names that libcrypto must know
//! ```

mod classical;
mod context;
mod decoder;
mod encoder;
mod format;
mod groups;
mod hybrid;
mod lattice;
mod ml_dsa;
mod ml_kem;
mod objects;
mod signature;
mod signature_algorithms;

use std::ffi::CStr;

use outboard_provider_abi::raw::Dispatch;
use outboard_provider_abi::{kem, keymgmt, signature as abi};

pub(crate) use groups::give as give_groups;
pub(crate) use objects::name as name_objects;
pub(crate) use signature_algorithms::give as give_signature_algorithms;

/// An algorithm: its names, and its functions.
pub(crate) type Own = (&'static CStr, Box<[Dispatch]>);

/// One of several for each key type: its names, its properties, and its functions.
pub(crate) type Coder = (&'static CStr, String, Box<[Dispatch]>);

/// The names of ML-KEM's sets, as OpenSSL 3.5 has them, in the order of their variants.
const ML_KEM: [&CStr; 3] = [
    c"ML-KEM-512:MLKEM512:id-alg-ml-kem-512:2.16.840.1.101.3.4.4.1",
    c"ML-KEM-768:MLKEM768:id-alg-ml-kem-768:2.16.840.1.101.3.4.4.2",
    c"ML-KEM-1024:MLKEM1024:id-alg-ml-kem-1024:2.16.840.1.101.3.4.4.3",
];

/// The names of ML-DSA's sets, likewise.
const ML_DSA: [&CStr; 3] = [
    c"ML-DSA-44:MLDSA44:2.16.840.1.101.3.4.3.17:id-ml-dsa-44",
    c"ML-DSA-65:MLDSA65:2.16.840.1.101.3.4.3.18:id-ml-dsa-65",
    c"ML-DSA-87:MLDSA87:2.16.840.1.101.3.4.3.19:id-ml-dsa-87",
];

/// The key managements.
pub(crate) fn key_managements() -> [Own; 9] {
    [
        (ML_DSA[0], keymgmt::own::<ml_dsa::Key, 0>()),
        (ML_DSA[1], keymgmt::own::<ml_dsa::Key, 1>()),
        (ML_DSA[2], keymgmt::own::<ml_dsa::Key, 2>()),
        (ML_KEM[0], keymgmt::own::<ml_kem::Key, 0>()),
        (ML_KEM[1], keymgmt::own::<ml_kem::Key, 1>()),
        (ML_KEM[2], keymgmt::own::<ml_kem::Key, 2>()),
        (
            hybrid::Group::ALL[0].name(),
            keymgmt::own::<hybrid::Key, 0>(),
        ),
        (
            hybrid::Group::ALL[1].name(),
            keymgmt::own::<hybrid::Key, 1>(),
        ),
        (
            hybrid::Group::ALL[2].name(),
            keymgmt::own::<hybrid::Key, 2>(),
        ),
    ]
}

/// The key encapsulations: one for each key type, of its names.
pub(crate) fn encapsulations() -> impl Iterator<Item = (&'static CStr, &'static [Dispatch])> {
    let ml_kem = ML_KEM.map(|names| (names, kem::table::<context::Context<ml_kem::Key>>()));
    let groups = hybrid::Group::ALL.map(|group| {
        let table = kem::table::<context::Context<hybrid::Key>>();
        (group.name(), table)
    });
    ml_kem.into_iter().chain(groups)
}

/// The signatures, for a libcrypto of 3.4 or later with the functions that sign a message by an algorithm's own name. (An
/// earlier one takes those for functions that sign a digest, of which half are missing.)
pub(crate) fn signatures(signs_messages: bool) -> [Own; 3] {
    ML_DSA.map(|names| {
        let table = match signs_messages {
            true => abi::own::<signature::Context>(abi::MESSAGES),
            false => abi::own::<signature::Context>(abi::DIGESTS),
        };
        (names, table)
    })
}

/// What reads ML-KEM and ML-DSA keys.
pub(crate) fn decoders() -> Vec<Coder> {
    decoder::all()
}

/// What writes ML-KEM and ML-DSA keys.
pub(crate) fn encoders() -> Vec<Coder> {
    encoder::all()
}
