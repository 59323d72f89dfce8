//! ML-KEM (FIPS 203).

use outboard_engine::Error as EngineError;
use outboard_engine::kem::{self, SEED, Set};
use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::key::{Bytes, Key};
use crate::process;

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
        true if bytes.len() == SEED => kem::seeded(set, process::path(set.keygen())?, bytes.into()),
        true => kem::Key::private(set, bytes),
        false => kem::Key::public(set, bytes),
    };
    match key {
        Ok(key) => Ok(Some(Key::MlKem(Box::new(key)))),
        Err(EngineError::InvalidKey) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// A new key, and its public half.
pub(crate) fn generate(set: i32) -> Result<(Key, Vec<u8>)> {
    let set = set_of(set)?;
    let key = kem::generate(set, process::path(set.keygen())?)?;
    let public = key.public_bytes().to_vec();
    Ok((Key::MlKem(Box::new(key)), public))
}

impl Key {
    fn ml_kem(&self) -> Result<&kem::Key> {
        match self {
            Self::MlKem(key) => Ok(key),
            _ => Err(Error::Misused),
        }
    }

    /// A new secret, and behind it the ciphertext that tells it to the private half.
    pub(crate) fn encapsulate(&self) -> Result<Bytes> {
        let key = self.ml_kem()?;
        let (ciphertext, secret) = key.encapsulate(process::path(key.set().encapsulation())?)?;
        let mut both = Zeroizing::new(Vec::with_capacity(secret.len() + ciphertext.len()));
        both.extend_from_slice(&secret);
        both.extend_from_slice(&ciphertext);
        Ok(both)
    }

    /// The secret of a ciphertext; none where it is not as long as one.
    pub(crate) fn decapsulate(&self, ciphertext: &[u8]) -> Result<Option<Bytes>> {
        let key = self.ml_kem()?;
        match key.decapsulate(process::path(key.set().decapsulation())?, ciphertext) {
            Ok(secret) => Ok(Some(secret)),
            Err(EngineError::InvalidInput) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}
