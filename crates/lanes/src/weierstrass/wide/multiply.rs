//! k P for any point P, one k: the products of each formula side by side in the lanes.
//!
//! Homogeneous coordinates and complete formulas (`complete.rs`): no exception, and only two products one after the
//! other. A point is X, Y, Z and b Z; b is the curve's. A point that is added has its share of the first level's
//! factors in a table.
//!
//! ```text
//! lane              0        1          2           3           4        5        6         7
//! doubling, 1st     Y Y      Z (bZ-2X)  X (2bZ-X)   Z Z         X X      X Y      Y Z       Y bZ
//!                   = q      = a        = c         = z         = x
//! 2nd               2 XY     -6 YZ      q + 3 a     9 (x - z)   8 q      0        8 q       0
//!                   q - 3 a  c - 3 z    q - 3 a     c - 3 z     Y Z      -        Y bZ      -
//!
//! addition, 1st     Y₁       Z₁         X₁          X₁          Y₁       X₁       Y₁        X₁
//!                   Y₂       bZ₂-X₂     bZ₂-X₂      X₂          Z₂       Y₂       bZ₂       bY₂
//!                   + Y₁     + X₁       + Z₁        + Z₁        + Z₁     + Y₁     + Z₁      + Y₁
//!                   0        -Z₂        bX₂-3Z₂     -Z₂         Y₂       X₂       bY₂       bX₂
//!                   = q      = a        = c         = x         = t      = u      = bt      = bu
//! 2nd               u        -3 t       q + 3 a     9 x         t        3 u      bt        3 bu
//!                   q - 3 a  c          q - 3 a     c           q + 3 a  x        q + 3 a   x
//!
//! the sum of        lanes 0 and 1       lanes 2 and 3           lanes 4 and 5     lanes 6 and 7
//!                   is X                Y                       Z                 b Z
//! ```
//!
//! Here A = 3 a, B = 3 (c - 3 z) or 3 c, C = 3 (x - z) or 3 x are those of `complete.rs`; of a point of the curve
//! T (Q + A) + U C is 8 Y³ Z.
//!
//! Windows of 5 bits, odd digits (`recode.rs`), a masked scan of 16 entries.
//!
//! Constant time: each lookup reads the whole table.
//!
//! Bounds, in multiples of p with R / p = 16: both factors of a second level are settled below 2.1, so its products are
//! below 1.3, X to b Z below 2.6; of a first level the other factors are below 11.2, 4 and 7, its results below 2.9.

use super::comb::Product;
use super::complete::{Homogeneous, StoredHomogeneous};
use super::scalar::Scalar;
use crate::vector::unroll;
use crate::vector::{Digit, Kernel, Mask, Vector};
use crate::weierstrass::bound::{Limit, REDUCED};
use crate::weierstrass::check::Tally;
use crate::weierstrass::curve::Curve;
use crate::weierstrass::element::{Element, Factor, Sum};
use crate::weierstrass::modulus::Modulus;
use crate::weierstrass::point::StoredAffine;
use crate::weierstrass::recode::{OddDigit, Windows};
use core::marker::PhantomData;
use zeroize::Zeroize;

/// Bits of a window.
const WIDTH: usize = 5;

/// k P for odd k in [1, n - 1] and P on the curve, its coordinates in Montgomery form and below p; all the same in
/// every lane.
pub(crate) struct Multiply<'a, C, const N: usize> {
    pub(crate) k: &'a [Digit; N],
    pub(crate) point: &'a StoredAffine<N>,
    pub(crate) curve: PhantomData<C>,
}

/// A point that is added: its factors in the first level.
#[derive(Clone, Copy, Zeroize)]
struct Entry<const N: usize> {
    first: [Digit; N],
    second: [Digit; N],
}

/// What they are below.
const FIRST: Limit = Limit::times(4);
const SECOND: Limit = Limit::times(7);

/// The lanes of a table's entry that have Y₂ or b Y₂ as a factor.
const Y_IN_FIRST: Mask = 0b1010_0001;
const Y_IN_SECOND: Mask = 0b0101_0000;

