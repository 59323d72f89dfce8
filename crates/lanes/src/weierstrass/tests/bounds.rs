//! The machine check of all bounds (`bound.rs`): that they hold, and that it notices where they do not.
//!
//! One run is a proof for all operands: neither bounds nor control flow depend on them. A run covers every formula, and
//! the loops with as many rounds as they ever have.

use super::super::bound::{Limit, REDUCED, checked};
use super::super::comb;
use super::super::element::{Columns, Element};
use super::super::modulus::Modulus;
use super::super::wide;
use crate::vector::{self, Digit, Kernel, Vector, run_for_all};
use crate::{p256, p384};
use core::marker::PhantomData;

/// Every operation of a curve, and how its base point's table is built.
macro_rules! operations_keep_their_bounds {
    ($curve:ident: $type:ident, $digits:literal digits) => {
        #[test]
        fn $curve() {
            checked(|| {
                comb::build::<$curve::$type, $digits>().expect("or emulated");
                let key = $curve::PrivateKey::new(&[1; $curve::BYTES]).expect("below n");
                let public = $curve::public_keys(&[&key]).remove(0).expect("a key");
                assert!($curve::derive(&[(&key, &public)])[0].is_ok());
                let (digest, entropy) = ([7; 32], [9; 32]);
                let item = $curve::Signing {
                    key: &key,
                    digest: &digest,
                    entropy: &entropy,
                };
                assert!($curve::sign(&[item])[0].is_ok());

                wide::comb::build::<$curve::$type, $digits>().expect("or emulated");
                assert!($curve::wide::sign(&item).is_ok());
                assert!($curve::wide::public_key(&key).is_ok());
                assert!($curve::wide::derive(&key, &public).is_ok());
            });
        }
    };
}
operations_keep_their_bounds!(p256: P256, 5 digits);
operations_keep_their_bounds!(p384: P384, 8 digits);

/// Anything from -`less` to `more`.
fn between<V: Vector>(less: u64, more: u64) -> V {
    let mut ends = Digit::ZERO;
    ends.0[0] = less + more;
    V::load(&ends).sub(V::splat(less))
}

/// Columns as large as any formula makes them leave no 64 bits while they are reduced: the digit of a sum below 2^62, and
/// products.
#[test]
fn reductions_do_not_overflow() {
    struct Reduce<M, const N: usize>(PhantomData<M>);
    impl<M: Modulus<N>, const N: usize> Kernel for Reduce<M, N> {
        type Output = ();
        #[inline(always)]
        fn run<V: Vector>(self) {
            const MOST: u64 = (1 << 62) + (1 << 58);
            for digit in M::reduce(Columns([between::<V>(MOST, MOST); 16])) {
                let _ = digit.sar::<52>(); // Signed, then.
            }
        }
    }
    run_for_all(Reduce::<p256::Field, 5>(PhantomData));
    run_for_all(Reduce::<p256::Order, 5>(PhantomData));
    run_for_all(Reduce::<p384::Field, 8>(PhantomData));
    run_for_all(Reduce::<p384::Order, 8>(PhantomData));
}

/// Sums in (-60 p, 60 p) are tightened to below 2.1 p and not below 0, with digits up to 2^62 of any sign.
#[test]
fn what_is_tight_is_below_the_limit() {
    struct Tighten;
    impl Kernel for Tighten {
        type Output = Digit;
        #[inline(always)]
        fn run<V: Vector>(self) -> Digit {
            // Lower digits are worth 2^11 of the uppermost at most, which is 2^48 p / 2^256.
            let uppermost = between::<V>((60 << 48) + (1 << 11), (60 << 48) + (1 << 11));
            let lower = between::<V>(1 << 62, 1 << 62);
            let mut digits = p256::Field::tighten([lower, lower, lower, lower, uppermost]);
            for i in 0..4 {
                digits[i + 1] = digits[i + 1].add(digits[i].sar::<52>());
            }
            let mut ends = Digit::ZERO;
            digits[4].store(&mut ends); // Not negative, then.
            ends
        }
    }
    let most = run_for_all(Tighten).0.into_iter().max();
    let Limit(limit) = p256::Field::TIGHT;
    assert!(most < Some((limit << 48) / 100 - (1 << 17)));
}

/// Zeros, of which it is said that they are below m: a bound that 0 keeps and others break must be found broken.
fn number<V: Vector>() -> Element<V, p256::Field, 5> {
    Element::load_below(REDUCED, &[Digit::ZERO; 5])
}

/// Runs a piece of arithmetic.
macro_rules! run {
    ($arithmetic:expr) => {{
        struct Arithmetic;
        impl Kernel for Arithmetic {
            type Output = ();
            #[inline(always)]
            fn run<V: Vector>(self) {
                let _ = $arithmetic;
            }
        }
        checked(|| vector::run(Arithmetic).expect("or emulated"))
    }};
}

#[test]
#[should_panic = "may be from -1 to"]
fn a_difference_that_may_be_negative_is_found() {
    run!((number::<V>() - number::<V>()).carry());
}

#[test]
fn a_number_less_itself_is_not_negative() {
    run!({
        let (x, y) = (number::<V>(), number::<V>());
        (x.twice() - x - (x - y) - y).carry()
    });
}

#[test]
#[should_panic = "to 16 m"]
fn a_sum_that_may_have_more_digits_is_found() {
    run!(number::<V>().twice().twice().twice().twice().carry());
}

#[test]
#[should_panic = "to 2 m"]
fn a_sum_that_is_not_reduced_is_found() {
    run!({
        let mut memory = [Digit::ZERO; 5];
        let sum = number::<V>().twice().carry();
        sum.store_below(REDUCED, &mut memory);
    });
}

#[test]
#[should_panic = "a digit may reach 2^62"]
fn a_digit_that_may_overflow_is_found() {
    run!({
        let mut sum = number::<V>().sum();
        for _ in 0..10 {
            sum = sum.twice();
        }
        sum.twice()
    });
}
