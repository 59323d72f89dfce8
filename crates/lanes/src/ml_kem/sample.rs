//! Polynomials from random bytes (FIPS 203, section 4.2.2).

use super::bytes::{group, unpack};
use super::ring::{Polynomial, VECTORS};
use super::{N, Q};
use crate::keccak::sponge::Block;
use crate::vector::Digit;
use crate::vector::shorts::{SHORTS, Shorts, digit};

/// SampleNTT: how many coefficients of a polynomial were found in blocks of SHAKE128, of which it takes as many as it needs.
///
/// The time depends on the bytes: they follow from the public seed.
#[derive(Clone, Copy)]
pub(super) struct Sampler {
    found: usize,
}

impl Sampler {
    pub(super) const NEW: Sampler = Sampler { found: 0 };

    /// Adds the numbers below q of a block of 168 bytes. Whether there are enough.
    #[inline(always)]
    pub(super) fn take<S: Shorts>(&mut self, block: &Block, to: &mut Polynomial) -> bool {
        let mut found = self.found;
        for part in 0..4 {
            let at = 48 * part;
            let bytes: &[u8; 64] = block[at..at + 64].try_into().expect("64 bytes");
            let numbers = unpack::<12, S>(bytes);
            let mut below = numbers.below(S::splat(Q));
            if part == 3 {
                below &= 0xffff; // The block ends with 16 numbers.
            }
            // All of them are below in one of 700 vectors. In the emulator Bochs 2.7, results
            // were wrong without this branch.
            let numbers = if below == u32::MAX {
                numbers
            } else {
                numbers.compress(below)
            };
            // What follows the found numbers is overwritten, or dropped.
            numbers.store_at(to, found);
            found += below.count_ones() as usize;
            if found >= N {
                return true;
            }
        }
        self.found = found;
        false
    }
}

/// SamplePolyCBD of 64 bytes times the width, 2 or 3: coefficients within ± the width. Constant time.
#[inline(always)]
pub(super) fn noise<S: Shorts>(width: usize, bytes: &[u8], to: &mut Polynomial) {
    // A number of 2 η bits picks its coefficient from a table that is in registers.
    let table: &[Digit; 2] = if width == 2 { &TABLE_2 } else { &TABLE_3 };
    let (low, high) = (S::load(&table[0]), S::load(&table[1]));
    for g in 0..VECTORS {
        let numbers = if width == 2 {
            unpack::<4, S>(&group::<4>(bytes, g))
        } else {
            unpack::<6, S>(&group::<6>(bytes, g))
        };
        numbers.pick(low, high).store(&mut to[g]);
    }
}

static TABLE_2: [Digit; 2] = table(2);
static TABLE_3: [Digit; 2] = table(3);

/// How many of the lower bits are set, less how many of the upper ones.
const fn table(width: u32) -> [Digit; 2] {
    let mut table = [[0; SHORTS]; 2];
    let mut i = 0;
    while i < 2 * SHORTS {
        let lower = i & ((1 << width) - 1);
        let upper = i >> width & ((1 << width) - 1);
        table[i / SHORTS][i % SHORTS] = lower.count_ones() as i16 - upper.count_ones() as i16;
        i += 1;
    }
    [digit(table[0]), digit(table[1])]
}
