//! ML-DSA (FIPS 204), the pure variant: hedged signatures. AWS-LC's take up to 128 KiB of the caller's stack.
//!
//! What is signed is μ, a hash of the message ([`Message`]). So a message may come in parts, and be of any length.

use std::ptr;

use aws_lc_sys as lc;
use once_cell::race::OnceBox;
use zeroize::Zeroizing;

use super::owned::Owned;
use super::randomness::drawing;
use super::shake::Shake256;
use super::{check, raw_key};
use crate::error::{Error, Result};
use crate::fork;

/// The length of a seed, in bytes.
pub const SEED: usize = 32;
/// The longest context, in bytes.
pub const MAX_CONTEXT: usize = 255;
/// The length of μ, and of the hash of a public half, in bytes.
pub const MU: usize = 64;

/// FIPS 204's μ: what of a message is signed.
pub type Mu = [u8; MU];

/// A parameter set (FIPS 204, 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    /// ML-DSA-44.
    MlDsa44,
    /// ML-DSA-65.
    MlDsa65,
    /// ML-DSA-87.
    MlDsa87,
}

impl Set {
    fn nid(self) -> i32 {
        match self {
            Self::MlDsa44 => lc::NID_MLDSA44,
            Self::MlDsa65 => lc::NID_MLDSA65,
            Self::MlDsa87 => lc::NID_MLDSA87,
        }
    }

    /// The length of a public half, in bytes.
    pub const fn public_length(self) -> usize {
        match self {
            Self::MlDsa44 => 1312,
            Self::MlDsa65 => 1952,
            Self::MlDsa87 => 2592,
        }
    }

    /// The length of a private half, in bytes.
    pub const fn private_length(self) -> usize {
        match self {
            Self::MlDsa44 => 2560,
            Self::MlDsa65 => 4032,
            Self::MlDsa87 => 4896,
        }
    }

    /// The length of a signature, in bytes.
    pub const fn signature_length(self) -> usize {
        match self {
            Self::MlDsa44 => 2420,
            Self::MlDsa65 => 3309,
            Self::MlDsa87 => 4627,
        }
    }

    /// As much stack as an operation uses at most, in bytes, with room to spare: `lattice.rs` has a test that compares.
    pub(crate) const fn stack(self) -> usize {
        let kib = match self {
            Self::MlDsa44 => 72,
            Self::MlDsa65 => 96,
            Self::MlDsa87 => 136,
        };
        kib << 10
    }
}

/// A key, either half.
pub struct Key {
    key: Owned<lc::EVP_PKEY>,
    set: Set,
    is_private: bool,
    /// FIPS 204's tr, once it is needed: the hash of the public half.
    hash: OnceBox<[u8; MU]>,
}

/// A message for one key and context, which may come in parts: μ in the making (FIPS 204, algorithm 7, line 6). Of whatever
/// length the message is, this is of a few hundred bytes.
pub struct Message(Shake256);

impl Message {
    /// Begins one for the key whose public half has that hash, in a context of at most [`MAX_CONTEXT`] bytes.
    ///
    /// # Errors
    /// [`Error::InvalidInput`]: the context is longer. [`Error::Resource`].
    pub(crate) fn of(hash: &[u8; MU], context: &[u8]) -> Result<Self> {
        let length = u8::try_from(context.len()).map_err(|_| Error::InvalidInput)?;
        let mut shake = Shake256::new()?;
        shake.update(hash)?;
        // 0: the message itself is signed, not a hash of it (FIPS 204, 5.2).
        shake.update(&[0, length])?;
        shake.update(context)?;
        Ok(Message(shake))
    }

    /// Goes on with those bytes.
    ///
    /// # Errors
    /// [`Error::Failed`]
    pub fn update(&mut self, bytes: &[u8]) -> Result<()> {
        self.0.update(bytes)
    }

    /// Another one in the same state.
    ///
    /// # Errors
    /// [`Error::Resource`]
    pub fn duplicate(&self) -> Result<Self> {
        self.0.duplicate().map(Self)
    }

    /// What is to be signed or verified.
    ///
    /// # Errors
    /// [`Error::Failed`]
    pub fn finish(self) -> Result<Mu> {
        let mut mu = [0; MU];
        self.0.finish(&mut mu)?;
        Ok(mu)
    }
}

impl Key {
    /// The key of a seed.
    ///
    /// # Errors
    /// [`Error::InvalidKey`]
    pub fn from_seed(set: Set, seed: &[u8; SEED]) -> Result<Self> {
        Self::of_secret(set, seed)
    }

    /// A private half, as FIPS 204 encodes it.
    ///
    /// # Errors
    /// [`Error::InvalidKey`]
    pub fn private(set: Set, bytes: &[u8]) -> Result<Self> {
        // A seed is shorter.
        match bytes.len() == set.private_length() {
            true => Self::of_secret(set, bytes),
            false => Err(Error::InvalidKey),
        }
    }

    fn of_secret(set: Set, bytes: &[u8]) -> Result<Self> {
        fork::ready();
        // SAFETY: reads as many bytes as there are.
        let key = unsafe {
            let key =
                lc::EVP_PKEY_pqdsa_new_raw_private_key(set.nid(), bytes.as_ptr(), bytes.len());
            Owned::new(key, Error::InvalidKey)?
        };
        Ok(Self {
            key,
            set,
            is_private: true,
            hash: OnceBox::new(),
        })
    }

