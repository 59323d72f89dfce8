//! The service's cards: each worker is one. An administrator may set one offline, and sees what each does.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use outboard_administration::CardInfo;
use outboard_engine::card::DEPTH;

/// A worker, as a card: it takes what waits, and runs it in the lanes where that pays.
pub(crate) struct Card {
    is_offline: AtomicBool,
    /// Requests that it has taken and not answered yet.
    pending: AtomicU64,
    /// Operations that it did.
    operations: AtomicU64,
    batches: AtomicU64,
    /// Operations that its batches did.
    in_lanes: AtomicU64,
    busy_nanoseconds: AtomicU64,
    since: Instant,
}

impl Card {
    /// A card that has done nothing yet.
    pub(crate) fn new() -> Self {
        Self {
            is_offline: AtomicBool::new(false),
            pending: AtomicU64::new(0),
            operations: AtomicU64::new(0),
            batches: AtomicU64::new(0),
            in_lanes: AtomicU64::new(0),
            busy_nanoseconds: AtomicU64::new(0),
            since: Instant::now(),
        }
    }

    /// Whether it takes batches. One that is offline runs its requests alone.
    pub(crate) fn is_online(&self) -> bool {
        !self.is_offline.load(Relaxed)
    }

    /// Sets it online or offline: from the next request on.
    pub(crate) fn set_online(&self, online: bool) {
        self.is_offline.store(!online, Relaxed);
    }

    /// It has so many requests now.
    pub(crate) fn has(&self, requests: usize) {
        self.pending.store(requests as u64, Relaxed);
    }

    /// It has answered one of its requests, by an operation or a refusal.
    pub(crate) fn answered(&self, done: bool) {
        self.pending.fetch_sub(1, Relaxed);
        self.operations.fetch_add(done.into(), Relaxed);
    }

    /// A batch of its did so many operations.
    pub(crate) fn ran_in_lanes(&self, operations: usize) {
        self.batches.fetch_add(1, Relaxed);
        self.in_lanes.fetch_add(operations as u64, Relaxed);
    }

    /// It has been busy since then.
    pub(crate) fn was_busy(&self, since: Instant) {
        let busy = since.elapsed().as_nanos().try_into().unwrap_or(u64::MAX);
        self.busy_nanoseconds.fetch_add(busy, Relaxed);
    }

    /// What it tells of itself.
    pub(crate) fn info(&self, number: usize) -> CardInfo {
        CardInfo {
            number,
            online: self.is_online(),
            pending: self.pending.load(Relaxed),
            depth: DEPTH,
            operations: self.operations.load(Relaxed),
            batches: self.batches.load(Relaxed),
            in_lanes: self.in_lanes.load(Relaxed),
            busy_nanoseconds: self.busy_nanoseconds.load(Relaxed),
            nanoseconds: self
                .since
                .elapsed()
                .as_nanos()
                .try_into()
                .unwrap_or(u64::MAX),
        }
    }
}
