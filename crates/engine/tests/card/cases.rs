//! The tests.

use std::os::unix::process::ExitStatusExt;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Barrier, Condvar, Mutex};
use std::time::{Duration, Instant};

use outboard_engine::card::{self, Answer, BreakEven, Kind, Notify, Settings, Ticket};
use outboard_engine::ledger::{CardStatus, Reason};
use outboard_engine::{Operation, Path, ledger};
use outboard_programs::sandbox;

use crate::keys::{CASES, Case, Keys, hopeless};

/// Every test by its name.
pub(crate) const ALL: &[(&str, fn())] = &[
    (
        "one_thread_never_gets_a_second",
        one_thread_never_gets_a_second,
    ),
    ("many_threads_share_the_lanes", many_threads_share_the_lanes),
    (
        "an_event_loop_shares_the_lanes",
        an_event_loop_shares_the_lanes,
    ),
    (
        "what_fails_alone_fails_in_company",
        what_fails_alone_fails_in_company,
    ),
    ("a_failure_counts_once", a_failure_counts_once),
    (
        "dropped_tickets_are_cancelled",
        dropped_tickets_are_cancelled,
    ),
    (
        "children_start_with_empty_cards",
        children_start_with_empty_cards,
    ),
    (
        "closed_cards_answer_what_they_accepted",
        closed_cards_answer_what_they_accepted,
    ),
    (
        "exit_with_work_in_flight_is_clean",
        exit_with_work_in_flight_is_clean,
    ),
    (
        "without_cards_all_runs_inline",
        without_cards_all_runs_inline,
    ),
    (
        "one_alone_goes_across_the_lanes",
        one_alone_goes_across_the_lanes,
    ),
    (
        "what_does_not_pay_to_queue_is_never_queued",
        what_does_not_pay_to_queue_is_never_queued,
    ),
    ("the_ledger_shows_the_cards", the_ledger_shows_the_cards),
    (
        "a_loop_that_may_start_no_thread_shares_the_lanes",
        a_loop_that_may_start_no_thread_shares_the_lanes,
    ),
    (
        "a_loop_that_confined_itself_shares_the_lanes",
        a_loop_that_confined_itself_shares_the_lanes,
    ),
    (
        "threads_that_may_start_no_thread_share_the_lanes",
        threads_that_may_start_no_thread_share_the_lanes,
    ),
    (
        "threads_and_a_loop_share_without_a_worker",
        threads_and_a_loop_share_without_a_worker,
    ),
    #[cfg(debug_assertions)]
    ("a_dying_caller_loses_nothing", a_dying_caller_loses_nothing),
    #[cfg(debug_assertions)]
    ("a_dying_worker_loses_nothing", a_dying_worker_loses_nothing),
];

const PATIENCE: Duration = Duration::from_secs(60);

/// How much longer than usual.
fn rounds() -> u64 {
    std::env::var("CARD_ROUNDS").map_or(1, |rounds| rounds.parse().expect("a number"))
}

/// Does it until it answers yes, and sooner or later it has to: how many requests find company is a busy
/// machine's matter.
fn comes_true(mut attempt: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        if attempt() {
            return true;
        }
    }
    false
}

fn open(limit: Option<usize>) {
    card::open(Settings {
        limit,
        ..Settings::default()
    });
}

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task")
        .expect("proc is mounted")
        .count()
}

/// As `threads`, cards' alone: ThreadSanitizer has one of its own.
fn workers() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").expect("proc is mounted");
    let name = |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("comm"));
    // One that ends meanwhile has no name any more.
    let names = tasks.filter_map(|task| name(task.ok()?).ok());
    names.filter(|name| name.trim() == "outboard-card").count()
}

/// How many operations of any kind this process did in lanes, and otherwise.
fn served() -> (u64, u64) {
    let counts = ledger::global().counts();
    let on = |path| {
        let rows = counts.rows().filter(move |row| row.path == path);
        rows.map(|row| row.work.operations).sum()
    };
    (on(Path::Card), on(Path::Scalar) + on(Path::Wide))
}

