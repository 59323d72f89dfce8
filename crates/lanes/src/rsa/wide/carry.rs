//! Carries across registers and lanes, all at once.
//!
//! A column passes on what exceeds 52 bits, all columns at the same time. What comes in is small, so that a digit then exceeds 52
//! bits by a carry of 1 at most; but such a carry may run through any number of digits of all ones. A chosen input of an
//! RSA operation can bring this about, so it has to be right, and must not take time. It is what an adder does: a
//! digit *makes* a carry, or *passes* one *on*, or does neither. Comparisons tell which, in masks; the carries
//! follow in a few operations on masks.

use super::layout::Layout;
use crate::vector::{DIGIT, Digit, Mask, Vector, unroll};

/// Where carries (or borrows) go in, and which numbers they come out of.
struct Carries<const R: usize> {
    into: [Mask; R],
    out: Mask,
}

/// Carries from which digits make one (`made`) and which pass one on (`passed`); no digit does both.
///
/// Register by register within each lane, as if no carry came in; then from lane to lane by one addition of masks,
/// in which a run of lanes that pass a carry on is a run of ones that the addition ripples through.
#[inline(always)]
fn carries<L: Layout, const R: usize>(made: [Mask; R], passed: [Mask; R]) -> Carries<R> {
    // Into each register: whether a carry comes out of those below it in the lane, and whether they pass one on.
    let (mut into, mut through) = ([0; R], [Mask::MAX; R]);
    unroll!(J < R of 10 => {
        if J > 0 {
            into[J] = made[J - 1] | passed[J - 1] & into[J - 1];
            through[J] = through[J - 1] & passed[J - 1];
        }
    });
    let made = made[R - 1] | passed[R - 1] & into[R - 1];
    let passed = through[R - 1] & passed[R - 1];
    let ones = passed & !L::HIGHEST;
    let lanes = (made << 1 & !L::LOWEST).wrapping_add(ones) ^ ones;
    unroll!(J < R of 10 => {
        into[J] |= through[J] & lanes;
    });
    Carries {
        into,
        out: made | passed & lanes,
    }
}

/// The digits of numbers in columns below 2^62. Bit 52 of a digit may be set, and means nothing: `vpmadd52` ignores it.
///
/// A number has to fit into its lanes: a carry out of its highest digit is lost.
#[inline(always)]
pub(super) fn normalise<V: Vector, L: Layout, const R: usize>(columns: [V; R]) -> [V; R] {
    // What comes in is below 2^10, so a digit that makes a carry is far from passing a second one on.
    let low = V::splat(DIGIT);
    let mut digits = columns;
    let (mut made, mut passed) = ([0; R], [0; R]);
    unroll!(J < R of 10 => {
        let below = if J == 0 {
            L::up(columns[R - 1].shr::<52>())
        } else {
            columns[J - 1].shr::<52>()
        };
        digits[J] = columns[J].and(low).add(below);
        made[J] = low.lt(digits[J]);
        passed[J] = low.eq(digits[J]);
    });
    let Carries { into, .. } = carries::<L, R>(made, passed);
    unroll!(J < R of 10 => {
        digits[J] = digits[J].blend(into[J], digits[J].add(V::splat(1)));
    });
    digits
}

/// The numbers x < 3m, minus m as often as it takes to be below it; the digits of the result are below 2^52.
#[inline(always)]
pub(super) fn canonical<V: Vector, L: Layout, const R: usize>(
    mut x: [V; R],
    m: &[Digit; R],
) -> [V; R] {
    let low = V::splat(DIGIT);
    unroll!(J < R of 10 => {
        x[J] = x[J].and(low);
    });
    // Most numbers are below 2.001 m. A second time also mends what a fault did to the first.
    for _ in 0..2 {
        let (mut less, mut made, mut passed) = (x, [0; R], [0; R]);
        unroll!(J < R of 10 => {
            let m = V::load(&m[J]);
            less[J] = x[J].sub(m);
            made[J] = x[J].lt(m);
            passed[J] = x[J].eq(m);
        });
        let Carries { into, out } = carries::<L, R>(made, passed);
        // A borrow out of a number's highest lane: it is below m, and stays in all of its lanes.
        let numbers = out >> (L::LANES - 1) & L::LOWEST;
        let stays = numbers.wrapping_mul(L::NUMBER);
        unroll!(J < R of 10 => {
            let difference = less[J].blend(into[J], less[J].sub(V::splat(1)));
            x[J] = difference.and(low).blend(stays, x[J]);
        });
    }
    x
}
