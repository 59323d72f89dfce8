//! Cards with a worker, and what ends in the middle.

use std::os::unix::process::ExitStatusExt;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use outboard_engine::card::{self, Answer};
use outboard_engine::ledger::{self, Reason};
use outboard_engine::{Operation, Path};

use crate::keys::{Keys, hopeless};
use crate::support::*;

pub(crate) const ALL: &[Test] = tests! {
    one_thread_never_gets_a_second
    many_threads_share_the_lanes
    an_event_loop_shares_the_lanes
    what_fails_alone_fails_in_company
    a_failure_counts_once
    dropped_tickets_are_cancelled
    children_start_with_empty_cards
    closed_cards_answer_what_they_accepted
    exit_with_work_in_flight_is_clean
    the_ledger_shows_the_cards
    #[cfg(debug_assertions)] a_dying_worker_loses_nothing
};

/// As sshd's confined child wants it.
fn one_thread_never_gets_a_second() {
    open(None);
    let keys = Keys::new();
    for number in 0..200 {
        check(keys.case(number as usize, number));
    }
    assert_eq!(threads(), 1);
    let counts = ledger::global().counts();
    assert!(
        counts
            .fallback_rows()
            .all(|row| row.reason == Reason::Single),
        "the reason is that it never has company, not that there was none just then"
    );
}

fn many_threads_share_the_lanes() {
    open(None);
    let keys = Keys::new();
    let each = 100 * rounds();
    let start = Barrier::new(16);
    std::thread::scope(|scope| {
        for thread in 0..16_u64 {
            let (keys, start) = (&keys, &start);
            scope.spawn(move || {
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
    assert_it_adds_up();
}

fn an_event_loop_shares_the_lanes() {
    open(Some(1));
    let keys = Keys::new();
    let total = 1100 * rounds();
    let pauses = event_loop(&keys, 40, total, 100);
    let (in_lanes, otherwise) = served();
    assert_eq!(in_lanes + otherwise, total, "each is counted once");
    assert!(
        pauses > 0 && 4 * in_lanes > total,
        "{pauses} paused, {in_lanes} of {total} in lanes"
    );
}

fn what_fails_alone_fails_in_company() {
    open(None);
    let keys = Keys::new();
    let start = Barrier::new(12);
    std::thread::scope(|scope| {
        for thread in 0..12_u64 {
            let (keys, start) = (&keys, &start);
            scope.spawn(move || {
                start.wait();
                for number in 0..60 * rounds() {
                    if thread % 3 == 0 {
                        let (request, error) = hopeless(number as usize);
                        assert_eq!(card::run(request).expect_err("it can't"), error);
                    } else {
                        check(keys.case(8, number));
                    }
                }
            });
        }
    });
}

/// Of whoever fails, alone or in company, the ledger has one reason.
fn a_failure_counts_once() {
    open(None);
    let run = |number: u64| {
        let (request, error) = hopeless(number as usize);
        assert_eq!(card::run(request).expect_err("it can't"), error);
    };
    let reasons = || {
        let counts = ledger::global().counts();
        let rows = counts.fallback_rows();
        let ours = rows.filter(|row| row.operation == Operation::X25519Derive);
        ours.map(|row| row.count).sum::<u64>()
    };
    (0..5).for_each(run);
    assert_eq!(reasons(), 5);
    let (threads, each) = (12, 20);
    let start = Barrier::new(threads);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                start.wait();
                (0..each).for_each(run);
            });
        }
    });
    assert_eq!(reasons(), 5 + threads as u64 * each);
    assert_eq!(served(), (0, 0));
}

