//! The parts of the curves: arithmetic modulo the four primes against AWS-LC's integers on operands
//! where carries are long, inversion, digits of scalars, signatures with given nonces.

use super::bound::REDUCED;
use super::convert::to_bytes;
use super::curve::Curve;
use super::ecdsa::Sign;
use super::element::{Element, Sum};
use super::invert::{Invert, InvertTwo};
use super::modulus::{Modulus, multiple};
use super::recode::{self, Windows};
use super::wide;
use super::wide::invert::{Prime, invert};
use crate::digits;
use crate::vector::{self, DIGIT, Digit, Kernel, Vector};
use aws_lc_sys as aws;
use core::marker::PhantomData;
use integer::Integer;
use response_file::records;

mod bounds;
mod integer;

#[path = "../../../provider/tests/common/response_file.rs"]
#[allow(dead_code)]
mod response_file;

/// A big-endian number's digits.
fn from_bytes<const N: usize>(bytes: &[u8]) -> [u64; N] {
    let mut out = [0; N];
    assert_eq!(digits::from_bytes(bytes, &mut out), 0);
    out
}

/// A test's body for each of the four primes.
macro_rules! for_each_modulus {
    ($($test:ident)*) => {$(
        #[test]
        fn $test() {
            use crate::{p256, p384};
            super::tests::$test::run::<p256::Field, 5>();
            super::tests::$test::run::<p256::Order, 5>();
            super::tests::$test::run::<p384::Field, 8>();
            super::tests::$test::run::<p384::Order, 8>();
        }
    )*};
}
for_each_modulus!(products sums inverses);

type Number<const N: usize> = [u64; N];

/// Numbers below 15 m: near 0, near multiples of m, Montgomery constants, digits all ones, random.
fn operands<M: Modulus<N>, const N: usize>() -> Vec<Number<N>> {
    let mut numbers = vec![[0; N], M::R, M::R2];
    for k in [0, 1, 2, 7, 14] {
        let m = multiple(&M::DIGITS, k);
        for j in 0..3 {
            let mut above = m;
            above[0] += j; // No prime's lowest digit is that close to 2^52 but P-256's.
            if above[0] <= DIGIT {
                numbers.push(above);
            }
            if m[0] >= j {
                let mut below = m;
                below[0] -= j;
                numbers.push(below);
            }
        }
    }
    for i in 0..N {
        let mut ones = [DIGIT; N];
        ones[N - 1] = M::DIGITS[N - 1] / 2;
        ones[i] = 0;
        numbers.push(ones);
        let mut one = [0; N];
        one[i] = if i + 1 == N { 1 } else { DIGIT };
        numbers.push(one);
    }
    let mut state = 1_u64;
    for _ in 0..40 {
        numbers.push(core::array::from_fn(|i| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            let digit = state >> 12;
            if i + 1 == N {
                digit % M::DIGITS[N - 1]
            } else {
                digit
            }
        }));
    }
    numbers
}

/// Batches of pairs: every number meets many.
fn pairs<const N: usize>(numbers: &[Number<N>]) -> Vec<[[Digit; N]; 2]> {
    let mut batches = Vec::new();
    for shift in (0..numbers.len()).step_by(5) {
        for start in (0..numbers.len()).step_by(8) {
            let number = |i: usize| numbers[i % numbers.len()];
            batches.push([
                pack(|lane| number(start + lane)),
                pack(|lane| number(start + lane + shift)),
            ]);
        }
    }
    batches
}

fn pack<const N: usize>(number: impl Fn(usize) -> Number<N>) -> [Digit; N] {
    core::array::from_fn(|i| Digit(core::array::from_fn(|lane| number(lane)[i])))
}

fn lane<const N: usize>(digits: &[Digit; N], lane: usize) -> Number<N> {
    core::array::from_fn(|i| digits[i].0[lane])
}

/// The number modulo m.
fn below<M: Modulus<N>, const N: usize>(number: &Number<N>) -> Number<N> {
    let mut out = *number;
    while !digits::is_below(&out, &M::DIGITS) {
        let mut borrow = 0;
        for (digit, less) in out.iter_mut().zip(M::DIGITS) {
            let difference = digit.wrapping_sub(less).wrapping_sub(borrow);
            borrow = difference >> 63;
            *digit = difference & DIGIT;
        }
    }
    out
}

