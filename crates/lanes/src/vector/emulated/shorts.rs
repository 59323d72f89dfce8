//! [`Shorts`] on plain integers, for tests, as [`Emulated`] is.

use super::Emulated;
use crate::vector::Digit;
use crate::vector::shorts::{SHORTS, ShortKernel, ShortMask, Shorts, digit, shorts};
use core::hint::black_box;

/// 32 numbers in an array.
#[derive(Clone, Copy)]
pub(crate) struct EmulatedShorts([u16; SHORTS]);

/// Runs a kernel.
#[inline]
pub(crate) fn run_shorts<K: ShortKernel>(kernel: K) -> K::Output {
    #[cfg(feature = "fault")]
    return crate::fault::kernel::<K, _>(|| kernel.run::<Emulated, EmulatedShorts>());
    #[cfg(not(feature = "fault"))]
    kernel.run::<Emulated, EmulatedShorts>()
}

impl EmulatedShorts {
    /// Every result of every instruction passes here: the place to disturb one.
    #[inline(always)]
    fn new(numbers: [u16; SHORTS]) -> Self {
        #[cfg(feature = "fault")]
        let numbers = shorts(&Digit(crate::fault::pass(
            digit(numbers.map(u16::cast_signed)).0,
        )));
        EmulatedShorts(numbers)
    }

    #[inline(always)]
    fn map(self, f: impl Fn(u16) -> u16) -> Self {
        Self::new(self.0.map(f))
    }

    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(u16, u16) -> u16) -> Self {
        Self::new(core::array::from_fn(|i| f(self.0[i], other.0[i])))
    }

    #[inline(always)]
    fn signed(self, other: Self, f: impl Fn(i32, i32) -> i32) -> Self {
        self.zip(other, |a, b| {
            f(i32::from(a.cast_signed()), i32::from(b.cast_signed())) as u16
        })
    }

    /// As 16 numbers of 32 bits.
    #[inline(always)]
    fn pairs(self) -> [u32; SHORTS / 2] {
        core::array::from_fn(|i| u32::from(self.0[2 * i]) | u32::from(self.0[2 * i + 1]) << 16)
    }

    #[inline(always)]
    fn from_pairs(pairs: [u32; SHORTS / 2]) -> Self {
        Self::new(core::array::from_fn(|i| {
            (pairs[i / 2] >> (16 * (i % 2))) as u16
        }))
    }
}

impl Shorts for EmulatedShorts {
    #[inline(never)]
    fn splat(value: i16) -> Self {
        Self::new([value.cast_unsigned(); SHORTS])
    }

    #[inline(never)]
    fn load(from: &Digit) -> Self {
        Self::new(shorts(from))
    }

    #[inline(never)]
    fn store(self, to: &mut Digit) {
        *to = digit(self.0.map(u16::cast_signed));
    }

    #[inline(never)]
    fn load_bytes(from: &[u8; 64]) -> Self {
        Self::new(core::array::from_fn(|i| {
            u16::from_le_bytes([from[2 * i], from[2 * i + 1]])
        }))
    }

    #[inline(never)]
    fn store_bytes(self, to: &mut [u8; 64]) {
        for (number, to) in self.0.iter().zip(to.as_chunks_mut().0) {
            *to = number.to_le_bytes();
        }
    }

    #[inline(never)]
    fn store_at(self, to: &mut [Digit], at: usize) {
        assert!(at < SHORTS * to.len(), "there is room for a number");
        for (number, at) in self.0.iter().zip(at..SHORTS * to.len()) {
            let (word, place) = (&mut to[at / SHORTS].0[at % SHORTS / 4], 16 * (at % 4));
            *word = *word & !(0xffff << place) | u64::from(*number) << place;
        }
    }

    #[inline(never)]
    fn add(self, other: Self) -> Self {
        self.zip(other, u16::wrapping_add)
    }

