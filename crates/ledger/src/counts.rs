//! Counters as plain numbers, for readers.

use std::sync::atomic::Ordering::Relaxed;

use outboard_operation::card::Kind;
use outboard_operation::{Operation, Path};
use serde::Serialize;

use super::layout::Counters;
use super::{Queueing, Reason};

/// What one operation did on one path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Work {
    /// Operations done.
    pub operations: u64,
    /// Bytes worked on.
    pub bytes: u64,
    /// How many of the operations were timed.
    pub timed_operations: u64,
    /// Bytes that the timed ones worked on.
    pub timed_bytes: u64,
    /// How long the timed ones took.
    pub nanoseconds: u64,
}

/// One line of a listing: an operation that ran on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// What was done.
    pub operation: Operation,
    /// Where.
    pub path: Path,
    /// How much.
    #[serde(flatten)]
    pub work: Work,
}

/// One line of a listing: why an operation ran elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Fallback {
    /// What was done.
    pub operation: Operation,
    /// Why elsewhere.
    pub reason: Reason,
    /// How often.
    pub count: u64,
}

/// All the counters of a process, or of several together. Sums and differences stop at the ends of
/// their range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    work: Vec<[Work; Path::ALL.len()]>,
    fallbacks: Vec<[u64; Reason::COUNT]>,
    queueing: Vec<Queueing>,
}

impl Work {
    /// The time all operations took, inferred from those that were timed (all, or of many small ones
    /// a few: see [`Tally`](super::Tally)). `None` if none was.
    pub fn estimated_nanoseconds(&self) -> Option<u64> {
        let timed = u128::from(self.timed_operations);
        (timed != 0).then(|| {
            let total = u128::from(self.nanoseconds) * u128::from(self.operations) / timed;
            u64::try_from(total).unwrap_or(u64::MAX)
        })
    }

    fn combine(&mut self, other: &Self, with: fn(u64, u64) -> u64) {
        for (ours, theirs) in [
            (&mut self.operations, other.operations),
            (&mut self.bytes, other.bytes),
            (&mut self.timed_operations, other.timed_operations),
            (&mut self.timed_bytes, other.timed_bytes),
            (&mut self.nanoseconds, other.nanoseconds),
        ] {
            *ours = with(*ours, theirs);
        }
    }
}

impl Counts {
    /// Nothing counted.
    pub fn new() -> Self {
        Self {
            work: vec![Default::default(); Operation::COUNT],
            fallbacks: vec![Default::default(); Operation::COUNT],
            queueing: vec![Queueing::default(); Kind::COUNT],
        }
    }

    /// What an operation did on a path.
    pub fn work(&self, operation: Operation, path: Path) -> Work {
        self.work[operation as usize][path as usize]
    }

    /// How often an operation ran elsewhere for that reason.
    pub fn fallbacks(&self, operation: Operation, reason: Reason) -> u64 {
        self.fallbacks[operation as usize][reason as usize]
    }

    /// What was done, without the zeros, in the order of [`Operation::ALL`].
    pub fn rows(&self) -> impl Iterator<Item = Row> {
        Operation::ALL.iter().flat_map(move |&operation| {
            Path::ALL.iter().filter_map(move |&path| {
                let work = self.work(operation, path);
                (work != Work::default()).then_some(Row {
                    operation,
                    path,
                    work,
                })
            })
        })
    }

    /// What ran elsewhere and why, without the zeros, in the order of [`Operation::ALL`].
    pub fn fallback_rows(&self) -> impl Iterator<Item = Fallback> {
        Operation::ALL.iter().flat_map(move |&operation| {
            Reason::ALL.iter().filter_map(move |&reason| {
                let count = self.fallbacks(operation, reason);
                (count != 0).then_some(Fallback {
                    operation,
                    reason,
                    count,
                })
            })
        })
    }

    /// What cards did, without the zeros, by the operations that can share the lanes; RSA is one row
    /// for each length, named by its signatures.
    pub fn queueing_rows(&self) -> impl Iterator<Item = (Operation, &Queueing)> {
        Kind::ALL
            .into_iter()
            .map(|kind| (kind.operation(), &self.queueing[kind as usize]))
            .filter(|(_, queueing)| !queueing.is_empty())
    }

    /// What cards did of the kind of an operation; none where the lanes don't do it.
    pub fn queueing(&self, operation: Operation) -> Option<&Queueing> {
        Kind::of(operation).map(|kind| &self.queueing[kind as usize])
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.rows().next().is_none()
            && self.fallback_rows().next().is_none()
            && self.queueing.iter().all(Queueing::is_empty)
    }

    /// Adds what another counted.
    pub fn add(&mut self, other: &Self) {
        self.combine(other, u64::saturating_add);
    }

    /// Takes away what was counted before.
    pub fn subtract(&mut self, earlier: &Self) {
        self.combine(earlier, u64::saturating_sub);
    }

    /// The counters as they are now.
    pub(super) fn read(counters: &Counters) -> Self {
        let mut counts = Self::new();
        for &operation in Operation::ALL {
            for &path in Path::ALL {
                let cell = counters.cell(operation, path);
                counts.work[operation as usize][path as usize] = Work {
                    operations: cell.operations.load(Relaxed),
                    bytes: cell.bytes.load(Relaxed),
                    timed_operations: cell.timed_operations.load(Relaxed),
                    timed_bytes: cell.timed_bytes.load(Relaxed),
                    nanoseconds: cell.nanoseconds.load(Relaxed),
                };
            }
            for &reason in Reason::ALL {
                counts.fallbacks[operation as usize][reason as usize] =
                    counters.fallback(operation, reason).load(Relaxed);
            }
        }
        for kind in Kind::ALL {
            counts.queueing[kind as usize] = Queueing::read(counters.queueing(kind));
        }
        counts
    }

    fn combine(&mut self, other: &Self, with: fn(u64, u64) -> u64) {
        let work = self.work.iter_mut().flatten();
        for (ours, theirs) in work.zip(other.work.iter().flatten()) {
            ours.combine(theirs, with);
        }
        let fallbacks = self.fallbacks.iter_mut().flatten();
        for (ours, &theirs) in fallbacks.zip(other.fallbacks.iter().flatten()) {
            *ours = with(*ours, theirs);
        }
        for (ours, theirs) in self.queueing.iter_mut().zip(&other.queueing) {
            ours.combine(theirs, with);
        }
    }
}

impl Default for Counts {
    fn default() -> Self {
        Self::new()
    }
}
