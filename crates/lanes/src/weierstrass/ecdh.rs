//! Public keys, Q = d G, and ECDH (SP 800-56A, section 5.7.1.2): x(d Q) for the peer's Q, which must be
//! on the curve.
//!
//! Constant time in the private keys.

use super::affine::to_affine;
use super::bound::REDUCED;
use super::check::tally_is_of;
use super::comb::{self, Comb, MultiplyBase};
use super::curve::{Curve, on_curve};
use super::element::{Element, Sum};
use super::modulus::Modulus;
use super::point::{Affine, Jacobian, StoredAffine, StoredJacobian};
use super::recode;
use super::window::{self, Multiply};
use crate::checks::Check;
use crate::vector::{Digit, Kernel, Mask, Vector, reread};
use core::marker::PhantomData;
use zeroize::Zeroize;

/// Q = d G, in plain affine coordinates below p.
pub(crate) struct PublicKeys<'a, C, const N: usize> {
    /// Private keys in [1, n - 1].
    pub(crate) d: &'a [Digit; N],
    pub(crate) comb: &'a Comb<N>,
    pub(crate) curve: PhantomData<C>,
}

/// Eight public keys.
pub(crate) struct Points<const N: usize> {
    pub(crate) affine: StoredAffine<N>,
    /// The lanes that passed all checks. The others have no key.
    pub(crate) intact: Mask,
}

impl<C: Curve<N>, const N: usize> Kernel for PublicKeys<'_, C, N> {
    type Output = Points<N>;

    #[inline(always)]
    fn run<V: Vector>(self) -> Points<N> {
        let (odd, negated) = recode::odd::<V, C::Order, N>(Element::load_below(REDUCED, self.d));
        let mut k = [Digit::ZERO; N];
        odd.store(&mut k);
        let mut product = V::call(MultiplyBase {
            k: &k,
            comb: self.comb,
            curve: PhantomData::<C>,
        });
        let mut affine = to_affine::<V, C::Field, N>(&product.point);
        Affine::<V, C::Field, N>::load_reduced(&affine)
            .negate(negated)
            .store(&mut affine);

        let mut public = StoredAffine::ZERO;
        let point = Affine::<V, C::Field, N>::load(&affine);
        let (x, y) = (point.x.to_plain(), point.y.to_plain());
        x.store(&mut public.x);
        y.store(&mut public.y);

        let point = Affine::<V, C::Field, N>::load(reread(&affine));
        let negated = recode::odd::<V, C::Order, N>(Element::load_below(REDUCED, reread(self.d))).1;
        let (tally, windows) = (&product.tally, comb::windows::<C, N>());
        let (x, y) = (
            Element::load(reread(&public.x)),
            Element::load(reread(&public.y)),
        );
        let intact = Check::Tally.verdict(tally_is_of::<V, C::Order, N>(tally, self.d, windows))
            & Check::OnCurve.verdict(on_curve::<V, C, N>(point))
            & Check::SignOfY.verdict(same_sign(reread(&product.point), point, negated))
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

/// The lanes where y Z³ is Y, or -Y in the lanes of the mask: y and -y are both on the curve.
#[inline(always)]
fn same_sign<V: Vector, M: Modulus<N>, const N: usize>(
    point: &StoredJacobian<N>,
    affine: Affine<V, M, N>,
    negated: Mask,
) -> Mask {
    let Jacobian { y, z, .. } = Jacobian::<V, M, N>::load(point);
    let zzz = z.square().factor().mul(z).factor();
    let expected = y.sum().blend(negated, Sum::multiple(5) - y);
    // y Z³ is below 2 p, Y and -Y + 5 p are at most 5 p.
    let difference = affine.y.mul(zzz) - expected;
    difference.plus(6).carry().to_plain().is_zero()
}

/// The shared secrets x(d Q).
pub(crate) struct Derive<'a, C, const N: usize> {
    /// Private keys in [1, n - 1].
    pub(crate) d: &'a [Digit; N],
    /// The peers' public keys, coordinates below p.
    pub(crate) peers: &'a StoredAffine<N>,
    pub(crate) curve: PhantomData<C>,
}

/// Eight shared secrets.
#[derive(Zeroize)]
pub(crate) struct Secrets<const N: usize> {
    pub(crate) x: [Digit; N],
    /// The lanes whose peer's key was on the curve. The others have no secret.
    pub(crate) valid: Mask,
    /// The lanes that passed all checks. The others have no secret either.
    pub(crate) intact: Mask,
}

impl<C: Curve<N>, const N: usize> Kernel for Derive<'_, C, N> {
    type Output = Secrets<N>;

    #[inline(always)]
    fn run<V: Vector>(self) -> Secrets<N> {
        let given = Affine::<V, C::Field, N>::load(self.peers);
        let peer = Affine {
            x: given.x.to_montgomery().below_m(),
            y: given.y.to_montgomery().below_m(),
        };
        let valid = on_curve::<V, C, N>(peer);
        let mut point = StoredAffine::ZERO;
        peer.store(&mut point);

        let mut k = [Digit::ZERO; N];
        recode::odd::<V, C::Order, N>(Element::load_below(REDUCED, self.d))
            .0
            .store(&mut k);
        let mut product = V::call(Multiply {
            k: &k,
            point: &point,
            curve: PhantomData::<C>,
        });
        let mut shared = to_affine::<V, C::Field, N>(&product.point);
        let mut x = [Digit::ZERO; N];
        Element::<V, C::Field, N>::load(&shared.x)
            .to_plain()
            .store(&mut x);

        let point = Affine::<V, C::Field, N>::load(reread(&shared));
        let (tally, windows) = (&product.tally, window::windows::<C, N>());
        let released = Element::load(reread(&x));
        let intact = Check::Tally.verdict(tally_is_of::<V, C::Order, N>(tally, self.d, windows))
            & Check::OnCurve.verdict(on_curve::<V, C, N>(point))
            & Check::X.verdict(point.x.to_plain().equals(released));
        k.zeroize();
        product.zeroize();
        shared.zeroize();
        Secrets { x, valid, intact }
    }
}
