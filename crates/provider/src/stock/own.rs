//! A default provider in a library context of our own, for a program that has none active.

use std::ffi::c_void;
use std::mem::ManuallyDrop;

use outboard_libcrypto::{Context, Library, Provider, sys};

/// The provider and its context. Never freed: the program, which knows nothing of them, may have ended libcrypto
/// before us.
pub(super) struct Own {
    provider: ManuallyDrop<Provider>,
    context: ManuallyDrop<Context>,
}

impl Own {
    /// In the libcrypto that holds the address.
    pub(super) fn of(address: *const c_void) -> Option<Self> {
        let library = Library::containing(address).ok()?;
        let context = Context::new(&library).ok()?;
        let provider = context.load_provider("default").ok()?;
        Some(Self {
            provider: ManuallyDrop::new(provider),
            context: ManuallyDrop::new(context),
        })
    }

    pub(super) fn provider(&self) -> *const sys::OSSL_PROVIDER {
        self.provider.as_ptr()
    }

    pub(super) fn context(&self) -> *mut sys::OSSL_LIB_CTX {
        self.context.as_ptr()
    }
}
