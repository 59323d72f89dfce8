//! One inversion, or two with different moduli hand in hand, with scalar instructions.
//!
//! The divsteps and their matrices are those of `curve25519/safegcd.rs`, which explains them: a round is 54 divsteps
//! on the lowest limbs, and a matrix that is then applied to (f, g), and modulo m to (d, e). (d, e) starts as (0, R), so
//! the inverse comes out in Montgomery form. 11 rounds suffice for 256 bits, 17 for 384 (`weierstrass/invert.rs` has
//! the bound).
//!
//! The eight lanes invert eight numbers in the time of one. One number is faster here: a divstep is a chain of
//! dependent instructions, and scalar ones take one cycle each where those of the lanes take two and more.
//!
//! Numbers are N signed limbs of 54 bits. f and g stay in [-m, m], d and e in (-2 m, m). Constant time.

use crate::curve25519::safegcd::{Matrix, round, sign};
use crate::digits::negative_inverse;
use crate::vector::DIGIT;
use crate::weierstrass::modulus::Modulus;

/// Bits of a limb, and divsteps in a round.
const ROUND: u32 = 54;

/// The bits of a limb.
const LIMB: u64 = (1 << ROUND) - 1;

/// A number in signed limbs of 54 bits, least significant first. All but the last are in [0, 2^54).
type Limbs<const N: usize> = [i64; N];

/// A prime modulus m.
#[derive(Clone, Copy)]
pub(crate) struct Prime<const N: usize> {
    m: Limbs<N>,
    /// 1/m mod 2^54.
    inverse: u64,
    /// R mod m.
    r: Limbs<N>,
    rounds: usize,
}

impl<const N: usize> Prime<N> {
    pub(crate) const fn of<M: Modulus<N>>() -> Self {
        let low = M::DIGITS[0] | M::DIGITS[1] << 52;
        let bits = 52 * (N - 1) + (64 - M::DIGITS[N - 1].leading_zeros() as usize);
        let steps = (45907 * bits + 26313) / 19929;
        Prime {
            m: to_limbs(&M::DIGITS),
            inverse: negative_inverse(low).wrapping_neg() & LIMB,
            r: to_limbs(&M::R),
            rounds: steps.div_ceil(ROUND as usize),
        }
    }
}

/// Where the divsteps stand: d x = f R, e x = g R (mod m).
struct State<const N: usize> {
    f: Limbs<N>,
    g: Limbs<N>,
    d: Limbs<N>,
    e: Limbs<N>,
    zeta: i64,
}

/// R / x mod m in [0, m) for each x in [0, m): the inverse in Montgomery form of a number that is not. 0 for 0.
///
/// Not inlined, or the compiler would use the lanes' instructions, which are slower here.
#[inline(never)]
pub(crate) fn invert<const S: usize, const N: usize>(
    x: [[u64; N]; S],
    primes: [&Prime<N>; S],
) -> [[u64; N]; S] {
    let mut states: [State<N>; S] = core::array::from_fn(|i| State {
        f: primes[i].m,
        g: to_limbs(&x[i]),
        d: [0; N],
        e: primes[i].r,
        zeta: -1,
    });
    let rounds = primes.iter().map(|prime| prime.rounds).max().unwrap_or(0);
    for _ in 0..rounds {
        // All of these first: they do not wait for each other.
        let matrices = states
            .each_mut()
            .map(|state| round(&mut state.zeta, state.f[0], state.g[0]));
        for i in 0..S {
            states[i].apply(primes[i], &matrices[i]);
        }
    }
    core::array::from_fn(|i| states[i].result(primes[i]))
}

impl<const N: usize> State<N> {
    #[inline(always)]
    fn apply(&mut self, prime: &Prime<N>, matrix: &Matrix) {
        update_inverse(&mut self.d, &mut self.e, prime, matrix);
        update_gcd(&mut self.f, &mut self.g, matrix);
    }

    /// d f, where f is 1 or -1, brought from (-2 m, m) into [0, m).
    fn result(&self, prime: &Prime<N>) -> [u64; N] {
        let negative = sign(self.f[N - 1]);
        let mut d = self.d;
        add_if_negative(&mut d, &prime.m);
        for limb in &mut d {
            *limb = (*limb ^ negative) - negative;
        }
        carry(&mut d);
        add_if_negative(&mut d, &prime.m);
        to_digits(&d)
    }
}

