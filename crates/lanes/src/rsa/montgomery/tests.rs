//! Montgomery arithmetic against schoolbook arithmetic on plain integers.

use super::*;
use crate::LANES;
use crate::vector::{Kernel, run};

/// A number as 52-bit digits in u64, little end first.
type Number = Vec<u64>;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545f4914f6cdd1d)
    }

    /// Mostly random digits, often 0 or all ones: what carries dislike.
    fn digit(&mut self) -> u64 {
        match self.next() >> 61 {
            0 => 0,
            1 => DIGIT,
            2 => 1,
            3 => DIGIT - 1,
            _ => self.next() & DIGIT,
        }
    }

    /// Below 2^(52n − spare).
    fn number(&mut self, n: usize, spare: u32) -> Number {
        let mut number: Number = (0..n).map(|_| self.digit()).collect();
        number[n - 1] &= DIGIT >> spare;
        number
    }
}

/// `a·b`, canonical digits.
fn product(a: &[u64], b: &[u64]) -> Number {
    let mut out = vec![0; a.len() + b.len()];
    for (i, &x) in a.iter().enumerate() {
        let mut carry = 0;
        for (j, &y) in b.iter().enumerate() {
            let sum = u128::from(x) * u128::from(y) + u128::from(out[i + j]) + carry;
            out[i + j] = sum as u64 & DIGIT;
            carry = sum >> 52;
        }
        out[i + b.len()] = carry as u64;
    }
    out
}

/// `(t + q·m)/R` by the definition.
fn montgomery(t: &[u64], m: &[u64], k: u64) -> Number {
    let n = m.len();
    let mut t = t.to_vec();
    t.push(0);
    for i in 0..n {
        let q = t[i].wrapping_mul(k) & DIGIT;
        let mut carry = 0;
        for (j, column) in t[i..].iter_mut().enumerate() {
            let digit = m.get(j).copied().unwrap_or(0);
            let sum = u128::from(q) * u128::from(digit) + u128::from(*column) + carry;
            *column = sum as u64 & DIGIT;
            carry = sum >> 52;
        }
    }
    t.split_off(n)
}

fn inverse(m: u64) -> u64 {
    let mut x = 1_u64;
    for _ in 0..6 {
        x = x.wrapping_mul(2_u64.wrapping_sub(m.wrapping_mul(x)));
    }
    x.wrapping_neg() & DIGIT
}

fn to_lanes<const N: usize>(numbers: &[Number; LANES]) -> [Digit; N] {
    core::array::from_fn(|i| Digit(core::array::from_fn(|lane| numbers[lane][i])))
}

fn from_lanes<const N: usize>(digits: &[Digit; N], lane: usize) -> Number {
    let mut number: Number = digits.iter().map(|d| d.0[lane] & DIGIT).collect();
    number.push(0);
    number
}

struct Canonical<'a, const N: usize>(&'a Modulus<N>, &'a mut [Digit; N]);

impl<const N: usize> Kernel for Canonical<'_, N> {
    type Output = ();
    #[inline(always)]
    fn run<V: Vector>(self) {
        self.0.canonical::<V>(self.1);
    }
}

fn against_schoolbook<const N: usize>(rounds: u64) {
    let mut random = Random(N as u64);
    let mut scratch = Scratch::<N>::new();
    for _ in 0..rounds {
        let m: [Number; LANES] = core::array::from_fn(|_| {
            let mut m = random.number(N, 12);
            m[0] |= 1;
            m
        });
        let k: [u64; LANES] = core::array::from_fn(|lane| inverse(m[lane][0]));
        let modulus = Modulus {
            digits: to_lanes::<N>(&m),
            k: Digit(k),
        };
        let a: [Number; LANES] = core::array::from_fn(|_| random.number(N, 10));
        let b: [Number; LANES] = core::array::from_fn(|_| random.number(N, 10));
        let (in_a, in_b) = (to_lanes::<N>(&a), to_lanes::<N>(&b));
        let mut out = [Digit::ZERO; N];
        let multiply = Multiply {
            a: &in_a,
            b: &in_b,
            modulus: &modulus,
            scratch: &mut scratch,
            out: &mut out,
        };
        run(multiply).unwrap();
        for lane in 0..LANES {
            let expected = montgomery(&product(&a[lane], &b[lane]), &m[lane], k[lane]);
            assert_eq!(
                from_lanes(&out, lane),
                expected,
                "multiply, N = {N}, lane {lane}"
            );
        }
        let square = Square {
            a: &in_a,
            modulus: &modulus,
            scratch: &mut scratch,
            ahead: &[],
            out: &mut out,
        };
        run(square).unwrap();
        for lane in 0..LANES {
            let expected = montgomery(&product(&a[lane], &a[lane]), &m[lane], k[lane]);
            assert_eq!(
                from_lanes(&out, lane),
                expected,
                "square, N = {N}, lane {lane}"
            );
        }
        // Below m, and m more than that.
        let half = m.each_ref().map(|m| halved(m));
        let more = core::array::from_fn(|lane| sum(&half[lane], &m[lane]));
        let expected = to_lanes::<N>(&half);
        for x in [half, more] {
            let mut x = to_lanes::<N>(&x);
            run(Canonical(&modulus, &mut x)).unwrap();
            assert_eq!(x, expected, "canonical, N = {N}");
        }
        let mut zero = modulus.digits;
        run(Canonical(&modulus, &mut zero)).unwrap();
        assert_eq!(zero, [Digit::ZERO; N], "m itself is 0");
    }
}

/// `⌊x/2⌋`.
fn halved(x: &[u64]) -> Number {
    let above = x.iter().skip(1).chain(&[0]);
    x.iter()
        .zip(above)
        .map(|(x, above)| x >> 1 | (above & 1) << 51)
        .collect()
}

fn sum(a: &[u64], b: &[u64]) -> Number {
    let mut carry = 0;
    let mut digit = |(a, b)| {
        carry += a + b;
        let digit = carry & DIGIT;
        carry >>= 52;
        digit
    };
    a.iter().zip(b).map(|(a, b)| digit((*a, *b))).collect()
}

#[test]
fn twenty_digits() {
    against_schoolbook::<20>(500);
}

#[test]
fn thirty_digits() {
    against_schoolbook::<30>(300);
}

#[test]
fn forty_digits() {
    against_schoolbook::<40>(200);
}

#[test]
fn sixty_and_eighty_digits() {
    against_schoolbook::<60>(50);
    against_schoolbook::<80>(50);
}
