//! Numbers modulo a prime in radix 2^52, eight at once: the arithmetic all else here is made of.
//!
//! ```text
//! Sum       digits of any sign below 2^62: what additions and products make
//!    │ carry                                 (a ripple of 3 N instructions)
//!    ▼
//! Element   digits in [0, 2^52): for sums and products
//!    │ factor                                (2 N from a Sum: the digits keep their excess, which
//!    ▼                                        was carried on; multiplication ignores it)
//! Factor    only for products
//! ```
//!
//! A number is not reduced below m; it is kept below a small multiple of m, which `bound.rs` reckons and
//! the unit tests check; all that is carried is in [0, 15 m). Products are in Montgomery form: with a < A m, b < B m,
//!
//! ```text
//! a.mul(b) = (a b + q m) / R < (A B m / R + 1) m,      m / R ≤ 1/16
//! ```
//!
//! so factors with A B ≤ 16 give a product below 2 m. The sum that usually follows is fused into
//! the product: its digits start the upper columns, and one ripple carries both.
//!
//! A column collects at most 2 · 2 N products below 2^52 each, those of the reduction as
//! many again, and one digit of a sum: below 2^59 for N = 8, and below 2^62 with a sum's digit.
//! All is constant time.

mod across;

use super::bound::{Bound, Limit, REDUCED};
use super::modulus::{Modulus, multiple};
use crate::vector::unroll;
use crate::vector::{DIGIT, Digit, Mask, Vector};
use core::ops::{Add, Sub};

/// Eight numbers modulo m, carried.
#[derive(Clone, Copy)]
pub(crate) struct Element<V, M, const N: usize>([V; N], Bound<M>);

/// Eight numbers modulo m that can be multiplied, and no more: the low 52 bits of each digit.
#[derive(Clone, Copy)]
pub(crate) struct Factor<V, M, const N: usize>([V; N], Bound<M>);

/// A sum or difference of elements, not carried yet.
#[derive(Clone, Copy)]
pub(crate) struct Sum<V, M, const N: usize>([V; N], Bound<M>);

/// The 2 N columns of a product, in room for the largest.
#[derive(Clone, Copy)]
pub(crate) struct Columns<V>(pub(crate) [V; 16]);

impl<V: Vector, M: Modulus<N>, const N: usize> Element<V, M, N> {
    /// The same number, below m, in every lane.
    #[inline(always)]
    pub(crate) fn splat(digits: [u64; N]) -> Self {
        let mut out = [V::zero(); N];
        unroll!(I < N => { out[I] = V::splat(digits[I]); });
        Element(out, Bound::below(REDUCED))
    }

    /// 1 in Montgomery form.
    #[inline(always)]
    pub(crate) fn one() -> Self {
        Self::splat(M::R)
    }

    /// Any number that was carried.
    #[inline(always)]
    pub(crate) fn load(from: &[Digit; N]) -> Self {
        Self::load_below(M::CARRIED, from)
    }

    /// A number that [`Self::store_below`] has stored, or the caller of a kernel promises.
    #[inline(always)]
    pub(crate) fn load_below(limit: Limit, from: &[Digit; N]) -> Self {
        let mut out = [V::zero(); N];
        unroll!(I < N => { out[I] = V::load(&from[I]); });
        Element(out, Bound::below(limit))
    }

    #[inline(always)]
    pub(crate) fn store(self, to: &mut [Digit; N]) {
        self.store_below(M::CARRIED, to);
    }

    #[inline(always)]
    pub(crate) fn store_below(self, limit: Limit, to: &mut [Digit; N]) {
        self.1.check(Limit(0), limit);
        unroll!(I < N => { self.0[I].store(&mut to[I]); });
    }

    /// Digits that are known to be carried, of a number that is known to be below the limit.
    #[inline(always)]
    pub(crate) fn from_digits(limit: Limit, digits: [V; N]) -> Self {
        Element(digits, Bound::below(limit))
    }

    #[inline(always)]
    pub(crate) fn digits(self) -> [V; N] {
        self.0
    }

    /// Lane by lane: `self` where the bit is clear, `other` where it is set.
    #[inline(always)]
    pub(crate) fn blend(self, mask: Mask, other: Self) -> Self {
        let mut out = self.0;
        unroll!(I < N => { out[I] = self.0[I].blend(mask, other.0[I]); });
        Element(out, self.1.or(other.1))
    }

    /// a b / R.
    #[inline(always)]
    pub(crate) fn mul(self, b: impl Into<Factor<V, M, N>>) -> Sum<V, M, N> {
        self.factor().mul(b)
    }

    /// a² / R.
    #[inline(always)]
    pub(crate) fn square(self) -> Sum<V, M, N> {
        self.factor().square()
    }

