//! Ed25519 (RFC 8032), the pure variant.

use aws_lc_sys as lc;
use zeroize::Zeroizing;

use super::check;
use crate::error::{Error, Result};

/// The length of a seed and of a public key, in bytes.
pub const LENGTH: usize = 32;
/// The length of a signature, in bytes.
pub const SIGNATURE_LENGTH: usize = 64;

/// A private key: RFC 8032's 32-byte seed, with the public half beside it.
#[derive(Clone)]
pub struct Private {
    /// Seed, then public key: AWS-LC's form.
    bytes: Zeroizing<[u8; 64]>,
}

impl Private {
    /// The key of that seed.
    pub fn from_seed(seed: &[u8; LENGTH]) -> Self {
        let mut bytes = Zeroizing::new([0; 64]);
        let mut public = [0; LENGTH];
        // SAFETY: 32, 64 and 32 bytes, as the function asks.
        unsafe {
            lc::ED25519_keypair_from_seed(public.as_mut_ptr(), bytes.as_mut_ptr(), seed.as_ptr());
        }
        Self { bytes }
    }

    /// The key of a seed whose public half is known. A wrong one makes wrong signatures, and could give
    /// the key away: it must come from the same source as the seed.
    pub fn of_halves(seed: &[u8; LENGTH], public: &[u8; LENGTH]) -> Self {
        let mut bytes = Zeroizing::new([0; 64]);
        bytes[..LENGTH].copy_from_slice(seed);
        bytes[LENGTH..].copy_from_slice(public);
        Self { bytes }
    }

    /// The seed.
    pub fn seed(&self) -> &[u8; LENGTH] {
        self.bytes.first_chunk().expect("64 bytes begin with 32")
    }

    /// The public half.
    pub fn public(&self) -> &[u8; LENGTH] {
        self.bytes.last_chunk().expect("64 bytes end with 32")
    }

    /// Signs a message.
    pub fn sign(&self, message: &[u8], signature: &mut [u8; SIGNATURE_LENGTH]) -> Result<()> {
        // SAFETY: 64 bytes of signature and of key; reads as many bytes as the message has.
        let answer = unsafe {
            lc::ED25519_sign(
                signature.as_mut_ptr(),
                message.as_ptr(),
                message.len(),
                self.bytes.as_ptr(),
            )
        };
        check(answer, Error::Failed)
    }
}

/// Whether that is a signature of the message.
pub fn verify(public: &[u8; LENGTH], message: &[u8], signature: &[u8]) -> bool {
    let Ok(signature) = <&[u8; SIGNATURE_LENGTH]>::try_from(signature) else {
        return false;
    };
    // SAFETY: 64 bytes of signature and 32 of key; reads as many bytes as the message has.
    let answer = unsafe {
        lc::ED25519_verify(
            message.as_ptr(),
            message.len(),
            signature.as_ptr(),
            public.as_ptr(),
        )
    };
    check(answer, Error::Failed).is_ok()
}
