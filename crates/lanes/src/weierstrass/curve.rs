//! What distinguishes one curve from another.

use super::comb::Comb;
use super::element::{Element, Sum};
use super::modulus::Modulus;
use super::point::Affine;
use super::wide;
use crate::Error;
use crate::vector::{Mask, Vector};

/// A curve y² = x³ - 3 x + b of prime order over a prime field, both of N digits.
pub(crate) trait Curve<const N: usize>: 'static {
    /// The prime of the coordinates.
    type Field: Modulus<N>;
    /// The prime of the scalars.
    type Order: Modulus<N>;

    /// Bytes of a coordinate, and of a scalar.
    const BYTES: usize;
    const B: [u64; N];
    /// The base point's coordinates.
    const GENERATOR: [[u64; N]; 2];

    /// Bits of a window of the base point's table.
    const COMB_WIDTH: usize;

    /// Bits of a window of the base point's table of one operation across the lanes.
    const WIDE_WIDTH: usize;

    /// The base point's table, built at first use.
    ///
    /// # Errors
    /// Where there are no lanes.
    fn comb() -> Result<&'static Comb<N>, Error>;

    /// The base point's table of one operation across the lanes, built at first use.
    ///
    /// # Errors
    /// Where there are no lanes.
    fn wide_table() -> Result<&'static wide::comb::Table<N>, Error>;
}

/// The lanes whose point, in Montgomery form and below p, is on the curve.
#[inline(always)]
pub(crate) fn on_curve<V: Vector, C: Curve<N>, const N: usize>(
    point: Affine<V, C::Field, N>,
) -> Mask {
    let Affine { x, y } = point;
    let b = Element::splat(C::B).to_montgomery();
    let three = Element::one().twice() + Element::one();
    let right = x
        .square_add(Sum::multiple(3) - three)
        .factor()
        .mul_add(x, b.sum());
    y.square_add(Sum::multiple(3) - right)
        .carry()
        .to_plain()
        .is_zero()
}
