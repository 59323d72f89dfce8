//! Each step against its definition in FIPS 204, on all numbers where that is possible; and what numbers may reach, on intervals.

use super::numbers::{Factor, Q_INVERSE};
use super::ring::{Polynomial, ZERO};
use super::*;
use crate::vector::words::{
    WORDS, WordKernel, WordMask, Words, digit, run_words, run_words_for_all, words,
};
use crate::vector::{Digit, Vector};

fn polynomial(f: impl Fn(usize) -> i64) -> Polynomial {
    core::array::from_fn(|g| digit(core::array::from_fn(|i| f(WORDS * g + i) as i32)))
}

fn numbers(polynomial: &Polynomial) -> Vec<i64> {
    polynomial.iter().flat_map(words).map(i64::from).collect()
}

fn modulo_q(number: i64) -> i64 {
    number.rem_euclid(i64::from(Q))
}

/// FIPS 204, algorithm 41, as it is written.
fn transform(w: &[i64]) -> Vec<i64> {
    let (mut w, mut m) = (w.to_vec(), 0);
    for length in [128, 64, 32, 16, 8, 4, 2, 1] {
        for start in (0..N).step_by(2 * length) {
            m += 1;
            let zeta = ntt::power(ntt::reversed(m));
            for j in start..start + length {
                let t = modulo_q(zeta * w[j + length]);
                w[j + length] = modulo_q(w[j] - t);
                w[j] = modulo_q(w[j] + t);
            }
        }
    }
    w
}

struct There(Polynomial);
impl WordKernel for There {
    type Output = Polynomial;
    #[inline(always)]
    fn run<V: Vector, W: Words>(mut self) -> Polynomial {
        W::call(ntt::Transform(&mut self.0));
        self.0
    }
}

struct Back(Polynomial);
impl WordKernel for Back {
    type Output = Polynomial;
    #[inline(always)]
    fn run<V: Vector, W: Words>(mut self) -> Polynomial {
        W::call(ntt::Inverse(&mut self.0));
        self.0
    }
}

struct Product<'a>(&'a [Polynomial], &'a [Polynomial]);
impl WordKernel for Product<'_> {
    type Output = Polynomial;
    #[inline(always)]
    fn run<V: Vector, W: Words>(self) -> Polynomial {
        let (a, b, mut sum) = (self.0, self.1, ZERO);
        W::call(ring::Dot {
            a,
            b,
            sum: &mut sum,
        });
        sum
    }
}

/// As large as they may be, and of all sizes.
fn cases(limit: i64) -> Vec<Polynomial> {
    let mut cases = vec![
        polynomial(|_| limit),
        polynomial(|_| -limit),
        polynomial(|i| if i % 2 == 0 { limit } else { -limit }),
    ];
    for factor in [7919, 104_729, 1_299_709, 15_485_863, 179_424_673] {
        cases.push(polynomial(|i| {
            (i as i64 * factor) % (2 * limit + 1) - limit
        }));
    }
    cases
}

#[test]
fn transforms_as_fips_204() {
    for case in cases(Q.into()) {
        let transformed = run_words(There(case)).expect("lanes");
        let expected = transform(&numbers(&case));
        for (number, expected) in numbers(&transformed).into_iter().zip(expected) {
            assert_eq!(modulo_q(number), expected);
        }
        let there = run_words(Back(case)).expect("lanes");
        let transformed = transform(&numbers(&there));
        for (number, expected) in transformed.into_iter().zip(numbers(&case)) {
            assert_eq!(modulo_q(number), modulo_q(expected << 32));
        }
    }
}

#[test]
fn multiplies_as_fips_204() {
    let (mut a, mut b) = (cases(Q.into()), cases(5 * i64::from(Q)));
    a.rotate_left(1);
    for columns in [1, 4, 5, 7] {
        for (a, b) in a.windows(columns).zip(b.windows(columns)) {
            let sum = numbers(&run_words(Product(a, b)).expect("lanes"));
            let mut expected = [0; N];
            for (a, b) in a.iter().zip(b) {
                let products = numbers(a).into_iter().zip(numbers(b));
                for (expected, (a, b)) in expected.iter_mut().zip(products) {
                    *expected = modulo_q(*expected + modulo_q(a) * modulo_q(b));
                }
            }
            for (number, expected) in sum.into_iter().zip(expected) {
                assert_eq!(modulo_q(number << 32), expected);
            }
        }
        b.rotate_left(1);
    }
}

/// All polynomials whose coefficients are within ± so many thousandths of q.
fn all(thousandths: i64) -> Polynomial {
    let limit = i64::from(Q) * thousandths / 1000;
    polynomial(|i| if i % 2 == 0 { limit } else { -limit })
}

/// The largest coefficient in thousandths of q, rounded up.
fn most(polynomial: &Polynomial) -> i64 {
    let most = numbers(polynomial).into_iter().map(i64::abs).max();
    most.unwrap_or(0) * 1000 / i64::from(Q) + 1
}

