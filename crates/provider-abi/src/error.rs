//! Errors on their way to OpenSSL's error queue.

use std::borrow::Cow;
use std::ffi::CString;

use crate::raw::Item;

macro_rules! reasons {
    ($($(#[$doc:meta])* $variant:ident = $code:literal, $text:literal;)*) => {
        /// Why an operation was refused; `openssl` prints the text beside the provider's name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u32)]
        pub enum Reason {
            $($(#[$doc])* $variant = $code,)*
        }

        /// What `OSSL_FUNC_provider_get_reason_strings` answers.
        pub(crate) static REASON_STRINGS: &[Item] = &[
            $(Item { id: $code, text: concat!($text, "\0").as_ptr().cast() },)*
            Item { id: 0, text: std::ptr::null() },
        ];
    };
}

reasons! {
    /// A panic was stopped at the boundary, or an invariant does not hold.
    Internal = 1, "internal error";
    /// Memory or another resource could not be had.
    Resource = 2, "resource not available";
    /// The key is malformed, or not of the kind that the operation needs.
    InvalidKey = 3, "invalid key";
    /// A parameter is malformed or out of range.
    InvalidParameter = 4, "invalid parameter";
    /// The call is out of order: something that must come first is missing.
    OutOfOrder = 5, "operation not initialised";
    /// The caller's buffer cannot hold the result.
    BufferTooSmall = 6, "output buffer too small";
    /// Neither the engine nor the program's own libcrypto does this.
    Unsupported = 7, "not supported";
    /// The operation itself failed.
    OperationFailed = 8, "operation failed";
    /// The initialisation vector is missing, too long or used up.
    InvalidIv = 9, "invalid initialisation vector";
    /// The authentication tag is missing or of a wrong length.
    InvalidTag = 10, "invalid authentication tag";
    /// The input's length does not fit the operation.
    InvalidLength = 11, "invalid input length";
    /// The system refuses randomness.
    Randomness = 12, "no randomness";
}

/// An error: a reason, and what a person needs to know beside it.
#[derive(Clone, Debug)]
pub struct Error {
    reason: Reason,
    detail: Cow<'static, str>,
    in_queue: bool,
}

/// What fallible functions of a provider return.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error with that detail, which may be empty. Never put a secret into it.
    pub fn new(reason: Reason, detail: impl Into<Cow<'static, str>>) -> Self {
        Self {
            reason,
            detail: detail.into(),
            in_queue: false,
        }
    }

    /// An error that libcrypto has put into its queue already: it fails the call and adds nothing.
    pub const fn in_queue() -> Self {
        Self {
            reason: Reason::OperationFailed,
            detail: Cow::Borrowed(""),
            in_queue: true,
        }
    }

    /// Whether the queue holds it already.
    pub(crate) fn is_in_queue(&self) -> bool {
        self.in_queue
    }

    /// The reason.
    pub fn reason(&self) -> Reason {
        self.reason
    }

    /// The detail as a `printf` format without conversions.
    pub(crate) fn format(&self) -> Option<CString> {
        if self.detail.is_empty() {
            return None;
        }
        CString::new(self.detail.replace('%', "%%")).ok()
    }
}

impl From<Reason> for Error {
    fn from(reason: Reason) -> Self {
        Self::new(reason, "")
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{:?}: {}", self.reason, self.detail)
    }
}

impl std::error::Error for Error {}
