//! Where C calls in: no panic passes, every error reaches the queue, and the thread is not cancelled inside.

use std::panic::{AssertUnwindSafe, catch_unwind};

use outboard_guest::cancellation::Uncancelled;
use outboard_guest::memory;

use crate::core::Core;
use crate::error::{Error, Reason, Result};

/// Runs the body of a C entry point; on an error or a panic raises it and answers `otherwise`.
///
/// The panic's message is not printed: a guest prints nothing, so `export_provider!` installs a silent
/// hook (in our own copy of the standard library; the program's, if it is Rust, keeps its own).
///
/// Where the system has no memory left the body does not begin: see [`memory`].
#[inline]
pub(crate) fn boundary<R>(core: &Core, otherwise: R, body: impl FnOnce() -> Result<R>) -> R {
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
    brief(&core, (), || {
        body();
        Ok(())
    });
}

/// As [`boundary`], for what makes no call that could end in a cancellation: it costs nothing.
#[inline]
pub(crate) fn brief<R>(core: &Core, otherwise: R, body: impl FnOnce() -> Result<R>) -> R {
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

/// Puts the error into the queue, after its cause, unless it is silent.
#[cold]
pub(crate) fn tell(core: &Core, error: &Error) {
    if let Some(cause) = error.cause() {
        core.raise(&Error::from(cause));
    }
    if !error.is_silent() {
        core.raise(error);
    }
}
