//! The field of p = 2^255 - 19: eight elements at once, in radix 2^52.
//!
//! Five digits hold 260 bits; 2^260 = 32 * 19 = 608 (mod p) and 2^255 = 19 (mod p).
//!
//! # Two types, so that bounds hold by construction
//! * [`Element`]: what can be multiplied. Bits above 52 of the digits 0 to 3 are garbage: the
//!   multiplier ignores them, so carrying needs no masks. Digit 4 has none: it is below
//!   2^47 + 2^15. The value is below 2^255 + 2^224.
//! * [`Columns`]: a product, or a sum or difference of a few, before its carries. Each column is
//!   below 2^56 after a product and below 2^62 always. Sums are taken here, on columns, because an
//!   `Element` would need its own carry before and another one after.
//!
//! A difference must not go below zero, so its minuend is *raised*: a multiple of p, each of whose
//! digits exceeds 2^57 (or 2^58, 2^59) is added. That is free: the product starts from it.
//!
//! # Product
//! Column k is the sum of lo(a_i b_j) over i + j = k and hi(a_i b_j) over i + j = k - 1: at most 9
//! terms below 2^52, so below 2^55.2. Columns 5 to 9 are carried, c_(k+1) += c_k >> 52, and folded:
//! lo(608 c_k) into column k - 5, hi(608 c_k) into column k - 4. As a b < 2^510 (1 + 2^-30),
//! c_9 = a b / 2^468 < 2^42.1 and 608 c_9 < 2^52: it has no high half and the fold ends here.
//! The columns left are below 11 * 2^52 < 2^56.
//!
//! Instructions: 50 multiply-adds, 8 to carry, 9 to fold: 67. A square has 30 multiply-adds and 8
//! doublings: 55. A carry takes 11. (In radix 2^51 the additions could be lazy, but high halves
//! must be doubled, masks are needed, and digits reach 2^52 anyway by a hair: it came to 5 % more.)
//!
//! Everything is constant time.

// The formulas are in indices.
#![allow(clippy::manual_memcpy)]

use super::words::Words;
use crate::vector::{DIGIT, Digit, Mask, Vector};

/// An array of five, from an expression in the index. (`array::map` and `from_fn` are calls, which
/// the compiler may leave in place, without the processor features of the caller.)
macro_rules! five {
    (|$i:ident| $element:expr) => {
        [
            {
                let $i = 0;
                $element
            },
            {
                let $i = 1;
                $element
            },
            {
                let $i = 2;
                $element
            },
            {
                let $i = 3;
                $element
            },
            {
                let $i = 4;
                $element
            },
        ]
    };
}
pub(crate) use five;

/// Digits of an element.
pub(crate) const DIGITS: usize = 5;

/// 2^260 mod p: what the digits above the fifth are worth.
const FOLD: u64 = 608;

/// What the last digit of an element is at most.
const MOST_OF_LAST: u64 = (1 << 47) + (1 << 15) - 1;

/// A multiple of p; each digit is at least 2^57 and below 2^57 + 2^52.
const RAISE: [u64; DIGITS] = [
    0x020f_ffff_ffff_b3ed,
    0x020f_ffff_ffff_ffdf,
    0x020f_ffff_ffff_ffdf,
    0x020f_ffff_ffff_ffdf,
    0x0200_7fff_ffff_ffdf,
];

/// Eight elements that can be multiplied. Not reduced to the smallest representative.
#[derive(Clone, Copy)]
pub(crate) struct Element<V>([V; DIGITS]);

/// Eight sums of products, uncarried.
#[derive(Clone, Copy)]
pub(crate) struct Columns<V>([V; DIGITS]);

/// A constant of the field in all lanes: its five digits.
pub(crate) type Constant = [u64; DIGITS];

pub(crate) const ZERO: Constant = [0; DIGITS];
pub(crate) const ONE: Constant = [1, 0, 0, 0, 0];
pub(crate) const TWO: Constant = [2, 0, 0, 0, 0];

impl<V: Vector> Element<V> {
    #[inline(always)]
    pub(crate) fn constant(digits: &Constant) -> Self {
        Element(five!(|i| V::splat(digits[i])))
    }

    /// From digits; those above 52 bits are ignored, except in the last, which is below 2^47 +
    /// 2^15.
    #[inline(always)]
    pub(crate) fn from_digits(digits: [V; DIGITS]) -> Self {
        Element(digits)
    }

    #[inline(always)]
    pub(crate) fn load(from: &[Digit; DIGITS]) -> Self {
        Element(five!(|i| V::load(&from[i])))
    }

    #[inline(always)]
    pub(crate) fn store(self, to: &mut [Digit; DIGITS]) {
        for i in 0..DIGITS {
            self.0[i].store(&mut to[i]);
        }
    }

