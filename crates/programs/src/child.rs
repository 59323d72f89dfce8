//! A child of this very process, for tests of what a fork does to a library.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::{Duration, Instant};

/// A child that takes longer has stuck in a lock that its parent's threads held.
const PATIENCE: Duration = Duration::from_secs(30);

/// Forks; whether `body` came to its end in the child with `true`. The child then leaves at once, without what a
/// program does at its exit; a body that wants that calls `exit` itself.
///
/// # Panics
/// If the system refuses to fork.
pub fn ends_well(body: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child uses what is fit for use after a fork, and leaves without unwinding.
    let child = match unsafe { libc::fork() } {
        -1 => panic!("cannot fork: {}", std::io::Error::last_os_error()),
        0 => {
            let well = catch_unwind(AssertUnwindSafe(body)).unwrap_or(false);
            // SAFETY: ends the child at once.
            unsafe { libc::_exit(i32::from(!well)) }
        }
        child => child,
    };
    let begun = Instant::now();
    let mut status = 0;
    loop {
        // SAFETY: waits for a child of ours.
        match unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } {
            0 if begun.elapsed() < PATIENCE => thread::sleep(Duration::from_micros(200)),
            0 => {
                // SAFETY: ends a child of ours.
                unsafe { libc::kill(child, libc::SIGKILL) };
            }
            _ => return libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0,
        }
    }
}
