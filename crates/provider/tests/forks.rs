//! Forks at any moment, in a process whose other threads never rest.

#![allow(clippy::unwrap_used)] // in helpers too, not only in the tests themselves

mod common;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use outboard_libcrypto::{DigestSigner, Key, Params};
use outboard_programs::child;

const THREADS: usize = 4;
const FORKS: usize = 2_000;

/// AWS-LC's locks are held for nanoseconds: only thousands of forks meet such a moment.
#[test]
fn no_fork_leaves_a_lock_behind() {
    let sides = common::sides();
    let generate = |kind, params: &Params| Key::generate(&sides.outboard, kind, params).unwrap();
    let rsa = generate("RSA", &Params::new().unsigned(c"bits", 2048));
    let p256 = generate("EC", &Params::new().text(c"group", "P-256"));
    let sign = |key| {
        let mut signer = DigestSigner::new(key, Some("SHA256"), &Params::new())?;
        signer.sign(b"a message").map(drop)
    };
    // What is fetched is then cached, as in the other test of forks (stress.rs).
    sign(&rsa).and_then(|()| sign(&p256)).unwrap();

    let stop = AtomicBool::new(false);
    let lost = thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    sign(&p256).unwrap();
                }
            });
        }
        let well = |_: &usize| child::ends_well(|| sign(&rsa).is_ok());
        let lost = (0..FORKS).find(|fork| !well(fork));
        stop.store(true, Ordering::Relaxed);
        lost
    });
    assert_eq!(lost, None, "the first child that failed or stuck");

    // Unloaded, it has nothing to do with forks any more.
    drop((rsa, p256, sides));
    assert!(child::ends_well(|| true));
}