    /// A public half.
    ///
    /// # Errors
    /// [`Error::InvalidKey`]: it has another length.
    pub fn public(set: Set, bytes: &[u8]) -> Result<Self> {
        fork::ready();
        // SAFETY: reads as many bytes as there are.
        let key = unsafe {
            let key = lc::EVP_PKEY_pqdsa_new_raw_public_key(set.nid(), bytes.as_ptr(), bytes.len());
            Owned::new(key, Error::InvalidKey)?
        };
        Ok(Self {
            key,
            set,
            is_private: false,
            hash: OnceBox::new(),
        })
    }

    /// The parameter set.
    pub fn set(&self) -> Set {
        self.set
    }

    /// Whether the private half is there.
    pub fn is_private(&self) -> bool {
        self.is_private
    }

    /// The bytes of the public half.
    pub fn public_bytes(&self) -> Result<Vec<u8>> {
        raw_key::public(&self.key, self.set.public_length())
    }

    /// The bytes of the private half.
    ///
    /// # Errors
    /// [`Error::NoPrivateKey`]
    pub fn private_bytes(&self) -> Result<Zeroizing<Vec<u8>>> {
        raw_key::private(&self.key, self.set.private_length())
    }

    /// The same, into a place of that length.
    pub(crate) fn private_into(&self, half: &mut [u8]) -> Result<()> {
        raw_key::private_into(&self.key, half)
    }

    /// Begins a message in a context of at most [`MAX_CONTEXT`] bytes.
    ///
    /// # Errors
    /// [`Error::InvalidInput`]: the context is longer. [`Error::Resource`].
    pub fn begin(&self, context: &[u8]) -> Result<Message> {
        let hash = self.hash.get_or_try_init(|| {
            let mut hash = Box::new([0; MU]);
            let mut of_key = Shake256::new()?;
            of_key.update(&self.public_bytes()?)?;
            of_key.finish(&mut hash[..])?;
            Ok(hash)
        })?;
        Message::of(hash, context)
    }

    /// Signs a message, in a context of at most [`MAX_CONTEXT`] bytes.
    ///
    /// # Errors
    /// [`Error::InvalidInput`]: the context is longer. [`Error::NoPrivateKey`]. [`Error::Randomness`].
    pub fn sign(&self, message: &[u8], context: &[u8]) -> Result<Vec<u8>> {
        self.sign_mu(&self.mu(message, context)?)
    }

    /// Whether that is a signature of the message in that context.
    pub fn verify(&self, message: &[u8], context: &[u8], signature: &[u8]) -> bool {
        let mu = self.mu(message, context);
        mu.is_ok_and(|mu| self.verify_mu(&mu, signature))
    }

    fn mu(&self, bytes: &[u8], context: &[u8]) -> Result<Mu> {
        let mut message = self.begin(context)?;
        message.update(bytes)?;
        message.finish()
    }

    /// Signs what [`Message::finish`] gave.
    ///
    /// # Errors
    /// [`Error::NoPrivateKey`]. [`Error::Randomness`].
    pub fn sign_mu(&self, mu: &Mu) -> Result<Vec<u8>> {
        if !self.is_private {
            return Err(Error::NoPrivateKey);
        }
        let mut signature = vec![0; self.set.signature_length()];
        let mut length = signature.len();
        let _whole = drawing()?;
        let context = self.context()?;
        // SAFETY: a live context of a key; as much room as is said; reads as many bytes as there are.
        let answer = unsafe {
            check(lc::EVP_PKEY_sign_init(context.as_ptr()), Error::Resource)?;
            lc::EVP_PKEY_sign(
                context.as_ptr(),
                signature.as_mut_ptr(),
                &raw mut length,
                mu.as_ptr(),
                mu.len(),
            )
        };
        check(answer, Error::Failed)?;
        match length == signature.len() {
            true => Ok(signature),
            false => Err(Error::Failed),
        }
    }

    /// Whether that is a signature of what [`Message::finish`] gave.
    pub fn verify_mu(&self, mu: &Mu, signature: &[u8]) -> bool {
        let Ok(context) = self.context() else {
            return false;
        };
        // SAFETY: a live context of a key; reads as many bytes as there are.
        let answer = unsafe {
            let answer = lc::EVP_PKEY_verify_init(context.as_ptr());
            if check(answer, Error::Resource).is_err() {
                return false;
            }
            lc::EVP_PKEY_verify(
                context.as_ptr(),
                signature.as_ptr(),
                signature.len(),
                mu.as_ptr(),
                mu.len(),
            )
        };
        check(answer, Error::Failed).is_ok()
    }

    fn context(&self) -> Result<Owned<lc::EVP_PKEY_CTX>> {
        fork::ready();
        // SAFETY: a live key.
        unsafe {
            let context = lc::EVP_PKEY_CTX_new(self.key.as_ptr(), ptr::null_mut());
            Owned::new(context, Error::Resource)
        }
    }
}
