//! Eight inversions for one.
//!
//! A power chain for x^(p - 2) is 254 squarings, each of which waits for the one before: the
//! multipliers idle. So the eight elements are multiplied together, the product is inverted with
//! scalar instructions ([`safegcd`]), and each gets its inverse by multiplying with the other
//! seven. A butterfly does it: after level n, each lane holds the product of its 2^n neighbours,
//! and the other half of the next level is one permutation away.
//!
//! 7 multiplications and one scalar inversion instead of 254 squarings and 12 multiplications.
//! Constant time. A lane that holds zero is replaced by one, so that it cannot harm the others.
//!
//! A mistake of the processor in what the lanes share would spoil all eight. So each inverse is tried
//! on its element, and where one is wrong all are made again by the power chain, each lane for
//! itself. What else goes wrong stays in its lane.

use super::field::{DIGITS, Element, ONE, ZERO};
use super::safegcd;
use super::words::Words;
use crate::checks::Check;
use crate::vector::{Digit, Kernel, Mask, Vector, told};
use zeroize::{Zeroize, Zeroizing};

/// The lane whose number differs in one bit.
pub(super) const NEIGHBOUR: [Digit; 3] = [
    Digit([1, 0, 3, 2, 5, 4, 7, 6]),
    Digit([2, 3, 0, 1, 6, 7, 4, 5]),
    Digit([4, 5, 6, 7, 0, 1, 2, 3]),
];

/// The inverse in each lane; zero in lanes that are zero.
#[inline(always)]
pub(crate) fn invert<V: Vector>(elements: Element<V>) -> Element<V> {
    let one = Element::constant(&ONE);
    let zeros = elements.is_zero();
    let elements = elements.blend(zeros, one);
    let mut inverses = invert_together(elements);
    let product = elements.mul_raised::<1>(inverses);
    // Always so but for a fault: the branch tells nothing else.
    let right = product.sub(one.columns()).carry().is_zero();
    if told(Check::SharedInverse.verdict(right)) != Mask::MAX {
        let mut digits = [Digit::ZERO; DIGITS];
        elements.store(&mut digits);
        inverses = Element::load(&V::call(InvertAlone(&digits)));
        digits.zeroize();
    }
    inverses.blend(zeros, Element::constant(&ZERO))
}

/// The inverse of lane 0's element in all lanes; zero if it is zero. Nothing mends a mistake here: the caller's check has to
/// find it.
#[inline(always)]
pub(super) fn invert_first<V: Vector>(elements: Element<V>) -> Element<V> {
    let words = Zeroizing::new(elements.to_words());
    let inverse = Zeroizing::new(Words::splat(safegcd::invert(words.lane(0))));
    Element::from_words(&inverse)
}

/// The inverses of elements that are not zero, by one inversion of their product.
#[inline(always)]
fn invert_together<V: Vector>(elements: Element<V>) -> Element<V> {
    let next = V::load(&NEIGHBOUR[0]);
    let next_pair = V::load(&NEIGHBOUR[1]);
    let next_four = V::load(&NEIGHBOUR[2]);

    let other = elements.permute(next);
    let pairs = elements.mul(other).carry();
    let other_pair = pairs.permute(next_pair);
    let fours = pairs.mul(other_pair).carry();
    let other_four = fours.permute(next_four);
    let all = fours.mul(other_four).carry();

    let inverse = safegcd::invert(all.to_words().lane(0));
    let inverse = Words(inverse.map(Digit::splat));
    let others = other.mul(other_pair).carry().mul(other_four).carry();
    others.mul(Element::from_words(&inverse)).carry()
}

/// x^(p - 2), the inverse of each lane's x: 3 + 8 (p - 5) / 8 = p - 2.
struct InvertAlone<'a>(&'a [Digit; DIGITS]);

impl Kernel for InvertAlone<'_> {
    type Output = [Digit; DIGITS];

    #[inline(always)]
    fn run<V: Vector>(self) -> Self::Output {
        let x = Element::<V>::load(self.0);
        let cube = x.square().carry().mul(x).carry();
        let inverse = x.power_for_root().square_times(3).mul(cube).carry();
        let mut digits = [Digit::ZERO; DIGITS];
        inverse.store(&mut digits);
        digits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::run;

    /// Together, and each lane for itself.
    struct Both(Words);

    impl Kernel for Both {
        type Output = [Words; 2];

        #[inline(always)]
        fn run<V: Vector>(self) -> [Words; 2] {
            let x = Element::<V>::from_words(&self.0);
            let mut digits = [Digit::ZERO; DIGITS];
            x.store(&mut digits);
            let alone = Element::<V>::load(&V::call(InvertAlone(&digits)));
            [invert(x).to_words(), alone.to_words()]
        }
    }

    #[test]
    fn together_and_alone_agree() {
        let minus_one = [u64::MAX - 19, u64::MAX, u64::MAX, u64::MAX >> 1];
        let numbers = [
            [0; 4],
            [1, 0, 0, 0],
            [2, 0, 0, 0],
            minus_one,
            [7; 4],
            [0; 4],
            [9, 8, 7, 6],
            [1; 4],
        ];
        let x = Words(core::array::from_fn(|i| {
            Digit(core::array::from_fn(|lane| numbers[lane][i]))
        }));
        let [together, alone] = run(Both(x)).expect("the lanes or their emulation");
        assert_eq!(together, alone);
        assert_eq!(
            [together.lane(0), together.lane(1), together.lane(3)],
            [[0; 4], numbers[1], minus_one]
        );
    }
}
