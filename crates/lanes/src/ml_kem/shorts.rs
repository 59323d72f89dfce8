//! Numbers modulo q = 3329 in signed 16 bits, 32 in a register.
//!
//! Numbers are reduced late. What each function takes and gives is written at it, and the tests of this module try all numbers;
//! `ntt.rs` and `ring.rs` add them up.

use super::Q;
use crate::vector::Digit;
use crate::vector::shorts::{SHORTS, Shorts, digit};

/// 1/q mod 2^16.
pub(super) const Q_INVERSE: i16 = -3327;

/// A constant to multiply with, times 2^16 mod q, between -q/2 and q/2: and the same times 1/q mod 2^16.
#[derive(Clone, Copy)]
pub(super) struct Factor<T> {
    value: T,
    by_q: T,
}

impl Factor<i16> {
    /// That of a number: multiplying with it multiplies with the number.
    pub(super) const fn new(number: i64) -> Self {
        Self::raw(number * (1 << 16))
    }

    /// Multiplying with it multiplies with the number and divides by 2^16.
    pub(super) const fn raw(number: i64) -> Self {
        let q = Q as i64;
        let residue = ((number % q) + q) % q;
        let value = if residue > q / 2 {
            residue - q
        } else {
            residue
        } as i16;
        Factor {
            value,
            by_q: value.wrapping_mul(Q_INVERSE),
        }
    }

    #[inline(always)]
    pub(super) fn splat<S: Shorts>(self) -> Factor<S> {
        Factor {
            value: S::splat(self.value),
            by_q: S::splat(self.by_q),
        }
    }
}

/// One factor for each number.
pub(super) type Factors = Factor<Digit>;

impl Factors {
    pub(super) const fn of(factors: [Factor<i16>; SHORTS]) -> Self {
        let (mut value, mut by_q) = ([0; SHORTS], [0; SHORTS]);
        let mut i = 0;
        while i < SHORTS {
            value[i] = factors[i].value;
            by_q[i] = factors[i].by_q;
            i += 1;
        }
        Factor {
            value: digit(value),
            by_q: digit(by_q),
        }
    }

    #[inline(always)]
    pub(super) fn load<S: Shorts>(&self) -> Factor<S> {
        Factor {
            value: S::load(&self.value),
            by_q: S::load(&self.by_q),
        }
    }
}

/// `a` times the factor (Montgomery): within ±(1665 + |a| / 39), for any `a`.
#[inline(always)]
pub(super) fn multiply<S: Shorts>(a: S, factor: Factor<S>) -> S {
    let quotient = a.mul_low(factor.by_q);
    let high = a.mul_high(factor.value);
    high.sub(quotient.mul_high(S::splat(Q)))
}

/// The same number within ±2187, for any `a`: `a` less the multiple of q that a / 3276.8 rounds to.
#[inline(always)]
pub(super) fn reduce<S: Shorts>(a: S) -> S {
    let quotient = a.mul_round(S::splat(10));
    a.sub(quotient.mul_low(S::splat(Q)))
}

/// The same number from 0 to q - 1, for any `a`.
#[inline(always)]
pub(super) fn canonical<S: Shorts>(a: S) -> S {
    let a = reduce(a);
    a.add(a.sign().and(S::splat(Q)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::Vector;
    use crate::vector::shorts::{ShortKernel, run_shorts, shorts};

    struct All(fn(i16) -> [i16; SHORTS], Factor<i16>);

    impl ShortKernel for All {
        type Output = Vec<[i16; 4]>;

        /// Each number, with what the three functions make of it.
        #[inline(always)]
        fn run<V: Vector, S: Shorts>(self) -> Self::Output {
            let mut all = Vec::new();
            let out = |s: S| {
                let mut to = Digit::ZERO;
                s.store(&mut to);
                shorts(&to).map(u16::cast_signed)
            };
            for start in (i16::MIN..=i16::MAX).step_by(SHORTS) {
                let numbers = self.0(start);
                let a = S::load(&digit(numbers));
                let product = out(multiply(a, self.1.splat()));
                let (reduced, canonical) = (out(reduce(a)), out(canonical(a)));
                for i in 0..SHORTS {
                    all.push([numbers[i], product[i], reduced[i], canonical[i]]);
                }
            }
            all
        }
    }

    fn from(start: i16) -> [i16; SHORTS] {
        core::array::from_fn(|i| start + i as i16)
    }

    /// All numbers, all factors that the transform has, and the two others.
    #[test]
    fn all_numbers() {
        let (q, r) = (i64::from(Q), 1_i64 << 16);
        for number in [1, 17, 1664, 1665, 3328, 2 * 1353, 1441, r, r * r / 128 % q] {
            let all = run_shorts(All(from, Factor::new(number))).expect("lanes");
            assert_eq!(all.len(), 1 << 16);
            for [a, product, reduced, canonical] in all.iter().map(|row| row.map(i64::from)) {
                assert_eq!((product - a * number).rem_euclid(q), 0);
                assert!(
                    product.abs() <= 1665 + a.abs() / 39 + 1,
                    "{a} gives {product}"
                );
                assert_eq!((reduced - a).rem_euclid(q), 0);
                assert!(reduced.abs() <= 2187, "{a} gives {reduced}");
                assert_eq!(canonical, a.rem_euclid(q));
            }
        }
    }
}