/// A point across the lanes, not carried: X is lane 0 plus lane 1, then Y, Z and b Z.
#[derive(Clone, Copy)]
struct Across<V, M, const N: usize>(Sum<V, M, N>);

impl<V: Vector, M: Modulus<N>, const N: usize> Across<V, M, N> {
    /// (x : y : 1), where `b` is the curve's, all in Montgomery form and below p.
    #[inline(always)]
    fn from_affine(point: &StoredAffine<N>, b: Element<V, M, N>) -> Self {
        let x = Element::load_below(REDUCED, &point.x);
        let y = Element::load_below(REDUCED, &point.y);
        let zero = Element::splat([0; N]);
        let point = zero
            .blend(1 << 0, x)
            .blend(1 << 2, y)
            .blend(1 << 4, Element::one())
            .blend(1 << 6, b);
        Across(point.sum())
    }

    /// The identity, (0 : 1 : 0).
    #[inline(always)]
    fn identity() -> Self {
        Across(Element::splat([0; N]).blend(1 << 2, Element::one()).sum())
    }

    /// 2 P.
    #[inline(always)]
    fn double(self) -> Self {
        let Across(point) = self;
        let point = point.add_neighbours();
        let left = point.permute(&Digit([2, 4, 0, 4, 0, 0, 2, 2])).factor();
        let right = point.permute(&Digit([2, 6, 6, 4, 0, 2, 4, 6]));
        let x = point.permute(&Digit([0; 8]));
        let right = right
            .add_where(1 << 2, right)
            .sub_where(0b110, x.add_where(1 << 1, x));
        let products = left.mul(right.plus(6).factor());

        let other = products.permute(&Digit([1, 3, 1, 3, 1, 3, 1, 3]));
        let left = products
            .permute(&Digit([5, 6, 0, 4, 0, 0, 0, 0]))
            .times(&numbers([2, -6, 1, 9, 8, 0, 8, 0]))
            + other.times(&numbers([0, 0, 3, -9, 0, 0, 0, 0]));
        let right = products.permute(&Digit([0, 2, 0, 2, 6, 0, 7, 0]))
            + other.times(&numbers([-3, -3, -3, -3, 0, 0, 0, 0]));
        Across(left.settle().factor().mul(right.settle().factor()))
    }

    /// The sum of any two points.
    #[inline(always)]
    fn add(self, first: Factor<V, M, N>, second: Factor<V, M, N>) -> Self {
        let Across(point) = self;
        let point = point.add_neighbours();
        let one = point.permute(&Digit([2, 4, 0, 0, 2, 0, 2, 0])).factor();
        let other = point.permute(&Digit([2, 0, 4, 4, 4, 2, 4, 2])).factor();
        let products = one.mul_add_mul(first, (other, second));

        let a = products.permute(&Digit([1; 8]));
        let left = products
            .permute(&Digit([5, 4, 0, 3, 4, 5, 6, 7]))
            .times(&numbers([1, -3, 1, 9, 1, 3, 1, 3]))
            + a.times(&numbers([0, 0, 3, 0, 0, 0, 0, 0]));
        let right = products.permute(&Digit([0, 2, 0, 2, 0, 3, 0, 3]))
            + a.times(&numbers([-3, 0, -3, 0, 3, 0, 3, 0]));
        Across(left.settle().factor().mul(right.settle().factor()))
    }

    /// As an entry of a table.
    #[inline(always)]
    fn store_entry(self, b: Element<V, M, N>, entry: &mut Entry<N>) {
        let Across(point) = self;
        let point = point.add_neighbours();
        // bX, bY, bZ and X, Y, Z.
        let times = Element::one().blend(0b111, b);
        let all = point
            .permute(&Digit([0, 2, 4, 0, 2, 4, 4, 4]))
            .factor()
            .mul(times);
        let x = all.permute(&Digit([3; 8]));
        let z = all.permute(&Digit([5; 8]));
        all.permute(&Digit([4, 2, 2, 3, 5, 4, 2, 1]))
            .sub_where(0b110, x)
            .plus(2)
            .carry()
            .store_below(FIRST, &mut entry.first);
        // bX - 3 Z, and 0 less Z.
        let second = all.permute(&Digit([0, 0, 0, 0, 4, 3, 1, 0]));
        second
            .blend(0b1011, Sum::zero())
            .sub_where(0b1010, z)
            .sub_where(1 << 2, z.thrice())
            .plus(5)
            .carry()
            .store_below(SECOND, &mut entry.second);
    }

