//! Encapsulating for a key, and decapsulating with one.

use std::ffi::c_int;
use std::sync::Arc;

use outboard_engine::kem::SECRET;
use outboard_provider_abi::kem::Way;
use outboard_provider_abi::params::{END, octets};
use outboard_provider_abi::raw::Param;
use outboard_provider_abi::{Error, Input, Kem, KeyManagement, Output, Params, Reason, Result};
use zeroize::Zeroizing;

use crate::outboard::Outboard;

/// A secret; wiped.
pub(super) type Secret = Zeroizing<Vec<u8>>;

/// The randomness of an encapsulation, where a program chooses it (`ikme`), for vectors.
pub(super) type Randomness = Zeroizing<[u8; SECRET]>;

/// A key that something can be encapsulated for.
pub(super) trait Encapsulating: KeyManagement<Provider = Outboard> {
    /// Whether randomness can be chosen.
    const TAKES_RANDOMNESS: bool;

    /// The lengths of a ciphertext and of a secret, in bytes.
    fn lengths(&self) -> (usize, usize);
    /// A new ciphertext and its secret.
    fn encapsulate(&self, randomness: Option<&Randomness>) -> Result<(Vec<u8>, Secret)>;
    /// The secret of a ciphertext.
    fn decapsulate(&self, ciphertext: &[u8]) -> Result<Secret>;
}

/// A context of `EVP_PKEY_encapsulate` or `EVP_PKEY_decapsulate`.
pub(super) struct Context<K> {
    key: Option<Arc<K>>,
    way: Option<Way>,
    randomness: Option<Box<Randomness>>,
}

/// OpenSSL's name of the randomness.
const IKME: &std::ffi::CStr = c"ikme";

impl<K: Encapsulating> Kem for Context<K> {
    type Key = K;

    const SETTABLE: &'static [Param] = match K::TAKES_RANDOMNESS {
        true => &[octets(IKME), END],
        false => &[END],
    };

    fn new(_: &Outboard) -> Result<Self> {
        Ok(Self {
            key: None,
            way: None,
            randomness: None,
        })
    }

    fn duplicate(&self) -> Result<Self> {
        Ok(Self {
            key: self.key.clone(),
            way: self.way,
            randomness: self.randomness.clone(),
        })
    }

    fn init(&mut self, way: Way, key: Option<Arc<K>>, params: Params<'_>) -> Result<c_int> {
        let needed = match way {
            Way::Encapsulate => outboard_provider_abi::Selection::PUBLIC,
            Way::Decapsulate => outboard_provider_abi::Selection::PRIVATE,
        };
        let key = key.ok_or_else(missing)?;
        if key.has(needed)? != 1 {
            return Err(missing());
        }
        (self.key, self.way, self.randomness) = (Some(key), Some(way), None);
        self.set(params)
    }

    fn encapsulate(&mut self, mut ciphertext: Output<'_>, mut secret: Output<'_>) -> Result<c_int> {
        let key = self.key(Way::Encapsulate)?;
        let (ciphertext_length, secret_length) = key.lengths();
        if ciphertext.is_query() {
            ciphertext.tell(ciphertext_length);
            secret.tell(secret_length);
            return Ok(1);
        }
        if ciphertext.room() < ciphertext_length || secret.room() < secret_length {
            return Err(too_small());
        }
        // Chosen randomness is for one encapsulation.
        let randomness = self.randomness.take();
        let (bytes, shared) = key.encapsulate(randomness.as_deref())?;
        let written = ciphertext.put(&bytes) && secret.put(&shared);
        written.then_some(1).ok_or_else(too_small)
    }

    fn decapsulate(&mut self, mut secret: Output<'_>, ciphertext: Input<'_>) -> Result<c_int> {
        let key = self.key(Way::Decapsulate)?;
        let (ciphertext_length, secret_length) = key.lengths();
        if secret.is_query() {
            secret.tell(secret_length);
            return Ok(1);
        }
        if secret.room() < secret_length {
            return Err(too_small());
        }
        let bytes = ciphertext.bytes().unwrap_or_default();
        if bytes.len() != ciphertext_length {
            let detail = format!(
                "the ciphertext has {} bytes, not {ciphertext_length}",
                bytes.len()
            );
            return Err(Error::new(Reason::InvalidLength, detail));
        }
        let shared = key.decapsulate(bytes)?;
        secret.put(&shared).then_some(1).ok_or_else(too_small)
    }

    fn set(&mut self, params: Params<'_>) -> Result<c_int> {
        let chosen = params.find(IKME).filter(|_| K::TAKES_RANDOMNESS);
        if let Some(param) = chosen {
            let bytes = param.octets()?;
            let mut randomness = Box::new(Randomness::default());
            if bytes.len() != randomness.len() {
                let detail = format!("'ikme' has {} bytes, not {SECRET}", bytes.len());
                return Err(Error::new(Reason::InvalidLength, detail));
            }
            randomness.copy_from_slice(bytes);
            self.randomness = Some(randomness);
        }
        Ok(1)
    }
}

impl<K: Encapsulating> Context<K> {
    fn key(&self, way: Way) -> Result<Arc<K>> {
        let key = self.key.as_ref().filter(|_| self.way == Some(way));
        key.cloned().ok_or_else(|| {
            Error::new(
                Reason::OutOfOrder,
                "the context was not initialised for this",
            )
        })
    }
}

fn missing() -> Error {
    Error::new(
        Reason::InvalidKey,
        "the key lacks the half that this operation needs",
    )
}

fn too_small() -> Error {
    Error::new(
        Reason::BufferTooSmall,
        "a buffer is too small for the ciphertext or the secret",
    )
}
