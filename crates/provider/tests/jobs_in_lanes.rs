//! Asynchronous jobs of one thread, as an event loop has them: a card serves them together.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::rc::Rc;
use std::time::Instant;

use common::jobs::{PATIENCE, is_ready, is_right, p384, rsa, signing, wait_for_any};
use outboard_engine::ledger::Snapshot;
use outboard_engine::{Operation, Path, card};
use outboard_libcrypto::{Job, Key, Library};
use outboard_measure::Sides;

#[test]
fn jobs_of_one_thread_share_the_lanes() {
    let every = common::sides_of_every_version();
    // The process has one ledger: the first one's.
    let ledger = &every[0].1;
    for (version, sides) in &every {
        let library = sides.outboard.library().clone();
        for (key, operation) in [
            (rsa(&sides.outboard), Operation::Rsa2048Sign),
            (p384(&sides.outboard), Operation::P384Sign),
        ] {
            let key = Rc::new(key);
            let before = (served(ledger, operation), on_cards(ledger, operation));
            let begun = Instant::now();
            let (mut pauses, mut rounds) = (0, 0);
            loop {
                pauses += sign_together(&library, &key);
                rounds += 1;
                let done = served(ledger, operation) - before.0;
                assert_eq!(done, rounds * 32 * 20, "{version}: {operation:?}");
                let in_lanes = on_cards(ledger, operation) - before.1;
                let is_shared = pauses > 0 && in_lanes >= card::DEPTH as u64;
                if is_shared || !common::has_lanes() {
                    break;
                }
                // On a busy machine a card may find each job alone for a while.
                assert!(
                    begun.elapsed() < PATIENCE,
                    "{version}: {operation:?}: {in_lanes} in lanes"
                );
            }
        }
    }
}

/// 32 jobs, 20 signatures each; how often all of them were paused.
fn sign_together(library: &Library, key: &Rc<Key>) -> u64 {
    let (mut jobs, signatures): (Vec<Job>, Vec<_>) =
        (0..32).map(|_| signing(library, key, 20)).unzip();
    let mut pauses = 0;
    loop {
        let paused: Vec<&Job> = jobs.iter().filter(|job| job.result().is_none()).collect();
        if paused.is_empty() {
            break;
        }
        pauses += 1;
        wait_for_any(&paused);
        for job in jobs
            .iter_mut()
            .filter(|job| job.result().is_none() && is_ready(job))
        {
            job.resume().unwrap();
        }
    }
    assert!(jobs.iter().all(|job| job.result() == Some(true)));
    for signatures in &signatures {
        let signatures = signatures.borrow();
        assert_eq!(signatures.len(), 20);
        assert!(signatures.iter().all(|signature| is_right(key, signature)));
    }
    pauses
}

fn on_cards(sides: &Sides, operation: Operation) -> u64 {
    let snapshot = Snapshot::read(&sides.configurations().ledger()).unwrap();
    snapshot.total().work(operation, Path::Card).operations
}

fn served(sides: &Sides, operation: Operation) -> u64 {
    let snapshot = Snapshot::read(&sides.configurations().ledger()).unwrap();
    let total = snapshot.total();
    [Path::Card, Path::Wide, Path::Scalar]
        .map(|path| total.work(operation, path).operations)
        .iter()
        .sum()
}
