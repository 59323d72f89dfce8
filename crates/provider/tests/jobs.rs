//! OpenSSL's asynchronous jobs: paused while a card works, resumed early, blocked, dropped, forked. How they
//! share the lanes is in `jobs_in_lanes.rs`.
//!
//! Where the processor has no lanes, jobs never pause, and most of this only checks results.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::ffi::{c_int, c_void};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use common::jobs::{DIGEST, PATIENCE, is_right, rsa, sha256, signing, wait_for_any};
use outboard_libcrypto::{DigestSigner, Job, Key, Library, Params, Signer};

/// Descriptors and memory are the process's: one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[test]
fn a_job_that_is_resumed_early_pauses_again() {
    let _alone = alone();
    let sides = common::sides();
    let key = Rc::new(rsa(&sides.outboard));
    let library = sides.outboard.library().clone();
    let (mut jobs, signatures): (Vec<Job>, Vec<_>) =
        (0..16).map(|_| signing(&library, &key, 10)).unzip();
    // Whether it can go on or not.
    while jobs.iter().any(|job| job.result().is_none()) {
        for job in &mut jobs {
            job.resume().unwrap();
        }
    }
    for signatures in signatures {
        assert!(
            signatures
                .borrow()
                .iter()
                .all(|signature| is_right(&key, signature))
        );
        assert_eq!(signatures.borrow().len(), 10);
    }
}

#[test]
fn a_job_that_must_not_pause_waits() {
    let _alone = alone();
    let sides = common::sides();
    let key = Rc::new(rsa(&sides.outboard));
    let library = sides.outboard.library().clone();
    // Others fill the card meanwhile.
    let (mut others, _): (Vec<Job>, Vec<_>) = (0..8).map(|_| signing(&library, &key, 5)).unzip();
    let inner = library.clone();
    let f = *library.functions();
    let blocking = Rc::clone(&key);
    let job = Job::start(&library, move || {
        assert!(Job::is_current(&inner));
        // SAFETY: takes nothing.
        unsafe { (f.ASYNC_block_pause)() };
        let all = (0..10).all(|_| {
            let signature = Signer::new(&blocking, &sha256())
                .unwrap()
                .sign(DIGEST)
                .unwrap();
            is_right(&blocking, &signature)
        });
        // SAFETY: takes nothing.
        unsafe { (f.ASYNC_unblock_pause)() };
        all
    });
    assert_eq!(job.unwrap().result(), Some(true));
    while others.iter().any(|job| job.result().is_none()) {
        others.iter_mut().for_each(|job| job.resume().unwrap());
    }
}

#[test]
fn a_callback_is_called_instead_of_a_descriptor() {
    let _alone = alone();
    unsafe extern "C" fn count(calls: *mut c_void) -> c_int {
        // SAFETY: what the test passes, which outlives its jobs.
        unsafe { &*calls.cast::<AtomicU64>() }.fetch_add(1, Ordering::SeqCst);
        1
    }
    let sides = common::sides();
    let key = Rc::new(rsa(&sides.outboard));
    let library = sides.outboard.library().clone();
    let calls = AtomicU64::new(0);
    let before = open_descriptors();
    let sign = || {
        let mut jobs: Vec<Job> = (0..32)
            .map(|_| {
                let key = Rc::clone(&key);
                let body = move || {
                    (0..10).all(|_| {
                        let signature = Signer::new(&key, &sha256()).unwrap().sign(DIGEST).unwrap();
                        is_right(&key, &signature)
                    })
                };
                let argument = (&raw const calls).cast_mut().cast();
                // SAFETY: the counter outlives the jobs, and may be counted from any thread.
                unsafe { Job::start_with_callback(&library, count, argument, body) }.unwrap()
            })
            .collect();
        let mut paused = jobs.iter().filter(|job| job.result().is_none()).count();
        // One for all that never becomes readable, and what the engine may keep.
        assert!(
            open_descriptors() <= before + 2,
            "no descriptor for each job"
        );
        let begun = Instant::now();
        while paused > 0 {
            let called = calls.load(Ordering::SeqCst);
            for job in &mut jobs {
                job.resume().unwrap();
            }
            paused = jobs.iter().filter(|job| job.result().is_none()).count();
            while paused > 0 && calls.load(Ordering::SeqCst) == called {
                assert!(begun.elapsed() < PATIENCE, "paused, and nobody calls");
                std::thread::yield_now();
                if jobs
                    .iter_mut()
                    .any(|job| job.resume().is_ok() && job.result().is_some())
                {
                    break;
                }
            }
        }
        assert!(jobs.iter().all(|job| job.result() == Some(true)));
    };
    sign();
    let begun = Instant::now();
    // On a busy machine a card may find each job alone for a while.
    while common::has_lanes() && calls.load(Ordering::SeqCst) == 0 {
        assert!(begun.elapsed() < PATIENCE, "nobody calls");
        sign();
    }
}

