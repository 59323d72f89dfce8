//! The field of p = 2^255 - 19 for one operation: eight of its numbers, one a lane, in radix 2^51.
//!
//! What counts here is how long a product waits for the one before. Five digits of 51 bits hold 255: the digits of a
//! product carry side by side, each into its neighbour, and what leaves the last comes back times 19. One such carry is
//! enough, where radix 2^52 lets it ripple through four digits.
//!
//! # Bounds
//! * [`Element`]: what can be multiplied. Digits are below 2^51 + 2^23, so `vpmadd52` reads all of their bits. (The sum of
//!   two such digits may exceed 52 bits, of which it would read only the lowest. So sums are taken of columns.)
//! * [`Columns`]: below 2^59.3 after a product, below 2^61 always.
//!
//! Column k of a product is the sum of lo(a_i b_j) over i + j = k, each below 2^52, and of 2 hi(a_i b_j) over
//! i + j = k - 1, as 2^52 is 2 * 2^51, each below 2^51 (1 + 2^-27). Columns 5 to 9 are worth 19 times as much as
//! columns 0 to 4. Column k and column k + 5 together have the five terms lo and the five terms 2 hi of each digit's
//! row, so that a column is below 19 * 5 * (2^52 + 2^51 (1 + 2^-27)) < 2^59.2.
//!
//! The tests run all formulas on intervals (`bounds.rs`).
//!
//! Everything is constant time.

use crate::curve25519::field::{DIGITS, check, five};
use crate::curve25519::words::Words;
use crate::vector::{Mask, Vector};

/// The low 51 bits.
const LOW: u64 = (1 << 51) - 1;

/// What a digit of an element is at most.
pub(crate) const MOST: u64 = (1 << 51) + (1 << 23) - 1;

/// 2^255 mod p.
const FOLD: u64 = 19;

/// 2^9 p: each digit is at least 2^60 - 19 * 2^9, which is more than any column of a product.
const RAISE: [u64; DIGITS] = [(LOW - 18) << 9, LOW << 9, LOW << 9, LOW << 9, LOW << 9];

/// Eight numbers that can be multiplied. Not reduced to the smallest representative.
#[derive(Clone, Copy)]
pub(crate) struct Element<V>(pub(crate) [V; DIGITS]);

/// Eight products, or sums or differences of two, uncarried.
#[derive(Clone, Copy)]
pub(crate) struct Columns<V>(pub(crate) [V; DIGITS]);

impl<V: Vector> Element<V> {
    /// From the low 255 bits of each number. It may be p or above.
    #[inline(always)]
    pub(crate) fn from_words(words: &Words) -> Self {
        let [w0, w1, w2, w3] = &words.0;
        let [w0, w1, w2, w3] = [V::load(w0), V::load(w1), V::load(w2), V::load(w3)];
        let low = V::splat(LOW);
        Element([
            w0.and(low),
            w0.shr::<51>().or(w1.shl::<13>()).and(low),
            w1.shr::<38>().or(w2.shl::<26>()).and(low),
            w2.shr::<25>().or(w3.shl::<39>()).and(low),
            w3.shr::<12>().and(low),
        ])
    }

    /// The smallest representatives.
    #[inline(always)]
    pub(crate) fn to_words(self) -> Words {
        let low = V::splat(LOW);
        let mut d = self.0;
        // After the first turn the value is below 2^255 + 2^6, after the second below 2^255.
        for _ in 0..2 {
            for i in 0..DIGITS - 1 {
                d[i + 1] = d[i + 1].add(d[i].shr::<51>());
                d[i] = d[i].and(low);
            }
            d[0] = d[0].madlo(d[4].shr::<51>(), V::splat(FOLD));
            d[4] = d[4].and(low);
        }
        // So it is p or above exactly when 19 more has bit 255: then that, without the bit, is the value less p.
        let mut carry = d[0].add(V::splat(FOLD)).shr::<51>();
        for i in 1..DIGITS {
            carry = d[i].add(carry).shr::<51>();
        }
        d[0] = d[0].madlo(carry, V::splat(FOLD));
        for i in 0..DIGITS - 1 {
            d[i + 1] = d[i + 1].add(d[i].shr::<51>());
            d[i] = d[i].and(low);
        }
        let [d0, d1, d2, d3, d4] = d;
        let d4 = d4.and(low);
        let mut words = Words::ZERO;
        d0.or(d1.shl::<51>()).store(&mut words.0[0]);
        d1.shr::<13>().or(d2.shl::<38>()).store(&mut words.0[1]);
        d2.shr::<26>().or(d3.shl::<25>()).store(&mut words.0[2]);
        d3.shr::<39>().or(d4.shl::<12>()).store(&mut words.0[3]);
        words
    }