/// Lets one alone go across the lanes, whatever it is.
fn wide() -> BreakEven {
    let mut wide = BreakEven::default();
    for kind in Kind::ALL {
        wide.set_wide(kind.operation(), true);
    }
    wide
}

/// Every request that a card accepted was answered once. For when nothing is in flight.
fn assert_it_adds_up() {
    let counts = ledger::global().counts();
    for (operation, work) in counts.queueing_rows() {
        let answered = work.in_lanes + work.one_by_one;
        assert_eq!(
            work.accepted,
            answered + work.cancelled + work.returned,
            "{}: {work:?}",
            operation.name()
        );
        assert_eq!(work.wait.count(), answered);
        assert_eq!(work.service.count(), answered);
        assert!(
            work.average_fill()
                .is_none_or(|fill| (1.0..=8.0).contains(&fill))
        );
    }
}

fn check(case: Case) {
    let output = card::run(case.request).expect("it succeeds");
    assert!((case.holds)(&output));
}

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

/// Told by cards; a program's event loop.
#[derive(Default)]
struct Events {
    ready: Mutex<Vec<usize>>,
    some: Condvar,
}

struct Event(Arc<Events>, usize);

impl Notify for Event {
    fn notify(&self) {
        self.0.ready.lock().expect("nobody panics").push(self.1);
        self.0.some.notify_one();
    }
}

impl Events {
    fn of(self: &Arc<Self>, index: usize) -> Option<Arc<dyn Notify>> {
        Some(Arc::new(Event(Arc::clone(self), index)))
    }

    fn wait(&self) -> Vec<usize> {
        let mut ready = self.ready.lock().expect("nobody panics");
        while ready.is_empty() {
            ready = self.some.wait(ready).expect("nobody panics");
        }
        std::mem::take(&mut ready)
    }
}

/// A job that a card has, and what must hold of its answer.
type Paused = (Ticket, Box<dyn Fn(&card::Output) -> bool + Send>);

/// Keeps `jobs` requests going until `total` are answered; returns how many paused.
fn event_loop(keys: &Keys, jobs: usize, total: u64, same_kind_for: u64) -> u64 {
    let events = Arc::new(Events::default());
    let mut paused: Vec<Option<Paused>> = (0..jobs).map(|_| None).collect();
    let mut free: Vec<usize> = (0..jobs).collect();
    let (mut asked, mut answered, mut pauses) = (0, 0, 0);
    while answered < total {
        while asked < total
            && let Some(index) = free.pop()
        {
            let case = keys.case((asked / same_kind_for) as usize, asked);
            asked += 1;
            match card::submit(case.request, || events.of(index)) {
                Answer::Now(output) => {
                    assert!((case.holds)(&output.expect("it succeeds")));
                    answered += 1;
                    free.push(index);
                }
                Answer::Later(ticket) => {
                    pauses += 1;
                    paused[index] = Some((ticket, case.holds));
                }
            }
        }
        if answered == total {
            break;
        }
        for index in events.wait() {
            let (ticket, holds) = paused[index].take().expect("told once");
            if !ticket.is_done() {
                // Another caller runs it: we are told again.
                paused[index] = Some((ticket, holds));
                continue;
            }
            assert!(holds(&ticket.collect().expect("it succeeds")));
            answered += 1;
            free.push(index);
        }
    }
    pauses
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

fn without_cards_all_runs_inline() {
    open(Some(0));
    let keys = Keys::new();
    assert_eq!(event_loop(&keys, 20, 100, 10), 0);
    assert_eq!(threads(), 1);
    assert_eq!(served().0, 0);
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
        never.set(kind.operation(), 9, 9);
    }
    card::open(Settings {
        limit: None,
        break_even: never,
    });
    let keys = Keys::new();
    assert_eq!(event_loop(&keys, 100, 1000, 50), 0);
    assert_eq!((served().0, threads()), (0, 1));
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
