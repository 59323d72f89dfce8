//! Errors on their way to OpenSSL's error queue.

use std::alloc::{Layout, alloc, dealloc};
use std::borrow::Cow;
use std::ffi::CString;
use std::ptr::NonNull;

/// `ERR_LIB_PROV`, where `ERR_PACK` puts it: the library whose reasons these are.
const LIBRARY: u32 = 57 << 23;
/// `ERR_LIB_CRYPTO`, there: the library that reads and writes parameters.
const CRYPTO: u32 = 15 << 23;
/// `ERR_RFLAG_COMMON`, of reasons that all libraries share.
const COMMON: u32 = 2 << 18;
/// `ERR_R_FATAL`.
const FATAL: u32 = 3 << 18;

/// Why an operation was refused, in the default provider's own words (`openssl/proverr.h`): a program
/// that looks at the error queue finds what it would find without us. (Words of our own would need
/// `OSSL_FUNC_PROVIDER_GET_REASON_STRINGS`: OpenSSL 3.0 unloads those with the provider, and crashes where
/// that comes after `OPENSSL_cleanup`.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Reason {
    /// A panic was stopped at the boundary, or an invariant does not hold.
    Internal = LIBRARY | FATAL | 259,
    /// Memory or another resource could not be had.
    Resource = LIBRARY | FATAL | 256,
    /// The key is malformed, or not of the kind that the operation needs.
    InvalidKey = LIBRARY | 158,
    /// A parameter is malformed or out of range.
    InvalidParameter = LIBRARY | COMMON | 262,
    /// The call is out of order: something that must come first is missing.
    OutOfOrder = LIBRARY | FATAL | 257,
    /// The caller's buffer cannot hold the result.
    BufferTooSmall = LIBRARY | 106,
    /// Neither the engine nor the program's own libcrypto does this.
    Unsupported = LIBRARY | COMMON | 268,
    /// The operation itself failed.
    OperationFailed = LIBRARY | FATAL | 263,
    /// The initialisation vector is missing, too long or used up.
    InvalidIv = LIBRARY | 109,
    /// The authentication tag is missing or of a wrong length.
    InvalidTag = LIBRARY | 110,
    /// The input's length does not fit the operation.
    InvalidLength = LIBRARY | 230,
    /// The system refuses randomness.
    Randomness = LIBRARY | 189,
    /// `PROV_R_INVALID_KEY_LENGTH`.
    InvalidKeyLength = LIBRARY | 105,
    /// `PROV_R_CIPHER_OPERATION_FAILED`.
    CipherOperationFailed = LIBRARY | 102,
    /// `PROV_R_FAILED_TO_GET_PARAMETER`: one that was passed in is malformed.
    FailedToGetParameter = LIBRARY | 103,
    /// `PROV_R_FAILED_TO_SET_PARAMETER`: one that was asked for has a wrong type or too little room.
    FailedToSetParameter = LIBRARY | 104,
    /// `PROV_R_INVALID_AAD`.
    InvalidAad = LIBRARY | 108,
    /// `PROV_R_TAG_NOT_SET`.
    TagNotSet = LIBRARY | 119,
    /// `PROV_R_TOO_MANY_RECORDS`.
    TooManyRecords = LIBRARY | 126,
    /// `PROV_R_REPEATED_PARAMETER`.
    RepeatedParameter = LIBRARY | 252,
    /// libcrypto's own, of a parameter: null.
    ParameterIsNull = CRYPTO | FATAL | 258,
    /// `CRYPTO_R_TOO_SMALL_BUFFER`.
    ParameterTooSmall = CRYPTO | 116,
    /// `CRYPTO_R_PARAM_CANNOT_BE_REPRESENTED_EXACTLY`.
    ParameterInexact = CRYPTO | 123,
    /// `CRYPTO_R_PARAM_UNSIGNED_INTEGER_NEGATIVE_VALUE_UNSUPPORTED`.
    ParameterNegative = CRYPTO | 125,
    /// `CRYPTO_R_PARAM_VALUE_TOO_LARGE_FOR_DESTINATION`.
    ParameterTooLarge = CRYPTO | 126,
    /// `CRYPTO_R_PARAM_OF_INCOMPATIBLE_TYPE`.
    ParameterType = CRYPTO | 129,
    /// `CRYPTO_R_PARAM_UNSUPPORTED_FLOATING_POINT_FORMAT`.
    ParameterReal = CRYPTO | 130,
}

/// An error: a reason, and what a person needs to know beside it.
///
/// It is no larger than a pointer, so that results travel in registers: a record's encryption is as short as that. Where there is no memory
/// for what it says, the reason alone is left.
pub struct Error(Repr);

