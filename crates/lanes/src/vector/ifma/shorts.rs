//! [`Shorts`] on AVX-512 with VBMI, VBMI2 and VNNI (Ice Lake, Zen 4): one instruction a method.

use super::Ifma;
use crate::vector::Digit;
use crate::vector::shorts::{SHORTS, ShortKernel, ShortMask, Shorts};
use core::arch::x86_64::*;

/// 32 numbers in a 512-bit register.
///
/// Invariant: a function generic over it runs only below [`run_shorts`], which has checked the processor.
#[derive(Clone, Copy)]
pub(crate) struct IfmaShorts(__m512i);

pub(crate) fn shorts_available() -> bool {
    use outboard_processor::Feature as F;
    super::available() && outboard_processor::has_all(&[F::Avx512vbmi, F::Avx512vnni])
}

/// Runs a kernel. Panics on a processor that lacks an instruction.
#[inline]
pub(crate) fn run_shorts<K: ShortKernel>(kernel: K) -> K::Output {
    assert!(shorts_available(), "the caller has asked `available`");
    // SAFETY: the processor has all the features that `outline_shorts` enables.
    unsafe { outline_shorts(kernel) }
}

#[inline(never)]
#[target_feature(
    enable = "avx512f,avx512ifma,avx512vbmi,avx512vbmi2,avx512vnni,avx512dq,avx512bw,avx512vl,bmi2,popcnt"
)]
fn outline_shorts<K: ShortKernel>(kernel: K) -> K::Output {
    // As in `outline`: spilled vectors are to be aligned.
    let mut frame = core::mem::MaybeUninit::<Digit>::uninit();
    // SAFETY: a comment, no instruction.
    unsafe {
        core::arch::asm!("/* {} */", in(reg) frame.as_mut_ptr(), options(nostack, preserves_flags))
    };
    kernel.run::<Ifma, IfmaShorts>()
}

/// Wraps an intrinsic that has no precondition but the processor's features.
macro_rules! instruction {
    ($e:expr) => {
        // SAFETY: the intrinsic needs features that `run_shorts` has checked, and `IfmaShorts` is only in use below it.
        unsafe { $e }
    };
}

impl Shorts for IfmaShorts {
    #[inline(always)]
    fn splat(value: i16) -> Self {
        IfmaShorts(instruction!(_mm512_set1_epi16(value)))
    }

    #[inline(always)]
    fn load(from: &Digit) -> Self {
        // SAFETY: as in `instruction`, and a `Digit` is 64 readable bytes, aligned to 64.
        IfmaShorts(unsafe { _mm512_load_si512((&raw const *from).cast()) })
    }

    #[inline(always)]
    fn store(self, to: &mut Digit) {
        // SAFETY: as in `instruction`, and a `Digit` is 64 writable bytes, aligned to 64.
        unsafe { _mm512_store_si512((&raw mut *to).cast(), self.0) }
    }

    #[inline(always)]
    fn load_bytes(from: &[u8; 64]) -> Self {
        // SAFETY: as in `instruction`, and the array is 64 readable bytes; this load takes any address.
        IfmaShorts(unsafe { _mm512_loadu_si512((&raw const *from).cast()) })
    }

    #[inline(always)]
    fn store_bytes(self, to: &mut [u8; 64]) {
        // SAFETY: as in `instruction`, and the array is 64 writable bytes; this store takes any address.
        unsafe { _mm512_storeu_si512((&raw mut *to).cast(), self.0) }
    }

    #[inline(always)]
    fn store_at(self, to: &mut [Digit], at: usize) {
        let room = (SHORTS * to.len()).saturating_sub(at);
        assert_ne!(room, 0, "there is room for a number");
        let to = to.as_mut_ptr().cast::<i16>();
        // SAFETY: as in `instruction`; `room` numbers may be written there, and these stores take any address.
        unsafe {
            let to = to.add(at);
            if room >= SHORTS {
                _mm512_storeu_si512(to.cast(), self.0);
            } else {
                _mm512_mask_storeu_epi16(to, (1 << room) - 1, self.0);
            }
        }
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        IfmaShorts(instruction!(_mm512_add_epi16(self.0, other.0)))
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        IfmaShorts(instruction!(_mm512_sub_epi16(self.0, other.0)))
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        IfmaShorts(instruction!(_mm512_and_si512(self.0, other.0)))
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        IfmaShorts(instruction!(_mm512_or_si512(self.0, other.0)))
    }

    #[inline(always)]
    fn mul_low(self, other: Self) -> Self {
        IfmaShorts(instruction!(_mm512_mullo_epi16(self.0, other.0)))
    }

    #[inline(always)]
    fn mul_high(self, other: Self) -> Self {
        IfmaShorts(instruction!(_mm512_mulhi_epi16(self.0, other.0)))
    }

    #[inline(always)]
    fn mul_round(self, other: Self) -> Self {
        IfmaShorts(instruction!(_mm512_mulhrs_epi16(self.0, other.0)))
    }

    #[inline(always)]
    fn sign(self) -> Self {
        IfmaShorts(instruction!(_mm512_srai_epi16::<15>(self.0)))
    }

    #[inline(always)]
    fn shr_by(self, counts: Self) -> Self {
        IfmaShorts(instruction!(_mm512_srlv_epi16(self.0, counts.0)))
    }

    #[inline(always)]
    fn shl_by(self, counts: Self) -> Self {
        IfmaShorts(instruction!(_mm512_sllv_epi16(self.0, counts.0)))
    }

    #[inline(always)]
    fn below(self, other: Self) -> ShortMask {
        instruction!(_mm512_cmplt_epu16_mask(self.0, other.0))
    }

    #[inline(always)]
    fn blend(self, mask: ShortMask, other: Self) -> Self {
        IfmaShorts(instruction!(_mm512_mask_blend_epi16(mask, self.0, other.0)))
    }

    #[inline(always)]
    fn pick(self, low: Self, high: Self) -> Self {
        IfmaShorts(instruction!(_mm512_permutex2var_epi16(
            low.0, self.0, high.0
        )))
    }

    #[inline(always)]
    fn permute_bytes(self, from: Self) -> Self {
        IfmaShorts(instruction!(_mm512_permutexvar_epi8(from.0, self.0)))
    }

    #[inline(always)]
    fn compress(self, mask: ShortMask) -> Self {
        IfmaShorts(instruction!(_mm512_maskz_compress_epi16(mask, self.0)))
    }

    #[inline(always)]
    fn add_dot(self, a: Self, b: Self) -> Self {
        IfmaShorts(instruction!(_mm512_dpwssd_epi32(self.0, a.0, b.0)))
    }

    #[inline(always)]
    fn sub_pairs(self, other: Self) -> Self {
        IfmaShorts(instruction!(_mm512_sub_epi32(self.0, other.0)))
    }

    #[inline(always)]
    fn shr_pairs(self) -> Self {
        IfmaShorts(instruction!(_mm512_srli_epi32::<16>(self.0)))
    }

    #[inline(always)]
    fn swap_pairs(self) -> Self {
        IfmaShorts(instruction!(_mm512_rol_epi32::<16>(self.0)))
    }

    #[inline(always)]
    fn call<K: ShortKernel>(kernel: K) -> K::Output {
        // SAFETY: `IfmaShorts` is only in use below `run_shorts`, which has checked the processor.
        unsafe { outline_shorts(kernel) }
    }
}
