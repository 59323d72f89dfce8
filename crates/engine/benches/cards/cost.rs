//! Processor time: how much one operation costs the whole process, beside the other work that a
//! handshake has.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use outboard_engine::card::{self, Answer, Notify, Ticket};
use outboard_engine::{Path, ledger};

use crate::requests::{Make, OTHER_WORK, scalar, work};
use crate::{in_child, median, pin, processor_time};

/// How long one contender has its turn.
const TURN: Duration = Duration::from_millis(500);
const ROUNDS: usize = 6;

#[derive(Clone, Copy)]
enum Scenario {
    /// An event loop with so many connections.
    Jobs(usize),
    /// So many threads with a connection each.
    Threads(usize),
}

/// What is measured: its name, the processors that it has, and what it does.
type Row = (&'static str, usize, Scenario);

const ROWS: [Row; 8] = [
    ("alone", 2, Scenario::Threads(1)),
    ("loop, 32 jobs, 1 core", 1, Scenario::Jobs(32)),
    ("loop, 32 jobs, 2 cores", 2, Scenario::Jobs(32)),
    ("loop, 1 job, 1 core", 1, Scenario::Jobs(1)),
    ("loop, 4 jobs, 1 core", 1, Scenario::Jobs(4)),
    ("32 threads, 1 core", 1, Scenario::Threads(32)),
    ("32 threads, 2 cores", 2, Scenario::Threads(32)),
    ("4 threads, 2 cores", 2, Scenario::Threads(4)),
];

/// Prints a row for each operation and scenario that is wanted.
pub(crate) fn table(
    operations: &[(&'static str, Box<Make>)],
    is_wanted: impl Fn(&str, &str) -> bool,
) {
    let mut header = false;
    for (name, make) in operations {
        for (scenario, processors, kind) in ROWS {
            if !is_wanted(name, scenario) {
                continue;
            }
            if !std::mem::replace(&mut header, true) {
                println!(
                    "\nprocessor time of an operation, less the other work: scalar and cards\n\
                     {:<16} {:<26} {:>9} {:>9} {:>7} {:>6} {:>5} {:>6}",
                    "operation",
                    "scenario",
                    "scalar us",
                    "cards us",
                    "ratio",
                    "lanes%",
                    "fill",
                    "thr x",
                );
            }
            // A process for each: the number of cards is that of the processors.
            in_child(|| {
                pin(processors);
                measure(name, scenario, kind, &**make);
            });
        }
    }
}

fn measure(name: &str, scenario: &str, kind: Scenario, make: &Make) {
    let mut rows = Vec::new();
    for round in 0..ROUNDS {
        let (scalar, cards) = if round % 2 == 0 {
            let scalar = turn(kind, make, false);
            (scalar, turn(kind, make, true))
        } else {
            let cards = turn(kind, make, true);
            (turn(kind, make, false), cards)
        };
        if round > 0 {
            rows.push((scalar, cards));
        }
    }
    let of = |value: &dyn Fn(&(Turn, Turn)) -> f64| median(rows.iter().map(value).collect());
    println!(
        "{name:<16} {scenario:<26} {:>9.1} {:>9.1} {:>7.2} {:>6.0} {:>5.1} {:>6.2}",
        of(&|(scalar, _)| scalar.cpu),
        of(&|(_, cards)| cards.cpu),
        of(&|(scalar, cards)| scalar.cpu / cards.cpu),
        of(&|(_, cards)| cards.in_lanes * 100.0),
        of(&|(_, cards)| cards.fill),
        of(&|(scalar, cards)| cards.rate / scalar.rate),
    );
}

/// What one turn measured.
struct Turn {
    /// Microseconds of processor per operation, without the other work.
    cpu: f64,
    rate: f64,
    in_lanes: f64,
    /// Lanes filled on average where requests were queued.
    fill: f64,
}

fn turn(kind: Scenario, make: &Make, cards: bool) -> Turn {
    let operation = make().operation();
    let before = ledger::global().counts();
    let (started, cpu) = (Instant::now(), processor_time());
    let operations = match kind {
        Scenario::Jobs(jobs) => event_loop(jobs, make, cards),
        Scenario::Threads(threads) => pool(threads, make, cards),
    };
    let operations = operations as f64;
    let (wall, cpu) = (started.elapsed(), processor_time() - cpu);
    let after = ledger::global().counts();
    let count = |path| {
        (after.work(operation, path).operations - before.work(operation, path).operations) as f64
    };
    let queued = |counts: &ledger::Counts, what: fn(&ledger::Queueing) -> u64| {
        let of = |counts: &ledger::Counts| counts.queueing(operation).map_or(0, what);
        (of(counts) - of(&before)) as f64
    };
    let (lanes, scalar) = (count(Path::Card), count(Path::Scalar));
    Turn {
        cpu: cpu.as_secs_f64() * 1e6 / operations - OTHER_WORK as f64,
        rate: operations / wall.as_secs_f64(),
        in_lanes: lanes / (lanes + scalar).max(1.0),
        fill: queued(&after, |work| work.in_lanes) / queued(&after, |work| work.batches).max(1.0),
    }
}

/// How many operations it did.
fn pool(threads: usize, make: &Make, cards: bool) -> u64 {
    let end = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    let mut operations = 0;
                    while !end.load(Relaxed) {
                        work(OTHER_WORK);
                        let request = make();
                        if cards {
                            card::run(request).expect("it succeeds");
                        } else {
                            scalar(request);
                        }
                        operations += 1;
                    }
                    operations
                })
            })
            .collect();
        std::thread::sleep(TURN);
        end.store(true, Relaxed);
        threads
            .into_iter()
            .map(|thread| thread.join().expect("it does not panic"))
            .sum()
    })
}

