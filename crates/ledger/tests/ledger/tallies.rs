//! Tallies: counting in groups, timing by sample, and forks in between.

use std::time::Duration;

use outboard_ledger::{Ledger, Snapshot, Tally};
use outboard_operation::{Operation, Path};

use crate::support::{Directory, fork, open};

const SEAL: Operation = Operation::Aes128GcmSeal;

fn private() -> &'static Ledger {
    Box::leak(Box::new(Ledger::private()))
}

fn counted(ledger: &Ledger) -> u64 {
    ledger.counts().work(SEAL, Path::Scalar).operations
}

#[test]
fn little_is_ever_missing_and_nothing_after_the_drop() {
    let ledger = private();
    let mut tally = Tally::of(ledger, SEAL, Path::Scalar);
    for done in 1..=5000_u64 {
        tally.count(16);
        let missing = done - counted(ledger);
        assert!(missing <= done / 16 && missing < 64, "{missing} of {done}");
    }
    drop(tally);
    let work = ledger.counts().work(SEAL, Path::Scalar);
    assert_eq!((work.operations, work.bytes), (5000, 80_000));
}

#[test]
fn a_mebibyte_is_passed_on() {
    let ledger = private();
    let mut tally = Tally::of(ledger, SEAL, Path::Scalar);
    for _ in 0..2000 {
        tally.count(1);
    }
    let before = ledger.counts().work(SEAL, Path::Scalar).bytes;
    tally.count(1 << 20);
    let after = ledger.counts().work(SEAL, Path::Scalar).bytes;
    assert!(after - before >= 1 << 20);
}

#[test]
fn some_are_timed_in_one_context_or_in_many() {
    let in_one = {
        let ledger = private();
        let mut tally = Tally::of(ledger, SEAL, Path::Scalar);
        timed(10_000, |_| time_if_wanted(&mut tally))
    };
    let in_many = {
        let ledger = private();
        timed(10_000, |_| {
            time_if_wanted(&mut Tally::of(ledger, SEAL, Path::Scalar))
        })
    };
    assert_eq!(in_one, in_many);
    assert_eq!(in_one[..6], [3, 7, 12, 18, 25, 33]);
    let last: Vec<u32> = in_one.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(last[last.len() - 5..], [256; 5]);
}

/// Which of so many operations are timed.
fn timed(operations: u32, mut is_timed: impl FnMut(u32) -> bool) -> Vec<u32> {
    (0..operations).filter(|&turn| is_timed(turn)).collect()
}

#[test]
fn every_operation_is_timed() {
    let ledger = private();
    for operation in [SEAL, Operation::Aes128GcmOpen] {
        let mut tally = Tally::of(ledger, operation, Path::Scalar);
        assert_eq!(timed(4, |_| time_if_wanted(&mut tally)), [3]);
    }
    let work = ledger.counts().work(SEAL, Path::Scalar);
    assert_eq!((work.operations, work.timed_operations), (4, 1));
    assert_eq!(
        (work.bytes, work.timed_bytes, work.nanoseconds),
        (64, 16, 100)
    );
    assert_eq!(work.estimated_nanoseconds(), Some(400));
}

/// A caller that can't always read the clock when asked is asked again.
#[test]
fn who_is_not_timed_when_asked_is_asked_again() {
    let mut tally = Tally::of(private(), SEAL, Path::Scalar);
    (0..100).for_each(|_| tally.count(16));
    assert!(tally.wants_time());
    assert!(time_if_wanted(&mut tally));
    assert!(!tally.wants_time());
}

fn time_if_wanted(tally: &mut Tally) -> bool {
    let wanted = tally.wants_time();
    match wanted {
        true => tally.count_timed(16, Duration::from_nanos(100)),
        false => tally.count(16),
    }
    wanted
}

#[test]
fn an_unused_tally_counts_nothing() {
    let ledger = private();
    drop(Tally::of(ledger, SEAL, Path::Scalar));
    assert!(ledger.counts().is_empty());
}

/// A context that a child inherits with operations pending: they are its parent's.
#[test]
fn inherited_operations_are_counted_once() {
    let directory = Directory::new();
    let ledger = open(&directory.file());
    let mut tally = Some(Tally::of(ledger, SEAL, Path::Scalar));
    let count = |tally: &mut Option<Tally>, operations| {
        for _ in 0..operations {
            tally.as_mut().expect("it is not dropped yet").count(16);
        }
    };
    count(&mut tally, 1500);
    assert_ne!(
        counted(ledger),
        1500,
        "some are pending, or this proves nothing"
    );

    // One child goes on with it, one only frees it, one does neither. What a child takes, its parent
    // still has.
    fork(|| {
        count(&mut tally, 10);
        drop(tally.take());
    })
    .join();
    fork(|| drop(tally.take())).join();
    fork(|| ()).join();

    count(&mut tally, 1);
    drop(tally);
    let snapshot = Snapshot::read(&directory.file()).expect("it is there");
    assert_eq!(snapshot.total().work(SEAL, Path::Scalar).operations, 1511);
    let child = &snapshot.processes[1];
    assert_eq!(child.counts.work(SEAL, Path::Scalar).operations, 10);
}

#[test]
fn a_closed_ledger_opens_for_a_living_tally() {
    let directory = Directory::new();
    let ledger = open(&directory.file());
    let mut tally = Tally::of(ledger, SEAL, Path::Scalar);
    tally.count(16);
    ledger.close();
    tally.count(16);
    drop(tally);
    let total = Snapshot::read(&directory.file())
        .expect("it is there")
        .total();
    assert_eq!(total.work(SEAL, Path::Scalar).operations, 2);
}
