//! The bytes of keys that are nothing but bytes.

use aws_lc_sys as lc;
use zeroize::Zeroizing;

use super::check;
use super::owned::Owned;
use crate::error::{Error, Result};

/// A function that writes a half of a key.
type Write = unsafe extern "C" fn(*const lc::EVP_PKEY, *mut u8, *mut usize) -> i32;

/// The public half, of so many bytes.
pub(super) fn public(key: &Owned<lc::EVP_PKEY>, length: usize) -> Result<Vec<u8>> {
    let mut half = vec![0; length];
    write(key, &mut half, lc::EVP_PKEY_get_raw_public_key)?;
    Ok(half)
}

/// The private half, of so many bytes.
pub(super) fn private(key: &Owned<lc::EVP_PKEY>, length: usize) -> Result<Zeroizing<Vec<u8>>> {
    let mut half = Zeroizing::new(vec![0; length]);
    private_into(key, &mut half)?;
    Ok(half)
}

/// The same, into a place of that length.
pub(super) fn private_into(key: &Owned<lc::EVP_PKEY>, half: &mut [u8]) -> Result<()> {
    write(key, half, lc::EVP_PKEY_get_raw_private_key)
}

fn write(key: &Owned<lc::EVP_PKEY>, half: &mut [u8], write: Write) -> Result<()> {
    let mut written = half.len();
    // SAFETY: a live key, and as much room as is said.
    let answer = unsafe { write(key.as_ptr(), half.as_mut_ptr(), &raw mut written) };
    check(answer, Error::NoPrivateKey)?;
    match written == half.len() {
        true => Ok(()),
        false => Err(Error::Failed),
    }
}
