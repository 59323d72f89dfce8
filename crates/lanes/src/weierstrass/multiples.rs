//! The odd multiples P, 3 P, 5 P, … as affine points: the tables of both multiplications.
//!
//! All additions have the same affine summand 2 P without an inversion to make it one: let 2 P be
//! (x₂ : y₂ : z₂). On the isomorphic curve whose coordinates are x z₂², y z₂³ it is the affine point
//! (x₂, y₂), and P is (x z₂², y z₂³). Additions don't depend on the curve's coefficients; a point
//! with Z there has Z z₂ here. Then one inversion serves all:
//!
//! ```text
//! c_i = z_0 z_1 … z_i        1/z_i = c_{i-1} / c_i        1/c_{i-1} = z_i / c_i
//! ```
//!
//! Constant time. For 8 additions and more of a point the affine table pays for its inversion.

use super::bound::Limit;
use super::element::Element;
use super::invert::Invert;
use super::modulus::Modulus;
use super::point::{AddAffine, Affine, Double, Jacobian, StoredAffine, StoredJacobian};
use crate::vector::{Digit, Kernel, Vector};
use core::marker::PhantomData;
use zeroize::Zeroize;

/// What the products of Z are below.
const PRODUCT: Limit = Limit::times(2);

/// Fills `table` with (2 i + 1) P at index i, coordinates in Montgomery form and below p.
///
/// P's coordinates are in Montgomery form and within the limits of `point.rs`.
pub(crate) struct OddMultiples<'a, M, const N: usize> {
    pub(crate) point: &'a StoredAffine<N>,
    pub(crate) table: &'a mut [StoredAffine<N>],
    pub(crate) modulus: PhantomData<M>,
}

impl<M: Modulus<N>, const N: usize> Kernel for OddMultiples<'_, M, N> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self) {
        let Self {
            point,
            table,
            modulus,
        } = self;
        let one = Element::<V, M, N>::one();
        let point = Affine::<V, M, N>::load(point);
        let mut sum = StoredJacobian::ZERO;
        point.to_jacobian().store(&mut sum);
        V::call(Double {
            point: &mut sum,
            times: 1,
            modulus,
        });
        let step = StoredAffine { x: sum.x, y: sum.y };
        let z2 = Jacobian::<V, M, N>::load(&sum).z;
        let mut z = vec![sum.z; table.len()];
        let mut product = z.clone();

        // P on the isomorphic curve.
        let zz = z2.square().factor();
        Affine {
            x: point.x.mul(zz).carry(),
            y: point.y.mul(zz.mul(z2).factor()).carry(),
        }
        .to_jacobian()
        .store(&mut sum);

        let mut c = z2;
        for i in 0..table.len() {
            if i > 0 {
                V::call(AddAffine {
                    point: &mut sum,
                    other: &step,
                    modulus,
                });
                let z_here = Jacobian::load(&sum).z.mul(z2).carry();
                z_here.store_below(PRODUCT, &mut z[i]);
                c = c.mul(z_here).carry();
                c.store_below(PRODUCT, &mut product[i]);
            }
            table[i] = StoredAffine { x: sum.x, y: sum.y };
        }

        let mut inverse = [Digit::ZERO; N];
        c.to_plain().store(&mut inverse);
        V::call(Invert {
            x: &mut inverse,
            modulus,
        });
        // 1/c_i in Montgomery form, below 2 p.
        let mut inverse_c = Element::<V, M, N>::load(&inverse).mul(one).factor();
        for i in (0..table.len()).rev() {
            let inverse_z = if i > 0 {
                inverse_c
                    .mul(Element::load_below(PRODUCT, &product[i - 1]))
                    .factor()
            } else {
                inverse_c
            };
            inverse_c = inverse_c.mul(Element::load_below(PRODUCT, &z[i])).factor();
            let entry = &mut table[i];
            let zz = inverse_z.square().factor();
            let Affine { x, y } = Affine::<V, M, N>::load(entry);
            Affine {
                x: x.mul(zz).carry().below_m(),
                y: y.mul(zz.mul(inverse_z).factor()).carry().below_m(),
            }
            .store(entry);
        }
        z.zeroize();
        product.zeroize();
        sum.zeroize();
    }
}
