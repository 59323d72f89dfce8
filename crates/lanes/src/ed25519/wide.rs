//! Ed25519 for one key, spread across the eight lanes: a third of the time of a batch with one item. From four items on,
//! a batch is the better choice.
//!
//! The multiple of the base point is spread (`curve25519/wide/comb.rs`). What is hashed once more for the check, the nonce
//! and the challenge, is hashed in two lanes at once.
//!
//! # The check
//! As of [`super::sign`], everything leads back from what would be released: k from the encoded R, then r = S - k s,
//! which must be the nonce as it is hashed anew at the end (a message that changed meanwhile is found, too), then R as the multiple by it. That R is this multiple shows in the tally of what was
//! added and in that the point is on the curve; and the encoding is held against that point.
//!
//! Constant time in the key. The time depends on the length of the message.

use super::{Expanded, PrivateKey, Signature, hash, order};
use crate::checks::Check;
use crate::curve25519::edwards::Completed;
use crate::curve25519::wide::comb::{self, Table};
use crate::curve25519::words::Words;
use crate::sha512::padding::Message;
use crate::vector::{self, Digit, Kernel, Mask, Vector, reread, told};
use crate::{Error, wipe};
use zeroize::Zeroizing;

/// The signature of a key on a message.
///
/// # Errors
/// As of [`super::sign`].
pub fn sign(key: &PrivateKey, message: &[u8]) -> Result<Signature, Error> {
    let table = comb::table()?;
    wipe::after(wipe::depth(20), || {
        let signed = vector::run(WideSign {
            key: &key.0,
            text: message,
            table,
        })?;
        if told(signed.right) & 1 == 0 {
            return Err(Error::Fault);
        }
        let mut signature = [0; 64];
        signature[..32].copy_from_slice(&signed.r.bytes(0));
        signature[32..].copy_from_slice(&signed.s.bytes(0));
        Ok(signature)
    })
}

/// Expands the 32 bytes that RFC 8032 calls the private key.
///
/// # Errors
/// As of [`PrivateKey::new`].
pub fn private_key(seed: &[u8; 32]) -> Result<PrivateKey, Error> {
    let table = comb::table()?;
    wipe::after(wipe::depth(24), || {
        let made = vector::run(WideExpand { seed, table })?;
        if told(made.right) & 1 == 0 {
            return Err(Error::Fault);
        }
        Ok(PrivateKey(Box::new(Expanded {
            scalar: made.scalar.bytes(0),
            prefix: made.prefix.bytes(0),
            public: made.public.bytes(0),
        })))
    })
}

struct WideSign<'a> {
    key: &'a Expanded,
    text: &'a [u8],
    table: &'a Table,
}

/// All in lane 0.
struct Signed {
    r: Words,
    s: Words,
    /// Whether it passed the check.
    right: Mask,
}

impl Kernel for WideSign<'_> {
    type Output = Signed;

    #[inline(always)]
    fn run<V: Vector>(self) -> Signed {
        let WideSign { key, text, table } = self;
        let nonces = hash_one::<V>([&key.prefix, text, &[]]);
        let [nonce, _] = lanes(order::reduce::<V>(&nonces));
        let product = table.multiply::<V>(&nonce);
        let point = Completed::<V>::load(&product.point).encode_first();
        let r = point.words;
        let challenges = hash_one::<V>([&r.bytes(0), &key.public, text]);
        let [challenge, _] = lanes(order::reduce::<V>(&challenges));
        let scalar = Zeroizing::new(Words::from_bytes([&key.scalar]));
        let [s, _] = lanes(order::multiply_add::<V>(&challenge, &scalar, &nonce));

        // Nothing of this is remembered: both hashes once more, of what lies in memory, R as it is released.
        let (key, text, released) = (reread(key), *reread(&text), reread(&r));
        let again = hash::sha512::<V>(&[
            [&key.prefix, text, &[]],
            [&released.bytes(0), &key.public, text],
        ]);
        let [hashed, challenge] = lanes(order::reduce::<V>(&again));
        let scalar = Zeroizing::new(Words::from_bytes([&key.scalar]));
        let [product_again, _] = lanes(order::multiply_add::<V>(&challenge, &scalar, &Words::ZERO));
        let again = Zeroizing::new(order::subtract::<V>(reread(&s), &product_again));
        let right = point.is(&product.point, &r)
            & product.is_of::<V>(&again)
            & Check::Nonce.verdict(again.equals::<V>(&hashed));
        Signed { r, s: *s, right }
    }
}

struct WideExpand<'a> {
    seed: &'a [u8; 32],
    table: &'a Table,
}

/// All in lane 0.
struct Made {
    scalar: Zeroizing<Words>,
    prefix: Zeroizing<Words>,
    public: Words,
    /// Whether it passed the check.
    right: Mask,
}

impl Kernel for WideExpand<'_> {
    type Output = Made;

    #[inline(always)]
    fn run<V: Vector>(self) -> Made {
        let WideExpand { seed, table } = self;
        let digest = hash_one::<V>([seed, &[], &[]]);
        let [s0, s1, s2, s3, p0, p1, p2, p3] = *digest;
        let mut scalar = Zeroizing::new(Words([s0, s1, s2, s3]));
        scalar.clamp();
        let [scalar, _] = lanes(*scalar);
        let product = table.multiply::<V>(&scalar);
        let point = Completed::<V>::load(&product.point).encode_first();
        let public = point.words;
        let again = hash_one::<V>([*reread(&seed), &[], &[]]);
        let right = point.is(&product.point, &public)
            & product.is_of::<V>(&scalar)
            & Check::Seed.verdict(hash::equal::<V>(reread(&digest), &again));
        Made {
            prefix: Zeroizing::new(Words([p0, p1, p2, p3])),
            scalar,
            public,
            right,
        }
    }
}

/// The digest of a message, in lane 0.
#[inline(always)]
fn hash_one<V: Vector>(message: Message<'_>) -> Zeroizing<[Digit; 8]> {
    hash::sha512::<V>(&[message])
}

/// The numbers of lanes 0 and 1, each in all lanes.
fn lanes(words: Words) -> [Zeroizing<Words>; 2] {
    let words = Zeroizing::new(words);
    [0, 1].map(|lane| Zeroizing::new(Words::splat(words.lane(lane))))
}
