//! Why there is no advice.

use outboard_ledger::LedgerError;
use std::io;

/// Why there is no advice: the thing, the reason and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A name was asked for that is not among the measurable ones: a wrong argument.
    #[error("--only: {subject} has no algorithm {unknown} to measure (it has {known})")]
    Unknown {
        /// What was asked: this OpenSSH, this OpenSSL.
        subject: &'static str,
        /// The names that it does not have.
        unknown: String,
        /// The names that it has.
        known: String,
    },
    /// A program failed or is not installed.
    #[error(transparent)]
    Program(#[from] outboard_programs::Error),
    /// The system's OpenSSL or its configuration cannot be used.
    #[error(transparent)]
    Installation(#[from] outboard_installation::Error),
    /// The counters of a measured program cannot be read.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// A file or a process failed.
    #[error(transparent)]
    System(#[from] io::Error),
    /// Anything else, in words.
    #[error("{0}")]
    Refused(String),
}

impl From<String> for Error {
    fn from(reason: String) -> Self {
        Self::Refused(reason)
    }
}

impl From<&str> for Error {
    fn from(reason: &str) -> Self {
        Self::Refused(reason.to_owned())
    }
}
