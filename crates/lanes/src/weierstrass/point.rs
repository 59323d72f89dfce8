//! Points of y² = x³ - 3 x + b in Jacobian coordinates: (X : Y : Z) is x = X / Z², y = Y / Z³.
//!
//! ```text
//!                             vpmadd52 for P-256, P-384
//! double         4 M + 4 S      534   1,255    2 P
//! add_affine     8 M + 3 S      790   1,880    P + Q with Q affine; P ≠ ±Q, neither is the identity
//! ```
//!
//! These are all the formulas there are. Neither the identity nor the exception of the addition
//! ever occurs: `recode.rs` has the proof. The rest moves coordinates, without a `vpmadd52`: `negate` takes N
//! subtractions, N blends and a ripple, `blend` 3 N blends, `load` and `store` 3 N or 2 N of their kind.
//!
//! Constant time, each function: no branch and no address depends on a coordinate or on a mask. How often `double`
//! doubles is public.
//!
//! Bounds: the figures beside the formulas are in multiples of p, for P-256 with R / p = 16. With P-384 products are
//! smaller, R / p being 2^32, and X is below 9. What is loaded is within these limits because it was stored within
//! them, and `bound.rs` checks each step between:
//!
//! ```text
//! X < 2.1 (`Modulus::TIGHT`)    Y < 5    Z < 2.7    affine x and y as X and Y
//! ```

use super::bound::{Limit, REDUCED};
use super::element::{Element, Sum};
use super::modulus::Modulus;
use crate::vector::{Digit, Kernel, Mask, Vector};
use core::marker::PhantomData;
use zeroize::Zeroize;

/// What Y is below.
const Y: Limit = Limit::times(5);
/// What Z is below.
const Z: Limit = Limit(270);

/// Eight points in Jacobian coordinates, in registers.
#[derive(Clone, Copy)]
pub(crate) struct Jacobian<V, M, const N: usize> {
    pub(crate) x: Element<V, M, N>,
    pub(crate) y: Element<V, M, N>,
    pub(crate) z: Element<V, M, N>,
}

/// Eight affine points, in registers.
#[derive(Clone, Copy)]
pub(crate) struct Affine<V, M, const N: usize> {
    pub(crate) x: Element<V, M, N>,
    pub(crate) y: Element<V, M, N>,
}

/// Eight points in Jacobian coordinates, in memory.
#[derive(Clone, Copy, Zeroize)]
pub(crate) struct StoredJacobian<const N: usize> {
    pub(crate) x: [Digit; N],
    pub(crate) y: [Digit; N],
    pub(crate) z: [Digit; N],
}

/// Eight affine points, in memory.
#[derive(Clone, Copy, Zeroize)]
pub(crate) struct StoredAffine<const N: usize> {
    pub(crate) x: [Digit; N],
    pub(crate) y: [Digit; N],
}

impl<V: Vector, M: Modulus<N>, const N: usize> Jacobian<V, M, N> {
    /// 2^times P.
    ///
    /// With T = 2 Y, which takes Y's place from one doubling to the next:
    ///
    /// ```text
    /// a = Z² + X               2.7² / 16 + 1 + 2.1 = 3.56
    /// b = 3 (X - Z²)           3 (2 X - a) + 5:  from 5 - 3 · 1.46 = 0.6 to 3 · 2.1 + 5 = 11.3
    /// λ = a b                  3.56 · 11.3 / 16 + 1 = 3.52
    /// s = T²                   T < 10:  7.3
    /// β = X s                  2.1 · 7.3 / 16 + 1 = 1.96
    /// X' = λ² - 2 β            in (-3.92, 1.78), tightened to 2.1
    /// Z' = T Z                 10 · 2.7 / 16 + 1 = 2.69
    /// T' = 2 λ (β - X') - s²   λ · 2 (β - X' + 3) - s² + 4:  3.52 · 9.92 / 16 + 1 + 4 = 7.2
    /// Y  = T / 2
    /// ```
    #[inline(always)]
    pub(crate) fn double(self, times: usize) -> Self {
        let tight = const { M::TIGHT.rounded_up() };
        let Jacobian { mut x, y, mut z } = self;
        let mut t = y.twice().carry();
        for _ in 0..times {
            let a = z.square_add(x.sum()).carry();
            let b = (x.twice() - a).thrice().plus(5).factor();
            let lambda = a.mul(b).factor();
            let s = t.square().factor();
            let beta = x.mul(s).carry();
            x = lambda
                .square_add(Sum::zero() - beta.twice())
                .tighten()
                .carry();
            z = t.mul(z).carry();
            let e = (beta - x).plus(tight).twice().factor();
            t = lambda.mul_sub_square(e, s, Sum::multiple(4)).carry();
        }
        Jacobian { x, y: t.halve(), z }
    }

