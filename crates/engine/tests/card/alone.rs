//! Requests that have no company.

use outboard_engine::card::{self, BreakEven, Kind, Settings};
use outboard_engine::{Operation, Path, ledger};

use crate::keys::{CASES, Keys};
use crate::support::*;

pub(crate) const ALL: &[Test] = tests! {
    without_cards_all_runs_inline
    one_alone_goes_across_the_lanes
    what_does_not_pay_to_queue_is_never_queued
    without_memory_for_a_table_all_runs_on_the_scalar_path
};

/// Lets one alone go across the lanes, whatever it is.
fn wide() -> BreakEven {
    let mut wide = BreakEven::default();
    for kind in Kind::ALL {
        wide.set_wide(kind.operation(), true);
    }
    wide
}

fn without_cards_all_runs_inline() {
    open(Some(0));
    let keys = Keys::new();
    assert_eq!(event_loop(&keys, 20, 100, 10), 0);
    assert_eq!(threads(), 1);
    let counts = ledger::global().counts();
    assert!(counts.queueing_rows().all(|(_, work)| work.accepted == 0));
}

fn one_alone_goes_across_the_lanes() {
    card::open(Settings {
        limit: Some(0),
        break_even: wide(),
    });
    let keys = Keys::new();
    // What needs a table has it after so many.
    let each = 300;
    for which in 0..CASES {
        for number in 0..each {
            check(keys.case(which, number));
        }
    }
    let counts = ledger::global().counts();
    let on = |path| {
        let rows = counts.rows().filter(move |row| row.path == path);
        rows.map(|row| (row.operation, row.work.operations))
    };
    for (operation, operations) in on(Path::Wide) {
        assert!(Kind::of(operation).is_some(), "{}", operation.name());
        assert!(operations > 0 && operations <= 3 * each);
    }
    // RSA of two sizes is not among the cases.
    let expected = if card::are_there() {
        Kind::COUNT - 2
    } else {
        0
    };
    assert_eq!(on(Path::Wide).count(), expected);
    let all: u64 = counts.rows().map(|row| row.work.operations).sum();
    assert_eq!(all, each * CASES as u64, "each is counted once");
    assert_eq!(on(Path::Card).count(), 0);
    assert_eq!(threads(), 1);
}

/// Though a hundred wait.
fn what_does_not_pay_to_queue_is_never_queued() {
    let mut never = wide();
    for kind in Kind::ALL {
        never.set(kind.operation(), 9, 9, 9);
    }
    card::open(Settings {
        limit: None,
        break_even: never,
    });
    let keys = Keys::new();
    assert_eq!(event_loop(&keys, 100, 1000, 50), 0);
    assert_eq!((served().0, threads()), (0, 1));
}

/// Building a table would end the program then.
fn without_memory_for_a_table_all_runs_on_the_scalar_path() {
    card::open(Settings {
        limit: Some(0),
        break_even: wide(),
    });
    let keys = Keys::new();
    let all = || (0..300).for_each(|number| check(keys.case(4, number)));
    let on_wide = || {
        let counts = ledger::global().counts();
        let mut rows = counts.rows().filter(|row| row.path == Path::Wide);
        rows.any(|row| row.operation == Operation::P256Sign)
    };
    check(keys.case(4, 0));
    take_no_more_memory();
    all();
    assert!(!on_wide());
}

/// From now on the allocator has what it has.
fn take_no_more_memory() {
    let pages = std::fs::read_to_string("/proc/self/statm").expect("proc is mounted");
    let pages: u64 = pages
        .split(' ')
        .next()
        .and_then(|n| n.parse().ok())
        .expect("a number");
    // SAFETY: asks for a number; sets a limit from two others.
    unsafe {
        let size = pages * libc::sysconf(libc::_SC_PAGESIZE) as u64;
        let limit = libc::rlimit {
            rlim_cur: size,
            rlim_max: size,
        };
        assert_eq!(libc::setrlimit(libc::RLIMIT_AS, &raw const limit), 0);
    }
}
