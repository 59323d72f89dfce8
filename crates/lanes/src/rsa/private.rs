//! The private operation with CRT, y = x^d mod n: RSADP and RSASP1 of RFC 8017, checked.
//!
//! ```text
//! x ─┬─▶ mod p ─▶ ^dp ─▶ y_p ─┐
//!    └─▶ mod q ─▶ ^dq ─▶ y_q ─┴─▶ h = (y_p − y_q)/q mod p ─▶ y = y_q + h·q ─▶ y^e = x ? ─▶ y
//! ```
//!
//! With n = p·q and x < n, N digits a prime and R = 2^(52N):
//! * x mod p: x/R mod p by a reduction of the 2N digits (x < R·p), times R³, divided by R: x·R.
//! * y_q is made canonical, or y could come out as y + n. y_p need not be: y_p − y_q + 2p is positive, as
//!   y_q < q < 2p, and below 3.1 p, which a multiplication takes.
//! * h is made canonical: then y ≤ q − 1 + (p − 1)·q < n.
//!
//! A result that is wrong modulo one prime only gives the other one away (Boneh, DeMillo, Lipton 1997). So
//! y^e is computed with the public key, in the lanes too, and compared with x: 2.6 % of an operation at
//! e = 65537. A lane that differs is reported alone; nothing of it is released.
//!
//! # Count of `vpmadd52`
//!
//! | | a square | a multiplication | a prime | recombination | check | in all |
//! |---|---|---|---|---|---|---|
//! | 2048 bits, windows of 4 | 1,222 | 1,603 | 1,678,187 | 2,403 | 90,316 | 3,449,093 |
//! | 3072 bits, windows of 5 | 2,734 | 3,606 | 5,406,046 | 5,406 | 202,674 | 11,020,172 |
//! | 4096 bits, windows of 5 | 4,844 | 6,406 | 12,707,598 | 9,606 | 359,832 | 25,784,634 |
//!
//! A prime: two reductions, a multiplication by R³; 7 or 15 squares and as many multiplications for the
//! table; then for each of 255, 307 or 409 windows 4 or 5 squares and a multiplication.
//!
//! # Constant time
//! In the key (but for its size and e) and in x.

use super::key::{self, Prime, PrivateKey};
use super::montgomery::{Modulus, Multiply, Product, Reduce, Scratch};
use super::power::{Power, Table};
use super::public::PublicPower;
use crate::LANES;
use crate::checks::Check;
use crate::vector::{DIGIT, Digit, Kernel, Mask, Vector};
use zeroize::Zeroizing;

/// `out = x^d mod n` for x < n, 2N digits each (`M` = 2N). Returns the lanes whose result passed its check.
/// Lanes without a key give 0 and pass.
pub(super) struct Private<'a, const N: usize, const M: usize> {
    pub(super) keys: [Option<&'a PrivateKey>; LANES],
    pub(super) x: &'a [Digit; M],
    pub(super) out: &'a mut [Digit; M],
}

