//! Who runs the batches: a card's worker; a caller who found it full; callers alone, where no worker can be had.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;
use std::time::Instant;

use super::cards::{Card, Cards, Job};
use super::{DEPTH, Kind, Output, Request, confinement, stack, tables};
use crate::Path;
use crate::error::Result;
use crate::ledger::{self, CardCounters, CardStatus, Reason};

/// Starts a card's worker; whether there is one now: the process may have a limit on threads, or may have confined
/// itself. All signals are blocked in it: they are the program's.
pub(super) fn start(cards: &'static Cards, card: &'static Card) -> bool {
    if confinement::is_new() {
        return false;
    }
    let signals = Signals::block();
    let is_there = spawn(Box::new((cards, card)));
    drop(signals);
    is_there
}

/// A worker's two arguments.
type Both = (&'static Cards, &'static Card);

/// Starts the thread; whether it is there. By the C library: a thread of Rust's has a handle in memory that does not come
/// from the module's allocator, and where there is none that ends the program.
fn spawn(both: Box<Both>) -> bool {
    const STACK: usize = 1 << 20;
    extern "C" fn body(both: *mut c_void) -> *mut c_void {
        // SAFETY: from `Box::into_raw`, and given to this thread alone.
        let (cards, card) = *unsafe { Box::from_raw(both.cast::<Both>()) };
        // SAFETY: this thread, and a name of less than 16 bytes.
        unsafe { libc::pthread_setname_np(libc::pthread_self(), c"outboard-card".as_ptr()) };
        // No panic may leave; what waits is given back by then.
        let _ = catch_unwind(AssertUnwindSafe(|| work(cards, card)));
        ptr::null_mut()
    }
    let both = Box::into_raw(both);
    // SAFETY: attributes that live for the calls, and an argument that the thread owns if there is one.
    let made = unsafe {
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        let mut thread: libc::pthread_t = std::mem::zeroed();
        libc::pthread_attr_init(&raw mut attributes) == 0
            && libc::pthread_attr_setstacksize(&raw mut attributes, STACK) == 0
            && libc::pthread_attr_setdetachstate(&raw mut attributes, libc::PTHREAD_CREATE_DETACHED)
                == 0
            && libc::pthread_create(&raw mut thread, &raw const attributes, body, both.cast()) == 0
    };
    if !made {
        // SAFETY: nobody else has it.
        drop(unsafe { Box::from_raw(both) });
    }
    made
}

/// The body of the worker: batches until the card is closed, or one panics.
fn work(cards: &'static Cards, card: &'static Card) {
    be_polite();
    while let Some(waiting) = card.queue.wait_for_work() {
        if waiting < DEPTH {
            // Whoever could run in our place may bring more. If nobody can, this returns at once.
            std::thread::yield_now();
        }
        let (kind, jobs) = card.queue.take_oldest();
        if jobs.is_empty() {
            continue; // cancelled, or a caller helped
        }
        card.show(CardStatus::Busy);
        let mut batch = Batch::new(cards, card, Kind::ALL[kind], jobs);
        if catch_unwind(AssertUnwindSafe(|| batch.run())).is_err() {
            batch.give_back();
            give_up(cards, card);
            return;
        }
        card.show(CardStatus::Idle);
    }
    card.show(CardStatus::Closed);
}

/// The worker died: all that waits goes back to those who asked, and the next request starts another.
fn give_up(cards: &Cards, card: &Card) {
    card.show(CardStatus::Died);
    for job in card.queue.abandon() {
        let kind = job.question.kind;
        Batch::new(cards, card, kind, vec![job]).give_back();
    }
}

/// No worker can be had: callers run what waits, from now on.
pub(super) fn do_without(card: &Card) {
    card.show(CardStatus::Callers);
    for job in card.queue.do_without() {
        tell_to_come(&job);
    }
}

/// Lets the submitter know that it should come for its job, for no worker will.
pub(super) fn tell_to_come(job: &Job) {
    if let Some(notify) = job.prompt() {
        notify.notify();
    }
}

/// A thread leads: runs its own job, if nobody else has begun with it, and what waits; then another thread leads.
pub(super) fn lead(cards: &Cards, card: &Card, job: &Arc<Job>) {
    if job.take() {
        help(cards, card, job);
    }
    card.queue.pass_on();
}

