//! ML-KEM (FIPS 203).

use std::time::Instant;

use outboard_engine::scalar::ml_kem::{self, SEED, Set};
use outboard_engine::scalar::randomise;
use outboard_engine::{Operation, Path, ledger};
use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::key::{Bytes, Key};

/// What is done with a key.
#[derive(Clone, Copy)]
enum Use {
    Keygen,
    Encapsulate,
    Decapsulate,
}

/// The parameter set of that number, as the Java half counts them.
fn set_of(number: i32) -> Result<Set> {
    Ok(match number {
        0 => Set::MlKem512,
        1 => Set::MlKem768,
        2 => Set::MlKem1024,
        _ => return Err(Error::Misused),
    })
}

/// A public or a private half; none where it is not whole.
pub(crate) fn read(set: i32, is_private: bool, bytes: &[u8]) -> Result<Option<Key>> {
    let set = set_of(set)?;
    let key = match is_private {
        true if bytes.len() == SEED => {
            let mut seed = Zeroizing::new([0; SEED]);
            seed.copy_from_slice(bytes);
            ml_kem::Key::from_seed(set, &seed)
        }
        true => ml_kem::Key::private(set, bytes),
        false => ml_kem::Key::public(set, bytes),
    };
    match key {
        Ok(key) => Ok(Some(Key::MlKem(Box::new(key)))),
        Err(outboard_engine::Error::InvalidKey) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// A new key, and its public half.
pub(crate) fn generate(set: i32) -> Result<(Key, Vec<u8>)> {
    let started = Instant::now();
    let set = set_of(set)?;
    let mut seed = Zeroizing::new([0; SEED]);
    randomise(&mut *seed)?;
    let key = ml_kem::Key::from_seed(set, &seed)?;
    let public = key.public_bytes()?;
    count(set, Use::Keygen, started);
    Ok((Key::MlKem(Box::new(key)), public))
}

impl Key {
    fn ml_kem(&self) -> Result<&ml_kem::Key> {
        match self {
            Self::MlKem(key) => Ok(key),
            _ => Err(Error::Misused),
        }
    }

    /// A new secret, and behind it the ciphertext that tells it to the private half.
    pub(crate) fn encapsulate(&self) -> Result<Bytes> {
        let started = Instant::now();
        let key = self.ml_kem()?;
        let (ciphertext, secret) = key.encapsulate()?;
        let mut both = Zeroizing::new(Vec::with_capacity(secret.len() + ciphertext.len()));
        both.extend_from_slice(&*secret);
        both.extend_from_slice(&ciphertext);
        count(key.set(), Use::Encapsulate, started);
        Ok(both)
    }

    /// The secret of a ciphertext; none where it is not as long as one.
    pub(crate) fn decapsulate(&self, ciphertext: &[u8]) -> Result<Option<Bytes>> {
        let started = Instant::now();
        let key = self.ml_kem()?;
        match key.decapsulate(ciphertext) {
            Ok(secret) => {
                count(key.set(), Use::Decapsulate, started);
                Ok(Some(Zeroizing::new(secret.to_vec())))
            }
            Err(outboard_engine::Error::InvalidInput) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// Counts it, if the ledger has a place for it.
fn count(set: Set, what: Use, started: Instant) {
    let name = match (set, what) {
        (Set::MlKem512, Use::Keygen) => "ml-kem-512-keygen",
        (Set::MlKem512, Use::Encapsulate) => "ml-kem-512-encapsulate",
        (Set::MlKem512, Use::Decapsulate) => "ml-kem-512-decapsulate",
        (Set::MlKem768, Use::Keygen) => "ml-kem-768-keygen",
        (Set::MlKem768, Use::Encapsulate) => "ml-kem-768-encapsulate",
        (Set::MlKem768, Use::Decapsulate) => "ml-kem-768-decapsulate",
        (Set::MlKem1024, Use::Keygen) => "ml-kem-1024-keygen",
        (Set::MlKem1024, Use::Encapsulate) => "ml-kem-1024-encapsulate",
        (Set::MlKem1024, Use::Decapsulate) => "ml-kem-1024-decapsulate",
    };
    if let Some(operation) = Operation::from_name(name) {
        ledger::record(operation, Path::Scalar, 0, started.elapsed());
    }
}
