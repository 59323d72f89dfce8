//! [`Bits`] on AVX-512's registers of 256 bits: one instruction a method.

use crate::vector::{Bits, Digit};
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
const ALL: u8 = 0xf;

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
}
