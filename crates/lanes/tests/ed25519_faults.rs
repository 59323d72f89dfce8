//! A bit flipped in any intermediate of Ed25519 releases no wrong signature and no wrong key:
//! `make lanes-fault`. Each check is needed for that.
//!
//! The eight lanes share one inversion; a fault there harms no other lane all the same.
#![cfg(feature = "fault")]

mod faults;
mod random;

use faults::{Aim, each_check_is_needed, release_nothing_wrong};
use outboard_lanes::ed25519::{self, PrivateKey};
use outboard_lanes::fault::{Check, Trace};
use random::Random;
use std::ops::Range;

fn seeds() -> [[u8; 32]; 8] {
    let mut random = Random::new(2);
    std::array::from_fn(|_| random.bytes())
}

/// Where the checks guard that a point is encoded rightly. Its words are there when the kernel `next` begins.
fn of_the_encoding(trace: &Trace, next: Range<u64>) -> Vec<Aim> {
    let multiple = trace.kernel("Multiply", 0);
    let inverse = trace.check(Check::SharedInverse);
    // x and y from their inverse, then the words, with the only mask: x's sign.
    let encoding = inverse..next.start;
    vec![
        Aim::at(Check::SharedInverse, multiple.end..inverse),
        Aim::at(Check::TwiceX, encoding.clone()),
        Aim::at(Check::TwiceY, encoding.clone()),
        Aim::among(Check::TwiceSign, &trace.masks, encoding),
    ]
}

#[test]
fn signatures() {
    let keys = seeds().map(|seed| PrivateKey::new(&seed).unwrap());
    let items: Vec<_> = keys.iter().map(|key| (key, &b"message"[..])).collect();
    let operation = || ed25519::sign(&items);
    let expected: Vec<_> = operation()
        .into_iter()
        .map(|one| one.expect("one"))
        .collect();
    let right = |lane: usize, signature: &ed25519::Signature| *signature == expected[lane];
    release_nothing_wrong("Ed25519", faults::faults(300), 4, operation, right);

    each_check_is_needed(operation, right, |trace: &Trace| {
        let mut aims = of_the_encoding(trace, trace.kernel("Sha512", 1));
        let hash = trace.kernel("Sha512", 0);
        let multiple = trace.kernel("Multiply", 0);
        aims.push(Aim::at(Check::Nonce, hash.clone()));
        aims.push(Aim::at(Check::Nonce, hash.end..multiple.start));
        aims
    });
}

/// A key is what it signs and the public key that goes with it.
#[test]
fn keys() {
    let seeds = seeds();
    let seeds: Vec<_> = seeds.iter().collect();
    let operation = || {
        let keys = PrivateKey::expand(&seeds).into_iter();
        keys.map(|key| key.map(|key| *key.public_key())).collect()
    };
    let expected: Vec<_> = PrivateKey::expand(&seeds)
        .into_iter()
        .map(|key| *key.expect("one").public_key())
        .collect();
    let right = |lane: usize, key: &ed25519::PublicKey| *key == expected[lane];
    release_nothing_wrong("Ed25519 key", faults::faults(300), 4, operation, right);

    each_check_is_needed(operation, right, |trace: &Trace| {
        let mut aims = of_the_encoding(trace, trace.kernel("Multiply", 1));
        aims.push(Aim::at(Check::Seed, trace.kernel("Sha512", 0)));
        aims
    });
}

/// Where the checks guard the multiple of the base point and its encoding, which ends before `next`.
fn of_the_point(trace: &Trace, next: u64) -> Vec<Aim> {
    let multiple = trace.kernel("WideMultiply", 0);
    // The inversion of one number takes no vector instruction, and the only mask is x's sign.
    let encoding = multiple.end..next;
    vec![
        Aim::among(Check::Tally, &trace.masks, multiple.clone()),
        Aim::at(Check::OnCurve, multiple),
        Aim::at(Check::X, encoding.clone()).in_first_lane(),
        Aim::at(Check::Y, encoding.clone()).in_first_lane(),
        Aim::among(Check::Sign, &trace.masks, encoding).in_first_lane(),
    ]
}

/// One key alone, spread across the lanes: each lane's fault is the result's.
#[test]
fn wide_signature() {
    let [seed, ..] = seeds();
    let key = PrivateKey::new(&seed).unwrap();
    let operation = || vec![ed25519::wide::sign(&key, b"message")];
    let expected = operation().remove(0).expect("one");
    let right = |_, signature: &ed25519::Signature| *signature == expected;
    release_nothing_wrong("Ed25519 wide", faults::faults(300), 1, operation, right);

    each_check_is_needed(operation, right, |trace: &Trace| {
        let mut aims = of_the_point(trace, trace.kernel("Sha512", 1).start);
        let hash = trace.kernel("Sha512", 0);
        aims.push(Aim::at(Check::Nonce, hash.clone()));
        aims.push(Aim::at(
            Check::Nonce,
            hash.end..trace.kernel("WideMultiply", 0).start,
        ));
        aims
    });
}

#[test]
fn wide_key() {
    let [seed, ..] = seeds();
    let operation = || {
        let key = ed25519::wide::private_key(&seed);
        vec![key.map(|key| *key.public_key())]
    };
    let expected = operation().remove(0).expect("one");
    let right = |_, key: &ed25519::PublicKey| *key == expected;
    release_nothing_wrong("Ed25519 key wide", faults::faults(300), 1, operation, right);

    each_check_is_needed(operation, right, |trace: &Trace| {
        let mut aims = of_the_point(trace, trace.check(Check::X));
        aims.push(Aim::at(Check::Seed, trace.kernel("Sha512", 0)));
        aims
    });
}
