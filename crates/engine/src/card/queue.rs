//! A card's queue, and what becomes of each job in it.
//!
//! ```text
//!               push                take                 finish
//!   submitter ────────▶ WAITING ──────────▶ RUNNING ──────────────▶ DONE ──▶ collect
//!                          │ cancel            │ cancel
//!                          ▼                   ▼
//!                      CANCELLED           CANCELLED (its answer is dropped)
//! ```
//!
//! Where no worker can be had, callers run what waits:
//!
//! ```text
//!   a thread      leads, if no other one does: runs a batch with its own job in it, then lets the next thread lead
//!   somebody told is prompted at once: when it comes back for its job, it runs a batch with that in it
//! ```
//!
//! A job is one allocation, shared by its submitter and whoever runs it; nothing in it points into
//! either. The answer is written by the one who took the job out of WAITING, before DONE, and read by
//! the submitter after DONE: no lock. So a job that a forked child inherited can be looked at and
//! dropped at any moment, while the queue's lock belongs to the process that made it.
//!
//! Built on `sync` alone, so that loom can try every order of events: `tests/card_model.rs`.

use std::collections::VecDeque;
use std::sync::PoisonError;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};

use super::sync::{Arc, AtomicU32, Condvar, Mutex, MutexGuard, UnsafeCell};

/// Nobody runs it yet.
const WAITING: u32 = 0;
/// Somebody runs it.
const RUNNING: u32 = 1;
/// The answer is there.
const DONE: u32 = 2;
/// The submitter wants no answer.
const CANCELLED: u32 = 3;

/// Who wants to know that a job is done.
pub(super) enum Waiter<N> {
    /// A thread, which sleeps. Not by the standard library's handle of it, which a thread that is ending
    /// no longer has: its program may sign even then.
    Thread(Bed),
    /// Somebody who is called.
    Notify(N),
}

/// Where a thread sleeps.
pub(super) struct Bed {
    /// Whether the thread is to lead.
    leads: Mutex<bool>,
    wake: Condvar,
}

/// Why a thread woke up.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Woken {
    /// Its answer is there.
    Done,
    /// It leads: it runs a batch, and calls [`Queue::pass_on`].
    Leads,
}

/// A question, and its answer when it is there.
pub(super) struct Job<Q, A, N> {
    state: AtomicU32,
    /// 1: it was told to come before the answer is there, and has not come yet.
    prompted: AtomicU32,
    /// What is asked; never changes.
    pub(super) question: Q,
    answer: UnsafeCell<Option<A>>,
    waiter: Waiter<N>,
}

// SAFETY: the answer is written by one thread alone, which won the exchange from WAITING to RUNNING,
// and read by the one submitter after it saw DONE; everything else is never changed, or atomic.
unsafe impl<Q: Send + Sync, A: Send, N: Send + Sync> Sync for Job<Q, A, N> {}
// SAFETY: it owns all it has.
unsafe impl<Q: Send, A: Send, N: Send> Send for Job<Q, A, N> {}

impl<Q, A, N> Job<Q, A, N> {
    /// A job that the calling thread will sleep for.
    pub(super) fn of_thread(question: Q) -> Self {
        let bed = Bed {
            leads: Mutex::new(false),
            wake: Condvar::new(),
        };
        Self::new(question, Waiter::Thread(bed))
    }

    /// A job whose end somebody is told.
    pub(super) fn of_notify(question: Q, notify: N) -> Self {
        Self::new(question, Waiter::Notify(notify))
    }

    fn new(question: Q, waiter: Waiter<N>) -> Self {
        Self {
            state: AtomicU32::new(WAITING),
            prompted: AtomicU32::new(0),
            question,
            answer: UnsafeCell::new(None),
            waiter,
        }
    }

    /// Makes it the caller's to run, unless it is cancelled.
    pub(super) fn take(&self) -> bool {
        self.state
            .compare_exchange(WAITING, RUNNING, AcqRel, Acquire)
            .is_ok()
    }

    /// Tells whom to tell that the submitter is to come, before the answer is there.
    pub(super) fn prompt(&self) -> Option<&N> {
        match &self.waiter {
            Waiter::Thread(_) => None,
            Waiter::Notify(notify) => Some(notify),
        }
    }

    /// Answers it and wakes its thread; returns whom else to tell. `None` tells the submitter to do it
    /// himself. For the one who took it, once.
    pub(super) fn finish(&self, answer: Option<A>) -> Option<&N> {
        // SAFETY: we took it, and it is not DONE: nobody else touches the answer.
        self.answer.with_mut(|cell| unsafe { *cell = answer });
        let was = self.state.compare_exchange(RUNNING, DONE, AcqRel, Acquire);
        match &self.waiter {
            _ if was.is_err() => None,
            Waiter::Thread(bed) => {
                // It either has not yet looked for the answer, or sleeps.
                drop(bed.lock());
                bed.wake.notify_one();
                None
            }
            // Who was told to come finds it.
            Waiter::Notify(_) if self.prompted.swap(0, AcqRel) == 1 => None,
            Waiter::Notify(notify) => Some(notify),
        }
    }

