//! A bit flipped in any intermediate of X25519 releases no wrong secret and no wrong public key:
//! `make lanes-fault`. Each check is needed for that.
//!
//! The eight lanes share one inversion; a fault there harms no other lane all the same.
#![cfg(feature = "fault")]

mod faults;
mod random;

use faults::{Aim, each_check_is_needed, release_nothing_wrong};
use outboard_lanes::fault::{Check, Trace};
use outboard_lanes::x25519::{self, PrivateKey};
use random::Random;

fn numbers(seed: u64) -> [[u8; 32]; 8] {
    let mut random = Random::new(seed);
    std::array::from_fn(|_| random.bytes())
}

#[test]
fn secrets() {
    let (numbers, peers) = (numbers(2), numbers(3));
    let keys = numbers.each_ref().map(PrivateKey::new);
    let items: Vec<_> = keys.iter().zip(&peers).collect();
    let operation = || x25519::derive(&items);
    let expected: Vec<_> = operation().into_iter().map(|s| s.expect("one")).collect();
    let right = |lane: usize, secret: &x25519::SharedSecret| *secret == expected[lane];
    release_nothing_wrong("X25519", faults::faults(300), 0, operation, right);

    each_check_is_needed(operation, right, |trace: &Trace| {
        let ladder = trace.kernel("Ladder", 0);
        let inverse = trace.check(Check::SharedInverse);
        // A mask for each of 254 bits, twice; the first steers. The inversion comes after it.
        let (bits, _) = trace.masks[..2 * 254].as_chunks::<2>();
        let steering: Vec<u64> = bits.iter().map(|[first, _]| *first).collect();
        let last_bit = trace.masks[2 * 254 - 1];
        vec![
            Aim::among(Check::LadderBits, &steering, ladder.clone()),
            Aim::at(Check::LadderDifference, ladder.start..last_bit),
            Aim::at(Check::SharedInverse, last_bit..inverse),
            Aim::at(
                Check::LadderDifference,
                inverse..trace.check(Check::LadderBits),
            ),
        ]
    });
}

#[test]
fn public_keys() {
    let numbers = numbers(2);
    let keys = numbers.each_ref().map(PrivateKey::new);
    let keys: Vec<_> = keys.iter().collect();
    let operation = || x25519::public_keys(&keys);
    let expected: Vec<_> = operation()
        .into_iter()
        .map(|key| key.expect("one"))
        .collect();
    let right = |lane: usize, key: &x25519::PublicKey| *key == expected[lane];
    release_nothing_wrong(
        "X25519 public key",
        faults::faults(300),
        4,
        operation,
        right,
    );

    each_check_is_needed(operation, right, |trace: &Trace| {
        let half = trace.kernel("Multiply", 1);
        let inverse = trace.check(Check::SharedInverse);
        vec![
            Aim::at(Check::TwiceU, trace.kernel("Multiply", 0)),
            Aim::at(Check::SharedInverse, half.end..inverse),
            Aim::at(Check::TwiceU, inverse..trace.check(Check::TwiceU)),
        ]
    });
}

/// One key alone, spread across the lanes: each lane's fault is the result's.
#[test]
fn wide_secrets() {
    let ([number, ..], [peer, ..]) = (numbers(2), numbers(3));
    let key = PrivateKey::new(&number);
    let operation = || vec![x25519::wide::derive(&key, &peer)];
    let expected = operation().remove(0).expect("one");
    let right = |_, secret: &x25519::SharedSecret| *secret == expected;
    release_nothing_wrong("X25519 wide", faults::faults(300), 1, operation, right);

    each_check_is_needed(operation, right, |trace: &Trace| {
        let ladder = trace.kernel("WideLadder", 0);
        // A mask for each of 255 bits, twice; the first steers. Then come the division and the check.
        let (bits, _) = trace.masks[..2 * 255].as_chunks::<2>();
        let steering: Vec<u64> = bits.iter().map(|[first, _]| *first).collect();
        let last_bit = trace.masks[2 * 255 - 1];
        vec![
            Aim::among(Check::LadderBits, &steering, ladder.clone()),
            Aim::at(Check::LadderDifference, ladder.start..last_bit),
            Aim::at(
                Check::LadderDifference,
                last_bit..trace.check(Check::LadderBits),
            ),
        ]
    });
}

#[test]
fn wide_public_key() {
    let [number, ..] = numbers(2);
    let key = PrivateKey::new(&number);
    let operation = || vec![x25519::wide::public_key(&key)];
    let expected = operation().remove(0).expect("one");
    let right = |_, key: &x25519::PublicKey| *key == expected;
    release_nothing_wrong(
        "X25519 public key wide",
        faults::faults(300),
        1,
        operation,
        right,
    );

    each_check_is_needed(operation, right, |trace: &Trace| {
        let multiple = trace.kernel("WideMultiply", 0);
        vec![
            Aim::among(Check::Tally, &trace.masks, multiple.clone()),
            Aim::at(Check::OnCurve, multiple.clone()),
            Aim::at(Check::U, multiple.end..trace.check(Check::U)),
        ]
    });
}

/// A fault in the base point's table would last.
#[test]
fn wide_table() {
    assert_eq!(x25519::wide::rebuild(), Ok(true));
    let right = |_, same: &bool| *same;
    each_check_is_needed(
        || vec![x25519::wide::rebuild()],
        right,
        |trace: &Trace| {
            // Its first two masks are of the first inversion: which lanes are zero, and which inverses are right.
            let inversion = trace.masks[0] + 1..trace.masks[1];
            vec![
                Aim::at(Check::Table, trace.kernel("WideBuild", 0)),
                Aim::at(Check::SharedInverse, inversion),
            ]
        },
    );
}
