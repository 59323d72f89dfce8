//! One public key, Q = d G, across the lanes.
//!
//! ```text
//! d G          comb.rs, eight windows at once, with d or n - d
//! 1/Z          invert.rs
//! checks       checks.rs; every lane reckons the same, and all have to pass
//! ```
//!
//! Constant time in the private key.

use super::comb::{MultiplyBase, Table, tally_is_of};
use super::complete::Homogeneous;
use crate::checks::Check;
use crate::vector::{Digit, Kernel, Mask, Vector, reread};
use crate::weierstrass::bound::REDUCED;
use crate::weierstrass::curve::{Curve, on_curve};
use crate::weierstrass::ecdh::Points;
use crate::weierstrass::element::{Element, Sum};
use crate::weierstrass::modulus::Modulus;
use crate::weierstrass::point::{Affine, StoredAffine};
use crate::weierstrass::recode;
use core::marker::PhantomData;
use zeroize::Zeroize;

/// Q = d G, in plain affine coordinates below p.
pub(crate) struct PublicKey<'a, C, const N: usize> {
    /// The private key, in [1, n - 1], in every lane.
    pub(crate) d: &'a [Digit; N],
    pub(crate) table: &'a Table<N>,
    pub(crate) curve: PhantomData<C>,
}

impl<C: Curve<N>, const N: usize> Kernel for PublicKey<'_, C, N> {
    /// The same point in every lane.
    type Output = Points<N>;

    #[inline(always)]
    fn run<V: Vector>(self) -> Points<N> {
        let mut k = [Digit::ZERO; N];
        let (odd, _) = recode::odd::<V, C::Order, N>(Element::load_below(REDUCED, self.d));
        odd.store(&mut k);
        let mut product = V::call(MultiplyBase {
            k: &k,
            table: self.table,
            curve: PhantomData::<C>,
        });
        let (_, negated) =
            recode::odd::<V, C::Order, N>(Element::load_below(REDUCED, reread(self.d)));
        let mut affine = Homogeneous::<V, C::Field, N>::load(&product.point).to_affine();
        Affine::<V, C::Field, N>::load_reduced(&affine)
            .negate(negated)
            .store(&mut affine);

        let mut public = StoredAffine::ZERO;
        let point = Affine::<V, C::Field, N>::load(&affine);
        let (x, y) = (point.x.to_plain(), point.y.to_plain());
        x.store(&mut public.x);
        y.store(&mut public.y);

        let point = Affine::<V, C::Field, N>::load(reread(&affine));
        let (odd, negated) =
            recode::odd::<V, C::Order, N>(Element::load_below(REDUCED, reread(self.d)));
        odd.store(&mut k);
        let (x, y) = (
            Element::load(reread(&public.x)),
            Element::load(reread(&public.y)),
        );
        let product_again = Homogeneous::load(reread(&product.point));
        let intact = Check::Tally.verdict(tally_is_of::<V, C, N>(&product.tally, &k))
            & Check::OnCurve.verdict(on_curve::<V, C, N>(point))
            & Check::SignOfY.verdict(same_sign(product_again, point, negated))
            & Check::X.verdict(point.x.to_plain().equals(x))
            & Check::Y.verdict(point.y.to_plain().equals(y));
        k.zeroize();
        product.zeroize();
        Points {
            affine: public,
            intact,
        }
    }
}

/// The lanes where y Z is Y, or -Y in the lanes of the mask: y and -y are both on the curve.
#[inline(always)]
fn same_sign<V: Vector, M: Modulus<N>, const N: usize>(
    point: Homogeneous<V, M, N>,
    affine: Affine<V, M, N>,
    negated: Mask,
) -> Mask {
    let expected = point.y.sum().blend(negated, Sum::multiple(3) - point.y);
    // y Z is below 2 p, Y and -Y + 3 p are at most a hair above 3 p.
    let difference = affine.y.mul(point.z) - expected;
    difference.plus(4).carry().to_plain().is_zero()
}