/// None: it is silent, and has no cause.
type Repr = Option<NonNull<Content>>;

/// What an error says.
#[derive(Clone, Debug)]
struct Content {
    reason: Reason,
    detail: Cow<'static, str>,
    silent: bool,
    cause: Option<Reason>,
}

impl Content {
    const SILENT: Self = Self {
        reason: Reason::OperationFailed,
        detail: Cow::Borrowed(""),
        silent: true,
        cause: None,
    };
    /// What is said where there is no memory to say more.
    const NO_MEMORY: Self = Self {
        reason: Reason::Resource,
        silent: false,
        ..Self::SILENT
    };
}

/// Never written, and never freed.
static NO_MEMORY: Content = Content::NO_MEMORY;

// SAFETY: it owns what it points to, or nobody does; and that may go to any thread.
unsafe impl Send for Error {}
// SAFETY: as above.
unsafe impl Sync for Error {}

impl Drop for Error {
    fn drop(&mut self) {
        if let Some(content) = self.0
            && content != NonNull::from(&NO_MEMORY)
        {
            // SAFETY: allocated by `of`, and owned by this error alone.
            unsafe {
                content.drop_in_place();
                dealloc(content.as_ptr().cast(), Layout::new::<Content>());
            }
        }
    }
}

impl Clone for Error {
    fn clone(&self) -> Self {
        self.0
            .map_or(Self::silent(), |_| Self::of(self.content().clone()))
    }
}

impl std::fmt::Debug for Error {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.content().fmt(formatter)
    }
}

/// What fallible functions of a provider return.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error with that detail, which may be empty. Never put a secret into it.
    #[cold]
    pub fn new(reason: Reason, detail: impl Into<Cow<'static, str>>) -> Self {
        Self::of(Content {
            reason,
            detail: detail.into(),
            ..Content::NO_MEMORY
        })
    }

    /// An error that fails the call and adds nothing to the queue: where stock says nothing, or libcrypto has
    /// said it already.
    pub const fn silent() -> Self {
        Self(None)
    }

    fn of(content: Content) -> Self {
        // SAFETY: it has a size.
        let room = unsafe { alloc(Layout::new::<Content>()) }.cast::<Content>();
        let Some(room) = NonNull::new(room) else {
            return Self(Some(NonNull::from(&NO_MEMORY)));
        };
        // SAFETY: room for one, just allocated.
        unsafe { room.write(content) };
        Self(Some(room))
    }

    fn content(&self) -> &Content {
        match &self.0 {
            // SAFETY: it lives as long as the error.
            Some(content) => unsafe { content.as_ref() },
            None => const { &Content::SILENT },
        }
    }

    /// That error, with its cause before it in the queue.
    #[cold]
    pub fn caused_by(self, cause: Reason) -> Self {
        Self::of(Content {
            cause: Some(cause),
            ..self.content().clone()
        })
    }

    /// Whether it adds nothing to the queue.
    pub(crate) fn is_silent(&self) -> bool {
        self.content().silent
    }

    /// What comes before it in the queue.
    pub(crate) fn cause(&self) -> Option<Reason> {
        self.content().cause
    }

    /// The reason.
    pub fn reason(&self) -> Reason {
        self.content().reason
    }

    /// The detail as a `printf` format without conversions.
    pub(crate) fn format(&self) -> Option<CString> {
        let detail = &self.content().detail;
        if detail.is_empty() {
            return None;
        }
        CString::new(detail.replace('%', "%%")).ok()
    }
}

impl From<Reason> for Error {
    fn from(reason: Reason) -> Self {
        Self::new(reason, "")
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Content { reason, detail, .. } = self.content();
        write!(formatter, "{reason:?}: {detail}")
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_a_pointer_and_says_all() {
        assert_eq!(size_of::<Error>(), size_of::<usize>());
        let error = Error::new(Reason::InvalidKey, "why".to_owned()).caused_by(Reason::InvalidIv);
        let copy = error.clone();
        drop(error);
        assert_eq!(copy.reason(), Reason::InvalidKey);
        assert_eq!(copy.cause(), Some(Reason::InvalidIv));
        assert_eq!(copy.to_string(), "InvalidKey: why");
        assert!(!copy.is_silent());

        let silent = Error::silent();
        assert!(silent.is_silent() && silent.clone().is_silent());
        let caused = silent.caused_by(Reason::InvalidTag);
        assert!(caused.is_silent());
        assert_eq!(caused.cause(), Some(Reason::InvalidTag));

        let no_memory = Error(Some(NonNull::from(&NO_MEMORY)));
        assert_eq!(no_memory.clone().reason(), Reason::Resource);
    }
}
