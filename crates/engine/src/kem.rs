//! ML-KEM (FIPS 203) on its paths: keys, encapsulation, decapsulation; each operation is counted.
//!
//! ```text
//! generate    d, z ──────▶ key: seed, decapsulation key, encapsulation key
//! encapsulate ek, m ─────▶ ciphertext, secret
//! decapsulate dk, c ─────▶ secret
//! ```
//!
//! A path computes these three from bytes: [`seeded`], [`Key::encapsulate_by`] and [`Key::decapsulate`] choose it. Path
//! `scalar` is AWS-LC. Another path stands in its own file, works on [`Key::public_bytes`] and [`Key::private_bytes`],
//! and hands back to `scalar` what it does not do.

use std::time::Instant;

use zeroize::Zeroizing;

use crate::card::stack;
use crate::error::{Error, Result};
use crate::scalar::ml_kem as scalar;
use crate::scalar::randomise;
use crate::{Operation, Path, ledger};

pub use crate::scalar::ml_kem::{SECRET, SEED, Set};

/// A shared secret. On the heap: what is moved leaves a copy behind.
pub type Secret = Zeroizing<Vec<u8>>;

/// As much stack as an operation of AWS-LC uses at most, in bytes, with room to spare: ML-KEM-1024 was seen to use 24 KiB.
const STACK: usize = 64 << 10;

/// The bytes of d and z (FIPS 203, 7.1).
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
    pub const ALL: [Set; 3] = [Set::MlKem512, Set::MlKem768, Set::MlKem1024];

    /// Making a key, as the ledger calls it.
    pub const fn keygen(self) -> Operation {
        match self {
            Self::MlKem512 => Operation::MlKem512Keygen,
            Self::MlKem768 => Operation::MlKem768Keygen,
            Self::MlKem1024 => Operation::MlKem1024Keygen,
        }
    }

    /// Encapsulation, as the ledger calls it.
    pub const fn encapsulation(self) -> Operation {
        match self {
            Self::MlKem512 => Operation::MlKem512Encapsulate,
            Self::MlKem768 => Operation::MlKem768Encapsulate,
            Self::MlKem1024 => Operation::MlKem1024Encapsulate,
        }
    }

    /// Decapsulation, as the ledger calls it.
    pub const fn decapsulation(self) -> Operation {
        match self {
            Self::MlKem512 => Operation::MlKem512Decapsulate,
            Self::MlKem768 => Operation::MlKem768Decapsulate,
            Self::MlKem1024 => Operation::MlKem1024Decapsulate,
        }
    }
}

/// Makes a key.
///
/// # Errors
/// [`Error::Randomness`](crate::Error::Randomness)
pub fn generate(set: Set, path: Path) -> Result<Key> {
    let mut seed = Box::new(Seed::new([0; SEED]));
    randomise(&mut seed[..])?;
    seeded(set, path, seed)
}

