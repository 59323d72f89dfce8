//! From Jacobian to affine coordinates: one inversion. Constant time.

use super::element::Element;
use super::invert::Invert;
use super::modulus::Modulus;
use super::point::{Affine, Jacobian, StoredAffine, StoredJacobian};
use crate::vector::{Digit, Vector};
use core::marker::PhantomData;

/// The point in affine coordinates, in Montgomery form and below p.
#[inline(always)]
pub(crate) fn to_affine<V: Vector, M: Modulus<N>, const N: usize>(
    point: &StoredJacobian<N>,
) -> StoredAffine<N> {
    let mut z = [Digit::ZERO; N];
    Element::<V, M, N>::load(&point.z).to_plain().store(&mut z);
    V::call(Invert {
        x: &mut z,
        modulus: PhantomData::<M>,
    });
    with_inverse::<V, M, N>(point, &z)
}

/// The point in affine coordinates, in Montgomery form and below p, given 1/Z, carried.
#[inline(always)]
pub(crate) fn with_inverse<V: Vector, M: Modulus<N>, const N: usize>(
    point: &StoredJacobian<N>,
    inverse: &[Digit; N],
) -> StoredAffine<N> {
    let inverse = Element::<V, M, N>::load(inverse)
        .mul(Element::one())
        .factor();
    let zz = inverse.square().factor();
    let zzz = zz.mul(inverse).factor();
    let Jacobian { x, y, .. } = Jacobian::<V, M, N>::load(point);
    let mut out = StoredAffine::ZERO;
    Affine {
        x: x.mul(zz).carry().below_m(),
        y: y.mul(zzz).carry().below_m(),
    }
    .store(&mut out);
    out
}
