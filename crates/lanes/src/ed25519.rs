//! Ed25519 (RFC 8032 section 5.1), eight at once.
//!
//! ```text
//! sign.rs      signatures, checked before release
//! verify.rs    verification
//! hash.rs      SHA-512 of eight messages
//! wide.rs      one key or signature alone, spread across the lanes
//! order.rs     arithmetic modulo the order of the base point
//! ```
//!
//! Keys and signing are constant time in the secrets; the time of signing depends on the length of
//! the longest message of eight. Verification has public inputs only.

mod hash;
mod order;
mod sign;
mod verify;
pub mod wide;

pub use sign::sign;
pub use verify::{Claim, verify};

use crate::checks::Check;
use crate::curve25519::comb;
use crate::curve25519::words::Words;
use crate::sha512::padding::NOTHING;
use crate::vector::{self, Kernel, Mask, Vector, told};
use crate::{Error, LANES, each_eight};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// A public key: the encoding of a point.
pub type PublicKey = [u8; 32];

/// A signature: the encodings of the point R and the number S.
pub type Signature = [u8; 64];

/// A private key, expanded from its 32 bytes. Wiped when dropped. On the heap, so that moving it leaves no copy
/// behind.
#[derive(Clone)]
pub struct PrivateKey(Box<Expanded>);

#[derive(Clone, Zeroize, ZeroizeOnDrop)]
struct Expanded {
    /// The secret scalar s, clamped.
    scalar: [u8; 32],
    /// What is hashed before a message to make its r.
    prefix: [u8; 32],
    public: PublicKey,
}

impl PrivateKey {
    /// Expands the 32 bytes that RFC 8032 calls the private key.
    ///
    /// # Errors
    /// [`Error::Fault`] if the public key failed its check. [`Error::Unavailable`] where there are no
    /// lanes.
    pub fn new(seed: &[u8; 32]) -> Result<PrivateKey, Error> {
        Self::expand(&[seed]).pop().expect("one key for one seed")
    }

    /// Expands several, eight at once. Errors as of [`PrivateKey::new`].
    pub fn expand(seeds: &[&[u8; 32]]) -> Vec<Result<PrivateKey, Error>> {
        let batch = |seeds: &[&[u8; 32]]| vector::run(Expand { seeds });
        each_eight(24, seeds, batch, |keys, lane| {
            if told(keys.right) >> lane & 1 == 0 {
                return Err(Error::Fault);
            }
            Ok(PrivateKey(Box::new(Expanded {
                scalar: keys.scalars.bytes(lane),
                prefix: keys.prefixes.bytes(lane),
                public: keys.public.bytes(lane),
            })))
        })
    }

    /// What of it is secret.
    #[cfg(all(test, feature = "emulation"))]
    pub(crate) fn secrets(&self) -> [&[u8; 32]; 2] {
        [&self.0.scalar, &self.0.prefix]
    }

    /// The public key.
    pub fn public_key(&self) -> &PublicKey {
        &self.0.public
    }
}

/// Up to eight keys from their seeds.
struct Expand<'a> {
    seeds: &'a [&'a [u8; 32]],
}

struct Batch {
    scalars: Zeroizing<Words>,
    prefixes: Zeroizing<Words>,
    public: Words,
    /// The lanes that passed the check: the seed is hashed a second time, and the public key
    /// computed a second time, as twice the multiple by half the scalar. (With a wrong one,
    /// signatures would tell the scalar.)
    right: Mask,
}

impl Kernel for Expand<'_> {
    type Output = Batch;

    #[inline(always)]
    fn run<V: Vector>(self) -> Batch {
        let mut messages = [NOTHING; LANES];
        for (message, seed) in messages.iter_mut().zip(self.seeds) {
            message[0] = &seed[..];
        }
        let messages = &messages[..self.seeds.len()];
        let digests = hash::sha512::<V>(messages);
        let again = hash::sha512::<V>(messages);
        let [s0, s1, s2, s3, p0, p1, p2, p3] = *digests;
        let mut scalars = Zeroizing::new(Words([s0, s1, s2, s3]));
        scalars.clamp();
        let public = comb::multiply_base::<V>(&scalars).encode();
        let half = Zeroizing::new(scalars.halve::<V>());
        Batch {
            public: public.words,
            right: public.is_twice(comb::multiply_base(&half))
                & Check::Seed.verdict(hash::equal::<V>(&digests, &again)),
            prefixes: Zeroizing::new(Words([p0, p1, p2, p3])),
            scalars,
        }
    }
}
