//! One inversion modulo p = 2^255 - 19, in constant time, with scalar instructions.
//!
//! Bernstein and Yang, "Fast constant-time gcd computation and modular inversion" (2019), in the
//! variant of Pieter Wuille that starts from delta = 1/2: 590 divsteps end for every input below
//! 2^256. A divstep, where zeta = -(delta + 1/2):
//!
//! ```text
//! zeta < 0 and g odd:   zeta, f, g = -zeta - 2, g, (g - f) / 2
//! otherwise:            zeta, f, g =  zeta - 1, f, (g + f) / 2 or, if g is even, g / 2
//! ```
//!
//! 54 divsteps, a round, depend on the low 54 bits of f and g alone; the matrix they amount to is
//! then applied to the whole of f and g (whose quotient by 2^54 is exact) and, modulo p, to d and
//! e. Always d x = f and e x = g (mod p); at the end g = 0, f = 1 or -1, so d is the inverse or its
//! negative. 11 rounds are 594 divsteps.
//!
//! # Three numbers in one word
//! Within a round, 18 divsteps at a time run on f + 2^21 u + 2^42 v and g + 2^21 q + 2^42 r, where
//! f and g are cut to 18 bits and (u, v; q, r) is 2^18 times the matrix so far: one addition does
//! the work of three. All six stay within 2^18 in magnitude. The halving of g is exact, and so is
//! that of q and r: after i steps they are multiples of 2^(18 - i). So no part ever loses a bit to
//! another.
//!
//! Numbers are five signed limbs of 54 bits. p = -19 + 2^39 2^216 has limbs (-19, 0, 0, 0, 2^39).

use crate::digits::negative_inverse;
use crate::vector::opaque;

/// Divsteps in a round, and bits of a limb.
const ROUND: u32 = 54;

/// Divsteps on one pair of words.
const STEPS: u32 = 18;

/// Where u and q stand in a word; v and r are twice as high.
const PLACE: u32 = 21;

/// The bits of a limb.
const LIMB: u64 = (1 << ROUND) - 1;

/// 1/p mod 2^54: p = -19 there.
const INVERSE_OF_P: u64 = negative_inverse(19) & LIMB;

/// A number in five signed limbs of 54 bits, least significant first. All but the last are within
/// 0 to 2^54 - 1 between rounds.
type Limbs = [i64; 5];

const P: Limbs = [-19, 0, 0, 0, 1 << 39];

/// What n divsteps amount to: 2^n (f', g') = (u f + v g, q f + r g).
///
/// |u| + |v| and |q| + |r| are at most 2^n.
#[derive(Clone, Copy)]
pub(crate) struct Matrix {
    pub(crate) u: i64,
    pub(crate) v: i64,
    pub(crate) q: i64,
    pub(crate) r: i64,
}

/// The inverse of `x`, which is below p; zero for zero.
pub(super) fn invert(x: [u64; 4]) -> [u64; 4] {
    let mut f = P;
    let mut g = to_limbs(x);
    let mut d = [0; 5];
    let mut e = [1, 0, 0, 0, 0];
    let mut zeta = -1;
    for _ in 0..11 {
        let matrix = round(&mut zeta, f[0], g[0]);
        // The next round waits for this, and not for what comes after it.
        update_gcd(&mut f, &mut g, &matrix);
        update_inverse(&mut d, &mut e, &matrix);
    }
    normalize(d, sign(f[4]))
}

/// 54 divsteps on the lowest limbs.
#[inline(always)]
pub(crate) fn round(zeta: &mut i64, f: i64, g: i64) -> Matrix {
    let first = divsteps(zeta, f, g);
    let (f, g) = first.apply(f, g);
    let second = divsteps(zeta, f, g);
    let (f, g) = second.apply(f, g);
    let third = divsteps(zeta, f, g);
    third.after(second.after(first))
}

/// 18 divsteps on the low 18 bits.
#[inline(always)]
fn divsteps(zeta: &mut i64, f: i64, g: i64) -> Matrix {
    let cut = (1 << STEPS) - 1;
    let mut f = (f & cut) + (1 << (STEPS + PLACE)); // u = 2^18: the identity.
    let mut g = (g & cut) + (1 << (STEPS + 2 * PLACE)); // r = 2^18.
    steps(zeta, &mut f, &mut g);
    let (u, v) = unpack(f);
    let (q, r) = unpack(g);
    Matrix { u, v, q, r }
}