    /// Whether the answer is there.
    pub(super) fn is_done(&self) -> bool {
        self.state.load(Acquire) == DONE
    }

    /// For the submitter, which was prompted and has come. If somebody else runs the job, the submitter is told again
    /// when the job is done.
    pub(super) fn look(&self) -> Look {
        // Before the look at the state: of this and the end of `finish`, the later one sees the other.
        self.prompted.swap(0, AcqRel);
        if self.take() {
            Look::Taken
        } else if self.is_done() {
            Look::Done
        } else {
            Look::Running
        }
    }

    /// Whether a thread sleeps for it.
    pub(super) fn has_thread(&self) -> bool {
        matches!(self.waiter, Waiter::Thread(_))
    }

    /// Whether nobody wants it any more.
    pub(super) fn is_cancelled(&self) -> bool {
        self.state.load(Acquire) == CANCELLED
    }

    /// Sleeps until the answer is there or the thread leads, if a thread is to be woken. For that thread.
    pub(super) fn wait(&self) -> Woken {
        let Waiter::Thread(bed) = &self.waiter else {
            return Woken::Done;
        };
        let mut leads = bed.lock();
        loop {
            // Before the answer: a leader with an answer must pass on, too.
            if std::mem::take(&mut *leads) {
                return Woken::Leads;
            }
            if self.is_done() {
                return Woken::Done;
            }
            leads = bed.wake.wait(leads).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes the answer, if it is there. For the submitter.
    pub(super) fn collect(&self) -> Option<A> {
        if !self.is_done() {
            return None;
        }
        // SAFETY: it is DONE: who ran it does not touch the answer any more, and the submitter is one.
        self.answer.with_mut(|cell| unsafe { (*cell).take() })
    }

    /// Says that nobody wants the answer; whether nobody ran it yet, nor will. For the submitter.
    pub(super) fn cancel(&self) -> bool {
        let cancel = |state| {
            self.state
                .compare_exchange(state, CANCELLED, AcqRel, Acquire)
                .is_ok()
        };
        if cancel(WAITING) {
            return true;
        }
        cancel(RUNNING);
        false
    }
}

impl Bed {
    fn lock(&self) -> MutexGuard<'_, bool> {
        self.leads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a submitter finds that comes for its job.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// The answer is there.
    Done,
    /// Nobody had begun with it; now it is the submitter's to run.
    Taken,
    /// Somebody else runs it.
    Running,
}

type Jobs<Q, A, N> = Vec<Arc<Job<Q, A, N>>>;

/// What [`Queue::push`] wants of its caller.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Pushed {
    /// Nothing: the worker will find it.
    Queued,
    /// To start a worker: there is none.
    WantsWorker,
    /// No worker can be had. A thread now leads: it runs a batch and calls [`Queue::pass_on`]. Somebody else is to
    /// be told ([`Job::prompt`]) to come and run one.
    WantsCaller,
    /// To look elsewhere: it is full.
    Full,
    /// To look elsewhere: it ends.
    Closed,
}

/// Jobs of `KINDS` kinds, at most `DEPTH` of each waiting.
pub(super) struct Queue<J, const KINDS: usize, const DEPTH: usize> {
    trays: Mutex<Trays<J, KINDS>>,
    /// There is something to do for the worker.
    work: Condvar,
}

struct Trays<J, const KINDS: usize> {
    /// Of each kind, the oldest first, with the number of its arrival.
    of_kind: [VecDeque<(u64, Arc<J>)>; KINDS],
    arrivals: u64,
    worker: Worker,
    closed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Worker {
    None,
    Asleep,
    Awake,
    /// None can be had: callers run what waits.
    Never {
        /// A thread leads.
        led: bool,
    },
}

impl<Q, A, N, const KINDS: usize, const DEPTH: usize> Queue<Job<Q, A, N>, KINDS, DEPTH> {
    /// An empty one, without a worker; `workers`: one can be had.
    pub(super) fn new(workers: bool) -> Self {
        Self {
            trays: Mutex::new(Trays {
                of_kind: std::array::from_fn(|_| VecDeque::with_capacity(DEPTH)),
                arrivals: 0,
                worker: if workers {
                    Worker::None
                } else {
                    Worker::Never { led: false }
                },
                closed: false,
            }),
            work: Condvar::new(),
        }
    }

    /// Adds a job, and wakes the worker if it sleeps. Who is told that there is no worker must start one
    /// that calls [`Queue::wait_for_work`], or call [`Queue::do_without`].
    pub(super) fn push(&self, kind: usize, job: &Arc<Job<Q, A, N>>) -> Pushed {
        let mut trays = self.lock();
        if trays.closed {
            return Pushed::Closed;
        }
        let tray = &mut trays.of_kind[kind];
        if tray.len() >= DEPTH {
            tray.retain(|(_, job)| !job.is_cancelled());
            if tray.len() >= DEPTH {
                return Pushed::Full;
            }
        }
        let arrival = trays.arrivals;
        trays.arrivals += 1;
        trays.of_kind[kind].push_back((arrival, Arc::clone(job)));
        let worker = trays.worker;
        trays.worker = match worker {
            Worker::Never { .. } => Worker::Never { led: true },
            _ => Worker::Awake,
        };
        match worker {
            Worker::None => return Pushed::WantsWorker,
            Worker::Asleep => {
                drop(trays);
                self.work.notify_one();
            }
            Worker::Awake => {}
            Worker::Never { led } => match job.waiter {
                Waiter::Thread(_) if led => {}
                Waiter::Thread(_) => return Pushed::WantsCaller,
                Waiter::Notify(_) => {
                    trays.worker = worker;
                    job.prompted.store(1, Release);
                    return Pushed::WantsCaller;
                }
            },
        }
        Pushed::Queued
    }

