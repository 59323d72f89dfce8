//! A program whose sandbox kills it for every system call that it does not make itself lives: what Outboard needs is
//! asked for when it is loaded, and done without after that.

#![allow(clippy::unwrap_used)] // in helpers too, not only in the tests themselves

mod common;

use std::path::Path;
use std::rc::Rc;

use common::abilities::Keys;
use common::jobs::{is_ready, rsa, signing, wait_for_any};
use outboard_engine::Operation;
use outboard_engine::ledger::Snapshot;
use outboard_measure::Sides;
use outboard_programs::{child, sandbox};

/// What OpenSSH's confined child may call, and what it is refused (`sandbox-seccomp-filter.c` of 9.2 to 10.2); for
/// all else it is killed.
const OPENSSH: [&[libc::c_long]; 2] = [
    &[
        libc::SYS_brk,
        libc::SYS_clock_gettime,
        libc::SYS_close,
        libc::SYS_exit,
        libc::SYS_exit_group,
        libc::SYS_futex,
        libc::SYS_geteuid,
        libc::SYS_getpgid,
        libc::SYS_getpid,
        libc::SYS_getrandom,
        libc::SYS_gettimeofday,
        libc::SYS_getuid,
        libc::SYS_madvise,
        libc::SYS_mmap,
        libc::SYS_mprotect,
        libc::SYS_mremap,
        libc::SYS_munmap,
        libc::SYS_nanosleep,
        libc::SYS_clock_nanosleep,
        libc::SYS_poll,
        libc::SYS_pselect6,
        libc::SYS_read,
        libc::SYS_rt_sigprocmask,
        libc::SYS_select,
        libc::SYS_shutdown,
        libc::SYS_time,
        libc::SYS_write,
    ],
    &[
        libc::SYS_lstat,
        libc::SYS_fstat,
        libc::SYS_open,
        libc::SYS_openat,
        libc::SYS_newfstatat,
        libc::SYS_stat,
        libc::SYS_shmget,
        libc::SYS_shmat,
        libc::SYS_shmdt,
    ],
];

/// As OpenSSH does it, but for these besides.
fn confine(besides: &[libc::c_long]) {
    let [allowed, refused] = OPENSSH;
    sandbox::allow_and_refuse(&[allowed, besides].concat(), refused).unwrap();
}

#[test]
fn nobody_is_killed_for_what_is_new() {
    let sides = common::sides();
    // Of a parent that has made keys and no more, and of one that has done everything.
    alone(&sides);
    assert_eq!(Keys::new(&sides.outboard).abilities(), [true; 7]);
    alone(&sides);
    threads_share_the_lanes(&sides);
    jobs_share_the_lanes(&sides);
}

/// Each operation on the caller's thread, in one lane or none.
fn alone(sides: &Sides) {
    let ours = Keys::new(&sides.outboard);
    assert!(child::ends_well(|| {
        confine(&[]);
        // The tables of a single lane are built after 256 requests.
        ours.sign_often(300);
        ours.abilities() == [true; 7]
    }));
}

/// Requests that share a card: threads that were there before the sandbox.
fn threads_share_the_lanes(sides: &Sides) {
    const THREADS: usize = 8;
    let ours = Keys::new(&sides.outboard);
    let ledger = sides.configurations().ledger();
    let before = queued(&ledger);
    assert!(child::ends_well(|| {
        let start = std::sync::Barrier::new(THREADS);
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    // Whoever has threads may ask about them; and these are Rust's, whose end makes a call.
                    confine(&[libc::SYS_prctl, libc::SYS_sigaltstack]);
                    start.wait();
                    for _ in 0..40 {
                        assert_eq!(ours.abilities(), [true; 7]);
                    }
                });
            }
        });
        true
    }));
    if common::has_lanes() {
        assert!(queued(&ledger) > before);
    }
}

/// Requests that share a card: asynchronous jobs of one thread.
fn jobs_share_the_lanes(sides: &Sides) {
    let key = Rc::new(rsa(&sides.outboard));
    let library = sides.outboard.library().clone();
    let ledger = sides.configurations().ledger();
    let before = queued(&ledger);
    assert!(child::ends_well(|| {
        // What an event loop with jobs calls itself, and what a job is made with.
        confine(&[libc::SYS_prctl, libc::SYS_eventfd2, libc::SYS_fcntl]);
        let mut jobs: Vec<_> = (0..16).map(|_| signing(&library, &key, 20)).collect();
        while jobs.iter().any(|(job, _)| job.result().is_none()) {
            let paused = jobs.iter().map(|(job, _)| job);
            wait_for_any(
                &paused
                    .filter(|job| job.result().is_none())
                    .collect::<Vec<_>>(),
            );
            let ready = jobs.iter_mut().map(|(job, _)| job);
            for job in ready.filter(|job| job.result().is_none() && is_ready(job)) {
                job.resume().unwrap();
            }
        }
        jobs.iter()
            .all(|(_, signatures)| signatures.borrow().len() == 20)
    }));
    if common::has_lanes() {
        assert!(queued(&ledger) > before);
    }
}

/// How many RSA signatures cards accepted.
fn queued(ledger: &Path) -> u64 {
    let total = Snapshot::read(ledger).unwrap().total();
    let rsa = total.queueing(Operation::Rsa2048Sign);
    rsa.map_or(0, |work| work.accepted)
}
