//! What can go wrong, in words: the loader's and OpenSSL's own.

use std::ffi::{CStr, c_char};
use std::fmt;
use std::path::PathBuf;

use crate::functions::Functions;

/// Why OpenSSL could not be used, or what it refused.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The dynamic loader could not load the file.
    #[error("cannot load {path}: {reason}")]
    Load {
        /// What was to be loaded.
        path: PathBuf,
        /// The loader's own words.
        reason: String,
    },
    /// No loaded object that offers OpenSSL holds the address.
    #[error(
        "no libcrypto holds address {0:#x}: the program was linked without exporting its symbols"
    )]
    NotFound(usize),
    /// The library lacks an entry point that OpenSSL 3.0 has.
    #[error("libcrypto has no function {0}: OpenSSL 3.0 or later is needed")]
    MissingSymbol(&'static str),
    /// OpenSSL refused; its error queue said why.
    #[error("{what}{}", Reason::list(.reasons))]
    OpenSsl {
        /// What was asked of it.
        what: &'static str,
        /// The error queue, oldest first.
        reasons: Vec<Reason>,
    },
    /// A text for OpenSSL holds a zero byte.
    #[error("a text for OpenSSL holds a zero byte")]
    ZeroByte,
    /// An input is longer than OpenSSL's call can take.
    #[error("{0} bytes are more than one call to OpenSSL takes")]
    TooLong(usize),
    /// A key or IV is not as long as the cipher asks.
    #[error("the {what} has {given} bytes; the cipher asks for {expected}")]
    Length {
        /// Key or IV.
        what: &'static str,
        /// What the cipher asks for, in bytes.
        expected: usize,
        /// What was given, in bytes.
        given: usize,
    },
    /// The output might not have fit.
    #[error("the output has room for {given} bytes, but may take {needed}")]
    Room {
        /// What it may take, in bytes.
        needed: usize,
        /// What there was, in bytes.
        given: usize,
    },
}

/// One entry of OpenSSL's error queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The packed code.
    pub code: u64,
    /// The part of OpenSSL (or the provider) that reported it.
    pub library: String,
    /// What was wrong.
    pub reason: String,
    /// What it adds: a name, a number. Often empty.
    pub data: String,
}

impl Reason {
    fn list(reasons: &[Self]) -> String {
        reasons.iter().map(|reason| format!(": {reason}")).collect()
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.library, self.reason)?;
        if !self.data.is_empty() {
            write!(f, " ({})", self.data)?;
        }
        Ok(())
    }
}

impl Error {
    pub(crate) fn check_length(
        what: &'static str,
        expected: usize,
        given: usize,
    ) -> Result<(), Self> {
        if expected == given {
            Ok(())
        } else {
            Err(Self::Length {
                what,
                expected,
                given,
            })
        }
    }

    pub(crate) fn check_room(needed: usize, given: usize) -> Result<(), Self> {
        if needed <= given {
            Ok(())
        } else {
            Err(Self::Room { needed, given })
        }
    }

    /// What OpenSSL refused, with everything its error queue holds for this thread, which is empty
    /// afterwards.
    pub fn from_queue(functions: &Functions, what: &'static str) -> Self {
        let mut reasons = Vec::new();
        loop {
            let mut data: *const c_char = std::ptr::null();
            let mut flags = 0;
            // SAFETY: the pointers that are not null are to live variables.
            let code = unsafe {
                (functions.ERR_get_error_all)(
                    std::ptr::null_mut(),
                    std::ptr::null_mut(),
                    std::ptr::null_mut(),
                    &mut data,
                    &mut flags,
                )
            };
            if code == 0 {
                break;
            }
            // SAFETY: both answer null or a text that lives as long as the library; `data` is null
            // or a text that lives until the queue is used again.
            let (library, reason, data) = unsafe {
                (
                    text((functions.ERR_lib_error_string)(code)),
                    text((functions.ERR_reason_error_string)(code)),
                    text(data),
                )
            };
            reasons.push(Reason {
                code,
                library: library.unwrap_or_else(|| "unknown library".into()),
                reason: reason.unwrap_or_else(|| format!("error {code:#x}")),
                data: data.unwrap_or_default(),
            });
        }
        Self::OpenSsl { what, reasons }
    }
}

/// A C text, if there is one.
///
/// # Safety
/// `pointer` is null or points to a null-terminated text.
pub(crate) unsafe fn text(pointer: *const c_char) -> Option<String> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: not null, so the caller vouches for a terminated text.
    Some(
        unsafe { CStr::from_ptr(pointer) }
            .to_string_lossy()
            .into_owned(),
    )
}
