//! ML-DSA (FIPS 204), the pure variant: keys, signatures; each operation is counted.
//!
//! ```text
//! generate    seed ───────────────────▶ key: seed, private half, public half
//! sign        message, context ───────▶ signature, which was verified before it is released
//! verify      message, context, signature ──▶ whether it is one
//! ```
//!
//! A message may come in parts, and be of any length ([`Message`]). The one path is `scalar`, which is AWS-LC. Keys:
//! `lattice.rs`.

use crate::Operation;
use crate::error::{Error, Result};
use crate::lattice::{self, counted};
use crate::scalar::ml_dsa::Key as Scalar;
use crate::scalar::{SecretBytes, randomise};

pub use crate::scalar::ml_dsa::{MAX_CONTEXT, MU, Message, Mu, SEED, Set};

/// A key: the public half, and the private one where it is known.
pub type Key = lattice::Key<Scalar>;

impl Set {
    /// Every set.
    pub const ALL: [Set; 3] = [Set::MlDsa44, Set::MlDsa65, Set::MlDsa87];

    /// Making a key, as the ledger calls it.
    pub const fn keygen(self) -> Operation {
        match self {
            Self::MlDsa44 => Operation::MlDsa44Keygen,
            Self::MlDsa65 => Operation::MlDsa65Keygen,
            Self::MlDsa87 => Operation::MlDsa87Keygen,
        }
    }

    /// Signing, as the ledger calls it.
    pub const fn signing(self) -> Operation {
        match self {
            Self::MlDsa44 => Operation::MlDsa44Sign,
            Self::MlDsa65 => Operation::MlDsa65Sign,
            Self::MlDsa87 => Operation::MlDsa87Sign,
        }
    }

    /// Verifying, as the ledger calls it.
    pub const fn verification(self) -> Operation {
        match self {
            Self::MlDsa44 => Operation::MlDsa44Verify,
            Self::MlDsa65 => Operation::MlDsa65Verify,
            Self::MlDsa87 => Operation::MlDsa87Verify,
        }
    }
}

impl lattice::Form for Scalar {
    type Set = Set;

    const SEED: usize = SEED;

    fn private_length(set: Set) -> usize {
        set.private_length()
    }

    fn stack(set: Set) -> usize {
        set.stack()
    }

    fn of_seed(set: Set, seed: &[u8]) -> Result<Self> {
        let seed = seed.try_into().map_err(|_| Error::InvalidKey)?;
        Self::from_seed(set, seed)
    }

    fn of_private(set: Set, bytes: &[u8]) -> Result<Self> {
        Self::private(set, bytes)
    }

    fn of_pair(set: Set, _: &[u8], private: &[u8]) -> Result<Self> {
        Self::private(set, private)
    }

    fn of_public(set: Set, bytes: &[u8]) -> Result<Self> {
        Self::public(set, bytes)
    }

    fn is_public(set: Set, bytes: &[u8]) -> bool {
        bytes.len() == set.public_length()
    }

    fn public(&self) -> Result<Box<[u8]>> {
        self.public_bytes().map(Vec::into_boxed_slice)
    }

    fn private_into(&self, half: &mut [u8]) -> Result<()> {
        Self::private_into(self, half)
    }
}

/// Makes a key.
///
/// # Errors
/// [`Error::Randomness`]
pub fn generate(set: Set) -> Result<Key> {
    let mut seed = SecretBytes::zeros(SEED);
    randomise(&mut seed)?;
    seeded(set, seed)
}

/// The key of a seed (FIPS 204's ξ).
///
/// # Errors
/// [`Error::InvalidKey`]: it has another length.
pub fn seeded(set: Set, seed: SecretBytes) -> Result<Key> {
    counted::<Scalar, _>(set, set.keygen(), || Key::of_seed(set, seed))
}

impl Key {
    /// Begins a message in a context of at most [`MAX_CONTEXT`] bytes, for [`Key::sign_mu`] or [`Key::verify_mu`].
    ///
    /// # Errors
    /// [`Error::InvalidInput`]: the context is longer. [`Error::Resource`].
    pub fn begin(&self, context: &[u8]) -> Result<Message> {
        self.form()?.begin(context)
    }

    /// Signs a message in a context, as [`Key::sign_mu`].
    ///
    /// # Errors
    /// As [`Key::begin`] and [`Key::sign_mu`].
    pub fn sign(&self, message: &[u8], context: &[u8]) -> Result<Vec<u8>> {
        self.sign_by(|| self.mu(message, context))
    }

