//! What path `wide` does of ML-KEM ([`crate::lattice::on_wide`]).

use std::mem;

pub(super) use outboard_lanes::ml_kem::Expanded;
use outboard_lanes::ml_kem::{self as lanes, wide};

use super::{Key, SECRET, SEED, Secret, Set};
use crate::scalar::SecretBytes;

pub(super) const fn expanded_size(set: Set) -> usize {
    Expanded::size(of(set))
}

/// The halves of a seed's key, and its public half expanded.
pub(super) fn generate(
    set: Set,
    seed: &[u8],
) -> Option<(Box<[u8]>, SecretBytes, Option<Expanded>)> {
    let seed: &[u8; SEED] = seed.try_into().ok()?;
    let (halves, _) = seed.as_chunks();
    let mut pair = wide::generate(of(set), &halves[0], &halves[1]).ok()?;
    let private = SecretBytes::whole(mem::take(&mut pair.decapsulation_key));
    Some((pair.encapsulation_key.into(), private, pair.expanded))
}

/// A ciphertext for a public half, and its secret.
pub(super) fn encapsulate(key: &Key, message: &[u8; SECRET]) -> Option<(Vec<u8>, Secret)> {
    let both = match expanded(key) {
        Some(expanded) => expanded.encapsulate(message),
        None => wide::encapsulate(of(key.set()), key.public_bytes(), message),
    };
    both.ok().map(|both| (both.ciphertext, both.secret))
}

/// The secret of a ciphertext, by a private half.
pub(super) fn decapsulate(key: &Key, ciphertext: &[u8]) -> Option<Secret> {
    let private = key.private_bytes()?;
    let secret = match expanded(key) {
        Some(expanded) => expanded.decapsulate(private, ciphertext),
        None => wide::decapsulate(of(key.set()), private, ciphertext),
    };
    secret.ok()
}

fn expanded(key: &Key) -> Option<&Expanded> {
    key.expanded(|| Expanded::new(of(key.set()), key.public_bytes()).ok())
}

const fn of(set: Set) -> lanes::Set {
    match set {
        Set::MlKem512 => lanes::Set::MlKem512,
        Set::MlKem768 => lanes::Set::MlKem768,
        Set::MlKem1024 => lanes::Set::MlKem1024,
    }
}
