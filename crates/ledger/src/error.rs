//! Why a file is not, or can't be, the ledger.

use std::io;
use std::path::{Path, PathBuf};

use outboard_shared_memory::FileError;

/// Why a ledger can't be used. The file is left as it was found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// There is no such file.
    #[error("there is no ledger {path} (one is made when a program first runs under Outboard)",
            path = .path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The system refused.
    #[error("cannot {action} the ledger {path}: {source}", path = .path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is something else: no regular file, of another size, or of other content.
    #[error("{path} is not a ledger: {reason} (name another file; remove it only if nothing else needs it)",
            path = .path.display())]
    NotALedger {
        /// The file.
        path: PathBuf,
        /// What gives it away.
        reason: &'static str,
    },
    /// It belongs to another user.
    #[error("the ledger {path} belongs to user {owner} (remove it, or name another file)",
            path = .path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The user id it belongs to.
        owner: u32,
    },
    /// Others than its owner may read or write it.
    #[error("the ledger {path} is open to others, mode {mode:03o} (run 'chmod 600 {path}')",
            path = .path.display())]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// It is a ledger of another version of Outboard.
    #[error("the ledger {path} is of version {version}, not {ours} (restart the programs that run \
             under Outboard, then remove it)",
            path = .path.display(), ours = super::layout::VERSION)]
    Version {
        /// The file.
        path: PathBuf,
        /// The version it says it is.
        version: u64,
    },
}

impl LedgerError {
    /// What keeps the file at `path` from being shared, for `map_err`.
    pub(super) fn of(path: &Path) -> impl Fn(FileError) -> Self {
        move |error| match error {
            FileError::Missing => Self::Missing { path: path.into() },
            FileError::System { action, source } => Self::cannot(action, path, source),
            FileError::NotRegular => Self::not_a_ledger(path, "no regular file"),
            FileError::WrongSize => Self::not_a_ledger(path, "wrong size"),
            FileError::Foreign { owner } => Self::Foreign {
                path: path.into(),
                owner,
            },
            FileError::Exposed { mode } => Self::Exposed {
                path: path.into(),
                mode,
            },
        }
    }

    pub(super) fn cannot(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io {
            action,
            path: path.into(),
            source,
        }
    }

    pub(super) fn not_a_ledger(path: &Path, reason: &'static str) -> Self {
        Self::NotALedger {
            path: path.into(),
            reason,
        }
    }
}
