//! [`Vector`] on AVX-512 with IFMA and VBMI2 (Ice Lake, Zen 4): one instruction a method.

use super::{Bits, Digit, Kernel, Mask, Row, Vector};
use crate::LANES;
use core::arch::asm;
use core::arch::x86_64::*;

mod half;
mod shorts;
mod words;

#[cfg(not(feature = "emulation"))]
pub(super) use shorts::run_shorts;
pub(super) use shorts::shorts_available;
#[cfg(not(feature = "emulation"))]
pub(super) use words::run_words;

/// Eight lanes in a 512-bit register.
///
/// Invariant: a function generic over it runs only below [`run`], which has checked the processor.
#[derive(Clone, Copy)]
pub(super) struct Ifma(__m512i);

/// VBMI2 came with the first server that had IFMA; the rest lets the compiler choose among more
/// instructions.
pub(super) fn available() -> bool {
    use outboard_processor::Feature as F;
    outboard_processor::has_popcnt()
        && outboard_processor::has_all(&[
            F::Avx512f,
            F::Avx512ifma,
            F::Avx512vbmi2,
            F::Avx512dq,
            F::Avx512bw,
            F::Avx512vl,
            F::Bmi2,
        ])
}

/// Runs a kernel. Panics on a processor that lacks IFMA.
#[inline]
pub(super) fn run<K: Kernel>(kernel: K) -> K::Output {
    assert!(available(), "the caller has asked `available`");
    // SAFETY: the processor has all the features that `outline` enables.
    unsafe { outline(kernel) }
}

#[inline(never)]
#[target_feature(enable = "avx512f,avx512ifma,avx512vbmi2,avx512dq,avx512bw,avx512vl,bmi2,popcnt")]
fn outline<K: Kernel>(kernel: K) -> K::Output {
    // Spilled vectors are aligned where the frame is, and the compiler aligns it where it holds
    // something aligned whose address is used. Unaligned, each spill and each reload would cross a
    // cache line. (X25519: 3 % less time.)
    let mut frame = core::mem::MaybeUninit::<Digit>::uninit();
    // SAFETY: a comment, no instruction.
    unsafe { asm!("/* {} */", in(reg) frame.as_mut_ptr(), options(nostack, preserves_flags)) };
    kernel.run::<Ifma>()
}

/// Wraps an intrinsic that has no precondition but the processor's features.
macro_rules! instruction {
    ($e:expr) => {
        // SAFETY: the intrinsic needs AVX-512F and IFMA, and `Ifma` is only in use below `run`,
        // which has checked both.
        unsafe { $e }
    };
}

impl Bits for Ifma {
    #[inline(always)]
    fn splat(value: u64) -> Self {
        Ifma(instruction!(_mm512_set1_epi64(value.cast_signed())))
    }

    #[inline(always)]
    fn load(from: &Digit) -> Self {
        // SAFETY: as in `instruction`, and a `Digit` is 64 readable bytes, aligned to 64.
        Ifma(unsafe { _mm512_load_si512((&raw const *from).cast()) })
    }

    #[inline(always)]
    fn store(self, to: &mut Digit) {
        // SAFETY: as in `instruction`, and a `Digit` is 64 writable bytes, aligned to 64.
        unsafe { _mm512_store_si512((&raw mut *to).cast(), self.0) }
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Ifma(instruction!(_mm512_or_si512(self.0, other.0)))
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Ifma(instruction!(_mm512_xor_si512(self.0, other.0)))
    }

    #[inline(always)]
    fn not_and(self, other: Self) -> Self {
        Ifma(instruction!(_mm512_andnot_si512(self.0, other.0)))
    }

    #[inline(always)]
    fn shl<const BITS: u32>(self) -> Self {
        Ifma(instruction!(_mm512_slli_epi64::<BITS>(self.0)))
    }

    #[inline(always)]
    fn shr<const BITS: u32>(self) -> Self {
        Ifma(instruction!(_mm512_srli_epi64::<BITS>(self.0)))
    }

    #[inline(always)]
    fn only(self, lanes: Mask) -> Self {
        Ifma(instruction!(_mm512_maskz_mov_epi64(lanes, self.0)))
    }

