//! What an algorithm uses within: the digest of an HMAC, the cipher of a generator. It is fetched where
//! the program fetches its own, and so comes through us too; but it is no work of the program's, and
//! is not counted again. While an algorithm runs, its thread says so, and contexts that are made
//! meanwhile are passed on uncounted for ever (as are copies of them).
//!
//! An algorithm may be left before its end: an engine that works within the default provider pauses the
//! job it runs in (ASYNC_pause_job(3)), and the thread goes on with something else. So a thread also
//! says in which job.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;

/// `ASYNC_get_current_job` of the libcrypto that is observed; null outside of jobs.
pub(crate) type CurrentJob = unsafe extern "C" fn() -> *mut c_void;

/// How many algorithms run one within another, and in which job the first began.
#[derive(Clone, Copy)]
struct Running {
    depth: usize,
    job: *mut c_void,
}

thread_local! {
    static RUNNING: Cell<Running> = const {
        Cell::new(Running { depth: 0, job: ptr::null_mut() })
    };
}

/// Whether an algorithm may be left before its end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pausing {
    /// An operation on a key, which engines take over.
    Possible,
    Never,
}

/// Runs a part of an algorithm: what begins meanwhile on this thread begins within it.
#[inline(never)]
pub(crate) fn within<T>(current_job: CurrentJob, pausing: Pausing, run: impl FnOnce() -> T) -> T {
    // A job goes on on the thread that it began on (ASYNC_start_job(3)).
    RUNNING.with(|cell| {
        let running = cell.get();
        let job = match (running.depth, pausing) {
            // To ask costs as much as a short digest.
            (0, Pausing::Never) => ptr::null_mut(),
            (1.., _) if running.job.is_null() => ptr::null_mut(),
            // SAFETY: takes nothing, and is answered from this thread's memory.
            _ => unsafe { current_job() },
        };
        let depth = match running.job == job {
            true => running.depth + 1,
            false => 1,
        };
        cell.set(Running { depth, job });
        let answer = run();
        let running = cell.get();
        // In another job, something else may have begun meanwhile.
        if running.job == job {
            let depth = running.depth.saturating_sub(1);
            cell.set(Running { depth, job });
        }
        answer
    })
}

/// Whether this thread is within an algorithm now.
#[inline]
pub(crate) fn is_within(current_job: CurrentJob) -> bool {
    let Running { depth, job } = RUNNING.get();
    depth > 0 && (job.is_null() || is_job(job, current_job))
}

#[cold]
#[inline(never)]
fn is_job(job: *mut c_void, current_job: CurrentJob) -> bool {
    // SAFETY: takes nothing, and is answered from this thread's memory.
    job == unsafe { current_job() }
}

#[cfg(test)]
mod tests {
    use super::*;

    thread_local! {
        static JOB: Cell<usize> = const { Cell::new(0) };
    }

    unsafe extern "C" fn job() -> *mut c_void {
        ptr::without_provenance_mut(JOB.get())
    }

    #[test]
    fn algorithms_lie_one_within_another() {
        for pausing in [Pausing::Possible, Pausing::Never] {
            assert!(!is_within(job));
            within(job, pausing, || {
                within(job, Pausing::Possible, || assert!(is_within(job)));
                within(job, Pausing::Never, || assert!(is_within(job)));
                assert!(is_within(job));
            });
        }
        assert!(!is_within(job));
    }

    #[test]
    fn who_left_a_job_is_not_within_it() {
        JOB.set(1);
        within(job, Pausing::Possible, || {
            assert!(is_within(job));
            JOB.set(0);
            assert!(!is_within(job), "the program goes on");
            for pausing in [Pausing::Possible, Pausing::Never] {
                within(job, pausing, || assert!(is_within(job)));
                assert!(!is_within(job));
            }
            JOB.set(2);
            within(job, Pausing::Possible, || {
                assert!(is_within(job));
                JOB.set(1);
            });
        });
        assert!(!is_within(job));
        JOB.set(0);
        assert!(!is_within(job));
    }
}
