//! ML-DSA (FIPS 204), the pure variant: hedged signatures. AWS-LC's take up to 128 KiB of the caller's stack.

use std::ptr;

use aws_lc_sys as lc;
use zeroize::Zeroizing;

use super::owned::Owned;
use super::randomness::drawing;
use super::{check, raw_key};
use crate::error::{Error, Result};
use crate::fork;

/// The length of a seed, in bytes.
pub const SEED: usize = 32;
/// The longest context, in bytes.
pub const MAX_CONTEXT: usize = 255;

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
}

/// A key, either half.
pub struct Key {
    key: Owned<lc::EVP_PKEY>,
    set: Set,
    is_private: bool,
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

    /// Signs a message, in a context of at most [`MAX_CONTEXT`] bytes.
    ///
    /// # Errors
    /// [`Error::InvalidInput`]: the context is longer. [`Error::NoPrivateKey`]. [`Error::Randomness`].
    pub fn sign(&self, message: &[u8], context: &[u8]) -> Result<Vec<u8>> {
        if !self.is_private {
            return Err(Error::NoPrivateKey);
        }
        let mut signature = vec![0; self.set.signature_length()];
        let mut length = signature.len();
        let _whole = drawing()?;
        let digest = self.begin(context, lc::EVP_DigestSignInit)?;
        // SAFETY: a live context; as much room as is said; reads as many bytes as there are.
        let answer = unsafe {
            lc::EVP_DigestSign(
                digest.as_ptr(),
                signature.as_mut_ptr(),
                &raw mut length,
                message.as_ptr(),
                message.len(),
            )
        };
        check(answer, Error::Failed)?;
        match length == signature.len() {
            true => Ok(signature),
            false => Err(Error::Failed),
        }
    }

    /// Whether that is a signature of the message in that context.
    pub fn verify(&self, message: &[u8], context: &[u8], signature: &[u8]) -> bool {
        fork::ready();
        let Ok(digest) = self.begin(context, lc::EVP_DigestVerifyInit) else {
            return false;
        };
        // SAFETY: a live context; reads as many bytes as there are.
        let answer = unsafe {
            lc::EVP_DigestVerify(
                digest.as_ptr(),
                signature.as_ptr(),
                signature.len(),
                message.as_ptr(),
                message.len(),
            )
        };
        check(answer, Error::Failed).is_ok()
    }

    fn begin(&self, context: &[u8], init: Init) -> Result<Owned<lc::EVP_MD_CTX>> {
        if context.len() > MAX_CONTEXT {
            return Err(Error::InvalidInput);
        }
        // SAFETY: a new context, which owns that of the key; a live key; reads as many bytes as there are.
        unsafe {
            let digest = Owned::new(lc::EVP_MD_CTX_new(), Error::Resource)?;
            let mut of_key = ptr::null_mut();
            let answer = init(
                digest.as_ptr(),
                &raw mut of_key,
                ptr::null(),
                ptr::null_mut(),
                self.key.as_ptr(),
            );
            check(answer, Error::Resource)?;
            if !context.is_empty() {
                let answer = lc::EVP_PKEY_CTX_set1_signature_context_string(
                    of_key,
                    context.as_ptr(),
                    context.len(),
                );
                check(answer, Error::Failed)?;
            }
            Ok(digest)
        }
    }
}

/// A function that begins to sign or to verify.
type Init = unsafe extern "C" fn(
    *mut lc::EVP_MD_CTX,
    *mut *mut lc::EVP_PKEY_CTX,
    *const lc::EVP_MD,
    *mut lc::ENGINE,
    *mut lc::EVP_PKEY,
) -> i32;
