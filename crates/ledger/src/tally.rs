//! Counting many small operations for next to nothing.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use outboard_operation::{Operation, Path};
use outboard_shared_memory::Ticket;

use super::layout::Local;
use super::{Ledger, Work, global, nanoseconds};

/// Counts the operations of one cipher context, and passes them on to the ledger in groups: at most
/// 64, at most a mebibyte, and at most a sixteenth of all it has counted, so that little is missing if
/// the program leaves without freeing the context. Dropping passes on the rest.
///
/// Some operations want to be timed: the fourth of its kind in a process (the first would tell what
/// it costs to wake up), then more and more rarely, down to one in 256: reading the clock twice costs
/// as much as sealing 16 bytes. Contexts that live for one message go on where the last one stopped.
///
/// ```
/// # use std::time::{Duration, Instant};
/// # use outboard_ledger::Tally;
/// # use outboard_operation::{Operation, Path};
/// let mut tally = Tally::new(Operation::Aes128GcmSeal, Path::Scalar);
/// let started = tally.wants_time().then(Instant::now);
/// // … seal 16 bytes …
/// match started {
///     None => tally.count(16),
///     Some(started) => tally.count_timed(16, started.elapsed()),
/// }
/// ```
///
/// What a context had counted but not passed on when the process forked is the parent's: the child
/// leaves it out.
pub struct Tally {
    ledger: &'static Ledger,
    local: &'static Local,
    /// Whose `pending` is.
    ticket: Ticket,
    pending: Work,
    /// Passed on so far.
    passed: u64,
    /// Pending operations are passed on when there are so many.
    enough: u64,
    /// Times one when so many are pending.
    time_at: u64,
    /// And the next so many later.
    interval: u64,
    operation: Operation,
    path: Path,
}

/// How many operations lie between two that are timed, at first and at last.
const FIRST_INTERVAL: u64 = 4;
const LAST_INTERVAL: u64 = 256;
const MOST_OPERATIONS: u64 = 64;
const MOST_BYTES: u64 = 1 << 20;

impl Tally {
    /// Counts in the ledger of this process.
    pub fn new(operation: Operation, path: Path) -> Self {
        Self::of(global(), operation, path)
    }

    /// Counts in that ledger.
    pub fn of(ledger: &'static Ledger, operation: Operation, path: Path) -> Self {
        let local = ledger.local;
        let turn = match local.turns[operation as usize].load(Relaxed) {
            0 => FIRST_INTERVAL - 1,
            turn => turn,
        };
        Self {
            ledger,
            local,
            ticket: Ticket::NOBODY,
            pending: Work::default(),
            passed: 0,
            enough: 1,
            time_at: turn & u64::from(u32::MAX),
            interval: (turn >> 32).max(FIRST_INTERVAL),
            operation,
            path,
        }
    }

    /// Whether the next operation should be timed.
    #[inline]
    pub fn wants_time(&self) -> bool {
        self.pending.operations >= self.time_at
    }

    /// Counts an operation on that many bytes.
    #[inline]
    pub fn count(&mut self, bytes: u64) {
        if self.local.ticket.get() != Some(self.ticket) {
            self.begin();
        }
        self.pending.operations += 1;
        self.pending.bytes = self.pending.bytes.wrapping_add(bytes);
        if self.pending.operations >= self.enough || self.pending.bytes >= MOST_BYTES {
            self.flush();
        }
    }

    /// Counts an operation that was timed.
    #[cold]
    pub fn count_timed(&mut self, bytes: u64, time: Duration) {
        if self.local.ticket.get() != Some(self.ticket) {
            self.begin();
        }
        self.pending.timed_operations += 1;
        self.pending.timed_bytes = self.pending.timed_bytes.wrapping_add(bytes);
        self.pending.nanoseconds = self.pending.nanoseconds.wrapping_add(nanoseconds(time));
        self.time_at = self.pending.operations + self.interval;
        self.interval = (self.interval * 5 / 4).min(LAST_INTERVAL);
        self.count(bytes);
    }

    /// Passes on what is pending.
    #[cold]
    pub fn flush(&mut self) {
        if self.pending.operations != 0 && self.local.ticket.get() == Some(self.ticket) {
            self.ledger.add(self.operation, self.path, &self.pending);
            self.passed += self.pending.operations;
            self.enough = (self.passed / 16).clamp(1, MOST_OPERATIONS);
            self.time_at = self.time_at.saturating_sub(self.pending.operations);
            let turn = self.interval << 32 | self.time_at;
            self.local.turns[self.operation as usize].store(turn, Relaxed);
        }
        self.pending = Work::default();
    }

    /// Starts anew, in the name of the process that this is now.
    #[cold]
    fn begin(&mut self) {
        self.ticket = self.ledger.ticket();
        self.pending = Work::default();
        self.passed = 0;
        self.enough = 1;
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        self.flush();
    }
}