    /// a b / R + c.
    #[inline(always)]
    pub(crate) fn mul_add(self, b: impl Into<Factor<V, M, N>>, c: Sum<V, M, N>) -> Sum<V, M, N> {
        self.factor().mul_add(b, c)
    }

    /// a² / R + c.
    #[inline(always)]
    pub(crate) fn square_add(self, c: Sum<V, M, N>) -> Sum<V, M, N> {
        self.factor().square_add(c)
    }

    #[inline(always)]
    pub(crate) fn factor(self) -> Factor<V, M, N> {
        Factor(self.0, self.1)
    }

    /// a / 2 mod m, below (A + 1) m / 2: m is added where a is odd.
    #[inline(always)]
    pub(crate) fn halve(self) -> Self {
        let odd = self.0[0].test(V::splat(1));
        let even = self.sum().blend(odd, self.sum().plus(1)).0;
        let mut out = [V::zero(); N];
        unroll!(I < N => {
            out[I] = even[I].shr::<1>();
            if I + 1 < N {
                // The lowest bit of the digit above: (digit · 2^51) mod 2^52.
                out[I] = out[I].madlo(even[I + 1], V::splat(1 << 51));
            }
        });
        Sum(out, self.1.halved()).carry()
    }

    /// The number below m of one below 2 m.
    #[inline(always)]
    pub(crate) fn below_m(self) -> Self {
        self.1.check(Limit(0), Limit::times(2));
        let mut less = self.sum() - Sum::multiple(1);
        // The sign of the difference is that of its carried uppermost digit.
        unroll!(I < N => {
            if I + 1 < N {
                less.0[I + 1] = less.0[I + 1].add(less.0[I].sar::<52>());
                less.0[I] = less.0[I].and(V::splat(DIGIT));
            }
        });
        let negative = less.0[N - 1].test(V::splat(1 << 63));
        let mut out = self.0;
        unroll!(I < N => { out[I] = less.0[I].blend(negative, self.0[I]); });
        Element(out, Bound::below(REDUCED))
    }

    /// Out of Montgomery form, and below m: a / R mod m for any a that is carried.
    #[inline(always)]
    pub(crate) fn to_plain(self) -> Self {
        self.1.check(Limit(0), M::CARRIED);
        let mut columns = [V::zero(); 16];
        unroll!(I < N => { columns[I] = self.0[I]; });
        // (a + q m) / R < 1 + m, so at most m itself.
        let bound = Bound::below(Limit::JUST_ABOVE_ONE);
        Sum::<V, M, N>::reduced(Columns(columns), bound)
            .carry()
            .below_m()
    }

    /// Into Montgomery form: a R mod m, below 2 m for any a that is carried.
    #[inline(always)]
    pub(crate) fn to_montgomery(self) -> Self {
        self.mul(Self::splat(M::R2)).carry()
    }

    /// The lanes where the number is zero. Only a number below m is zero when it is congruent to 0.
    #[inline(always)]
    pub(crate) fn is_zero(self) -> Mask {
        let mut any = self.0[0];
        unroll!(I < N => { any = any.or(self.0[I]); });
        any.eq(V::zero())
    }

    /// The lanes where all digits are equal.
    #[inline(always)]
    pub(crate) fn equals(self, other: Self) -> Mask {
        let mut differ = V::zero();
        unroll!(I < N => { differ = differ.or(self.0[I].xor(other.0[I])); });
        differ.eq(V::zero())
    }

    #[inline(always)]
    pub(crate) fn sum(self) -> Sum<V, M, N> {
        Sum(self.0, self.1)
    }

    /// 2 a.
    #[inline(always)]
    pub(crate) fn twice(self) -> Sum<V, M, N> {
        self + self
    }
}

impl<V: Vector, M: Modulus<N>, const N: usize> Factor<V, M, N> {
    /// a b / R.
    #[inline(always)]
    pub(crate) fn mul(self, b: impl Into<Self>) -> Sum<V, M, N> {
        self.mul_add(b, Sum::zero())
    }

    /// a² / R.
    #[inline(always)]
    pub(crate) fn square(self) -> Sum<V, M, N> {
        self.square_add(Sum::zero())
    }

    /// a b / R + c.
    #[inline(always)]
    pub(crate) fn mul_add(self, b: impl Into<Self>, c: Sum<V, M, N>) -> Sum<V, M, N> {
        let b = b.into();
        let nothing = Sum::<V, M, N>::zero().1;
        let bound = c.1.plus_product((self.1, b.1), (nothing, nothing), M::ROOM);
        Sum::reduced(product(c.columns(), &self.0, &b.0), bound)
    }

    /// a² / R + c.
    #[inline(always)]
    pub(crate) fn square_add(self, c: Sum<V, M, N>) -> Sum<V, M, N> {
        let nothing = Sum::<V, M, N>::zero().1;
        let bound =
            c.1.plus_product((self.1, self.1), (nothing, nothing), M::ROOM);
        Sum::reduced(square(c.columns(), &self.0), bound)
    }

