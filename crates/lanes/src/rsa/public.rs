//! The public operation, x^e mod n: RSAEP and RSAVP1 of RFC 8017.
//!
//! Binary, from the top: for e = 65537 sixteen squarings, a multiplication into Montgomery form and one
//! that leaves it (every e is odd, so the last step multiplies by x itself, not in Montgomery form).
//! At 40 digits: 2·6406 + 16·4844 = 90,316 `vpmadd52`.
//!
//! Constant time in x (which is secret when an encryption is made), not in e and n.

use super::key::{self, PublicKey};
use super::montgomery::{Modulus, Multiply, Scratch, Square};
use crate::LANES;
use crate::vector::{Digit, Kernel, Mask, Vector};
use zeroize::Zeroizing;

/// `out = x^e mod n`, below n, for x < n. Lanes without a key give 0.
pub(super) struct PublicPower<'a, const N: usize> {
    keys: [Option<&'a PublicKey>; LANES],
    x: &'a [Digit; N],
    out: &'a mut [Digit; N],
}

impl<'a, const N: usize> PublicPower<'a, N> {
    pub(super) fn new(
        keys: [Option<&'a PublicKey>; LANES],
        x: &'a [Digit; N],
        out: &'a mut [Digit; N],
    ) -> Self {
        Self { keys, x, out }
    }
}

/// The lanes whose exponent has bit `bit`.
fn lanes_with(exponents: &[u64; LANES], bit: u32) -> Mask {
    (0..LANES).fold(0, |mask, lane| {
        mask | ((exponents[lane] >> bit & 1) as Mask) << lane
    })
}

impl<const N: usize> Kernel for PublicPower<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self) {
        let Self { keys, x, out } = self;
        let mut modulus = Modulus::<N>::new();
        modulus.fill(|lane| keys[lane].map(|key| &key.n));
        let mut r2 = [Digit::ZERO; N];
        key::side_by_side(&mut r2, |lane| keys[lane].map(|key| &key.n.r2[..]));
        // All are powers of x, which may be secret.
        let mut buffers = Zeroizing::new([[Digit::ZERO; N]; 3]);
        let [base, power, other] = &mut *buffers;
        key::side_by_side(power, |lane| keys[lane].map(|key| &key.n.one[..]));
        let exponents: [u64; LANES] =
            core::array::from_fn(|lane| keys[lane].map_or(1, |key| key.e));
        let top = 63 - exponents.iter().fold(3, |all, e| all | e).leading_zeros();

        let (modulus, scratch) = (&modulus, &mut *Scratch::new());
        V::call(Multiply {
            a: x,
            b: &r2,
            modulus,
            scratch,
            out: base,
        });
        // A lane with a shorter exponent starts at 1 and squares that until its top bit comes.
        blend::<V, N>(power, base, lanes_with(&exponents, top));
        let (mut power, mut other) = (power, other);
        for bit in (1..top).rev() {
            V::call(Square {
                a: power,
                modulus,
                scratch,
                ahead: &[],
                out: other,
            });
            core::mem::swap(&mut power, &mut other);
            let lanes = lanes_with(&exponents, bit);
            if lanes != 0 {
                V::call(Multiply {
                    a: power,
                    b: base,
                    modulus,
                    scratch,
                    out: other,
                });
                blend::<V, N>(power, other, lanes);
            }
        }
        V::call(Square {
            a: power,
            modulus,
            scratch,
            ahead: &[],
            out: other,
        });
        V::call(Multiply {
            a: other,
            b: x,
            modulus,
            scratch,
            out,
        });
        modulus.canonical::<V>(out);
    }
}

/// Takes `other` in the lanes of the mask.
#[inline(always)]
fn blend<V: Vector, const N: usize>(x: &mut [Digit; N], other: &[Digit; N], lanes: Mask) {
    for (x, other) in x.iter_mut().zip(other) {
        V::load(x).blend(lanes, V::load(other)).store(x);
    }
}
