//! Verification of Ed25519 signatures (RFC 8032 section 5.1.7), eight at once.
//!
//! R = S B - k A is computed and its encoding compared with the one in the signature: the equation
//! without the cofactor, as AWS-LC and OpenSSL have it. So an R that is not encoded canonically is
//! refused. So is an S that is not below L, and a public key that is not the one canonical encoding
//! of a point (AWS-LC agrees; OpenSSL 3.0 accepts y >= p and an odd x = 0, which RFC 8032 forbids).
//!
//! -k A: k in 64 signed digits of four bits, 256 doublings less four, and the multiples 1 to 8 of
//! -A in a table for each lane, scanned. S B is then added from the base point's table: no
//! doublings.
//!
//! Variable time: all inputs are public.

use super::{PublicKey, Signature, hash, order};
use crate::curve25519::comb;
use crate::curve25519::edwards::{self, Cached, Completed, StoredCached};
use crate::curve25519::words::Words;
use crate::sha512::padding::NOTHING;
use crate::vector::{self, Kernel, Mask, Vector};
use crate::{Error, LANES, each_eight};

/// A signature to verify: whose, of what, and the signature.
pub type Claim<'a> = (&'a PublicKey, &'a [u8], &'a Signature);

/// Whether each signature is its key's signature of its message.
///
/// # Errors
/// [`Error::InvalidSignature`] where it is not, or the public key is no point.
/// [`Error::Unavailable`] for all where there are no lanes.
pub fn verify(claims: &[Claim<'_>]) -> Vec<Result<(), Error>> {
    let batch = |claims: &[Claim<'_>]| {
        let valid = vector::run(Verify { claims })?;
        let sound = |(i, claim): (usize, &Claim<'_>)| Mask::from(is_canonical(claim)) << i;
        Ok(valid
            & claims
                .iter()
                .enumerate()
                .map(sound)
                .fold(0, |all, one| all | one))
    };
    // Nothing here is secret.
    each_eight(0, claims, batch, |valid, lane| {
        if valid >> lane & 1 == 1 {
            Ok(())
        } else {
            Err(Error::InvalidSignature)
        }
    })
}

/// Whether the key's y is below p, and S below L.
fn is_canonical((key, _, signature): &Claim<'_>) -> bool {
    let mut y = **key;
    y[31] &= 0x7f;
    let (_, s) = halves(signature);
    is_less(&y, &P) && is_less(s, &L)
}

/// Little-endian comparison.
fn is_less(a: &[u8; 32], b: &[u8; 32]) -> bool {
    a.iter().rev().lt(b.iter().rev())
}

/// R and S.
fn halves(signature: &Signature) -> (&[u8; 32], &[u8; 32]) {
    let (halves, _) = signature.as_chunks();
    (&halves[0], &halves[1])
}

const P: [u8; 32] = {
    let mut p = [0xff; 32];
    p[0] = 0xed;
    p[31] = 0x7f;
    p
};

const L: [u8; 32] = [
    0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
];

/// The lanes whose signature is right, if its parts are canonical.
struct Verify<'a> {
    claims: &'a [Claim<'a>],
}

impl Kernel for Verify<'_> {
    type Output = Mask;

    #[inline(always)]
    fn run<V: Vector>(self) -> Mask {
        let mut messages = [NOTHING; LANES];
        for (message, (key, text, signature)) in messages.iter_mut().zip(self.claims) {
            *message = [&halves(signature).0[..], &key[..], text];
        }
        let challenges = order::reduce::<V>(&hash::sha512::<V>(&messages[..self.claims.len()]));

        let keys = Words::from_bytes(self.claims.iter().map(|(key, _, _)| *key));
        let (point, no_point) = edwards::decode::<V>(&keys);
        let product = multiply(point.negate(), &challenges);
        let s = Words::from_bytes(
            self.claims
                .iter()
                .map(|(_, _, signature)| halves(signature).1),
        );
        let points = comb::add_multiple_of_base(product, &s).encode().words;

        let r = Words::from_bytes(
            self.claims
                .iter()
                .map(|(_, _, signature)| halves(signature).0),
        );
        points.equals::<V>(&r) & !no_point
    }
}

/// The multiple of each point by its scalar, which is below 2^253.
#[inline(always)]
fn multiply<V: Vector>(point: Completed<V>, scalars: &Words) -> Completed<V> {
    let table = multiples(point);
    // Digits from -8 to 7: each is a hexadecimal digit of the scalar with 8 added to all, less 8.
    let mut windows = *scalars;
    add_eights(&mut windows);
    let mut product = Completed::<V>::neutral();
    for i in (0..64).rev() {
        if i != 63 {
            for _ in 0..4 {
                product = product.projective().double();
            }
        }
        let digit = V::load(&windows.0[i / 16])
            .shr_by(V::splat(4 * (i as u64 % 16)))
            .and(V::splat(15));
        let negative = digit.lt(V::splat(8));
        let difference = digit.sub(V::splat(8));
        let magnitude = difference.blend(negative, V::zero().sub(difference));
        let mut summand = Cached::neutral();
        for (j, entry) in table.iter().enumerate() {
            let here = magnitude.eq(V::splat(j as u64 + 1));
            summand = summand.blend(here, Cached::load(entry));
        }
        product = product.extended().add(summand.negate(negative));
    }
    product
}

/// The multiples 1 to 8.
#[inline(always)]
fn multiples<V: Vector>(point: Completed<V>) -> [StoredCached; 8] {
    let mut table = [StoredCached::ZERO; 8];
    let once = point.extended().cached();
    let mut multiple = point;
    for (i, entry) in table.iter_mut().enumerate() {
        if i != 0 {
            multiple = multiple.extended().add(once);
        }
        multiple.extended().cached().store(entry);
    }
    table
}

/// Adds 0x888...8.
fn add_eights(numbers: &mut Words) {
    for lane in 0..LANES {
        let mut sum = 0;
        for word in &mut numbers.0 {
            sum += u128::from(word.0[lane]) + 0x8888_8888_8888_8888;
            word.0[lane] = sum as u64;
            sum >>= 64;
        }
    }
}
