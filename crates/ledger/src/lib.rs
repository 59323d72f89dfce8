//! The ledger: what every process did, counted where its path was decided.
//!
//! ```text
//!   process A ─┐ record, Tally                        ┌─▶ Snapshot ─▶ outboard stats, run --proof
//!   process B ─┼──────────────▶ /dev/shm/outboard.UID ┤
//!   its child ─┘  (one mapping, an entry each)        └─▶ reset
//! ```
//!
//! One file per user, of fixed size, mapped by every process that [`open`]s the ledger, before it confines
//! itself. A process, a forked child too, takes an entry of it at its first count, without a system call
//! that a sandbox could refuse (`getpid` alone): most programs that load the provider never count.
//! Counting is a relaxed addition to memory: no lock, no allocation, safe at any moment of a `fork`.
//!
//! Where the file can't be used, a process counts in its own memory and says nothing;
//! [`Ledger::status`] knows why.
//!
//! Do not truncate the file while programs use it (they would die of a bus error): [`reset`] it, or
//! remove it.

mod counts;
mod error;
mod image;
mod layout;
mod queueing;
mod reason;
mod reference;
mod snapshot;
mod tally;

use std::fmt;
use std::path::{Path as FilePath, PathBuf};
use std::sync::atomic::Ordering::{AcqRel, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::time::Duration;

use once_cell::race::OnceBox;
use outboard_operation::card::Kind;
use outboard_operation::{Operation, Path};
use outboard_shared_memory::{self as shared_memory, Signature, Ticket, process};

pub use counts::{Counts, Fallback, Row, Work};
pub use error::LedgerError;
pub use queueing::{Card, CardCounters, CardStatus, Histogram, Queueing};
pub use reason::Reason;
pub use reference::ReferenceHeld;
pub use snapshot::{Process, Program, Snapshot, all_paths, default_path, reset};
pub use tally::Tally;

use layout::{Counters, Image, Local, PROCESSES};

/// Makes the file at `path` the ledger of this process, unless it has one already. Never fails: the
/// returned ledger's [`status`](Ledger::status) says where it counts. Each call wants one [`close`].
pub fn open(path: &FilePath) -> &'static Ledger {
    OPENERS.fetch_add(1, Relaxed);
    global_or(|| Ledger::open(path))
}

/// Says that the caller of [`open`] counts no more. After the last one the process gives up its entry;
/// should it count again, it takes another.
pub fn close() {
    let remaining = OPENERS.fetch_update(AcqRel, Relaxed, |openers| openers.checked_sub(1));
    if remaining == Ok(1) {
        global().close();
    }
}

/// The ledger of this process. Before [`open`], it becomes a private one, and stays so.
pub fn global() -> &'static Ledger {
    global_or(Ledger::private)
}

/// Counts one operation in the ledger of this process. See [`Ledger::record`].
pub fn record(operation: Operation, path: Path, bytes: u64, time: Duration) {
    global().record(operation, path, bytes, time);
}

/// Counts one operation in the ledger of this process. See [`Ledger::count`].
pub fn count(operation: Operation, path: Path) {
    global().count(operation, path);
}

/// Counts one fallback in the ledger of this process. See [`Ledger::fall_back`].
pub fn fall_back(operation: Operation, reason: Reason) {
    global().fall_back(operation, reason);
}

/// Set once, and never freed. No lock: a `fork` in another thread would leave it locked in the child.
static GLOBAL: OnceBox<Ledger> = OnceBox::new();
static OPENERS: AtomicUsize = AtomicUsize::new(0);

#[inline]
fn global_or(make: impl FnOnce() -> Ledger) -> &'static Ledger {
    GLOBAL.get_or_init(|| Box::new(make()))
}

/// Where one process counts. Its memory stays mapped until the process ends.
pub struct Ledger {
    shared: Option<&'static Image>,
    local: &'static Local,
    status: Status,
    /// Looked up while that is still allowed, for the children too.
    comm: [u8; 16],
    /// Whether this process, or one that forked it, ever counted.
    is_used: AtomicBool,
}

/// Where a ledger counts, and why.
#[derive(Debug)]
pub enum Status {
    /// In the file, for all to see.
    Shared(PathBuf),
    /// In the process's own memory; because of the error, if the file was wanted.
    Private(Option<LedgerError>),
}

impl Ledger {
    /// The ledger in the file at `path`, made if there is none; a private one where that is
    /// impossible. Most callers want [`open`].
    pub fn open(path: &FilePath) -> Self {
        match shared_memory::shared::<Image>(path) {
            Ok(image) => {
                let ledger = Self::new(Some(image), Status::Shared(path.into()));
                if !image.entries.has_room() {
                    image.collect_dead();
                }
                ledger
            }
            Err(error) => Self::new(None, Status::Private(Some(error))),
        }
    }

