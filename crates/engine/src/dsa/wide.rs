//! What path `wide` does of ML-DSA ([`crate::lattice::on_wide`]).

use std::mem;

use outboard_lanes::ml_dsa::{self as lanes, wide};
use zeroize::Zeroizing;

use super::{Mu, SEED, Set};
use crate::ledger::{self, Reason};
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
    let signed = wide::sign(of(set), private, mu, &randomness);
    let signature = signed.map(Zeroizing::new);
    let checked = signature.map(|mut it| {
        let is_right = verify(set, public, mu, &it) == Some(true);
        // A wrong one may betray the key: it is wiped.
        is_right.then(|| mem::take(&mut *it))
    });
    match checked {
        Ok(Some(signature)) => Some(signature),
        Err(outboard_lanes::Error::Unavailable) => None,
        Ok(None) | Err(_) => {
            ledger::fall_back(set.signing(), Reason::Error);
            None
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// As a fault would make it: signed with another key than it is verified with.
    #[test]
    fn a_wrong_signature_is_withheld() {
        for set in Set::ALL {
            let pair = |seed: u8| generate(set, &[seed; SEED]);
            let (Some((public, private)), Some((other, _))) = (pair(1), pair(2)) else {
                return eprintln!("skipped: no lanes here ('make kem-anywhere' emulates them)");
            };
            let sign = |public: &[u8]| sign(set, &private, public, &[3; 64]);
            assert!(sign(&public).is_some());
            assert!(sign(&other).is_none());
        }
    }
}
