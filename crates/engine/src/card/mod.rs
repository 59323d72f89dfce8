//! Paths `card` and `wide`: requests that come together share the eight lanes; one alone has all of them.
//!
//! ```text
//!   run, submit ──alone──▶ wide, scalar or one lane, on the caller's thread
//!        │
//!        └──in company──▶ card: a tray of eight places for each kind ──▶ worker ──▶ lanes
//!                           │ all are taken                                │ fewer than pay
//!                           └──▶ the caller runs a batch, his among it     └──▶ scalar, one by one
//! ```
//!
//! Group commit, never a timer: a free worker takes what waits, at once, and while it runs the next
//! batch gathers. Who is alone runs alone: whether there is company is learnt from the requests
//! themselves (`controller.rs`).
//!
//! ```text
//! request.rs     what can be asked; rsa.rs, ec.rs, x25519.rs, ed25519.rs: on each path
//! alone.rs       one without company: path `wide`
//! queue.rs       jobs and their states             controller.rs  whether a queue pays now
//! cards.rs       the cards of a process            worker.rs      who runs the batches
//! confinement.rs whether a thread may be started  tables.rs, stack.rs, sync.rs   what these stand on
//! ```

mod alone;
mod cards;
mod confinement;
mod controller;
mod ec;
pub mod ed25519;
#[cfg(debug_assertions)]
pub mod fault;
mod queue;
mod request;
pub mod rsa;
pub(crate) mod stack;
mod sync;
mod tables;
mod worker;
mod x25519;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

pub use outboard_operation::card::{DEPTH, Kind, MOST};
pub use outboard_profile::BreakEven;
pub use request::{Output, Request};

use crate::Operation;
use crate::error::Result;
use crate::fork;
use crate::ledger::Reason;
use cards::{Card, Cards, Job};
use queue::{Look, Woken};

/// What a process lets its cards do.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The most cards; 0: none, all runs inline. `None`: as many as the processors that the process may
    /// run on. Never more than [`MOST`].
    pub limit: Option<usize>,
    /// When the lanes pay.
    pub break_even: BreakEven,
}

/// Lets this process have cards. No thread is made before the first request that is worth one. Each call
/// wants one [`close`]; the settings of the first one count.
pub fn open(settings: Settings) {
    cards::open(settings);
}

/// Says that the caller of [`open`] asks for nothing more. After the last one, workers end when they
/// have answered what they accepted; requests run inline.
pub fn close() {
    cards::close();
}

/// Whether there are requests of that operation: whether the lanes do it.
pub const fn takes(operation: Operation) -> bool {
    Kind::of(operation).is_some()
}

/// Whether this processor has the lanes that cards are made of, or this build something in their place.
pub fn are_there() -> bool {
    cfg!(any(feature = "stand-in-lanes", feature = "emulated-lanes")) || outboard_lanes::available()
}

/// What [`submit`] did.
pub enum Answer {
    /// It was done on this thread.
    Now(Result<Output>),
    /// A card has it.
    Later(Ticket),
}

/// How a card tells that a [`Ticket`] is worth a look ([`Ticket::is_done`]): the answer is there, or the card has no
/// worker and the answer can be collected all the same. Called once, and once more for each look that found
/// nothing; by any thread, perhaps before [`submit`] has returned; must neither block nor panic.
pub trait Notify: Send + Sync {
    /// Tells it.
    fn notify(&self);
}

/// Runs a request, and counts it in the ledger on the path that it took. May sleep while a card has
/// it.
///
/// # Errors
/// As the same operation of [`scalar`](crate::scalar).
pub fn run(request: Request) -> Result<Output> {
    match enter(request, false, |question| Ok(Job::of_thread(question))) {
        Answer::Now(result) => result,
        Answer::Later(ticket) => ticket.collect(),
    }
}

/// Runs a request at once where that is best, else gives it to a card; counts it in the ledger on the
/// path that it took. `notify` is only asked for where a card will have it; without one (`None`) the
/// request runs at once.
///
/// For callers that do something else meanwhile. Needs no more stack than the scalar path.
pub fn submit(request: Request, notify: impl FnOnce() -> Option<Arc<dyn Notify>>) -> Answer {
    enter(request, true, |question| match notify() {
        Some(notify) => Ok(Job::of_notify(question, notify)),
        None => Err(question.request),
    })
}

/// Gives a request to a card without a worker, where cards are worth it for its kind; else runs it at once. The caller comes
/// for the answer of its own accord ([`Ticket::is_done`]): who comes first runs all that waits there, on its own thread. So one
/// thread that leaves eight requests before it comes fills the lanes.
pub fn leave(request: Request) -> Answer {
    let (Some(kind), Some(cards)) = (request.kind(), cards::current()) else {
        return enter(request, true, |question| Err(question.request));
    };
    answer(cards, cards.leave(request, kind))
}

