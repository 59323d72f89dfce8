//! What path `wide` does of ML-DSA ([`crate::lattice::on_wide`]).

use std::mem;

pub(super) use outboard_lanes::ml_dsa::Expanded;
use outboard_lanes::ml_dsa::{self as lanes, wide};
use zeroize::Zeroizing;

use super::{Key, Mu, SEED, Set};
use crate::ledger::{self, Reason};
use crate::scalar::{SecretBytes, randomise};

pub(super) const fn expanded_size(set: Set) -> usize {
    Expanded::size(of(set))
}

/// The halves of a seed's key.
pub(super) fn generate(set: Set, seed: &[u8]) -> Option<(Box<[u8]>, SecretBytes)> {
    let mut pair = wide::generate(of(set), seed.try_into().ok()?).ok()?;
    let private = SecretBytes::whole(mem::take(&mut pair.private_key));
    Some((pair.public_key.into(), private))
}

/// A hedged signature of μ. It is verified first, as on path `scalar`: None if a fault made it wrong.
pub(super) fn sign(key: &Key, mu: &Mu) -> Option<Vec<u8>> {
    let (set, private) = (key.set(), key.private_bytes()?);
    let mut randomness = Zeroizing::new([0; SEED]);
    randomise(&mut *randomness).ok()?;
    // Once for the signature and its check.
    let expanded = expanded(key);
    let signed = match expanded {
        Some(expanded) => expanded.sign(private, mu, &randomness),
        None => wide::sign(of(set), private, mu, &randomness),
    };
    let signature = signed.map(Zeroizing::new);
    let checked = signature.map(|mut it| {
        let is_right = verify_by(key, expanded, mu, &it) == Some(true);
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
pub(super) fn verify(key: &Key, mu: &Mu, signature: &[u8]) -> Option<bool> {
    if signature.len() != key.set().signature_length() {
        return Some(false);
    }
    verify_by(key, expanded(key), mu, signature)
}

fn verify_by(key: &Key, expanded: Option<&Expanded>, mu: &Mu, signature: &[u8]) -> Option<bool> {
    let verified = match expanded {
        Some(expanded) => expanded.verify(mu, signature),
        None => wide::verify(of(key.set()), key.public_bytes(), mu, signature),
    };
    match verified {
        Ok(()) => Some(true),
        Err(outboard_lanes::Error::InvalidSignature) => Some(false),
        Err(_) => None,
    }
}

fn expanded(key: &Key) -> Option<&Expanded> {
    key.expanded(|| Expanded::new(of(key.set()), key.public_bytes()).ok())
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
            let key = |public: Box<[u8]>| {
                let (private, seed) = (private.clone(), SecretBytes::zeros(SEED));
                Key::of_halves(set, public, private, seed, None)
            };
            let (right, wrong) = (key(public), key(other));
            // The first is made with the key's bytes, the second with what is kept of it.
            for _ in 0..2 {
                assert!(sign(&right, &[3; 64]).is_some());
                assert!(sign(&wrong, &[3; 64]).is_none());
            }
        }
    }
}
