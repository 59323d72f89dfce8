//! Children that do something and end.

use std::thread;
use std::time::{Duration, Instant};

use outboard_libcrypto::Error;

/// A child that takes longer has stuck in a lock that its parent's threads held.
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs `body` in a child; whether it came to a good end.
pub(crate) fn fork_and_wait(body: impl FnOnce() -> Result<(), Error>) -> bool {
    // SAFETY: the child uses what is fit for use after a fork, and leaves without unwinding.
    match unsafe { libc::fork() } {
        -1 => panic!("cannot fork: {}", std::io::Error::last_os_error()),
        0 => {
            let well = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
            // SAFETY: ends the child at once.
            unsafe { libc::_exit(i32::from(!matches!(well, Ok(Ok(()))))) }
        }
        child => {
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
    }
}
