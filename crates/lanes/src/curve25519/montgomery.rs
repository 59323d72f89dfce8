//! Multiples of points on the Montgomery form of the curve, v^2 = u^3 + 486662 u^2 + u, by their
//! u-coordinates alone (RFC 7748 section 5), eight at once.
//!
//! # The ladder
//! After each bit, `doubled` is the point that was doubled last and `sum` the other; they differ by
//! the given point, and one is k P, the other (k + 1) P for the bits k seen so far. The next bit
//! doubles `doubled` again if it equals the last bit, and `sum` if not. What becomes of `sum` is
//! their sum, in either order: so one selection replaces the two swaps of the RFC.
//!
//! A point x/z is kept as x + z and x - z: what doubling and addition start from, and one carry
//! each when taken from uncarried products.
//!
//! A bit is 5 products (67 instructions each), 4 squares (55), 11 carries (11), one product with a
//! small number (11), 35 additions and 10 selections: 732 instructions. Bit 254 of an X25519 scalar
//! is set, so the first step is a doubling alone.
//!
//! # The check
//! Nothing is released that a passing mistake has touched:
//! * At the end the two points must still differ by the given one. The u-coordinates w, x and x'/z'
//!   of P, Q and P + Q satisfy a relation (Semaev's third summation polynomial); w is read again
//!   from the input and x from the result as it is released. A mistake in either point breaks it,
//!   and doubling and adding do not mend it.
//! * Each bit that steers the ladder is read twice.
//!
//! It costs about 3 %. Everything is constant time.

use super::edwards::{Completed, StoredCompleted};
use super::field::{Columns, Element, ONE};
use super::inverse;
use super::words::Words;
use crate::checks::Check;
use crate::vector::{Mask, Vector, opaque_mask, reread};

/// The curve's A.
const A: u64 = 486_662;

/// Bits of a scalar below the one that is always set.
const BITS: usize = 254;

/// The u-coordinates of scalars times points, 0 for the neutral point; and the lanes that passed
/// the check (which the neutral point does not). Of each scalar bit 254 is set and bit 255 clear.
/// Points may be on the curve or its twist.
#[inline(always)]
pub(crate) fn multiply<V: Vector>(scalars: &Words, points: &Words) -> (Words, Mask) {
    let point = Element::<V>::from_words(points);
    let one = Element::constant(&ONE);
    // Bit 254 has doubled P; the sum is 0 + P.
    let mut sum = Sides::of(point.columns().raise::<1>(), one.columns());
    let mut doubled = sum.double();
    let (mut last, mut last_again) = (Mask::MAX, Mask::MAX);
    let mut misled = 0;
    for i in (0..BITS).rev() {
        let bit = bit::<V>(scalars, i);
        let double_sum = bit ^ last;
        last = bit;
        // What steers, and not the bit alone: held against bits that were read another time.
        let again = self::bit::<V>(reread(scalars), i);
        misled |= opaque_mask(double_sum) ^ again ^ last_again;
        last_again = again;
        let to_double = doubled.blend(double_sum, sum);
        (doubled, sum) = step(to_double, doubled, sum, point);
    }
    misled |= opaque_mask(last) ^ last_again;
    // `doubled` is k P if the last bit was clear, (k + 1) P if it was set.
    let product = doubled.blend(last, sum);
    let next = sum.blend(last, doubled);

    let (x, z) = product.coordinates();
    let quotient = x.mul(inverse::invert(z)).carry().to_words();

    let point = Element::from_words(reread(points));
    let quotient_again = Element::from_words(reread(&quotient));
    let differ = are_sum(point, quotient_again, next.coordinates());
    let right = Check::LadderBits.verdict(!misled) & Check::LadderDifference.verdict(differ);
    (quotient, right)
}

/// Bit `i` of all scalars.
#[inline(always)]
fn bit<V: Vector>(scalars: &Words, i: usize) -> Mask {
    V::load(&scalars.0[i / 64]).test(V::splat(1 << (i % 64)))
}

/// 2 `to_double`, and `doubled + sum`, which differ by `point`. One of them is `to_double`.
///
/// Written in the order that lets the two chains of dependent products run side by side: 8 % less
/// time than one after the other.
#[inline(always)]
fn step<V: Vector>(
    to_double: Sides<V>,
    doubled: Sides<V>,
    sum: Sides<V>,
    point: Element<V>,
) -> (Sides<V>, Sides<V>) {
    let da = sum.minus.mul_raised::<1>(doubled.plus);
    let cb = sum.plus.mul(doubled.minus);
    let aa = to_double.plus.square_raised::<1>();
    let bb = to_double.minus.square();
    let difference = da.sub(cb).carry();
    let total = da.add(cb).carry();
    let e = aa.sub(bb).carry();
    let (aa_carried, bb_carried) = (aa.carry(), bb.carry());
    let difference = difference.square().carry();
    let t = aa.add_multiple(e, (A - 2) / 4).carry();
    let added_x = total.square_raised::<1>();
    let doubled_x = aa_carried.mul_raised::<1>(bb_carried);
    let added_z = point.mul(difference);
    let doubled_z = e.mul(t);
    (Sides::of(doubled_x, doubled_z), Sides::of(added_x, added_z))
}

