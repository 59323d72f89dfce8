//! The program's own libcrypto, for what the engine does not do: other curves, digests, paddings.
//!
//! It is the very libcrypto that loaded us, in a library context of our own with nothing but the
//! default provider, made when it is first needed. What it refuses stays in the error queue as its
//! own words.

mod exchange;
mod key;
mod signing;

pub(crate) use exchange::Exchange;
pub(crate) use key::Key;
pub(crate) use signing::Signing;

use std::ffi::{CStr, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use outboard_libcrypto::{Context, Functions, Library, Provider, sys};
use outboard_provider_abi::raw::Param;
use outboard_provider_abi::{Error, Result};

/// The default provider in a context of its own.
pub(crate) struct Stock {
    /// Before the context, so that it is unloaded first.
    default: Provider,
    context: Context,
}

impl Stock {
    /// In that libcrypto, which is the one that loaded us.
    pub(super) fn of(library: &Library) -> Option<Self> {
        let context = Context::new(library).ok()?;
        let default = context.load_provider("default").ok()?;
        Some(Self { default, context })
    }

    /// Gives each capability of that name until the receiver answers false.
    pub(crate) fn capabilities(&self, name: &CStr, mut give: &mut dyn FnMut(*const Param) -> bool) {
        // SAFETY: a live provider and a terminated name.
        unsafe {
            (self.functions().OSSL_PROVIDER_get_capabilities)(
                self.default.as_ptr(),
                name.as_ptr(),
                pass_on,
                (&raw mut give).cast(),
            );
        }
    }

    fn functions(&self) -> &Functions {
        self.context.library().functions()
    }
}

/// Who receives parameters from libcrypto.
type Receiver<'a> = &'a mut dyn FnMut(*const Param) -> bool;

/// Hands parameters on to a [`Receiver`], which a pointer leads to for as long as the call lasts.
unsafe extern "C" fn pass_on(params: *const sys::OSSL_PARAM, receiver: *mut c_void) -> c_int {
    // SAFETY: what the callers pass, which outlives the call.
    let give = unsafe { &mut *receiver.cast::<Receiver<'_>>() };
    // A panic ends here, on the inner side of libcrypto's frames.
    catch_unwind(AssertUnwindSafe(|| give(params.cast())))
        .is_ok_and(|given| given)
        .into()
}

/// A true answer of libcrypto, or an error whose words are in the queue already.
fn check(answer: i32) -> Result<()> {
    if answer == 1 {
        Ok(())
    } else {
        Err(Error::in_queue())
    }
}