/// Runs the very kernels on intervals, which panic where a number may leave its 32 or 64 bits. The limits are those that `ntt.rs`
/// and `ring.rs` promise.
#[test]
fn bounds() {
    let transformed = run_words_for_all(There(all(1000)));
    assert!(most(&transformed) <= 5100, "{}", most(&transformed));
    let back = run_words_for_all(Back(all(1000)));
    assert!(most(&back) <= 760, "{}", most(&back));
    // The matrix and a vector; a challenge and a secret.
    let entry = polynomial(|i| if i % 2 == 0 { 0 } else { i64::from(Q) });
    for (a, columns) in [(entry, 7), (all(5100), 1)] {
        let sum = run_words_for_all(Product(&[a; 7][..columns], &[all(5100); 7]));
        assert!(most(&sum) <= 580, "{}", most(&sum));
    }
    // So the way back may be given each sum. One beyond it, it may not.
    let too_large = std::panic::catch_unwind(|| run_words_for_all(Back(all(1002))));
    assert!(too_large.is_err());
    assert_eq!(Q.wrapping_mul(Q_INVERSE), 1);
    let _: Factor<i32> = Factor::new(1);
}

struct Parts(Rounding, i32);
impl WordKernel for Parts {
    type Output = [Digit; 6];
    /// What the functions make of 16 numbers from there on.
    #[inline(always)]
    fn run<V: Vector, W: Words>(self) -> Self::Output {
        let number = W::load(&digit(core::array::from_fn(|i| self.1 + i as i32)));
        let (upper, lower) = round::power2round(number);
        let (high, low) = round::decompose(self.0, number);
        let all = [
            upper,
            lower,
            high,
            low,
            round::use_hint(self.0, 0, number),
            round::use_hint(self.0, WordMask::MAX, number),
        ];
        let mut stored = [Digit::ZERO; 6];
        all[0].store(&mut stored[0]);
        all[1].store(&mut stored[1]);
        all[2].store(&mut stored[2]);
        all[3].store(&mut stored[3]);
        all[4].store(&mut stored[4]);
        all[5].store(&mut stored[5]);
        stored
    }
}

/// FIPS 204, algorithms 35, 36 and 40, on all numbers.
#[test]
fn rounds_as_fips_204() {
    // r mod± m.
    let centred = |r: i32, m: i32| {
        let rest = r.rem_euclid(m);
        if rest > m / 2 { rest - m } else { rest }
    };
    for rounding in [Rounding::By88, Rounding::By32] {
        let double = 2 * rounding.half();
        let all = (Q - 1) / double;
        for start in (0..Q).step_by(WORDS) {
            let found = run_words(Parts(rounding, start)).expect("lanes");
            let found = found.each_ref().map(words);
            for i in 0..WORDS {
                let r = start + i as i32;
                if r >= Q {
                    break;
                }
                let lower = centred(r, 1 << 13);
                let mut low = centred(r, double);
                let mut high = (r - low) / double;
                if r - low == Q - 1 {
                    high = 0;
                    low -= 1;
                }
                let step = if low > 0 { 1 } else { -1 };
                let hinted = (high + step).rem_euclid(all);
                let expected = [(r - lower) >> 13, lower, high, low, high, hinted];
                assert_eq!(found.map(|one| one[i]), expected, "{r}");
            }
        }
    }
}

struct Hint(Rounding, [Digit; 2]);
impl WordKernel for Hint {
    type Output = WordMask;
    #[inline(always)]
    fn run<V: Vector, W: Words>(self) -> WordMask {
        round::make_hint(self.0, W::load(&self.1[0]), W::load(&self.1[1]))
    }
}

/// FIPS 204, algorithm 39: numbers around each limit, and what may be added.
#[test]
fn hints_as_fips_204() {
    for rounding in [Rounding::By88, Rounding::By32] {
        let half = rounding.half();
        let high = |number: i32| {
            let high = (number + half - 1) / (2 * half);
            high % rounding.multiples()
        };
        for limit in (0..=rounding.multiples()).map(|i| 2 * half * i + half) {
            for added in [0, 1, -1, 2, half - 1, 1 - half, half / 3] {
                let from = [limit - 8, limit - added - 8];
                for start in from {
                    let a: [i32; WORDS] =
                        core::array::from_fn(|i| (start + i as i32).rem_euclid(Q));
                    let sums = a.map(|a| (a + added).rem_euclid(Q));
                    let hints = run_words(Hint(rounding, [digit(a), digit(sums)]));
                    let hints = hints.expect("lanes");
                    for i in 0..WORDS {
                        assert_eq!(hints >> i & 1 == 1, high(a[i]) != high(sums[i]));
                    }
                }
            }
        }
    }
}

