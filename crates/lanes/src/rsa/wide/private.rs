//! The private operation with CRT, y = x^d mod n, across the lanes, checked.
//!
//! ```text
//! lanes 0 to 3   x mod p ─▶ ^dp ─▶ y_p ─┐
//! lanes 4 to 7   x mod q ─▶ ^dq ─▶ y_q ─┴─▶ h = (y_p − y_q)/q mod p ─▶ y = y_q + h·q ─▶ y^e = x ? ─▶ y
//!                                           lanes 0 to 3               all lanes
//! ```
//!
//! With n = p·q and x < n, N digits a prime, R = 2^(52N) for a prime and R_n = R² for n:
//! * x = x_0 + x_1·R with x_0, x_1 < R. So x·R = (x_0·R²)/R + (x_1·R³)/R: the sum of two products below 3p, and below 6p.
//! * y_q is made canonical. y_p − y_q + 4p is positive, as y_q < 2^(bits of p) < 2p, and below 5p.
//! * h is made canonical, so that h·q < n. It is multiplied modulo n, by q·R_n, which takes no kernel of its own: the
//!   result is below 2n − 2n/2^52 + h·q/R_n, and y_q < q is less than what lacks to 2n. The sum is made canonical.
//!
//! What is wrong modulo one prime only would give the other one away. So y^e is computed and compared with x as in
//! `rsa/private.rs`: 18 products modulo n at e = 65537, of 1,300 to 2,500 products modulo both primes. y is read from the
//! memory from which it is released. Digits are read as 52 bits there as here, so that bits above mean nothing.
//!
//! # Count of `vpmadd52`
//!
//! | | a product modulo p and q | products | a product modulo n | products | in all |
//! |---|---|---|---|---|---|
//! | 2048 bits | 401 | 1,258 | 801 | 19 | 519,677 |
//! | 3072 bits | 961 | 1,876 | 1,921 | 19 | 1,839,335 |
//! | 4096 bits | 1,601 | 2,488 | 3,201 | 19 | 4,044,107 |
//!
//! Modulo p and q: two for x·R, 30 for the table, six for each of 204, 307 or 409 windows, one out of Montgomery form,
//! one for h. A square has no advantage here: its halves lie in different lanes.
//!
//! # Constant time
//! In the key (but for its size and e) and in x.

use super::carry::{canonical, normalise};
use super::key;
use super::layout::{Halves, Whole};
use super::multiply::{Multiply, load, store};
use super::power::{Power, Table};
use super::public::PublicPower;
use crate::checks::Check;
use crate::rsa::key::PrivateKey;
use crate::vector::{DIGIT, Digit, Kernel, Mask, Vector, unroll};
use zeroize::Zeroizing;

/// `out = x^d mod n` for x < n of 2N digits (`M` = 2N). Returns whether it passed its check: in all lanes.
pub(super) struct Private<'a, const R: usize, const N: usize, const M: usize> {
    pub(super) key: &'a PrivateKey,
    pub(super) x: &'a [u64],
    pub(super) out: &'a mut [Digit; R],
}

/// 1 of p and 1 of q in their lowest register.
const ONES: Digit = Digit([1, 0, 0, 0, 1, 0, 0, 0]);
/// The other half's lane.
const EXCHANGED: Digit = Digit([4, 5, 6, 7, 0, 1, 2, 3]);
/// The lanes of q.
const UPPER: Mask = 0xf0;

impl<const R: usize, const N: usize, const M: usize> Private<'_, R, N, M> {
    /// What makes up for any digit that is subtracted: the number 0, of digits of 2^52 − 1 or more, but for the highest, −1.
    /// In two parts, to add and to subtract.
    const LENT: [(Digit, Digit); R] = {
        let mut lent = [(Digit::ZERO, Digit::ZERO); R];
        let mut i = 0;
        while i < N {
            let (more, less) = match i {
                0 => (DIGIT + 1, 0),
                _ if i == N - 1 => (0, 1),
                _ => (DIGIT, 0),
            };
            let (lane, register) = (i / R, i % R);
            lent[register].0.0[lane] = more;
            lent[register].0.0[lane + 4] = more;
            lent[register].1.0[lane] = less;
            lent[register].1.0[lane + 4] = less;
            i += 1;
        }
        lent
    };
}

impl<const R: usize, const N: usize, const M: usize> Kernel for Private<'_, R, N, M> {
    type Output = Mask;

    #[inline(always)]
    fn run<V: Vector>(self) -> Mask {
        const { assert!(M == 2 * N && N <= 4 * R) };
        let Self { key, x, out } = self;
        let (public, key) = (&key.public, &key.wide);
        let primes = key.primes::<R>();
        let low = V::splat(DIGIT);
        let mut buffers = Zeroizing::new([[Digit::ZERO; R]; 3]);
        let [a, b, y] = &mut *buffers;

        // x·R mod p and mod q, of x's halves.
        let (lower, upper) = x.split_at(N);
        let [lower, upper] = [lower, upper].map(|half| key::across(R, [(0, half), (4, half)]));
        let [lower, upper] = [&lower, &upper].map(|half| key::row(half));
        V::call(Multiply::<Halves, R, N>::new(lower, key.r2(), primes, a));
        V::call(Multiply::<Halves, R, N>::new(upper, key.r3(), primes, b));
        let mut sum = load::<V, R>(a);
        unroll!(J < R of 10 => {
            sum[J] = sum[J].and(low).add(V::load(&b[J]).and(low));
        });
        store(normalise::<V, Halves, R>(sum), a);

        // y_p and y_q.
        V::call(Power::<R, N> {
            base: a,
            windows: key.windows(),
            modulus: primes,
            one: key.one(),
            table: &mut Table::new(),
            out: b,
        });
        *a = [Digit::ZERO; R];
        a[0] = ONES;
        V::call(Multiply::<Halves, R, N>::new(b, a, primes, y));
        let halves = canonical::<V, Halves, R>(load(y), primes.digits);

        // h = (y_p − y_q)/q mod p
        let mut difference = halves;
        unroll!(J < R of 10 => {
            let (more, less) = &Self::LENT[J];
            let lent = V::load(&primes.digits[J]).shl::<2>().add(V::load(more)).sub(V::load(less));
            let other = halves[J].permute(V::load(&EXCHANGED));
            difference[J] = halves[J].add(lent).sub(other);
        });
        store(normalise::<V, Halves, R>(difference), a);
        V::call(Multiply::<Halves, R, N>::new(a, key.qinv(), primes, b));
        let mut h = canonical::<V, Halves, R>(load(b), primes.digits);
        unroll!(J < R of 10 => {
            h[J] = h[J].blend(UPPER, V::zero());
        });
        store(h, b);

        // y = y_q + h·q
        let n = public.wide.n::<R>();
        V::call(Multiply::<Whole, R, M>::new(b, key.q(), n, a));
        let mut sum = load::<V, R>(a);
        unroll!(J < R of 10 => {
            let other = halves[J].permute(V::load(&EXCHANGED)).blend(UPPER, V::zero());
            sum[J] = sum[J].and(low).add(other);
        });
        let sum = normalise::<V, Whole, R>(sum);
        store(canonical::<V, Whole, R>(sum, n.digits), out);

        // From here on nothing changes the result: what is checked is what is released.
        V::call(PublicPower::<R, M> {
            key: public,
            x: out,
            out: a,
        });
        let x = key::across(R, [(0, x)]);
        let mut same = Mask::MAX;
        for (power, x) in a.iter().zip(x.iter()) {
            same &= V::load(power).eq(V::load(x));
        }
        Check::RsaPublicPower.verdict(same)
    }
}
