//! [`Vector`] on plain integers, for tests: where there is no IFMA, to inject faults, and to look for what
//! depends on secrets, for which it must not branch on them itself.

use super::{Bits, DIGIT, Digit, Kernel, Mask, Row, Vector};
use crate::LANES;
use core::hint::black_box;

mod shorts;
mod words;

pub(super) use shorts::run_shorts;
pub(super) use words::run_words;

/// Eight lanes in an array.
#[derive(Clone, Copy)]
pub(super) struct Emulated([u64; LANES]);

/// Runs a kernel.
// Inlined, here and in the like: so each kernel is compiled with its caller, on all cores. Out of line, all of them are one
// part of this crate, which keeps one core busy for minutes.
#[inline]
pub(super) fn run<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(feature = "fault")]
    return crate::fault::kernel::<K, _>(|| kernel.run::<Emulated>());
    #[cfg(not(feature = "fault"))]
    kernel.run::<Emulated>()
}

impl Emulated {
    /// Every result of every instruction passes here: the place to disturb one.
    #[inline(always)]
    fn new(lanes: [u64; LANES]) -> Self {
        #[cfg(feature = "fault")]
        let lanes = crate::fault::pass(lanes);
        Emulated(lanes)
    }

    #[inline(always)]
    fn map(self, f: impl Fn(u64) -> u64) -> Self {
        Self::new(self.0.map(f))
    }

    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        Self::new(core::array::from_fn(|i| f(self.0[i], other.0[i])))
    }

    /// The lanes where `f` is 1.
    #[inline(always)]
    fn compare(self, other: Self, f: impl Fn(u64, u64) -> bool) -> Mask {
        let mask = (0..LANES).fold(0, |mask, i| {
            mask | black_box(Mask::from(f(self.0[i], other.0[i]))) << i
        });
        #[cfg(feature = "fault")]
        let mask = crate::fault::pass_mask(mask);
        mask
    }
}

/// The 104-bit product of two digits.
#[inline(always)]
fn product(a: u64, b: u64) -> u128 {
    u128::from(a & DIGIT) * u128::from(b & DIGIT)
}

impl Bits for Emulated {
    #[inline(never)]
    fn splat(value: u64) -> Self {
        Self::new([value; LANES])
    }

    #[inline(never)]
    fn load(from: &Digit) -> Self {
        Self::new(from.0)
    }

    #[inline(never)]
    fn store(self, to: &mut Digit) {
        to.0 = self.0;
    }

    #[inline(never)]
    fn or(self, other: Self) -> Self {
        self.zip(other, |a, b| a | b)
    }

    #[inline(never)]
    fn xor(self, other: Self) -> Self {
        self.zip(other, |a, b| a ^ b)
    }

    #[inline(never)]
    fn not_and(self, other: Self) -> Self {
        self.zip(other, |a, b| !a & b)
    }

    #[inline(never)]
    fn shl<const BITS: u32>(self) -> Self {
        self.map(|a| a << BITS)
    }

    #[inline(never)]
    fn shr<const BITS: u32>(self) -> Self {
        self.map(|a| a >> BITS)
    }

    #[inline(never)]
    fn only(self, lanes: Mask) -> Self {
        Self::new(core::array::from_fn(|i| {
            self.0[i] & black_box(u64::from(lanes >> i & 1)).wrapping_neg()
        }))
    }

    #[inline(never)]
    fn load_turned(rows: [&Row; LANES]) -> [Self; LANES] {
        core::array::from_fn(|word| {
            Self::new(rows.map(|row| u64::from_le_bytes(row.as_chunks().0[word])))
        })
    }

    #[inline(never)]
    fn store_turned(vectors: [Self; LANES], rows: [&mut Row; LANES]) {
        for (lane, row) in rows.into_iter().enumerate() {
            for (word, vector) in row.as_chunks_mut().0.iter_mut().zip(vectors) {
                *word = vector.0[lane].to_le_bytes();
            }
        }
    }
}

