//! Key generation, encapsulation and decapsulation of one key, across the lanes (FIPS 203, sections 6 and 7).
//!
//! The hashes of one operation share the eight Keccak states (`hashes.rs`); then its polynomials go through the registers one by one.
//! Nothing of this depends on another operation.

mod decapsulate;
mod encapsulate;
mod encryption;
mod generate;

use super::{BYTES, Encapsulation, Expanded, KeyPair, Secret, Set};
use crate::vector::shorts::{self, run_shorts};
use crate::{Error, wipe};
use decapsulate::Decapsulate;
use encapsulate::{Encapsulate, EncapsulateExpanded, Expand};
use generate::Generate;
use zeroize::Zeroizing;

/// Whether this processor can: the lanes, and VBMI and VNNI beside them.
pub fn available() -> bool {
    shorts::available()
}

/// Stack of each operation, in KiB.
const STACK: usize = 32;

/// The keys of two random seeds, d and z (ML-KEM.KeyGen_internal).
///
/// # Errors
/// [`Error::Unavailable`] where the processor lacks an instruction.
pub fn generate(set: Set, d: &[u8; BYTES], z: &[u8; BYTES]) -> Result<KeyPair, Error> {
    let mut encapsulation_key = vec![0; set.encapsulation_key_bytes()];
    let mut decapsulation_key = Zeroizing::new(vec![0; set.decapsulation_key_bytes()]);
    let mut expanded = Expanded::unmade(set);
    wipe::after(wipe::depth(STACK), || {
        run_shorts(Generate {
            set,
            d,
            z,
            public: &mut encapsulation_key,
            private: &mut decapsulation_key,
            expanded: expanded.as_mut(),
        })
    })?;
    Ok(KeyPair {
        encapsulation_key,
        decapsulation_key,
        expanded,
    })
}

/// Encapsulates a random message for a public key (ML-KEM.Encaps_internal, after the check of section 7.2).
///
/// # Errors
/// [`Error::InvalidEncapsulationKey`] for a key of another length, or with a number that is not below q.
/// [`Error::Unavailable`] where the processor lacks an instruction.
pub fn encapsulate(set: Set, key: &[u8], message: &[u8; BYTES]) -> Result<Encapsulation, Error> {
    if key.len() != set.encapsulation_key_bytes() {
        return Err(Error::InvalidEncapsulationKey);
    }
    into_encapsulation(set, |ciphertext, secret| {
        run_shorts(Encapsulate {
            set,
            key,
            message,
            ciphertext,
            secret,
        })?
    })
}

/// Fills the places of a ciphertext and its secret.
fn into_encapsulation(
    set: Set,
    run: impl FnOnce(&mut [u8], &mut [u8]) -> Result<(), Error>,
) -> Result<Encapsulation, Error> {
    let mut ciphertext = vec![0; set.ciphertext_bytes()];
    let mut secret = Zeroizing::new(vec![0; BYTES]);
    wipe::after(wipe::depth(STACK), || run(&mut ciphertext, &mut secret))?;
    Ok(Encapsulation { ciphertext, secret })
}

/// The secret of a ciphertext (ML-KEM.Decaps_internal, after the checks of section 7.3). One that was not encapsulated for this key gives a
/// secret that follows from z and the ciphertext.
///
/// # Errors
/// [`Error::InvalidDecapsulationKey`] for a key of another length, or whose public key has another hash than it says.
/// [`Error::InvalidCiphertext`] for a ciphertext of another length. [`Error::Unavailable`] where the processor lacks an
/// instruction.
pub fn decapsulate(set: Set, key: &[u8], ciphertext: &[u8]) -> Result<Secret, Error> {
    decapsulate_with(set, key, ciphertext, None)
}

fn decapsulate_with(
    set: Set,
    key: &[u8],
    ciphertext: &[u8],
    expanded: Option<&Expanded>,
) -> Result<Secret, Error> {
    if key.len() != set.decapsulation_key_bytes() {
        return Err(Error::InvalidDecapsulationKey);
    }
    if ciphertext.len() != set.ciphertext_bytes() {
        return Err(Error::InvalidCiphertext);
    }
    let mut secret = Zeroizing::new(vec![0; BYTES]);
    wipe::after(wipe::depth(STACK), || {
        run_shorts(Decapsulate {
            set,
            key,
            ciphertext,
            expanded,
            secret: &mut secret,
        })?
    })?;
    Ok(secret)
}

impl Expanded {
    /// Expands a public key, which is checked as [`encapsulate`] does.
    ///
    /// # Errors
    /// As [`encapsulate`]. [`Error::Memory`].
    pub fn new(set: Set, key: &[u8]) -> Result<Self, Error> {
        if key.len() != set.encapsulation_key_bytes() {
            return Err(Error::InvalidEncapsulationKey);
        }
        let mut expanded = Self::unmade(set).ok_or(Error::Memory)?;
        // All is public, but the key may lie beside its private half.
        wipe::after(wipe::depth(STACK), || {
            run_shorts(Expand {
                key,
                to: &mut expanded,
            })?
        })?;
        Ok(expanded)
    }

    /// As [`encapsulate`] for this key.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where the processor lacks an instruction.
    pub fn encapsulate(&self, message: &[u8; BYTES]) -> Result<Encapsulation, Error> {
        into_encapsulation(self.set, |ciphertext, secret| {
            run_shorts(EncapsulateExpanded {
                key: self,
                message,
                ciphertext,
                secret,
            })
        })
    }

    /// As [`decapsulate`] with the private key of this one. The hash that is stored in it must be this one's; the public key in it
    /// is not looked at.
    ///
    /// # Errors
    /// As [`decapsulate`]. [`Error::InvalidDecapsulationKey`], too, if it is another key's.
    pub fn decapsulate(&self, key: &[u8], ciphertext: &[u8]) -> Result<Secret, Error> {
        decapsulate_with(self.set, key, ciphertext, Some(self))
    }
}
