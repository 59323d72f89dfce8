//! Polynomials from random bytes (FIPS 204, section 7.3).

use super::N;
use super::bytes::unpack;
use super::ring::{Polynomial, ZERO};
use super::{Q, Set};
use crate::keccak::sponge::Block;
use crate::vector::words::{WORDS, WordMask, Words, digit};
use crate::vector::{Digit, told};

/// A polynomial whose coefficients are taken from blocks of random bytes, as long as it takes.
///
/// The time depends on which candidates are refused.
#[derive(Clone, Copy)]
pub(super) struct Sampler {
    /// The last vector that is written may reach beyond the polynomial.
    numbers: [u32; N + WORDS],
    found: usize,
}

impl Sampler {
    pub(super) const NEW: Sampler = Sampler {
        numbers: [0; N + WORDS],
        found: 0,
    };

    pub(super) fn begin(&mut self) {
        self.found = 0;
    }

    /// RejNTTPoly: takes the numbers below q of a block of SHAKE128, 23 bits of every three bytes. Whether there are enough.
    #[inline(always)]
    pub(super) fn take_entries<W: Words>(&mut self, block: &Block) -> bool {
        for part in 0..4 {
            if self.found >= N {
                break;
            }
            let at = 48 * part;
            let bytes: &[u8; 64] = block[at..at + 64].try_into().expect("64 bytes");
            let numbers = unpack::<24, W>(bytes).and(W::splat((1 << 23) - 1));
            let mut below = numbers.below(W::splat(Q));
            if part == 3 {
                below &= 0xff; // The block ends with 8 numbers.
            }
            self.keep(numbers, below);
        }
        self.found >= N
    }

    /// RejBoundedPoly: takes the coefficients within ±η of a block of SHAKE256, one of every four bits. Whether there are enough.
    ///
    /// Reveals which candidates are coefficients, and nothing else about them.
    #[inline(always)]
    pub(super) fn take_secrets<W: Words>(&mut self, set: Set, block: &Block) -> bool {
        let (table, limit) = match set {
            Set::MlDsa44 | Set::MlDsa87 => (&TABLE_2, 15),
            Set::MlDsa65 => (&TABLE_4, 9),
        };
        let table = W::load(table);
        for part in 0..136 / 8 {
            if self.found >= N {
                break;
            }
            let at = 8 * part;
            let bytes: &[u8; 64] = block[at..at + 64].try_into().expect("64 bytes");
            let numbers = unpack::<4, W>(bytes);
            let below = told(numbers.below(W::splat(limit)));
            self.keep(numbers.pick(table, table), below);
        }
        self.found >= N
    }

    #[inline(always)]
    fn keep<W: Words>(&mut self, numbers: W, mask: WordMask) {
        let to = &mut self.numbers[self.found..self.found + WORDS];
        let to = to.try_into().expect("found is below N");
        // As in ML-KEM's sampler: in the emulator Bochs 2.7, results were wrong without this branch.
        let numbers = if mask == WordMask::MAX {
            numbers
        } else {
            numbers.compress(mask)
        };
        numbers.store_words(to);
        self.found += mask.count_ones() as usize;
    }

    /// The polynomial.
    #[inline(always)]
    pub(super) fn store<W: Words>(&self, to: &mut Polynomial) {
        for (from, to) in self.numbers.as_chunks::<WORDS>().0.iter().zip(to) {
            W::load_words(from).store(to);
        }
    }
}

/// The coefficient of each four bits, for η = 2.
static TABLE_2: Digit = digit([2, 1, 0, -1, -2, 2, 1, 0, -1, -2, 2, 1, 0, -1, -2, 0]);
/// The same for η = 4.
static TABLE_4: Digit = digit([4, 3, 2, 1, 0, -1, -2, -3, -4, 0, 0, 0, 0, 0, 0, 0]);

/// SampleInBall: a polynomial with so many coefficients ±1 and else 0, from blocks of SHAKE256.
///
/// Time and addresses depend on the bytes: a challenge may be told.
pub(super) struct Ball {
    coefficients: [i32; N],
    signs: u64,
    /// The place of the next coefficient that is not 0.
    next: usize,
}

impl Ball {
    pub(super) fn new(set: Set) -> Self {
        Ball {
            coefficients: [0; N],
            signs: 0,
            next: N - set.weight(),
        }
    }

    /// Takes block `number`, of 136 bytes. Whether there were enough.
    pub(super) fn take(&mut self, number: usize, block: &Block) -> bool {
        let mut places = &block[..136];
        if number == 0 {
            let (signs, rest) = places.split_first_chunk().expect("136 bytes");
            self.signs = u64::from_le_bytes(*signs);
            places = rest;
        }
        for place in places {
            if self.next == N {
                break;
            }
            let place = usize::from(*place);
            if place <= self.next {
                self.coefficients[self.next] = self.coefficients[place];
                self.coefficients[place] = 1 - 2 * (self.signs & 1) as i32;
                self.signs >>= 1;
                self.next += 1;
            }
        }
        self.next == N
    }

    /// The polynomial.
    pub(super) fn polynomial(&self) -> Polynomial {
        let mut polynomial = ZERO;
        let (vectors, _) = self.coefficients.as_chunks::<WORDS>();
        for (from, to) in vectors.iter().zip(&mut polynomial) {
            *to = digit(*from);
        }
        polynomial
    }
}
