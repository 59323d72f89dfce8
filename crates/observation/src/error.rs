//! Why a file is not, or can't be, a record.

use std::io;
use std::path::{Path, PathBuf};

use outboard_shared_memory::FileError;

/// Why a record can't be used. The file is left as it was found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// There is no such file.
    #[error("there is no record {path} (one is made by 'outboard observe -- PROGRAM', or when a program \
             first runs after 'outboard enable --observe')", path = .path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The system refused.
    #[error("cannot {action} the record {path}: {source}", path = .path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is something else, or another version's.
    #[error("{path} is not a record of this version: {reason} (remove it, or name another file)",
            path = .path.display())]
    NotARecord {
        /// The file.
        path: PathBuf,
        /// What gives it away.
        reason: &'static str,
    },
}

impl RecordError {
    /// What keeps the file at `path` from being shared, for `map_err`.
    pub(crate) fn of(path: &Path) -> impl Fn(FileError) -> Self {
        move |error| match error {
            FileError::Missing => Self::Missing { path: path.into() },
            FileError::System { action, source } => Self::cannot(action, path, source),
            FileError::NotRegular => Self::not_a_record(path, "no regular file"),
            FileError::WrongSize => Self::not_a_record(path, "wrong size"),
            FileError::Foreign { .. } => Self::not_a_record(path, "it belongs to another user"),
            FileError::Exposed { .. } => Self::not_a_record(path, "others may read or write it"),
        }
    }

    pub(crate) fn cannot(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io {
            action,
            path: path.into(),
            source,
        }
    }

    pub(crate) fn not_a_record(path: &Path, reason: &'static str) -> Self {
        Self::NotARecord {
            path: path.into(),
            reason,
        }
    }
}
