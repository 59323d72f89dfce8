//! Cards without a worker: callers run what waits.

use std::sync::Barrier;

use outboard_engine::card::{self, Answer};
use outboard_engine::ledger::{self, CardStatus};
use outboard_programs::sandbox;

use crate::keys::Keys;
use crate::support::*;

pub(crate) const ALL: &[Test] = tests! {
    a_loop_that_may_start_no_thread_shares_the_lanes
    a_loop_that_confined_itself_shares_the_lanes
    threads_that_may_start_no_thread_share_the_lanes
    threads_and_a_loop_share_without_a_worker
    what_is_left_waits_for_who_comes_first
    #[cfg(debug_assertions)] a_dying_caller_loses_nothing
};

/// From now on the calling thread starts no other one, as in HAProxy, which has a limit of none.
fn start_no_thread() {
    for call in [libc::SYS_clone3, libc::SYS_clone] {
        sandbox::refuse(call).expect("a filter is put on");
    }
}

/// Lets a file tell what the cards of this process do.
fn record() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    ledger::open(&directory.path().join("ledger"));
    directory
}

/// There is no worker, nobody lost an answer for that, and the ledger says how it is.
fn assert_callers_ran_it(record: &tempfile::TempDir) {
    assert_eq!(workers(), 0);
    let file = record.path().join("ledger");
    let snapshot = ledger::Snapshot::read(&file).expect("it was just made");
    // Of two threads that count first at the same time, one leaves an entry that it does not need.
    let ours = snapshot.processes.iter().find(|process| process.alive);
    let ours = ours.expect("we are in it");
    let mut reasons = ours.counts.fallback_rows();
    assert!(reasons.all(|row| row.reason != ledger::Reason::CardDied));
    assert!(!ours.cards.is_empty());
    for card in &ours.cards {
        assert_eq!(card.status, CardStatus::Callers);
        assert_eq!((card.work.returned, card.pending), (0, 0));
    }
    assert_it_adds_up();
}

/// The same as with a worker, but for the worker.
fn a_loop_shares_the_lanes_without_one(record: &tempfile::TempDir) {
    let keys = Keys::new();
    let total = 1100 * rounds();
    let pauses = event_loop(&keys, 40, total, 100);
    let (in_lanes, otherwise) = served();
    assert_eq!(in_lanes + otherwise, total, "each is counted once");
    assert!(
        pauses > 0 && 4 * in_lanes > total,
        "{pauses} paused, {in_lanes} of {total} in lanes"
    );
    assert_eq!(threads(), 1);
    assert_callers_ran_it(record);
}

fn a_loop_that_may_start_no_thread_shares_the_lanes() {
    let record = record();
    start_no_thread();
    open(None);
    a_loop_shares_the_lanes_without_one(&record);
}

/// No thread is tried where the system might kill for it.
fn a_loop_that_confined_itself_shares_the_lanes() {
    let record = record();
    open(None);
    for call in [
        libc::SYS_clone3,
        libc::SYS_clone,
        libc::SYS_sched_getaffinity,
        libc::SYS_sched_setscheduler,
        libc::SYS_sched_yield,
        libc::SYS_mprotect,
    ] {
        sandbox::kill_for(call).expect("a filter is put on");
    }
    a_loop_shares_the_lanes_without_one(&record);
}

/// Of one thread, whatever else the process's threads do: no worker has a part in it. The ninth request makes room.
fn what_is_left_waits_for_who_comes_first() {
    const EACH: u64 = card::DEPTH as u64 + 2;
    let record = record();
    open(None);
    let keys = Keys::new();
    let all = EACH * rounds();
    for round in 0..rounds() {
        let mut left: Vec<Paused> = Vec::new();
        for number in 0..EACH {
            let case = keys.rsa_case(round << 8 | number);
            match card::leave(case.request) {
                Answer::Later(ticket) => left.push((ticket, case.holds)),
                Answer::Now(output) => {
                    assert_eq!(number, EACH - 2);
                    assert!((case.holds)(&output.expect("it succeeds")));
                }
            }
        }
        // Seven were run with the ninth.
        for (ticket, holds) in left {
            assert!(ticket.is_done());
            assert!(holds(&ticket.collect().expect("it succeeds")));
        }
    }
    let (in_lanes, otherwise) = served();
    assert_eq!(in_lanes + otherwise, all, "each is counted once");
    assert!(in_lanes >= 8 * rounds(), "{in_lanes}");
    assert_eq!(threads(), 1);
    // What nobody comes for is forgotten.
    let case = keys.rsa_case(u64::MAX);
    drop(card::leave(case.request));
    assert_callers_ran_it(&record);
}

fn threads_that_may_start_no_thread_share_the_lanes() {
    let record = record();
    open(None);
    let keys = Keys::new();
    let each = 100 * rounds();
    let start = Barrier::new(16);
    std::thread::scope(|scope| {
        for thread in 0..16_u64 {
            let (keys, start) = (&keys, &start);
            scope.spawn(move || {
                start_no_thread();
                start.wait();
                for number in 0..each {
                    check(keys.case((number / 20) as usize, thread << 32 | number));
                }
            });
        }
    });
    let (in_lanes, otherwise) = served();
    assert_eq!(in_lanes + otherwise, 16 * each, "each is counted once");
    assert!(in_lanes > 0, "none of {otherwise} shared the lanes");
    assert_callers_ran_it(&record);
}

/// Whoever comes runs what waits, the others' too; and nobody waits for somebody who does not come.
fn threads_and_a_loop_share_without_a_worker() {
    let record = record();
    open(Some(1));
    let keys = Keys::new();
    let each = 100 * rounds();
    std::thread::scope(|scope| {
        for thread in 0..6_u64 {
            let keys = &keys;
            scope.spawn(move || {
                start_no_thread();
                if thread < 2 {
                    event_loop(keys, 12, each, 20);
                    return;
                }
                for number in 0..each {
                    check(keys.case((number / 20) as usize, thread << 32 | number));
                }
            });
        }
    });
    let (in_lanes, otherwise) = served();
    assert_eq!(in_lanes + otherwise, 6 * each, "each is counted once");
    assert_callers_ran_it(&record);
}

/// A batch that panics in a caller gives back what it had, and the next one leads.
#[cfg(debug_assertions)]
fn a_dying_caller_loses_nothing() {
    open(Some(1));
    let keys = Keys::new();
    card::fault::plant(3);
    let each = 50 * rounds();
    std::thread::scope(|scope| {
        for thread in 0..8_u64 {
            let keys = &keys;
            scope.spawn(move || {
                start_no_thread();
                for number in 0..each {
                    check(keys.rsa_case(thread << 32 | number));
                }
            });
        }
    });
    assert_it_adds_up();
    assert_eq!(card::fault::planted(), 0);
}
