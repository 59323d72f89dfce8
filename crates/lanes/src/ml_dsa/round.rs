//! Numbers in two parts, and hints (FIPS 204, section 7.4).
//!
//! Vectors have numbers from 0 to q - 1. Constant time.

use super::Q;
use crate::vector::words::{WordMask, Words};

/// Bits that a public key leaves out of each coefficient.
pub(super) const DROPPED: u32 = 13;

/// The two choices of γ2, half the distance of the multiples to which [`decompose`] rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rounding {
    /// γ2 = (q - 1) / 88: 44 multiples.
    By88,
    /// γ2 = (q - 1) / 32: 16 multiples.
    By32,
}

impl Rounding {
    /// γ2.
    pub(super) const fn half(self) -> i32 {
        // Of constants: no division is left.
        match self {
            Rounding::By88 => (Q - 1) / 88,
            Rounding::By32 => (Q - 1) / 32,
        }
    }

    /// How many multiples of 2 γ2 there are: (q - 1) / (2 γ2).
    pub(super) const fn multiples(self) -> i32 {
        match self {
            Rounding::By88 => 44,
            Rounding::By32 => 16,
        }
    }
}

/// Power2Round: the number is `high` times 2^13, plus `low`, which is above -2^12 and at most 2^12.
#[inline(always)]
pub(super) fn power2round<W: Words>(number: W) -> (W, W) {
    let high = number.add(W::splat((1 << (DROPPED - 1)) - 1));
    let high = high.shr::<DROPPED>();
    (high, number.sub(high.shl::<DROPPED>()))
}

/// Decompose: the number is `high` times 2 γ2, plus `low`, which is above -γ2 and at most γ2. But where `high` would be all
/// multiples, it is 0, and `low` one less.
#[inline(always)]
pub(super) fn decompose<W: Words>(rounding: Rounding, number: W) -> (W, W) {
    let above = number.add(W::splat(rounding.half() - 1));
    // Over 2 γ2, which is 93 · 2^11 or 1023 · 2^9. The test tries all numbers.
    let high = match rounding {
        Rounding::By88 => above.shr::<11>().mul_low(W::splat(11_276)).shr::<20>(),
        Rounding::By32 => {
            let over = above.shr::<9>();
            over.add(over.shr::<10>()).add(W::splat(1)).shr::<10>()
        }
    };
    let low = number.sub(high.mul_low(W::splat(2 * rounding.half())));
    let fits = high.below(W::splat(rounding.multiples()));
    let one_less = low.sub(W::splat(1));
    (W::splat(0).blend(fits, high), one_less.blend(fits, low))
}

/// MakeHint: where the upper part of `a + b` is not that of `a`. Takes `a` and `a + b`.
#[inline(always)]
pub(super) fn make_hint<W: Words>(rounding: Rounding, a: W, sum: W) -> WordMask {
    let (high, _) = decompose(rounding, a);
    let (other, _) = decompose(rounding, sum);
    !high.sub(other).below(W::splat(1))
}

/// UseHint: the upper part of the number, or where there is a hint, that of its neighbour.
#[inline(always)]
pub(super) fn use_hint<W: Words>(rounding: Rounding, hint: WordMask, number: W) -> W {
    let (high, low) = decompose(rounding, number);
    let all = W::splat(rounding.multiples());
    let next = high.add(W::splat(1));
    let next = W::splat(0).blend(next.below(all), next);
    let before = high.sub(W::splat(1));
    let before = W::splat(rounding.multiples() - 1).blend(before.below(all), before);
    // Less one, what is positive is below 2^31 - 1 as an unsigned number, and nothing else is.
    let positive = low.sub(W::splat(1)).below(W::splat(i32::MAX));
    high.blend(hint, before.blend(positive, next))
}
