//! The number-theoretic transform (FIPS 203, section 4.3, algorithms 9 and 10).
//!
//! A polynomial is in registers as a whole: 8 of 32 coefficients. The first three layers, whose butterflies are 128, 64 and 32
//! coefficients apart, join whole registers. For the others, whose distance is 16, 8, 4 and 2, two neighbouring registers are
//! arranged so that one has the first halves of 32 butterflies and the other the second halves; `vpermt2w` leads from one arrangement to the next, and the last one back to the order of FIPS 203.
//!
//! # What coefficients may reach
//! Forwards, each layer adds a product to the coefficient, at most 1665 + 32768 / 39 < 2506. From 3329 at the most, seven layers reach
//! 3329 + 7 · 2506 < 2^15, and the end reduces to ±2187. Backwards, a layer makes the sum and a product of the difference. From ±2690, the sums are at
//! most 5380, then 10760, which is reduced to 2187; two layers more give 8748, reduced again, and so do the next two; the last gives 4374. The last
//! product leaves ±(1665 + 4374 / 39) < 1780. Each difference is as large as a sum.

use super::ring::{Polynomial, VECTORS};
use super::shorts::{Factor, Factors, multiply, reduce};
use super::{N, Q};
use crate::vector::shorts::{SHORTS, ShortKernel, Shorts, digit};
use crate::vector::{Digit, Vector, unroll};

/// ζ = 17 to a power, modulo q.
pub(super) const fn power(exponent: usize) -> i64 {
    let (mut result, mut i) = (1, 0);
    while i < exponent {
        result = result * 17 % Q as i64;
        i += 1;
    }
    result
}

/// The seven low bits in the other order.
pub(super) const fn reversed(i: usize) -> usize {
    ((i as u8).reverse_bits() >> 1) as usize
}

/// The polynomial's transform. Takes coefficients within ±3329, gives them within ±2187.
pub(super) struct Transform<'a>(pub(super) &'a mut Polynomial);

/// The polynomial whose transform is 2^16 times this one. Takes coefficients within ±2690, gives them within ±1780.
pub(super) struct Inverse<'a>(pub(super) &'a mut Polynomial);

impl ShortKernel for Transform<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector, S: Shorts>(self) {
        let mut a = load::<S>(self.0);
        unroll!(I < 4 => { butterfly(&mut a, I, I + 4, TOP[1].splat()); });
        unroll!(I < 4 => { butterfly(&mut a, 4 * (I / 2) + I % 2, 4 * (I / 2) + I % 2 + 2, TOP[2 + I / 2].splat()); });
        unroll!(I < 4 => { butterfly(&mut a, 2 * I, 2 * I + 1, TOP[4 + I].splat()); });
        unroll!(L < 4 => {
            arrange(&mut a, &FORWARDS[L]);
            unroll!(I < 4 => { butterfly(&mut a, 2 * I, 2 * I + 1, LAYERS[L][I].load()); });
        });
        arrange(&mut a, &FORWARDS[4]);
        unroll!(I < 8 => { reduce(a[I]).store(&mut self.0[I]); });
    }
}

impl ShortKernel for Inverse<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector, S: Shorts>(self) {
        let mut a = load::<S>(self.0);
        unroll!(L < 4 => {
            arrange(&mut a, &BACKWARDS[L]);
            unroll!(I < 4 => {
                back(&mut a, 2 * I, 2 * I + 1, LAYERS_BACK[3 - L][I].load(), L % 2 == 1);
            });
        });
        arrange(&mut a, &BACKWARDS[4]);
        unroll!(I < 4 => { back(&mut a, 2 * I, 2 * I + 1, TOP[7 - I].splat(), false); });
        unroll!(I < 4 => {
            back(&mut a, 4 * (I / 2) + I % 2, 4 * (I / 2) + I % 2 + 2, TOP[3 - I / 2].splat(), true);
        });
        unroll!(I < 4 => { back(&mut a, I, I + 4, TOP[1].splat(), false); });
        // 2^16 / 128, times 2^16 for the multiplication.
        const LAST: Factor<i16> = Factor::new((1 << 16) / 128);
        unroll!(I < 8 => { multiply(a[I], LAST.splat()).store(&mut self.0[I]); });
    }
}

