//! Latency: from a request's arrival to its answer, in an event loop on one processor that does nothing
//! else.
//!
//! A request that arrives while the loop is busy waits from its arrival on, asked for or not: so a path
//! that keeps the loop busy pays for all whom it makes wait. Both contenders get the same arrivals.

use std::collections::VecDeque;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use outboard_engine::card::{self, Answer, Notify, Request, Ticket};
use outboard_engine::{Path, ledger};

use crate::requests::{Make, scalar};
use crate::{in_child, median, pin};

/// How long one contender has its turn.
const TURN: Duration = Duration::from_millis(500);
/// The first one warms up.
const ROUNDS: u64 = 8;

/// When requests come.
#[derive(Clone, Copy)]
enum Load {
    /// So many clients, each asking again as soon as it is answered.
    Clients(usize),
    /// At random moments (Poisson's process), on average that share of what the scalar path can serve.
    Share(f64),
}

const ROWS: [(&str, Load); 4] = [
    ("latency, one client", Load::Clients(1)),
    ("latency, half load", Load::Share(0.5)),
    ("latency, 90 % load", Load::Share(0.9)),
    ("latency, 64 clients", Load::Clients(64)),
];

/// Prints a row for each operation and load that is wanted.
pub(crate) fn table(
    operations: &[(&'static str, Box<Make>)],
    is_wanted: impl Fn(&str, &str) -> bool,
) {
    let mut header = false;
    for (name, make) in operations {
        for (scenario, load) in ROWS {
            if !is_wanted(name, scenario) {
                continue;
            }
            if !std::mem::replace(&mut header, true) {
                println!(
                    "\nmicroseconds from arrival to answer, one core: scalar and cards, and times as long\n\
                     {:<16} {:<22} {:>10} {:>10} {:>6} {:>10} {:>10} {:>6} {:>6}",
                    "operation", "load", "median s", "c", "c/s", "99th % s", "c", "c/s", "lanes%",
                );
            }
            in_child(|| {
                pin(1);
                // SAFETY: lets this thread's sleeps end when they should, to the microsecond.
                unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1, 0, 0, 0) };
                measure(name, scenario, load, &**make);
            });
        }
    }
}

/// Median and 99th percentile, in microseconds.
type Quantiles = [f64; 2];

fn measure(name: &str, scenario: &str, load: Load, make: &Make) {
    // What the scalar path can serve.
    let service = median(serve(Load::Clients(1), &[], make, false));
    let operation = make().operation();
    let in_lanes = || {
        let counts = ledger::global().counts();
        counts.work(operation, Path::Card).operations
    };
    let mut rows = Vec::new();
    let (mut asked, before) = (0, in_lanes());
    for round in 0..ROUNDS {
        let arrivals = match load {
            Load::Clients(_) => Vec::new(),
            Load::Share(share) => at_random(round, service / share),
        };
        let mut turn = |cards| {
            let mut latencies = serve(load, &arrivals, make, cards);
            asked += if cards { latencies.len() } else { 0 };
            latencies.sort_by(f64::total_cmp);
            let at = |share: f64| latencies[((latencies.len() - 1) as f64 * share) as usize];
            [at(0.5), at(0.99)]
        };
        let (scalar, cards) = if round % 2 == 0 {
            let scalar = turn(false);
            (scalar, turn(true))
        } else {
            let cards = turn(true);
            (turn(false), cards)
        };
        if round > 0 {
            rows.push((scalar, cards));
        }
    }
    let of =
        |value: &dyn Fn(&(Quantiles, Quantiles)) -> f64| median(rows.iter().map(value).collect());
    let columns = |index: usize| {
        format!(
            "{:>10.0} {:>10.0} {:>6.2}",
            of(&|(scalar, _)| scalar[index]),
            of(&|(_, cards)| cards[index]),
            of(&|(scalar, cards)| cards[index] / scalar[index]),
        )
    };
    println!(
        "{name:<16} {scenario:<22} {} {} {:>6.0}",
        columns(0),
        columns(1),
        (in_lanes() - before) as f64 / asked as f64 * 100.0,
    );
}