    /// P + Q.
    ///
    /// ```text
    /// h = x Z² - X             + 3:  2.1 · 1.46 / 16 + 1 + 3 = 4.2
    /// r = y Z³ - Y             + 5:  5 · 1.25 / 16 + 1 + 5 = 6.4
    /// v = X h²                 2.1 · 2.1 / 16 + 1 = 1.28
    /// X' = r² - h³ - 2 v       in (-4.12, 3.56), tightened to 2.1
    /// Y' = r (v - X') - Y h³   6.4 · (1.28 + 3) / 16 + 1 + 1 = 3.8
    /// Z' = Z h                 2.7 · 4.2 / 16 + 1 = 1.71
    /// ```
    #[inline(always)]
    pub(crate) fn add_affine(self, q: Affine<V, M, N>) -> Self {
        let tight = const { M::TIGHT.rounded_up() };
        let Jacobian { x, y, z } = self;
        let zz = z.square().factor();
        let zzz = zz.mul(z).factor();
        let h = q.x.mul_add(zz, Sum::multiple(tight) - x).factor();
        let r = q.y.mul_add(zzz, Sum::multiple(5) - y).factor();
        let hh = h.square().factor();
        let hhh = hh.mul(h).carry();
        let v = x.mul(hh).carry();
        let x3 = r
            .square_add(Sum::zero() - hhh - v.twice())
            .tighten()
            .carry();
        let e = (v - x3).plus(tight).factor();
        let y3 = r.mul_sub_mul(e, (y, hhh), Sum::multiple(1)).carry();
        Jacobian {
            x: x3,
            y: y3,
            z: z.mul(h).carry(),
        }
    }

    #[inline(always)]
    pub(crate) fn load(from: &StoredJacobian<N>) -> Self {
        Jacobian {
            x: Element::load_below(M::TIGHT, &from.x),
            y: Element::load_below(Y, &from.y),
            z: Element::load_below(Z, &from.z),
        }
    }

    #[inline(always)]
    pub(crate) fn store(self, to: &mut StoredJacobian<N>) {
        self.x.store_below(M::TIGHT, &mut to.x);
        self.y.store_below(Y, &mut to.y);
        self.z.store_below(Z, &mut to.z);
    }

    /// Lane by lane: `self` where the bit is clear, `other` where it is set.
    #[inline(always)]
    pub(crate) fn blend(self, mask: Mask, other: Self) -> Self {
        Jacobian {
            x: self.x.blend(mask, other.x),
            y: self.y.blend(mask, other.y),
            z: self.z.blend(mask, other.z),
        }
    }
}

impl<V: Vector, M: Modulus<N>, const N: usize> Affine<V, M, N> {
    #[inline(always)]
    pub(crate) fn to_jacobian(self) -> Jacobian<V, M, N> {
        Jacobian {
            x: self.x,
            y: self.y,
            z: Element::one(),
        }
    }

    /// -P in the lanes of the mask, for y ≤ p: p - y.
    #[inline(always)]
    pub(crate) fn negate(self, mask: Mask) -> Self {
        let y = self.y.sum();
        Affine {
            x: self.x,
            y: y.blend(mask, Sum::multiple(1) - y).carry(),
        }
    }

    #[inline(always)]
    pub(crate) fn load(from: &StoredAffine<N>) -> Self {
        Affine {
            x: Element::load_below(M::TIGHT, &from.x),
            y: Element::load_below(Y, &from.y),
        }
    }

    /// Coordinates that are known to be below p.
    #[inline(always)]
    pub(crate) fn load_reduced(from: &StoredAffine<N>) -> Self {
        Affine {
            x: Element::load_below(REDUCED, &from.x),
            y: Element::load_below(REDUCED, &from.y),
        }
    }

    #[inline(always)]
    pub(crate) fn store(self, to: &mut StoredAffine<N>) {
        self.x.store_below(M::TIGHT, &mut to.x);
        self.y.store_below(Y, &mut to.y);
    }
}

/// A multiple of a point, and what it was made of.
#[derive(Zeroize)]
pub(crate) struct Product<const N: usize> {
    pub(crate) point: StoredJacobian<N>,
    /// See `check.rs`.
    pub(crate) tally: Digit,
}

impl<const N: usize> StoredJacobian<N> {
    pub(crate) const ZERO: Self = StoredJacobian {
        x: [Digit::ZERO; N],
        y: [Digit::ZERO; N],
        z: [Digit::ZERO; N],
    };
}

impl<const N: usize> StoredAffine<N> {
    pub(crate) const ZERO: Self = StoredAffine {
        x: [Digit::ZERO; N],
        y: [Digit::ZERO; N],
    };
}

/// [`Jacobian::double`] as a function of its own.
pub(crate) struct Double<'a, M, const N: usize> {
    pub(crate) point: &'a mut StoredJacobian<N>,
    pub(crate) times: usize,
    pub(crate) modulus: PhantomData<M>,
}

impl<M: Modulus<N>, const N: usize> Kernel for Double<'_, M, N> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self) {
        Jacobian::<V, M, N>::load(self.point)
            .double(self.times)
            .store(self.point);
    }
}

/// [`Jacobian::add_affine`] as a function of its own.
pub(crate) struct AddAffine<'a, M, const N: usize> {
    pub(crate) point: &'a mut StoredJacobian<N>,
    pub(crate) other: &'a StoredAffine<N>,
    pub(crate) modulus: PhantomData<M>,
}

impl<M: Modulus<N>, const N: usize> Kernel for AddAffine<'_, M, N> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self) {
        Jacobian::<V, M, N>::load(self.point)
            .add_affine(Affine::load(self.other))
            .store(self.point);
    }
}
