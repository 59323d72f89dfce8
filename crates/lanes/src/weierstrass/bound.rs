//! What each number may be, in multiples of its modulus m: the machine check of all bounds.
//!
//! In a unit test that asks for it (`checked`), each number of `element.rs` carries its bound with it, through the
//! very formulas that the processor runs. In a build for use a bound is nothing. Control flow and bounds do not
//! depend on data, so a bound that holds in one run holds in all of them: `tests/bounds.rs` runs each operation once.
//!
//! ```text
//! below       a number from memory: an assumption, which is checked where the number is stored
//! plus        sums, as linear forms: 2 X - (Z² + X) is known to be X - Z²
//! product     (a b - c d + q m) / R with 0 ≤ q < R, plus what is added
//! carried     checks: not negative, and below 15 m
//! multiplied  checks: not negative, and below R
//! ```
//!
//! An interval [low, high) of integers stands for a real number, in units of 2^-24 m; it is rounded outwards.
//! It also carries how many digits' worth a digit may hold, which must stay below 2^62.

use core::marker::PhantomData;

#[cfg(test)]
pub(crate) use form::{Form, checked};

/// Hundredths of m, which a number is below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit(pub(crate) u64);

impl Limit {
    /// More than m by far more than 1.
    pub(crate) const JUST_ABOVE_ONE: Limit = Limit(101);

    /// k m.
    pub(crate) const fn times(k: u64) -> Limit {
        Limit(100 * k)
    }

    /// The least k for which it is at most k m.
    pub(crate) const fn rounded_up(self) -> u64 {
        self.0.div_ceil(100)
    }
}

/// Below m.
pub(crate) const REDUCED: Limit = Limit::times(1);

/// What a number modulo M may be.
#[derive(Clone, Copy)]
pub(crate) struct Bound<M>(pub(crate) Form, PhantomData<M>);

impl<M> Bound<M> {
    /// A number that is carried and below the limit, though nothing here says so.
    #[inline(always)]
    pub(crate) fn below(limit: Limit) -> Self {
        Bound(Form::below(limit), PhantomData)
    }

    /// k m.
    #[inline(always)]
    pub(crate) fn exactly(k: u64) -> Self {
        Bound(Form::exactly(k), PhantomData)
    }

    /// self + times · other.
    #[inline(always)]
    pub(crate) fn plus(self, times: i32, other: Self) -> Self {
        Bound(self.0.plus(times, other.0), PhantomData)
    }

    /// (a b - c d) / R + self, reduced, where `room` is R / m in bits, rounded down.
    #[inline(always)]
    pub(crate) fn plus_product(self, (a, b): (Self, Self), minus: (Self, Self), room: u32) -> Self {
        let minus = (minus.0.0, minus.1.0);
        Bound(self.0.plus_product((a.0, b.0), minus, room), PhantomData)
    }

    /// (a b + c d) / R + self, reduced.
    #[inline(always)]
    pub(crate) fn plus_products(self, (a, b): (Self, Self), and: (Self, Self), room: u32) -> Self {
        let and = (and.0.0, and.1.0);
        Bound(self.0.plus_products((a.0, b.0), and, room), PhantomData)
    }

    /// One or the other.
    #[inline(always)]
    pub(crate) fn or(self, other: Self) -> Self {
        Bound(self.0.or(other.0), PhantomData)
    }

    /// What follows from k m being added and the sum halved.
    #[inline(always)]
    pub(crate) fn halved(self) -> Self {
        Bound(self.0.halved(), PhantomData)
    }

    /// 0, in digits as large.
    #[inline(always)]
    pub(crate) fn digits(self) -> Self {
        Bound(self.0.digits(), PhantomData)
    }

    /// After a carry, which needs a number below the limit.
    #[inline(always)]
    pub(crate) fn carried(self, limit: Limit) -> Self {
        self.0.check(Limit(0), limit);
        Bound(self.0.carried(), PhantomData)
    }

    /// Checks that it is not below -`less` and is below `more`.
    #[inline(always)]
    pub(crate) fn check(self, less: Limit, more: Limit) {
        self.0.check(less, more);
    }
}

/// Nothing: outside the unit tests.
#[cfg(not(test))]
#[derive(Clone, Copy)]
pub(crate) struct Form;