/// Whether a ≡ b (mod m).
fn congruent<M: Modulus<N>, const N: usize>(a: &Integer, b: &Integer) -> bool {
    a.modulo(&Integer::new(&M::DIGITS)) == b.modulo(&Integer::new(&M::DIGITS))
}

mod products {
    use super::*;

    /// a b, a², (a b - c d), (a b - c²), a b + c and a b + c d, with a and b in Montgomery form or not.
    struct Products<M, const N: usize>([[Digit; N]; 2], PhantomData<M>);

    impl<M: Modulus<N>, const N: usize> Kernel for Products<M, N> {
        type Output = [[Digit; N]; 7];
        #[inline(always)]
        fn run<V: Vector>(self) -> Self::Output {
            let a = Element::<V, M, N>::load(&self.0[0]);
            let b = Element::<V, M, N>::load(&self.0[1]);
            // Below 2 m, so that any product fits.
            let (c, d) = (a.to_montgomery(), b.to_montgomery());
            let mut out = [[Digit::ZERO; N]; 7];
            c.mul(d).carry().to_plain().store(&mut out[0]);
            c.square().carry().to_plain().store(&mut out[1]);
            let less = c.factor().mul_sub_mul(d, (d, d), Sum::multiple(2));
            less.carry().to_plain().store(&mut out[2]);
            let less = c.factor().mul_sub_square(d, c, Sum::multiple(2));
            less.carry().to_plain().store(&mut out[3]);
            c.mul_add(d.mul(c).factor(), d - c + Sum::multiple(2))
                .factor()
                .mul(Element::splat(M::R))
                .carry()
                .to_plain()
                .store(&mut out[4]);
            a.mul(d).carry().store(&mut out[5]);
            let sum = c.factor().mul_add_mul(d, (d, d));
            sum.carry().to_plain().store(&mut out[6]);
            out
        }
    }

    pub(super) fn run<M: Modulus<N>, const N: usize>() {
        for batch in pairs(&operands::<M, N>()) {
            let out = vector::run(Products::<M, N>(batch, PhantomData)).expect("or emulated");
            for l in 0..8 {
                let [a, b] = [&batch[0], &batch[1]].map(|n| Integer::new(&lane(n, l)));
                let result = |i: usize| Integer::new(&lane(&out[i], l));
                let ab = a.times(&b);
                let m = Integer::new(&M::DIGITS);
                assert_eq!(result(0), ab.modulo(&m));
                assert_eq!(result(1), a.times(&a).modulo(&m));
                assert_eq!(result(2), ab.minus(&b.times(&b)).modulo(&m));
                assert_eq!(result(3), ab.minus(&a.times(&a)).modulo(&m));
                assert_eq!(result(4), a.times(&ab).plus(&b).minus(&a).modulo(&m));
                assert!(congruent::<M, N>(&result(5), &ab));
                assert_eq!(result(6), ab.plus(&b.times(&b)).modulo(&m));
            }
        }
    }
}

mod sums {
    use super::*;
    use crate::weierstrass::bound::Limit;

    struct Sums<M, const N: usize>([[Digit; N]; 2], PhantomData<M>);

    impl<M: Modulus<N>, const N: usize> Kernel for Sums<M, N> {
        type Output = [[Digit; N]; 5];
        #[inline(always)]
        fn run<V: Vector>(self) -> Self::Output {
            let a = Element::<V, M, N>::load(&self.0[0]).to_montgomery();
            let b = Element::<V, M, N>::load(&self.0[1]).to_montgomery();
            let mut out = [[Digit::ZERO; N]; 5];
            (a - b).plus(2).carry().to_plain().store(&mut out[0]);
            (a + b).thrice().carry().to_plain().store(&mut out[1]);
            a.halve().to_plain().store(&mut out[2]);
            let tight = (a - b - b).tighten().carry();
            tight.to_plain().store(&mut out[3]);
            if settles::<M, N>() {
                let settled = (a.sum() - b.twice().twice().twice().twice())
                    .settle()
                    .factor();
                let settled = settled.mul(Element::one()).carry();
                settled.to_plain().store(&mut out[4]);
            }
            out
        }
    }

