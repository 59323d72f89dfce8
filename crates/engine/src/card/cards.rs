//! The cards of one process, and the workers behind them.
//!
//! A forked child makes its own at its first request: it has none of its parent's threads, and must
//! not touch a lock that one of them may have held.

use std::ptr;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize};
use std::time::Instant;

use once_cell::race::OnceBox;

use super::controller::Controller;
use super::queue::{self, Pushed};
use super::{BreakEven, DEPTH, Kind, MOST, Notify, Output, Request, Settings};
use super::{alone, confinement, stack, worker};
use crate::error::Result;
use crate::fork;
use crate::ledger::{self, CardCounters, CardStatus, Reason};

/// What a job asks.
pub(super) struct Question {
    pub(super) request: Request,
    pub(super) kind: Kind,
    pub(super) since: Instant,
}

pub(super) type Job = queue::Job<Question, Result<Output>, Arc<dyn Notify>>;
/// A job that a card has, or the answer.
pub(super) type Submitted = std::result::Result<(Arc<Job>, &'static Card), Result<Output>>;
pub(super) type Queue = queue::Queue<Job, { Kind::COUNT }, DEPTH>;

/// One queue and its worker.
pub(super) struct Card {
    index: usize,
    pub(super) queue: Queue,
    /// Jobs that it accepted and that are not answered yet.
    pub(super) pending: AtomicU32,
    /// It has no worker, nor will it have one: callers run what waits.
    without_worker: AtomicBool,
}

/// All cards of a process.
pub(super) struct Cards {
    pub(super) process: u64,
    settings: Settings,
    /// The most cards; not asked before requests come together.
    limit: OnceBox<usize>,
    /// A worker could not be started: no more is tried.
    without_workers: AtomicBool,
    cards: [OnceBox<Card>; MOST],
    controllers: [Controller; Kind::COUNT],
    in_flight: [AtomicU32; Kind::COUNT],
    /// Tells threads apart: the address of something that each has for itself.
    first_thread: AtomicUsize,
    is_concurrent: AtomicBool,
    /// Those of the process that forked this one: what is left of them stays where it is.
    _inherited: *mut Cards,
}

// SAFETY: `_inherited` is never followed; all else is `Sync`.
unsafe impl Sync for Cards {}
// SAFETY: as above.
unsafe impl Send for Cards {}

static CURRENT: AtomicPtr<Cards> = AtomicPtr::new(ptr::null_mut());
static SETTINGS: OnceBox<Settings> = OnceBox::new();
static OPENERS: AtomicUsize = AtomicUsize::new(0);
/// The processors that the process might use when cards were opened: a sandbox may kill for the question.
static PROCESSORS: AtomicUsize = AtomicUsize::new(1);

pub(super) fn open(settings: Settings) {
    // Workers may stand in what a child would wait for.
    fork::watch();
    SETTINGS.get_or_init(|| {
        confinement::remember();
        PROCESSORS.store(processors(), Relaxed);
        if super::are_there() {
            stack::prepare();
        }
        Box::new(settings)
    });
    if OPENERS.fetch_add(1, AcqRel) == 0 {
        close_if_unwanted();
    }
}

pub(super) fn close() {
    let openers = OPENERS.fetch_update(AcqRel, Relaxed, |openers| openers.checked_sub(1));
    if openers == Ok(1) {
        close_if_unwanted();
    }
}

/// Closes the cards, or opens them again.
fn close_if_unwanted() {
    if let Some(cards) = existing() {
        let is_unwanted = || OPENERS.load(Acquire) == 0;
        cards
            .started()
            .for_each(|card| card.queue.close_if(is_unwanted));
    }
}

/// What is done in the lanes alone, if this process may use them, with cards or without.
pub(super) fn break_even() -> Option<&'static BreakEven> {
    let is_open = OPENERS.load(Relaxed) > 0 && super::are_there();
    is_open
        .then(|| SETTINGS.get())
        .flatten()
        .map(|settings| &settings.break_even)
}

/// The cards of this process, if it may have any.
pub(super) fn current() -> Option<&'static Cards> {
    if OPENERS.load(Relaxed) == 0 {
        return None;
    }
    let settings = SETTINGS.get()?;
    if settings.limit == Some(0) || !super::are_there() {
        return None;
    }
    existing().or_else(|| make(settings))
}

/// The cards that this process has made.
fn existing() -> Option<&'static Cards> {
    // SAFETY: null, or from `Box::into_raw` and never freed.
    let cards = unsafe { CURRENT.load(Acquire).as_ref() }?;
    (cards.process == fork::process()).then_some(cards)
}

