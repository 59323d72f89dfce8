//! Polynomials from random bytes (FIPS 204, section 7.3).

use super::N;
use super::bytes::unpack;
use super::ring::{Polynomial, ZERO};
use super::{Q, Set};
use crate::keccak::sponge::Block;
use crate::vector::words::{WORDS, WordMask, Words, digit};
use crate::vector::{Digit, told};

/// How many coefficients of a polynomial were found in blocks of random bytes, of which it takes as many as it needs.
///
/// The time depends on which candidates are refused.
#[derive(Clone, Copy)]
pub(super) struct Sampler {
    found: usize,
}

impl Sampler {
    pub(super) const NEW: Sampler = Sampler { found: 0 };

    /// RejNTTPoly: adds the numbers below q of a block of SHAKE128, 23 bits of every three bytes. Whether there are enough.
    #[inline(always)]
    pub(super) fn take_entries<W: Words>(&mut self, block: &Block, to: &mut Polynomial) -> bool {
        let mut found = self.found;
        for part in 0..4 {
            let at = 48 * part;
            let bytes: &[u8; 64] = block[at..at + 64].try_into().expect("64 bytes");
            let numbers = unpack::<24, W>(bytes).and(W::splat((1 << 23) - 1));
            let mut below = numbers.below(W::splat(Q));
            if part == 3 {
                below &= 0xff; // The block ends with 8 numbers.
            }
            found += keep(numbers, below, to, found);
            if found >= N {
                return true;
            }
        }
        self.found = found;
        false
    }

    /// RejBoundedPoly: adds the coefficients within ±η of a block of SHAKE256, one of every four bits. Whether there are enough.
    ///
    /// Reveals which candidates are coefficients, and nothing else about them.
    #[inline(always)]
    pub(super) fn take_secrets<W: Words>(
        &mut self,
        set: Set,
        block: &Block,
        to: &mut Polynomial,
    ) -> bool {
        let (table, limit) = match set {
            Set::MlDsa44 | Set::MlDsa87 => (&TABLE_2, 15),
            Set::MlDsa65 => (&TABLE_4, 9),
        };
        let table = W::load(table);
        let mut found = self.found;
        for part in 0..136 / 8 {
            let at = 8 * part;
            let bytes: &[u8; 64] = block[at..at + 64].try_into().expect("64 bytes");
            let numbers = unpack::<4, W>(bytes);
            let below = told(numbers.below(W::splat(limit)));
            found += keep(numbers.pick(table, table), below, to, found);
            if found >= N {
                return true;
            }
        }
        self.found = found;
        false
    }
}

/// Adds the numbers of the mask. How many. What follows them is overwritten, or dropped.
#[inline(always)]
fn keep<W: Words>(numbers: W, mask: WordMask, to: &mut Polynomial, found: usize) -> usize {
    // As in ML-KEM's sampler: in the emulator Bochs 2.7, results were wrong without this branch.
    let numbers = if mask == WordMask::MAX {
        numbers
    } else {
        numbers.compress(mask)
    };
    numbers.store_at(to, found);
    mask.count_ones() as usize
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
