//! A bit flipped in any intermediate of an RSA private operation releases nothing wrong, and disturbs no
//! other lane: `make lanes-fault`.
//!
//! Every result of every vector instruction is a place for a fault; `LANES_FAULTS=` of them are drawn
//! (default 40: an emulated operation takes a while; a quarter of them at 3072 bits, an eighth at 4096), by half
//! among the last instructions, where recombination and check are.
#![cfg(feature = "fault")]

mod faults;
#[path = "rsa/oracle.rs"]
mod oracle;

use oracle::Key;
use outboard_lanes::fault::{self, Check, Fault};
use outboard_lanes::rsa::{self, PrivateKey};
use outboard_lanes::{Error, LANES};

#[test]
fn rsa_2048() {
    a_flipped_bit_releases_nothing_wrong(2048, 1);
}

/// The numbers of digits differ from size to size, and with them the code.
#[test]
fn rsa_3072() {
    a_flipped_bit_releases_nothing_wrong(3072, 4);
}

#[test]
fn rsa_4096() {
    a_flipped_bit_releases_nothing_wrong(4096, 8);
}

/// A fault in either prime's power or in their recombination is released if nobody looks.
#[test]
fn the_check_is_needed() {
    let key = Key::generate(2048);
    let ours = key.with_components(|c| PrivateKey::new(&c)).unwrap();
    let x = [0x5a; 255];
    let (right, batch) = (key.private(&x), [(&ours, &x[..]); LANES]);
    let [(_, end)] = fault::checks(|| rsa::private(&batch))[..] else {
        panic!("one check");
    };
    // The check starts with the public operation.
    let (_, public) = fault::count(|| rsa::public(&[(ours.public(), &x[..]); LANES]));
    let start = end - public;
    // Recombination is about a 1,400th of all.
    let last = start - start / 2000;
    let aims = [
        0..start * 48 / 100,
        start * 52 / 100..start * 99 / 100,
        last..start,
    ];
    faults::each_check_is_needed(
        || rsa::private(&batch),
        |_, result| *result == right,
        &aims.map(|steps| (Check::RsaPublicPower, steps)),
    );
}

/// Draws a `share` of the faults that are drawn for 2048 bits, but four at least.
fn a_flipped_bit_releases_nothing_wrong(bits: u32, share: u64) {
    let keys = [Key::generate(bits), Key::generate(bits)];
    let ours = keys
        .each_ref()
        .map(|key| key.with_components(|c| PrivateKey::new(&c)).unwrap());
    let x = vec![0x5a; bits as usize / 8 - 1];
    let batch: [_; LANES] = std::array::from_fn(|lane| (&ours[lane % 2], &x[..]));
    let right = keys.each_ref().map(|key| key.private(&x));

    let (results, steps) = fault::count(|| rsa::private(&batch));
    for (lane, result) in results.iter().enumerate() {
        assert_eq!(result.as_ref(), Ok(&right[lane % 2]));
    }
    let faults = std::env::var("LANES_FAULTS").map_or(40, |n| n.parse().expect("a number"));
    let faults = (faults / share).max(4);
    let mut state = 1_u64;
    let mut random = |n: u64| {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        state.wrapping_mul(0x2545f4914f6cdd1d) % n
    };
    let mut withheld = 0;
    for i in 0..faults {
        let late = steps / 20;
        let step = if i % 2 == 0 {
            random(steps)
        } else {
            steps - late + random(late)
        };
        let fault = Fault {
            step,
            lane: random(8) as usize,
            bit: random(64) as u32,
        };
        let results = fault::inject(fault, || rsa::private(&batch));
        for (lane, result) in results.iter().enumerate() {
            match result {
                Ok(result) => {
                    assert_eq!(*result, right[lane % 2], "{fault:?} released, lane {lane}")
                }
                Err(error) => {
                    assert_eq!((*error, lane), (Error::Fault, fault.lane), "{fault:?}");
                    withheld += 1;
                }
            }
        }
    }
    println!(
        "RSA-{bits}: {faults} faults among {steps} steps: {withheld} results withheld, none wrong"
    );
    assert!(withheld > 0, "no fault had an effect: the test cannot fail");
}
