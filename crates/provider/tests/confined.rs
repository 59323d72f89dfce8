//! A program whose sandbox refuses randomness lives, and its own libcrypto does the work, if it can.

#![allow(clippy::unwrap_used)] // in helpers too, not only in the tests themselves

mod common;

use common::abilities::Keys;
use outboard_engine::Machine;
use outboard_engine::Operation;
use outboard_engine::card::{BreakEven, Kind};
use outboard_engine::ledger::{Reason, Snapshot};
use outboard_programs::{child, sandbox};

#[test]
fn a_confined_program_lives() {
    let sides = common::sides();
    let (stock, ours) = (Keys::new(&sides.stock), Keys::new(&sides.outboard));
    // As a parent does before it forks.
    assert_eq!(ours.abilities(), [true; 7]);

    // OpenSSL knows no other source on a kernel that has this one: it fails, and so do we, with its words. Across the
    // lanes, RSA needs no randomness.
    assert!(child::ends_well(|| {
        sandbox::refuse(libc::SYS_getrandom).unwrap();
        let (ours, stock) = (ours.abilities(), stock.abilities());
        ours == stock
            || rsa_is_wide() && ours.iter().zip(stock).all(|(ours, stock)| *ours || !stock)
    }));

    // Unless it cannot tell the kernel's age: then it takes the device.
    assert!(child::ends_well(|| {
        for call in [libc::SYS_getrandom, libc::SYS_uname, libc::SYS_shmget] {
            sandbox::refuse(call).unwrap();
        }
        assert_eq!(stock.abilities(), [true; 7]);
        ours.abilities() == [true; 7]
    }));

    let ledger = sides.configurations().ledger();
    let total = Snapshot::read(&ledger).unwrap().total();
    // In each of the two children.
    for (operation, times) in [
        (Operation::Rsa2048Sign, if rsa_is_wide() { 2 } else { 4 }),
        (Operation::P256Sign, 2),
        (Operation::P384Keygen, 2),
        (Operation::Ed25519Keygen, 2),
        (Operation::X25519Keygen, 2),
    ] {
        let counted = total.fallbacks(operation, Reason::Randomness);
        assert_eq!(counted, times, "{}", operation.name());
    }
}

/// Whether an RSA key signs across the lanes.
fn rsa_is_wide() -> bool {
    let built_in = BreakEven::built_in(&Machine::glance());
    common::has_lanes() && built_in.is_wide(Kind::Rsa2048)
}
