//! One multiple of one point of the Montgomery form of the curve by its u-coordinate (RFC 7748 section 5).
//!
//! # A step is two products
//! The ladder is that of `montgomery.rs`: D is the point that was doubled last and S the other one; they differ by the
//! given point P. A step doubles T, which is D or S as the next bit wants it, and adds D and S. With eight lanes each
//! of the two takes two products in a row, if S is kept times the u-coordinate w of P as well. D+ is x + z of D, D- is
//! x - z:
//!
//! ```text
//! lane           0         1         2         3         4       5       6       7
//! state          x_S       z_S       w x_S     w z_S                     x_D     z_D
//! sums           S+        S-        w S+      w S-                      D+      D-
//! first product  D- S+     D+ S-     D- w S+   D+ w S-   T+^2    T-^2    T+^2    T-^2
//! sums           P         M         w P       w M       A       B               E
//! second product P P       M w M     P w P     w M w M                   A B     E (A + 121665 E)
//! ```
//!
//! Here P = D- S+ + D+ S-, M is their difference, A = T+^2, B = T-^2 and E = A - B; the second product is the state
//! after the step. Lanes take their operands from others by permutations; which is T is in their indices, not in a
//! branch or an address.
//!
//! A step is 100 multiply-adds of the products, 13 of carries and of the small multiple, and 10 `vpmullq`. Zen 5 takes
//! 123 cycles for it, half of them in waiting.
//!
//! # The check
//! It is that of `montgomery.rs`: at the end S and D still differ by P, and each bit is read twice. A mistake in a lane
//! that holds a multiple by w (lanes 2 and 3) spoils S in the next step, as P w M and w M w M take part in it, and is
//! found if anything is wrong that is released: the relation holds for the point D + P alone.
//!
//! Everything is constant time.

use super::field::{Columns, Element};
use crate::checks::Check;
use crate::curve25519::field;
use crate::curve25519::inverse;
use crate::curve25519::montgomery::are_sum;
use crate::curve25519::words::Words;
use crate::vector::{Digit, Mask, Vector, opaque, opaque_mask, reread};
use zeroize::Zeroizing;

/// Bits of a scalar.
const BITS: usize = 255;

/// (A - 2) / 4 of the curve, in the lane of z_D.
const SMALL: Digit = Digit([0, 0, 0, 0, 0, 0, 0, 121_665]);

/// Where the first product's operands are, if T is D: the left ones ...
const LEFT_D: Digit = Digit([7, 6, 7, 6, 6, 7, 6, 7]);
/// ... if T is S,
const LEFT_S: Digit = Digit([7, 6, 7, 6, 0, 1, 0, 1]);
/// the right ones if T is D,
const RIGHT_D: Digit = Digit([0, 1, 2, 3, 6, 7, 6, 7]);
/// and if T is S.
const RIGHT_S: Digit = Digit([0, 1, 2, 3, 0, 1, 0, 1]);

/// Where the second product's operands are.
const LEFT: Digit = Digit([0, 1, 0, 3, 4, 4, 4, 7]);
const RIGHT: Digit = Digit([0, 3, 2, 3, 5, 5, 5, 4]);

/// The number of one lane, in all lanes.
#[inline(always)]
fn of_lane<V: Vector>(words: &Words, lane: usize) -> field::Element<V> {
    let words = Zeroizing::new(Words::splat(words.lane(lane)));
    field::Element::from_words(&words)
}

/// The u-coordinate of a scalar times a point, 0 for the neutral point; and whether it passed the check (which the
/// neutral point does not): both in lane 0. Scalar and point are in all lanes alike; bit 255 of the scalar is clear.
#[inline(always)]
pub(crate) fn multiply<V: Vector>(scalar: &Words, point: &Words) -> (Words, Mask) {
    let (ends, misled) = ladder::<V>(scalar, point);
    // The first lane of each.
    let (z, x_next, z_next) = (of_lane(&ends, 1), of_lane(&ends, 2), of_lane(&ends, 3));
    let x = field::Element::<V>::from_words(&ends);
    let quotient = x.mul(inverse::invert_first(z)).carry().to_words();

    let differ = are_sum::<V>(
        field::Element::from_words(reread(point)),
        field::Element::from_words(reread(&quotient)),
        (x_next, z_next),
    );
    let right = Check::LadderBits.verdict(!misled) & Check::LadderDifference.verdict(differ);
    (quotient, right)
}

/// x and z of the multiple in lanes 0 and 1, of the other point in lanes 2 and 3; and all ones where a bit was not the
/// same twice.
#[inline(always)]
fn ladder<V: Vector>(scalar: &Words, point: &Words) -> (Zeroizing<Words>, Mask) {
    let w = Element::<V>::from_words(point);
    // S = P = (w : 1), D = (1 : 0). The product with itself has w^2 in all lanes.
    let one = [V::splat(1), V::zero(), V::zero(), V::zero(), V::zero()];
    let zero = Element([V::zero(); 5]);
    let state = zero
        .blend(0b0000_1001, w)
        .blend(0b0100_0010, Element(one))
        .blend(0b0000_0100, w.mul(w).carry());
    let mut state = Columns(state.0);
    let (mut last, mut last_again) = (0, 0);
    let mut misled = 0;
    for i in (0..BITS).rev() {
        let bit = bit::<V>(scalar, i);
        let double_sum = bit ^ last;
        last = bit;
        // What steers, and not the bit alone: held against bits that were read another time.
        let again = self::bit::<V>(reread(scalar), i);
        misled |= opaque_mask(double_sum) ^ again ^ last_again;
        last_again = again;
        let left = V::load(&LEFT_D).blend(double_sum, V::load(&LEFT_S));
        let right = V::load(&RIGHT_D).blend(double_sum, V::load(&RIGHT_S));
        let sums = state.with_neighbours(0b1010_1010, 0);
        let products = sums.permute(left).mul(sums.permute(right));
        let sums = products.with_neighbours(0b1000_1010, 0b0011_0000);
        let left = sums.permute(V::load(&LEFT));
        let right = sums.permute(V::load(&RIGHT));
        state = left.mul(right.add_multiple(sums, V::load(&SMALL)));
    }
    // D is the multiple if the last bit was clear, S if it was set.
    let clear = V::load(&Digit([6, 7, 0, 1, 0, 0, 0, 0]));
    let set = V::load(&Digit([0, 1, 6, 7, 0, 0, 0, 0]));
    let ends = state.carry().permute(clear.blend(last, set));
    misled |= opaque_mask(last) ^ last_again;
    (Zeroizing::new(ends.to_words()), misled)
}

/// Bit `i` of the scalar, in all lanes what lane 0 has. (Lanes that were not of one mind would be a mistake that
/// another check finds.)
#[inline(always)]
fn bit<V: Vector>(scalar: &Words, i: usize) -> Mask {
    let lanes = V::load(&scalar.0[i / 64]).test(V::splat(1 << (i % 64)));
    opaque(u64::from(lanes & 1).wrapping_neg()) as Mask
}
