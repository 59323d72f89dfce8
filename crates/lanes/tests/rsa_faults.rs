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

use faults::{Aim, each_check_is_needed, release_nothing_wrong};
use oracle::Key;
use outboard_lanes::LANES;
use outboard_lanes::fault::{Check, Trace};
use outboard_lanes::rsa::{self, PrivateKey};

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
    each_check_is_needed(
        || rsa::private(&batch),
        |_, result| *result == right,
        |trace: &Trace| {
            let of = |nth| trace.kernel("Power", nth);
            let recombination = trace.kernel("Product", 0);
            let aim = |steps| Aim::at(Check::RsaPublicPower, steps);
            vec![aim(of(0)), aim(of(1)), aim(recombination)]
        },
    );
}

/// One operation across the lanes: a fault in any of them.
#[test]
fn wide_2048() {
    wide_releases_nothing_wrong(2048, 1);
}

#[test]
fn wide_3072() {
    wide_releases_nothing_wrong(3072, 4);
}

#[test]
fn wide_4096() {
    wide_releases_nothing_wrong(4096, 8);
}

#[test]
fn the_check_is_needed_across_the_lanes() {
    let key = Key::generate(2048);
    let ours = key.with_components(|c| PrivateKey::new(&c)).unwrap();
    let x = [0x5a; 255];
    let right = key.private(&x);
    each_check_is_needed(
        || vec![rsa::wide::private(&ours, &x)],
        |_, result| *result == right,
        |trace: &Trace| {
            // x modulo the primes, the table, out of Montgomery form, h; then h·q.
            let recombination = trace.kernel("Multiply", 2 + 30 + 2);
            let power = trace.kernel("Power", 0);
            let aim = |steps| Aim::at(Check::RsaPublicPower, steps);
            vec![aim(power), aim(recombination)]
        },
    );
}

fn wide_releases_nothing_wrong(bits: u32, share: u64) {
    let key = Key::generate(bits);
    let ours = key.with_components(|c| PrivateKey::new(&c).expect("a good key"));
    let x = vec![0x5a; bits as usize / 8 - 1];
    let right = key.private(&x);
    release_nothing_wrong(
        &format!("RSA-{bits} wide"),
        (faults::faults(40) / share).max(4),
        // The fault's lane is not the result's number.
        1,
        || vec![rsa::wide::private(&ours, &x)],
        |_, result| *result == right,
    );
}

/// Draws a `share` of the faults that are drawn for 2048 bits, but four at least.
fn a_flipped_bit_releases_nothing_wrong(bits: u32, share: u64) {
    let keys = [Key::generate(bits), Key::generate(bits)];
    let ours = keys
        .each_ref()
        .map(|key| key.with_components(|c| PrivateKey::new(&c).expect("a good key")));
    let x = vec![0x5a; bits as usize / 8 - 1];
    let batch: [_; LANES] = std::array::from_fn(|lane| (&ours[lane % 2], &x[..]));
    let right = keys.each_ref().map(|key| key.private(&x));
    release_nothing_wrong(
        &format!("RSA-{bits}"),
        (faults::faults(40) / share).max(4),
        0,
        || rsa::private(&batch),
        |lane, result| *result == right[lane % 2],
    );
}
