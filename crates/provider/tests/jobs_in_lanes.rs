//! Asynchronous jobs of one thread, as an event loop has them: a card serves them together.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::rc::Rc;

use common::jobs::{is_ready, is_right, p384, rsa, signing, wait_for_any};
use outboard_engine::ledger::Snapshot;
use outboard_engine::{Operation, Path, card};
use outboard_libcrypto::Job;
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
            let (mut jobs, signatures): (Vec<Job>, Vec<_>) =
                (0..32).map(|_| signing(&library, &key, 20)).unzip();
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
                assert_eq!(signatures.borrow().len(), 20);
                assert!(
                    signatures
                        .borrow()
                        .iter()
                        .all(|signature| is_right(&key, signature))
                );
            }
            let done = served(ledger, operation) - before.0;
            assert_eq!(done, 32 * 20, "{version}: {operation:?}");
            if common::has_lanes() {
                let in_lanes = on_cards(ledger, operation) - before.1;
                assert!(
                    pauses > 0 && in_lanes >= card::DEPTH as u64,
                    "{version}: {operation:?}: {in_lanes} in lanes"
                );
            }
        }
    }
}

fn on_cards(sides: &Sides, operation: Operation) -> u64 {
    let snapshot = Snapshot::read(&sides.configurations().ledger()).unwrap();
    snapshot.total().work(operation, Path::Card).operations
}

fn served(sides: &Sides, operation: Operation) -> u64 {
    let snapshot = Snapshot::read(&sides.configurations().ledger()).unwrap();
    let total = snapshot.total();
    [Path::Card, Path::Scalar]
        .map(|path| total.work(operation, path).operations)
        .iter()
        .sum()
}