/// The lanes where x'/z' is the u-coordinate of the sum (or difference) of points with w and x:
///
/// (w - x)^2 x'^2 + (w x - 1)^2 z'^2 = 2 ((w + x) (w x + 1) + 2 A w x) x' z'
#[inline(always)]
pub(super) fn are_sum<V: Vector>(
    w: Element<V>,
    x: Element<V>,
    (x_sum, z_sum): (Element<V>, Element<V>),
) -> Mask {
    let one = Element::constant(&ONE).columns();
    let raised = w.columns().raise::<1>();
    let product = w.mul_raised::<1>(x);
    let left = raised.sub(x.columns()).carry().mul(x_sum).carry();
    let right = product.sub(one).carry().mul(z_sum).carry();
    let squares = left.square().add(right.square());
    let sums = raised
        .add(x.columns())
        .carry()
        .mul(product.add(one).carry());
    let middle = sums.add_multiple(product.carry(), 2 * A).carry();
    let middle = middle.mul(x_sum.mul(z_sum).carry()).double();
    squares.raise::<4>().sub(middle).carry().is_zero()
}

/// The u-coordinates (Z + Y) / (Z - Y) = (F + H) / (F - H) of points in Edwards form, 0 for the
/// neutral point; and the lanes where it is the coordinate of twice `half` as well.
#[inline(always)]
pub(crate) fn from_edwards<V: Vector>(point: Completed<V>, half: Completed<V>) -> (Words, Mask) {
    let (f, h) = (point.f.columns().raise::<1>(), point.h.columns());
    let inverse = inverse::invert(f.sub(h).carry());
    let quotient = f.add(h).carry().mul(inverse).carry().to_words();

    let again = half.projective().double();
    let (f, h) = (again.f.columns().raise::<1>(), again.h.columns());
    let product = f.sub(h).carry().mul(Element::from_words(&quotient));
    let same = f.add(h).raise::<1>().sub(product).carry().is_zero();
    (quotient, Check::TwiceU.verdict(same))
}

/// The u-coordinate of the point in lane 0; and whether it comes out a second time, from the point as it is in memory.
#[inline(always)]
pub(crate) fn from_edwards_alone<V: Vector>(point: &StoredCompleted) -> (Words, Mask) {
    let (numerator, divisor) = quotient_of(Completed::<V>::load(point));
    let quotient = numerator.carry().mul(inverse::invert_first(divisor));
    let quotient = quotient.carry().to_words();

    let (numerator, divisor) = quotient_of(Completed::<V>::load(reread(point)));
    let product = divisor.mul(Element::from_words(reread(&quotient)));
    let same = numerator.raise::<1>().sub(product).carry().is_zero();
    (quotient, Check::U.verdict(same))
}

/// The numerator and the divisor of a point's u-coordinate.
#[inline(always)]
fn quotient_of<V: Vector>(point: Completed<V>) -> (Columns<V>, Element<V>) {
    let (f, h) = (point.f.columns().raise::<1>(), point.h.columns());
    (f.add(h), f.sub(h).carry())
}

/// x / z as x + z and x - z.
#[derive(Clone, Copy)]
struct Sides<V> {
    plus: Element<V>,
    minus: Element<V>,
}

impl<V: Vector> Sides<V> {
    /// Of x, which is raised by 1, and z.
    #[inline(always)]
    fn of(x: Columns<V>, z: Columns<V>) -> Self {
        Sides {
            plus: x.add(z).carry(),
            minus: x.sub(z).carry(),
        }
    }

    /// As in [`step`].
    #[inline(always)]
    fn double(self) -> Self {
        let aa = self.plus.square_raised::<1>();
        let bb = self.minus.square();
        let e = aa.sub(bb).carry();
        let t = aa.add_multiple(e, (A - 2) / 4).carry();
        Sides::of(aa.carry().mul_raised::<1>(bb.carry()), e.mul(t))
    }

    /// x and z, both doubled.
    #[inline(always)]
    fn coordinates(self) -> (Element<V>, Element<V>) {
        let (plus, minus) = (self.plus.columns().raise::<1>(), self.minus.columns());
        (plus.add(minus).carry(), plus.sub(minus).carry())
    }

    /// Lane by lane: `self` where the bit is clear, `other` where it is set.
    #[inline(always)]
    fn blend(self, mask: Mask, other: Self) -> Self {
        Sides {
            plus: self.plus.blend(mask, other.plus),
            minus: self.minus.blend(mask, other.minus),
        }
    }
}