#[cfg(not(test))]
#[rustfmt::skip]
impl Form {
    #[inline(always)] fn below(_: Limit) -> Self { Form }
    #[inline(always)] fn exactly(_: u64) -> Self { Form }
    #[inline(always)] fn plus(self, _: i32, _: Self) -> Self { Form }
    #[inline(always)] fn plus_product(self, _: (Self, Self), _: (Self, Self), _: u32) -> Self { Form }
    #[inline(always)] fn plus_products(self, _: (Self, Self), _: (Self, Self), _: u32) -> Self { Form }
    #[inline(always)] fn or(self, _: Self) -> Self { Form }
    #[inline(always)] fn halved(self) -> Self { Form }
    #[inline(always)] fn digits(self) -> Self { Form }
    #[inline(always)] fn carried(self) -> Self { Form }
    #[inline(always)] fn check(self, _: Limit, _: Limit) {}
}

#[cfg(test)]
mod form {
    use super::Limit;
    use std::cell::{Cell, RefCell};

    /// A number's bound: its place among those of this thread. Nothing where none are kept.
    #[derive(Clone, Copy)]
    pub(crate) struct Form(usize);

    thread_local! {
        static BOUNDS: RefCell<Option<Vec<Linear>>> = const { RefCell::new(None) };
    }

    /// Runs `operation` on this thread and keeps the bounds of all its numbers.
    pub(crate) fn checked<T>(operation: impl FnOnce() -> T) -> T {
        BOUNDS.set(Some(Vec::new()));
        let result = operation();
        BOUNDS.set(None);
        result
    }

    impl Form {
        fn new(bound: impl FnOnce(&[Linear]) -> Linear) -> Form {
            BOUNDS.with_borrow_mut(|bounds| {
                let Some(bounds) = bounds else {
                    return Form(0);
                };
                let bound = bound(bounds);
                bounds.push(bound);
                Form(bounds.len() - 1)
            })
        }

        pub(super) fn below(limit: Limit) -> Form {
            Form::new(|_| Linear::below(limit))
        }

        pub(super) fn exactly(k: u64) -> Form {
            Form::new(|_| Linear::exactly(k))
        }

        pub(super) fn plus(self, times: i32, other: Form) -> Form {
            Form::new(|all| all[self.0].plus(times, all[other.0]))
        }

        pub(super) fn plus_product(self, a: (Form, Form), c: (Form, Form), room: u32) -> Form {
            Form::new(|all| {
                let plus = (all[a.0.0], all[a.1.0]);
                let minus = (all[c.0.0], all[c.1.0]);
                all[self.0].plus_product(plus, minus, room)
            })
        }

        pub(super) fn plus_products(self, a: (Form, Form), c: (Form, Form), room: u32) -> Form {
            Form::new(|all| {
                let one = (all[a.0.0], all[a.1.0]);
                let other = (all[c.0.0], all[c.1.0]);
                all[self.0].plus_products(one, other, room)
            })
        }

        pub(super) fn or(self, other: Form) -> Form {
            Form::new(|all| all[self.0].or(all[other.0]))
        }

        pub(super) fn halved(self) -> Form {
            Form::new(|all| all[self.0].halved())
        }

        pub(super) fn digits(self) -> Form {
            Form::new(|all| all[self.0].digits())
        }

        pub(super) fn carried(self) -> Form {
            Form::new(|all| all[self.0].carried())
        }

        pub(super) fn check(self, less: Limit, more: Limit) {
            BOUNDS.with_borrow(|bounds| {
                if let Some(bounds) = bounds {
                    bounds[self.0].check(less, more);
                }
            });
        }
    }

    /// m.
    const ONE: i64 = 1 << 24;

    /// Digits' worth in a digit: 2^10 of 2^52.
    const MOST: u64 = 1 << 10;

    /// What the product of two numbers, divided by R, is below.
    fn over_r(a: Linear, b: Linear, room: u32) -> i64 {
        let (a, b) = (a.interval(), b.interval());
        assert!(a.0 >= 0 && b.0 >= 0, "a factor may be negative");
        let unit: i128 = 1 << (24 + room);
        ((i128::from(a.1) * i128::from(b.1) + unit - 1) / unit) as i64
    }

    /// Digits' worth in a column: it has 2 N halves of each of two products, and as many of the reduction and its
    /// carries.
    fn columns(room: u32) -> u64 {
        let digits = if room == 4 { 5 } else { 8 };
        3 * 2 * digits + 4
    }

