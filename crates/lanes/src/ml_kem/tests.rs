//! Each step against its definition in FIPS 203, on all numbers where that is possible.

use super::ring::{Polynomial, ZERO};
use super::*;
use crate::vector::Vector;
use crate::vector::shorts::{ShortKernel, Shorts, digit, run_shorts, shorts};

fn polynomial(f: impl Fn(usize) -> i64) -> Polynomial {
    core::array::from_fn(|g| digit(core::array::from_fn(|i| f(32 * g + i) as i16)))
}

fn numbers(polynomial: &Polynomial) -> Vec<i64> {
    let all = polynomial.iter().flat_map(shorts);
    all.map(|number| i64::from(number.cast_signed())).collect()
}

fn modulo_q(number: i64) -> i64 {
    number.rem_euclid(i64::from(Q))
}

/// FIPS 203, algorithm 9, as it is written.
fn transform(f: &[i64]) -> Vec<i64> {
    let (mut f, mut i) = (f.to_vec(), 1);
    for length in [128, 64, 32, 16, 8, 4, 2] {
        for start in (0..N).step_by(2 * length) {
            let zeta = ntt::power(ntt::reversed(i));
            i += 1;
            for j in start..start + length {
                let t = zeta * f[j + length];
                f[j + length] = modulo_q(f[j] - t);
                f[j] = modulo_q(f[j] + t);
            }
        }
    }
    f
}

struct There(Polynomial);
impl ShortKernel for There {
    type Output = Polynomial;
    #[inline(always)]
    fn run<V: Vector, S: Shorts>(mut self) -> Polynomial {
        S::call(ntt::Transform(&mut self.0));
        self.0
    }
}

struct Back(Polynomial);
impl ShortKernel for Back {
    type Output = Polynomial;
    #[inline(always)]
    fn run<V: Vector, S: Shorts>(mut self) -> Polynomial {
        S::call(ntt::Inverse(&mut self.0));
        self.0
    }
}

/// As large as they may be, and of all sizes.
fn cases(limit: i64) -> Vec<Polynomial> {
    let mut cases = vec![
        polynomial(|_| limit),
        polynomial(|_| -limit),
        polynomial(|i| if i % 2 == 0 { limit } else { -limit }),
    ];
    for factor in [7919, 104_729, 1_299_709] {
        cases.push(polynomial(|i| {
            (i as i64 * factor) % (2 * limit + 1) - limit
        }));
    }
    cases
}

#[test]
fn transforms_as_fips_203() {
    for case in cases(3329) {
        let transformed = run_shorts(There(case)).expect("lanes");
        let expected = transform(&numbers(&case));
        for (number, expected) in numbers(&transformed).into_iter().zip(expected) {
            assert_eq!(modulo_q(number), expected);
            assert!(number.abs() <= 2187);
        }
        // And back: 2^16 times as much.
        let again = run_shorts(Back(transformed)).expect("lanes");
        for (number, expected) in numbers(&again).into_iter().zip(numbers(&case)) {
            assert_eq!(modulo_q(number), modulo_q(expected << 16));
            assert!(number.abs() <= 1780);
        }
    }
    // The way back alone, from the largest numbers: its transform is 2^16 times the number.
    for case in cases(2690) {
        let there = run_shorts(Back(case)).expect("lanes");
        assert!(numbers(&there).iter().all(|number| number.abs() <= 1780));
        let transformed = transform(&numbers(&there));
        for (number, expected) in transformed.into_iter().zip(numbers(&case)) {
            assert_eq!(modulo_q(number), modulo_q(expected << 16));
        }
    }
}

struct Product<'a>(&'a [Polynomial], &'a [Polynomial]);
impl ShortKernel for Product<'_> {
    type Output = Polynomial;
    #[inline(always)]
    fn run<V: Vector, S: Shorts>(self) -> Polynomial {
        let mut forms = ring::Forms::ZERO;
        for (i, b) in self.1.iter().enumerate() {
            forms.set::<S>(i, b);
        }
        let mut sum = ZERO;
        S::call(ring::Dot {
            a: self.0,
            b: &forms,
            sum: &mut sum,
        });
        sum
    }
}