fn enter(
    request: Request,
    has_other_work: bool,
    job: impl FnOnce(cards::Question) -> std::result::Result<Job, Request>,
) -> Answer {
    let Some(kind) = request.kind() else {
        return Answer::Now(alone::scalar(&request, None));
    };
    let Some(cards) = cards::current() else {
        return Answer::Now(match cards::break_even() {
            Some(break_even) => alone::run(&request, kind, break_even, Reason::Alone),
            None => alone::scalar(&request, None),
        });
    };
    answer(cards, cards.submit(request, kind, has_other_work, job))
}

fn answer(cards: &'static Cards, submitted: cards::Submitted) -> Answer {
    match submitted {
        Ok((job, card)) => Answer::Later(Ticket {
            job,
            card,
            cards,
            taken: AtomicBool::new(false),
        }),
        Err(result) => Answer::Now(result),
    }
}

/// A request that a card has. Dropping it cancels the request: nobody is notified of it any more but
/// who is being notified at that moment.
pub struct Ticket {
    job: Arc<Job>,
    card: &'static Card,
    cards: &'static Cards,
    /// The job is this ticket's to run: nobody else does.
    taken: AtomicBool,
}

impl Ticket {
    /// Whether [`collect`](Ticket::collect) has nothing to wait for. In a child forked meanwhile always:
    /// it does the work itself then. Where a card has no worker, too, unless somebody does the work at this moment:
    /// then `collect` does it, and with it that of others that wait. So whoever asks should have been told, and
    /// have let others come meanwhile.
    pub fn is_done(&self) -> bool {
        self.job.is_done() || self.is_inherited() || self.is_taken()
    }

    /// Whether the caller is to run the job; if it can be, it is from now on.
    fn is_taken(&self) -> bool {
        if self.taken.load(Relaxed) {
            return true;
        }
        if !self.card.is_without_worker() || self.job.has_thread() {
            return false;
        }
        let look = self.job.look();
        self.taken.store(look == Look::Taken, Relaxed);
        look != Look::Running
    }

    /// The result. A thread of [`run`] sleeps until it is there; who has other work should have asked
    /// [`is_done`](Ticket::is_done): if it is not there, the work is done once more, here.
    ///
    /// # Errors
    /// As the same operation of [`scalar`](crate::scalar).
    pub fn collect(self) -> Result<Output> {
        if !self.is_inherited() {
            if self.is_taken() && self.taken.load(Relaxed) {
                worker::help(self.cards, self.card, &self.job);
            }
            while self.job.wait() == Woken::Leads {
                worker::lead(self.cards, self.card, &self.job);
            }
        }
        match self.job.collect() {
            Some(result) => result,
            // The card died, or is another process's.
            None => alone::scalar(&self.job.question.request, None),
        }
    }

    fn is_inherited(&self) -> bool {
        fork::process() != self.cards.process
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let is_taken = self.taken.load(Relaxed) && !self.job.is_done();
        if (self.job.cancel() || is_taken) && !self.is_inherited() {
            self.card
                .settle(self.cards, self.job.question.kind)
                .cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::c_void;
    use std::panic::catch_unwind;
    use std::ptr;
    use std::sync::atomic::Ordering::SeqCst;
    use std::sync::atomic::{AtomicBool, AtomicU32};
    use std::thread;

    use super::queue;

    /// A program may sign in the destructor of a key of its own (`pthread_key_create`), even after all that is
    /// thread-local to Rust is gone: the system calls these destructors again where they set their key anew.
    #[test]
    fn a_thread_that_is_ending_can_wait() {
        static ANSWERED: AtomicBool = AtomicBool::new(false);
        static KEY: AtomicU32 = AtomicU32::new(0);
        /// `PTHREAD_DESTRUCTOR_ITERATIONS`
        const LAST_ROUND: usize = 4;
        extern "C" fn at_end(round: *mut c_void) {
            if round.addr() < LAST_ROUND {
                let next = ptr::without_provenance(round.addr() + 1);
                // SAFETY: a key of ours.
                unsafe { libc::pthread_setspecific(KEY.load(SeqCst), next) };
                return;
            }
            let ask = || {
                let job = queue::Job::<_, _, ()>::of_thread("a question");
                thread::scope(|scope| {
                    scope.spawn(|| assert!(job.take() && job.finish(Some("an answer")).is_none()));
                    job.wait();
                });
                job.collect() == Some("an answer")
            };
            ANSWERED.store(catch_unwind(ask).unwrap_or(false), SeqCst);
        }
        let ended = thread::spawn(|| {
            let mut key = 0;
            // SAFETY: the function and the value live as long as the process.
            unsafe {
                assert_eq!(libc::pthread_key_create(&raw mut key, Some(at_end)), 0);
                let value = ptr::without_provenance(1);
                KEY.store(key, SeqCst);
                assert_eq!(libc::pthread_setspecific(key, value), 0);
            }
            // So that there is a handle to be destroyed.
            thread::current().id()
        });
        assert!(ended.join().is_ok() && ANSWERED.load(SeqCst));
    }
}
