//! The C interface: each function checks what it is given, and calls the module.
//!
//! ```text
//! program ──▶ lists ──▶ functions ──answer──▶ Module: Result ──▶ CK_RV
//!                          └─ arguments, template, mechanism: pointers made into slices and values
//! ```

mod arguments;
#[expect(non_snake_case, reason = "the standard's names")]
mod asynchronous;
#[expect(non_snake_case, reason = "the standard's names")]
mod ciphers;
#[expect(non_snake_case, reason = "the standard's names")]
mod encapsulation;
mod exchange;
#[expect(non_snake_case, reason = "the standard's names")]
mod functions;
mod lists;
mod mechanism;
#[expect(non_snake_case, reason = "the standard's names")]
mod messages;
#[expect(non_snake_case, reason = "the standard's names")]
mod signatures;
mod template;
#[expect(non_snake_case, reason = "the standard's names")]
mod tokens;
#[expect(non_snake_case, reason = "the standard's names")]
mod unsupported;

pub(crate) use arguments::{Kept, Output, padded};
pub(crate) use exchange::Exchange;
pub use functions::{C_GetFunctionList, C_GetInterface, C_GetInterfaceList};
pub(crate) use template::{Template, Untold};

use std::panic::{AssertUnwindSafe, catch_unwind};

use cryptoki_sys::*;
use outboard_guest::cancellation::Uncancelled;
use outboard_guest::memory;

use crate::error::Result;
use crate::module::Module;
use crate::session::Session;

/// Runs the body of a function that needs the module initialised.
fn answer(body: impl FnOnce(&'static Module) -> Result<()>) -> CK_RV {
    enter(|| body(Module::get()?))
}

/// As [`answer`], for a function of a session: that the session is not there goes before what else is wrong (PKCS #11, 5.1.8).
fn within(session: CK_SESSION_HANDLE, body: impl FnOnce(&'static Module) -> Result<()>) -> CK_RV {
    answer(|module| body(module).or_else(|error| module.session(session, |_| ()).and(Err(error))))
}

/// As [`within`], for a function that goes on with what is under way at a place of a session. Pointers that lead nowhere end it, as
/// every error does but a buffer that is too small (PKCS #11, 5.10 to 5.14).
fn go_on<T>(
    session: CK_SESSION_HANDLE,
    place: impl FnOnce(&mut Session) -> &mut Option<T>,
    body: impl FnOnce(&'static Module) -> Result<()>,
) -> CK_RV {
    within(session, |module| {
        let answer = body(module);
        if answer == Err(CKR_ARGUMENTS_BAD.into()) {
            // Nothing may be under way.
            let _ = module.take(session, place);
        }
        answer
    })
}

/// Runs the body of a function: no panic passes, and the thread is not cancelled in it.
fn enter(body: impl FnOnce() -> Result<()>) -> CK_RV {
    let _uncancelled = Uncancelled::begin();
    if memory::is_low() {
        return CKR_HOST_MEMORY;
    }
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => CKR_OK,
        Ok(Err(error)) => error.code(),
        Err(_) => CKR_GENERAL_ERROR,
    }
}
