//! Were the right multiples of a point added? The tally of what was looked up tells.
//!
//! It is one of the checks of `checks.rs`, which has them all and says why they find a fault; the others are made in
//! `ecdsa.rs` and `ecdh.rs`, where the results are. All together take 3 % of the time. To verify a signature with the
//! public key would take five times as long as to make it.
//!
//! The right-hand sides start from the operands in memory, read anew. A disturbed nonce that is used consistently is but
//! another nonce.
//!
//! One operation across the lanes adds up k G in another order and has a tally of its own: `wide/comb.rs`.
//!
//! Constant time.

use super::bound::REDUCED;
use super::element::Element;
use super::modulus::Modulus;
use super::recode::{self, Windows};
use crate::vector::{DIGIT, Digit, Mask, Vector, reread};
use zeroize::Zeroize;

/// Any odd number that is not small: one wrong digit among all then changes the sum.
pub(crate) const MULTIPLIER: u64 = 0x9_e377_9b97_f4a7;

/// Σ d_i c^i mod 2^52 over the digits d_i of eight scalars, c odd.
///
/// A table gives, beside an entry's coordinates and by the same selection, what it is the multiple
/// of; the sum over them equals that over the scalar's digits if all lookups were right.
#[derive(Clone, Copy)]
pub(crate) struct Tally<V>(V);

impl<V: Vector> Tally<V> {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Tally(V::zero())
    }

    /// Adds the next lower digit: `multiple`, or minus that in the lanes of the mask.
    #[inline(always)]
    pub(crate) fn add(self, multiple: V, negative: Mask) -> Self {
        let digit = multiple.blend(negative, V::zero().sub(multiple));
        Tally(digit.madlo(self.0, V::splat(MULTIPLIER)))
    }

    #[inline(always)]
    pub(crate) fn store(self) -> Digit {
        let mut digit = Digit::ZERO;
        self.0.and(V::splat(DIGIT)).store(&mut digit);
        digit
    }
}

/// The lanes where `tally` is that of the scalar `k`, cut so.
#[inline(always)]
pub(crate) fn tally_is_of<V: Vector, M: Modulus<N>, const N: usize>(
    tally: &Digit,
    k: &[Digit; N],
    windows: Windows,
) -> Mask {
    let mut odd = [Digit::ZERO; N];
    recode::odd::<V, M, N>(Element::load_below(REDUCED, reread(k)))
        .0
        .store(&mut odd);
    let mut sum = Tally::<V>::new();
    for i in (0..windows.count).rev() {
        let digit = recode::digit::<V, N>(&odd, i, windows);
        let multiple = digit.index.add(digit.index).add(V::splat(1));
        sum = sum.add(multiple, digit.negative);
    }
    odd.zeroize();
    V::load(tally).eq(V::load(&sum.store()))
}