/// Holds the call of a callback until it is opened.
struct Gate {
    /// The thread of the event loop, which must not be held.
    event_loop: libc::pid_t,
    held: AtomicBool,
    open: AtomicBool,
}

impl Gate {
    /// Less than the test's own, which then holds another call.
    const PATIENCE: Duration = Duration::from_secs(5);

    unsafe extern "C" fn pass(gate: *mut c_void) -> c_int {
        // SAFETY: what the test passes, which outlives its jobs.
        let gate = unsafe { &*gate.cast::<Self>() };
        // SAFETY: takes nothing.
        if unsafe { libc::gettid() } != gate.event_loop {
            // Not for ever: the event loop may be taking back the very job that is held here, and would wait.
            let since = Instant::now();
            while !gate.open.load(Ordering::SeqCst) && since.elapsed() < Self::PATIENCE {
                gate.held.store(true, Ordering::SeqCst);
                std::thread::yield_now();
            }
            gate.held.store(false, Ordering::SeqCst);
        }
        1
    }
}

/// A child frees the connections that it inherited, while the parent's worker was in the midst of a call.
#[test]
fn a_child_frees_jobs_whose_callback_was_under_way() {
    let _alone = alone();
    let sides = common::sides();
    let key = Rc::new(rsa(&sides.outboard));
    let library = sides.outboard.library().clone();
    let gate = Gate {
        // SAFETY: takes nothing.
        event_loop: unsafe { libc::gettid() },
        held: AtomicBool::new(false),
        open: AtomicBool::new(false),
    };
    let start = || {
        let key = Rc::clone(&key);
        let body = move || {
            let signature = Signer::new(&key, &sha256()).unwrap().sign(DIGEST).unwrap();
            is_right(&key, &signature)
        };
        let argument = (&raw const gate).cast_mut().cast();
        // SAFETY: the gate outlives the jobs, and any thread may pass it.
        unsafe { Job::start_with_callback(&library, Gate::pass, argument, body) }.unwrap()
    };
    let mut jobs = Vec::new();
    let begun = Instant::now();
    while common::has_lanes() && !gate.held.load(Ordering::SeqCst) {
        assert!(begun.elapsed() < PATIENCE, "nobody calls");
        jobs.extend((0..8).map(|_| start()));
        jobs.retain(|job| job.result().is_none());
        std::thread::yield_now();
    }
    let mut status = 0;
    // SAFETY: this thread alone uses OpenSSL; the child leaves without unwinding, or is killed.
    match unsafe { libc::fork() } {
        -1 => panic!("cannot fork: {}", std::io::Error::last_os_error()),
        0 => {
            // SAFETY: takes a number; the child is killed if it hangs.
            unsafe { libc::alarm(PATIENCE.as_secs() as u32) };
            jobs.clear();
            // SAFETY: ends the child at once.
            unsafe { libc::_exit(0) }
        }
        // SAFETY: waits for a child of ours.
        child => unsafe { libc::waitpid(child, &raw mut status, 0) },
    };
    gate.open.store(true, Ordering::SeqCst);
    while jobs.iter().any(|job| job.result().is_none()) {
        jobs.iter_mut().for_each(|job| job.resume().unwrap());
    }
    assert!(jobs.iter().all(|job| job.result() == Some(true)));
    assert!(
        libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0,
        "the child: {status:#x}"
    );
}

/// A signature whose every part lives outside of the job that makes it, so that nothing of the test's own is
/// lost with the job's stack.
struct Outside {
    signer: Signer,
    hashing: DigestSigner,
    output: Vec<u8>,
    length: usize,
}

/// What such a job does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Body {
    /// Pauses once without having signed.
    Pauses,
    Signs,
    /// Signs a message of some length in its place.
    SignsInPlace,
}

impl Outside {
    fn new(key: &Key) -> Box<Self> {
        let plain = Params::new();
        Box::new(Self {
            signer: Signer::new(key, &sha256()).unwrap(),
            hashing: DigestSigner::new(key, Some("SHA256"), &plain).unwrap(),
            output: vec![0; 8192],
            length: 8192,
        })
    }