struct Event(OwnedFd);

impl Notify for Event {
    fn notify(&self) {
        // SAFETY: a live descriptor and eight bytes.
        unsafe { libc::write(self.0.as_raw_fd(), (&raw const ONE).cast(), 8) };
    }
}

static ONE: u64 = 1;

struct Connection {
    event: Arc<Event>,
    ticket: Option<Ticket>,
}

/// One thread with `epoll`, as servers with ASYNC jobs do it; how many operations it did.
fn event_loop(jobs: usize, make: &Make, cards: bool) -> u64 {
    let mut operations = 0;
    // SAFETY: makes a descriptor.
    let epoll = unsafe { OwnedFd::from_raw_fd(libc::epoll_create1(0)) };
    let mut connections: Vec<Connection> = (0..jobs)
        .map(|index| {
            // SAFETY: makes a descriptor.
            let event = unsafe { OwnedFd::from_raw_fd(libc::eventfd(0, libc::EFD_NONBLOCK)) };
            let mut interest = libc::epoll_event {
                events: libc::EPOLLIN as u32,
                u64: index as u64,
            };
            // SAFETY: live descriptors.
            unsafe {
                libc::epoll_ctl(
                    epoll.as_raw_fd(),
                    libc::EPOLL_CTL_ADD,
                    event.as_raw_fd(),
                    &raw mut interest,
                )
            };
            Connection {
                event: Arc::new(Event(event)),
                ticket: None,
            }
        })
        .collect();
    let started = Instant::now();
    let mut ready: Vec<usize> = (0..jobs).collect();
    let mut waiting = 0;
    while started.elapsed() < TURN || waiting > 0 {
        for index in ready.drain(..) {
            let connection = &mut connections[index];
            if let Some(ticket) = connection.ticket.take() {
                let mut count = [0_u8; 8];
                // SAFETY: a live descriptor and eight bytes.
                unsafe { libc::read(connection.event.0.as_raw_fd(), count.as_mut_ptr().cast(), 8) };
                assert!(ticket.is_done());
                ticket.collect().expect("it succeeds");
                waiting -= 1;
                operations += 1;
            }
            if started.elapsed() >= TURN {
                continue;
            }
            work(OTHER_WORK);
            if !cards {
                scalar(make());
                operations += 1;
                // The network's part: ready again the next time round.
                connection.event.notify();
                continue;
            }
            let event = Arc::clone(&connection.event);
            match card::submit(make(), || Some(event as Arc<dyn Notify>)) {
                Answer::Now(result) => {
                    result.expect("it succeeds");
                    operations += 1;
                    connection.event.notify();
                }
                Answer::Later(ticket) => {
                    connection.ticket = Some(ticket);
                    waiting += 1;
                }
            }
        }
        if waiting == 0 && started.elapsed() >= TURN {
            break; // nothing will come any more
        }
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; 64];
        // SAFETY: room for as many events as it is told.
        let count = unsafe { libc::epoll_wait(epoll.as_raw_fd(), events.as_mut_ptr(), 64, 1000) };
        for event in &events[..count.max(0) as usize] {
            let index = event.u64 as usize;
            if connections[index].ticket.is_none() {
                let mut count = [0_u8; 8];
                // SAFETY: a live descriptor and eight bytes.
                unsafe {
                    libc::read(
                        connections[index].event.0.as_raw_fd(),
                        count.as_mut_ptr().cast(),
                        8,
                    )
                };
            }
            ready.push(index);
        }
    }
    operations
}
