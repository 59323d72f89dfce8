//! Montgomery arithmetic on eight numbers of `N` digits, each lane with a modulus of its own.
//!
//! ```text
//! multiply.rs   a·b/R mod m     square.rs   a²/R mod m     reduce.rs   t/R mod m
//!       └─────────── tile.rs: rows of W digits, a window of columns ─────┘
//! ```
//!
//! # Mathematics
//! Radix X = 2^52, R = X^N. For t < R·(R − m) and m odd, let q = −t/m mod R; then (t + q·m)/R is an
//! integer, congruent to t/R modulo m and below t/R + m. It is found digit by digit from the low end:
//! `q_i = k·t_i mod X` with `k = −1/m mod X` makes column i of t + q_i·m·X^i a multiple of X.
//!
//! Nothing is subtracted at the end ("almost Montgomery"). With m < 2^(52N − 12) and a, b < 2m the
//! result is below 4m²/R + m < 1.001 m: it may be fed back for ever, and one conditional subtraction
//! at the very end ([`Modulus::canonical`]) makes it unique.
//!
//! # Three savings
//! * *No low product for q_i·m_0.* It would only turn column i into a multiple of X. Its carry is
//!   `⌈t_i/X⌉ = (t_i + X − 1) >> 52`. So columns below N start at X − 1 instead of 0, the carry is a
//!   shift, and `q_i = k + k·(t_i + X − 1) mod X` is one multiply-add that starts at k.
//! * *No masks.* `vpmadd52` ignores bits above 52, so a digit whose excess was carried on is left as it is.
//! * *Squares* add each cross product once, then double the column: `vpshldq` does so and shifts in the
//!   1 that makes 2·(2^51 − 1) + 1 = X − 1.
//!
//! # Bounds
//! A column receives at most 2N halves of products from a·b (doubled cross products count twice) and 2N
//! from q·m, each below 2^52, a start below 2^52 and a carry below 2^12: less than (4N + 2)·2^52, that is
//! 2^60.4 at N = 80. No accumulator reaches 2^64.
//!
//! # Count of instructions on the two vector ports
//! `vpmadd52`: 4N² + 3 N/W in a multiplication, 3N² + N + 2 N/W in a square; the last terms are a quotient
//! (and a product) made in vain after each panel's last row. Besides, for each column: a shift and an add
//! when it is reduced, a shift and an add when it is normalised, a shift when a square doubles it, and
//! each store counts like one: 3 % of N = 40, 10 % of N = 20.
//!
//! # Constant time
//! Straight-line code; loops depend on N alone.

// Unrolled constants are compared where a loop's variable would be.
#![allow(clippy::absurd_extreme_comparisons)]

mod multiply;
mod product;
mod reduce;
mod square;
mod tile;

pub(super) use multiply::Multiply;
pub(super) use product::Product;
pub(super) use reduce::Reduce;
pub(super) use square::Square;

use crate::vector::{DIGIT, Digit, Vector};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// Eight odd moduli of at most 52·N − 12 bits. Wiped when dropped.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(super) struct Modulus<const N: usize> {
    /// m, each digit below 2^52.
    pub(super) digits: [Digit; N],
    /// −1/m mod 2^52.
    pub(super) k: Digit,
}

impl<const N: usize> Modulus<N> {
    /// Zeros, to be filled where they are: a value that is moved leaves a copy behind.
    pub(super) const fn new() -> Self {
        Self {
            digits: [Digit::ZERO; N],
            k: Digit::ZERO,
        }
    }

    /// Subtracts m from the eight numbers `x < 2m` where they are not below it, in constant time.
    /// The digits of the result are below 2^52.
    #[inline(always)]
    pub(super) fn canonical<V: Vector>(&self, x: &mut [Digit; N]) {
        let low = V::splat(DIGIT);
        let mut borrow = V::zero();
        let mut less = Zeroizing::new([Digit::ZERO; N]);
        for i in 0..N {
            let digit = V::load(&x[i]).and(low);
            digit.store(&mut x[i]);
            let difference = digit.sub(V::load(&self.digits[i])).sub(borrow);
            borrow = difference.shr::<63>();
            difference.and(low).store(&mut less[i]);
        }
        // No borrow: x was at least m, so the difference is the answer.
        let keep = borrow.test(V::splat(1));
        for i in 0..N {
            V::load(&less[i])
                .blend(keep, V::load(&x[i]))
                .store(&mut x[i]);
        }
    }
}

/// Half of X − 1: where a square's columns below N start.
const HALF: u64 = DIGIT >> 1;

/// Room for the intermediates of one batch. Wiped when dropped.
pub(super) struct Scratch<const N: usize> {
    /// A square's products of different panels. The lowest and the highest panel are constant.
    cross: [Digit; 160],
    /// The 2N columns to be reduced.
    pub(super) columns: [Digit; 160],
    /// A multiplication's columns between two blocks: the lower N, and zeros above.
    sums: [[Digit; 100]; 2],
    /// The quotient's digits of the panel at work: here, lest each kernel clear an array of its own.
    quotients: [Digit; 20],
}

impl<const N: usize> Scratch<N> {
    pub(super) fn new() -> Box<Self> {
        // Not made on the stack and then moved: that would take 34 KiB of it.
        let mut scratch = Box::<Self>::new_uninit();
        // SAFETY: room for one, whose digits' words may all be 0.
        let mut scratch = unsafe {
            scratch.as_mut_ptr().write_bytes(0, 1);
            scratch.assume_init()
        };
        scratch.cross[..N].fill(Digit::splat(HALF));
        scratch
    }
}

impl<const N: usize> Drop for Scratch<N> {
    fn drop(&mut self) {
        self.cross.zeroize();
        self.columns.zeroize();
        self.sums.zeroize();
        self.quotients.zeroize();
    }
}

/// Digits `W·i` to `W·i + W − 1`.
#[inline(always)]
fn panel<const W: usize>(digits: &[Digit], i: usize) -> &[Digit; W] {
    digits[W * i..][..W].try_into().expect("W digits")
}

#[inline(always)]
fn panel_mut<const W: usize>(digits: &mut [Digit], i: usize) -> &mut [Digit; W] {
    (&mut digits[W * i..][..W]).try_into().expect("W digits")
}

#[cfg(test)]
mod tests;