impl<const N: usize, const M: usize> Kernel for Private<'_, N, M> {
    type Output = Mask;

    #[inline(always)]
    fn run<V: Vector>(self) -> Mask {
        const { assert!(M == 2 * N) };
        let Self { keys, x, out } = self;
        let scratch = &mut *Scratch::new();
        let mut yp = Zeroizing::new([Digit::ZERO; N]);
        let mut yq = Zeroizing::new([Digit::ZERO; N]);
        let (mut p, mut q) = (Modulus::new(), Modulus::new());
        let halves = keys.map(|key| key.map(|key| &key.q));
        half::<V, N>(halves, &mut q, x, scratch, &mut yq);
        let halves = keys.map(|key| key.map(|key| &key.p));
        half::<V, N>(halves, &mut p, x, scratch, &mut yp);
        q.canonical::<V>(&mut yq);

        // h = (y_p − y_q)/q mod p
        let mut h = Zeroizing::new([Digit::ZERO; N]);
        let mut qinv = Zeroizing::new([Digit::ZERO; N]);
        key::side_by_side(&mut qinv[..], |lane| keys[lane].map(|key| &key.qinv[..]));
        let mut carry = V::zero();
        for i in 0..N {
            let modulus = V::load(&p.digits[i]);
            let digit = V::load(&yp[i])
                .and(V::splat(DIGIT))
                .add(modulus)
                .add(modulus);
            let digit = digit.sub(V::load(&yq[i])).add(carry);
            digit.store(&mut h[i]);
            carry = digit.sar::<52>();
        }
        yp.copy_from_slice(&*h);
        V::call(Multiply {
            a: &yp,
            b: &qinv,
            modulus: &p,
            scratch,
            out: &mut h,
        });
        p.canonical::<V>(&mut h);

        V::call(Product {
            x: &h,
            y: &q.digits,
            start: &yq,
            out,
        });
        for digit in out.iter_mut() {
            V::load(digit).and(V::splat(DIGIT)).store(digit);
        }

        // From here on nothing changes the result: what is checked is what is released.
        let mut check = Zeroizing::new([Digit::ZERO; M]);
        V::call(PublicPower::new(
            keys.map(|key| key.map(|key| &key.public)),
            out,
            &mut check,
        ));
        let mut same = Mask::MAX;
        for (check, x) in check.iter().zip(x) {
            same &= V::load(check).eq(V::load(x));
        }
        Check::RsaPublicPower.verdict(same)
    }
}

/// `out = x^(d mod (prime − 1))` modulo each lane's prime, below 1.001 times the prime. Fills `modulus`.
#[inline(always)]
fn half<V: Vector, const N: usize>(
    primes: [Option<&Prime>; LANES],
    modulus: &mut Modulus<N>,
    x: &[Digit],
    scratch: &mut Scratch<N>,
    out: &mut [Digit; N],
) {
    modulus.fill(|lane| primes[lane].map(|prime| &prime.constants));
    let modulus = &*modulus;
    let mut one = Zeroizing::new([Digit::ZERO; N]);
    key::side_by_side(&mut one[..], |lane| {
        primes[lane].map(|prime| &prime.constants.one[..])
    });
    let mut r3 = Zeroizing::new([Digit::ZERO; N]);
    key::side_by_side(&mut r3[..], |lane| primes[lane].map(|prime| &prime.r3[..]));
    let exponent = windows(primes);
    let mut table = Table::new();
    let mut base = Zeroizing::new([Digit::ZERO; N]);
    load_columns::<V>(x, N, &mut scratch.columns);
    V::call(Reduce {
        modulus,
        scratch,
        out,
    });
    V::call(Multiply {
        a: out,
        b: &r3,
        modulus,
        scratch,
        out: &mut base,
    });
    V::call(Power {
        base: &base,
        exponent: &exponent,
        modulus,
        one: &one,
        table: &mut table,
        scratch,
        out,
    });
    // Out of Montgomery form.
    load_columns::<V>(&*out, N, &mut scratch.columns);
    scratch.columns[N..2 * N].fill(Digit::ZERO);
    V::call(Reduce {
        modulus,
        scratch,
        out,
    });
}

/// What a reduction starts from: the digits, and 2^52 − 1 more in the lower `n` columns.
#[inline(always)]
fn load_columns<V: Vector>(x: &[Digit], n: usize, columns: &mut [Digit]) {
    for (i, (x, column)) in x.iter().zip(columns).enumerate() {
        let digit = V::load(x).and(V::splat(DIGIT));
        let start = if i < n { DIGIT } else { 0 };
        digit.add(V::splat(start)).store(column);
    }
}

/// The exponents' windows side by side.
fn windows(primes: [Option<&Prime>; LANES]) -> Zeroizing<Vec<Digit>> {
    let count = primes
        .iter()
        .flatten()
        .map(|prime| prime.windows.len())
        .max();
    let mut windows = Zeroizing::new(vec![Digit::ZERO; count.unwrap_or(1)]);
    for (lane, prime) in primes.iter().enumerate() {
        let Some(prime) = prime else { continue };
        for (to, from) in windows.iter_mut().zip(prime.windows.iter()) {
            to.0[lane] = u64::from(*from);
        }
    }
    windows
}
