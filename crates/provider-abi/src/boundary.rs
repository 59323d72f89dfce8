//! Where C calls in: no panic passes, and every error reaches the queue.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::core::Core;
use crate::error::{Error, Reason, Result};

/// Runs the body of a C entry point; on an error or a panic raises it and answers `otherwise`.
///
/// The panic's message is not printed: a guest prints nothing, so `export_provider!` installs a silent
/// hook (in our own copy of the standard library; the program's, if it is Rust, keeps its own).
pub(crate) fn boundary<R>(core: Core, otherwise: R, body: impl FnOnce() -> Result<R>) -> R {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => value,
        Ok(Err(error)) => {
            if !error.is_in_queue() {
                core.raise(&error);
            }
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
