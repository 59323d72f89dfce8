//! Polynomials modulo X^256 + 1 and q, and their products in the transform's domain (FIPS 204, sections 2.4 and 7.6).
//!
//! A polynomial is 16 vectors of 16 coefficients, in order.

use super::N;
use super::ntt::Inverse;
use super::numbers::{canonical, divide};
use crate::vector::words::{WORDS, WordKernel, WordMask, Words};
use crate::vector::{Digit, Vector};

/// Vectors of a polynomial.
pub(super) const VECTORS: usize = N / WORDS;

/// A polynomial in memory.
pub(super) type Polynomial = [Digit; VECTORS];

/// The polynomial 0.
pub(super) const ZERO: Polynomial = [Digit::ZERO; VECTORS];

/// The sum of products of `a` and `b`, divided by 2^32: within ±0.58 q.
///
/// `a` has coefficients from 0 to q, or is one polynomial within ±5.1 q; those of `b` are within ±5.1 q. A sum of seven products is at most
/// 36 q², and over 2^32 it is 0.071 q.
pub(super) struct Dot<'a> {
    pub(super) a: &'a [Polynomial],
    pub(super) b: &'a [Polynomial],
    pub(super) sum: &'a mut Polynomial,
}

impl WordKernel for Dot<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector, W: Words>(self) {
        for (g, to) in self.sum.iter_mut().enumerate() {
            let (mut even, mut odd) = (W::splat(0), W::splat(0));
            for (a, b) in self.a.iter().zip(self.b) {
                let (a, b) = (W::load(&a[g]), W::load(&b[g]));
                even = even.add_pairs(a.mul_even(b));
                odd = odd.add_pairs(a.odd().mul_even(b.odd()));
            }
            divide(even, odd).store(to);
        }
    }
}

/// The sum of products of transforms, out of the transform's domain: within ±0.76 q. Operands as for [`Dot`].
#[inline(always)]
pub(super) fn product<W: Words>(a: &[Polynomial], b: &[Polynomial], sum: &mut Polynomial) {
    W::call(Dot {
        a,
        b,
        sum: &mut *sum,
    });
    W::call(Inverse(sum));
}

/// `a + b`, from 0 to q - 1: the caller knows that no sum leaves 32 bits.
#[inline(always)]
pub(super) fn add<W: Words>(a: &mut Polynomial, b: &Polynomial) {
    for (a, b) in a.iter_mut().zip(b) {
        canonical(W::load(a).add(W::load(b))).store(a);
    }
}

/// `a - b`, from 0 to q - 1: the caller knows that no difference leaves 32 bits.
#[inline(always)]
pub(super) fn subtract<W: Words>(a: &mut Polynomial, b: &Polynomial) {
    for (a, b) in a.iter_mut().zip(b) {
        canonical(W::load(a).sub(W::load(b))).store(a);
    }
}

/// The numbers of a vector that are within ±(limit - 1).
#[inline(always)]
pub(super) fn within<W: Words>(a: W, limit: i32) -> WordMask {
    let from_zero = a.add(W::splat(limit - 1));
    from_zero.below(W::splat(2 * limit - 1))
}