/// Moments within a turn, exponentially distributed distances apart, on average so many microseconds.
fn at_random(seed: u64, distance: f64) -> Vec<Duration> {
    let mut state = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut moment = Duration::ZERO;
    let mut moments = Vec::new();
    while moment < TURN {
        // Xorshift (Marsaglia 2003).
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let uniform = ((state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        moment += Duration::from_secs_f64(-uniform.ln() * distance * 1e-6);
        moments.push(moment);
    }
    moments
}

/// Serves what comes during a turn; the latency of each in microseconds.
fn serve(load: Load, arrivals: &[Duration], make: &Make, cards: bool) -> Vec<f64> {
    let started = Instant::now();
    let mut arrivals = arrivals.iter().copied().peekable();
    let mut ready = VecDeque::new();
    if let Load::Clients(clients) = load {
        ready.resize(clients, Duration::ZERO);
    }
    let events = Arc::new(Events::new());
    let mut paused: Vec<Option<(Ticket, Duration)>> = Vec::new();
    let mut free = Vec::new();
    let mut latencies = Vec::new();
    loop {
        while let Some(arrival) = arrivals.next_if(|arrival| *arrival <= started.elapsed()) {
            ready.push_back(arrival);
        }
        let mut answer = |arrival: Duration, ready: &mut VecDeque<Duration>| {
            let now = started.elapsed();
            latencies.push((now - arrival).as_secs_f64() * 1e6);
            if matches!(load, Load::Clients(_)) && now < TURN {
                ready.push_back(now);
            }
        };
        // Those that were ready before this round, as an event loop has it.
        for _ in 0..ready.len() {
            let Some(arrival) = ready.pop_front() else {
                break;
            };
            if !cards {
                scalar(make());
                answer(arrival, &mut ready);
                continue;
            }
            let index = free.pop().unwrap_or_else(|| {
                paused.push(None);
                paused.len() - 1
            });
            match submit(make(), &events, index) {
                Answer::Now(result) => {
                    result.expect("it succeeds");
                    free.push(index);
                    answer(arrival, &mut ready);
                }
                Answer::Later(ticket) => paused[index] = Some((ticket, arrival)),
            }
        }
        let is_waiting = paused.iter().any(Option::is_some);
        if ready.is_empty() && arrivals.peek().is_none() && !is_waiting {
            return latencies;
        }
        let until = match arrivals.peek() {
            _ if !ready.is_empty() => Some(Duration::ZERO),
            Some(arrival) => Some(arrival.saturating_sub(started.elapsed())),
            None => None,
        };
        for index in events.wait(until) {
            let (ticket, arrival) = paused[index].take().expect("told once");
            assert!(ticket.is_done());
            ticket.collect().expect("it succeeds");
            free.push(index);
            answer(arrival, &mut ready);
        }
    }
}

fn submit(request: Request, events: &Arc<Events>, index: usize) -> Answer {
    card::submit(request, || Some(Arc::new(Event(Arc::clone(events), index))))
}

/// What cards tell the loop.
struct Events {
    done: Mutex<Vec<usize>>,
    descriptor: OwnedFd,
}

struct Event(Arc<Events>, usize);

impl Notify for Event {
    fn notify(&self) {
        let mut done = self.0.done.lock().unwrap_or_else(PoisonError::into_inner);
        done.push(self.1);
        drop(done);
        // SAFETY: a live descriptor and eight bytes.
        unsafe { libc::eventfd_write(self.0.descriptor.as_raw_fd(), 1) };
    }
}

impl Events {
    fn new() -> Self {
        Self {
            done: Mutex::new(Vec::new()),
            // SAFETY: makes a descriptor that is ours alone.
            descriptor: unsafe { OwnedFd::from_raw_fd(libc::eventfd(0, libc::EFD_NONBLOCK)) },
        }
    }

    /// Sleeps until something is done, or so long; what is done.
    fn wait(&self, until: Option<Duration>) -> Vec<usize> {
        let mut descriptor = libc::pollfd {
            fd: self.descriptor.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        let until = until.map(|until| libc::timespec {
            tv_sec: until.as_secs() as i64,
            tv_nsec: i64::from(until.subsec_nanos()),
        });
        let until = until.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        let mut count = 0;
        // SAFETY: a live descriptor, and variables that live.
        unsafe {
            libc::ppoll(&raw mut descriptor, 1, until, std::ptr::null());
            libc::eventfd_read(self.descriptor.as_raw_fd(), &raw mut count);
        }
        std::mem::take(&mut *self.done.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
