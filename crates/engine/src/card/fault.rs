//! A panic in the next batch, for tests of what becomes of its jobs. Not in a release.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

static PLANTED: AtomicU32 = AtomicU32::new(0);

/// Lets that many batches of this process panic, as they are run.
pub fn plant(batches: u32) {
    PLANTED.store(batches, Relaxed);
}

/// How many of them still will.
pub fn planted() -> u32 {
    PLANTED.load(Relaxed)
}

pub(super) fn strike() {
    let struck = PLANTED.fetch_update(Relaxed, Relaxed, |batches| batches.checked_sub(1));
    if struck.is_ok() {
        // Without the hook's message: tests read what programs print.
        std::panic::resume_unwind(Box::new("planted"));
    }
}