/// FIPS 203, algorithm 11, summed over all.
#[test]
fn multiplies_as_fips_203() {
    let (mut a, mut b) = (cases(4095), cases(3329));
    a.rotate_left(1);
    for rank in 2..=MOST {
        for (a, b) in a.windows(rank).zip(b.windows(rank)) {
            let sum = numbers(&run_shorts(Product(a, b)).expect("lanes"));
            let mut expected = [0; N];
            for (a, b) in a.iter().zip(b) {
                let (a, b) = (numbers(a), numbers(b));
                for i in 0..N / 2 {
                    let gamma = ntt::power(2 * ntt::reversed(i) + 1);
                    let (j, k) = (2 * i, 2 * i + 1);
                    expected[j] += a[j] * b[j] + modulo_q(a[k] * b[k]) * gamma;
                    expected[k] += a[j] * b[k] + a[k] * b[j];
                }
            }
            for (number, expected) in sum.into_iter().zip(expected) {
                assert_eq!(modulo_q(number << 16), modulo_q(expected));
                assert!(number.abs() <= 2690);
            }
        }
        b.rotate_left(1);
    }
}

struct Compress<const BITS: usize>(Polynomial);
impl<const BITS: usize> ShortKernel for Compress<BITS> {
    type Output = (Vec<u8>, Polynomial);
    /// The bytes, and what is made of them again.
    #[inline(always)]
    fn run<V: Vector, S: Shorts>(self) -> Self::Output {
        let mut bytes = vec![0; 32 * BITS];
        bytes::compress::<BITS, V, S>(&self.0, &mut bytes);
        let mut again = ZERO;
        bytes::decompress::<BITS, S>(&bytes, &mut again);
        (bytes, again)
    }
}

/// FIPS 203, sections 4.2.1 and 4.7: all numbers.
fn compresses<const BITS: usize>() {
    let q = i64::from(Q);
    for start in (0..q).step_by(N) {
        let case = polynomial(|i| (start + i as i64) % q);
        let (bytes, again) = run_shorts(Compress::<BITS>(case)).expect("lanes");
        let again = numbers(&again);
        for (i, number) in numbers(&case).into_iter().enumerate() {
            let packed = (0..BITS).fold(0, |packed, bit| {
                let at = BITS * i + bit;
                packed | i64::from(bytes[at / 8] >> (at % 8) & 1) << bit
            });
            assert_eq!(packed, ((number << (BITS + 1)) + q) / (2 * q) % (1 << BITS));
            assert_eq!(again[i], (2 * q * packed + (1 << BITS)) >> (BITS + 1));
        }
    }
}

#[test]
fn compresses_as_fips_203() {
    compresses::<4>();
    compresses::<5>();
    compresses::<10>();
    compresses::<11>();
}

struct Message(Polynomial);
impl ShortKernel for Message {
    type Output = ([u8; BYTES], Polynomial, Vec<u8>, Polynomial, bool);
    #[inline(always)]
    fn run<V: Vector, S: Shorts>(self) -> Self::Output {
        let mut message = [0; BYTES];
        bytes::to_message::<S>(&self.0, &mut message);
        let (mut of_message, mut decoded) = (ZERO, ZERO);
        bytes::of_message::<S>(&message, &mut of_message);
        let mut encoded = vec![0; 384];
        bytes::encode::<V, S>(&self.0, &mut encoded);
        let below = bytes::decode::<S>(&encoded, &mut decoded);
        (message, of_message, encoded, decoded, below)
    }
}

#[test]
fn messages_and_encodings_as_fips_203() {
    let q = i64::from(Q);
    for start in (0..4096).step_by(N) {
        let case = polynomial(|i| start + i as i64);
        let (message, of_message, encoded, decoded, below) =
            run_shorts(Message(case)).expect("lanes");
        assert_eq!(numbers(&decoded), numbers(&case));
        assert_eq!(below, start + (N as i64) <= q);
        let of_message = numbers(&of_message);
        for (i, number) in numbers(&case).into_iter().enumerate() {
            let bits = (0..12).fold(0, |bits, bit| {
                let at = 12 * i + bit;
                bits | i64::from(encoded[at / 8] >> (at % 8) & 1) << bit
            });
            assert_eq!(bits, number);
            let bit = i64::from(message[i / 8] >> (i % 8) & 1);
            assert_eq!(of_message[i], bit * (q + 1) / 2);
            if number < q {
                assert_eq!(bit, (4 * number + q) / (2 * q) % 2);
            }
        }
    }
}
