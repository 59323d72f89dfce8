//! The number-theoretic transform (FIPS 204, section 7.5, algorithms 41 and 42).
//!
//! A polynomial is in registers as a whole: 16 of 16 coefficients. The first four layers, whose butterflies are 128, 64, 32 and 16
//! coefficients apart, join whole registers. For the others, whose distance is 8, 4, 2 and 1, two neighbouring registers are
//! arranged so that one has the first halves of 16 butterflies and the other the second halves; `vpermt2d` leads from one arrangement
//! to the next, and the last one back to the order of FIPS 204.
//!
//! # What coefficients may reach
//! Nothing is reduced but by the products. Forwards, each layer adds a product to the coefficient, at most q / 2 and a thousandth of
//! the other coefficient. From q, eight layers reach 5.1 q. Backwards, a layer makes the sum and a product of the difference. From q, eight
//! layers reach 256 q, which is just below 2^31; the last product leaves 0.76 q. `tests.rs` proves these sums.

use super::numbers::{Factor, Factors, multiply};
use super::ring::{Polynomial, VECTORS};
use super::{N, Q};
use crate::vector::words::{WORDS, WordKernel, Words, digit};
use crate::vector::{Digit, Vector, unroll};

/// ζ = 1753 to a power, modulo q.
pub(super) const fn power(exponent: usize) -> i64 {
    let (mut result, mut square, mut rest) = (1, 1753, exponent);
    while rest > 0 {
        if rest % 2 == 1 {
            result = result * square % Q as i64;
        }
        square = square * square % Q as i64;
        rest /= 2;
    }
    result
}

/// The eight bits in the other order.
pub(super) const fn reversed(i: usize) -> usize {
    (i as u8).reverse_bits() as usize
}

/// The polynomial's transform. Takes coefficients within ±q, gives them within ±5.1 q.
pub(super) struct Transform<'a>(pub(super) &'a mut Polynomial);

/// The polynomial whose transform is 2^32 times this one. Takes coefficients within ±q, gives them within ±0.76 q.
pub(super) struct Inverse<'a>(pub(super) &'a mut Polynomial);

impl WordKernel for Transform<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector, W: Words>(self) {
        let mut a = load::<W>(self.0);
        unroll!(I < 8 => { butterfly(&mut a, I, I + 8, TOP[1].splat()); });
        unroll!(I < 8 => { butterfly(&mut a, first::<4>(I), first::<4>(I) + 4, TOP[2 + I / 4].splat()); });
        unroll!(I < 8 => { butterfly(&mut a, first::<2>(I), first::<2>(I) + 2, TOP[4 + I / 2].splat()); });
        unroll!(I < 8 => { butterfly(&mut a, 2 * I, 2 * I + 1, TOP[8 + I].splat()); });
        unroll!(L < 4 => {
            arrange(&mut a, &FORWARDS[L]);
            unroll!(I < 8 => { butterfly(&mut a, 2 * I, 2 * I + 1, LAYERS[L][I].load()); });
        });
        arrange(&mut a, &FORWARDS[4]);
        store(a, self.0);
    }
}

impl WordKernel for Inverse<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector, W: Words>(self) {
        let mut a = load::<W>(self.0);
        unroll!(L < 4 => {
            arrange(&mut a, &BACKWARDS[L]);
            unroll!(I < 8 => { back(&mut a, 2 * I, 2 * I + 1, LAYERS_BACK[3 - L][I].load()); });
        });
        arrange(&mut a, &BACKWARDS[4]);
        unroll!(I < 8 => { back(&mut a, 2 * I, 2 * I + 1, TOP[15 - I].splat()); });
        unroll!(I < 8 => { back(&mut a, first::<2>(I), first::<2>(I) + 2, TOP[7 - I / 2].splat()); });
        unroll!(I < 8 => { back(&mut a, first::<4>(I), first::<4>(I) + 4, TOP[3 - I / 4].splat()); });
        unroll!(I < 8 => { back(&mut a, I, I + 8, TOP[1].splat()); });
        // 2^32 / 256: `Factor::new` has the 2^32 that the multiplication takes away.
        const LAST: Factor<i32> = Factor::new((1 << 32) / N as i64);
        unroll!(I < 8 => {
            a[I] = multiply(a[I], LAST.splat());
            a[I + 8] = multiply(a[I + 8], LAST.splat());
        });
        store(a, self.0);
    }
}