    /// The order of P-256 has neither the room nor a way of its own, and nothing settles there.
    fn settles<M: Modulus<N>, const N: usize>() -> bool {
        N == 8 || M::SETTLED.0 != Limit::times(120).0
    }

    pub(super) fn run<M: Modulus<N>, const N: usize>() {
        let m = Integer::new(&M::DIGITS);
        for batch in pairs(&operands::<M, N>()) {
            let out = vector::run(Sums::<M, N>(batch, PhantomData)).expect("or emulated");
            for l in 0..8 {
                let [a, b] = [&batch[0], &batch[1]].map(|n| Integer::new(&lane(n, l)));
                let result = |i: usize| Integer::new(&lane(&out[i], l));
                assert_eq!(result(0), a.minus(&b).modulo(&m));
                let sum = a.plus(&b);
                assert_eq!(result(1), sum.plus(&sum).plus(&sum).modulo(&m));
                assert_eq!(result(2).plus(&result(2)).modulo(&m), a.modulo(&m));
                assert_eq!(result(3), a.minus(&b).minus(&b).modulo(&m));
                if settles::<M, N>() {
                    let sixteen = Integer::new(&[16]).times(&b);
                    assert_eq!(result(4), a.minus(&sixteen).modulo(&m));
                }
            }
        }
    }
}

mod inverses {
    use super::*;

    struct Inverses<M, const N: usize>([[Digit; N]; 2], PhantomData<M>);

    impl<M: Modulus<N>, const N: usize> Kernel for Inverses<M, N> {
        type Output = [[Digit; N]; 3];
        #[inline(always)]
        fn run<V: Vector>(self) -> Self::Output {
            let mut out = [[Digit::ZERO; N]; 3];
            let [x, y] = self.0;
            let mut plain = [x, y];
            for number in &mut plain {
                // a R R⁻¹: a below m.
                Element::<V, M, N>::load(number)
                    .to_montgomery()
                    .to_plain()
                    .store(number);
            }
            out[0] = plain[0];
            V::call(Invert {
                x: &mut out[0],
                modulus: PhantomData::<M>,
            });
            [out[1], out[2]] = plain;
            let [_, one, two] = &mut out;
            V::call(InvertTwo {
                x: one,
                y: two,
                moduli: PhantomData::<(M, M)>,
            });
            for number in &mut out {
                Element::<V, M, N>::load(number).to_plain().store(number);
            }
            out
        }
    }

    pub(super) fn run<M: Modulus<N>, const N: usize>() {
        let m = Integer::new(&M::DIGITS);
        for batch in pairs(&operands::<M, N>()) {
            let out = vector::run(Inverses::<M, N>(batch, PhantomData)).expect("or emulated");
            for l in 0..8 {
                let [a, b] = [&batch[0], &batch[1]].map(|n| Integer::new(&lane(n, l)));
                // With scalar instructions: R / x.
                let prime = const { Prime::of::<M>() };
                let plain = [&batch[0], &batch[1]].map(|n| below::<M, N>(&lane(n, l)));
                let r = Integer::new(&M::R);
                let [alone] = invert([plain[0]], [&prime]);
                let [one, two] = invert(plain, [&prime; 2]);
                for (number, inverse) in [(&a, alone), (&a, one), (&b, two)] {
                    assert!(digits::is_below(&inverse, &M::DIGITS));
                    let nothing = Integer::new(&[0]);
                    let expected = if number.modulo(&m).is_zero() {
                        &nothing
                    } else {
                        &r
                    };
                    let product = number.times(&Integer::new(&inverse));
                    assert!(congruent::<M, N>(&product, expected));
                }
                for (number, inverse) in [(&a, 0), (&a, 1), (&b, 2)] {
                    let inverse = Integer::new(&lane(&out[inverse], l));
                    let one = Integer::new(&[u64::from(!number.modulo(&m).is_zero())]);
                    assert_eq!(number.times(&inverse).modulo(&m), one);
                }
            }
        }
    }
}