    /// From the low 255 bits of each number. It may be p or above.
    #[inline(always)]
    pub(crate) fn from_words(words: &Words) -> Self {
        Element(words.unpack())
    }

    /// The smallest representatives.
    #[inline(always)]
    pub(crate) fn to_words(self) -> Words {
        Words::pack(self.reduce())
    }

    /// The digits of the smallest representatives, without garbage above.
    #[inline(always)]
    fn reduce(self) -> [V; DIGITS] {
        let digit = V::splat(DIGIT);
        let mut d = self.0;
        for i in 0..4 {
            d[i] = d[i].and(digit);
        }
        // The value x is below 2p, so x >= p exactly when x + 19 has bit 255: then x + 19 - 2^255
        // is x - p.
        let mut carry = d[0].add(V::splat(19)).shr::<52>();
        for i in 1..4 {
            carry = d[i].add(carry).shr::<52>();
        }
        let above = d[4].add(carry).shr::<47>();
        d[0] = d[0].madlo(above, V::splat(19));
        for i in 0..4 {
            d[i + 1] = d[i + 1].add(d[i].shr::<52>());
            d[i] = d[i].and(digit);
        }
        d[4] = d[4].and(V::splat((1 << 47) - 1));
        d
    }

    /// The lanes that are zero (mod p).
    #[inline(always)]
    pub(crate) fn is_zero(self) -> Mask {
        let [d0, d1, d2, d3, d4] = self.reduce();
        d0.or(d1).or(d2).or(d3).or(d4).eq(V::zero())
    }

    /// The lanes whose smallest representative is odd.
    #[inline(always)]
    pub(crate) fn is_odd(self) -> Mask {
        self.reduce()[0].test(V::splat(1))
    }

    #[inline(always)]
    pub(crate) fn mul(self, other: Self) -> Columns<V> {
        product([V::zero(); DIGITS], self, other)
    }

    /// The product, raised by `LEVEL` * 2^57.
    #[inline(always)]
    pub(crate) fn mul_raised<const LEVEL: u64>(self, other: Self) -> Columns<V> {
        product(raise::<V, LEVEL>(), self, other)
    }

    #[inline(always)]
    pub(crate) fn square(self) -> Columns<V> {
        square([V::zero(); DIGITS], self)
    }

    /// The square, raised by `LEVEL` * 2^57.
    #[inline(always)]
    pub(crate) fn square_raised<const LEVEL: u64>(self) -> Columns<V> {
        square(raise::<V, LEVEL>(), self)
    }

    /// x^(2^`times`).
    #[inline(always)]
    pub(crate) fn square_times(self, times: u32) -> Self {
        let mut x = self;
        for _ in 0..times {
            x = x.square().carry();
        }
        x
    }

    /// x^((p - 5) / 8) = x^(2^252 - 3), the heart of a square root.
    #[inline(always)]
    pub(crate) fn power_for_root(self) -> Self {
        // ones_n = x^(2^n - 1).
        let x = self;
        let x2 = x.square().carry();
        let x9 = x2.square_times(2).mul(x).carry();
        let x11 = x9.mul(x2).carry();
        let ones5 = x11.square().carry().mul(x9).carry();
        let ones10 = ones5.square_times(5).mul(ones5).carry();
        let ones20 = ones10.square_times(10).mul(ones10).carry();
        let ones40 = ones20.square_times(20).mul(ones20).carry();
        let ones50 = ones40.square_times(10).mul(ones10).carry();
        let ones100 = ones50.square_times(50).mul(ones50).carry();
        let ones200 = ones100.square_times(100).mul(ones100).carry();
        let ones250 = ones200.square_times(50).mul(ones50).carry();
        ones250.square_times(2).mul(x).carry()
    }

    /// Its digits as columns, so that it can be added.
    #[inline(always)]
    pub(crate) fn columns(self) -> Columns<V> {
        let digit = V::splat(DIGIT);
        let [d0, d1, d2, d3, d4] = self.0;
        Columns([
            d0.and(digit),
            d1.and(digit),
            d2.and(digit),
            d3.and(digit),
            d4,
        ])
    }

    #[inline(always)]
    pub(crate) fn negate(self) -> Self {
        Columns(raise::<V, 1>()).sub(self.columns()).carry()
    }

    /// Lane by lane: `self` where the bit is clear, `other` where it is set.
    #[inline(always)]
    pub(crate) fn blend(self, mask: Mask, other: Self) -> Self {
        Element(five!(|i| self.0[i].blend(mask, other.0[i])))
    }

    /// Lane by lane: the lane of `self` that `lane` (0 to 7) names.
    #[inline(always)]
    pub(crate) fn permute(self, lane: V) -> Self {
        Element(five!(|i| self.0[i].permute(lane)))
    }
}