struct Within(i32, i32);
impl WordKernel for Within {
    type Output = WordMask;
    #[inline(always)]
    fn run<V: Vector, W: Words>(self) -> WordMask {
        let number = W::load(&digit(core::array::from_fn(|i| self.0 + i as i32)));
        ring::within(number, self.1)
    }
}

#[test]
fn norms() {
    for limit in [1 << 17, (1 << 19) - 196, 95_232, 261_888 - 120] {
        for start in [limit - 8, -limit - 8, -8, Q - 16, 1 - Q] {
            let mask = run_words(Within(start, limit)).expect("lanes");
            for i in 0..WORDS as i32 {
                assert_eq!(mask >> i & 1 == 1, (start + i).abs() < limit);
            }
        }
    }
}

struct Encode<const BITS: usize>(Polynomial, Option<i32>);
impl<const BITS: usize> WordKernel for Encode<BITS> {
    type Output = (Vec<u8>, Polynomial);
    /// The bytes, and what is made of them again.
    #[inline(always)]
    fn run<V: Vector, W: Words>(self) -> Self::Output {
        let (mut encoded, mut again) = (vec![0; 32 * BITS], ZERO);
        bytes::encode::<BITS, V, W>(&self.0, self.1, &mut encoded);
        bytes::decode::<BITS, W>(&encoded, self.1, &mut again);
        (encoded, again)
    }
}

/// FIPS 204, algorithms 16 to 19.
fn encodes<const BITS: usize>(from: Option<i32>) {
    for factor in [1, 7919, 104_729, 1_299_709] {
        let raw = |i: usize| (i as i64 * factor + factor / 7) % (1 << BITS);
        let case = polynomial(|i| from.map_or(raw(i), |from| i64::from(from) - raw(i)));
        let (encoded, again) = run_words(Encode::<BITS>(case, from)).expect("lanes");
        assert_eq!(numbers(&again), numbers(&case));
        for i in 0..N {
            let bits = (0..BITS).fold(0, |bits, bit| {
                let at = BITS * i + bit;
                bits | i64::from(encoded[at / 8] >> (at % 8) & 1) << bit
            });
            assert_eq!(bits, raw(i));
        }
    }
}

#[test]
fn encodes_as_fips_204() {
    encodes::<3>(Some(2));
    encodes::<4>(Some(4));
    encodes::<4>(None);
    encodes::<6>(None);
    encodes::<10>(None);
    encodes::<13>(Some(1 << 12));
    encodes::<18>(Some(1 << 17));
    encodes::<20>(Some(1 << 19));
}

#[test]
fn hints_have_one_encoding() {
    for set in Set::ALL {
        let length = set.hints() + set.rows();
        let mut hints = [[0; ring::VECTORS]; MOST_ROWS];
        for number in 0..set.hints() {
            let place = number * 89 % N;
            hints[number % set.rows()][place / WORDS] |= 1 << (place % WORDS);
        }
        let mut bytes = vec![0; length];
        encoding::encode_hints(set, &hints, &mut bytes);
        assert_eq!(encoding::count(&hints), set.hints());
        assert_eq!(encoding::decode_hints(set, &bytes), Some(hints));
        let refused = |change: &dyn Fn(&mut [u8])| {
            let mut bytes = bytes.clone();
            change(&mut bytes);
            assert_eq!(encoding::decode_hints(set, &bytes), None);
        };
        let last = set.hints();
        // In another order, twice the same, one too many, an end before another.
        refused(&|bytes| bytes.swap(0, 1));
        refused(&|bytes| bytes[1] = bytes[0]);
        refused(&|bytes| bytes[length - 1] += 1);
        refused(&|bytes| bytes[last + 1] = bytes[last] - 1);
        // Something where no hint is any more.
        refused(&|bytes| bytes[last..].fill(0));
        let none = vec![0; length];
        let nothing = [[0; ring::VECTORS]; MOST_ROWS];
        assert_eq!(encoding::decode_hints(set, &none), Some(nothing));
    }
}

/// What a flipped bit in an expanded key makes does not pass the check that the engine makes with the same key.
#[test]
fn a_flipped_bit_in_an_expanded_key_gives_no_signature() {
    let mut place = 1_usize;
    for set in Set::ALL {
        let keys = wide::generate(set, &[1; BYTES]).expect("lanes");
        for round in 0..20 {
            let mut expanded = Expanded::new(set, &keys.public_key).expect("lanes");
            place = place
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let digits = expanded.polynomials.as_flattened_mut();
            let at = (place >> 33) % digits.len();
            digits[at].0[place >> 29 & 7] ^= 1 << (place >> 23 & 63);
            let signed = expanded.sign(&keys.private_key, &[2; MU], &[round; BYTES]);
            let accepted = signed.map(|signature| expanded.verify(&[2; MU], &signature));
            assert!(!matches!(accepted, Ok(Ok(()))), "{set:?} {place}");
        }
    }
}