fn dropped_tickets_are_cancelled() {
    open(Some(1));
    let keys = Keys::new();
    let events = Arc::new(Events::default());
    let (mut later, mut dropped) = (0_u64, 0);
    let cancelled = || {
        let counts = ledger::global().counts();
        let rsa = counts.queueing(Operation::Rsa2048Sign);
        rsa.map_or(0, |work| work.cancelled)
    };
    let mut round = 0;
    let mut drop_some = || {
        round += 1;
        let mut kept = Vec::new();
        for index in 0..12 {
            let case = keys.rsa_case(round << 8 | index);
            match card::submit(case.request, || events.of(index as usize)) {
                Answer::Now(output) => assert!((case.holds)(&output.expect("it succeeds"))),
                Answer::Later(ticket) if (index + round) % 2 == 0 => {
                    later += 1;
                    dropped += 1;
                    drop(ticket);
                }
                Answer::Later(ticket) => {
                    later += 1;
                    kept.push((ticket, case.holds));
                }
            }
        }
        for (ticket, holds) in kept {
            while !ticket.is_done() {
                std::thread::yield_now();
            }
            assert!(holds(&ticket.collect().expect("it succeeds")));
        }
        later > dropped && cancelled() > 0
    };
    for _ in 0..40 * rounds() {
        drop_some();
    }
    assert!(
        comes_true(&mut drop_some),
        "{later} queued, {dropped} dropped"
    );
    // Whatever was dropped, there is room again.
    assert!(comes_true(|| event_loop(&keys, 20, 200, 200) > 0));
    assert!(cancelled() <= dropped, "{} of {dropped}", cancelled());
}

/// Forks while threads have work in flight; child and parent go on.
fn children_start_with_empty_cards() {
    open(None);
    let keys = Keys::new();
    let events = Arc::new(Events::default());
    let end = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for thread in 0..6_u64 {
            let (keys, end) = (&keys, &end);
            scope.spawn(move || {
                let mut number = 0;
                while !end.load(Relaxed) {
                    check(keys.case(thread as usize, thread << 32 | number));
                    number += 1;
                }
            });
        }
        for round in 0..12 * rounds() {
            // Some of our own in flight, too.
            let paused: Vec<Paused> = (0..6)
                .filter_map(|index| {
                    let case = keys.rsa_case(round << 8 | index);
                    match card::submit(case.request, || events.of(index as usize)) {
                        Answer::Now(_) => None,
                        Answer::Later(ticket) => Some((ticket, case.holds)),
                    }
                })
                .collect();
            // SAFETY: the child uses what a child of many threads may not by POSIX's letter, and glibc
            // and we allow: memory, and our own requests. It leaves without returning.
            let child = unsafe { libc::fork() };
            if child == 0 {
                // A child that sticks ends all the same: nobody is left to end it.
                // SAFETY: no handler is set.
                unsafe { libc::alarm(300) };
                let passed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    in_child(&keys, paused);
                }));
                // SAFETY: ends the child at once.
                unsafe { libc::_exit(i32::from(passed.is_err())) };
            }
            let mut status = 0;
            // SAFETY: our child.
            unsafe { libc::waitpid(child, &raw mut status, 0) };
            let status = std::process::ExitStatus::from_raw(status);
            assert!(status.success(), "the child: {status}");
            for (ticket, holds) in paused {
                while !ticket.is_done() {
                    std::thread::yield_now();
                }
                assert!(holds(&ticket.collect().expect("it succeeds")));
            }
        }
        end.store(true, Relaxed);
    });
}

/// Collects what the parent had paused, drops some of it, and shares the lanes with threads of its own.
fn in_child(keys: &Keys, paused: Vec<Paused>) {
    assert_eq!(threads(), 1);
    for (index, (ticket, holds)) in paused.into_iter().enumerate() {
        assert!(ticket.is_done());
        if index % 3 != 0 {
            assert!(holds(&ticket.collect().expect("it succeeds")));
        }
    }
    event_loop(keys, 12, 60, 20);
    std::thread::scope(|scope| {
        for thread in 0..4_u64 {
            scope.spawn(move || {
                (0..10).for_each(|number| check(keys.case(thread as usize, number)))
            });
        }
    });
}

