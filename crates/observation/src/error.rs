//! Why a file is not, or can't be, a record.

use std::path::Path;

use outboard_shared_memory::{FileError, Unusable, Words};

/// Why a record can't be used. The file is left as it was found.
pub type RecordError = Unusable;

pub(crate) const WORDS: &Words = &Words {
    name: "record",
    made: "one is made by 'outboard observe -- PROGRAM', or when a program first runs after 'outboard enable --observe'",
    users: "the programs that are observed",
    makes_room: false,
};

/// That there is no record at `path`.
pub fn missing(path: &Path) -> RecordError {
    RecordError {
        words: WORDS,
        path: path.into(),
        reason: FileError::Missing,
    }
}
