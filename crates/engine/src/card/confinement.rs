//! Whether a process has confined itself since its cards were opened.
//!
//! A filter of system calls may kill the process for the next thing that is new. What was in force when the provider
//! was loaded (a container's, a service manager's) was made for programs as they are, threads and all. What a process
//! puts on later was made for the calls that this process makes itself: it is not to start a thread then, nor to ask
//! for anything that an inline request does without.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// Whether there was a filter when cards were opened.
static FROM_THE_START: AtomicBool = AtomicBool::new(false);

/// Remembers how it is now.
pub(super) fn remember() {
    FROM_THE_START.store(is_filtered(), Relaxed);
}

/// Whether the calling thread was confined since.
pub(super) fn is_new() -> bool {
    !FROM_THE_START.load(Relaxed) && is_filtered()
}

/// Whether a filter of system calls is in force for the calling thread.
pub(super) fn is_filtered() -> bool {
    // SAFETY: asks about the calling thread.
    unsafe { libc::prctl(libc::PR_GET_SECCOMP, 0, 0, 0, 0) != 0 }
}
