//! Wiping what short operations leave.

use std::ops::{Deref, DerefMut};

use aws_lc_sys as lc;
use zeroize::Zeroizing;

/// Overwrites bytes with zeros, many at a time: `Zeroize` writes one by one, which is a tenth of a key derivation.
pub fn wipe(bytes: &mut [u8]) {
    // SAFETY: writes as many bytes as there are.
    unsafe { lc::OPENSSL_cleanse(bytes.as_mut_ptr().cast(), bytes.len()) };
}

/// Secret bytes, wiped when dropped, many at a time. On the heap: what is moved leaves a copy behind.
#[derive(Clone)]
pub struct SecretBytes(Box<[u8]>);

impl SecretBytes {
    /// So many zeros, to be filled.
    pub fn zeros(length: usize) -> Self {
        Self(vec![0; length].into_boxed_slice())
    }

    /// Those bytes, which stay where they are if they fill their memory; else a copy.
    pub(crate) fn whole(mut bytes: Zeroizing<Vec<u8>>) -> Self {
        match bytes.len() == bytes.capacity() {
            true => Self(std::mem::take(&mut *bytes).into_boxed_slice()),
            false => Self::from(&bytes[..]),
        }
    }
}

impl From<&[u8]> for SecretBytes {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.into())
    }
}

impl Deref for SecretBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for SecretBytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

impl Drop for SecretBytes {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

/// As much stack as a key derivation uses at most, in bytes; a test compares. What is not optimised uses more.
pub(super) const STACK: usize = if cfg!(debug_assertions) { 16 } else { 4 } << 10;

/// Runs what leaves secrets in moved values, and clears the stack that it used, and the registers.
pub(super) fn wiped<T>(operation: impl FnOnce() -> T) -> T {
    outboard_lanes::wiped(STACK, operation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_stays() {
        let mut bytes = [0xa5; 300];
        wipe(&mut bytes[1..299]);
        assert!(bytes[1..299].iter().all(|byte| *byte == 0));
        assert_eq!([bytes[0], bytes[299]], [0xa5; 2]);
        wipe(&mut []);
    }

    #[test]
    fn secret_bytes_are_bytes() {
        let mut secret = SecretBytes::zeros(3);
        secret[1] = 7;
        assert_eq!(secret.clone()[..], [0, 7, 0]);
        assert_eq!(SecretBytes::from(&[1, 2][..])[..], [1, 2]);
        let mut with_room = Zeroizing::new(Vec::with_capacity(9));
        with_room.push(1);
        assert_eq!(SecretBytes::whole(with_room)[..], [1]);
        assert_eq!(SecretBytes::whole(Zeroizing::new(vec![3; 4]))[..], [3; 4]);
    }
}
