//! Polynomials modulo X^256 + 1 and q, and their products in the transform's domain (FIPS 203, sections 2.4 and 4.3).
//!
//! A polynomial is 8 vectors of 32 coefficients, in order; transformed, coefficients 2 i and 2 i + 1 are the number of degree 1 modulo
//! X^2 - γ_i. So a product of two such numbers a and b needs sums over pairs, which is what `vpdpwssd` does:
//!
//! ```text
//! a0 b0 + a1 γ b1     a, and b with its second half times γ
//! a0 b1 + a1 b0       a, and b with its halves in the other order
//! ```
//!
//! One factor is kept in these two forms. The 32-bit sums of up to four products are reduced at the end.

use super::shorts::{Factors, Q_INVERSE, canonical, multiply};
use super::{MOST, N, Q, ntt};
use crate::vector::shorts::{SHORTS, ShortKernel, Shorts};
use crate::vector::{Digit, Vector};

/// Vectors of a polynomial.
pub(super) const VECTORS: usize = N / SHORTS;

/// A polynomial in memory.
pub(super) type Polynomial = [Digit; VECTORS];

/// The polynomial 0.
pub(super) const ZERO: Polynomial = [Digit::ZERO; VECTORS];

/// A vector of polynomials, of which a parameter set uses the first k.
pub(super) type Polynomials = [Polynomial; MOST];

/// The second factor of products: both forms.
pub(super) struct Forms {
    straight: Polynomials,
    crossed: Polynomials,
}

impl Forms {
    pub(super) const ZERO: Forms = Forms {
        straight: [ZERO; MOST],
        crossed: [ZERO; MOST],
    };

    /// Sets factor `i`: a transformed polynomial, its coefficients within ±3329.
    #[inline(always)]
    pub(super) fn set<S: Shorts>(&mut self, i: usize, polynomial: &Polynomial) {
        for (g, from) in polynomial.iter().enumerate() {
            let from = S::load(from);
            multiply(from, GAMMAS[g].load()).store(&mut self.straight[i][g]);
            from.swap_pairs().store(&mut self.crossed[i][g]);
        }
    }
}

/// 1 and γ_i in turns.
static GAMMAS: [Factors; VECTORS] = {
    use super::shorts::Factor;
    let mut gammas = [Factors::of([Factor::raw(0); SHORTS]); VECTORS];
    let mut g = 0;
    while g < VECTORS {
        let mut factors = [Factor::new(1); SHORTS];
        let mut i = 1;
        while i < SHORTS {
            let pair = (SHORTS * g + i) / 2;
            factors[i] = Factor::new(ntt::power(2 * ntt::reversed(pair) + 1));
            i += 2;
        }
        gammas[g] = Factors::of(factors);
        g += 1;
    }
    gammas
};

/// The sum of products of `a`, coefficients from -4095 to 4095, and the factors: divided by 2^16, within ±2690.
///
/// A sum of four products of two terms is at most 8 · 4095 · 3329 < 2^27, which over 2^16 is 1664, and reducing adds
/// at most q / 2.
pub(super) struct Dot<'a> {
    pub(super) a: &'a [Polynomial],
    pub(super) b: &'a Forms,
    pub(super) sum: &'a mut Polynomial,
}

impl ShortKernel for Dot<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector, S: Shorts>(self) {
        for (g, to) in self.sum.iter_mut().enumerate() {
            let (mut low, mut high) = (S::splat(0), S::splat(0));
            for (i, a) in self.a.iter().enumerate() {
                let a = S::load(&a[g]);
                low = low.add_dot(a, S::load(&self.b.straight[i][g]));
                high = high.add_dot(a, S::load(&self.b.crossed[i][g]));
            }
            let low = divide(low).shr_pairs();
            low.or(divide(high)).store(to);
        }
    }
}

/// Each pair as a 32-bit number less what makes its low half zero: the high half is the number over 2^16.
#[inline(always)]
fn divide<S: Shorts>(sum: S) -> S {
    // In the low halves alone: 0 in the high ones.
    let low_halves = |value: i16| S::load(&const_pairs(value));
    let quotient = sum.mul_low(low_halves(Q_INVERSE));
    let product = S::splat(0).add_dot(quotient, low_halves(Q));
    sum.sub_pairs(product)
}

/// A number in the low half of each pair.
#[inline(always)]
fn const_pairs(value: i16) -> Digit {
    let low = value.cast_unsigned() as u64;
    Digit::splat(low | low << 32)
}

/// `a + b`: the caller knows that no sum leaves 16 bits.
#[inline(always)]
pub(super) fn add<S: Shorts>(a: &mut Polynomial, b: &Polynomial) {
    for (a, b) in a.iter_mut().zip(b) {
        S::load(a).add(S::load(b)).store(a);
    }
}

/// `b - a` into `a`: the caller knows that no difference leaves 16 bits.
#[inline(always)]
pub(super) fn subtract_from<S: Shorts>(a: &mut Polynomial, b: &Polynomial) {
    for (a, b) in a.iter_mut().zip(b) {
        S::load(b).sub(S::load(a)).store(a);
    }
}

/// All coefficients from 0 to q - 1.
#[inline(always)]
pub(super) fn make_canonical<S: Shorts>(a: &mut Polynomial) {
    for a in a.iter_mut() {
        canonical(S::load(a)).store(a);
    }
}
