//! A scalar as a sum of odd digits, and why no formula ever meets its exception.
//!
//! An odd k in [1, n - 1] is written with m windows of w bits, k < 2^(w m), as
//!
//! ```text
//! k = Σ d_i 2^(w i),   d_i odd,   |d_i| < 2^w
//! d_i = 2 b_i + 1 - 2^w,   b_i = bits w i + 1 … w i + w of k + 2^(w m)
//! ```
//!
//! (Σ (1 - 2^w) 2^(w i) is 1 - 2^(w m), and Σ 2 b_i 2^(w i) is k + 2^(w m) - 1.) No digit is zero,
//! so the identity is never added, and digit and sign are a few instructions on k's bits. An even k
//! is replaced by n - k, which is odd, and the result's sign is changed.
//!
//! Points are added from the uppermost window down. Before d_i Q is added, where Q = 2^(w i) P, the
//! sum is A = Σ_{j>i} d_j 2^(w j) times P: divisible by 2^(w (i+1)), and positive because d_{m-1} is
//! (its window has the bit 2^(w m)).
//!
//! - The identity is never reached: A is positive and below 2 n, so it is ≡ 0 (mod n) only if it is
//!   n, which is odd; A is even, and at the end it is k itself.
//! - The addition's exception A ≡ ±d_i 2^(w i) (mod n) does not occur for i > 0: the difference
//!   A ∓ d_i 2^(w i) is divisible by 2^(w i) but not by 2^(w (i + 1)), hence not zero; and |it| is
//!   below 2^(w i) n, so it is not another multiple of the odd n either.
//! - For i = 0 the sum A + d_0 is k; the difference A - d_0 is k - 2 d_0, odd, so not zero, and a
//!   multiple of n only if it is n: k = n - 2 |d_0| with d_0 < 0. From k's expansion
//!   k ≡ d_0 + 2^w (mod 2^(w+1)), so n - 2 |d_0| ≡ 2^w - |d_0|, and |d_0| ≡ n - 2^w (mod 2^(w+1)):
//!   a number in (0, 2^w) only if bit w of n is set. [`exceptional`] tells; where it is
//!   so, the last addition has to choose the doubling in its stead.
//!
//! ```text
//!          instructions (none is a vpmadd52)      constant time
//! odd      5 N                                    in k, and in whether it is even: a blend chooses
//! digit    2 loads, 7 (the uppermost: 8)          in k: shift and address are those of the place
//! ```
//!
//! Bounds: `odd` takes a carried k in [1, n - 1] and gives a carried number there. A window starts at bit 51 of a digit
//! at most and has 7 bits at most: 58 of the 64 that a digit and the low 12 bits of the next one fill.
//! [`exceptional`] and [`Windows::of`] are reckoned from public constants when the crate is compiled.

use super::element::{Element, Sum};
use super::modulus::Modulus;
use crate::vector::{Digit, Mask, Vector};

/// Whether the last addition with windows of `width` bits may be a doubling, for some scalar.
pub(crate) const fn exceptional<const N: usize>(order: &[u64; N], width: usize) -> bool {
    order[0] >> width & 1 == 1
}

/// How a scalar is cut.
#[derive(Clone, Copy)]
pub(crate) struct Windows {
    /// Bits of a window.
    pub(crate) width: usize,
    pub(crate) count: usize,
}

impl Windows {
    /// As many windows of `width` bits as hold every scalar below a modulus of `bits` bits.
    pub(crate) const fn of(bits: usize, width: usize) -> Windows {
        Windows {
            width,
            count: bits.div_ceil(width),
        }
    }
}

/// k or n - k, whichever is odd, for k in [1, n - 1]; and the lanes where it is n - k.
#[inline(always)]
pub(crate) fn odd<V: Vector, M: Modulus<N>, const N: usize>(
    k: Element<V, M, N>,
) -> (Element<V, M, N>, Mask) {
    let even = !k.digits()[0].test(V::splat(1));
    let other = (Sum::multiple(1) - k).carry();
    (k.blend(even, other), even)
}

/// One digit of eight scalars: d = ±(2 index + 1).
#[derive(Clone, Copy)]
pub(crate) struct OddDigit<V> {
    pub(crate) index: V,
    pub(crate) negative: Mask,
}

/// Digit `i` of the odd scalars `k`.
#[inline(always)]
pub(crate) fn digit<V: Vector, const N: usize>(
    k: &[Digit; N],
    i: usize,
    Windows { width, count }: Windows,
) -> OddDigit<V> {
    let (start, shift) = ((width * i + 1) / 52, (width * i + 1) % 52);
    let mut bits = V::load(&k[start]);
    if start + 1 < N {
        bits = bits.or(V::load(&k[start + 1]).shl::<52>());
    }
    bits = bits.shr_by(V::splat(shift as u64));
    if i + 1 == count {
        bits = bits.or(V::splat(1 << (width - 1))); // 2^(w m)
    }
    OddDigit::of_bits(bits, width)
}

impl<V: Vector> OddDigit<V> {
    /// The digit that the `width` lowest bits b stand for.
    #[inline(always)]
    pub(crate) fn of_bits(bits: V, width: usize) -> Self {
        // b ≥ 2^(w-1): d = 2 (b - 2^(w-1)) + 1. Below, -d = 2 (2^(w-1) - 1 - b) + 1.
        let negative = !bits.test(V::splat(1 << (width - 1)));
        let flipped = bits.xor(V::splat(u64::MAX));
        OddDigit {
            index: bits
                .blend(negative, flipped)
                .and(V::splat((1 << (width - 1)) - 1)),
            negative,
        }
    }
}