    /// A ledger that nobody but this process sees.
    pub fn private() -> Self {
        Self::new(None, Status::Private(None))
    }

    fn new(shared: Option<&'static Image>, status: Status) -> Self {
        /// In case that even a few pages can't be mapped. A forked child does not find it empty; but
        /// then nobody else sees it.
        static SPARE: Local = Local::new();
        Self {
            shared,
            local: shared_memory::local().unwrap_or(&SPARE),
            status,
            comm: process::program_name(),
            is_used: AtomicBool::new(false),
        }
    }

    /// Counts one operation: the bytes it worked on (0 where that means nothing) and the time it took.
    /// About 10 ns; for many small operations see [`Tally`].
    pub fn record(&self, operation: Operation, path: Path, bytes: u64, time: Duration) {
        self.add(
            operation,
            path,
            &Work {
                operations: 1,
                bytes,
                timed_operations: 1,
                timed_bytes: bytes,
                nanoseconds: nanoseconds(time),
            },
        );
    }

    /// Counts one operation without its time: to read the clock twice would cost a tenth of a microsecond's work.
    pub fn count(&self, operation: Operation, path: Path) {
        let one = Work {
            operations: 1,
            ..Work::default()
        };
        self.add(operation, path, &one);
    }

    /// Counts one operation that ran elsewhere than on the fastest path, and why.
    pub fn fall_back(&self, operation: Operation, reason: Reason) {
        self.counters()
            .fallback(operation, reason)
            .fetch_add(1, Relaxed);
    }

    /// Where a card of this process counts that kind of request.
    pub fn card(&self, card: usize, kind: Kind) -> CardCounters {
        let own = self.ticket().entry().filter(|index| *index < PROCESSES);
        let cards = match (self.shared, own) {
            (Some(image), Some(index)) => &image.cards[index],
            _ => &self.local.cards,
        };
        CardCounters {
            card: &cards[card],
            kind: self.counters().queueing(kind),
        }
    }

    /// Where this ledger counts.
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// What this process counted so far, wherever. (A program without an entry of its own sees what
    /// all processes of its name counted.)
    pub fn counts(&self) -> Counts {
        Counts::read(self.counters())
    }

    /// Gives this process's entry up. Should it count again, it takes another.
    pub fn close(&self) {
        if !self.is_used.load(Relaxed) {
            return; // and leave memory alone that nobody has touched
        }
        if let Some(ticket) = self.local.ticket.take() {
            self.release(ticket);
        }
    }

    fn add(&self, operation: Operation, path: Path, work: &Work) {
        let cell = self.counters().cell(operation, path);
        cell.operations.fetch_add(work.operations, Relaxed);
        if work.bytes != 0 {
            cell.bytes.fetch_add(work.bytes, Relaxed);
        }
        if work.timed_operations != 0 {
            cell.timed_operations
                .fetch_add(work.timed_operations, Relaxed);
            cell.timed_bytes.fetch_add(work.timed_bytes, Relaxed);
            cell.nanoseconds.fetch_add(work.nanoseconds, Relaxed);
        }
    }

    /// Where this process counts now.
    fn counters(&self) -> &'static Counters {
        match (self.shared, self.ticket().entry()) {
            (Some(image), Some(index)) => &image.counters[index],
            _ => &self.local.private,
        }
    }

    /// This process's ticket; a new one if it has none yet.
    fn ticket(&self) -> Ticket {
        self.local.ticket.get().unwrap_or_else(|| self.claim())
    }

    /// Takes an entry. Here, and only here, runs what a process does at its first count, perhaps confined
    /// already: `getpid`, the clock (vDSO) and memory.
    #[cold]
    fn claim(&self) -> Ticket {
        self.is_used.store(true, Relaxed);
        let signature = Signature::now(self.comm);
        let index = self.shared.map(|image| image.claim(&signature));
        let ticket = Ticket::new(signature.claimed, index);
        match self.local.ticket.set(ticket) {
            Ok(()) => ticket,
            Err(of_another_thread) => {
                self.release(ticket);
                of_another_thread
            }
        }
    }

    fn release(&self, ticket: Ticket) {
        if let (Some(image), Some(index)) = (self.shared, ticket.entry()) {
            image.entries.release(index, process::id());
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shared(path) => write!(f, "counting in {}", path.display()),
            Self::Private(None) => f.write_str("counting privately"),
            Self::Private(Some(error)) => write!(f, "counting privately: {error}"),
        }
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
