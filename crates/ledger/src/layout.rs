//! What a ledger looks like in memory, word by word.
//!
//! ```text
//! Image (a file of exactly this size)
//! ├─ header     identity (magic, version, sizes), creation time, fold counters
//! ├─ entries    0 … 127: one running process each; 128 … 159: what ended, one program each
//! ├─ counters   0 … 159: the counters of the entry of that index
//! └─ cards      0 … 127: the cards of the process of that index
//!
//! Local (anonymous, private to one process; a forked child finds it zeroed)
//! ├─ ticket     which entry this process counts in
//! ├─ turns      how far the next timed operation is
//! ├─ private    where it counts when there is no file
//! └─ cards      and its cards
//! ```
//!
//! Every word is an `AtomicU64`, for which every bit pattern is valid: whatever a file holds, it can
//! be read as an `Image` without harm. Zero is the empty state of everything.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use outboard_operation::card::{self, Kind};
use outboard_operation::{Operation, Path};
use outboard_shared_memory::{
    Beginning, Entries, FileError, Format, Identity, Plain, TicketCell, Words, process,
};

use super::Reason;
use super::error::WORDS;
use super::queueing::Histogram;

/// Raise when the meaning of any word changes. New operations and reasons need no new version
/// while they fit: a reader that does not know them passes over them.
pub(super) const VERSION: u64 = 4;

/// "OUTBOARD" in the machine's own byte order: a file from another one is refused.
const MAGIC: u64 = u64::from_be_bytes(*b"OUTBOARD");

/// How many running processes have a place of their own.
pub(super) const PROCESSES: usize = 128;
/// How many programs that ended are told apart; the last place is for all others.
const PROGRAMS: usize = 32;
const ENTRIES: usize = PROCESSES + PROGRAMS;
/// The entry where all programs that found no place of their own are added up.
pub(super) const OTHERS: usize = Entries::<PROCESSES, PROGRAMS>::OTHERS;

const OPERATIONS: usize = 64;
const PATHS: usize = 4;
const REASONS: usize = 16;
/// Kinds of requests that cards take.
const KINDS: usize = 16;

const _: () = assert!(Operation::COUNT <= OPERATIONS && Path::ALL.len() <= PATHS);
const _: () = assert!(Reason::COUNT <= REASONS && Kind::COUNT <= KINDS);
const _: () = assert!(size_of::<Image>().is_multiple_of(64));

/// The whole file.
#[repr(C, align(64))]
pub(super) struct Image {
    pub(super) header: Header,
    pub(super) entries: Entries<PROCESSES, PROGRAMS>,
    pub(super) counters: [Counters; ENTRIES],
    pub(super) cards: [Cards; PROCESSES],
}

/// The cards of one process.
pub(super) type Cards = [CardCell; card::MOST];

#[repr(C, align(64))]
pub(super) struct Header {
    identity: Identity<8>,
    /// Nanoseconds since 1970.
    pub(super) created: AtomicU64,
    /// A reader that finds both unchanged and equal saw no counter on its way from one place to
    /// another.
    pub(super) folds_begun: AtomicU64,
    pub(super) folds_done: AtomicU64,
}

/// The counters of one process, or of a program that ended.
#[repr(C, align(64))]
pub(super) struct Counters {
    work: [[Cell; PATHS]; OPERATIONS],
    fallbacks: [[AtomicU64; REASONS]; OPERATIONS],
    queueing: [QueueCell; KINDS],
}

/// What one operation did on one path.
#[repr(C)]
pub(super) struct Cell {
    pub(super) operations: AtomicU64,
    pub(super) bytes: AtomicU64,
    pub(super) timed_operations: AtomicU64,
    pub(super) timed_bytes: AtomicU64,
    pub(super) nanoseconds: AtomicU64,
}

/// What one card did.
#[repr(C, align(64))]
pub(super) struct CardCell {
    /// A `CardStatus`; 0 before it was started.
    pub(super) status: AtomicU64,
    pub(super) pending: AtomicU64,
    /// Nanoseconds since boot.
    pub(super) started: AtomicU64,
    pub(super) work: QueueCell,
}

