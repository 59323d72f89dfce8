//! Why the engine could not do what it was asked.

use outboard_ledger::Reason;

/// An error of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The key is malformed or inconsistent.
    #[error("the key is malformed or inconsistent")]
    InvalidKey,
    /// The key has no private half.
    #[error("the operation needs a private key")]
    NoPrivateKey,
    /// The input does not fit the operation: a length, or a peer's point off the curve.
    #[error("the input does not fit the operation")]
    InvalidInput,
    /// The operation failed; nothing was released.
    #[error("the operation failed, nothing was released")]
    Failed,
    /// No memory.
    #[error("out of memory")]
    Resource,
    /// The system refuses randomness to this process, or has none yet.
    #[error("the system refuses randomness to this program (getrandom)")]
    Randomness,
}

/// What fallible functions of the engine return.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an operation failed on the path that was chosen for it.
impl From<Error> for Reason {
    fn from(error: Error) -> Self {
        match error {
            Error::Randomness => Self::Randomness,
            _ => Self::Error,
        }
    }
}
