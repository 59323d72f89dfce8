//! Moments that a `fork` must not cut in two, nor the end of the process.
//!
//! A forked child has one thread, and finds every lock as its parent's threads held it. AWS-LC's
//! random generator and its RSA take read locks for a moment and, in a child, a write lock at the
//! first use: if the fork fell into that moment, the child would wait for a reader that it does not
//! have. So a fork waits until no thread is in such a moment, and no thread begins one until the fork
//! is done. The end of a thread that used AWS-LC is such a moment, too: its state is taken off a list
//! there.
//!
//! When the process ends, AWS-LC's destructor locks the generator of every thread for good: a thread that draws at that
//! moment or later never returns, or aborts the process. But a program draws that late: destructors run after AWS-LC's, and
//! other threads run until the process is gone. So from the first exit handler on nobody draws from AWS-LC
//! ([`may_draw`]), and the exit waits, as a fork does.
//!
//! Both sides wait for [`PATIENCE`] at most: a stopped thread must not stop its process's forks.

use std::cell::Cell;
use std::ffi::c_void;
use std::mem::forget;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::scalar;

/// Longer than any such moment on a busy machine.
const PATIENCE: Duration = Duration::from_secs(1);
/// Between two looks; a fork itself takes longer.
const NAP: Duration = Duration::from_micros(50);

/// Threads in such a moment.
static INSIDE: AtomicU32 = AtomicU32::new(0);
/// Forks that wait or are under way.
static FORKS: AtomicU32 = AtomicU32::new(0);
/// The process ends.
static ENDING: AtomicBool = AtomicBool::new(false);
/// Forks between the first process and this one.
static GENERATION: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// How many such moments this thread is in, one within the other.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// Whether AWS-LC has made its state for this thread.
    static READY: Cell<bool> = const { Cell::new(false) };
    /// Dropped before AWS-LC takes that state down.
    static END: End = const { End };
}

/// A moment that no fork cuts in two, until dropped.
pub struct Whole(());

/// Begins such a moment. In it the thread must not wait for another one.
pub fn whole() -> Whole {
    let depth = DEPTH.get();
    if depth == 0 {
        enter();
    }
    DEPTH.set(depth + 1);
    if !READY.get() {
        make_ready();
    }
    Whole(())
}

/// Before what takes a lock of AWS-LC's only at a thread's first use, or its first error.
pub fn ready() {
    if !READY.get() {
        drop(whole());
    }
}

/// Whether AWS-LC may be asked for randomness, in such a moment: the process does not end, and AWS-LC can keep a generator
/// for this thread. Where there is no memory, or no `pthread_key_create` left, it would abort the process.
pub(crate) fn may_draw() -> bool {
    READY.get() && !ENDING.load(SeqCst)
}

impl Drop for Whole {
    fn drop(&mut self) {
        let depth = DEPTH.get() - 1;
        DEPTH.set(depth);
        if depth == 0 {
            INSIDE.fetch_sub(1, SeqCst);
        }
    }
}

/// Makes the forks of this process wait for such moments. Once is enough; when it returns, they do.
pub fn watch() {
    static WATCHED: AtomicBool = AtomicBool::new(false);
    if WATCHED.load(SeqCst) {
        return;
    }
    // Two threads may come here at once: none could wait for the other, which a child does not have. That
    // a fork is counted twice then, by each, does no harm.
    // SAFETY: the functions are there as long as the process: the module is never unloaded. If there is
    // no memory, forks go unwatched.
    unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
    // SAFETY: as above. What is registered runs before the destructors of modules.
    unsafe { libc::atexit(at_exit) };
    let mut key = 0;
    // SAFETY: as above.
    if unsafe { libc::pthread_key_create(&raw mut key, Some(at_last)) } == 0
        && LAST_KEY
            .compare_exchange(0, key + 1, SeqCst, SeqCst)
            .is_err()
    {
        // SAFETY: a key of ours that no thread has set.
        unsafe { libc::pthread_key_delete(key) };
    }
    WATCHED.store(true, SeqCst);
}

/// Tells this process from those that forked it. Their ids differ, but for the first processes of two
/// containers, one within the other.
pub fn process() -> u64 {
    u64::from(GENERATION.load(SeqCst)) << 32 | u64::from(std::process::id())
}

/// Tells this process from those that forked it, if they did so in the C library's way: cheaper than
/// [`process`].
pub(crate) fn generation() -> u32 {
    GENERATION.load(SeqCst)
}

