//! [`Words`] on AVX-512 with VBMI (Ice Lake, Zen 4): one instruction a method.

use super::{Ifma, shorts_available};
use crate::vector::Digit;
use crate::vector::words::{WORDS, WordKernel, WordMask, Words};
use core::arch::x86_64::*;

/// 16 numbers in a 512-bit register.
///
/// Invariant: a function generic over it runs only below [`run_words`], which has checked the processor.
#[derive(Clone, Copy)]
pub(crate) struct IfmaWords(__m512i);

/// Runs a kernel. Panics on a processor that lacks an instruction.
#[inline]
pub(crate) fn run_words<K: WordKernel>(kernel: K) -> K::Output {
    assert!(shorts_available(), "the caller has asked `available`");
    // SAFETY: the processor has all the features that `outline_words` enables.
    unsafe { outline_words(kernel) }
}

#[inline(never)]
#[target_feature(
    enable = "avx512f,avx512ifma,avx512vbmi,avx512vbmi2,avx512vnni,avx512dq,avx512bw,avx512vl,bmi2,popcnt"
)]
fn outline_words<K: WordKernel>(kernel: K) -> K::Output {
    // As in `outline`: spilled vectors are to be aligned.
    let mut frame = core::mem::MaybeUninit::<Digit>::uninit();
    // SAFETY: a comment, no instruction.
    unsafe {
        core::arch::asm!("/* {} */", in(reg) frame.as_mut_ptr(), options(nostack, preserves_flags))
    };
    kernel.run::<Ifma, IfmaWords>()
}

/// Wraps an intrinsic that has no precondition but the processor's features.
macro_rules! instruction {
    ($e:expr) => {
        // SAFETY: the intrinsic needs features that `run_words` has checked, and `IfmaWords` is only in use below it.
        unsafe { $e }
    };
}

impl Words for IfmaWords {
    #[inline(always)]
    fn splat(value: i32) -> Self {
        IfmaWords(instruction!(_mm512_set1_epi32(value)))
    }

    #[inline(always)]
    fn load(from: &Digit) -> Self {
        // SAFETY: as in `instruction`, and a `Digit` is 64 readable bytes, aligned to 64.
        IfmaWords(unsafe { _mm512_load_si512((&raw const *from).cast()) })
    }

    #[inline(always)]
    fn store(self, to: &mut Digit) {
        // SAFETY: as in `instruction`, and a `Digit` is 64 writable bytes, aligned to 64.
        unsafe { _mm512_store_si512((&raw mut *to).cast(), self.0) }
    }

    #[inline(always)]
    fn load_bytes(from: &[u8; 64]) -> Self {
        // SAFETY: as in `instruction`, and the array is 64 readable bytes; this load takes any address.
        IfmaWords(unsafe { _mm512_loadu_si512((&raw const *from).cast()) })
    }

    #[inline(always)]
    fn store_at(self, to: &mut [Digit], at: usize) {
        let room = (WORDS * to.len()).saturating_sub(at);
        assert_ne!(room, 0, "there is room for a number");
        let to = to.as_mut_ptr().cast::<i32>();
        // SAFETY: as in `instruction`; `room` numbers may be written there, and these stores take any address.
        unsafe {
            let to = to.add(at);
            if room >= WORDS {
                _mm512_storeu_si512(to.cast(), self.0);
            } else {
                _mm512_mask_storeu_epi32(to, (1 << room) - 1, self.0);
            }
        }
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        IfmaWords(instruction!(_mm512_add_epi32(self.0, other.0)))
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        IfmaWords(instruction!(_mm512_sub_epi32(self.0, other.0)))
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        IfmaWords(instruction!(_mm512_and_si512(self.0, other.0)))
    }

    #[inline(always)]
    fn mul_low(self, other: Self) -> Self {
        IfmaWords(instruction!(_mm512_mullo_epi32(self.0, other.0)))
    }

    #[inline(always)]
    fn shr<const BITS: u32>(self) -> Self {
        IfmaWords(instruction!(_mm512_srli_epi32::<BITS>(self.0)))
    }

    #[inline(always)]
    fn sar<const BITS: u32>(self) -> Self {
        IfmaWords(instruction!(_mm512_srai_epi32::<BITS>(self.0)))
    }

    #[inline(always)]
    fn shl<const BITS: u32>(self) -> Self {
        IfmaWords(instruction!(_mm512_slli_epi32::<BITS>(self.0)))
    }

    #[inline(always)]
    fn shr_by(self, counts: Self) -> Self {
        IfmaWords(instruction!(_mm512_srlv_epi32(self.0, counts.0)))
    }

    #[inline(always)]
    fn mul_even(self, other: Self) -> Self {
        IfmaWords(instruction!(_mm512_mul_epi32(self.0, other.0)))
    }

    #[inline(always)]
    fn odd(self) -> Self {
        IfmaWords(instruction!(_mm512_shuffle_epi32::<0b11_11_01_01>(self.0)))
    }

    #[inline(always)]
    fn add_pairs(self, other: Self) -> Self {
        IfmaWords(instruction!(_mm512_add_epi64(self.0, other.0)))
    }

    #[inline(always)]
    fn sub_pairs(self, other: Self) -> Self {
        IfmaWords(instruction!(_mm512_sub_epi64(self.0, other.0)))
    }

    #[inline(always)]
    fn merge_high(even: Self, odd: Self) -> Self {
        // Where the mask has a bit, the even places, what is above moves down.
        IfmaWords(instruction!(_mm512_mask_shuffle_epi32::<0b11_11_01_01>(
            odd.0, 0x5555, even.0
        )))
    }

    #[inline(always)]
    fn below(self, other: Self) -> WordMask {
        instruction!(_mm512_cmplt_epu32_mask(self.0, other.0))
    }

    #[inline(always)]
    fn blend(self, mask: WordMask, other: Self) -> Self {
        IfmaWords(instruction!(_mm512_mask_blend_epi32(mask, self.0, other.0)))
    }

    #[inline(always)]
    fn pick(self, low: Self, high: Self) -> Self {
        IfmaWords(instruction!(_mm512_permutex2var_epi32(
            low.0, self.0, high.0
        )))
    }

    #[inline(always)]
    fn permute_bytes(self, from: Self) -> Self {
        IfmaWords(instruction!(_mm512_permutexvar_epi8(from.0, self.0)))
    }

    #[inline(always)]
    fn compress(self, mask: WordMask) -> Self {
        IfmaWords(instruction!(_mm512_maskz_compress_epi32(mask, self.0)))
    }

    #[inline(always)]
    fn call<K: WordKernel>(kernel: K) -> K::Output {
        // SAFETY: `IfmaWords` is only in use below `run_words`, which has checked the processor.
        unsafe { outline_words(kernel) }
    }
}
