//! [`Words`] on plain integers, for tests, as [`Emulated`] is.

use super::Emulated;
use crate::vector::Digit;
use crate::vector::words::{WORDS, WordKernel, WordMask, Words, digit, words};
use core::hint::black_box;

/// 16 numbers in an array.
#[derive(Clone, Copy)]
pub(crate) struct EmulatedWords([i32; WORDS]);

/// Runs a kernel.
#[inline]
pub(crate) fn run_words<K: WordKernel>(kernel: K) -> K::Output {
    #[cfg(feature = "fault")]
    return crate::fault::kernel::<K, _>(|| kernel.run::<Emulated, EmulatedWords>());
    #[cfg(not(feature = "fault"))]
    kernel.run::<Emulated, EmulatedWords>()
}

impl EmulatedWords {
    /// Every result of every instruction passes here: the place to disturb one.
    #[inline(always)]
    fn new(numbers: [i32; WORDS]) -> Self {
        #[cfg(feature = "fault")]
        let numbers = words(&Digit(crate::fault::pass(digit(numbers).0)));
        EmulatedWords(numbers)
    }

    #[inline(always)]
    fn map(self, f: impl Fn(i32) -> i32) -> Self {
        Self::new(self.0.map(f))
    }

    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(i32, i32) -> i32) -> Self {
        Self::new(core::array::from_fn(|i| f(self.0[i], other.0[i])))
    }

    #[inline(always)]
    fn pairs(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        let (a, b) = (digit(self.0), digit(other.0));
        Self::new(words(&Digit(core::array::from_fn(|i| f(a.0[i], b.0[i])))))
    }
}

impl Words for EmulatedWords {
    #[inline(never)]
    fn splat(value: i32) -> Self {
        Self::new([value; WORDS])
    }

    #[inline(never)]
    fn load(from: &Digit) -> Self {
        Self::new(words(from))
    }

    #[inline(never)]
    fn store(self, to: &mut Digit) {
        *to = digit(self.0);
    }

    #[inline(never)]
    fn load_bytes(from: &[u8; 64]) -> Self {
        let (numbers, _) = from.as_chunks::<4>();
        Self::new(core::array::from_fn(|i| i32::from_le_bytes(numbers[i])))
    }

    #[inline(never)]
    fn store_at(self, to: &mut [Digit], at: usize) {
        assert!(at < WORDS * to.len(), "there is room for a number");
        for (number, at) in self.0.iter().zip(at..WORDS * to.len()) {
            let (word, place) = (&mut to[at / WORDS].0[at % WORDS / 2], 32 * (at % 2));
            let number = u64::from(number.cast_unsigned());
            *word = *word & !(0xffff_ffff << place) | number << place;
        }
    }

    #[inline(never)]
    fn add(self, other: Self) -> Self {
        self.zip(other, i32::wrapping_add)
    }

    #[inline(never)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, i32::wrapping_sub)
    }

    #[inline(never)]
    fn and(self, other: Self) -> Self {
        self.zip(other, |a, b| a & b)
    }

    #[inline(never)]
    fn mul_low(self, other: Self) -> Self {
        self.zip(other, i32::wrapping_mul)
    }

    #[inline(never)]
    fn shr<const BITS: u32>(self) -> Self {
        self.map(|a| (a.cast_unsigned() >> BITS).cast_signed())
    }

    #[inline(never)]
    fn sar<const BITS: u32>(self) -> Self {
        self.map(|a| a >> BITS)
    }

    #[inline(never)]
    fn shl<const BITS: u32>(self) -> Self {
        self.map(|a| a << BITS)
    }

    #[inline(never)]
    fn shr_by(self, counts: Self) -> Self {
        self.zip(counts, |a, n| (a.cast_unsigned() >> (n & 31)).cast_signed())
    }

    #[inline(never)]
    fn mul_even(self, other: Self) -> Self {
        let even = |pair: u64| i64::from((pair as u32).cast_signed());
        self.pairs(other, |a, b| (even(a) * even(b)).cast_unsigned())
    }

    #[inline(never)]
    fn odd(self) -> Self {
        Self::new(core::array::from_fn(|i| self.0[i | 1]))
    }

    #[inline(never)]
    fn add_pairs(self, other: Self) -> Self {
        self.pairs(other, u64::wrapping_add)
    }

    #[inline(never)]
    fn sub_pairs(self, other: Self) -> Self {
        self.pairs(other, u64::wrapping_sub)
    }

    #[inline(never)]
    fn merge_high(even: Self, odd: Self) -> Self {
        Self::new(core::array::from_fn(|i| {
            if i % 2 == 0 { even.0[i + 1] } else { odd.0[i] }
        }))
    }

    #[inline(never)]
    fn below(self, other: Self) -> WordMask {
        let mask = (0..WORDS).fold(0, |mask, i| {
            // The sign of the difference: no comparison that could become a branch.
            let [a, b] = [self, other].map(|one| i64::from(one.0[i].cast_unsigned()));
            let less = black_box((a - b).cast_unsigned() >> 63) as WordMask;
            mask | less << i
        });
        #[cfg(feature = "fault")]
        let mask = crate::fault::pass_small_mask(mask.into(), WORDS as u32) as WordMask;
        mask
    }

    #[inline(never)]
    fn blend(self, mask: WordMask, other: Self) -> Self {
        Self::new(core::array::from_fn(|i| {
            let other_if = -black_box(i32::from(mask >> i & 1));
            self.0[i] ^ (self.0[i] ^ other.0[i]) & other_if
        }))
    }

    #[inline(never)]
    fn pick(self, low: Self, high: Self) -> Self {
        let table = || low.0.iter().chain(&high.0).zip(0..);
        self.map(|i| {
            table().fold(0, |found, (entry, at)| {
                // All ones where the two are equal.
                let here = black_box(((at ^ i & 31) - 1) >> 31);
                found | entry & here
            })
        })
    }

    /// The places are public wherever this is used.
    #[inline(never)]
    fn permute_bytes(self, from: Self) -> Self {
        let bytes = self.0.map(i32::to_le_bytes);
        let byte = |at: u8| bytes[usize::from(at & 63) / 4][usize::from(at) % 4];
        Self::new(
            from.0
                .map(|four| i32::from_le_bytes(four.to_le_bytes().map(byte))),
        )
    }

    /// The mask is public wherever this is used.
    #[inline(never)]
    fn compress(self, mask: WordMask) -> Self {
        let mut numbers = [0; WORDS];
        let chosen = (0..WORDS).filter(|i| mask >> i & 1 == 1);
        for (to, from) in numbers.iter_mut().zip(chosen) {
            *to = self.0[from];
        }
        Self::new(numbers)
    }

    #[inline(never)]
    fn call<K: WordKernel>(kernel: K) -> K::Output {
        run_words(kernel)
    }
}