/// Σ ±(2 index + 1) 2^(w i) is k or n - k; all windows that are in use.
#[test]
fn digits_add_up_to_the_scalar() {
    struct Digits<M, const N: usize>([Digit; N], Windows, PhantomData<M>);
    impl<M: Modulus<N>, const N: usize> Kernel for Digits<M, N> {
        type Output = ([Digit; N], Vec<(Digit, u8)>);
        #[inline(always)]
        fn run<V: Vector>(self) -> Self::Output {
            let mut odd = [Digit::ZERO; N];
            recode::odd::<V, M, N>(Element::load_below(REDUCED, &self.0))
                .0
                .store(&mut odd);
            let mut digits = Vec::new();
            for i in 0..self.1.count {
                let digit = recode::digit::<V, N>(&odd, i, self.1);
                let mut index = Digit::ZERO;
                digit.index.store(&mut index);
                digits.push((index, digit.negative));
            }
            (odd, digits)
        }
    }

    fn check<M: Modulus<N>, const N: usize>(bits: usize, width: usize) {
        let m = Integer::new(&M::DIGITS);
        let below: Vec<_> = operands::<M, N>()
            .into_iter()
            .filter(|k| Integer::new(k).modulo(&m) == Integer::new(k) && k.iter().any(|&d| d != 0))
            .collect();
        let windows = Windows::of(bits, width);
        for batch in pairs(&below) {
            let (odd, digits) =
                vector::run(Digits::<M, N>(batch[0], windows, PhantomData)).expect("or emulated");
            for l in 0..8 {
                let k = Integer::new(&lane(&batch[0], l));
                let odd = Integer::new(&lane(&odd, l));
                assert!(odd == k || odd.plus(&k) == m);
                assert!(odd.is_odd());
                let (mut plus, mut minus) = (Integer::new(&[0]), Integer::new(&[0]));
                for (index, negative) in digits.iter().rev() {
                    let digit = Integer::new(&[2 * index.0[l] + 1]);
                    for _ in 0..width {
                        plus = plus.plus(&plus);
                        minus = minus.plus(&minus);
                    }
                    if negative >> l & 1 == 1 {
                        minus = minus.plus(&digit);
                    } else {
                        plus = plus.plus(&digit);
                    }
                }
                assert_eq!(plus, minus.plus(&odd));
            }
        }
    }
    for width in [5, 7] {
        check::<crate::p256::Order, 5>(256, width);
        check::<crate::p384::Order, 8>(384, width);
    }
}

/// A signature to be made: private key, nonce, r, s, digest as long as n.
type Signing = [Vec<u8>; 5];

/// Each signature in each lane and across the lanes, with the nonce that its vector gives instead of a hedged one; then
/// again with the nonce 0 in one lane, which must say so, without a trace in the others.
fn given_nonces<C: Curve<N>, const N: usize>(vectors: &[Signing]) {
    let comb = C::comb().expect("or emulated");
    let table = C::wide_table().expect("or emulated");
    let starts = (0..vectors.len()).flat_map(|start| [(start, 0), (start, 1 << (start % 8))]);
    for (start, degenerate) in starts {
        let of = |lane| &vectors[(start + lane) % vectors.len()];
        let number = |i: usize| pack(|lane| from_bytes::<N>(&of(lane)[i]));
        let good = |lane: usize| degenerate >> lane & 1 == 0;
        let nonce = |lane| {
            if good(lane) {
                from_bytes(&of(lane)[1])
            } else {
                [0; N]
            }
        };
        let signatures = vector::run(Sign {
            d: &number(0),
            z: &number(4),
            k: &pack(nonce),
            comb,
            curve: PhantomData::<C>,
        })
        .expect("or emulated");
        for lane in 0..8 {
            let alone = |i: usize| from_bytes::<N>(&of(lane)[i]).map(Digit::splat);
            let one = vector::run(wide::sign::Sign {
                d: &alone(0),
                z: &alone(4),
                k: &nonce(lane).map(Digit::splat),
                table,
                curve: PhantomData::<C>,
            })
            .expect("or emulated");
            if !good(lane) {
                assert_eq!(one.degenerate, 0xff);
                continue;
            }
            assert_eq!((one.degenerate, one.intact), (0, 0xff));
            for l in 0..8 {
                assert_eq!(self::lane(&one.r, l), self::lane(&signatures.r, lane));
                assert_eq!(self::lane(&one.s, l), self::lane(&signatures.s, lane));
            }
        }
        assert_eq!(signatures.degenerate, degenerate);
        assert_eq!(signatures.intact | degenerate, 0xff);
        for lane in (0..8).filter(|&lane| good(lane)) {
            let mut out = vec![0; C::BYTES];
            to_bytes(&signatures.r, lane, &mut out);
            assert_eq!(out, of(lane)[2]);
            to_bytes(&signatures.s, lane, &mut out);
            assert_eq!(out, of(lane)[3]);
        }
    }
}