impl Vector for Emulated {
    /// All eight lanes.
    type Half = Self;

    #[inline(always)]
    fn in_halves() -> bool {
        false
    }

    #[inline(never)]
    fn add(self, other: Self) -> Self {
        self.zip(other, u64::wrapping_add)
    }

    #[inline(never)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, u64::wrapping_sub)
    }

    #[inline(never)]
    fn and(self, other: Self) -> Self {
        self.zip(other, |a, b| a & b)
    }

    #[inline(never)]
    fn shl_in(self, other: Self) -> Self {
        self.zip(other, |a, b| a << 1 | b >> 63)
    }

    #[inline(never)]
    fn sar<const BITS: u32>(self) -> Self {
        self.map(|a| (a.cast_signed() >> BITS).cast_unsigned())
    }

    #[inline(never)]
    fn shr_by(self, counts: Self) -> Self {
        #[cfg(feature = "fault")]
        crate::fault::note_shift();
        self.zip(counts, |a, n| if n < 64 { a >> n } else { 0 })
    }

    #[inline(never)]
    fn madlo(self, a: Self, b: Self) -> Self {
        #[cfg(feature = "fault")]
        crate::fault::count_multiply_add();
        let low = a.zip(b, |a, b| product(a, b) as u64 & DIGIT);
        self.add(low)
    }

    #[inline(never)]
    fn madhi(self, a: Self, b: Self) -> Self {
        #[cfg(feature = "fault")]
        crate::fault::count_multiply_add();
        let high = a.zip(b, |a, b| (product(a, b) >> 52) as u64);
        self.add(high)
    }

    #[inline(never)]
    fn madlo_in_order(self, a: Self, b: Self) -> Self {
        self.madlo(a, b)
    }

    #[inline(never)]
    fn madhi_in_order(self, a: Self, b: Self) -> Self {
        self.madhi(a, b)
    }

    #[inline(never)]
    fn eq(self, other: Self) -> Mask {
        self.compare(other, |a, b| a == b)
    }

    #[inline(never)]
    fn lt(self, other: Self) -> Mask {
        self.compare(other, |a, b| a < b)
    }

    #[inline(never)]
    fn test(self, other: Self) -> Mask {
        self.compare(other, |a, b| a & b != 0)
    }

    #[inline(never)]
    fn blend(self, mask: Mask, other: Self) -> Self {
        Self::new(core::array::from_fn(|i| {
            let other_if = black_box(u64::from(mask >> i & 1)).wrapping_neg();
            self.0[i] ^ (self.0[i] ^ other.0[i]) & other_if
        }))
    }

    #[inline(never)]
    fn pick(self, low: Self, high: Self) -> Self {
        let table = || low.0.iter().chain(&high.0).zip(0..);
        self.map(|i| {
            table().fold(0, |found, (entry, at)| {
                let here = black_box((at ^ i & 15).wrapping_sub(1) >> 63);
                found | entry & here.wrapping_neg()
            })
        })
    }

    #[inline(never)]
    fn permute(self, from: Self) -> Self {
        from.map(|i| {
            self.0.iter().zip(0..).fold(0, |found, (entry, at)| {
                let here = black_box((at ^ i & 7_u64).wrapping_sub(1) >> 63);
                found | entry & here.wrapping_neg()
            })
        })
    }

    #[inline(never)]
    fn permute_halves<const FROM: i32>(self) -> Self {
        Self::new(core::array::from_fn(|i| {
            self.0[i & 4 | (FROM >> (2 * (i & 3)) & 3) as usize]
        }))
    }

    #[inline(never)]
    fn mul_low(self, other: Self) -> Self {
        self.zip(other, u64::wrapping_mul)
    }

    // Out of line as on the processor: inlined into each other, kernels take long to compile.
    #[inline(never)]
    fn call<K: Kernel>(kernel: K) -> K::Output {
        run(kernel)
    }
}