    /// Each lane takes the lane of `self` that `from` names.
    #[inline(always)]
    pub(crate) fn permute(self, from: V) -> Self {
        Element(five!(|i| self.0[i].permute(from)))
    }

    /// Lane by lane: `self` where the bit is clear, `other` where it is set.
    #[inline(always)]
    pub(crate) fn blend(self, mask: Mask, other: Self) -> Self {
        Element(five!(|i| self.0[i].blend(mask, other.0[i])))
    }

    /// `self + factor * small`, where the lanes of `small` are below 2^17: carried.
    #[inline(always)]
    pub(crate) fn add_multiple(self, factor: Self, small: V) -> Self {
        // Not by accumulating: the factor is there before `self`.
        let sums = five!(|i| self.0[i].add(V::zero().madlo(factor.0[i], small)));
        let above = five!(|i| {
            let high = V::zero().madhi(factor.0[i], small);
            high.add(high).add(sums[i].shr::<51>())
        });
        carried(five!(|i| sums[i].and(V::splat(LOW))), above)
    }

    /// The products. The digits of `other` may come later the lower they are: they are wanted last.
    ///
    /// In this order, which a random search found best on Zen 5, no sum waits long for its last term.
    #[inline(always)]
    pub(crate) fn mul(self, other: Self) -> Columns<V> {
        let (a, b) = (self.0, other.0);
        let mut low = [V::zero(); 2 * DIGITS];
        let mut high = [V::zero(); 2 * DIGITS];
        macro_rules! terms {
            ($($half:ident $i:literal $j:literal),* $(,)?) => {$(
                terms!(@ $half $i $j);
            )*};
            (@ h $i:literal $j:literal) => {
                high[$i + $j + 1] = high[$i + $j + 1].madhi_in_order(a[$i], b[$j]);
            };
            (@ l $i:literal $j:literal) => {
                low[$i + $j] = low[$i + $j].madlo_in_order(a[$i], b[$j]);
            };
        }
        terms!(
            h 1 1, l 1 1, h 2 1, h 2 2, h 1 2, l 2 1, l 2 2, l 1 2, h 1 3, h 3 1, h 3 3, h 3 2, h 2 3,
            l 3 2, l 3 3, l 3 1, l 1 3, l 2 3, h 4 3, h 3 4, h 1 4, h 4 4, h 4 1, h 2 4, h 4 2, l 4 1,
            l 3 4, l 4 4, l 4 2, l 1 4, l 4 3, l 2 4, h 0 2, h 0 0, h 0 3, h 3 0, h 2 0, h 4 0, h 0 1,
            h 1 0, h 0 4, l 2 0, l 0 4, l 0 3, l 3 0, l 4 0, l 0 2, l 0 1, l 0 0, l 1 0,
        );
        Columns(five!(|i| {
            let column = |k: usize| low[k].add(high[k].add(high[k]));
            column(i).add(column(i + DIGITS).mul_low(V::splat(FOLD)))
        }))
    }
}

