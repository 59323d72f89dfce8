//! Numbers modulo q = 8380417 in signed 32 bits, 16 in a register.
//!
//! Numbers are reduced late. What each function takes and gives is written at it. This module's tests prove it for all numbers;
//! `ntt.rs` and `ring.rs` add the bounds up, and `tests.rs` proves the sums on intervals.

use super::Q;
use crate::vector::Digit;
use crate::vector::words::{WORDS, Words, digit};

/// 1/q mod 2^32.
pub(super) const Q_INVERSE: i32 = {
    let (mut inverse, mut i) = (1_i32, 0);
    while i < 5 {
        inverse = inverse.wrapping_mul(2_i32.wrapping_sub(Q.wrapping_mul(inverse)));
        i += 1;
    }
    inverse
};

/// A constant to multiply with, times 2^32 mod q, between -q/2 and q/2: and the same times 1/q mod 2^32.
#[derive(Clone, Copy)]
pub(super) struct Factor<T> {
    value: T,
    by_q: T,
}

impl Factor<i32> {
    /// That of a number: multiplying with it multiplies with the number.
    pub(super) const fn new(number: i64) -> Self {
        let q = Q as i64;
        let residue = (number.rem_euclid(q) * (1 << 32)) % q;
        let value = if residue > q / 2 {
            residue - q
        } else {
            residue
        } as i32;
        Factor {
            value,
            by_q: value.wrapping_mul(Q_INVERSE),
        }
    }

    #[inline(always)]
    pub(super) fn splat<W: Words>(self) -> Factor<W> {
        Factor {
            value: W::splat(self.value),
            by_q: W::splat(self.by_q),
        }
    }
}

/// One factor for each number.
pub(super) type Factors = Factor<Digit>;