#[cold]
fn make(settings: &Settings) -> Option<&'static Cards> {
    let inherited = CURRENT.load(Acquire);
    let ours = Box::into_raw(Box::new(Cards {
        process: fork::process(),
        settings: settings.clone(),
        limit: OnceBox::new(),
        without_workers: AtomicBool::new(false),
        cards: [const { OnceBox::new() }; MOST],
        controllers: [const { Controller::new() }; Kind::COUNT],
        in_flight: [const { AtomicU32::new(0) }; Kind::COUNT],
        first_thread: AtomicUsize::new(0),
        is_concurrent: AtomicBool::new(false),
        _inherited: inherited,
    }));
    if CURRENT
        .compare_exchange(inherited, ours, AcqRel, Acquire)
        .is_err()
    {
        // Another thread of this process was first.
        // SAFETY: ours was shared with nobody.
        drop(unsafe { Box::from_raw(ours) });
    }
    existing()
}

/// The processors that this thread may run on.
fn processors() -> usize {
    // SAFETY: a set of bits, all of them zero.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: writes at most as many bytes as the set has.
    let answer = unsafe { libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) };
    if answer != 0 {
        return 1; // more processors than the set has bits for, or a sandbox
    }
    // SAFETY: reads the set.
    (unsafe { libc::CPU_COUNT(&set) } as usize).max(1)
}

/// What a thread can be told by.
fn this_thread() -> usize {
    thread_local!(static MARK: u8 = const { 0 });
    MARK.with(|mark| ptr::from_ref(mark) as usize)
}

impl Card {
    /// Whether callers run what waits.
    pub(super) fn is_without_worker(&self) -> bool {
        self.without_worker.load(Acquire)
    }

    /// A job becomes this card's.
    pub(super) fn adopt(&self, cards: &Cards, kind: Kind) {
        self.pending.fetch_add(1, Relaxed);
        cards.in_flight[kind as usize].fetch_add(1, Relaxed);
        self.counters(kind).accept();
    }

    /// A job of this card needs no answer any more; the caller counts why.
    pub(super) fn settle(&self, cards: &Cards, kind: Kind) -> CardCounters {
        self.pending.fetch_sub(1, Relaxed);
        cards.in_flight[kind as usize].fetch_sub(1, Relaxed);
        self.counters(kind)
    }

    /// Where it counts.
    pub(super) fn counters(&self, kind: Kind) -> CardCounters {
        ledger::global().card(self.index, kind)
    }

    /// Says what its worker does.
    pub(super) fn show(&self, status: CardStatus) {
        self.counters(Kind::Rsa2048).status(status);
    }
}

impl Cards {
    /// Runs the request at once where that is best, else queues it. `has_other_work`: the caller does
    /// something else meanwhile. `job` makes the job that a card will have.
    pub(super) fn submit(
        &'static self,
        request: Request,
        kind: Kind,
        has_other_work: bool,
        job: impl FnOnce(Question) -> std::result::Result<Job, Request>,
    ) -> Submitted {
        if !self.may_have_company(has_other_work) {
            return Err(self.alone(&request, kind, Reason::Single));
        }
        let break_even = &self.settings.break_even;
        let enough = match has_other_work {
            true => break_even.of_queue(kind),
            false => break_even.of_threads(kind),
        };
        let is_queued = enough <= DEPTH;
        let is_worth_it = is_queued
            && (self.in_flight[kind as usize].load(Relaxed) > 0
                || self.controllers[kind as usize].wants());
        if !is_worth_it {
            return Err(self.alone(&request, kind, Reason::Alone));
        }
        let question = Question {
            request,
            kind,
            since: Instant::now(),
        };
        let job = match job(question) {
            Ok(job) => Arc::new(job),
            Err(request) => return Err(self.alone(&request, kind, Reason::Alone)),
        };
        let Some(mut card) = self.least_pending(has_other_work) else {
            return Err(self.alone_in(&job, Reason::Alone));
        };
        let mut pushed = self.push(card, kind, &job);
        if pushed == Pushed::Full {
            for other in self.started() {
                pushed = self.push(other, kind, &job);
                if pushed != Pushed::Full {
                    card = other;
                    break;
                }
            }
        }
        match pushed {
            Pushed::Queued => Ok((job, card)),
            Pushed::WantsWorker => {
                if !worker::start(self, card) {
                    self.do_without_workers(card);
                }
                Ok((job, card))
            }
            Pushed::WantsCaller if job.has_thread() => {
                worker::lead(self, card, &job);
                Ok((job, card))
            }
            Pushed::WantsCaller => {
                worker::tell_to_come(&job);
                Ok((job, card))
            }
            Pushed::Full => Err(self.help(card, &job)),
            Pushed::Closed => Err(self.alone_in(&job, Reason::Alone)),
        }
    }