impl<V: Vector> Columns<V> {
    /// In the lanes of `differences` the neighbour (lanes 0 and 1, 2 and 3, ...) less `self`, in the others the sum of
    /// both, or where `alone`, `self`.
    #[inline(always)]
    pub(crate) fn with_neighbours(self, differences: Mask, alone: Mask) -> Element<V> {
        Columns(five!(|i| {
            let own = self.0[i];
            let other = own.permute_halves::<0b10_11_00_01>();
            let own = own.blend(differences, V::splat(RAISE[i]).sub(own));
            other.add(own).blend(alone, own)
        }))
        .carry()
    }

    #[inline(always)]
    pub(crate) fn carry(self) -> Element<V> {
        let low = five!(|i| self.0[i].and(V::splat(LOW)));
        carried(low, five!(|i| self.0[i].shr::<51>()))
    }
}

/// Digits with what is above each in the next.
#[inline(always)]
fn carried<V: Vector>(low: [V; DIGITS], above: [V; DIGITS]) -> Element<V> {
    let digits = [
        low[0].madlo(above[4], V::splat(FOLD)),
        low[1].add(above[0]),
        low[2].add(above[1]),
        low[3].add(above[2]),
        low[4].add(above[3]),
    ];
    for digit in digits {
        check(digit, MOST);
    }
    Element(digits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve25519::field;
    use crate::vector::{self, Digit, Kernel};

    /// The largest digits, and values around p and 2^255.
    const EDGES: [[u64; DIGITS]; 7] = [
        [MOST; DIGITS],
        [LOW; DIGITS],
        [LOW - 18, LOW, LOW, LOW, LOW],
        [LOW - 19, LOW, LOW, LOW, LOW],
        [0, 0, 0, 0, LOW + 1],
        [MOST, 0, MOST, 0, MOST],
        [1, 0, 0, 0, 0],
    ];

    /// Each formula twice on a pair: here, and in the batch's field on the smallest representatives.
    struct Formulas([u64; DIGITS], [u64; DIGITS]);

    impl Kernel for Formulas {
        type Output = [[Words; 2]; 5];

        #[inline(always)]
        fn run<V: Vector>(self) -> Self::Output {
            // Even lanes have the first, odd lanes the second.
            let alternate =
                |even: u64, odd: u64| Digit([even, odd, even, odd, even, odd, even, odd]);
            let both = Element(five!(|i| V::load(&alternate(self.0[i], self.1[i]))));
            let neighbours = both.permute(V::load(&Digit([1, 0, 3, 2, 5, 4, 7, 6])));
            let a = field::Element::<V>::from_words(&both.to_words());
            let b = field::Element::<V>::from_words(&neighbours.to_words());
            let square = |x: field::Element<V>| x.square_raised::<1>();
            let sum = square(a).add(b.square());
            // In lane 1 they are b and a.
            let difference = square(b).sub(a.square());
            let small = V::splat(121_665);
            [
                [
                    both.mul(neighbours).carry().to_words(),
                    a.mul(b).carry().to_words(),
                ],
                [
                    both.mul(both).carry().to_words(),
                    square(a).carry().to_words(),
                ],
                [
                    both.mul(both).with_neighbours(0b1010_1010, 0).to_words(),
                    sum.carry()
                        .blend(0b1010_1010, difference.carry())
                        .to_words(),
                ],
                [
                    both.mul(both)
                        .with_neighbours(0b1000_1010, 0b0011_0000)
                        .to_words(),
                    sum.carry()
                        .blend(0b1000_1010, difference.carry())
                        .blend(0b0011_0000, square(a).carry())
                        .to_words(),
                ],
                [
                    both.add_multiple(neighbours, small).to_words(),
                    a.columns().add_multiple(b, 121_665).carry().to_words(),
                ],
            ]
        }
    }

    /// Digits as large as they may be lose nothing: an excess over a bound would show as a wrong number.
    #[test]
    fn largest_digits() {
        for a in EDGES {
            for b in EDGES {
                let results = vector::run(Formulas(a, b)).expect("the lanes or their emulation");
                for (i, [left, right]) in results.iter().enumerate() {
                    assert_eq!(left, right, "formula {i} on {a:x?}, {b:x?}");
                }
            }
        }
    }
}
