//! ML-DSA.KeyGen_internal (FIPS 204, algorithm 6).

use crate::ml_dsa::encoding::{encode_high, encode_low, encode_secret};
use crate::ml_dsa::hashes::{Digest, Hashes, Sampled};
use crate::ml_dsa::ntt::Transform;
use crate::ml_dsa::ring::{self, Polynomial, ZERO};
use crate::ml_dsa::round::{DROPPED, power2round};
use crate::ml_dsa::{BYTES, MOST_COLUMNS, MOST_ROWS, MU, Set};
use crate::vector::words::{WordKernel, Words};
use crate::vector::{Vector, told};
use core::cell::OnceCell;

/// Into a public key and a private key of their lengths.
pub(super) struct Generate<'a> {
    pub(super) set: Set,
    pub(super) seed: &'a [u8; BYTES],
    pub(super) public: &'a mut [u8],
    pub(super) private: &'a mut [u8],
}

impl WordKernel for Generate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector, W: Words>(self) {
        let (set, rows, columns) = (self.set, self.set.rows(), self.set.columns());
        // ρ, ρ' and K.
        let mut seeds = [0; 2 * BYTES + MU];
        hash::<V, W>(set, self.seed, &[rows as u8, columns as u8], &mut seeds);
        let matrix_seed = told(chunk(&seeds));
        let (secret_seed, own_seed): ([u8; MU], [u8; BYTES]) =
            (chunk(&seeds[BYTES..]), chunk(&seeds[BYTES + MU..]));

        let mut matrix = vec![ZERO; rows * columns];
        let mut secrets = [ZERO; MOST_COLUMNS + MOST_ROWS];
        let secrets = &mut secrets[..rows + columns];
        let mut hashes = Hashes::<W>::new(set);
        hashes.sampled = Some(Sampled::new(
            &matrix_seed,
            &mut matrix,
            Some((&secret_seed, &mut *secrets)),
        ));
        hashes.run::<V>();

        let (head, rest) = self.private.split_at_mut(2 * BYTES + MU);
        let (first, second) = secrets.split_at_mut(columns);
        let each = 32 * set.secret_bits();
        let (places, lows) = rest.split_at_mut(each * (rows + columns));
        let all = first.iter().chain(&*second);
        for (from, to) in all.zip(places.chunks_exact_mut(each)) {
            encode_secret::<V, W>(set, from, to);
        }
        for polynomial in &mut *first {
            W::call(Transform(polynomial));
        }
        let (public_seed, highs) = self.public.split_at_mut(BYTES);
        public_seed.copy_from_slice(&matrix_seed);
        let mut sum = ZERO;
        let each = 32 * DROPPED as usize;
        let places = highs.chunks_exact_mut(320).zip(lows.chunks_exact_mut(each));
        for (row, (highs, lows)) in places.enumerate() {
            let entries = &matrix[columns * row..columns * (row + 1)];
            ring::product::<W>(entries, first, &mut sum);
            ring::add::<W>(&mut sum, &second[row]);
            let mut low = ZERO;
            halve::<W>(&mut sum, &mut low);
            encode_high::<V, W>(&sum, highs);
            encode_low::<V, W>(&low, lows);
        }

        let (seeds, public_hash) = head.split_at_mut(2 * BYTES);
        seeds[..BYTES].copy_from_slice(&matrix_seed);
        seeds[BYTES..].copy_from_slice(&own_seed);
        hash::<V, W>(set, self.public, &[], public_hash);
    }
}

/// The upper parts of numbers in their place, and the lower ones.
#[inline(always)]
fn halve<W: Words>(numbers: &mut Polynomial, low: &mut Polynomial) {
    for (number, low) in numbers.iter_mut().zip(low) {
        let (upper, lower) = power2round(W::load(number));
        upper.store(number);
        lower.store(low);
    }
}

/// SHAKE256 of a message and its tail, at most 128 bytes of it.
#[inline(always)]
fn hash<V: Vector, W: Words>(set: Set, message: &[u8], tail: &[u8], to: &mut [u8]) {
    let short = OnceCell::new();
    let mut hashes = Hashes::<W>::new(set);
    hashes.digest = Some(Digest::new([message, tail], &short));
    hashes.run::<V>();
    if let Some(digest) = &hashes.digest {
        to.copy_from_slice(&digest.long[..to.len()]);
    }
}

/// The first bytes.
fn chunk<const LENGTH: usize>(bytes: &[u8]) -> [u8; LENGTH] {
    core::array::from_fn(|i| bytes[i])
}