/// The first register of butterfly `i` of those that are so many registers apart.
const fn first<const APART: usize>(i: usize) -> usize {
    2 * APART * (i / APART) + i % APART
}

#[inline(always)]
fn load<W: Words>(from: &Polynomial) -> [W; VECTORS] {
    let mut a = [W::splat(0); VECTORS];
    unroll!(I < 8 => {
        a[I] = W::load(&from[I]);
        a[I + 8] = W::load(&from[I + 8]);
    });
    a
}

#[inline(always)]
fn store<W: Words>(a: [W; VECTORS], to: &mut Polynomial) {
    unroll!(I < 8 => {
        a[I].store(&mut to[I]);
        a[I + 8].store(&mut to[I + 8]);
    });
}

#[inline(always)]
fn butterfly<W: Words>(a: &mut [W; VECTORS], i: usize, j: usize, zeta: Factor<W>) {
    let product = multiply(a[j], zeta);
    a[j] = a[i].sub(product);
    a[i] = a[i].add(product);
}

#[inline(always)]
fn back<W: Words>(a: &mut [W; VECTORS], i: usize, j: usize, zeta: Factor<W>) {
    let difference = a[j].sub(a[i]);
    a[i] = a[i].add(a[j]);
    a[j] = multiply(difference, zeta);
}

/// Leads each two registers from one arrangement to another.
#[inline(always)]
fn arrange<W: Words>(a: &mut [W; VECTORS], [first, second]: &[Digit; 2]) {
    let (first, second) = (W::load(first), W::load(second));
    unroll!(I < 8 => {
        let (low, high) = (a[2 * I], a[2 * I + 1]);
        a[2 * I] = first.pick(low, high);
        a[2 * I + 1] = second.pick(low, high);
    });
}

/// ζ^reversed(i) for the layers that join registers.
static TOP: [Factor<i32>; 16] = {
    let mut top = [Factor::new(0); 16];
    let mut i = 1;
    while i < 16 {
        top[i] = Factor::new(power(reversed(i)));
        i += 1;
    }
    top
};

/// The place in its pair of registers, 0 to 31, of each number of a pair that is arranged for butterflies `distance` apart; 0
/// means the order.
const fn arrangement(distance: usize) -> [usize; 2 * WORDS] {
    let mut places = [0; 2 * WORDS];
    let (mut first, mut i) = (0, 0);
    while i < 2 * WORDS {
        if distance == 0 {
            places[i] = i;
        } else if (i / distance).is_multiple_of(2) {
            places[first] = i;
            places[first + WORDS] = i + distance;
            first += 1;
        }
        i += 1;
    }
    places
}

/// What `arrange` needs to lead from one arrangement to another.
const fn lead(from: usize, to: usize) -> [Digit; 2] {
    let (from, to) = (arrangement(from), arrangement(to));
    let mut picks = [[0; WORDS]; 2];
    let mut i = 0;
    while i < 2 * WORDS {
        let mut j = 0;
        while from[j] != to[i] {
            j += 1;
        }
        picks[i / WORDS][i % WORDS] = j as i32;
        i += 1;
    }
    [digit(picks[0]), digit(picks[1])]
}

static FORWARDS: [[Digit; 2]; 5] = [lead(0, 8), lead(8, 4), lead(4, 2), lead(2, 1), lead(1, 0)];
static BACKWARDS: [[Digit; 2]; 5] = [lead(0, 1), lead(1, 2), lead(2, 4), lead(4, 8), lead(8, 0)];

/// The factors of the layers of distance 8, 4, 2, 1, for each pair of registers.
static LAYERS: [[Factors; 8]; 4] = layers(false);
/// The same for the way back, which takes them in the other order.
static LAYERS_BACK: [[Factors; 8]; 4] = layers(true);

const fn layers(back: bool) -> [[Factors; 8]; 4] {
    let mut layers = [[Factors::of([Factor::new(0); WORDS]); 8]; 4];
    let mut layer = 0;
    while layer < 4 {
        let distance = 8 >> layer;
        let places = arrangement(distance);
        let mut pair = 0;
        while pair < 8 {
            let mut factors = [Factor::new(0); WORDS];
            let mut i = 0;
            while i < WORDS {
                let block = (2 * WORDS * pair + places[i]) / (2 * distance);
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
