//! Why a file can't be shared.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a file can't be used; it is left as it was found.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// There is none of that name.
    #[error("there is no such file")]
    Missing,
    /// The system refused.
    #[error("cannot {action}: {source}")]
    System {
        /// What was tried: "open", "create", …
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A link, a directory, a pipe, …
    #[error("no regular file")]
    NotRegular,
    /// It belongs to another user.
    #[error("it belongs to user {owner}")]
    Foreign {
        /// The user id it belongs to.
        owner: u32,
    },
    /// Others than its owner may read or write it.
    #[error("it is open to others, mode {mode:03o}")]
    Exposed {
        /// Its permission bits.
        mode: u32,
    },
    /// It can't hold what is looked for.
    #[error("wrong size")]
    WrongSize,
    /// It begins as nothing that is looked for does.
    #[error("wrong beginning")]
    WrongBeginning,
    /// It is one of another version of Outboard.
    #[error("version {version}, not {ours}")]
    Version {
        /// The version it says it is.
        version: u64,
        /// The version that is understood here.
        ours: u64,
    },
    /// It is one of our version, but another build of Outboard made it, with tables of other sizes.
    #[error("version {version} with a size of {found} instead of {ours}")]
    Layout {
        /// The version of both.
        version: u64,
        /// The first size in it that differs: of the file in bytes, or of a table in rows.
        found: u64,
        /// That size as it is understood here.
        ours: u64,
    },
}

impl FileError {
    /// For `map_err` after a call of the system.
    pub(crate) fn cannot(action: &'static str) -> impl Fn(io::Error) -> Self {
        move |source| Self::System { action, source }
    }
}

/// What people call a kind of file, and what they should know of it.
#[derive(Debug)]
pub struct Words {
    /// Its name: `ledger`.
    pub name: &'static str,
    /// How one comes to be.
    pub made: &'static str,
    /// Which programs use it: `the programs that run under Outboard`.
    pub users: &'static str,
    /// Whether one of an earlier version makes room for a new one: what it holds is worth less than that programs go
    /// on counting after an upgrade.
    pub makes_room: bool,
}

/// The file at a path can't be used: the thing, the reason and the remedy.
#[derive(Debug)]
pub struct Unusable {
    /// What it should be.
    pub words: &'static Words,
    /// Where.
    pub path: PathBuf,
    /// Why not.
    pub reason: FileError,
}

impl Unusable {
    /// For `map_err`.
    pub(crate) fn of(words: &'static Words, path: &Path) -> impl Fn(FileError) -> Self {
        move |reason| Self {
            words,
            path: path.into(),
            reason,
        }
    }

    /// Whether there just is none.
    pub fn is_missing(&self) -> bool {
        matches!(self.reason, FileError::Missing)
    }
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (words, path) = (self.words, self.path.display());
        let Words {
            name, made, users, ..
        } = words;
        match &self.reason {
            FileError::Missing => write!(f, "there is no {name} {path} ({made})"),
            FileError::System { action, source } => {
                write!(f, "cannot {action} the {name} {path}: {source}")
            }
            FileError::Foreign { owner } => write!(
                f,
                "the {name} {path} belongs to user {owner} (remove it, or name another file)"
            ),
            FileError::Exposed { mode } => write!(
                f,
                "the {name} {path} is open to others, mode {mode:03o} (run 'chmod 600 {path}')"
            ),
            FileError::Version { version, ours } if words.makes_room && version < ours => write!(
                f,
                "the {name} {path} is of version {version}, not {ours} (a new one replaces it when one of {users} starts)"
            ),
            FileError::Version { version, ours } => write!(
                f,
                "the {name} {path} is of version {version}, not {ours} (restart {users}, then remove it)"
            ),
            FileError::Layout {
                version,
                found,
                ours,
            } => write!(
                f,
                "the {name} {path} is of version {version}, but another build of Outboard made it: a size in it is {found} where {ours} is expected (restart {users}, then remove it)"
            ),
            // Quite another file, perhaps.
            reason @ (FileError::NotRegular | FileError::WrongSize | FileError::WrongBeginning) => {
                write!(
                    f,
                    "{path} is not a {name}: {reason} (name another file; remove it only if nothing else needs it)"
                )
            }
        }
    }
}

impl std::error::Error for Unusable {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.reason {
            FileError::System { source, .. } => Some(source),
            _ => None,
        }
    }
}