/// (f, g) = (u f + v g, q f + r g) / 2^54.
#[inline(always)]
fn update_gcd<const N: usize>(f: &mut Limbs<N>, g: &mut Limbs<N>, m: &Matrix) {
    let mut low = combine(m.u, f[0], m.v, g[0]) >> ROUND;
    let mut high = combine(m.q, f[0], m.r, g[0]) >> ROUND;
    for i in 1..N {
        low += combine(m.u, f[i], m.v, g[i]);
        high += combine(m.q, f[i], m.r, g[i]);
        f[i - 1] = limb(low);
        g[i - 1] = limb(high);
        low >>= ROUND;
        high >>= ROUND;
    }
    f[N - 1] = low as i64;
    g[N - 1] = high as i64;
}

/// (d, e) = (u d + v e, q d + r e) / 2^54 (mod m). Both stay in (-2 m, m).
#[inline(always)]
fn update_inverse<const N: usize>(
    d: &mut Limbs<N>,
    e: &mut Limbs<N>,
    prime: &Prime<N>,
    matrix: &Matrix,
) {
    // Multiples of m: first to bring d and e from (-2 m, 0) up, then to clear the low 54 bits.
    let (d_negative, e_negative) = (sign(d[N - 1]), sign(e[N - 1]));
    let mut times_d = (matrix.u & d_negative) + (matrix.v & e_negative);
    let mut times_e = (matrix.q & d_negative) + (matrix.r & e_negative);
    let mut low = combine(matrix.u, d[0], matrix.v, e[0]);
    let mut high = combine(matrix.q, d[0], matrix.r, e[0]);
    times_d -= clearing(prime.inverse, low, times_d);
    times_e -= clearing(prime.inverse, high, times_e);
    low += i128::from(prime.m[0]) * i128::from(times_d);
    high += i128::from(prime.m[0]) * i128::from(times_e);
    low >>= ROUND;
    high >>= ROUND;
    for i in 1..N {
        low += combine(matrix.u, d[i], matrix.v, e[i]);
        high += combine(matrix.q, d[i], matrix.r, e[i]);
        low += i128::from(prime.m[i]) * i128::from(times_d);
        high += i128::from(prime.m[i]) * i128::from(times_e);
        d[i - 1] = limb(low);
        e[i - 1] = limb(high);
        low >>= ROUND;
        high >>= ROUND;
    }
    d[N - 1] = low as i64;
    e[N - 1] = high as i64;
}

/// What to take from `times` so that `sum + m times` is divisible by 2^54.
#[inline(always)]
fn clearing(inverse: u64, sum: i128, times: i64) -> i64 {
    let low = inverse
        .wrapping_mul(sum as u64)
        .wrapping_add(times.cast_unsigned());
    (low & LIMB).cast_signed()
}

#[inline(always)]
fn combine(a: i64, x: i64, b: i64, y: i64) -> i128 {
    i128::from(a) * i128::from(x) + i128::from(b) * i128::from(y)
}

/// The low 54 bits.
#[inline(always)]
fn limb(x: i128) -> i64 {
    (x as u64 & LIMB).cast_signed()
}

fn add_if_negative<const N: usize>(d: &mut Limbs<N>, m: &Limbs<N>) {
    let negative = sign(d[N - 1]);
    for (limb, m) in d.iter_mut().zip(m) {
        *limb += m & negative;
    }
    carry(d);
}

fn carry<const N: usize>(d: &mut Limbs<N>) {
    for i in 0..N - 1 {
        d[i + 1] += d[i] >> ROUND;
        d[i] &= LIMB.cast_signed();
    }
}

/// Digits of 52 bits to limbs.
const fn to_limbs<const N: usize>(digits: &[u64; N]) -> Limbs<N> {
    let mut limbs = [0; N];
    let mut i = 0;
    while i < N {
        let (digit, shift) = (54 * i / 52, 54 * i % 52);
        let mut limb = digits[digit] >> shift;
        if digit + 1 < N {
            limb |= digits[digit + 1] << (52 - shift);
        }
        if digit + 2 < N && shift > 50 {
            limb |= digits[digit + 2] << (104 - shift);
        }
        limbs[i] = (limb & LIMB).cast_signed();
        i += 1;
    }
    limbs
}

/// Limbs to digits of 52 bits, for a number that is not negative.
fn to_digits<const N: usize>(limbs: &Limbs<N>) -> [u64; N] {
    core::array::from_fn(|i| {
        let (limb, shift) = (52 * i / 54, 52 * i % 54);
        let mut digit = limbs[limb].cast_unsigned() >> shift;
        if limb + 1 < N {
            digit |= limbs[limb + 1].cast_unsigned() << (54 - shift);
        }
        digit & DIGIT
    })
}
