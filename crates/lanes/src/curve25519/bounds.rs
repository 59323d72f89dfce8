//! The bounds of the field and of the formulas, for all operands at once (`vector/interval.rs`).
//!
//! A formula takes elements and makes elements, so it is enough to try each with all elements there are: four
//! digits of any content and a last one up to its limit. On the way, no column leaves 64 bits, no difference may be
//! negative, and what the field's header promises of single digits is checked (`field::check`). The same of one
//! operation across the lanes (`wide.rs`), whose lanes count as one: each may hold what any of them holds.

use super::edwards::{self, Cached, Completed, Multiple, StoredCompleted};
use super::field::{DIGITS, Element};
use super::montgomery;
use super::wide::{self, comb};
use super::words::Words;
use crate::vector::{Digit, Kernel, Vector, run_for_all};

/// Whatever is between 0 and `most`.
fn up_to(most: u64) -> Digit {
    Digit([0, most, 0, most, 0, most, 0, most])
}

fn any_words() -> Words {
    Words([up_to(u64::MAX); 4])
}

/// Any element.
fn any<V: Vector>() -> Element<V> {
    let mut digits = [up_to(u64::MAX); DIGITS];
    digits[4] = up_to((1 << 47) + (1 << 15) - 1);
    Element::load(&digits)
}

/// Any element of `wide/field.rs`.
fn any_wide<V: Vector>() -> wide::field::Element<V> {
    wide::field::Element([V::load(&up_to(wide::field::MOST)); DIGITS])
}

fn any_stored<V: Vector>() -> StoredCompleted {
    let mut stored = StoredCompleted::ZERO;
    any_point::<V>().store(&mut stored);
    stored
}

fn any_point<V: Vector>() -> Completed<V> {
    Completed {
        e: any(),
        f: any(),
        g: any(),
        h: any(),
    }
}

/// A test for each formula on whatever operands.
macro_rules! keep_their_bounds {
    ($($name:ident: $formula:expr;)*) => {$(
        #[test]
        fn $name() {
            struct Formula;
            impl Kernel for Formula {
                type Output = ();
                #[inline(always)]
                fn run<V: Vector>(self) {
                    let _ = $formula;
                }
            }
            run_for_all(Formula);
        }
    )*};
}

keep_their_bounds! {
    products: any::<V>().mul_raised::<4>(any()).carry();
    squares: any::<V>().square_raised::<4>().carry();
    small_products: any::<V>().square_raised::<4>().add_multiple(any(), (1 << 40) - 1).carry();
    powers: any::<V>().power_for_root();
    representatives: Element::<V>::from_words(&any::<V>().to_words()).negate().is_odd();
    words: Element::<V>::from_words(&any_words()).columns().double().carry();
    points: any_point::<V>().negate().equals(any_point());
    doubling: any_point::<V>().projective().double();
    addition: any_point::<V>().extended().add(any_point().extended().cached().negate(1));
    addition_of_a_neutral_point: any_point::<V>().extended().add(Cached::neutral());
    addition_from_the_table: any_point::<V>().extended().add_multiple(Multiple::affine(any(), any()), 1);
    encoding: any_point::<V>().encode().is_twice(any_point());
    decoding: edwards::decode::<V>(&any_words());
    ladder: montgomery::multiply::<V>(&any_words(), &any_words());
    wide_products: any_wide::<V>().mul(any_wide()).with_neighbours(0b1010_1010, 0b0011_0000);
    wide_small_products: any_wide::<V>().add_multiple(any_wide(), V::splat((1 << 17) - 1));
    wide_representatives: wide::field::Element::<V>::from_words(&any_wide::<V>().to_words()).mul(any_wide());
    wide_ladder: wide::ladder::multiply::<V>(&any_words(), &any_words());
    wide_comb: comb::any_table().multiply::<V>(&any_words()).is_of::<V>(&any_words());
    wide_entries: Multiple::affine(any::<V>(), any()).completed(1);
    wide_coordinates: montgomery::from_edwards_alone::<V>(&any_stored::<V>());
    wide_encoding: any_point::<V>().encode_first().is(&any_stored::<V>(), &any_words());
    from_edwards: montgomery::from_edwards::<V>(any_point(), any_point());
}

/// A difference that was not raised is found: it may be negative.
#[test]
#[should_panic = "may be negative"]
fn a_missing_raise_is_found() {
    struct Difference;
    impl Kernel for Difference {
        type Output = ();
        #[inline(always)]
        fn run<V: Vector>(self) {
            any::<V>().square().sub(any::<V>().square()).carry();
        }
    }
    run_for_all(Difference);
}
