//! What path `wide` does of ML-DSA ([`crate::lattice::on_wide`]).

use std::mem;

use outboard_lanes::ml_dsa::{self as lanes, wide};
use zeroize::Zeroizing;

use super::{Mu, SEED, Set};
use crate::scalar::{SecretBytes, randomise};

/// The halves of a seed's key.
pub(super) fn generate(set: Set, seed: &[u8]) -> Option<(Box<[u8]>, SecretBytes)> {
    let mut pair = wide::generate(of(set), seed.try_into().ok()?).ok()?;
    let private = SecretBytes::whole(mem::take(&mut pair.private_key));
    Some((pair.public_key.into(), private))
}

/// A hedged signature of μ. It is verified first, as on path `scalar`: None if a fault made it wrong.
pub(super) fn sign(set: Set, private: &[u8], public: &[u8], mu: &Mu) -> Option<Vec<u8>> {
    let mut randomness = Zeroizing::new([0; SEED]);
    randomise(&mut *randomness).ok()?;
    let signature = wide::sign(of(set), private, mu, &randomness).ok()?;
    verify(set, public, mu, &signature)?.then_some(signature)
}

/// Whether that is a signature of μ.
pub(super) fn verify(set: Set, public: &[u8], mu: &Mu, signature: &[u8]) -> Option<bool> {
    match wide::verify(of(set), public, mu, signature) {
        Ok(()) => Some(true),
        Err(outboard_lanes::Error::InvalidSignature) => Some(false),
        Err(_) => None,
    }
}

const fn of(set: Set) -> lanes::Set {
    match set {
        Set::MlDsa44 => lanes::Set::MlDsa44,
        Set::MlDsa65 => lanes::Set::MlDsa65,
        Set::MlDsa87 => lanes::Set::MlDsa87,
    }
}
