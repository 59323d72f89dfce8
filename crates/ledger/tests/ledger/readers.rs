//! What the command does with a ledger: read it while it changes, compare, reset, find.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use outboard_ledger::{Reason, Snapshot, default_path, reset};
use outboard_operation::{Operation, Path};

use crate::support::{Directory, fork, open, wait_for_ever};

const DERIVE: Operation = Operation::P384Derive;

fn read(directory: &Directory) -> Snapshot {
    Snapshot::read(&directory.file()).expect("it was made a moment ago")
}

fn operations(snapshot: &Snapshot) -> u64 {
    snapshot.total().work(DERIVE, Path::Scalar).operations
}

/// While the counters of processes that ended are moved to their program's, a reader sees them in the
/// one place or the other: neither in both nor in none.
#[test]
fn a_total_is_exact_while_counters_move() {
    const ENTRIES: u64 = 128;
    const ROUNDS: u64 = 8;
    let directory = Directory::new();
    let ledger = open(&directory.file());
    for round in 1..=ROUNDS {
        for _ in 0..ENTRIES {
            ledger.close();
            ledger.record(DERIVE, Path::Scalar, 48, Duration::ZERO); // in an entry of its own
        }
        let moved = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..ENTRIES {
                    ledger.close();
                    ledger.counts(); // takes the next entry, and so empties it
                }
                moved.store(true, Relaxed);
            });
            while !moved.load(Relaxed) {
                assert_eq!(operations(&read(&directory)), round * ENTRIES);
            }
        });
    }
}

#[test]
fn a_difference_is_what_happened_in_between() {
    let directory = Directory::new();
    let ledger = open(&directory.file());
    let count = |times| {
        for _ in 0..times {
            ledger.record(DERIVE, Path::Scalar, 48, Duration::from_nanos(5));
            ledger.fall_back(DERIVE, Reason::Curve);
        }
    };
    count(3);
    let other = fork(|| {
        count(5);
        wait_for_ever();
    });
    while operations(&read(&directory)) < 8 {
        std::thread::yield_now();
    }
    let before = read(&directory);
    count(2);
    fork(|| count(7)).join();
    let since = read(&directory).since(&before);
    let counts: Vec<u64> = since
        .processes
        .iter()
        .map(|process| process.counts.work(DERIVE, Path::Scalar).operations)
        .collect();
    assert_eq!(counts, [2, 7]);
    assert_eq!(since.total().fallbacks(DERIVE, Reason::Curve), 9);

    // The others die and are folded; what they had counted before does not count again.
    other.kill();
    for _ in 0..130 {
        fork(|| count(1)).join();
    }
    open(&directory.file());
    let since = read(&directory).since(&before);
    assert_eq!(operations(&since), 2 + 7 + 130);
    assert!(read(&directory).since(&read(&directory)).total().is_empty());
}

#[test]
fn a_process_or_all_are_reset() {
    let directory = Directory::new();
    let ledger = open(&directory.file());
    let count = || ledger.record(DERIVE, Path::Scalar, 48, Duration::ZERO);
    count();
    let child = fork(|| {
        count();
        wait_for_ever();
    });
    while operations(&read(&directory)) < 2 {
        std::thread::yield_now();
    }
    assert_eq!(reset(&directory.file(), Some(1)).expect("ours"), 0);
    assert_eq!(
        reset(&directory.file(), Some(child.pid())).expect("ours"),
        1
    );
    assert_eq!(operations(&read(&directory)), 1);
    count();
    assert_eq!(
        operations(&read(&directory)),
        2,
        "who was not meant goes on"
    );
    assert_eq!(reset(&directory.file(), None).expect("ours"), 1);
    assert!(read(&directory).total().is_empty());
    assert_eq!(read(&directory).processes.len(), 2, "they are still there");
    count();
    assert_eq!(operations(&read(&directory)), 1);
    child.kill();
}

#[test]
fn every_user_has_a_ledger() {
    assert_eq!(default_path(1000).to_str(), Some("/dev/shm/outboard.1000"));
}