/// What became of queued requests: see `Queueing`.
#[repr(C)]
pub(super) struct QueueCell {
    pub(super) accepted: AtomicU64,
    pub(super) batches: AtomicU64,
    pub(super) in_lanes: AtomicU64,
    pub(super) one_by_one: AtomicU64,
    pub(super) cancelled: AtomicU64,
    pub(super) returned: AtomicU64,
    pub(super) busy: AtomicU64,
    pub(super) wait: Times,
    pub(super) service: Times,
}

/// A histogram's steps.
#[repr(transparent)]
pub(super) struct Times(pub(super) [AtomicU64; Histogram::STEPS]);

/// What a process knows about itself; zeroed in a forked child (see `outboard_shared_memory::local`).
#[repr(C, align(64))]
pub(super) struct Local {
    /// Zero before the first count.
    pub(super) ticket: TicketCell,
    /// Per operation: how many remain to be done before one is timed again; above that, how many the
    /// next time.
    pub(super) turns: [AtomicU64; OPERATIONS],
    pub(super) private: Counters,
    pub(super) cards: Cards,
}

impl Header {
    const IDENTITY: [u64; 8] = [
        MAGIC,
        VERSION,
        size_of::<Image>() as u64,
        PROCESSES as u64,
        PROGRAMS as u64,
        OPERATIONS as u64,
        PATHS as u64,
        REASONS as u64,
    ];

    /// The fold counters.
    pub(super) fn folds(&self) -> (u64, u64) {
        (
            self.folds_begun.load(Relaxed),
            self.folds_done.load(Relaxed),
        )
    }
}

impl Beginning for Header {
    fn initialise(&self) {
        self.identity.store(Self::IDENTITY);
        self.created.store(process::since_epoch(), Relaxed);
    }

    fn check(&self) -> Result<(), FileError> {
        self.identity.check(Self::IDENTITY)
    }
}

impl Format for Image {
    type Beginning = Header;
    const WORDS: &'static Words = WORDS;
}

impl Counters {
    pub(super) fn cell(&self, operation: Operation, path: Path) -> &Cell {
        &self.work[operation as usize][path as usize]
    }

    pub(super) fn fallback(&self, operation: Operation, reason: Reason) -> &AtomicU64 {
        &self.fallbacks[operation as usize][reason as usize]
    }

    pub(super) fn queueing(&self, kind: Kind) -> &QueueCell {
        &self.queueing[kind as usize]
    }

    /// Every counter, also those for which there is no name yet.
    pub(super) fn words(&self) -> impl Iterator<Item = &AtomicU64> {
        let work = self.work.iter().flatten().flat_map(|cell| {
            [
                &cell.operations,
                &cell.bytes,
                &cell.timed_operations,
                &cell.timed_bytes,
                &cell.nanoseconds,
            ]
        });
        work.chain(self.fallbacks.iter().flatten())
            .chain(self.queueing.iter().flat_map(QueueCell::words))
    }
}

impl QueueCell {
    fn words(&self) -> impl Iterator<Item = &AtomicU64> {
        [
            &self.accepted,
            &self.batches,
            &self.in_lanes,
            &self.one_by_one,
            &self.cancelled,
            &self.returned,
            &self.busy,
        ]
        .into_iter()
        .chain(&self.wait.0)
        .chain(&self.service.0)
    }
}

impl CardCell {
    /// Makes it as if it had never been started.
    pub(super) fn clear(&self) {
        // Looked at first: to write even a zero takes a page of its own.
        if self.status.load(Relaxed) != 0 {
            [&self.status, &self.pending, &self.started]
                .into_iter()
                .chain(self.work.words())
                .for_each(|word| word.store(0, Relaxed));
        }
    }
}

// SAFETY: `repr(C)`, and every field is an `AtomicU64` or an array or `Plain` struct of them.
unsafe impl Plain for Image {}
// SAFETY: as above.
unsafe impl Plain for Header {}
// SAFETY: as above.
unsafe impl Plain for Counters {}
// SAFETY: as above.
unsafe impl Plain for QueueCell {}
// SAFETY: as above.
unsafe impl Plain for Local {}

impl Local {
    pub(super) const fn new() -> Self {
        // SAFETY: `Plain`: all-zero is a valid value.
        unsafe { std::mem::zeroed() }
    }
}
