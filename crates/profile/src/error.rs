//! Why a profile can't be used.

use std::io;
use std::path::PathBuf;

/// Why a profile can't be used, or saved. The built-in one stands in.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// There is no such file.
    #[error("there is no profile {path} (run 'outboard calibrate')", path = .path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The system refused.
    #[error("cannot read the profile {path}: {source} (check its permissions, or run 'outboard \
             calibrate' as its owner)",
            path = .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It could not be written.
    #[error("cannot write the profile {path}: {source} (name a file in a directory that exists and \
             that you may write to)",
            path = .path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Its content is not a profile.
    #[error("the profile {path} is damaged: {reason} (run 'outboard calibrate')",
            path = .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// It is of another version of Outboard.
    #[error("the profile {path} comes from another version of Outboard: {outboard} with format {version}; this \
             is {our_outboard} with {ours} (run 'outboard calibrate' to make a new one)",
            path = .path.display(), our_outboard = super::OURS, ours = super::VERSION)]
    Version {
        /// The file.
        path: PathBuf,
        /// The version of its format.
        version: u32,
        /// The version of Outboard that made it.
        outboard: String,
    },
    /// It was measured on another machine.
    #[error("the profile {path} was measured on another machine ({theirs}; this is {ours}) (run \
             'outboard calibrate')",
            path = .path.display())]
    OtherMachine {
        /// The file.
        path: PathBuf,
        /// Where it was measured.
        theirs: String,
        /// Where this is.
        ours: String,
    },
    /// It was measured against another libcrypto.
    #[error("the profile {path} was measured with libcrypto {theirs}; this is {ours} (run 'outboard calibrate')",
            path = .path.display())]
    OtherLibcrypto {
        /// The file.
        path: PathBuf,
        /// What it was measured against.
        theirs: String,
        /// What is here.
        ours: String,
    },
}
