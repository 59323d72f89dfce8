//! Forks while threads of the process end.
//!
//! What AWS-LC keeps for a thread is taken off a list when the thread ends, and all of that list is
//! wiped when a process ends. Without libcrypto, whose own lock around the end of a thread can keep a
//! child from exiting.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use outboard_engine::fork;
use outboard_engine::scalar::ec::{Curve, Key, MAX_SIGNATURE_LENGTH};
use outboard_programs::child;

const THREADS: usize = 4;
const FORKS: usize = 2_000;

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
        // The child exits as a program does.
        let sign_and_exit = || -> bool {
            let failed = sign().is_err();
            // SAFETY: the child has one thread.
            unsafe { libc::exit(i32::from(failed)) }
        };
        let lost = (0..FORKS).find(|_| !child::ends_well(sign_and_exit));
        stop.store(true, Ordering::Relaxed);
        lost
    });
    assert_eq!(lost, None, "the first child that failed or stuck");
}
