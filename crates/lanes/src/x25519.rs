//! X25519 (RFC 7748), eight at once.
//!
//! With a peer's point: the Montgomery ladder ([`montgomery`]). The public key: a multiple of the
//! base point from a table ([`comb`]), in a sixth of the time.
//!
//! Constant time in scalars and points. Secrets are wiped, and so is what an operation leaves of them on
//! the stack and in registers (`wipe.rs`).

pub mod wide;

use crate::curve25519::words::Words;
use crate::curve25519::{comb, montgomery};
use crate::vector::{self, Kernel, Mask, Vector, told};
use crate::{Error, each_eight};
use zeroize::Zeroizing;

/// A private key: the caller's 32 bytes, of which X25519 uses 251 bits. They stay where they are: nothing is
/// copied, so that wiping them is enough.
#[derive(Clone, Copy)]
pub struct PrivateKey<'a>(&'a [u8; 32]);

/// A public key: a u-coordinate, little-endian. Bit 255 is ignored and any value is accepted, p and
/// above too (RFC 7748 section 5).
pub type PublicKey = [u8; 32];

/// The secret two parties share, 32 bytes. Wiped when dropped. On the heap, so that moving it leaves no copy
/// behind.
pub type SharedSecret = Zeroizing<Vec<u8>>;

impl<'a> PrivateKey<'a> {
    /// Any 32 bytes are a key; the five bits that X25519 fixes are fixed where it is used.
    pub fn new(bytes: &'a [u8; 32]) -> Self {
        PrivateKey(bytes)
    }
}

/// The shared secret of each private key with a peer's public key.
///
/// # Errors
/// [`Error::LowOrderPoint`] where the secret would be zero, as RFC 7748 section 6.1 allows and
/// OpenSSL and AWS-LC do. [`Error::Fault`] where it failed its check. [`Error::Unavailable`] for
/// all where there are no lanes.
pub fn derive(items: &[(&PrivateKey<'_>, &PublicKey)]) -> Vec<Result<SharedSecret, Error>> {
    let batch = |items: &[(&PrivateKey<'_>, &PublicKey)]| {
        vector::run(Ladder {
            scalars: scalars(items.iter().map(|(key, _)| *key)),
            points: Words::from_bytes(items.iter().map(|(_, peer)| *peer)),
        })
    };
    each_eight(14, items, batch, |(secrets, right), lane| {
        release(secrets, *right, lane)
    })
}

/// The secret of one lane, unless it is zero or failed its check.
fn release(secrets: &Words, right: Mask, lane: usize) -> Result<SharedSecret, Error> {
    let secret = Zeroizing::new(secrets.bytes(lane).to_vec());
    // What this branch tells, the error tells the caller.
    if told(secret.iter().fold(0, |any, byte| any | byte) == 0) {
        return Err(Error::LowOrderPoint);
    }
    if told(right) >> lane & 1 == 0 {
        return Err(Error::Fault);
    }
    Ok(secret)
}

/// The public key of each private key.
///
/// # Errors
/// [`Error::Fault`] for a key that failed its check. [`Error::Unavailable`] for all where there are no
/// lanes.
pub fn public_keys(keys: &[&PrivateKey<'_>]) -> Vec<Result<PublicKey, Error>> {
    let batch = |keys: &[&PrivateKey<'_>]| {
        vector::run(Base {
            scalars: scalars(keys.iter().copied()),
        })
    };
    each_eight(14, keys, batch, |(keys, right), lane| {
        if told(*right) >> lane & 1 == 0 {
            return Err(Error::Fault);
        }
        Ok(keys.bytes(lane))
    })
}

/// The keys' scalars: with the five bits fixed.
fn scalars<'a>(keys: impl Iterator<Item = &'a PrivateKey<'a>>) -> Zeroizing<Words> {
    let mut scalars = Zeroizing::new(Words::from_bytes(keys.map(|key| key.0)));
    scalars.clamp();
    scalars
}

/// The u-coordinates of scalars times points, and the lanes that passed the check.
struct Ladder {
    scalars: Zeroizing<Words>,
    points: Words,
}

impl Kernel for Ladder {
    type Output = (Zeroizing<Words>, Mask);

    #[inline(always)]
    fn run<V: Vector>(self) -> Self::Output {
        let (products, right) = montgomery::multiply::<V>(&self.scalars, &self.points);
        (Zeroizing::new(products), right)
    }
}

/// The u-coordinates of scalars times the base point, and the lanes that passed the check: each is
/// computed a second time, as twice the multiple by half the scalar, which is even.
struct Base {
    scalars: Zeroizing<Words>,
}

impl Kernel for Base {
    type Output = (Words, Mask);

    #[inline(always)]
    fn run<V: Vector>(self) -> Self::Output {
        let half = Zeroizing::new(self.scalars.halve::<V>());
        let point = comb::multiply_base::<V>(&self.scalars);
        montgomery::from_edwards(point, comb::multiply_base(&half))
    }
}
