//! Why a file can't be shared.

use std::io;

/// Why a file can't be used; it is left as it was found. Whoever wanted it knows its name, and says
/// what to do.
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
}

impl FileError {
    /// For `map_err` after a call of the system.
    pub(crate) fn cannot(action: &'static str) -> impl Fn(io::Error) -> Self {
        move |source| Self::System { action, source }
    }
}