impl<V: Vector> Columns<V> {
    #[inline(always)]
    pub(crate) fn add(self, other: Self) -> Self {
        Columns(five!(|i| self.0[i].add(other.0[i])))
    }

    /// The difference. `self` is raised above `other`: by 1 for one product, by 4 for a sum of four
    /// columns of which one may itself be raised by 1.
    #[inline(always)]
    pub(crate) fn sub(self, other: Self) -> Self {
        Columns(five!(|i| self.0[i].sub(other.0[i])))
    }

    #[inline(always)]
    pub(crate) fn double(self) -> Self {
        self.add(self)
    }

    /// Adds `LEVEL` * 2^57, zero (mod p).
    #[inline(always)]
    pub(crate) fn raise<const LEVEL: u64>(self) -> Self {
        self.add(Columns(raise::<V, LEVEL>()))
    }

    /// `self + factor * small`, where `small` is below 2^40.
    #[inline(always)]
    pub(crate) fn add_multiple(self, factor: Element<V>, small: u64) -> Self {
        let small = V::splat(small);
        let a = factor.0;
        let c = self.0;
        let above = V::zero().madhi(a[4], small); // Worth 2^260.
        check(above, DIGIT / FOLD);
        Columns([
            c[0].madlo(a[0], small).madlo(above, V::splat(FOLD)),
            c[1].madlo(a[1], small).madhi(a[0], small),
            c[2].madlo(a[2], small).madhi(a[1], small),
            c[3].madlo(a[3], small).madhi(a[2], small),
            c[4].madlo(a[4], small).madhi(a[3], small),
        ])
    }

    /// Carries: what exceeds bit 255 comes back times 19 (it is below 2^15, so that 19 times it is
    /// below 2^20), then each digit gives its excess to the next. The last gets less than 2^11.
    #[inline(always)]
    pub(crate) fn carry(self) -> Element<V> {
        let mut d = self.0;
        let above = d[4].shr::<47>();
        check(above, 1 << 15);
        d[4] = d[4].and(V::splat((1 << 47) - 1));
        d[0] = d[0].madlo(above, V::splat(19));
        for i in 0..4 {
            d[i + 1] = d[i + 1].add(d[i].shr::<52>());
        }
        check(d[4], MOST_OF_LAST);
        Element(d)
    }

    /// Lane by lane: `self` where the bit is clear, `other` where it is set.
    #[inline(always)]
    pub(crate) fn blend(self, mask: Mask, other: Self) -> Self {
        Columns(five!(|i| self.0[i].blend(mask, other.0[i])))
    }
}

/// A digit is at most that: a bound in some formula is wrong where it is not.
#[inline(always)]
pub(super) fn check<V: Vector>(digit: V, most: u64) {
    if cfg!(all(debug_assertions, not(feature = "fault"))) {
        let mut lanes = Digit::ZERO;
        digit.store(&mut lanes);
        assert!(
            lanes.0.iter().all(|&lane| lane <= most),
            "a digit left its bounds"
        );
    }
}

#[inline(always)]
fn raise<V: Vector, const LEVEL: u64>() -> [V; DIGITS] {
    five!(|i| V::splat(RAISE[i] * LEVEL))
}

#[inline(always)]
fn product<V: Vector>(start: [V; DIGITS], a: Element<V>, b: Element<V>) -> Columns<V> {
    let mut c = [V::zero(); 2 * DIGITS];
    for i in 0..DIGITS {
        c[i] = start[i];
    }
    for i in 0..DIGITS {
        for j in 0..DIGITS {
            c[i + j] = c[i + j].madlo(a.0[i], b.0[j]);
        }
        for j in 0..DIGITS {
            c[i + j + 1] = c[i + j + 1].madhi(a.0[i], b.0[j]);
        }
    }
    fold(c)
}

#[inline(always)]
fn square<V: Vector>(start: [V; DIGITS], a: Element<V>) -> Columns<V> {
    // The products of different digits, once; then doubled; then those of equal digits.
    let mut c = [V::zero(); 2 * DIGITS];
    for i in 0..DIGITS {
        for j in i + 1..DIGITS {
            c[i + j] = c[i + j].madlo(a.0[i], a.0[j]);
        }
        for j in i + 1..DIGITS {
            c[i + j + 1] = c[i + j + 1].madhi(a.0[i], a.0[j]);
        }
    }
    for k in 1..9 {
        c[k] = c[k].add(c[k]);
    }
    for i in 0..DIGITS {
        c[i] = c[i].add(start[i]);
    }
    for i in 0..DIGITS {
        c[2 * i] = c[2 * i].madlo(a.0[i], a.0[i]);
        c[2 * i + 1] = c[2 * i + 1].madhi(a.0[i], a.0[i]);
    }
    fold(c)
}

