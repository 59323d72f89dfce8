//! A prime in radix 2^52, and the constants of Montgomery arithmetic that follow from it.
//!
//! R = 2^(52 N) for N digits. Every constant is derived from the prime when the crate is compiled.

use crate::digits::negative_inverse;
use crate::vector::unroll;
use crate::vector::{DIGIT, Vector};
use crate::weierstrass::bound::Limit;
use crate::weierstrass::element::Columns;

/// A prime modulus m of N digits, with room: 16 m < 2^(52 N).
pub(crate) trait Modulus<const N: usize>: Copy {
    /// m, least significant digit first.
    const DIGITS: [u64; N];

    /// R / m in bits, rounded down: 4 at least.
    const ROOM: u32 = 52 - (64 - Self::DIGITS[N - 1].leading_zeros());
    /// What every carried number is below: 15 m, or 21 m where there is room.
    const CARRIED: Limit = Limit::times(if Self::ROOM == 4 { 15 } else { 21 });
    /// -1/m mod 2^52.
    const NEGATED_INVERSE: u64 = negative_inverse(Self::DIGITS[0]) & DIGIT;
    /// R mod m: 1 in Montgomery form.
    const R: [u64; N] = power_of_two(&Self::DIGITS, 52 * N);
    /// R² mod m: brings a number into Montgomery form.
    const R2: [u64; N] = power_of_two(&Self::DIGITS, 2 * 52 * N);

    /// The columns c become the upper half of c + q m, where q < R makes the lower half vanish:
    /// (c + q m) / R, not carried.
    ///
    /// This is the general way, 2 N + 3 instructions a digit; a prime of special form has a
    /// shorter one.
    #[inline(always)]
    fn reduce<V: Vector>(columns: Columns<V>) -> [V; N] {
        let mut c = columns.0;
        let inverse = V::splat(Self::NEGATED_INVERSE);
        unroll!(I < N => {
            let q = V::zero().madlo(c[I], inverse);
            unroll!(J < N => {
                let digit = V::splat(Self::DIGITS[J]);
                c[I + J] = c[I + J].madlo(q, digit);
                c[I + J + 1] = c[I + J + 1].madhi(q, digit);
            });
            c[I + 1] = c[I + 1].add(c[I].sar::<52>());
        });
        upper(&c)
    }

    /// What [`Self::tighten`] brings a sum below.
    const TIGHT: Limit = Limit::times(9);

    /// A sum in (-5 m, 4 m), not carried, becomes a congruent one in [0, TIGHT).
    ///
    /// The general way only makes it positive; a prime that leaves little room must do more.
    #[inline(always)]
    fn tighten<V: Vector>(sum: [V; N]) -> [V; N] {
        let multiple = multiple(&Self::DIGITS, 5);
        let mut out = sum;
        unroll!(I < N => { out[I] = out[I].add(V::splat(multiple[I])); });
        out
    }

    /// What [`Self::settle`] brings a sum below.
    const SETTLED: Limit = Limit::times(120);

    /// A sum in (-60 m, 60 m), not carried, becomes a congruent one in [0, SETTLED).
    ///
    /// The general way only makes it positive; a prime that leaves little room must do more.
    #[inline(always)]
    fn settle<V: Vector>(sum: [V; N]) -> [V; N] {
        let multiple = multiple(&Self::DIGITS, 60);
        let mut out = sum;
        unroll!(I < N => { out[I] = out[I].add(V::splat(multiple[I])); });
        out
    }
}

/// Columns N to 2 N - 1.
#[inline(always)]
pub(crate) fn upper<V: Vector, const N: usize>(c: &[V; 16]) -> [V; N] {
    let mut out = [V::zero(); N];
    unroll!(I < N => { out[I] = c[N + I]; });
    out
}

/// 2^exponent mod m, by doubling.
const fn power_of_two<const N: usize>(m: &[u64; N], exponent: usize) -> [u64; N] {
    let mut x = [0; N];
    x[0] = 1;
    let mut step = 0;
    while step < exponent {
        x = double(m, x);
        step += 1;
    }
    x
}

/// 2 x mod m for x < m.
const fn double<const N: usize>(m: &[u64; N], x: [u64; N]) -> [u64; N] {
    let mut twice = [0; N];
    let mut less = [0; N]; // 2 x - m
    let (mut carry, mut borrow) = (0, 0);
    let mut i = 0;
    while i < N {
        let digit = 2 * x[i] + carry;
        carry = digit >> 52;
        twice[i] = digit & DIGIT;
        let difference = twice[i].wrapping_sub(m[i]).wrapping_sub(borrow);
        borrow = difference >> 63;
        less[i] = difference & DIGIT;
        i += 1;
    }
    if borrow == 1 { twice } else { less }
}

/// k m as digits, the uppermost unbounded.
pub(crate) const fn multiple<const N: usize>(m: &[u64; N], k: u64) -> [u64; N] {
    let mut out = [0; N];
    let mut carry = 0_u128;
    let mut i = 0;
    while i < N {
        let digit = m[i] as u128 * k as u128 + carry;
        if i + 1 < N {
            out[i] = digit as u64 & DIGIT;
            carry = digit >> 52;
        } else {
            out[i] = digit as u64;
        }
        i += 1;
    }
    out
}
