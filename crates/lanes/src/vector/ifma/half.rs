//! [`Bits`] on AVX-512's registers of 256 bits: one instruction a method.

use crate::LANES;
use crate::vector::{Bits, Digit, Mask, Row};
use core::arch::x86_64::*;

/// Lanes 0 to 3 in a 256-bit register.
///
/// Invariant: as that of [`Ifma`](super::Ifma).
#[derive(Clone, Copy)]
pub(crate) struct Half(__m256i);

/// Wraps an intrinsic that has no precondition but the processor's features.
macro_rules! instruction {
    ($e:expr) => {
        // SAFETY: the intrinsic needs AVX2, and `Half` is only in use below `run`, which has checked AVX-512VL.
        unsafe { $e }
    };
}

/// All lanes.
const ALL: Mask = 0xf;

impl Bits for Half {
    #[inline(always)]
    fn splat(value: u64) -> Self {
        Half(instruction!(_mm256_set1_epi64x(value.cast_signed())))
    }

    #[inline(always)]
    fn load(from: &Digit) -> Self {
        // SAFETY: as in `instruction`, and a `Digit` is 64 readable bytes, aligned to 64.
        Half(unsafe { _mm256_load_si256((&raw const *from).cast()) })
    }

    #[inline(always)]
    fn store(self, to: &mut Digit) {
        // SAFETY: as in `instruction`, and a `Digit` is 64 writable bytes, aligned to 64.
        unsafe { _mm256_store_si256((&raw mut *to).cast(), self.0) }
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Half(instruction!(_mm256_or_si256(self.0, other.0)))
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Half(instruction!(_mm256_xor_si256(self.0, other.0)))
    }

    #[inline(always)]
    fn not_and(self, other: Self) -> Self {
        Half(instruction!(_mm256_andnot_si256(self.0, other.0)))
    }

    #[inline(always)]
    fn shl<const BITS: u32>(self) -> Self {
        // The one that takes a count of this type: with this mask, it is the plain instruction.
        Half(instruction!(_mm256_maskz_slli_epi64::<BITS>(ALL, self.0)))
    }

    #[inline(always)]
    fn shr<const BITS: u32>(self) -> Self {
        Half(instruction!(_mm256_maskz_srli_epi64::<BITS>(ALL, self.0)))
    }

    #[inline(always)]
    fn only(self, lanes: Mask) -> Self {
        Half(instruction!(_mm256_maskz_mov_epi64(lanes & ALL, self.0)))
    }

    /// Of the first four rows.
    #[inline(always)]
    fn load_turned([r0, r1, r2, r3, ..]: [&Row; LANES]) -> [Self; LANES] {
        let rows = [r0, r1, r2, r3];
        let (mut low, mut high) = ([Self::splat(0); 4], [Self::splat(0); 4]);
        for ((low, high), row) in low.iter_mut().zip(&mut high).zip(rows) {
            let [first, second] = row.as_chunks::<32>().0 else {
                unreachable!()
            };
            // SAFETY: as in `instruction`, and both are 32 readable bytes; this load takes any address.
            unsafe {
                *low = Half(_mm256_loadu_si256((&raw const *first).cast()));
                *high = Half(_mm256_loadu_si256((&raw const *second).cast()));
            }
        }
        let ([w0, w1, w2, w3], [w4, w5, w6, w7]) = (turn(low), turn(high));
        [w0, w1, w2, w3, w4, w5, w6, w7]
    }

    /// To the first four rows.
    #[inline(always)]
    fn store_turned([w0, w1, w2, w3, w4, w5, w6, w7]: [Self; LANES], rows: [&mut Row; LANES]) {
        let low = turn([w0, w1, w2, w3]);
        let high = turn([w4, w5, w6, w7]);
        for ((low, high), row) in low.into_iter().zip(high).zip(rows) {
            let [first, second] = row.as_chunks_mut::<32>().0 else {
                unreachable!()
            };
            // SAFETY: as in `instruction`, and both are 32 writable bytes; this store takes any address.
            unsafe {
                _mm256_storeu_si256((&raw mut *first).cast(), low.0);
                _mm256_storeu_si256((&raw mut *second).cast(), high.0);
            }
        }
    }
}

/// Four rows become columns.
#[inline(always)]
fn turn([r0, r1, r2, r3]: [Half; 4]) -> [Half; 4] {
    // Macros, because a closure would be compiled without AVX-512.
    macro_rules! even {
        ($a:expr, $b:expr) => {
            instruction!(_mm256_unpacklo_epi64($a.0, $b.0))
        };
    }
    macro_rules! odd {
        ($a:expr, $b:expr) => {
            instruction!(_mm256_unpackhi_epi64($a.0, $b.0))
        };
    }
    macro_rules! lows {
        ($a:expr, $b:expr) => {
            Half(instruction!(_mm256_permute2x128_si256::<0x20>($a, $b)))
        };
    }
    macro_rules! highs {
        ($a:expr, $b:expr) => {
            Half(instruction!(_mm256_permute2x128_si256::<0x31>($a, $b)))
        };
    }
    let (low, high) = (even!(r0, r1), even!(r2, r3));
    let (low_odd, high_odd) = (odd!(r0, r1), odd!(r2, r3));
    [
        lows!(low, high),
        lows!(low_odd, high_odd),
        highs!(low, high),
        highs!(low_odd, high_odd),
    ]
}