    #[inline(always)]
    fn load_turned(rows: [&Row; LANES]) -> [Self; LANES] {
        let mut vectors = [Self::zero(); LANES];
        for (to, from) in vectors.iter_mut().zip(rows) {
            // SAFETY: as in `instruction`, and a `Row` is 64 readable bytes; this load takes any address.
            *to = Ifma(unsafe { _mm512_loadu_si512((&raw const *from).cast()) });
        }
        turn(vectors)
    }

    #[inline(always)]
    fn store_turned(vectors: [Self; LANES], rows: [&mut Row; LANES]) {
        for (from, to) in turn(vectors).into_iter().zip(rows) {
            // SAFETY: as in `instruction`, and a `Row` is 64 writable bytes; this store takes any address.
            unsafe { _mm512_storeu_si512((&raw mut *to).cast(), from.0) }
        }
    }
}

/// Rows become columns: lane l of vector i, and lane i of vector l, change places.
#[inline(always)]
fn turn([r0, r1, r2, r3, r4, r5, r6, r7]: [Ifma; LANES]) -> [Ifma; LANES] {
    // Macros, because a closure would be compiled without AVX-512.
    // Of two rows, the words of even numbers, or of odd ones, in pairs.
    macro_rules! even {
        ($a:expr, $b:expr) => {
            instruction!(_mm512_unpacklo_epi64($a.0, $b.0))
        };
    }
    macro_rules! odd {
        ($a:expr, $b:expr) => {
            instruction!(_mm512_unpackhi_epi64($a.0, $b.0))
        };
    }
    // Of two vectors, the pairs of even numbers, or of odd ones.
    macro_rules! evens {
        ($a:expr, $b:expr) => {
            instruction!(_mm512_shuffle_i64x2::<0x88>($a, $b))
        };
    }
    macro_rules! odds {
        ($a:expr, $b:expr) => {
            instruction!(_mm512_shuffle_i64x2::<0xdd>($a, $b))
        };
    }
    // Words 0, 4, 2 and 6 of what `even` gives; 1, 5, 3 and 7 of what `odd` gives.
    macro_rules! four {
        ($a:expr, $b:expr, $c:expr, $d:expr) => {{
            let (a, b, c, d) = ($a, $b, $c, $d);
            let (low, high) = (evens!(a, b), evens!(c, d));
            let (low_odd, high_odd) = (odds!(a, b), odds!(c, d));
            [
                Ifma(evens!(low, high)),
                Ifma(odds!(low, high)),
                Ifma(evens!(low_odd, high_odd)),
                Ifma(odds!(low_odd, high_odd)),
            ]
        }};
    }
    let [w0, w4, w2, w6] = four!(even!(r0, r1), even!(r2, r3), even!(r4, r5), even!(r6, r7));
    let [w1, w5, w3, w7] = four!(odd!(r0, r1), odd!(r2, r3), odd!(r4, r5), odd!(r6, r7));
    [w0, w1, w2, w3, w4, w5, w6, w7]
}

impl Vector for Ifma {
    type Half = half::Half;

    #[inline(always)]
    fn in_halves() -> bool {
        outboard_processor::splits_512_bits()
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Ifma(instruction!(_mm512_add_epi64(self.0, other.0)))
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Ifma(instruction!(_mm512_sub_epi64(self.0, other.0)))
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Ifma(instruction!(_mm512_and_si512(self.0, other.0)))
    }

    #[inline(always)]
    fn shl_in(self, other: Self) -> Self {
        Ifma(instruction!(_mm512_shldi_epi64::<1>(self.0, other.0)))
    }

    #[inline(always)]
    fn sar<const BITS: u32>(self) -> Self {
        Ifma(instruction!(_mm512_srai_epi64::<BITS>(self.0)))
    }

    #[inline(always)]
    fn shr_by(self, counts: Self) -> Self {
        Ifma(instruction!(_mm512_srlv_epi64(self.0, counts.0)))
    }

    #[inline(always)]
    fn madlo(self, a: Self, b: Self) -> Self {
        Ifma(instruction!(_mm512_madd52lo_epu64(self.0, a.0, b.0)))
    }