/// Runs a job that the caller has taken, with others that wait, on the caller's thread, but on a stack of ours. Nobody
/// is told of the caller's own.
pub(super) fn help(cards: &Cards, card: &Card, own: &Arc<Job>) {
    let kind = own.question.kind;
    let mut jobs = card.queue.take_beside(kind as usize, DEPTH - 1, own);
    jobs.insert(0, Arc::clone(own));
    let mut batch = Batch {
        own: Some(own),
        ..Batch::new(cards, card, kind, jobs)
    };
    let run = || catch_unwind(AssertUnwindSafe(|| batch.run()));
    if !matches!(stack::on_own(run), Some(Ok(()))) {
        batch.give_back();
    }
}

/// Jobs of one kind, taken to be run.
struct Batch<'a> {
    cards: &'a Cards,
    card: &'a Card,
    kind: Kind,
    jobs: Vec<Arc<Job>>,
    /// How many of them were answered.
    answered: usize,
    /// The caller's, of which nobody is told.
    own: Option<&'a Arc<Job>>,
}

impl<'a> Batch<'a> {
    fn new(cards: &'a Cards, card: &'a Card, kind: Kind, jobs: Vec<Arc<Job>>) -> Self {
        Self {
            cards,
            card,
            kind,
            jobs,
            answered: 0,
            own: None,
        }
    }

    /// Runs them in the lanes where so many win, else one by one.
    fn run(&mut self) {
        #[cfg(debug_assertions)]
        super::fault::strike();
        let filled = self.jobs.len();
        let started = Instant::now();
        let win = filled >= self.cards.break_even(self.kind) && tables::build(self.kind, false);
        let mut results = Vec::new();
        if win {
            let requests = self.jobs.iter().map(|job| &job.question.request);
            results = Request::in_lanes(&requests.collect::<Vec<_>>());
        }
        self.cards.observe(self.kind, filled);
        results.resize_with(filled, || None);
        let in_lanes = results.iter().flatten().count();
        let time = started.elapsed();
        let share = time / u32::try_from(in_lanes).unwrap_or(1).max(1);
        let counters = self.card.counters(self.kind);
        // Before anybody is told: who is told may look.
        if win {
            counters.run(in_lanes > 0, time);
        }
        for result in results {
            let question = &self.jobs[self.answered].question;
            let (request, in_lanes) = (&question.request, result.is_some());
            let (answer, since) = match result {
                Some(output) => {
                    ledger::record(request.operation(), Path::Card, 0, share);
                    (Ok(output), started)
                }
                None => {
                    let since = Instant::now();
                    let answer = match win {
                        true => super::alone::scalar(request, Some(Reason::Error)),
                        false => self.cards.alone(request, self.kind, Reason::Alone),
                    };
                    (answer, since)
                }
            };
            let (wait, service) = (
                since.saturating_duration_since(question.since),
                since.elapsed(),
            );
            if !in_lanes {
                counters.run(false, service);
            }
            self.settle().answer(in_lanes, wait, service);
            self.tell(Some(answer));
        }
    }

    /// Lets those who asked do themselves what was not answered.
    fn give_back(&mut self) {
        while self.answered < self.jobs.len() {
            let operation = self.jobs[self.answered].question.request.operation();
            ledger::fall_back(operation, Reason::CardDied);
            self.settle().give_back();
            self.tell(None);
        }
    }

    /// The next one is about to be answered.
    fn settle(&mut self) -> CardCounters {
        self.answered += 1;
        self.card.settle(self.cards, self.kind)
    }

    /// Answers the last one settled.
    fn tell(&mut self, answer: Option<Result<Output>>) {
        let job = &self.jobs[self.answered - 1];
        let is_own = self.own.is_some_and(|own| Arc::ptr_eq(own, job));
        if let Some(notify) = job.finish(answer)
            && !is_own
        {
            notify.notify();
        }
    }
}

/// Lets the scheduler know that we are no hurry: when a caller wakes us it may go on, and give us more,
/// until it has nothing else to do. Left out where a filter of system calls might mind.
fn be_polite() {
    if !confinement::is_filtered() {
        let none = libc::sched_param { sched_priority: 0 };
        // SAFETY: the calling thread (0), to a policy that everybody may have.
        unsafe { libc::sched_setscheduler(0, libc::SCHED_BATCH, &raw const none) };
    }
}

/// The signals that were not blocked before.
struct Signals(libc::sigset_t);

impl Signals {
    /// Blocks all signals in this thread until it is dropped.
    fn block() -> Self {
        // SAFETY: a set of bits; both calls write to the set that they are given.
        unsafe {
            let mut all: libc::sigset_t = std::mem::zeroed();
            let mut before: libc::sigset_t = std::mem::zeroed();
            libc::sigfillset(&raw mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
            Self(before)
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // SAFETY: the set that was in force.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, ptr::null_mut());
        }
    }
}
