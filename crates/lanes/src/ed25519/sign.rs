//! Ed25519 signatures (RFC 8032 section 5.1.6), eight at once, each checked before its release.
//!
//! # The check
//! A mistake in R, or in k after R, gives a signature S = r + k' s beside the right one S = r + k s
//! of the same message: their difference tells s. So does a mistake in r itself that can be
//! guessed. So everything is computed a second time, backwards from what would be released: k from
//! the encoded R, then r = S - k s, which must be the hash again, then the point of r, which must
//! be R. It is twice the multiple by r/2 that is compared: the digits of r/2 are others, so a
//! damaged entry of the table does not go into both. Verification with the public key would find
//! the same mistakes and take three times as long as all of this.
//!
//! Constant time in the key. The time depends on the length of the longest message.

use super::{PrivateKey, Signature, hash, order};
use crate::checks::Check;
use crate::curve25519::comb;
use crate::curve25519::words::Words;
use crate::sha512::padding::NOTHING;
use crate::vector::{self, Kernel, Mask, Vector, told};
use crate::{Error, LANES, each_eight};
use zeroize::Zeroizing;

/// The signature of each key on its message.
///
/// # Errors
/// [`Error::Fault`] for a signature that failed its check. [`Error::Unavailable`] for all where there
/// are no lanes.
pub fn sign(items: &[(&PrivateKey, &[u8])]) -> Vec<Result<Signature, Error>> {
    let batch = |items: &[(&PrivateKey, &[u8])]| vector::run(Sign { items });
    each_eight(20, items, batch, |signed, lane| {
        if told(signed.right) >> lane & 1 == 0 {
            return Err(Error::Fault);
        }
        let mut signature = [0; 64];
        signature[..32].copy_from_slice(&signed.r[lane]);
        signature[32..].copy_from_slice(&signed.s.bytes(lane));
        Ok(signature)
    })
}

struct Sign<'a> {
    items: &'a [(&'a PrivateKey, &'a [u8])],
}

struct Signed {
    r: [[u8; 32]; LANES],
    s: Words,
    /// The lanes that passed the check.
    right: Mask,
}

impl Sign<'_> {
    /// k = SHA-512(R, A, message) mod L.
    #[inline(always)]
    fn challenge<V: Vector>(&self, r: &[[u8; 32]; LANES]) -> Words {
        let mut messages = [NOTHING; LANES];
        for ((message, (key, text)), r) in messages.iter_mut().zip(self.items).zip(r) {
            *message = [r, key.public_key(), text];
        }
        order::reduce::<V>(&hash::sha512::<V>(&messages[..self.items.len()]))
    }

    /// r = SHA-512(prefix, message) mod L.
    #[inline(always)]
    fn nonce<V: Vector>(&self) -> Words {
        let mut messages = [NOTHING; LANES];
        for (message, (key, text)) in messages.iter_mut().zip(self.items) {
            *message = [&key.0.prefix, text, &[]];
        }
        order::reduce::<V>(&hash::sha512::<V>(&messages[..self.items.len()]))
    }
}

impl Kernel for Sign<'_> {
    type Output = Signed;

    #[inline(always)]
    fn run<V: Vector>(self) -> Signed {
        let scalars = self.items.iter().map(|(key, _)| &key.0.scalar);
        let scalars = Zeroizing::new(Words::from_bytes(scalars));

        let nonces = Zeroizing::new(self.nonce::<V>());
        let point = comb::multiply_base::<V>(&nonces).encode();
        let r = core::array::from_fn(|lane| point.words.bytes(lane));
        let s = order::multiply_add::<V>(&self.challenge::<V>(&r), &scalars, &nonces);

        let product = order::multiply_add::<V>(&self.challenge::<V>(&r), &scalars, &Words::ZERO);
        let again = Zeroizing::new(order::subtract::<V>(&s, &product));
        let half = Zeroizing::new(order::halve::<V>(&again));
        let hashed = Zeroizing::new(self.nonce::<V>());
        let right = point.is_twice(comb::multiply_base(&half))
            & Check::Nonce.verdict(again.equals::<V>(&hashed));
        Signed { r, s, right }
    }
}