/// Folds the columns above the fifth.
#[inline(always)]
fn fold<V: Vector>(mut c: [V; 2 * DIGITS]) -> Columns<V> {
    let factor = V::splat(FOLD);
    for k in 5..9 {
        c[k + 1] = c[k + 1].add(c[k].shr::<52>());
    }
    check(c[9], DIGIT / FOLD);
    for k in 5..9 {
        c[k - 5] = c[k - 5].madlo(c[k], factor);
        c[k - 4] = c[k - 4].madhi(c[k], factor);
    }
    c[4] = c[4].madlo(c[9], factor);
    Columns([c[0], c[1], c[2], c[3], c[4]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::{self, Kernel};

    /// The largest digits that an element may have, the smallest, and values around p and 2^255.
    const EDGES: [Constant; 8] = [
        [
            u64::MAX,
            u64::MAX,
            u64::MAX,
            u64::MAX,
            (1 << 47) + (1 << 15) - 1,
        ],
        [DIGIT, DIGIT, DIGIT, DIGIT, (1 << 47) - 1],
        [DIGIT - 18, DIGIT, DIGIT, DIGIT, (1 << 47) - 1],
        [DIGIT - 19, DIGIT, DIGIT, DIGIT, (1 << 47) - 1],
        [0, 0, 0, 0, 1 << 47],
        [DIGIT, 0, DIGIT, 0, (1 << 47) + (1 << 15) - 1],
        ONE,
        ZERO,
    ];

    /// Each formula twice on a pair: as the digits are, and on the smallest representatives.
    struct Formulas(Constant, Constant);

    impl Kernel for Formulas {
        type Output = Vec<[Words; 2]>;

        #[inline(always)]
        fn run<V: Vector>(self) -> Self::Output {
            let (a, b) = (Element::<V>::constant(&self.0), Element::constant(&self.1));
            let smallest = |x: Element<V>| Element::from_words(&x.to_words());
            let (c, d) = (smallest(a), smallest(b));
            // The square and the product with itself, and a^2 - b^2 = (a + b) (a - b).
            let sum = |a: Element<V>, b: Element<V>| a.columns().add(b.columns()).carry();
            let difference =
                |a: Element<V>, b: Element<V>| a.columns().raise::<1>().sub(b.columns()).carry();
            let squares = a.square_raised::<1>().sub(b.square());
            let most = a
                .mul_raised::<4>(b)
                .double()
                .double()
                .sub(b.square_raised::<4>());
            let four = c.mul(d).double().double().raise::<1>().sub(d.square());
            [
                [a.mul(b), c.mul(d)],
                [a.mul(b), b.mul_raised::<4>(a)],
                [a.square(), a.mul(a)],
                [a.square_raised::<4>(), c.square()],
                [squares, sum(c, d).mul(difference(c, d))],
                [most, four],
                [
                    a.square().add_multiple(b, (1 << 40) - 1),
                    c.square().add_multiple(d, (1 << 40) - 1),
                ],
                [a.columns(), c.columns()],
            ]
            .into_iter()
            .map(|[left, right]| [left.carry().to_words(), right.carry().to_words()])
            .collect()
        }
    }

    /// Carries all ones lose nothing: an excess over a bound would show as a wrong number.
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

    #[test]
    fn smallest_representatives() {
        struct Smallest(Constant);
        impl Kernel for Smallest {
            type Output = Words;
            #[inline(always)]
            fn run<V: Vector>(self) -> Words {
                Element::<V>::constant(&self.0).to_words()
            }
        }
        let value = |digits| vector::run(Smallest(digits)).expect("lanes").lane(5);
        assert_eq!(value(EDGES[1]), [18, 0, 0, 0]); // 2^255 - 1
        assert_eq!(value(EDGES[2]), [0; 4]); // p
        assert_eq!(
            value(EDGES[3]),
            [u64::MAX - 19, u64::MAX, u64::MAX, u64::MAX >> 1]
        ); // p - 1
        assert_eq!(value(EDGES[4]), [19, 0, 0, 0]); // 2^255
    }

    #[test]
    fn raising_adds_zero() {
        struct Raise;
        impl Kernel for Raise {
            type Output = [Mask; 2];
            #[inline(always)]
            fn run<V: Vector>(self) -> [Mask; 2] {
                let columns = [Columns(raise::<V, 1>()), Columns(raise::<V, 4>())];
                [columns[0].carry().is_zero(), columns[1].carry().is_zero()]
            }
        }
        assert_eq!(vector::run(Raise), Ok([Mask::MAX; 2]));
        assert!(RAISE.iter().all(|digit| digit >> 57 == 1));
    }
}
