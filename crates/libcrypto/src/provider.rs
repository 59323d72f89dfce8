//! A loaded provider, and what it says of itself.

use std::ffi::{CStr, c_char, c_void};

use crate::error::text;
use crate::sys::{self, OSSL_PARAM, OSSL_PROVIDER};
use crate::{Context, Result};

/// A provider that a context holds active.
#[derive(Debug)]
pub struct Provider {
    context: Context,
    raw: *mut OSSL_PROVIDER,
}

// SAFETY: OpenSSL's providers lock what they share between threads.
unsafe impl Send for Provider {}
// SAFETY: as above.
unsafe impl Sync for Provider {}

impl Provider {
    pub(crate) fn new(context: Context, raw: *mut OSSL_PROVIDER) -> Self {
        Self { context, raw }
    }

    /// The name it is configured under.
    pub fn name(&self) -> String {
        // SAFETY: a live provider.
        unsafe { provider_name(&self.context, self.raw) }.unwrap_or_default()
    }

    /// A text that it says of itself: `name`, `version` or `buildinfo`.
    pub fn information(&self, name: &'static CStr) -> Option<String> {
        let mut value: *const c_char = std::ptr::null();
        let mut params = [
            OSSL_PARAM {
                key: name.as_ptr(),
                data_type: sys::OSSL_PARAM_UTF8_PTR,
                data: (&raw mut value).cast::<c_void>(),
                data_size: 0,
                return_size: sys::OSSL_PARAM_UNMODIFIED,
            },
            OSSL_PARAM::END,
        ];
        // SAFETY: a live provider and an ended array; the answer is a text that the provider keeps.
        unsafe {
            let get = self.context.functions().OSSL_PROVIDER_get_params;
            if get(self.raw, params.as_mut_ptr()) == 1 {
                text(value)
            } else {
                None
            }
        }
    }

    /// Whether it says that it works.
    pub fn is_running(&self) -> bool {
        let mut status: i32 = 0;
        let mut params = [
            OSSL_PARAM {
                key: c"status".as_ptr(),
                data_type: sys::OSSL_PARAM_INTEGER,
                data: (&raw mut status).cast::<c_void>(),
                data_size: size_of::<i32>(),
                return_size: sys::OSSL_PARAM_UNMODIFIED,
            },
            OSSL_PARAM::END,
        ];
        // SAFETY: a live provider and an ended array with a live integer.
        let answered = unsafe {
            (self.context.functions().OSSL_PROVIDER_get_params)(self.raw, params.as_mut_ptr())
        };
        answered == 1 && status == 1
    }

    /// Deactivates it. (Dropping the value does not: the context holds it.)
    pub fn unload(self) -> Result<()> {
        // SAFETY: loaded once by this value, which is consumed.
        let status = unsafe { (self.context.functions().OSSL_PROVIDER_unload)(self.raw) };
        self.context
            .library()
            .check("cannot unload the provider", status)
    }

    /// OpenSSL's pointer.
    pub fn as_ptr(&self) -> *mut OSSL_PROVIDER {
        self.raw
    }
}

/// The name of a provider, or none for null.
///
/// # Safety
/// `provider` is null or a live provider of the context's library.
pub(crate) unsafe fn provider_name(
    context: &Context,
    provider: *const OSSL_PROVIDER,
) -> Option<String> {
    if provider.is_null() {
        return None;
    }
    // SAFETY: live, as the caller vouches; the name lives as long as it.
    unsafe { text((context.functions().OSSL_PROVIDER_get0_name)(provider)) }
}
