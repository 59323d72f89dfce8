//! Where C calls in: no panic passes, every error reaches the queue, and the thread is not cancelled inside.
//!
//! `pthread_cancel` ends a thread by unwinding it from the next call that may wait or touches a file. That cannot pass
//! through Rust: the whole program would be aborted. So a cancellation waits until we have returned.

use std::cell::Cell;
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use crate::core::Core;
use crate::error::{Error, Reason, Result};
use crate::memory;

/// Runs the body of a C entry point; on an error or a panic raises it and answers `otherwise`.
///
/// The panic's message is not printed: a guest prints nothing, so `export_provider!` installs a silent
/// hook (in our own copy of the standard library; the program's, if it is Rust, keeps its own).
///
/// Where the system has no memory left the body does not begin: see [`memory`].
pub(crate) fn boundary<R>(core: Core, otherwise: R, body: impl FnOnce() -> Result<R>) -> R {
    let _uncancelled = Uncancelled::begin();
    if memory::is_low() {
        core.raise(&Reason::Resource.into());
        return otherwise;
    }
    brief(core, otherwise, body)
}

/// As [`boundary`], for a body that frees what the program gives back: it begins in any case.
pub(crate) fn release(core: Core, body: impl FnOnce()) {
    let _uncancelled = Uncancelled::begin();
    brief(core, (), || {
        body();
        Ok(())
    });
}

/// As [`boundary`], for what makes no call that could end in a cancellation: it costs nothing.
pub(crate) fn brief<R>(core: Core, otherwise: R, body: impl FnOnce() -> Result<R>) -> R {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => value,
        Ok(Err(error)) => {
            tell(core, &error);
            otherwise
        }
        Err(_) => {
            core.raise(&Error::new(
                Reason::Internal,
                "a panic was stopped at the boundary",
            ));
            otherwise
        }
    }
}

/// The thread is not cancelled until this is dropped.
struct Uncancelled {
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
    fn begin() -> Self {
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

/// Puts the error into the queue, after its cause, unless it is silent.
pub(crate) fn tell(core: Core, error: &Error) {
    if let Some(cause) = error.cause() {
        core.raise(&Error::from(cause));
    }
    if !error.is_silent() {
        core.raise(error);
    }
}
