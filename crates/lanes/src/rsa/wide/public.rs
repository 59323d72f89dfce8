//! x^e mod n, across all lanes.

use super::carry;
use super::layout::Whole;
use super::multiply::{Multiply, load, store};
use crate::rsa::key::PublicKey;
use crate::vector::{Digit, Kernel, Vector};
use zeroize::Zeroizing;

/// `out = x^e mod n`, below n, for x < n.
pub(super) struct PublicPower<'a, const R: usize, const STEPS: usize> {
    pub(super) key: &'a PublicKey,
    pub(super) x: &'a [Digit; R],
    pub(super) out: &'a mut [Digit; R],
}

impl<const R: usize, const STEPS: usize> Kernel for PublicPower<'_, R, STEPS> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self) {
        let Self { key, x, out } = self;
        let modulus = key.wide.n::<R>();
        // All are powers of x, which may be secret.
        let mut buffers = Zeroizing::new([[Digit::ZERO; R]; 3]);
        let [base, power, other] = &mut *buffers;
        let (mut power, mut other) = (power, other);
        let multiply = |a: &[Digit; R], b: &[Digit; R], out: &mut [Digit; R]| {
            V::call(Multiply::<Whole, R, STEPS>::new(a, b, modulus, out));
        };
        multiply(x, key.wide.r2(), base);
        *power = *base;
        for bit in (0..63 - key.e.leading_zeros()).rev() {
            multiply(power, power, other);
            // The last factor is x itself, which leaves Montgomery form.
            let factor = if bit == 0 { x } else { &*base };
            if key.e >> bit & 1 == 1 {
                multiply(other, factor, power);
            } else {
                core::mem::swap(&mut power, &mut other);
            }
        }
        let power = carry::canonical::<V, Whole, R>(load(power), modulus.digits);
        store(power, out);
    }
}
