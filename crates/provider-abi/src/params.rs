//! `OSSL_PARAM` arrays, read, written and built with their bounds and types checked.

mod build;
mod describe;
mod exact;
mod number;
mod read;
mod write;

pub use build::ParamList;
pub use describe::{END, integer, octets, octets_pointer, size, text, unsigned};
#[doc(hidden)]
pub use describe::{joined, length};
pub use exact::Exact;
pub use read::{ParamRef, Params};
pub use write::{ParamMut, ParamsMut};

use std::ffi::{CStr, c_char};

/// A C string as text; none where it is null or not UTF-8.
///
/// # Safety
/// `text` is null or NUL-terminated.
pub(crate) unsafe fn read_text(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: NUL-terminated by the caller's word.
    unsafe { CStr::from_ptr(text) }
        .to_str()
        .ok()
        .map(str::to_owned)
}
