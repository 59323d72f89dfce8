//! Key generation, signing and verification with one key, across the lanes (FIPS 204, section 6).
//!
//! The hashes of one operation share the eight Keccak states (`hashes.rs`); its polynomials go through the registers one by one.
//! Nothing of this depends on another operation.

mod expand;
mod generate;
mod sign;
mod verify;

use super::{BYTES, Expanded, KeyPair, MU, Set};
use crate::vector::words::{self, run_words};
use crate::{Error, wipe};
use expand::Expand;
use generate::Generate;
use sign::Sign;
use verify::{Public, Verify};
use zeroize::Zeroizing;

/// Whether this processor can: the lanes, and VBMI and VNNI beside them.
pub fn available() -> bool {
    words::available()
}

/// Stack of a key generation, in KiB.
const STACK_OF_GENERATION: usize = 48;
/// Stack of a signature.
const STACK_OF_SIGNING: usize = 96;

/// The keys of a random seed ξ (ML-DSA.KeyGen_internal).
///
/// # Errors
/// [`Error::Unavailable`] where the processor lacks an instruction.
pub fn generate(set: Set, seed: &[u8; BYTES]) -> Result<KeyPair, Error> {
    let mut public_key = vec![0; set.public_key_bytes()];
    let mut private_key = Zeroizing::new(vec![0; set.private_key_bytes()]);
    wipe::after(wipe::depth(STACK_OF_GENERATION), || {
        run_words(Generate {
            set,
            seed,
            public: &mut public_key,
            private: &mut private_key,
        })
    })?;
    Ok(KeyPair {
        public_key,
        private_key,
    })
}

/// The signature of μ (ML-DSA.Sign_internal). Fresh randomness makes it hedged; zeros make it deterministic.
///
/// The time depends on how many attempts are rejected.
///
/// # Errors
/// [`Error::InvalidSigningKey`] for a key of another length, or with a coefficient beyond ±η. [`Error::Fault`] if no attempt
/// of more than 9,000 is accepted, which takes a fault. [`Error::Unavailable`] where the
/// processor lacks an instruction.
pub fn sign(
    set: Set,
    key: &[u8],
    mu: &[u8; MU],
    randomness: &[u8; BYTES],
) -> Result<Vec<u8>, Error> {
    sign_with(set, key, mu, randomness, None)
}

fn sign_with(
    set: Set,
    key: &[u8],
    mu: &[u8; MU],
    randomness: &[u8; BYTES],
    expanded: Option<&Expanded>,
) -> Result<Vec<u8>, Error> {
    if key.len() != set.private_key_bytes() {
        return Err(Error::InvalidSigningKey);
    }
    let mut signature = vec![0; set.signature_bytes()];
    wipe::after(wipe::depth(STACK_OF_SIGNING), || {
        run_words(Sign {
            set,
            key,
            mu,
            randomness,
            expanded,
            signature: &mut signature,
        })?
    })?;
    Ok(signature)
}

/// Whether that is the key's signature of μ (ML-DSA.Verify_internal). Nothing here is secret.
///
/// # Errors
/// [`Error::InvalidVerificationKey`] for a key of another length. [`Error::InvalidSignature`] if it is none. [`Error::Memory`].
/// [`Error::Unavailable`] where the processor lacks an instruction.
pub fn verify(set: Set, key: &[u8], mu: &[u8; MU], signature: &[u8]) -> Result<(), Error> {
    if key.len() != set.public_key_bytes() {
        return Err(Error::InvalidVerificationKey);
    }
    verify_with(set, Public::Bytes(key), mu, signature)
}

fn verify_with(set: Set, key: Public<'_>, mu: &[u8; MU], signature: &[u8]) -> Result<(), Error> {
    if signature.len() != set.signature_bytes() {
        return Err(Error::InvalidSignature);
    }
    run_words(Verify {
        set,
        key,
        mu,
        signature,
    })?
}

impl Expanded {
    /// Expands a public key.
    ///
    /// # Errors
    /// [`Error::InvalidVerificationKey`] for a key of another length. [`Error::Memory`]. [`Error::Unavailable`] where the processor
    /// lacks an instruction.
    pub fn new(set: Set, key: &[u8]) -> Result<Self, Error> {
        if key.len() != set.public_key_bytes() {
            return Err(Error::InvalidVerificationKey);
        }
        run_words(Expand { set, key })?
    }

    /// As [`sign`], with the private key of this one.
    ///
    /// # Errors
    /// As [`sign`]. [`Error::InvalidSigningKey`], too, if it is another key's.
    pub fn sign(
        &self,
        key: &[u8],
        mu: &[u8; MU],
        randomness: &[u8; BYTES],
    ) -> Result<Vec<u8>, Error> {
        sign_with(self.set, key, mu, randomness, Some(self))
    }

    /// As [`verify`], with this key.
    ///
    /// # Errors
    /// As [`verify`].
    pub fn verify(&self, mu: &[u8; MU], signature: &[u8]) -> Result<(), Error> {
        verify_with(self.set, Public::Expanded(self), mu, signature)
    }
}