    /// (a b - c d) / R + e: two products for one reduction.
    #[inline(always)]
    pub(crate) fn mul_sub_mul(
        self,
        b: impl Into<Self>,
        (c, d): (impl Into<Self>, impl Into<Self>),
        e: Sum<V, M, N>,
    ) -> Sum<V, M, N> {
        let (b, c, d) = (b.into(), c.into(), d.into());
        let minus = product(Columns([V::zero(); 16]), &c.0, &d.0);
        let bound = e.1.plus_product((self.1, b.1), (c.1, d.1), M::ROOM);
        Sum::reduced(product(e.columns().sub(minus), &self.0, &b.0), bound)
    }

    /// (a b + c d) / R: two products for one reduction.
    #[inline(always)]
    pub(crate) fn mul_add_mul(
        self,
        b: impl Into<Self>,
        (c, d): (impl Into<Self>, impl Into<Self>),
    ) -> Sum<V, M, N> {
        let (b, c, d) = (b.into(), c.into(), d.into());
        let nothing = Sum::<V, M, N>::zero();
        let bound = nothing.1.plus_products((self.1, b.1), (c.1, d.1), M::ROOM);
        let first = product(nothing.columns(), &c.0, &d.0);
        Sum::reduced(product(first, &self.0, &b.0), bound)
    }

    /// (a b - c²) / R + e.
    #[inline(always)]
    pub(crate) fn mul_sub_square(
        self,
        b: impl Into<Self>,
        c: impl Into<Self>,
        e: Sum<V, M, N>,
    ) -> Sum<V, M, N> {
        let (b, c) = (b.into(), c.into());
        let minus = square(Columns([V::zero(); 16]), &c.0);
        let bound = e.1.plus_product((self.1, b.1), (c.1, c.1), M::ROOM);
        Sum::reduced(product(e.columns().sub(minus), &self.0, &b.0), bound)
    }
}

impl<V: Vector, M: Modulus<N>, const N: usize> From<Element<V, M, N>> for Factor<V, M, N> {
    #[inline(always)]
    fn from(element: Element<V, M, N>) -> Self {
        element.factor()
    }
}

impl<V: Vector, M: Modulus<N>, const N: usize> Sum<V, M, N> {
    #[inline(always)]
    pub(crate) fn zero() -> Self {
        Sum([V::zero(); N], Bound::exactly(0))
    }

    /// The digits of a number that is known to be above `-limit` and below it.
    #[inline(always)]
    pub(crate) fn from_digits(limit: Limit, digits: [V; N]) -> Self {
        let apart = Bound::below(limit).plus(-1, Bound::below(limit));
        Sum(digits, apart)
    }

    /// k m, in every lane.
    #[inline(always)]
    pub(crate) fn multiple(k: u64) -> Self {
        let m = multiple(&M::DIGITS, k);
        let mut out = [V::zero(); N];
        unroll!(I < N => { out[I] = V::splat(m[I]); });
        Sum(out, Bound::exactly(k))
    }

    /// Adds k m.
    #[inline(always)]
    pub(crate) fn plus(self, k: u64) -> Self {
        self + Self::multiple(k)
    }

    /// Lane by lane: `self` where the bit is clear, `other` where it is set.
    #[inline(always)]
    pub(crate) fn blend(self, mask: Mask, other: Self) -> Self {
        let mut out = self.0;
        unroll!(I < N => { out[I] = self.0[I].blend(mask, other.0[I]); });
        Sum(out, self.1.or(other.1))
    }

    #[inline(always)]
    pub(crate) fn twice(self) -> Self {
        self + self
    }

    #[inline(always)]
    pub(crate) fn thrice(self) -> Self {
        self + self + self
    }

    /// The digits in [0, 2^52), for a sum in [0, 15 m) ([`Modulus::CARRIED`]).
    #[inline(always)]
    pub(crate) fn carry(self) -> Element<V, M, N> {
        let mut out = self.0;
        unroll!(I < N => {
            if I + 1 < N {
                out[I + 1] = out[I + 1].add(out[I].sar::<52>());
                out[I] = out[I].and(V::splat(DIGIT));
            }
        });
        check_carried(out[N - 1]);
        Element(out, self.1.carried(M::CARRIED))
    }

    /// As `carry`, for what is only multiplied: a sum in [0, R).
    #[inline(always)]
    pub(crate) fn factor(self) -> Factor<V, M, N> {
        let mut out = self.0;
        unroll!(I < N => {
            if I + 1 < N {
                out[I + 1] = out[I + 1].add(out[I].sar::<52>());
            }
        });
        check_carried(out[N - 1]);
        Factor(out, self.1.carried(Limit::times(1 << M::ROOM)))
    }

