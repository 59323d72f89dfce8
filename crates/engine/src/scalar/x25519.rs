//! X25519 (RFC 7748).

use aws_lc_sys as lc;
use zeroize::Zeroizing;

use super::{check, randomise};
use crate::error::{Error, Result};

/// The length of either half of a key and of a shared secret, in bytes.
pub const LENGTH: usize = 32;

/// A private key's bytes.
pub type Private = Zeroizing<[u8; LENGTH]>;
/// A public key's bytes.
pub type Public = [u8; LENGTH];

/// Makes a private key.
pub fn generate() -> Result<Private> {
    let mut private = Private::default();
    generate_into(&mut private)?;
    Ok(private)
}

/// Makes a private key where it is to stay: one that is moved leaves a copy behind.
pub fn generate_into(private: &mut [u8; LENGTH]) -> Result<()> {
    randomise(private)?;
    // As RFC 7748 decodes it; stored so, as OpenSSL stores it.
    private[0] &= 248;
    private[31] = private[31] & 127 | 64;
    Ok(())
}

/// The public half.
pub fn public_of(private: &[u8; LENGTH]) -> Public {
    let mut public = [0; LENGTH];
    // SAFETY: both have 32 bytes.
    unsafe { lc::X25519_public_from_private(public.as_mut_ptr(), private.as_ptr()) };
    public
}

/// The shared secret; an error where the peer's point has a small order.
pub fn derive(private: &[u8; LENGTH], peer: &Public, secret: &mut [u8; LENGTH]) -> Result<()> {
    // SAFETY: all have 32 bytes.
    let answer = unsafe { lc::X25519(secret.as_mut_ptr(), private.as_ptr(), peer.as_ptr()) };
    check(answer, Error::InvalidInput)
}