    #[inline(never)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, u16::wrapping_sub)
    }

    #[inline(never)]
    fn and(self, other: Self) -> Self {
        self.zip(other, |a, b| a & b)
    }

    #[inline(never)]
    fn or(self, other: Self) -> Self {
        self.zip(other, |a, b| a | b)
    }

    #[inline(never)]
    fn mul_low(self, other: Self) -> Self {
        self.signed(other, |a, b| a * b)
    }

    #[inline(never)]
    fn mul_high(self, other: Self) -> Self {
        self.signed(other, |a, b| (a * b) >> 16)
    }

    #[inline(never)]
    fn mul_round(self, other: Self) -> Self {
        self.signed(other, |a, b| (((a * b) >> 14) + 1) >> 1)
    }

    #[inline(never)]
    fn sign(self) -> Self {
        self.map(|a| (a.cast_signed() >> 15).cast_unsigned())
    }

    #[inline(never)]
    fn shr_by(self, counts: Self) -> Self {
        self.zip(counts, |a, n| a >> (n & 15))
    }

    #[inline(never)]
    fn shl_by(self, counts: Self) -> Self {
        self.zip(counts, |a, n| if n < 16 { a << n } else { 0 })
    }

    #[inline(never)]
    fn below(self, other: Self) -> ShortMask {
        let mask = (0..SHORTS).fold(0, |mask, i| {
            // The sign of the difference: no comparison that could become a branch.
            let less = u32::from(self.0[i]).wrapping_sub(u32::from(other.0[i])) >> 31;
            mask | black_box(less) << i
        });
        #[cfg(feature = "fault")]
        let mask = crate::fault::pass_small_mask(mask, SHORTS as u32);
        mask
    }

    #[inline(never)]
    fn blend(self, mask: ShortMask, other: Self) -> Self {
        Self::new(core::array::from_fn(|i| {
            let other_if = black_box((mask >> i & 1) as u16).wrapping_neg();
            self.0[i] ^ (self.0[i] ^ other.0[i]) & other_if
        }))
    }

    #[inline(never)]
    fn pick(self, low: Self, high: Self) -> Self {
        let table = || low.0.iter().chain(&high.0).zip(0_u16..);
        self.map(|i| {
            table().fold(0, |found, (entry, at)| {
                let here = black_box((at ^ i & 63).wrapping_sub(1) >> 15);
                found | entry & here.wrapping_neg()
            })
        })
    }

    /// The places are public wherever this is used.
    #[inline(never)]
    fn permute_bytes(self, from: Self) -> Self {
        let bytes = self.0.map(u16::to_le_bytes);
        let byte = |at: u8| bytes[usize::from(at & 63) / 2][usize::from(at) % 2];
        Self::new(from.0.map(|pair| {
            let [low, high] = pair.to_le_bytes();
            u16::from_le_bytes([byte(low), byte(high)])
        }))
    }

    /// The mask is public wherever this is used.
    #[inline(never)]
    fn compress(self, mask: ShortMask) -> Self {
        let mut numbers = [0; SHORTS];
        let chosen = (0..SHORTS).filter(|i| mask >> i & 1 == 1);
        for (to, from) in numbers.iter_mut().zip(chosen) {
            *to = self.0[from];
        }
        Self::new(numbers)
    }

    #[inline(never)]
    fn add_dot(self, a: Self, b: Self) -> Self {
        let sums = self.pairs();
        let product = |i: usize| i32::from(a.0[i].cast_signed()) * i32::from(b.0[i].cast_signed());
        Self::from_pairs(core::array::from_fn(|i| {
            let sum = product(2 * i).wrapping_add(product(2 * i + 1));
            sums[i].wrapping_add(sum.cast_unsigned())
        }))
    }

    #[inline(never)]
    fn sub_pairs(self, other: Self) -> Self {
        let (a, b) = (self.pairs(), other.pairs());
        Self::from_pairs(core::array::from_fn(|i| a[i].wrapping_sub(b[i])))
    }

    #[inline(never)]
    fn shr_pairs(self) -> Self {
        Self::from_pairs(self.pairs().map(|pair| pair >> 16))
    }

    #[inline(never)]
    fn swap_pairs(self) -> Self {
        Self::from_pairs(self.pairs().map(|pair| pair.rotate_left(16)))
    }

    #[inline(never)]
    fn call<K: ShortKernel>(kernel: K) -> K::Output {
        run_shorts(kernel)
    }
}