    /// Signs what [`Message::finish`] gave, with fresh randomness (hedged). The signature is verified first: a fault in a
    /// computation with the private half could betray it.
    ///
    /// # Errors
    /// [`Error::NoPrivateKey`]. [`Error::Randomness`]. [`Error::Failed`]: the signature is wrong.
    pub fn sign_mu(&self, mu: &Mu) -> Result<Vec<u8>> {
        self.sign_by(|| Ok(*mu))
    }

    fn sign_by(&self, mu: impl FnOnce() -> Result<Mu>) -> Result<Vec<u8>> {
        let set = self.set();
        counted::<Scalar, _>(set, set.signing(), || {
            let (mu, form) = (mu()?, self.form()?);
            let signature = form.sign_mu(&mu)?;
            match form.verify_mu(&mu, &signature) {
                true => Ok(signature),
                false => Err(Error::Failed),
            }
        })
    }

    /// Whether that is a signature of the message in that context.
    ///
    /// # Errors
    /// As [`Key::verify_mu`].
    pub fn verify(&self, message: &[u8], context: &[u8], signature: &[u8]) -> Result<bool> {
        self.verify_by(|| self.mu(message, context), signature)
    }

    /// Whether that is a signature of what [`Message::finish`] gave.
    ///
    /// # Errors
    /// [`Error::Resource`]
    pub fn verify_mu(&self, mu: &Mu, signature: &[u8]) -> Result<bool> {
        self.verify_by(|| Ok(*mu), signature)
    }

    fn verify_by(&self, mu: impl FnOnce() -> Result<Mu>, signature: &[u8]) -> Result<bool> {
        let set = self.set();
        counted::<Scalar, _>(set, set.verification(), || {
            Ok(self.form()?.verify_mu(&mu()?, signature))
        })
    }

    fn mu(&self, bytes: &[u8], context: &[u8]) -> Result<Mu> {
        let mut message = self.begin(context)?;
        message.update(bytes)?;
        message.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_half_signs_the_other_verifies_in_the_same_context_alone() {
        for set in Set::ALL {
            let key = generate(set).expect("there is randomness");
            let public = key.to_public();
            let signature = key.sign(b"message", b"context").expect("it works");
            assert_eq!(signature.len(), set.signature_length());
            let verify = |message: &[u8], context: &[u8], signature: &[u8]| {
                public.verify(message, context, signature)
            };
            assert_eq!(verify(b"message", b"context", &signature), Ok(true));
            assert_eq!(verify(b"message", b"", &signature), Ok(false));
            assert_eq!(verify(b"other", b"context", &signature), Ok(false));
            assert_eq!(verify(b"message", b"context", &signature[1..]), Ok(false));
            let mut changed = signature.clone();
            changed[99] ^= 1;
            assert_eq!(verify(b"message", b"context", &changed), Ok(false));
            assert_eq!(public.sign(b"message", b""), Err(Error::NoPrivateKey));
            let mut parts = key.begin(b"context").expect("it is short");
            parts.update(b"mess").expect("it works");
            let copy = parts.duplicate().expect("there is memory");
            for mut parts in [parts, copy] {
                parts.update(b"age").expect("it works");
                let mu = parts.finish().expect("it works");
                assert_eq!(public.verify_mu(&mu, &signature), Ok(true));
                let again = key.sign_mu(&mu).expect("it works");
                assert_eq!(verify(b"message", b"context", &again), Ok(true));
            }
            let long = [0; MAX_CONTEXT + 1];
            assert_eq!(key.sign(b"message", &long), Err(Error::InvalidInput));
        }
    }

    #[test]
    fn a_private_half_is_checked_and_gives_the_public_one() {
        for set in Set::ALL {
            let key = generate(set).expect("there is randomness");
            let whole = key.private_bytes().expect("both halves");
            let again = Key::private(set, whole).expect("it is whole");
            assert_eq!(again.public_bytes(), key.public_bytes());
            assert!(Key::private(set, &whole[1..]).is_err());
            // The hash of the public half follows rho and K.
            let mut bytes = whole.to_vec();
            bytes[64] ^= 1;
            assert!(Key::private(set, &bytes).is_err());
            assert!(Key::public(set, &key.public_bytes()[1..]).is_err());
        }
    }
}
