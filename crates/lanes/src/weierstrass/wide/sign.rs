//! One ECDSA signature (`weierstrass/ecdsa.rs`) across the lanes: r = x(k G) mod n, s = (z + r d) / k mod n.
//!
//! ```text
//! k G          comb.rs, eight windows at once, with k or n - k, which have the same x
//! 1/Z, 1/k     invert.rs, hand in hand
//! s            r (d / k) + z / k: one product after r
//! checks       checks.rs; every lane reckons the same, and all have to pass
//! ```
//!
//! Constant time, except that an error tells that r or s was 0.

use super::comb::{MultiplyBase, Table, tally_is_of};
use super::complete::Homogeneous;
use super::invert::{Prime, invert};
use crate::checks::Check;
use crate::vector::{Digit, Kernel, Vector, reread};
use crate::weierstrass::bound::{Limit, REDUCED};
use crate::weierstrass::curve::Curve;
use crate::weierstrass::ecdsa::{Signatures, intact, reduce_x};
use crate::weierstrass::element::Element;
use crate::weierstrass::modulus::Modulus;
use crate::weierstrass::recode;
use core::marker::PhantomData;
use zeroize::Zeroize;

/// Signs the digest `z` with the key `d`. All numbers are the same in every lane.
pub(crate) struct Sign<'a, C, const N: usize> {
    /// The private key, in [1, n - 1].
    pub(crate) d: &'a [Digit; N],
    /// The digest, at most as long as n.
    pub(crate) z: &'a [Digit; N],
    /// The nonce, below n.
    pub(crate) k: &'a [Digit; N],
    pub(crate) table: &'a Table<N>,
    pub(crate) curve: PhantomData<C>,
}

impl<C: Curve<N>, const N: usize> Kernel for Sign<'_, C, N> {
    /// The same signature in every lane.
    type Output = Signatures<N>;

    #[inline(always)]
    fn run<V: Vector>(self) -> Signatures<N> {
        let k = Element::<V, C::Order, N>::load_below(REDUCED, self.k);
        let mut odd = [Digit::ZERO; N];
        recode::odd(k).0.store(&mut odd);
        let mut product = V::call(MultiplyBase {
            k: &odd,
            table: self.table,
            curve: PhantomData::<C>,
        });
        let point = Homogeneous::<V, C::Field, N>::load(&product.point);

        let mut z = [Digit::ZERO; N];
        point.z.to_plain().store(&mut z);
        let [mut inverse_z, mut inverse_k] = invert(
            [&z, self.k].map(|number| number.each_ref().map(|digit| digit.0[0])),
            const { [&Prime::of::<C::Field>(), &Prime::of::<C::Order>()] },
        );

        // In Montgomery form twice over, so that taking s out of it also reduces it.
        let one_by_k = Element::<V, C::Order, N>::splat(inverse_k).factor();
        let r3 = Element::splat(C::Order::R2).to_montgomery();
        let d_by_k = Element::load_below(REDUCED, self.d)
            .mul(r3)
            .factor()
            .mul(one_by_k)
            .factor();
        let z_by_k = Element::load_below(Limit::JUST_ABOVE_ONE, self.z)
            .to_montgomery()
            .mul(one_by_k);

        let affine = point.with_inverse(inverse_z);
        let r = reduce_x::<V, C, N>(&affine.x);
        let s = r.mul_add(d_by_k, z_by_k).carry().to_plain();

        let mut signature = Signatures {
            r: [Digit::ZERO; N],
            s: [Digit::ZERO; N],
            degenerate: k.is_zero() | r.is_zero() | s.is_zero(),
            intact: 0,
        };
        r.store(&mut signature.r);
        s.store(&mut signature.s);

        let k = Element::<V, C::Order, N>::load_below(REDUCED, reread(self.k));
        recode::odd(k).0.store(&mut odd);
        let tally = tally_is_of::<V, C, N>(&product.tally, &odd);
        signature.intact = Check::Tally.verdict(tally)
            & intact::<V, C, N>([self.d, self.z, self.k], &signature, &affine);
        odd.zeroize();
        z.zeroize();
        inverse_k.zeroize();
        inverse_z.zeroize();
        product.zeroize();
        signature
    }
}
