//! A second default provider, for programs that make many handshakes.
//!
//! A derivation of TLS 1.3 calls a digest some 25 times, and each of these calls passes through us, to
//! be told apart and not counted: 1 % of a handshake. In a library context of its own, a provider finds
//! the plain digests. But to make one takes as long as hundreds of handshakes lose: so it is made once a
//! process has derived so much that it pays.
//!
//! It has the default provider's digests alone. That is why other derivations and MACs, whose digests
//! may come from anywhere, never begin there.

use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU32};

use outboard_libcrypto::{Context, Library};

use crate::within::CurrentJob;

/// The derivation that begins there.
pub(crate) const ALGORITHM: &str = "TLS13-KDF";

/// How many of them a process begins before it pays: those of a hundred handshakes.
const MANY: u32 = 2000;

/// How many it began so far, up to [`MANY`].
static BEGUN: AtomicU32 = AtomicU32::new(0);

/// The provider's own context. Never freed.
static CONTEXT: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Of which libcrypto it is: a process may have two.
static LIBRARY: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());

/// The context to begin a derivation with, instead of that of the program's own provider; none if that
/// is as good.
///
/// `current_job` is a function of the libcrypto that has them.
#[inline]
pub(crate) fn context(current_job: CurrentJob) -> Option<*mut c_void> {
    let context = CONTEXT.load(Acquire);
    if context.is_null() {
        let begun = BEGUN.load(Relaxed);
        if begun < MANY {
            // Threads that count at once may count once: it is no matter.
            BEGUN.store(begun + 1, Relaxed);
        } else if begun == MANY {
            make(current_job);
        }
        return None;
    }
    (LIBRARY.load(Relaxed) == current_job as *mut ()).then_some(context)
}

/// Makes the provider, if nobody does: also none who was in the midst of it when this process was forked.
#[cold]
#[inline(never)]
fn make(current_job: CurrentJob) {
    let is_ours = BEGUN
        .compare_exchange(MANY, MANY + 1, AcqRel, Relaxed)
        .is_ok();
    if !is_ours {
        return;
    }
    let made = std::panic::catch_unwind(|| {
        let library = Library::containing(current_job as *const c_void).ok()?;
        let context = Context::new(&library).ok()?;
        let provider = ManuallyDrop::new(context.load_provider("default").ok()?);
        // SAFETY: a live provider.
        Some(unsafe { (library.functions().OSSL_PROVIDER_get0_provider_ctx)(provider.as_ptr()) })
    });
    if let Ok(Some(context)) = made {
        LIBRARY.store(current_job as *mut (), Relaxed);
        CONTEXT.store(context, Release);
    }
}
