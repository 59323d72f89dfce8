//! [`Words`] on intervals, for tests, as [`Interval`] is: all 16 numbers are one interval of signed numbers.
//!
//! A product is an interval of signed 64-bit numbers. In memory, the 16 numbers are the two ends by turns.

use super::Interval;
use crate::vector::Digit;
use crate::vector::words::{WordKernel, WordMask, Words, digit, words};

/// The integers from `low` to `high`; where they are `pairs`, of 64 bits.
#[derive(Clone, Copy)]
pub(crate) struct IntervalWords {
    low: i128,
    high: i128,
    pairs: bool,
}

/// Runs a kernel for all operands.
#[inline]
pub(crate) fn run_words<K: WordKernel>(kernel: K) -> K::Output {
    kernel.run::<Interval, IntervalWords>()
}

impl IntervalWords {
    fn of(pairs: bool, low: i128, high: i128) -> Self {
        let most: i128 = if pairs { 1 << 63 } else { 1 << 31 };
        assert!(
            -most <= low && low <= high && high < most,
            "a number may be from {low:#x} to {high:#x}"
        );
        IntervalWords { low, high, pairs }
    }

    fn new(low: i128, high: i128) -> Self {
        Self::of(false, low, high)
    }

    fn hull(self, other: Self) -> Self {
        assert_eq!(self.pairs, other.pairs);
        let (low, high) = (self.low.min(other.low), self.high.max(other.high));
        Self::of(self.pairs, low, high)
    }

    /// The even numbers: of a product, whatever its low half may be.
    fn even(self) -> (i128, i128) {
        if self.pairs {
            (i32::MIN.into(), i32::MAX.into())
        } else {
            (self.low, self.high)
        }
    }
}

impl Words for IntervalWords {
    fn splat(value: i32) -> Self {
        Self::new(value.into(), value.into())
    }

    fn load(from: &Digit) -> Self {
        let numbers = words(from).map(i128::from);
        let (low, high) = (numbers.iter().min(), numbers.iter().max());
        Self::new(*low.expect("16 numbers"), *high.expect("16 numbers"))
    }

    fn store(self, to: &mut Digit) {
        assert!(!self.pairs);
        let ends = [self.low as i32, self.high as i32];
        *to = digit(core::array::from_fn(|i| ends[i % 2]));
    }

    fn add(self, other: Self) -> Self {
        assert!(!self.pairs && !other.pairs);
        Self::new(self.low + other.low, self.high + other.high)
    }

    fn sub(self, other: Self) -> Self {
        assert!(!self.pairs && !other.pairs);
        Self::new(self.low - other.high, self.high - other.low)
    }

    fn mul_even(self, other: Self) -> Self {
        let ((a, b), (c, d)) = (self.even(), other.even());
        let products = [a * c, a * d, b * c, b * d];
        let (low, high) = (products.iter().min(), products.iter().max());
        Self::of(true, *low.expect("four"), *high.expect("four"))
    }

    /// Whatever: the low half says nothing about a product.
    fn mul_low(self, _: Self) -> Self {
        Self::new(i32::MIN.into(), i32::MAX.into())
    }

    fn odd(self) -> Self {
        assert!(!self.pairs);
        self
    }

    fn add_pairs(self, other: Self) -> Self {
        // A splat of 0 is 0 as pairs, too.
        assert!(self.pairs || self.low == 0 && self.high == 0);
        assert!(other.pairs);
        Self::of(true, self.low + other.low, self.high + other.high)
    }

    fn sub_pairs(self, other: Self) -> Self {
        assert!(self.pairs && other.pairs);
        Self::of(true, self.low - other.high, self.high - other.low)
    }

    fn merge_high(even: Self, odd: Self) -> Self {
        let both = even.hull(odd);
        assert!(both.pairs);
        Self::new(both.low >> 32, both.high >> 32)
    }

    fn pick(self, low: Self, high: Self) -> Self {
        low.hull(high)
    }

    fn call<K: WordKernel>(kernel: K) -> K::Output {
        run_words(kernel)
    }

    // What follows says too little about intervals: tests try it on numbers.

    fn load_bytes(_: &[u8; 64]) -> Self {
        unimplemented!("on numbers alone")
    }

    fn store_at(self, _: &mut [Digit], _: usize) {
        unimplemented!("on numbers alone")
    }

    fn and(self, _: Self) -> Self {
        unimplemented!("on numbers alone")
    }

    fn shr<const BITS: u32>(self) -> Self {
        unimplemented!("on numbers alone")
    }

    fn sar<const BITS: u32>(self) -> Self {
        unimplemented!("on numbers alone")
    }

    fn shl<const BITS: u32>(self) -> Self {
        unimplemented!("on numbers alone")
    }

    fn shr_by(self, _: Self) -> Self {
        unimplemented!("on numbers alone")
    }

    fn below(self, _: Self) -> WordMask {
        unimplemented!("on numbers alone")
    }

    fn blend(self, _: WordMask, _: Self) -> Self {
        unimplemented!("on numbers alone")
    }

    fn permute_bytes(self, _: Self) -> Self {
        unimplemented!("on numbers alone")
    }

    fn compress(self, _: WordMask) -> Self {
        unimplemented!("on numbers alone")
    }
}
