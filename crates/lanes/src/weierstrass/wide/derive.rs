//! One shared secret, x(d Q) for a peer's Q that must be on the curve (`weierstrass/ecdh.rs`), across the lanes.
//!
//! ```text
//! d Q          multiply.rs
//! 1/Z          invert.rs
//! checks       checks.rs; every lane reckons the same, and all have to pass
//! ```
//!
//! Constant time in the private key.

use super::complete::Homogeneous;
use super::multiply::{self, Multiply};
use crate::checks::Check;
use crate::vector::{Digit, Kernel, Vector, reread};
use crate::weierstrass::bound::REDUCED;
use crate::weierstrass::check::tally_is_of;
use crate::weierstrass::curve::{Curve, on_curve};
use crate::weierstrass::ecdh::Secrets;
use crate::weierstrass::element::Element;
use crate::weierstrass::point::{Affine, StoredAffine};
use crate::weierstrass::recode;
use core::marker::PhantomData;
use zeroize::Zeroize;

/// The shared secret x(d Q). All numbers are the same in every lane.
pub(crate) struct Derive<'a, C, const N: usize> {
    /// The private key, in [1, n - 1].
    pub(crate) d: &'a [Digit; N],
    /// The peer's public key, coordinates below p.
    pub(crate) peer: &'a StoredAffine<N>,
    pub(crate) curve: PhantomData<C>,
}

impl<C: Curve<N>, const N: usize> Kernel for Derive<'_, C, N> {
    /// The same secret in every lane.
    type Output = Secrets<N>;

    #[inline(always)]
    fn run<V: Vector>(self) -> Secrets<N> {
        let given = Affine::<V, C::Field, N>::load(self.peer);
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
        let mut shared = Homogeneous::<V, C::Field, N>::load(&product.point).to_affine();
        let mut x = [Digit::ZERO; N];
        Element::<V, C::Field, N>::load(&shared.x)
            .to_plain()
            .store(&mut x);

        let point = Affine::<V, C::Field, N>::load(reread(&shared));
        let (tally, windows) = (&product.tally, multiply::windows::<C, N>());
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