    /// A number that is in [low, high), times a factor.
    #[derive(Clone, Copy, Debug)]
    struct Term {
        /// Which number: 0 for none.
        name: u32,
        times: i64,
        low: i64,
        high: i64,
    }

    /// A sum of multiples of m and of numbers.
    #[derive(Clone, Copy, Debug)]
    struct Linear {
        multiples: i64,
        terms: [Term; 6],
        /// What a digit holds at most, in units of 2^52.
        digit: u64,
    }

    impl Linear {
        fn below(limit: Limit) -> Linear {
            Linear::number(0, hundredths(limit), 1)
        }

        fn exactly(k: u64) -> Linear {
            Linear {
                multiples: k as i64,
                terms: [Term::NONE; 6],
                digit: 1,
            }
        }

        /// A number of which nothing but this is known.
        fn number(low: i64, high: i64, digit: u64) -> Linear {
            thread_local!(static NAMED: Cell<u32> = const { Cell::new(0) });
            NAMED.set(NAMED.get() + 1);
            let mut form = Linear::exactly(0);
            form.terms[0] = Term {
                name: NAMED.get(),
                times: 1,
                low,
                high,
            };
            form.digit = digit;
            form
        }

        fn plus(mut self, times: i32, other: Linear) -> Linear {
            self.multiples += i64::from(times) * other.multiples;
            self.digit += u64::from(times.unsigned_abs()) * other.digit;
            assert!(self.digit <= MOST, "a digit may reach 2^62");
            for term in other.terms.iter().filter(|term| term.name != 0) {
                let same = |here: &&mut Term| here.name == term.name;
                let times = i64::from(times) * term.times;
                if let Some(here) = self.terms.iter_mut().find(same) {
                    here.times += times;
                } else {
                    let free = self.terms.iter_mut().find(|here| here.times == 0);
                    *free.expect("no formula adds that many numbers") = Term { times, ..*term };
                }
            }
            self
        }

        fn plus_product(
            self,
            (a, b): (Linear, Linear),
            (c, d): (Linear, Linear),
            room: u32,
        ) -> Linear {
            let (low, high) = (-over_r(c, d, room), over_r(a, b, room) + ONE);
            self.plus(1, Linear::number(low, high, columns(room)))
        }

        fn plus_products(
            self,
            (a, b): (Linear, Linear),
            (c, d): (Linear, Linear),
            room: u32,
        ) -> Linear {
            let high = over_r(a, b, room) + over_r(c, d, room) + ONE;
            self.plus(1, Linear::number(0, high, columns(room)))
        }

        fn or(self, other: Linear) -> Linear {
            let (a, b) = (self.interval(), other.interval());
            let digit = self.digit.max(other.digit);
            Linear::number(a.0.min(b.0), a.1.max(b.1), digit)
        }

        fn halved(self) -> Linear {
            let (low, high) = self.interval();
            Linear::number(low / 2, (high + ONE) / 2 + 1, self.digit)
        }

        fn digits(self) -> Linear {
            let digit = self.digit;
            Linear {
                digit,
                ..Linear::exactly(0)
            }
        }

        fn carried(mut self) -> Linear {
            self.digit = 1;
            self
        }

        fn check(self, less: Limit, more: Limit) {
            let (low, high) = self.interval();
            let number = |x| x as f64 / ONE as f64;
            assert!(
                low >= -hundredths(less) && high <= hundredths(more),
                "a number may be from {} to {} m",
                number(low),
                number(high),
            );
        }

        /// From the first to below the second.
        fn interval(self) -> (i64, i64) {
            let multiples = self.multiples * ONE;
            self.terms
                .iter()
                .fold((multiples, multiples), |(low, high), term| {
                    if term.times >= 0 {
                        (low + term.times * term.low, high + term.times * term.high)
                    } else {
                        // From below the one to the other itself: a unit more is above it.
                        let unit = 1;
                        (
                            low + term.times * term.high,
                            high + term.times * term.low + unit,
                        )
                    }
                })
        }
    }

    impl Term {
        const NONE: Term = Term {
            name: 0,
            times: 0,
            low: 0,
            high: 0,
        };
    }

    /// In units.
    fn hundredths(limit: Limit) -> i64 {
        (u128::from(limit.0) * ONE as u128 / 100) as i64
    }
}
