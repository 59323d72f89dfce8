//! Points in homogeneous coordinates, (X : Y : Z) is x = X / Z, y = Y / Z, and their addition without exceptions.
//!
//! Renes, Costello, Batina, "Complete addition formulas for prime order elliptic curves" (2016), for a = -3: they
//! add any two points of a curve of odd order, equal or not, the identity (0 : 1 : 0) included. With
//!
//! ```text
//! P = X₁ X₂          Q = Y₁ Y₂            R = Z₁ Z₂
//! S = X₁ Z₂ + Z₁ X₂  T = Y₁ Z₂ + Z₁ Y₂    U = X₁ Y₂ + Y₁ X₂
//! A = 3 (b R - S)    B = 3 (b S - P - 3 R)    C = 3 (P - R)
//!
//! X₃ = U (Q - A) - T B      Y₃ = (Q + A) (Q - A) + C B      Z₃ = T (Q + A) + U C
//! ```
//!
//! Constant time.
//!
//! Bounds, in multiples of p with R / p = 16: X, Y, Z below 2.65; then P, Q, R below 1.5, S, T, U below 1.9; Q ± A and
//! B are settled below 2.1, C is below 10.4.

use super::invert::{Prime, invert};
use crate::vector::{Digit, Kernel, Vector};
use crate::weierstrass::bound::Limit;
use crate::weierstrass::curve::Curve;
use crate::weierstrass::element::{Element, Sum};
use crate::weierstrass::modulus::Modulus;
use crate::weierstrass::point::{Affine, Jacobian, StoredAffine, StoredJacobian};
use core::marker::PhantomData;
use zeroize::Zeroize;

/// What X, Y and Z are below.
const COORDINATE: Limit = Limit(265);

/// Eight points in homogeneous coordinates, in registers.
#[derive(Clone, Copy)]
pub(crate) struct Homogeneous<V, M, const N: usize> {
    pub(crate) x: Element<V, M, N>,
    pub(crate) y: Element<V, M, N>,
    pub(crate) z: Element<V, M, N>,
}

/// Eight points in homogeneous coordinates, in memory.
#[derive(Clone, Copy, Zeroize)]
pub(crate) struct StoredHomogeneous<const N: usize> {
    pub(crate) x: [Digit; N],
    pub(crate) y: [Digit; N],
    pub(crate) z: [Digit; N],
}

impl<const N: usize> StoredHomogeneous<N> {
    pub(crate) const ZERO: Self = StoredHomogeneous {
        x: [Digit::ZERO; N],
        y: [Digit::ZERO; N],
        z: [Digit::ZERO; N],
    };
}

impl<V: Vector, M: Modulus<N>, const N: usize> Homogeneous<V, M, N> {
    /// (X Z : Y : Z³).
    #[inline(always)]
    pub(crate) fn from_jacobian(point: &StoredJacobian<N>) -> Self {
        let Jacobian { x, y, z } = Jacobian::<V, M, N>::load(point);
        Homogeneous {
            x: x.mul(z).carry(),
            y: y.mul(Element::one()).carry(),
            z: z.square().factor().mul(z).carry(),
        }
    }

    #[inline(always)]
    pub(crate) fn load(from: &StoredHomogeneous<N>) -> Self {
        Homogeneous {
            x: Element::load_below(COORDINATE, &from.x),
            y: Element::load_below(COORDINATE, &from.y),
            z: Element::load_below(COORDINATE, &from.z),
        }
    }

    #[inline(always)]
    pub(crate) fn store(self, to: &mut StoredHomogeneous<N>) {
        self.x.store_below(COORDINATE, &mut to.x);
        self.y.store_below(COORDINATE, &mut to.y);
        self.z.store_below(COORDINATE, &mut to.z);
    }

    /// The affine point, in Montgomery form and below p. One inversion: the lanes all have the same Z.
    #[inline(always)]
    pub(crate) fn to_affine(self) -> StoredAffine<N> {
        let mut z = [Digit::ZERO; N];
        self.z.to_plain().store(&mut z);
        let [mut inverse] = invert([z.map(|digit| digit.0[0])], const { [&Prime::of::<M>()] });
        let affine = self.with_inverse(inverse);
        z.zeroize();
        inverse.zeroize();
        affine
    }

    /// The affine point, in Montgomery form and below p, given 1/Z in Montgomery form.
    #[inline(always)]
    pub(crate) fn with_inverse(self, inverse: [u64; N]) -> StoredAffine<N> {
        let inverse = Element::splat(inverse).factor();
        let mut affine = StoredAffine::ZERO;
        Affine {
            x: self.x.mul(inverse).carry().below_m(),
            y: self.y.mul(inverse).carry().below_m(),
        }
        .store(&mut affine);
        affine
    }

    /// Lane by lane: the point of the lane that `from` names.
    #[inline(always)]
    pub(crate) fn permute(self, from: V) -> Self {
        Homogeneous {
            x: self.x.permute(from),
            y: self.y.permute(from),
            z: self.z.permute(from),
        }
    }

    /// The sum of any two points, where b is the curve's, in Montgomery form.
    #[inline(always)]
    pub(crate) fn add(self, other: Self, b: Element<V, M, N>) -> Self {
        let Homogeneous {
            x: x1,
            y: y1,
            z: z1,
        } = self;
        let Homogeneous {
            x: x2,
            y: y2,
            z: z2,
        } = other;
        let s = x1.factor().mul_add_mul(z2, (z1, x2));
        let r = z1.mul(z2).carry();
        let bs = s.factor().mul(b);
        let br = r.mul(b);
        let p = x1.mul(x2).carry();
        let q = y1.mul(y2);
        let a = (br - s).thrice();
        let plus = (q + a).settle().factor();
        let minus = (q - a).settle().factor();
        let b3 = (bs - p - r - r - r).thrice().settle().factor();
        let c3 = (p - r).plus(2).thrice().factor();
        let t = y1.factor().mul_add_mul(z2, (z1, y2)).factor();
        let u = x1.factor().mul_add_mul(y2, (y1, x2)).factor();
        Homogeneous {
            x: u.mul_sub_mul(minus, (t, b3), Sum::multiple(1)).carry(),
            y: plus.mul_add_mul(minus, (c3, b3)).carry(),
            z: t.mul_add_mul(plus, (u, c3)).carry(),
        }
    }
}

/// Each lane's point plus the one of the lane that `partner` names, as a function of its own; and so its tally.
pub(crate) struct AddPartner<'a, C, const N: usize> {
    pub(crate) point: &'a mut StoredHomogeneous<N>,
    pub(crate) tally: &'a mut Digit,
    pub(crate) partner: &'a Digit,
    pub(crate) curve: PhantomData<C>,
}

impl<C: Curve<N>, const N: usize> Kernel for AddPartner<'_, C, N> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self) {
        let partner = V::load(self.partner);
        let tally = V::load(self.tally);
        tally.add(tally.permute(partner)).store(self.tally);
        let point = Homogeneous::<V, C::Field, N>::load(self.point);
        let b = Element::splat(C::B).to_montgomery();
        point.add(point.permute(partner), b).store(self.point);
    }
}