#[inline(always)]
fn load<S: Shorts>(from: &Polynomial) -> [S; VECTORS] {
    let mut a = [S::splat(0); VECTORS];
    unroll!(I < 8 => { a[I] = S::load(&from[I]); });
    a
}

#[inline(always)]
fn butterfly<S: Shorts>(a: &mut [S; VECTORS], i: usize, j: usize, zeta: Factor<S>) {
    let product = multiply(a[j], zeta);
    a[j] = a[i].sub(product);
    a[i] = a[i].add(product);
}

#[inline(always)]
fn back<S: Shorts>(a: &mut [S; VECTORS], i: usize, j: usize, zeta: Factor<S>, reduced: bool) {
    let sum = a[i].add(a[j]);
    let difference = a[j].sub(a[i]);
    a[i] = if reduced { reduce(sum) } else { sum };
    a[j] = multiply(difference, zeta);
}

/// Leads each two registers from one arrangement to another.
#[inline(always)]
fn arrange<S: Shorts>(a: &mut [S; VECTORS], [first, second]: &[Digit; 2]) {
    let (first, second) = (S::load(first), S::load(second));
    unroll!(I < 4 => {
        let (low, high) = (a[2 * I], a[2 * I + 1]);
        a[2 * I] = first.pick(low, high);
        a[2 * I + 1] = second.pick(low, high);
    });
}

/// ζ^reversed(i) for the layers that join registers.
static TOP: [Factor<i16>; 8] = {
    let mut top = [Factor::raw(0); 8];
    let mut i = 1;
    while i < 8 {
        top[i] = Factor::new(power(reversed(i)));
        i += 1;
    }
    top
};

/// The place in its pair of registers, 0 to 63, of each number of a pair that is arranged for butterflies `distance` apart; 0 means the order.
const fn arrangement(distance: usize) -> [usize; 2 * SHORTS] {
    let mut places = [0; 2 * SHORTS];
    let (mut first, mut i) = (0, 0);
    while i < 2 * SHORTS {
        if distance == 0 {
            places[i] = i;
        } else if (i / distance).is_multiple_of(2) {
            places[first] = i;
            places[first + SHORTS] = i + distance;
            first += 1;
        }
        i += 1;
    }
    places
}

/// What `arrange` needs to lead from one arrangement to another.
const fn lead(from: usize, to: usize) -> [Digit; 2] {
    let (from, to) = (arrangement(from), arrangement(to));
    let mut picks = [[0; SHORTS]; 2];
    let mut i = 0;
    while i < 2 * SHORTS {
        let mut j = 0;
        while from[j] != to[i] {
            j += 1;
        }
        picks[i / SHORTS][i % SHORTS] = j as i16;
        i += 1;
    }
    [digit(picks[0]), digit(picks[1])]
}

static FORWARDS: [[Digit; 2]; 5] = [lead(0, 16), lead(16, 8), lead(8, 4), lead(4, 2), lead(2, 0)];
static BACKWARDS: [[Digit; 2]; 5] = [lead(0, 2), lead(2, 4), lead(4, 8), lead(8, 16), lead(16, 0)];

/// The factors of the layers of distance 16, 8, 4, 2, for each pair of registers.
static LAYERS: [[Factors; 4]; 4] = layers(false);
/// The same for the way back, which takes them in the other order.
static LAYERS_BACK: [[Factors; 4]; 4] = layers(true);

const fn layers(back: bool) -> [[Factors; 4]; 4] {
    let mut layers = [[Factors::of([Factor::raw(0); SHORTS]); 4]; 4];
    let mut layer = 0;
    while layer < 4 {
        let distance = 16 >> layer;
        let places = arrangement(distance);
        let mut pair = 0;
        while pair < 4 {
            let mut factors = [Factor::raw(0); SHORTS];
            let mut i = 0;
            while i < SHORTS {
                let block = (2 * SHORTS * pair + places[i]) / (2 * distance);
                let blocks = N / 2 / distance;
                let zeta = if back {
                    2 * blocks - 1 - block
                } else {
                    blocks + block
                };
                factors[i] = Factor::new(power(reversed(zeta)));
                i += 1;
            }
            layers[layer][pair] = Factors::of(factors);
            pair += 1;
        }
        layer += 1;
    }
    layers
}
