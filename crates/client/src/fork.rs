//! Tells this process from those that forked it.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};

/// Forks between the first process and this one, as far as they are the C library's.
static GENERATION: AtomicU32 = AtomicU32::new(0);

/// A number of this process. A child has another one, in a container of its own too, where its id may be its parent's.
pub(crate) fn process() -> u32 {
    const SPREAD: u32 = 0x9e37_79b1;
    let generation = GENERATION.load(SeqCst);
    std::process::id().wrapping_add(generation.wrapping_mul(SPREAD))
}

/// Counts the forks of this process from now on. Once is enough.
pub(crate) fn watch() {
    static WATCHED: AtomicBool = AtomicBool::new(false);
    if !WATCHED.swap(true, SeqCst) {
        // SAFETY: the function is there as long as the process: the provider's module is never unloaded. Without memory,
        // forks go unwatched; the process's id remains.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    }
}

extern "C" fn in_child() {
    GENERATION.fetch_add(1, SeqCst);
}