fn closed_cards_answer_what_they_accepted() {
    let keys = Keys::new();
    for round in 0..5 * rounds() {
        open(Some(1));
        let events = Arc::new(Events::default());
        let mut paused = Vec::new();
        for number in 0..60 {
            let case = keys.rsa_case(round << 8 | number);
            if let Answer::Later(ticket) = card::submit(case.request, || events.of(0)) {
                paused.push((ticket, case.holds));
            }
            if number == 55 {
                card::close();
            }
        }
        for (ticket, holds) in paused {
            while !ticket.is_done() {
                std::thread::yield_now();
            }
            assert!(holds(&ticket.collect().expect("it succeeds")));
        }
    }
    // The workers are gone, sooner or later.
    while workers() > 0 {
        std::thread::yield_now();
    }
}

fn exit_with_work_in_flight_is_clean() {
    open(Some(1));
    let keys = Keys::new();
    let events = Arc::new(Events::default());
    for number in 0..60 {
        let case = keys.rsa_case(number);
        if let Answer::Later(ticket) = card::submit(case.request, || events.of(0)) {
            std::mem::forget(ticket);
        }
    }
    std::process::exit(0);
}

fn the_ledger_shows_the_cards() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("ledger");
    ledger::open(&file);
    open(Some(2));
    let keys = Keys::new();
    let read = || ledger::Snapshot::read(&file).expect("it was just made");
    let ours = |snapshot: &ledger::Snapshot| {
        let mut processes = snapshot.processes.iter();
        let ours = processes.find(|process| process.pid == std::process::id());
        ours.expect("we are in it").cards.clone()
    };
    assert!(comes_true(|| {
        event_loop(&keys, 40, 400, 400);
        let cards = ours(&read());
        cards.first().is_some_and(|card| card.work.in_lanes > 0)
    }));
    let first = read();
    let cards = ours(&first);
    assert!((1..=2).contains(&cards.len()), "{cards:?}");
    let work = &cards[0].work;
    assert_eq!(
        (cards[0].id, cards[0].depth, cards[0].pending),
        (0, card::DEPTH, 0)
    );
    assert!(
        work.in_lanes > 0 && work.batches > 0 && work.busy_nanoseconds > 0,
        "{work:?}"
    );
    assert!(work.wait.quantile(0.99) >= work.wait.quantile(0.5));
    assert!(cards[0].utilisation.is_some_and(|share| share > 0.0));

    event_loop(&keys, 40, 400, 400);
    let since = read().since(&first);
    assert!(ours(&since)[0].work.accepted < ours(&read())[0].work.accepted);

    ledger::reset(&file, None).expect("it is ours");
    assert!(ours(&read())[0].work.is_empty());

    // A child has none until it needs them; and what takes the entry of one that ended finds none.
    // SAFETY: the child does what a child of many threads may, and leaves without returning.
    let child = unsafe { libc::fork() };
    if child == 0 {
        ledger::record(Operation::P256Sign, Path::Scalar, 0, Duration::ZERO);
        let empty = std::panic::catch_unwind(|| assert!(ours(&read()).is_empty()));
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(i32::from(empty.is_err())) };
    }
    let mut status = 0;
    // SAFETY: our child.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(status, 0);
}

#[cfg(debug_assertions)]
fn a_dying_worker_loses_nothing() {
    open(Some(1));
    let keys = Keys::new();
    let died = || {
        let operations = Operation::ALL.iter();
        let counts = ledger::global().counts();
        operations
            .map(|&one| counts.fallbacks(one, Reason::CardDied))
            .sum::<u64>()
    };
    for round in 0..6 * rounds() {
        card::fault::plant(3);
        let before = died();
        while card::fault::planted() > 0 {
            event_loop(&keys, 20, 60, 60);
        }
        assert!(
            died() > before,
            "round {round}: the ledger does not say that a card died"
        );
    }
    let (before, _) = served();
    let fills_lanes = || {
        event_loop(&keys, 20, 200, 200);
        served().0 > before
    };
    assert!(
        comes_true(fills_lanes),
        "a new worker fills the lanes again"
    );
    assert_it_adds_up();
}
