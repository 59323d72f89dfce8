//! How soon answers come: whether a thread asks for one again and again, or sleeps until it is woken.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use outboard_wire::Operation;
use outboard_wire::haste::{Haste, NEXT};

/// How long an operation takes.
#[derive(Clone, Copy)]
pub(crate) enum Pace {
    /// A verb of the coprocessor.
    Verb,
    /// Shorter than it takes to wake a thread.
    Quick,
    Slow,
}

impl Pace {
    pub(crate) fn of(operation: &Operation<'_>) -> Self {
        match operation {
            Operation::Verb { .. } => Self::Verb,
            Operation::Ecdsa { .. } | Operation::Ecdh { .. } | Operation::Ed25519 { .. } => {
                Self::Quick
            }
            _ => Self::Slow,
        }
    }
}

/// What a process learned.
pub(crate) struct Paces {
    verbs: Haste,
    quick: Haste,
    /// When a quick operation was answered last, in microseconds since `begin`; 0: never.
    answered: AtomicU64,
    begin: Instant,
}

impl Paces {
    pub(crate) fn new() -> Self {
        Self {
            verbs: Haste::default(),
            quick: Haste::default(),
            answered: AtomicU64::new(0),
            begin: Instant::now(),
        }
    }

    /// What says whether an answer is asked for again and again; none where it is waited for.
    pub(crate) fn haste(&self, pace: Pace) -> Option<&Haste> {
        match pace {
            Pace::Verb => Some(&self.verbs),
            Pace::Quick if self.is_awaited() => Some(&self.quick),
            Pace::Quick | Pace::Slow => None,
        }
    }

    /// An answer came.
    pub(crate) fn answered(&self, pace: Pace) {
        if matches!(pace, Pace::Quick) {
            self.answered.store(self.now(), Relaxed);
        }
    }

    /// Whether the service may still ask for this process's next request again and again. Otherwise its worker must be woken first,
    /// which takes so long that this thread may sleep, too.
    fn is_awaited(&self) -> bool {
        let answered = self.answered.load(Relaxed);
        answered != 0 && u128::from(self.now().saturating_sub(answered)) < NEXT.as_micros()
    }

    fn now(&self) -> u64 {
        self.begin.elapsed().as_micros() as u64
    }
}
