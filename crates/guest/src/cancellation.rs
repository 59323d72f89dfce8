//! `pthread_cancel` ends a thread by unwinding it from the next call that may wait or touches a file. That cannot pass
//! through Rust: the whole program would be aborted. So a cancellation waits until we have returned.

use std::cell::Cell;
use std::ffi::c_int;
use std::ptr;

/// The thread is not cancelled until this is dropped.
pub struct Uncancelled {
    /// It could have been before.
    ends: bool,
}

thread_local! {
    /// The thread could be cancelled when C called in.
    static CANCELLABLE: Cell<bool> = const { Cell::new(false) };
}

/// The same numbers in glibc and musl (`pthread.h`).
const ENABLE: c_int = 0;
const DISABLE: c_int = 1;

unsafe extern "C" {
    fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
}

impl Uncancelled {
    /// Begins it.
    pub fn begin() -> Self {
        let mut before = DISABLE;
        // SAFETY: of this thread, and a variable that lives.
        unsafe { pthread_setcancelstate(DISABLE, &raw mut before) };
        let ends = before == ENABLE;
        if ends {
            CANCELLABLE.set(true);
        }
        Self { ends }
    }
}

impl Drop for Uncancelled {
    fn drop(&mut self) {
        if self.ends {
            CANCELLABLE.set(false);
            // SAFETY: of this thread. It does not wait for anything, so it is not cancelled in here.
            unsafe { pthread_setcancelstate(ENABLE, ptr::null_mut()) };
        }
    }
}

/// Runs `body`, in which the thread goes on with what it did before C called in (another stack's work): it can be
/// cancelled there, if it could be then.
pub fn outside<R>(body: impl FnOnce() -> R) -> R {
    let paused = Uncancelled {
        ends: CANCELLABLE.get(),
    };
    drop(paused);
    let result = body();
    // Begun again, for the one that was begun when C called in and ends when it returns.
    std::mem::forget(Uncancelled::begin());
    result
}
