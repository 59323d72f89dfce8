//! A default provider in a library context of our own, for a program that has none active.

use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{AcqRel, Acquire};

use outboard_libcrypto::{Context, Library, Provider, sys};

/// The provider and its context. Never freed: the program, which knows nothing of them, may have ended libcrypto
/// before us. So there is one for each libcrypto, and not one for each of a program's contexts, which come and go.
pub(super) struct Own {
    provider: ManuallyDrop<Provider>,
    context: ManuallyDrop<Context>,
}

/// A list of those that were made, and of the address in the libcrypto of each.
struct Made {
    address: usize,
    own: Own,
    next: *mut Made,
}

static LAST: AtomicPtr<Made> = AtomicPtr::new(ptr::null_mut());

impl Own {
    /// In the libcrypto that holds the address.
    pub(super) fn of(address: *const c_void) -> Option<&'static Self> {
        let found = made().find(|made| made.address == address.addr());
        Some(&found.or_else(|| make(address))?.own)
    }

    pub(super) fn provider(&self) -> *const sys::OSSL_PROVIDER {
        self.provider.as_ptr()
    }

    pub(super) fn context(&self) -> *mut sys::OSSL_LIB_CTX {
        self.context.as_ptr()
    }
}

fn made() -> impl Iterator<Item = &'static Made> {
    let mut next = LAST.load(Acquire);
    std::iter::from_fn(move || {
        // SAFETY: null, or from `Box::into_raw` and never freed nor changed.
        let made = unsafe { next.as_ref() }?;
        next = made.next;
        Some(made)
    })
}

/// If two threads do this at once, each makes one.
fn make(address: *const c_void) -> Option<&'static Made> {
    let library = Library::containing(address).ok()?;
    let context = Context::new(&library).ok()?;
    let provider = context.load_provider("default").ok()?;
    let made = Box::into_raw(Box::new(Made {
        address: address.addr(),
        own: Own {
            provider: ManuallyDrop::new(provider),
            context: ManuallyDrop::new(context),
        },
        next: LAST.load(Acquire),
    }));
    // SAFETY: from `Box::into_raw`, and ours alone until it is in the list; then it is never changed.
    unsafe {
        while let Err(last) = LAST.compare_exchange((*made).next, made, AcqRel, Acquire) {
            (*made).next = last;
        }
        made.as_ref()
    }
}