    /// A job that does so.
    fn job(&mut self, library: &Library, does: Body) -> Job {
        let f = *library.functions();
        let (operation, hashing) = (self.signer.as_ptr(), self.hashing.as_ptr());
        let (output, length) = (self.output.as_mut_ptr(), &raw mut self.length);
        let body = move || {
            // SAFETY: all of it outlives the job.
            unsafe {
                match does {
                    Body::Pauses => (f.ASYNC_pause_job)() == 1,
                    Body::Signs => {
                        let (digest, room) = (DIGEST.as_ptr(), DIGEST.len());
                        (f.EVP_PKEY_sign)(operation, output, length, digest, room) == 1
                    }
                    Body::SignsInPlace => {
                        (f.EVP_DigestSign)(hashing, output, length, output, 8192) == 1
                    }
                }
            }
        };
        Job::start(library, body).unwrap()
    }
}

/// Bytes that the process has allocated.
fn allocated() -> usize {
    // SAFETY: takes nothing.
    unsafe { libc::mallinfo2() }.uordblks
}

#[test]
fn a_job_that_is_dropped_while_paused_leaves_nothing_of_ours() {
    const JOBS: usize = 200;
    let _alone = alone();
    let sides = common::sides();
    let key = rsa(&sides.outboard);
    let library = sides.outboard.library().clone();
    let descriptors = open_descriptors();
    // What OpenSSL itself loses with a job: its stack.
    let lose = |does: Body| {
        let before = allocated();
        let mut lost = 0;
        let begun = Instant::now();
        // On a busy machine most find no company, and are not paused; without lanes, none is.
        while lost < JOBS
            && begun.elapsed() < PATIENCE
            && (does == Body::Pauses || common::has_lanes())
        {
            let mut all: Vec<_> = (0..8).map(|_| Outside::new(&key)).collect();
            let mut jobs: Vec<Job> = all.iter_mut().map(|one| one.job(&library, does)).collect();
            lost += jobs.iter().filter(|job| job.result().is_none()).count();
            jobs.clear();
        }
        // Cards end what they are at.
        let outside = Rc::new(key.duplicate().unwrap());
        for _ in 0..40 {
            let (mut job, _) = signing(&library, &outside, 1);
            while job.result().is_none() {
                wait_for_any(&[&job]);
                job.resume().unwrap();
            }
        }
        drop(outside);
        (lost, allocated().saturating_sub(before))
    };
    lose(Body::Signs); // caches, the card, pools
    let (plain_jobs, plain) = lose(Body::Pauses);
    assert!(plain_jobs >= JOBS);
    for does in [Body::Signs, Body::SignsInPlace] {
        let (signing_jobs, ours) = lose(does);
        if common::has_lanes() {
            assert!(signing_jobs >= JOBS, "only {signing_jobs} were paused");
            let each = (plain / plain_jobs, ours / signing_jobs);
            // EVP_DigestSign(3) signs with a duplicate of its context, which it holds itself: it goes with the stack.
            let duplicate = if does == Body::SignsInPlace { 1024 } else { 0 };
            let most = each.0 + 256 + duplicate;
            assert!(each.1 <= most, "bytes lost for each job: {each:?}");
        }
    }
    assert!(
        open_descriptors() <= descriptors + 2,
        "descriptors stay open"
    );
    // And all goes on.
    let (mut job, signatures) = signing(&library, &Rc::new(key), 3);
    while job.result().is_none() {
        wait_for_any(&[&job]);
        job.resume().unwrap();
    }
    assert_eq!(signatures.borrow().len(), 3);
}

#[test]
fn a_child_goes_on_with_its_copies_of_paused_jobs() {
    let _alone = alone();
    let sides = common::sides();
    let key = Rc::new(rsa(&sides.outboard));
    let library = sides.outboard.library().clone();
    let (mut jobs, signatures): (Vec<Job>, Vec<_>) =
        (0..16).map(|_| signing(&library, &key, 4)).unzip();
    let mut finish = || {
        let begun = Instant::now();
        while jobs.iter().any(|job| job.result().is_none()) && begun.elapsed() < PATIENCE {
            jobs.iter_mut().for_each(|job| job.resume().unwrap());
        }
        let right = |signature: &Vec<u8>| is_right(&key, signature);
        signatures
            .iter()
            .all(|all| all.borrow().len() == 4 && all.borrow().iter().all(right))
    };
    // SAFETY: this thread alone uses OpenSSL; the child leaves without unwinding.
    match unsafe { libc::fork() } {
        -1 => panic!("cannot fork: {}", std::io::Error::last_os_error()),
        0 => {
            let well = std::panic::catch_unwind(std::panic::AssertUnwindSafe(finish));
            // SAFETY: ends the child at once.
            unsafe { libc::_exit(i32::from(!matches!(well, Ok(true)))) }
        }
        child => {
            assert!(finish());
            let mut status = 0;
            // SAFETY: waits for a child of ours.
            unsafe { libc::waitpid(child, &raw mut status, 0) };
            assert!(
                libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0,
                "{status:#x}"
            );
        }
    }
}
