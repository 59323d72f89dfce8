//! ECDSA signatures (FIPS 186-5, section 6.4): r = x(k G) mod n, s = (z + r d) / k mod n.
//!
//! ```text
//! k, hedged      nonce.rs
//! k G            comb.rs, with k or n - k, which have the same x
//! 1/Z, 1/k       invert.rs, both in one loop
//! r, s
//! checks         checks.rs
//! ```
//!
//! Constant time, except that an error tells that r or s was 0.

use super::affine::with_inverse;
use super::bound::{Limit, REDUCED};
use super::check::tally_is_of;
use super::comb::{self, Comb, MultiplyBase};
use super::curve::{Curve, on_curve};
use super::element::Element;
use super::invert::InvertTwo;
use super::modulus::Modulus;
use super::point::{Affine, StoredAffine};
use super::recode;
use crate::checks::Check;
use crate::vector::{Digit, Kernel, Mask, Vector, reread};
use core::marker::PhantomData;
use zeroize::Zeroize;

/// Signs the digests `z` with the keys `d`.
pub(crate) struct Sign<'a, C, const N: usize> {
    /// Private keys in [1, n - 1].
    pub(crate) d: &'a [Digit; N],
    /// Digests, at most as long as n: hardly above n if at all.
    pub(crate) z: &'a [Digit; N],
    /// Nonces, below n.
    pub(crate) k: &'a [Digit; N],
    pub(crate) comb: &'a Comb<N>,
    pub(crate) curve: PhantomData<C>,
}

/// Eight signatures.
pub(crate) struct Signatures<const N: usize> {
    pub(crate) r: [Digit; N],
    pub(crate) s: [Digit; N],
    /// The lanes without a signature, because k, r or s came out as 0.
    pub(crate) degenerate: Mask,
    /// The lanes that passed all checks. The others have no signature either.
    pub(crate) intact: Mask,
}

impl<C: Curve<N>, const N: usize> Kernel for Sign<'_, C, N> {
    type Output = Signatures<N>;

    #[inline(always)]
    fn run<V: Vector>(self) -> Signatures<N> {
        let k = Element::<V, C::Order, N>::load_below(REDUCED, self.k);
        let mut inverse_k = [Digit::ZERO; N];
        k.store(&mut inverse_k);
        let mut odd = [Digit::ZERO; N];
        recode::odd(k).0.store(&mut odd);
        let mut product = V::call(MultiplyBase {
            k: &odd,
            comb: self.comb,
            curve: PhantomData::<C>,
        });

        let mut inverse_z = [Digit::ZERO; N];
        Element::<V, C::Field, N>::load(&product.point.z)
            .to_plain()
            .store(&mut inverse_z);
        V::call(InvertTwo {
            x: &mut inverse_z,
            y: &mut inverse_k,
            moduli: PhantomData::<(C::Field, C::Order)>,
        });

        let affine = with_inverse::<V, C::Field, N>(&product.point, &inverse_z);
        let r = reduce_x::<V, C, N>(&affine.x);

        // (z + r d) R below 4 n, R / k below 15 n: a product below 5 n, so the last reduction's
        // result is below n.
        let sum = multiply_add::<V, C::Order, N>(r, self.d, self.z).to_montgomery();
        let s = sum.mul(Element::load(&inverse_k)).carry().to_plain();

        let mut signatures = Signatures {
            r: [Digit::ZERO; N],
            s: [Digit::ZERO; N],
            degenerate: k.is_zero() | r.is_zero() | s.is_zero(),
            intact: 0,
        };
        r.store(&mut signatures.r);
        s.store(&mut signatures.s);
        let windows = comb::windows::<C, N>();
        let tally = tally_is_of::<V, C::Order, N>(&product.tally, self.k, windows);
        signatures.intact = Check::Tally.verdict(tally)
            & intact::<V, C, N>([self.d, self.z, self.k], &signatures, &affine);
        odd.zeroize();
        inverse_k.zeroize();
        inverse_z.zeroize();
        product.zeroize();
        signatures
    }
}

/// The lanes that pass the checks of `checks.rs`, but for the tally: with the operands d, z and k.
#[inline(always)]
pub(crate) fn intact<V: Vector, C: Curve<N>, const N: usize>(
    [d, z, k]: [&[Digit; N]; 3],
    signatures: &Signatures<N>,
    affine: &StoredAffine<N>,
) -> Mask {
    let point = Affine::<V, C::Field, N>::load(reread(affine));
    let r = Element::<V, C::Order, N>::load_below(REDUCED, reread(&signatures.r));
    let s = Element::<V, C::Order, N>::load_below(REDUCED, reread(&signatures.s));
    let k = Element::<V, C::Order, N>::load_below(REDUCED, reread(k));
    let left = s.to_montgomery().mul(k).carry();
    let right = multiply_add::<V, C::Order, N>(r, reread(d), reread(z));
    // Both are below 4 n; their difference out of Montgomery form is below n.
    let difference = (left - right).plus(4).carry().to_plain();

    Check::OnCurve.verdict(on_curve::<V, C, N>(point))
        & Check::X.verdict(reduce_x::<V, C, N>(reread(&affine.x)).equals(r))
        & Check::Equation.verdict(difference.is_zero())
}

/// x mod n, for x in Montgomery form modulo p.
#[inline(always)]
pub(crate) fn reduce_x<V: Vector, C: Curve<N>, const N: usize>(
    x: &[Digit; N],
) -> Element<V, C::Order, N> {
    let x = Element::<V, C::Field, N>::load(x).to_plain();
    // n < p < 2 n.
    Element::from_digits(Limit::times(2), x.digits()).below_m()
}

/// r d + z, below 4 n.
#[inline(always)]
fn multiply_add<V: Vector, M: Modulus<N>, const N: usize>(
    r: Element<V, M, N>,
    d: &[Digit; N],
    z: &[Digit; N],
) -> Element<V, M, N> {
    let z = Element::<V, M, N>::load_below(Limit::JUST_ABOVE_ONE, z);
    r.to_montgomery()
        .mul_add(Element::load_below(REDUCED, d), z.sum())
        .carry()
}