/// Each side says what it is about to do, then looks at the other: one of them sees the other.
fn enter() {
    INSIDE.fetch_add(1, SeqCst);
    if FORKS.load(SeqCst) > 0 {
        stand_back();
    }
}

#[cold]
fn stand_back() {
    let ended = wait_while(|| {
        INSIDE.fetch_sub(1, SeqCst);
        sleep(NAP);
        INSIDE.fetch_add(1, SeqCst);
        FORKS.load(SeqCst) > 0
    });
    if !ended {
        // A fork that takes that long is not waited for again. Or it was under way when this process was made by the
        // system call alone, and never ends here.
        FORKS.store(0, SeqCst);
    }
}

extern "C" fn before() {
    FORKS.fetch_add(1, SeqCst);
    wait_for_others();
}

extern "C" fn in_parent() {
    let _ = FORKS.fetch_update(SeqCst, SeqCst, |forks| forks.checked_sub(1));
}

extern "C" fn in_child() {
    FORKS.store(0, SeqCst);
    INSIDE.store(ours(), SeqCst);
    GENERATION.fetch_add(1, SeqCst);
}

extern "C" fn at_exit() {
    ENDING.store(true, SeqCst);
    wait_for_others();
    if ours() > 0 {
        // A signal's handler ends the process in the midst of a draw: AWS-LC's destructor would wait for this thread's lock.
        // SAFETY: what is interrupted is not gone on with.
        unsafe { aws_lc_sys::AWSLC_thread_local_clear() };
    }
}

/// Waits until no other thread is in such a moment.
fn wait_for_others() {
    let ours = ours();
    wait_while(|| {
        let wait = INSIDE.load(SeqCst) > ours;
        if wait {
            sleep(NAP);
        }
        wait
    });
}

/// 1 where a signal's handler forks, or ends the process, in the midst of a moment of its own thread.
fn ours() -> u32 {
    u32::from(DEPTH.get() > 0)
}

/// Whether the condition came to its end.
fn wait_while(condition: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while condition() {
        if begun.elapsed() >= PATIENCE {
            return false;
        }
    }
    true
}

/// The end of a thread, in the C library's order: what is thread-local to Rust is dropped first, which
/// begins a moment; then the destructors of keys run, AWS-LC's among them; then those that were set
/// again in that round, which ends it.
struct End;

/// The key that ends it, and one more.
static LAST_KEY: AtomicU32 = AtomicU32::new(0);

/// What the key holds in the round in which AWS-LC's destructor runs, and in the next.
const THIS_ROUND: *mut c_void = ptr::without_provenance_mut(1);
const NEXT_ROUND: *mut c_void = ptr::without_provenance_mut(2);

#[cold]
fn make_ready() {
    scalar::memory::link();
    // SAFETY: puts an error into this thread's queue, which belongs to our copy of AWS-LC alone, and takes it out again.
    // The queue is made first; where it cannot be, nothing is in it.
    let is_made = unsafe {
        aws_lc_sys::ERR_put_error(aws_lc_sys::ERR_LIB_USER, 0, 1, c"".as_ptr(), 0);
        let is_made = aws_lc_sys::ERR_peek_error() != 0;
        aws_lc_sys::ERR_clear_error();
        is_made
    };
    READY.set(is_made);
    // While the thread ends already, there is nothing to prepare.
    let _ = END.try_with(|_| ());
}

impl Drop for End {
    fn drop(&mut self) {
        let Some(key) = LAST_KEY.load(SeqCst).checked_sub(1) else {
            return;
        };
        let whole = whole();
        // SAFETY: a key of ours.
        if unsafe { libc::pthread_setspecific(key, THIS_ROUND) } == 0 {
            forget(whole);
        }
    }
}

extern "C" fn at_last(round: *mut c_void) {
    let key = LAST_KEY.load(SeqCst).wrapping_sub(1);
    // SAFETY: a key of ours.
    if round != THIS_ROUND || unsafe { libc::pthread_setspecific(key, NEXT_ROUND) } != 0 {
        drop(Whole(()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As in a child that was made without the C library while another thread forked.
    #[test]
    fn a_fork_that_never_ends_is_waited_for_once() {
        FORKS.store(1, SeqCst);
        let begun = Instant::now();
        drop(whole());
        let once = begun.elapsed();
        (0..5).for_each(|_| drop(whole()));
        // Another test may have begun to wait before.
        assert!(once >= PATIENCE / 2 && begun.elapsed() < once + PATIENCE / 2);
        in_parent();
        assert_eq!(FORKS.load(SeqCst), 0);
    }
}
