//! What can go wrong with somebody else's program.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Names the thing, the reason and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A program is not installed.
    #[error("{program} is not installed (apt-get install {package})")]
    Missing {
        /// The program's name.
        program: &'static str,
        /// Debian's package that holds it.
        package: &'static str,
    },
    /// Several programs are not installed.
    #[error("not installed: {programs} (apt-get install {packages})")]
    NotInstalled {
        /// Their names.
        programs: String,
        /// Debian's packages that hold them.
        packages: String,
    },
    /// A program could not be started.
    #[error("cannot start {program}: {source}")]
    Start {
        /// Its path.
        program: String,
        /// Why.
        source: io::Error,
    },
    /// A program ended with a failure.
    #[error("{program} failed ({status}):\n{errors}")]
    Failed {
        /// Its name.
        program: String,
        /// Exit status or signal.
        status: String,
        /// The end of what it wrote to standard error, or to its log.
        errors: String,
    },
    /// A program did not end, or a server did not answer, in time.
    #[error("{program} took longer than {limit:?} {doing}:\n{errors}")]
    TimedOut {
        /// Its name.
        program: String,
        /// What it was expected to do.
        doing: &'static str,
        /// How long it was given.
        limit: Duration,
        /// The end of what it wrote to standard error, or to its log.
        errors: String,
    },
    /// A program said something that we do not understand.
    #[error("{program} printed something unexpected: {reason}:\n{output}")]
    Unexpected {
        /// Its name.
        program: String,
        /// What was looked for.
        reason: String,
        /// What it printed.
        output: String,
    },
    /// A file of ours.
    #[error("cannot {doing} {path}: {source}")]
    File {
        /// What was to be done: "read", "write", …
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A socket of ours.
    #[error("cannot reserve a port on 127.0.0.1: {0}")]
    Port(io::Error),
}

impl Error {
    /// An [`Error::File`] of `path`, for `map_err` after a file operation.
    pub fn file(doing: &'static str, path: &Path) -> impl Fn(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |error| Error::File {
            doing,
            path: path.clone(),
            source: io::Error::new(error.kind(), error.to_string()),
        }
    }
}