/// 18 divsteps on two words. Conditional moves take four cycles for each, masks six.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn steps(zeta: &mut i64, f: &mut i64, g: &mut i64) {
    const { assert!(STEPS == 18) }
    // SAFETY: reads and writes the registers that it declares. Every x86-64 has the instructions.
    unsafe {
        core::arch::asm!(
            ".rept 18",
            "mov {addend}, {f}",
            "neg {addend}",
            "mov {next_f}, {f}",
            "lea {counted}, [{zeta} - 1]",
            "mov {swapped}, {zeta}",
            "not {swapped}",
            "dec {swapped}", // -zeta - 2
            "test {zeta}, {zeta}",
            "cmovns {addend}, {f}",
            "cmovs {next_f}, {g}",
            "cmovns {swapped}, {counted}",
            "add {addend}, {g}",
            "test {g:l}, 1", // All that follows is for odd g.
            "cmovnz {g}, {addend}",
            "cmovnz {f}, {next_f}",
            "mov {zeta}, {counted}",
            "cmovnz {zeta}, {swapped}",
            "sar {g}, 1",
            ".endr",
            f = inout(reg) *f,
            g = inout(reg_abcd) *g,
            zeta = inout(reg) *zeta,
            addend = out(reg) _,
            next_f = out(reg) _,
            counted = out(reg) _,
            swapped = out(reg) _,
            options(pure, nomem, nostack),
        );
    }
}

#[cfg(not(target_arch = "x86_64"))]
use portable_steps as steps;

/// 18 divsteps on two words.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn portable_steps(zeta: &mut i64, f: &mut i64, g: &mut i64) {
    for _ in 0..STEPS {
        let odd = -(*g & 1);
        let positive = *zeta >> 63; // All ones if delta > 0.
        let swap = odd & positive;
        // If g is odd, f or -f is added to it, and in the latter case f takes the old g.
        let addend = ((*f ^ positive) - positive) & odd;
        *f ^= (*f ^ *g) & swap;
        *g = (*g + addend) >> 1;
        *zeta = (*zeta ^ swap) - 1;
    }
}

/// The two upper parts of a word, each rounded as the part below it is signed.
#[inline(always)]
fn unpack(word: i64) -> (i64, i64) {
    let upper = (word + (1 << (PLACE - 1))) >> PLACE;
    let high = (upper + (1 << (PLACE - 1))) >> PLACE;
    (upper - (high << PLACE), high)
}

impl Matrix {
    /// (f', g') modulo a power of two: 18 bits fewer than those of f and g are right.
    #[inline(always)]
    fn apply(self, f: i64, g: i64) -> (i64, i64) {
        let row = |a: i64, b: i64| a.wrapping_mul(f).wrapping_add(b.wrapping_mul(g)) >> STEPS;
        (row(self.u, self.v), row(self.q, self.r))
    }

    /// First `other`, then this one.
    #[inline(always)]
    fn after(self, other: Matrix) -> Matrix {
        Matrix {
            u: self.u * other.u + self.v * other.q,
            v: self.u * other.v + self.v * other.r,
            q: self.q * other.u + self.r * other.q,
            r: self.q * other.v + self.r * other.r,
        }
    }
}

/// (f, g) = (u f + v g, q f + r g) / 2^54.
fn update_gcd(f: &mut Limbs, g: &mut Limbs, m: &Matrix) {
    let mut low = combine(m.u, f[0], m.v, g[0]) >> ROUND;
    let mut high = combine(m.q, f[0], m.r, g[0]) >> ROUND;
    for i in 1..5 {
        low += combine(m.u, f[i], m.v, g[i]);
        high += combine(m.q, f[i], m.r, g[i]);
        f[i - 1] = limb(low);
        g[i - 1] = limb(high);
        low >>= ROUND;
        high >>= ROUND;
    }
    f[4] = low as i64;
    g[4] = high as i64;
}

/// (d, e) = (u d + v e, q d + r e) / 2^54 (mod p). Both stay within -2p and p.
fn update_inverse(d: &mut Limbs, e: &mut Limbs, m: &Matrix) {
    // Multiples of p: first to bring d and e from (-2p, 0) up, then to clear the low 54 bits.
    let (d_negative, e_negative) = (sign(d[4]), sign(e[4]));
    let mut times_d = (m.u & d_negative) + (m.v & e_negative);
    let mut times_e = (m.q & d_negative) + (m.r & e_negative);
    let mut low = combine(m.u, d[0], m.v, e[0]);
    let mut high = combine(m.q, d[0], m.r, e[0]);
    times_d -= clearing(low, times_d);
    times_e -= clearing(high, times_e);
    low += i128::from(P[0]) * i128::from(times_d);
    high += i128::from(P[0]) * i128::from(times_e);
    low >>= ROUND;
    high >>= ROUND;
    for i in 1..5 {
        low += combine(m.u, d[i], m.v, e[i]);
        high += combine(m.q, d[i], m.r, e[i]);
        if i == 4 {
            low += i128::from(P[4]) * i128::from(times_d);
            high += i128::from(P[4]) * i128::from(times_e);
        }
        d[i - 1] = limb(low);
        e[i - 1] = limb(high);
        low >>= ROUND;
        high >>= ROUND;
    }
    d[4] = low as i64;
    e[4] = high as i64;
}

