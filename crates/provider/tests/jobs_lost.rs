//! Jobs that are dropped while they are paused are lost to OpenSSL: after so many none is paused any more, so that
//! a process cannot be made to grow without end. A process of its own, for it is spoilt afterwards.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::rc::Rc;
use std::time::Instant;

use common::jobs::{PATIENCE, is_right, rsa, signing};
use outboard_libcrypto::Job;

/// As `MOST_LOST` in `src/job.rs`.
const MOST_LOST: usize = 1024;
const TOGETHER: usize = 8;

#[test]
fn what_a_process_loses_has_an_end() {
    if !common::has_lanes() {
        eprintln!("passed over: without lanes no job is ever paused");
        return;
    }
    let sides = common::sides();
    let key = Rc::new(rsa(&sides.outboard));
    let library = sides.outboard.library().clone();
    let start = || {
        (0..TOGETHER)
            .map(|_| signing(&library, &key, 1))
            .unzip::<Job, _, Vec<_>, Vec<_>>()
    };
    let mut lost = 0;
    let mut rounds_without = 0;
    let begun = Instant::now();
    // Those that are alone do not pause, either: many rounds without any tell that none ever will, but on a busy
    // machine not before there were enough.
    while rounds_without < 100 || lost < MOST_LOST && begun.elapsed() < PATIENCE {
        let (jobs, signatures) = start();
        let paused = jobs.iter().filter(|job| job.result().is_none()).count();
        lost += paused;
        rounds_without = if paused == 0 { rounds_without + 1 } else { 0 };
        assert!(lost < MOST_LOST + TOGETHER, "{lost} jobs were paused");
        drop(jobs);
        for signature in signatures.iter().flat_map(|all| all.take()) {
            assert!(is_right(&key, &signature));
        }
    }
    assert!(lost >= MOST_LOST, "only {lost} jobs were ever paused");
}
