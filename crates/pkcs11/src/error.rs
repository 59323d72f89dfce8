//! What a call answers when it does not do what it was asked: one of the standard's numbers.

use cryptoki_sys::*;
use outboard_engine::Error as Engine;

/// Why a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Error(CK_RV);

/// What inner functions return.
pub(crate) type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// The number for the program.
    pub(crate) fn code(self) -> CK_RV {
        self.0
    }
}

impl From<CK_RV> for Error {
    fn from(code: CK_RV) -> Self {
        Self(code)
    }
}

impl From<Engine> for Error {
    fn from(error: Engine) -> Self {
        Self(match error {
            Engine::InvalidKey => CKR_ATTRIBUTE_VALUE_INVALID,
            Engine::NoPrivateKey => CKR_KEY_FUNCTION_NOT_PERMITTED,
            Engine::InvalidInput => CKR_DATA_INVALID,
            Engine::Failed => CKR_FUNCTION_FAILED,
            Engine::Resource => CKR_HOST_MEMORY,
            Engine::Randomness => CKR_RANDOM_NO_RNG,
        })
    }
}
