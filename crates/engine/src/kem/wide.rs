//! What path `wide` does of ML-KEM ([`crate::lattice::on_wide`]).

use std::mem;

use outboard_lanes::ml_kem::{self as lanes, wide};

use super::{SECRET, SEED, Secret, Set};
use crate::scalar::SecretBytes;

/// The halves of a seed's key.
pub(super) fn generate(set: Set, seed: &[u8]) -> Option<(Box<[u8]>, SecretBytes)> {
    let seed: &[u8; SEED] = seed.try_into().ok()?;
    let (halves, _) = seed.as_chunks();
    let mut pair = wide::generate(of(set), &halves[0], &halves[1]).ok()?;
    let private = SecretBytes::whole(mem::take(&mut pair.decapsulation_key));
    Some((pair.encapsulation_key.into(), private))
}

/// A ciphertext for a public half, and its secret.
pub(super) fn encapsulate(
    set: Set,
    public: &[u8],
    message: &[u8; SECRET],
) -> Option<(Vec<u8>, Secret)> {
    let both = wide::encapsulate(of(set), public, message).ok()?;
    Some((both.ciphertext, both.secret))
}

/// The secret of a ciphertext, by a private half.
pub(super) fn decapsulate(set: Set, private: &[u8], ciphertext: &[u8]) -> Option<Secret> {
    wide::decapsulate(of(set), private, ciphertext).ok()
}

const fn of(set: Set) -> lanes::Set {
    match set {
        Set::MlKem512 => lanes::Set::MlKem512,
        Set::MlKem768 => lanes::Set::MlKem768,
        Set::MlKem1024 => lanes::Set::MlKem1024,
    }
}
