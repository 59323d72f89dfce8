//! The bounds of the field and of the formulas, for all operands at once (`vector/interval.rs`).
//!
//! A formula takes elements and makes elements, so it is enough to try each with all elements there are: four
//! digits of any content and a last one up to its limit. On the way, no column leaves 64 bits, no difference may be
//! negative, and what the field's header promises of single digits is checked (`field::check`).

use super::edwards::{self, Cached, Completed, Multiple};
use super::field::{DIGITS, Element};
use super::montgomery;
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
