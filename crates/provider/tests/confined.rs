//! A program whose sandbox refuses randomness lives, and its own libcrypto does the work, if it can.

#![allow(clippy::unwrap_used)] // in helpers too, not only in the tests themselves

mod common;

use common::abilities::Keys;
use outboard_engine::Operation;
use outboard_engine::ledger::{Reason, Snapshot};
use outboard_programs::{child, sandbox};

#[test]
fn a_confined_program_lives() {
    let sides = common::sides();
    let (stock, ours) = (Keys::new(&sides.stock), Keys::new(&sides.outboard));
    // As a parent does before it forks.
    assert_eq!(ours.abilities(), [true; 7]);

    // OpenSSL knows no other source on a kernel that has this one: it fails, and so do we, with its words.
    assert!(child::ends_well(|| {
        sandbox::refuse(libc::SYS_getrandom).unwrap();
        ours.abilities() == stock.abilities()
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
        (Operation::Rsa2048Sign, 4),
        (Operation::P256Sign, 2),
        (Operation::P384Keygen, 2),
        (Operation::Ed25519Keygen, 2),
        (Operation::X25519Keygen, 2),
    ] {
        let counted = total.fallbacks(operation, Reason::Randomness);
        assert_eq!(counted, times, "{}", operation.name());
    }
}