/// CAVP 186-4 SigGen.
#[test]
fn nist_signatures() {
    use crate::{p256::P256, p384::P384};
    for (section, run) in [
        ("P-256,SHA-256", given_nonces::<P256, 5> as fn(&[Signing])),
        ("P-384,SHA-384", given_nonces::<P384, 8>),
    ] {
        let records = records(include_str!("../../tests/nist/ecdsa_sign.rsp"));
        let of_curve = records.iter().filter(|record| record.section == section);
        let vectors: Vec<Signing> = of_curve
            .map(|record| {
                let message = record.bytes("Msg");
                let mut digest = vec![0; 48];
                // SAFETY: SHA-384's 48 bytes have room for SHA-256's 32.
                unsafe {
                    if section.ends_with("256") {
                        digest.truncate(32);
                        aws::SHA256(message.as_ptr(), message.len(), digest.as_mut_ptr());
                    } else {
                        aws::SHA384(message.as_ptr(), message.len(), digest.as_mut_ptr());
                    }
                }
                let [d, k, r, s] = ["d", "k", "R", "S"].map(|name| record.bytes(name));
                [d, k, r, s, digest]
            })
            .collect();
        assert_eq!(vectors.len(), 15);
        run(&vectors);
    }
}

/// RFC 6979, appendices A.2.5 and A.2.6, message "sample".
#[test]
fn rfc6979_p256() {
    use crate::p256::P256;
    given_nonces::<P256, 5>(&[[
        "c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721",
        "a6e3c57dd01abe90086538398355dd4c3b17aa873382b0f24d6129493d8aad60",
        "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716",
        "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8",
        // SHA-256 of "sample"
        "af2bdbe1aa9b6ec1e2ade1d694f41fc71a831d0268e9891562113d8a62add1bf",
    ]
    .map(hex)]);
}

#[test]
fn rfc6979_p384() {
    use crate::p384::P384;
    given_nonces::<P384, 8>(&[[
        "6b9d3dad2e1b8c1c05b19875b6659f4de23c3b667bf297ba9aa47740787137d8\
             96d5724e4c70a825f872c9ea60d2edf5",
        "94ed910d1a099dad3254e9242ae85abde4ba15168eaf0ca87a555fd56d10fbca\
             2907e3e83ba95368623b8c4686915cf9",
        "94edbb92a5ecb8aad4736e56c691916b3f88140666ce9fa73d64c4ea95ad133c\
             81a648152e44acf96e36dd1e80fabe46",
        "99ef4aeb15f178cea1fe40db2603138f130e740a19624526203b6351d0a3a94f\
             a329c145786e679e7b82c71a38628ac8",
        // SHA-384 of "sample"
        "9a9083505bc92276aec4be312696ef7bf3bf603f4bbd381196a029f340585312\
             313bca4a9b5b890efee42c77b1ee25fe",
    ]
    .map(hex)]);
}

fn hex(text: &str) -> Vec<u8> {
    let digit = |i: usize| u8::from_str_radix(&text[i..i + 2], 16).expect("hexadecimal");
    (0..text.len()).step_by(2).map(digit).collect()
}
