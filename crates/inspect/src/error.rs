//! Why something could not be examined.

/// One sentence that names the thing, the reason and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What was asked for is not there, or may not be looked at.
    #[error("{0}")]
    Unexamined(String),
    /// A child process could not be started.
    #[error(transparent)]
    System(#[from] std::io::Error),
    /// No such user.
    #[error(transparent)]
    Account(#[from] outboard_accounts::Error),
    /// OpenSSH's directory.
    #[error(transparent)]
    Advice(#[from] outboard_advice::Error),
    /// The system's OpenSSL cannot be used.
    #[error(transparent)]
    Installation(#[from] outboard_installation::Error),
    /// No JDK.
    #[error(transparent)]
    Jdk(#[from] outboard_jdk::JdkError),
    /// OpenSSL refuses.
    #[error(transparent)]
    OpenSsl(#[from] outboard_libcrypto::Error),
}

impl From<String> for Error {
    fn from(sentence: String) -> Self {
        Self::Unexamined(sentence)
    }
}
