//! A bit flipped in any intermediate of Ed25519 releases no wrong signature and no wrong key:
//! `make lanes-fault`.
//!
//! Every result of every vector instruction is a place for a fault; `LANES_FAULTS` of them are
//! drawn (default 300), by half among the last instructions. The eight lanes share one inversion; a
//! fault there harms no other lane all the same.
#![cfg(feature = "fault")]

mod random;

use outboard_lanes::Error;
use outboard_lanes::ed25519::{self, PrivateKey};
use outboard_lanes::fault::{self, Fault};
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

fn seeds() -> [[u8; 32]; 8] {
    let mut random = Random::new(2);
    std::array::from_fn(|_| random.bytes())
}

#[test]
fn signatures() {
    let keys = seeds().map(|seed| PrivateKey::new(&seed).unwrap());
    let items: Vec<_> = keys.iter().map(|key| (key, &b"message"[..])).collect();
    inject(4, || ed25519::sign(&items));
}

/// A key is what it signs and the public key that goes with it.
#[test]
fn keys() {
    let seeds = seeds();
    let seeds: Vec<_> = seeds.iter().collect();
    inject(4, || {
        PrivateKey::expand(&seeds)
            .into_iter()
            .map(|key| key.map(|key| *key.public_key()))
            .collect()
    });
}
