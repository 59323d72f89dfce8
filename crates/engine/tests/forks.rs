//! Forks while threads of the process end.
//!
//! What AWS-LC keeps for a thread is taken off a list when the thread ends, and all of that list is
//! wiped when a process ends. Without libcrypto, whose own lock around the end of a thread can keep a
//! child from exiting.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use outboard_engine::fork;
use outboard_engine::scalar::ec::{Curve, Key, MAX_SIGNATURE_LENGTH};

const THREADS: usize = 4;
const FORKS: usize = 2_000;
/// A child that takes longer has stuck in a lock that its parent's threads held.
const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn no_fork_cuts_the_end_of_a_thread() {
    fork::watch();
    let key = Key::generate(Curve::P256).expect("there is randomness");
    let sign = || key.sign(&[7; 32], &mut [0; MAX_SIGNATURE_LENGTH]);

    let stop = AtomicBool::new(false);
    let lost = thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let signed = thread::scope(|scope| scope.spawn(sign).join());
                    assert!(signed.is_ok_and(|signed| signed.is_ok()));
                }
            });
        }
        let lost = (0..FORKS).find(|_| !exits_well(|| sign().is_ok()));
        stop.store(true, Ordering::Relaxed);
        lost
    });
    assert_eq!(lost, None, "the first child that failed or stuck");
}

/// Runs `body` in a child, which then exits as a program does; whether both went well.
fn exits_well(body: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child uses what is fit for use after a fork, and leaves without unwinding.
    let child = match unsafe { libc::fork() } {
        -1 => panic!("cannot fork: {}", std::io::Error::last_os_error()),
        // SAFETY: the child has one thread.
        0 => unsafe { libc::exit(i32::from(!body())) },
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