impl Factors {
    pub(super) const fn of(factors: [Factor<i32>; WORDS]) -> Self {
        let (mut value, mut by_q) = ([0; WORDS], [0; WORDS]);
        let mut i = 0;
        while i < WORDS {
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
    pub(super) fn load<W: Words>(&self) -> Factor<W> {
        Factor {
            value: W::load(&self.value),
            by_q: W::load(&self.by_q),
        }
    }
}

/// `a` times the factor (Montgomery): within ±(q / 2 + |a| / 1024), for any `a`; so within ±0.76 q.
#[inline(always)]
pub(super) fn multiply<W: Words>(a: W, factor: Factor<W>) -> W {
    let quotient = a.mul_low(factor.by_q);
    let even = reduce_pairs(a.mul_even(factor.value), quotient);
    let odd = reduce_pairs(a.odd().mul_even(factor.value.odd()), quotient.odd());
    W::merge_high(even, odd)
}

/// The 64-bit numbers of the even and of the odd places over 2^32, modulo q: within ±(q / 2 + 1 + |number| / 2^32).
#[inline(always)]
pub(super) fn divide<W: Words>(even: W, odd: W) -> W {
    let inverse = W::splat(Q_INVERSE);
    let even = reduce_pairs(even, even.mul_low(inverse));
    let odd = reduce_pairs(odd, odd.mul_low(inverse));
    W::merge_high(even, odd)
}

/// 64-bit products less the multiples of q that make their low halves zero. The even numbers of `quotients` say which.
///
/// The quotients come from `mul_low`. Of `mul_even` nothing but the low halves would be used; LLVM notices, and computes
/// them with `vpmullq`, which is slow.
#[inline(always)]
fn reduce_pairs<W: Words>(products: W, quotients: W) -> W {
    products.sub_pairs(quotients.mul_even(W::splat(Q)))
}

/// The same number within ±0.76 q, for any `a`: `a` less the multiple of q that a / 2^23 rounds to.
#[inline(always)]
pub(super) fn reduce<W: Words>(a: W) -> W {
    let quotient = a.sar::<22>().add(W::splat(1)).sar::<1>();
    a.sub(quotient.mul_low(W::splat(Q)))
}

/// The same number from 0 to q - 1, for any `a`.
#[inline(always)]
pub(super) fn canonical<W: Words>(a: W) -> W {
    let a = reduce(a);
    a.add(a.sar::<31>().and(W::splat(Q)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::Vector;
    use crate::vector::words::{WordKernel, run_words, run_words_for_all, words};

    struct Reduce(Vec<i32>);

    impl WordKernel for Reduce {
        type Output = Vec<[i32; 3]>;

        #[inline(always)]
        fn run<V: Vector, W: Words>(self) -> Self::Output {
            let mut all = Vec::new();
            for numbers in self.0.chunks(WORDS) {
                let from = digit(core::array::from_fn(|i| *numbers.get(i).unwrap_or(&0)));
                let (mut reduced, mut least) = (Digit::ZERO, Digit::ZERO);
                reduce(W::load(&from)).store(&mut reduced);
                canonical(W::load(&from)).store(&mut least);
                let (reduced, least) = (words(&reduced), words(&least));
                all.extend((0..numbers.len()).map(|i| [numbers[i], reduced[i], least[i]]));
            }
            all
        }
    }

    /// Between two changes of the quotient, and of the reduced number's sign, both functions only subtract a constant. So
    /// the ends of these stretches stand for all numbers.
    #[test]
    fn all_numbers_are_reduced() {
        let (q, mut ends) = (i64::from(Q), vec![i32::MIN, i32::MAX]);
        for quotient in -257..=257_i64 {
            let from = (2 * quotient - 1) << 22;
            let around = [from, quotient * q].into_iter();
            let around = around.flat_map(|at| (at - 2)..=(at + 2));
            ends.extend(around.filter_map(|end| i32::try_from(end).ok()));
        }
        for row in run_words(Reduce(ends)).expect("lanes") {
            let [a, reduced, canonical] = row.map(i64::from);
            assert_eq!((a - reduced).rem_euclid(q), 0);
            assert!(100 * reduced.abs() < 76 * q, "{a} gives {reduced}");
            assert_eq!(canonical, a.rem_euclid(q));
        }
    }

    struct Multiply(Digit, Factor<i32>);

    impl WordKernel for Multiply {
        type Output = Digit;

        #[inline(always)]
        fn run<V: Vector, W: Words>(self) -> Digit {
            let mut to = Digit::ZERO;
            multiply(W::load(&self.0), self.1.splat()).store(&mut to);
            to
        }
    }

    #[test]
    fn products_are_right_and_small() {
        let q = i64::from(Q);
        let mut a = i32::MIN;
        for number in [1, 2, 1753, q / 2, q - 1, 1 << 32] {
            let factor = Factor::new(number);
            assert!(i64::from(factor.value).abs() <= q / 2);
            for _ in 0..1000 {
                let numbers: [i32; WORDS] =
                    core::array::from_fn(|i| a.wrapping_add((i as i32 / 2) << 27));
                a = a.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let products = run_words(Multiply(digit(numbers), factor)).expect("lanes");
                for (product, a) in words(&products).into_iter().zip(numbers) {
                    let (product, a) = (i64::from(product), i64::from(a));
                    assert_eq!((product - a * (number % q)).rem_euclid(q), 0);
                    assert!(product.abs() <= q / 2 + a.abs() / 1024 + 1);
                }
            }
        }
    }

    /// For all numbers and the largest factor at once.
    #[test]
    fn bounds_of_products() {
        let half = Q / 2;
        for limit in [0, Q, 1 << 29, i32::MAX] {
            for value in [half, -half] {
                let by_q = value.wrapping_mul(Q_INVERSE);
                let ends = digit(core::array::from_fn(|i| [limit, -limit][i % 2]));
                let product = run_words_for_all(Multiply(ends, Factor { value, by_q }));
                let most = i64::from(half) + i64::from(limit) / 1024 + 1;
                assert!(
                    words(&product)
                        .iter()
                        .all(|&end| i64::from(end).abs() <= most)
                );
            }
        }
    }
}