/// The key of a seed.
///
/// # Errors
/// [`Error::Resource`](crate::Error::Resource)
pub fn seeded(set: Set, path: Path, seed: Box<Seed>) -> Result<Key> {
    counted(set.keygen(), path, || {
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
    /// A public half (FIPS 203's encapsulation key). That its numbers are reduced is checked (7.2).
    ///
    /// # Errors
    /// [`Error::InvalidKey`](crate::Error::InvalidKey)
    pub fn public(set: Set, bytes: &[u8]) -> Result<Self> {
        Ok(Self {
            set,
            scalar: scalar::Key::public(set, bytes)?,
            public: bytes.into(),
            private: None,
            seed: None,
        })
    }

    /// A private half (FIPS 203's decapsulation key), which has the public one in it. That it is whole is checked (7.3).
    ///
    /// # Errors
    /// [`Error::InvalidKey`](crate::Error::InvalidKey). [`Error::Randomness`](crate::Error::Randomness).
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

    /// A new secret, with the ciphertext that tells it to the private half.
    ///
    /// # Errors
    /// [`Error::Randomness`](crate::Error::Randomness)
    pub fn encapsulate(&self, path: Path) -> Result<(Vec<u8>, Secret)> {
        let mut message = Zeroizing::new([0; SECRET]);
        randomise(&mut *message)?;
        self.encapsulate_by(path, &message)
    }

    /// The same by that randomness (FIPS 203, 6.2), for vectors.
    ///
    /// # Errors
    /// [`Error::Failed`](crate::Error::Failed)
    pub fn encapsulate_by(&self, path: Path, message: &[u8; SECRET]) -> Result<(Vec<u8>, Secret)> {
        counted(self.set.encapsulation(), path, || {
            let (ciphertext, secret) = self.scalar.encapsulate_by(message)?;
            Ok((ciphertext, Zeroizing::new(secret.to_vec())))
        })
    }

    /// The secret of a ciphertext; of one that nobody made for this key, another secret that only the key's owner knows
    /// (implicit rejection).
    ///
    /// # Errors
    /// [`Error::InvalidInput`](crate::Error::InvalidInput): it is not as long as a ciphertext.
    /// [`Error::NoPrivateKey`](crate::Error::NoPrivateKey).
    pub fn decapsulate(&self, path: Path, ciphertext: &[u8]) -> Result<Secret> {
        counted(self.set.decapsulation(), path, || {
            let secret = self.scalar.decapsulate(ciphertext)?;
            Ok(Zeroizing::new(secret.to_vec()))
        })
    }
}

/// Runs an operation and counts it; one that fails, with its reason. Whatever path was asked for, this one is `scalar`.
fn counted<R>(operation: Operation, _path: Path, run: impl FnOnce() -> Result<R>) -> Result<R> {
    let started = Instant::now();
    let result = on_own_stack(run);
    match &result {
        Ok(_) => ledger::record(operation, Path::Scalar, 0, started.elapsed()),
        Err(error) => ledger::fall_back(operation, (*error).into()),
    }
    result
}

/// Runs what needs more stack than a job of OpenSSL's has (32 KiB, without a guard page), and clears what it used.
fn on_own_stack<R>(run: impl FnOnce() -> Result<R>) -> Result<R> {
    stack::on_own(|| outboard_lanes::wiped(STACK, run)).unwrap_or(Err(Error::Resource))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_have_one_secret_and_a_changed_ciphertext_gives_another() {
        for set in Set::ALL {
            let key = generate(set, Path::Scalar).expect("there is randomness");
            let public = key.to_public().expect("a public half");
            let (mut ciphertext, secret) = public.encapsulate(Path::Scalar).expect("it works");
            let decapsulate = |bytes: &[u8]| key.decapsulate(Path::Scalar, bytes);
            assert_eq!(decapsulate(&ciphertext).as_ref(), Ok(&secret));
            ciphertext[7] ^= 1;
            let rejected = decapsulate(&ciphertext).expect("implicit rejection");
            assert_ne!(rejected, secret);
            assert_eq!(decapsulate(&ciphertext), Ok(rejected));
            assert_eq!(decapsulate(&ciphertext[1..]), Err(Error::InvalidInput));
            let without = public.decapsulate(Path::Scalar, &ciphertext);
            assert_eq!(without, Err(Error::NoPrivateKey));
        }
    }

    #[test]
    fn a_public_half_with_a_number_that_is_not_reduced_is_refused() {
        for set in Set::ALL {
            let key = generate(set, Path::Scalar).expect("there is randomness");
            let whole = key.public_bytes();
            let last = whole.len() - 32;
            for (at, value) in [(0, [0x01, 0x0d]), (last - 2, [0x10, 0xd0])] {
                let mut bytes = whole.to_vec();
                bytes[at..at + 2].copy_from_slice(&value);
                assert!(Key::public(set, &bytes).is_err(), "{set:?} {at}");
            }
            let mut bytes = whole.to_vec();
            // 3328 is the largest.
            bytes[..2].copy_from_slice(&[0x00, 0x0d]);
            bytes[2] = 0;
            assert!(Key::public(set, &bytes).is_ok(), "{set:?}");
            assert!(Key::public(set, &bytes[1..]).is_err());
        }
    }

    #[test]
    fn a_private_half_with_another_hash_is_refused() {
        for set in Set::ALL {
            let key = generate(set, Path::Scalar).expect("there is randomness");
            let whole = key.private_bytes().expect("both halves");
            assert!(Key::private(set, whole).is_ok());
            let mut bytes = whole.to_vec();
            let hash = bytes.len() - 64;
            bytes[hash] ^= 1;
            assert!(Key::private(set, &bytes).is_err());
        }
    }
}
