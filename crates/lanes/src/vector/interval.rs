//! [`Vector`] on intervals, for tests: what all lanes may hold, whatever the operands.
//!
//! A kernel that runs on these runs for all operands at once. It panics where a sum may leave 64 bits, and where a
//! number that may be negative is shifted as if it were not. Masks say nothing: a blend may be either side.
//!
//! In memory, the eight lanes are the interval's two ends by turns; what is loaded is whatever lies between the least
//! and the largest lane.

use super::{Bits, DIGIT, Digit, Kernel, Mask, Row, Vector};
use crate::LANES;

mod words;

pub(super) use words::run_words;

/// The integers from `low` to `high`.
#[derive(Clone, Copy)]
pub(super) struct Interval {
    low: i128,
    high: i128,
}

/// Runs a kernel for all operands.
#[inline]
pub(super) fn run<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<Interval>()
}

impl Interval {
    /// A lane is below 2^64, or signed.
    fn new(low: i128, high: i128) -> Self {
        let most = if low < 0 {
            i64::MAX as i128
        } else {
            u64::MAX as i128
        };
        assert!(
            i64::MIN as i128 <= low && low <= high && high <= most,
            "a lane may be from {low:#x} to {high:#x}"
        );
        Interval { low, high }
    }

    /// All that 0 to `self` can be made of, bit by bit.
    fn up_to(self) -> Self {
        assert!(self.low >= 0, "bits of a number that may be negative");
        Interval::new(0, (1 << (128 - self.high.leading_zeros())) - 1)
    }

    fn hull(self, other: Self) -> Self {
        Interval::new(self.low.min(other.low), self.high.max(other.high))
    }

    /// The low 52 bits.
    fn digit(self) -> Self {
        self.and(Interval::splat(DIGIT))
    }

    fn times(self, other: Self) -> (i128, i128) {
        let (a, b) = (self.digit(), other.digit());
        (a.low * b.low, a.high * b.high)
    }
}

impl Bits for Interval {
    fn splat(value: u64) -> Self {
        Interval::new(value as i128, value as i128)
    }

    fn load(from: &Digit) -> Self {
        let lanes = || from.0.iter().map(|&lane| lane as i128);
        Interval::new(lanes().min().unwrap_or(0), lanes().max().unwrap_or(0))
    }

    fn store(self, to: &mut Digit) {
        assert!(self.low >= 0, "a number that may be negative is stored");
        let ends = [self.low as u64, self.high as u64];
        *to = Digit(core::array::from_fn(|lane| ends[lane % 2]));
        const { assert!(LANES >= 2) }
    }

    fn or(self, other: Self) -> Self {
        let all = self.up_to().hull(other.up_to());
        Interval::new(self.low.max(other.low), all.high)
    }

    fn xor(self, other: Self) -> Self {
        self.up_to().hull(other.up_to())
    }

    fn not_and(self, other: Self) -> Self {
        other.up_to()
    }

    /// Bits may be lost.
    fn shl<const BITS: u32>(self) -> Self {
        let (low, high) = (self.low << BITS, self.high << BITS);
        if low >= i64::MIN as i128 && high <= i64::MAX as i128 {
            Interval::new(low, high)
        } else {
            Interval::new(0, u64::MAX as i128)
        }
    }

    fn shr<const BITS: u32>(self) -> Self {
        assert!(
            self.low >= 0,
            "a shift of a number that may be negative: {:#x}",
            self.low
        );
        Interval::new(self.low >> BITS, self.high >> BITS)
    }

    fn only(self, _: Mask) -> Self {
        self.hull(Interval::splat(0))
    }

    fn load_turned(_: [&Row; LANES]) -> [Self; LANES] {
        [Interval::new(0, u64::MAX as i128); LANES]
    }

    fn store_turned(_: [Self; LANES], _: [&mut Row; LANES]) {
        unimplemented!("no kernel that runs on intervals stores bytes")
    }
}

impl Vector for Interval {
    type Half = Self;

    fn in_halves() -> bool {
        false
    }

    fn add(self, other: Self) -> Self {
        Interval::new(self.low + other.low, self.high + other.high)
    }

    fn sub(self, other: Self) -> Self {
        Interval::new(self.low - other.high, self.high - other.low)
    }

    /// Of any number with one that is not negative.
    fn and(self, other: Self) -> Self {
        let (number, mask) = if other.low >= 0 {
            (self, other)
        } else {
            (other, self)
        };
        let all = mask.up_to();
        let low_bits = mask.low == mask.high && mask.low == all.high;
        if low_bits && number.low >= 0 && number.high <= mask.high {
            number
        } else {
            all
        }
    }

    fn shl_in(self, _: Self) -> Self {
        Interval::new(0, u64::MAX as i128)
    }

    fn sar<const BITS: u32>(self) -> Self {
        assert!(
            self.high <= i64::MAX as i128,
            "a signed shift of a number that has no sign"
        );
        Interval::new(self.low >> BITS, self.high >> BITS)
    }

    fn shr_by(self, counts: Self) -> Self {
        assert!(self.low >= 0, "a shift of a number that may be negative");
        Interval::new(
            0,
            if counts.low < 64 {
                self.high >> counts.low
            } else {
                0
            },
        )
    }

    fn madlo(self, a: Self, b: Self) -> Self {
        let (low, high) = a.times(b);
        self.add(if high <= DIGIT as i128 {
            Interval::new(low, high)
        } else {
            Interval::new(0, DIGIT as i128)
        })
    }

    fn madhi(self, a: Self, b: Self) -> Self {
        let (low, high) = a.times(b);
        self.add(Interval::new(low >> 52, high >> 52))
    }

    fn madlo_in_order(self, a: Self, b: Self) -> Self {
        self.madlo(a, b)
    }

    fn madhi_in_order(self, a: Self, b: Self) -> Self {
        self.madhi(a, b)
    }

    fn eq(self, _: Self) -> Mask {
        0
    }

    fn lt(self, _: Self) -> Mask {
        0
    }

    fn test(self, _: Self) -> Mask {
        0
    }

    fn blend(self, _: Mask, other: Self) -> Self {
        self.hull(other)
    }

    fn pick(self, low: Self, high: Self) -> Self {
        low.hull(high)
    }

    fn permute(self, _: Self) -> Self {
        self
    }

    fn permute_halves<const FROM: i32>(self) -> Self {
        self
    }

    /// Of two numbers that are not negative.
    fn mul_low(self, other: Self) -> Self {
        assert!(
            self.low >= 0 && other.low >= 0,
            "a product of a number that may be negative"
        );
        Interval::new(self.low * other.low, self.high * other.high)
    }

    fn call<K: Kernel>(kernel: K) -> K::Output {
        run(kernel)
    }
}