    /// Queues the request in a card without a worker, for callers that come for it of their own accord; runs it at once where
    /// a queue never pays.
    pub(super) fn leave(&'static self, request: Request, kind: Kind) -> Submitted {
        /// Nobody is told.
        struct Nobody;
        impl Notify for Nobody {
            fn notify(&self) {}
        }
        if self.settings.break_even.of_queue(kind) > DEPTH {
            return Err(self.alone(&request, kind, Reason::Alone));
        }
        let question = Question {
            request,
            kind,
            since: Instant::now(),
        };
        let job = Arc::new(Job::of_notify(question, Arc::new(Nobody)));
        // The last one: others have workers, where there are so many.
        let card = self.card(MOST - 1, true);
        match self.push(card, kind, &job) {
            Pushed::Full => Err(self.help(card, &job)),
            Pushed::Closed => Err(self.alone_in(&job, Reason::Alone)),
            _ => Ok((job, card)),
        }
    }

    fn card(&self, index: usize, without_worker: bool) -> &Card {
        self.cards[index].get_or_init(|| {
            let card = Card {
                index,
                queue: Queue::new(!without_worker),
                pending: AtomicU32::new(0),
                without_worker: AtomicBool::new(without_worker),
            };
            if without_worker {
                card.show(CardStatus::Callers);
            }
            Box::new(card)
        })
    }

    fn push(&self, card: &Card, kind: Kind, job: &Arc<Job>) -> Pushed {
        // Before the worker could have it done.
        card.adopt(self, kind);
        let pushed = card.queue.push(kind as usize, job);
        if matches!(pushed, Pushed::Full | Pushed::Closed) {
            card.settle(self, kind).refuse();
        }
        pushed
    }

    /// Whether there can be more requests than one at a time. In a process of one thread that always
    /// waits for its result there can't, and it never gets a second thread from us.
    fn may_have_company(&self, has_other_work: bool) -> bool {
        if self.is_concurrent.load(Relaxed) {
            return true;
        }
        let us = this_thread();
        let first = self
            .first_thread
            .compare_exchange(0, us, Relaxed, Relaxed)
            .unwrap_or_else(|first| first);
        let is_concurrent = has_other_work || first != 0 && first != us;
        if is_concurrent {
            self.is_concurrent.store(true, Relaxed);
        }
        is_concurrent
    }

    /// The card with the fewest jobs, of as many as the jobs in flight fill. Where callers run the batches, those that
    /// have other work meanwhile share one card: each of them takes all that waits there.
    fn least_pending(&self, has_other_work: bool) -> Option<&Card> {
        let without_worker = self.without_workers.load(Relaxed);
        let in_flight: u32 = self.in_flight.iter().map(|count| count.load(Relaxed)).sum();
        let wanted = if without_worker && has_other_work {
            1
        } else {
            (in_flight as usize / DEPTH + 1).min(self.limit())
        };
        (0..wanted)
            .map(|index| self.card(index, without_worker))
            .min_by_key(|card| card.pending.load(Relaxed))
    }

    fn limit(&self) -> usize {
        let limit = || match self.settings.limit {
            Some(limit) => limit,
            None if confinement::is_new() => PROCESSORS.load(Relaxed),
            None => processors(),
        };
        *self.limit.get_or_init(|| Box::new(limit().clamp(1, MOST)))
    }

    /// The process may start no thread: callers run what waits in this card, and in all that are still to come.
    fn do_without_workers(&self, card: &Card) {
        self.without_workers.store(true, Relaxed);
        card.without_worker.store(true, Release);
        worker::do_without(card);
    }

    pub(super) fn started(&self) -> impl Iterator<Item = &Card> {
        self.cards.iter().filter_map(OnceBox::get)
    }

    /// The fewest filled lanes that beat the scalar path.
    pub(super) fn break_even(&self, kind: Kind) -> usize {
        self.settings.break_even.of_lanes(kind)
    }

    /// Every card is full: runs this job with others that wait, which makes room.
    fn help(&self, card: &Card, job: &Arc<Job>) -> Result<Output> {
        // Not queued, so ours alone: this always succeeds.
        job.take();
        card.adopt(self, job.question.kind);
        worker::help(self, card, job);
        match job.collect() {
            Some(result) => result,
            None => alone::scalar(&job.question.request, Some(Reason::CardFull)),
        }
    }

    /// Runs a request that has no company, for that reason.
    pub(super) fn alone(&self, request: &Request, kind: Kind, reason: Reason) -> Result<Output> {
        alone::run(request, kind, &self.settings.break_even, reason)
    }

    fn alone_in(&self, job: &Job, reason: Reason) -> Result<Output> {
        self.alone(&job.question.request, job.question.kind, reason)
    }

    /// A batch came out.
    pub(super) fn observe(&self, kind: Kind, filled: usize) {
        let pays = filled >= self.settings.break_even.of_queue(kind);
        self.controllers[kind as usize].observe(filled, pays);
    }
}
