//! A bit flipped in any intermediate of X25519 releases no wrong secret and no wrong public key:
//! `make lanes-fault`.
//!
//! Every result of every vector instruction is a place for a fault; `LANES_FAULTS` of them are
//! drawn (default 300), by half among the last instructions, where division and check are. The
//! eight lanes share one inversion; a fault there harms no other lane all the same.
#![cfg(feature = "fault")]

mod random;

use outboard_lanes::Error;
use outboard_lanes::fault::{self, Fault};
use outboard_lanes::x25519::{self, PrivateKey};
use random::Random;

/// Injects faults into `operation`: every result is the one without a fault, or withheld. Withheld are the fault's
/// lane and at most `others`: an entry of the base point's table that is disturbed when it is read goes into the
/// lanes that pick it, and into no other.
fn inject<T: PartialEq + std::fmt::Debug>(
    others: usize,
    operation: impl Fn() -> Vec<Result<T, Error>>,
) {
    operation(); // The table of the base point is made now, and not under a fault.
    let (right, steps) = fault::count(&operation);
    let faults = std::env::var("LANES_FAULTS").map_or(300, |n| n.parse().expect("a number"));
    let mut random = Random::new(1);
    let mut withheld = 0;
    for i in 0..faults {
        let span = if i % 2 == 0 { steps } else { steps / 20 };
        let fault = Fault {
            step: steps - 1 - random.word() % span,
            lane: random.below(8),
            bit: random.below(64) as u32,
        };
        let results = fault::inject(fault, &operation);
        let mut elsewhere = 0;
        for (lane, (result, right)) in results.iter().zip(&right).enumerate() {
            match result {
                Err(Error::Fault) => {
                    withheld += 1;
                    elsewhere += usize::from(lane != fault.lane);
                }
                result => assert_eq!(result, right, "{fault:?}, lane {lane}"),
            }
        }
        assert!(
            elsewhere <= others,
            "{fault:?} reached {elsewhere} other lanes"
        );
    }
    println!("{faults} faults among {steps} steps: {withheld} results withheld, none wrong");
    assert!(withheld > 0, "no fault had an effect: the test cannot fail");
}

fn numbers() -> [[u8; 32]; 8] {
    let mut random = Random::new(2);
    std::array::from_fn(|_| random.bytes())
}

#[test]
fn secrets() {
    let numbers = numbers();
    let keys = numbers.each_ref().map(PrivateKey::new);
    let mut random = Random::new(3);
    let peers: [[u8; 32]; 8] = std::array::from_fn(|_| random.bytes());
    let items: Vec<_> = keys.iter().zip(&peers).collect();
    inject(0, || x25519::derive(&items));
}

#[test]
fn public_keys() {
    let numbers = numbers();
    let keys = numbers.each_ref().map(PrivateKey::new);
    let keys: Vec<_> = keys.iter().collect();
    inject(4, || x25519::public_keys(&keys));
}
