//! What the tests share: threads, an event loop, and what the ledger says.

use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use outboard_engine::card::{self, Answer, Notify, Settings, Ticket};
use outboard_engine::{Path, ledger};

use crate::keys::{Case, Keys};

/// Every test of a file, by its name.
macro_rules! tests {
    ($($(#[$when:meta])? $test:ident)*) => {
        &[$($(#[$when])? (stringify!($test), $test)),*]
    };
}
pub(crate) use tests;

/// A test and its name.
pub(crate) type Test = (&'static str, fn());

const PATIENCE: Duration = Duration::from_secs(60);

/// How much longer than usual.
pub(crate) fn rounds() -> u64 {
    std::env::var("CARD_ROUNDS").map_or(1, |rounds| rounds.parse().expect("a number"))
}

/// Does it until it answers yes, and sooner or later it has to: how many requests find company is a busy
/// machine's matter.
pub(crate) fn comes_true(mut attempt: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        if attempt() {
            return true;
        }
    }
    false
}

pub(crate) fn open(limit: Option<usize>) {
    card::open(Settings {
        limit,
        ..Settings::default()
    });
}

pub(crate) fn threads() -> usize {
    std::fs::read_dir("/proc/self/task")
        .expect("proc is mounted")
        .count()
}

/// As `threads`, cards' alone: ThreadSanitizer has one of its own.
pub(crate) fn workers() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").expect("proc is mounted");
    let name = |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("comm"));
    // One that ends meanwhile has no name any more.
    let names = tasks.filter_map(|task| name(task.ok()?).ok());
    names.filter(|name| name.trim() == "outboard-card").count()
}

/// How many operations of any kind this process did in lanes, and otherwise.
pub(crate) fn served() -> (u64, u64) {
    let counts = ledger::global().counts();
    let on = |path| {
        let rows = counts.rows().filter(move |row| row.path == path);
        rows.map(|row| row.work.operations).sum()
    };
    (on(Path::Card), on(Path::Scalar) + on(Path::Wide))
}

/// Every request that a card accepted was answered once. For when nothing is in flight.
pub(crate) fn assert_it_adds_up() {
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

pub(crate) fn check(case: Case) {
    let output = card::run(case.request).expect("it succeeds");
    assert!((case.holds)(&output));
}

/// Told by cards; a program's event loop.
#[derive(Default)]
pub(crate) struct Events {
    ready: Mutex<Vec<usize>>,
    some: Condvar,
}

pub(crate) struct Event(Arc<Events>, usize);

impl Notify for Event {
    fn notify(&self) {
        self.0.ready.lock().expect("nobody panics").push(self.1);
        self.0.some.notify_one();
    }
}

impl Events {
    pub(crate) fn of(self: &Arc<Self>, index: usize) -> Option<Arc<dyn Notify>> {
        Some(Arc::new(Event(Arc::clone(self), index)))
    }

    pub(crate) fn wait(&self) -> Vec<usize> {
        let mut ready = self.ready.lock().expect("nobody panics");
        while ready.is_empty() {
            ready = self.some.wait(ready).expect("nobody panics");
        }
        std::mem::take(&mut ready)
    }
}

/// A job that a card has, and what must hold of its answer.
pub(crate) type Paused = (Ticket, Box<dyn Fn(&card::Output) -> bool + Send>);

/// Keeps `jobs` requests going until `total` are answered; returns how many paused.
pub(crate) fn event_loop(keys: &Keys, jobs: usize, total: u64, same_kind_for: u64) -> u64 {
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
