//! ML-DSA (FIPS 204), the pure variant: keys, signatures; each operation is counted.
//!
//! ```text
//! generate    seed ───────────────────▶ key: seed, private half, public half
//! sign        message, context ───────▶ signature, which was verified before it is released
//! verify      message, context, signature ──▶ whether it is one
//! ```
//!
//! The one path is `scalar`, which is AWS-LC.

use std::time::Instant;

use zeroize::Zeroizing;

use crate::card::stack;
use crate::error::{Error, Result};
use crate::scalar::ml_dsa as scalar;
use crate::scalar::randomise;
use crate::{Operation, Path, ledger};

pub use crate::scalar::ml_dsa::{MAX_CONTEXT, SEED, Set};

/// As much stack as an operation of AWS-LC uses at most, in bytes, with room to spare: signing with ML-DSA-87 uses 128 KiB.
const STACK: usize = 192 << 10;

/// A seed (FIPS 204's ξ).
pub type Seed = Zeroizing<[u8; SEED]>;

/// A key: the public half, and the private one where it is known.
pub struct Key {
    set: Set,
    public: Box<[u8]>,
    private: Option<Box<Zeroizing<Vec<u8>>>>,
    /// On the heap: what is moved leaves a copy behind.
    seed: Option<Box<Seed>>,
    scalar: scalar::Key,
}

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

/// Makes a key.
///
/// # Errors
/// [`Error::Randomness`](crate::Error::Randomness)
pub fn generate(set: Set) -> Result<Key> {
    let mut seed = Box::new(Seed::new([0; SEED]));
    randomise(&mut seed[..])?;
    seeded(set, seed)
}

/// The key of a seed.
///
/// # Errors
/// [`Error::InvalidKey`](crate::Error::InvalidKey)
pub fn seeded(set: Set, seed: Box<Seed>) -> Result<Key> {
    counted(set.keygen(), || {
        let key = scalar::Key::from_seed(set, &seed)?;
        Ok(Key {
            set,
            public: key.public_bytes()?.into(),
            private: Some(Box::new(key.private_bytes()?)),
            seed: Some(seed),
            scalar: key,
        })
    })
}

impl Key {
    /// A public half.
    ///
    /// # Errors
    /// [`Error::InvalidKey`](crate::Error::InvalidKey): it has another length.
    pub fn public(set: Set, bytes: &[u8]) -> Result<Self> {
        if bytes.len() != set.public_length() {
            return Err(Error::InvalidKey);
        }
        Ok(Self {
            set,
            scalar: scalar::Key::public(set, bytes)?,
            public: bytes.into(),
            private: None,
            seed: None,
        })
    }

    /// A private half, as FIPS 204 encodes it, which the public one is computed of.
    ///
    /// # Errors
    /// [`Error::InvalidKey`](crate::Error::InvalidKey)
    pub fn private(set: Set, bytes: &[u8]) -> Result<Self> {
        let key = on_own_stack(|| scalar::Key::private(set, bytes))?;
        Ok(Self {
            set,
            public: key.public_bytes()?.into(),
            private: Some(Box::new(Zeroizing::new(bytes.to_vec()))),
            seed: None,
            scalar: key,
        })
    }

    /// The parameter set.
    pub fn set(&self) -> Set {
        self.set
    }

    /// The bytes of the public half.
    pub fn public_bytes(&self) -> &[u8] {
        &self.public
    }

    /// The bytes of the private half; none where it is not known.
    pub fn private_bytes(&self) -> Option<&[u8]> {
        self.private.as_deref().map(|bytes| &bytes[..])
    }

    /// The seed that the key was made of; none where it is not known.
    pub fn seed(&self) -> Option<&[u8; SEED]> {
        self.seed.as_deref().map(|seed| &**seed)
    }

    /// The same key without its private half.
    ///
    /// # Errors
    /// [`Error::Resource`](crate::Error::Resource)
    pub fn to_public(&self) -> Result<Self> {
        Self::public(self.set, &self.public)
    }

    /// Signs a message, in a context of at most [`MAX_CONTEXT`] bytes, with fresh randomness (hedged). The signature is
    /// verified first: a fault in a computation with the private half could betray it.
    ///
    /// # Errors
    /// [`Error::InvalidInput`](crate::Error::InvalidInput): the context is longer.
    /// [`Error::NoPrivateKey`](crate::Error::NoPrivateKey). [`Error::Randomness`](crate::Error::Randomness).
    /// [`Error::Failed`](crate::Error::Failed): the signature is wrong.
    pub fn sign(&self, message: &[u8], context: &[u8]) -> Result<Vec<u8>> {
        counted(self.set.signing(), || {
            let signature = self.scalar.sign(message, context)?;
            match self.scalar.verify(message, context, &signature) {
                true => Ok(signature),
                false => Err(Error::Failed),
            }
        })
    }

    /// Whether that is a signature of the message in that context.
    ///
    /// # Errors
    /// [`Error::Resource`](crate::Error::Resource)
    pub fn verify(&self, message: &[u8], context: &[u8], signature: &[u8]) -> Result<bool> {
        counted(self.set.verification(), || {
            Ok(self.scalar.verify(message, context, signature))
        })
    }
}

/// Runs an operation and counts it; one that fails, with its reason.
fn counted<R>(operation: Operation, run: impl FnOnce() -> Result<R>) -> Result<R> {
    let started = Instant::now();
    let result = on_own_stack(run);
    match &result {
        Ok(_) => ledger::record(operation, Path::Scalar, 0, started.elapsed()),
        Err(error) => ledger::fall_back(operation, (*error).into()),
    }
    result
}

/// Runs what needs more stack than a caller may have, and clears what it used.
fn on_own_stack<R>(run: impl FnOnce() -> Result<R>) -> Result<R> {
    stack::on_own(|| outboard_lanes::wiped(STACK, run)).unwrap_or(Err(Error::Resource))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_half_signs_the_other_verifies_in_the_same_context_alone() {
        for set in Set::ALL {
            let key = generate(set).expect("there is randomness");
            let public = key.to_public().expect("a public half");
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