/// What to take from `times` so that `sum + p * times` is divisible by 2^54.
fn clearing(sum: i128, times: i64) -> i64 {
    let low = INVERSE_OF_P
        .wrapping_mul(sum as u64)
        .wrapping_add(times.cast_unsigned());
    (low & LIMB).cast_signed()
}

fn combine(a: i64, x: i64, b: i64, y: i64) -> i128 {
    i128::from(a) * i128::from(x) + i128::from(b) * i128::from(y)
}

/// The low 54 bits.
fn limb(x: i128) -> i64 {
    (x as u64 & LIMB).cast_signed()
}

/// `d`, or if `negative` is all ones `-d`, brought from (-2p, p) into [0, p).
fn normalize(mut d: Limbs, negative: i64) -> [u64; 4] {
    add_p_if_negative(&mut d);
    for limb in &mut d {
        *limb = (*limb ^ negative) - negative;
    }
    carry(&mut d);
    add_p_if_negative(&mut d);
    let d = d.map(i64::cast_unsigned);
    [
        d[0] | d[1] << 54,
        d[1] >> 10 | d[2] << 44,
        d[2] >> 20 | d[3] << 34,
        d[3] >> 30 | d[4] << 24,
    ]
}

/// All ones for a negative number, else zero. The compiler does not know that, and makes no branch of it.
#[inline(always)]
pub(crate) fn sign(x: i64) -> i64 {
    opaque((x >> 63).cast_unsigned()).cast_signed()
}

fn add_p_if_negative(d: &mut Limbs) {
    let negative = sign(d[4]);
    d[0] += P[0] & negative;
    d[4] += P[4] & negative;
    carry(d);
}

fn carry(d: &mut Limbs) {
    for i in 0..4 {
        d[i + 1] += d[i] >> ROUND;
        d[i] &= LIMB.cast_signed();
    }
}

fn to_limbs(x: [u64; 4]) -> Limbs {
    [
        x[0] & LIMB,
        (x[0] >> 54 | x[1] << 10) & LIMB,
        (x[1] >> 44 | x[2] << 20) & LIMB,
        (x[2] >> 34 | x[3] << 30) & LIMB,
        x[3] >> 24,
    ]
    .map(u64::cast_signed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// p - 1, whose inverse is itself.
    const MINUS_ONE: [u64; 4] = [u64::MAX - 19, u64::MAX, u64::MAX, u64::MAX >> 1];

    #[test]
    fn edges() {
        assert_eq!(invert([0; 4]), [0; 4]);
        assert_eq!(invert([1, 0, 0, 0]), [1, 0, 0, 0]);
        assert_eq!(invert(MINUS_ONE), MINUS_ONE);
        // (p + 1) / 2.
        let half = [u64::MAX - 8, u64::MAX, u64::MAX, (1 << 62) - 1];
        assert_eq!(invert([2, 0, 0, 0]), half);
        assert_eq!(invert(half), [2, 0, 0, 0]);
    }

    #[test]
    fn instructions_and_portable_steps_agree() {
        let mut word = 1_u64;
        let mut random = || {
            word = word
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            word.rotate_left(29)
        };
        for _ in 0..10_000 {
            let f = (random() >> 46 | 1).cast_signed() + (1 << (STEPS + PLACE));
            let g = (random() >> 46).cast_signed() + (1 << (STEPS + 2 * PLACE));
            let zeta = (random() >> 60).cast_signed() - 8;
            let (mut one, mut other) = ((zeta, f, g), (zeta, f, g));
            steps(&mut one.0, &mut one.1, &mut one.2);
            portable_steps(&mut other.0, &mut other.1, &mut other.2);
            assert_eq!(one, other);
        }
    }

    #[test]
    fn an_inverse_of_an_inverse() {
        let mut x = [3, 0, 0, 0];
        for i in 0..2000_u64 {
            let inverse = invert(x);
            assert_eq!(invert(inverse), x);
            x = inverse.map(|word| word.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ i);
            x[3] >>= 2;
        }
    }
}
