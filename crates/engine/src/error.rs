//! Why the engine could not do what it was asked.

use outboard_ledger::Reason;

/// An error of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The key is malformed or inconsistent.
    InvalidKey,
    /// The key has no private half.
    NoPrivateKey,
    /// The input does not fit the operation: a length, or a peer's point off the curve.
    InvalidInput,
    /// The operation failed; nothing was released.
    Failed,
    /// No memory.
    Resource,
    /// The system refuses randomness to this process, or has none yet.
    Randomness,
}

impl Error {
    /// What a person needs to know. It takes no memory to say so.
    pub const fn text(self) -> &'static str {
        match self {
            Self::InvalidKey => "the key is malformed or inconsistent",
            Self::NoPrivateKey => "the operation needs a private key",
            Self::InvalidInput => "the input does not fit the operation",
            Self::Failed => "the operation failed, nothing was released",
            Self::Resource => "out of memory",
            Self::Randomness => "the system refuses randomness to this program (getrandom)",
        }
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.text())
    }
}

impl std::error::Error for Error {}

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
