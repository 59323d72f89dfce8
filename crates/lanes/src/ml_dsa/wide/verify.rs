//! ML-DSA.Verify_internal (FIPS 204, algorithm 8).

use crate::Error;
use crate::ml_dsa::encoding::{decode_high, decode_hints, decode_response, encode_commitment};
use crate::ml_dsa::hashes::{Challenge, Digest, Hashes, Sampled};
use crate::ml_dsa::ntt::{Inverse, Transform};
use crate::ml_dsa::numbers::canonical;
use crate::ml_dsa::ring::{self, Dot, ZERO};
use crate::ml_dsa::round::{DROPPED, use_hint};
use crate::ml_dsa::sample::Ball;
use crate::ml_dsa::{MOST_COLUMNS, MU, Set};
use crate::vector::Vector;
use crate::vector::words::{WordKernel, Words};
use core::cell::OnceCell;

/// With a public key and a signature of their lengths.
pub(super) struct Verify<'a> {
    pub(super) set: Set,
    pub(super) key: &'a [u8],
    pub(super) mu: &'a [u8; MU],
    pub(super) signature: &'a [u8],
}

impl WordKernel for Verify<'_> {
    type Output = Result<(), Error>;

    #[inline(always)]
    fn run<V: Vector, W: Words>(self) -> Result<(), Error> {
        let (set, rows, columns) = (self.set, self.set.rows(), self.set.columns());
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
        let (matrix_seed, highs) = self
            .key
            .split_first_chunk()
            .ok_or(Error::InvalidSignature)?;

        let mut matrix = vec![ZERO; rows * columns];
        let mut ball = Ball::new(set);
        let hash = OnceCell::from(core::array::from_fn(|i| *claimed.get(i).unwrap_or(&0)));
        let mut hashes = Hashes::<W>::new(set);
        hashes.challenge = Some(Challenge::new(&hash, &mut ball));
        hashes.sampled = Some(Sampled::new(matrix_seed, &mut matrix, None));
        hashes.run::<V>();

        let mut challenge = [ball.polynomial()];
        W::call(Transform(&mut challenge[0]));
        let mut bytes = [0; Set::MlDsa87.commitment_bytes()];
        let (mut sum, mut product, mut high) = (ZERO, ZERO, [ZERO]);
        let places = bytes.chunks_exact_mut(32 * set.commitment_bits());
        for (row, (place, from)) in places.zip(highs.chunks_exact(320)).enumerate() {
            decode_high::<W>(from, &mut high[0]);
            for number in &mut high[0] {
                W::load(number).shl::<DROPPED>().store(number);
            }
            W::call(Transform(&mut high[0]));
            W::call(Dot {
                a: &matrix[columns * row..columns * (row + 1)],
                b: z,
                sum: &mut sum,
            });
            W::call(Dot {
                a: &challenge,
                b: &high,
                sum: &mut product,
            });
            ring::subtract::<W>(&mut sum, &product);
            W::call(Inverse(&mut sum));
            for (number, hints) in sum.iter_mut().zip(hints[row]) {
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