    /// A sum in (-5 m, 4 m), brought below [`Modulus::TIGHT`].
    #[inline(always)]
    pub(crate) fn tighten(self) -> Self {
        self.1.check(Limit::times(5), Limit::times(4));
        // A tight number's digits are those of the sum and of multiples of m.
        let bound = Bound::below(M::TIGHT).plus(1, self.1.digits());
        Sum(M::tighten(self.0), bound)
    }

    /// A sum in (-60 m, 60 m), brought below [`Modulus::SETTLED`].
    #[inline(always)]
    pub(crate) fn settle(self) -> Self {
        self.1.check(Limit::times(60), Limit::times(60));
        let bound = Bound::below(M::SETTLED).plus(1, self.1.digits());
        Sum(M::settle(self.0), bound)
    }

    /// The columns' number divided by R, which is within the bound.
    #[inline(always)]
    fn reduced(columns: Columns<V>, bound: Bound<M>) -> Self {
        Sum(M::reduce(columns), bound)
    }

    /// As the upper half of a product's columns: times R.
    #[inline(always)]
    fn columns(self) -> Columns<V> {
        let mut out = [V::zero(); 16];
        unroll!(I < N => { out[N + I] = self.0[I]; });
        Columns(out)
    }
}

/// What was carried must fit: a bound in some formula is wrong where it does not.
#[inline(always)]
fn check_carried<V: Vector>(top: V) {
    if cfg!(all(debug_assertions, not(feature = "fault"))) {
        let mut digit = Digit::ZERO;
        top.store(&mut digit);
        assert!(
            digit.0.iter().all(|&lane| lane <= DIGIT),
            "a sum left its bounds"
        );
    }
}

impl<V: Vector> Columns<V> {
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        let mut out = self.0;
        unroll!(I < 8 => {
            out[I] = out[I].sub(other.0[I]);
            out[I + 8] = out[I + 8].sub(other.0[I + 8]);
        });
        Columns(out)
    }
}

/// c + a b: 2 N² multiply-adds.
#[inline(always)]
fn product<V: Vector, const N: usize>(c: Columns<V>, a: &[V; N], b: &[V; N]) -> Columns<V> {
    let mut c = c.0;
    unroll!(I < N => {
        unroll!(J < N => {
            c[I + J] = c[I + J].madlo(a[I], b[J]);
            c[I + J + 1] = c[I + J + 1].madhi(a[I], b[J]);
        });
    });
    Columns(c)
}

/// c + a²: the N (N - 1) / 2 cross products once, doubled, then the squares;
/// N (N + 1) multiply-adds.
#[inline(always)]
fn square<V: Vector, const N: usize>(c: Columns<V>, a: &[V; N]) -> Columns<V> {
    let mut cross = [V::zero(); 16];
    unroll!(I < N => {
        unroll!(J < N => {
            if J > I {
                cross[I + J] = cross[I + J].madlo(a[I], a[J]);
                cross[I + J + 1] = cross[I + J + 1].madhi(a[I], a[J]);
            }
        });
    });
    let mut c = c.0;
    unroll!(I < N => {
        // In this order nothing is added where a column starts with zero.
        c[2 * I] = c[2 * I].add(cross[2 * I].add(cross[2 * I])).madlo(a[I], a[I]);
        c[2 * I + 1] = c[2 * I + 1].add(cross[2 * I + 1].add(cross[2 * I + 1])).madhi(a[I], a[I]);
    });
    Columns(c)
}

impl<V: Vector, M: Modulus<N>, const N: usize> Add for Sum<V, M, N> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let mut out = self.0;
        unroll!(I < N => { out[I] = self.0[I].add(other.0[I]); });
        Sum(out, self.1.plus(1, other.1))
    }
}

impl<V: Vector, M: Modulus<N>, const N: usize> Sub for Sum<V, M, N> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        let mut out = self.0;
        unroll!(I < N => { out[I] = self.0[I].sub(other.0[I]); });
        Sum(out, self.1.plus(-1, other.1))
    }
}

/// The sum of an element and whatever adds to it.
macro_rules! sums_of_elements {
    ($($operator:ident $method:ident)*) => {$(
        impl<V: Vector, M: Modulus<N>, const N: usize> $operator for Element<V, M, N> {
            type Output = Sum<V, M, N>;
            #[inline(always)]
            fn $method(self, other: Self) -> Sum<V, M, N> {
                self.sum().$method(other.sum())
            }
        }
        impl<V: Vector, M: Modulus<N>, const N: usize> $operator<Element<V, M, N>> for Sum<V, M, N> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Element<V, M, N>) -> Self {
                self.$method(other.sum())
            }
        }
    )*};
}
sums_of_elements!(Add add Sub sub);