    #[inline(always)]
    fn madhi(self, a: Self, b: Self) -> Self {
        Ifma(instruction!(_mm512_madd52hi_epu64(self.0, a.0, b.0)))
    }

    #[inline(always)]
    fn madlo_in_order(self, a: Self, b: Self) -> Self {
        Ifma(instruction!(madlo_in_order(self.0, a.0, b.0)))
    }

    #[inline(always)]
    fn madhi_in_order(self, a: Self, b: Self) -> Self {
        Ifma(instruction!(madhi_in_order(self.0, a.0, b.0)))
    }

    #[inline(always)]
    fn eq(self, other: Self) -> Mask {
        instruction!(_mm512_cmpeq_epi64_mask(self.0, other.0))
    }

    #[inline(always)]
    fn lt(self, other: Self) -> Mask {
        instruction!(_mm512_cmplt_epu64_mask(self.0, other.0))
    }

    #[inline(always)]
    fn test(self, other: Self) -> Mask {
        instruction!(_mm512_test_epi64_mask(self.0, other.0))
    }

    #[inline(always)]
    fn blend(self, mask: Mask, other: Self) -> Self {
        Ifma(instruction!(_mm512_mask_blend_epi64(mask, self.0, other.0)))
    }

    #[inline(always)]
    fn pick(self, low: Self, high: Self) -> Self {
        Ifma(instruction!(_mm512_permutex2var_epi64(
            low.0, self.0, high.0
        )))
    }

    #[inline(always)]
    fn permute(self, from: Self) -> Self {
        Ifma(instruction!(_mm512_permutexvar_epi64(from.0, self.0)))
    }

    #[inline(always)]
    fn permute_halves<const FROM: i32>(self) -> Self {
        Ifma(instruction!(_mm512_permutex_epi64::<FROM>(self.0)))
    }

    #[inline(always)]
    fn mul_low(self, other: Self) -> Self {
        Ifma(instruction!(_mm512_mullo_epi64(self.0, other.0)))
    }

    #[inline(always)]
    fn call<K: Kernel>(kernel: K) -> K::Output {
        // SAFETY: `Ifma` is only in use below `run`, which has checked the processor.
        unsafe { outline(kernel) }
    }
}

/// `vpmadd52luq` that the compiler must not move: inline assembly that it takes to have effects.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn madlo_in_order(mut sum: __m512i, a: __m512i, b: __m512i) -> __m512i {
    // SAFETY: one instruction on registers.
    unsafe {
        asm!("vpmadd52luq {}, {}, {}", inout(zmm_reg) sum, in(zmm_reg) a, in(zmm_reg) b,
            options(nomem, nostack, preserves_flags));
    }
    sum
}

/// `vpmadd52huq` that the compiler must not move.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn madhi_in_order(mut sum: __m512i, a: __m512i, b: __m512i) -> __m512i {
    // SAFETY: one instruction on registers.
    unsafe {
        asm!("vpmadd52huq {}, {}, {}", inout(zmm_reg) sum, in(zmm_reg) a, in(zmm_reg) b,
            options(nomem, nostack, preserves_flags));
    }
    sum
}

#[inline(always)]
pub(super) fn reread<T>(from: &T) -> &T {
    let mut pointer: *const T = from;
    // SAFETY: no instruction at all, so the pointer stays what it was: a valid reference.
    unsafe {
        asm!("/* {} */", inout(reg) pointer, options(readonly, nostack, preserves_flags));
        &*pointer
    }
}

#[inline(always)]
pub(super) fn opaque(mut word: u64) -> u64 {
    // SAFETY: no instruction at all.
    unsafe { asm!("/* {} */", inout(reg) word, options(pure, nomem, nostack, preserves_flags)) };
    word
}

#[inline(always)]
pub(super) fn prefetch(lines: &[Digit; 4]) {
    for line in lines {
        // SAFETY: a prefetch has no effect but on the cache; every x86-64 has it.
        unsafe { _mm_prefetch::<_MM_HINT_T0>((&raw const *line).cast()) }
    }
}
