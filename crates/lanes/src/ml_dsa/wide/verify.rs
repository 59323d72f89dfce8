//! ML-DSA.Verify_internal (FIPS 204, algorithm 8).

use super::expand::expand;
use crate::Error;
use crate::ml_dsa::encoding::{decode_hints, decode_response, encode_commitment};
use crate::ml_dsa::hashes::{Challenge, Digest, Hashes};
use crate::ml_dsa::ntt::{Inverse, Transform};
use crate::ml_dsa::numbers::canonical;
use crate::ml_dsa::ring::{self, Dot, ZERO};
use crate::ml_dsa::round::use_hint;
use crate::ml_dsa::sample::Ball;
use crate::ml_dsa::{Expanded, MOST_COLUMNS, MU, Set};
use crate::vector::Vector;
use crate::vector::words::{WordKernel, Words};
use core::cell::OnceCell;
use core::slice;

/// A public key.
pub(super) enum Public<'a> {
    /// Of the set's length.
    Bytes(&'a [u8]),
    Expanded(&'a Expanded),
}

/// With a signature of its length.
pub(super) struct Verify<'a> {
    pub(super) set: Set,
    pub(super) key: Public<'a>,
    pub(super) mu: &'a [u8; MU],
    pub(super) signature: &'a [u8],
}

impl WordKernel for Verify<'_> {
    type Output = Result<(), Error>;

    #[inline(always)]
    fn run<V: Vector, W: Words>(self) -> Result<(), Error> {
        let (set, columns) = (self.set, self.set.columns());
        let (claimed, rest) = self.signature.split_at(set.challenge_bytes());
        let (responses, hints) = rest.split_at(set.response_bytes());
        let hints = decode_hints(set, hints).ok_or(Error::InvalidSignature)?;
        let mut z = [ZERO; MOST_COLUMNS];
        let z = &mut z[..columns];
        for (bytes, to) in responses.chunks_exact(32 * set.mask_bits()).zip(&mut *z) {
            if !decode_response::<W>(set, bytes, to) {
                return Err(Error::InvalidSignature);
            }
            W::call(Transform(to));
        }
        let mut ball = Ball::new(set);
        let hash = OnceCell::from(core::array::from_fn(|i| *claimed.get(i).unwrap_or(&0)));
        let mut hashes = Hashes::<W>::new(set);
        hashes.challenge = Some(Challenge::new(&hash, &mut ball));
        let made;
        let key = match self.key {
            Public::Bytes(bytes) => {
                let mut own = Expanded::unmade(set, bytes).ok_or(Error::Memory)?;
                expand::<V, W>(hashes, bytes, &mut own);
                made = own;
                &made
            }
            Public::Expanded(key) => {
                hashes.run::<V>();
                key
            }
        };

        let mut challenge = [ball.polynomial()];
        W::call(Transform(&mut challenge[0]));
        let mut bytes = [0; Set::MlDsa87.commitment_bytes()];
        let (mut sum, mut product) = (ZERO, ZERO);
        let places = bytes.chunks_exact_mut(32 * set.commitment_bits());
        let (matrix, highs) = key.matrix_and_vector();
        let rows = matrix.chunks_exact(columns).zip(highs);
        for ((place, hints), (entries, high)) in places.zip(hints).zip(rows) {
            W::call(Dot {
                a: entries,
                b: z,
                sum: &mut sum,
            });
            W::call(Dot {
                a: &challenge,
                b: slice::from_ref(high),
                sum: &mut product,
            });
            ring::subtract::<W>(&mut sum, &product);
            W::call(Inverse(&mut sum));
            for (number, hints) in sum.iter_mut().zip(hints) {
                let numbers = canonical(W::load(number));
                use_hint(set.rounding(), hints, numbers).store(number);
            }
            encode_commitment::<V, W>(set, &sum, place);
        }

        let again = OnceCell::new();
        let mut hashes = Hashes::<W>::new(set);
        let bytes = &bytes[..set.commitment_bytes()];
        hashes.digest = Some(Digest::new([self.mu, bytes], &again));
        hashes.run::<V>();
        match again.get() {
            Some(hash) if hash[..set.challenge_bytes()] == *claimed => Ok(()),
            _ => Err(Error::InvalidSignature),
        }
    }
}