    /// No worker can be had: from now on callers run what waits. A thread that waits already leads; who else waits
    /// is to be told to come.
    pub(super) fn do_without(&self) -> Jobs<Q, A, N> {
        let mut trays = self.lock();
        let mut prompted = Vec::new();
        for (_, job) in trays.of_kind.iter().flatten() {
            if let Waiter::Notify(_) = job.waiter {
                job.prompted.store(1, Release);
                prompted.push(Arc::clone(job));
            }
        }
        Self::lead(&mut trays);
        prompted
    }

    /// The thread that leads has run a batch: lets another one lead that waits, if there is one.
    pub(super) fn pass_on(&self) {
        Self::lead(&mut self.lock());
    }

    /// Lets the thread lead that waits longest.
    fn lead(trays: &mut Trays<Job<Q, A, N>, KINDS>) {
        let threads = trays.of_kind.iter().flatten().filter_map(|(arrival, job)| {
            let Waiter::Thread(bed) = &job.waiter else {
                return None;
            };
            Some((*arrival, bed))
        });
        let next = threads.min_by_key(|(arrival, _)| *arrival);
        if let Some((_, bed)) = next {
            // Under the queue's lock: while it waits in a tray, nobody can have answered it, so it sleeps or is about
            // to, and finds this.
            *bed.lock() = true;
            bed.wake.notify_one();
        }
        let led = next.is_some();
        trays.worker = Worker::Never { led };
    }

    /// Sleeps until something waits, and says how many of one kind at most. None once the queue is closed
    /// and empty: the worker ends. For the one worker.
    pub(super) fn wait_for_work(&self) -> Option<usize> {
        let mut trays = self.lock();
        loop {
            let most = trays.of_kind.iter().map(VecDeque::len).max();
            match most {
                Some(most @ 1..) => return Some(most),
                _ if trays.closed => {
                    trays.worker = Worker::None;
                    return None;
                }
                _ => trays.worker = Worker::Asleep,
            }
            trays = self
                .work
                .wait(trays)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Up to `DEPTH` jobs of one kind, that of the job which waits longest; none where none wait.
    pub(super) fn take_oldest(&self) -> (usize, Jobs<Q, A, N>) {
        let mut trays = self.lock();
        let oldest = (0..KINDS)
            .filter_map(|kind| Some((trays.of_kind[kind].front()?.0, kind)))
            .min();
        match oldest {
            Some((_, kind)) => (kind, Self::take_from(&mut trays, kind, DEPTH)),
            None => (0, Vec::new()),
        }
    }

    /// Up to `most` waiting jobs of a kind to be run together with `own`, which the caller has taken.
    pub(super) fn take_beside(
        &self,
        kind: usize,
        most: usize,
        own: &Arc<Job<Q, A, N>>,
    ) -> Jobs<Q, A, N> {
        let mut trays = self.lock();
        trays.of_kind[kind].retain(|(_, job)| !Arc::ptr_eq(job, own));
        Self::take_from(&mut trays, kind, most)
    }

    /// Takes all that waits: the worker is dead. The next push asks for another.
    pub(super) fn abandon(&self) -> Jobs<Q, A, N> {
        let mut trays = self.lock();
        trays.worker = Worker::None;
        (0..KINDS)
            .flat_map(|kind| Self::take_from(&mut trays, kind, DEPTH))
            .collect()
    }

    /// Takes no more jobs if it is to be closed, and the worker ends when it has done those that wait; else
    /// takes them again. It is asked under the lock: of two who changed what it goes by, the one who
    /// comes here last finds what both made of it.
    pub(super) fn close_if(&self, is_closed: impl FnOnce() -> bool) {
        let mut trays = self.lock();
        trays.closed = is_closed();
        drop(trays);
        self.work.notify_one();
    }

    fn take_from(
        trays: &mut Trays<Job<Q, A, N>, KINDS>,
        kind: usize,
        most: usize,
    ) -> Jobs<Q, A, N> {
        let tray = &mut trays.of_kind[kind];
        let count = most.min(tray.len());
        let jobs = tray.drain(..count).map(|(_, job)| job);
        jobs.filter(|job| job.take()).collect()
    }

    fn lock(&self) -> Guard<'_, Job<Q, A, N>, KINDS> {
        // Nothing in here panics, and a tray is whole between any two statements.
        self.trays.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type Guard<'a, J, const KINDS: usize> = MutexGuard<'a, Trays<J, KINDS>>;