    /// In every lane.
    #[inline(always)]
    fn to_homogeneous(self) -> Homogeneous<V, M, N> {
        let Across(point) = self;
        let point = point.add_neighbours();
        Homogeneous {
            x: point.permute(&Digit([0; 8])).carry(),
            y: point.permute(&Digit([2; 8])).carry(),
            z: point.permute(&Digit([4; 8])).carry(),
        }
    }
}

impl<C: Curve<N>, const N: usize> Kernel for Multiply<'_, C, N> {
    type Output = Product<N>;

    #[inline(always)]
    fn run<V: Vector>(self) -> Product<N> {
        let Self { k, point, .. } = self;
        let b = Element::splat(C::B).to_montgomery().below_m();
        let mut table = [Entry {
            first: [Digit::ZERO; N],
            second: [Digit::ZERO; N],
        }; 1 << (WIDTH - 1)];
        // 2 P is in the table until its last entry is made.
        let point = Across::<V, C::Field, N>::from_affine(point, b);
        let mut twice = table[0];
        point.double().store_entry(b, &mut twice);
        let mut multiple = point;
        for j in 0..table.len() {
            if j > 0 {
                let (first, second) = (
                    Element::load_below(FIRST, &twice.first),
                    Element::load_below(SECOND, &twice.second),
                );
                multiple = multiple.add(first.factor(), second.factor());
            }
            multiple.store_entry(b, &mut table[j]);
        }

        let windows = windows::<C, N>();
        let k = Scalar::<V>::across(k, windows);
        let mut sum = Across::<V, C::Field, N>::identity();
        let mut tally = Tally::<V>::new();
        for i in (0..windows.count).rev() {
            if i + 1 < windows.count {
                for _ in 0..WIDTH {
                    sum = sum.double();
                }
            }
            let digit = k.digit(i, windows);
            let (first, second) = scan::<V, C::Field, N>(&table, digit, &mut tally);
            sum = sum.add(first, second);
        }

        let mut product = Product {
            point: StoredHomogeneous::ZERO,
            tally: tally.store(),
        };
        sum.to_homogeneous().store(&mut product.point);
        table.zeroize();
        twice.zeroize();
        product
    }
}

/// The windows of a scalar.
pub(crate) const fn windows<C: Curve<N>, const N: usize>() -> Windows {
    Windows::of(8 * C::BYTES, WIDTH)
}

/// ±(2 index + 1) P, as an entry.
#[inline(always)]
fn scan<V: Vector, M: Modulus<N>, const N: usize>(
    table: &[Entry<N>],
    digit: OddDigit<V>,
    tally: &mut Tally<V>,
) -> (Factor<V, M, N>, Factor<V, M, N>) {
    let (mut first, mut second) = ([V::zero(); N], [V::zero(); N]);
    let mut multiple = V::zero();
    for (j, entry) in table.iter().enumerate() {
        let here = digit.index.eq(V::splat(j as u64));
        multiple = multiple.blend(here, V::splat(2 * j as u64 + 1));
        unroll!(I < N => {
            first[I] = first[I].blend(here, V::load(&entry.first[I]));
            second[I] = second[I].blend(here, V::load(&entry.second[I]));
        });
    }
    *tally = tally.add(multiple, digit.negative);
    // -P has -Y.
    let first = Element::from_digits(FIRST, first).sum();
    let second = Element::from_digits(SECOND, second).sum();
    (
        first
            .blend(digit.negative & Y_IN_FIRST, Sum::multiple(4) - first)
            .factor(),
        second
            .blend(digit.negative & Y_IN_SECOND, Sum::multiple(7) - second)
            .factor(),
    )
}

/// A number for each lane.
const fn numbers(of_lanes: [i64; 8]) -> Digit {
    let mut digit = Digit::ZERO;
    let mut lane = 0;
    while lane < 8 {
        digit.0[lane] = of_lanes[lane].cast_unsigned();
        lane += 1;
    }
    digit
}
