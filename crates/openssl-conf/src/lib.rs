//! OpenSSL's configuration file: read as OpenSSL reads it, changed only by a marked block at its end.
//!
//! ```text
//! openssl.cnf ──config──▶ Config ──plan──▶ block ──append──▶ openssl.cnf, one block longer
//!   (and what it includes)                                     │
//!                                              strip ◀─────────┘  gives back every byte
//! ```
//!
//! One block at the end is enough for every file, because OpenSSL lets a section be opened twice
//! and lets a later assignment replace an earlier one (config(5)). No line of anyone else's is
//! touched, so taking the block out again restores the file byte for byte.

mod block;
mod config;
mod groups;
mod kept;
mod named;
mod plan;
mod value;

pub use block::strip;
pub use config::{Config, Environment};
pub use groups::{POST_QUANTUM, Place};
pub use kept::{Earlier, earlier};
pub use named::{Named, OBSERVED};
pub use plan::{Observer, Offer, Settings};

use std::path::{Path, PathBuf};

/// A configuration with Outboard in it.
#[derive(Debug, PartialEq, Eq)]
pub struct Enabled {
    /// The whole text.
    pub text: Vec<u8>,
    /// The lines of the block in it, without its markers.
    pub lines: String,
    /// What its user should know, one sentence each.
    pub notes: Vec<String>,
    /// The active providers that are not observed, where others are.
    pub unobserved: Vec<String>,
}

/// `text`, the content of `file`, with Outboard in it; a block that is there already is replaced.
///
/// # Errors
/// Where OpenSSL would not understand the file, or Outboard cannot be added without changing what
/// it means.
pub fn enable(
    text: &[u8],
    file: &Path,
    settings: &Settings,
    environment: Environment,
) -> Result<Enabled, ConfError> {
    extend(text, file, Some(settings), None, environment)
}

/// `text`, the content of `file`, extended by a block that observes what programs do, and loads
/// Outboard if there are settings for it; a block that is there already is replaced.
///
/// # Errors
/// As [`enable`].
pub fn observe(
    text: &[u8],
    file: &Path,
    settings: Option<&Settings>,
    observer: &Observer,
    environment: Environment,
) -> Result<Enabled, ConfError> {
    extend(text, file, settings, Some(observer), environment)
}

fn extend(
    text: &[u8],
    file: &Path,
    settings: Option<&Settings>,
    observer: Option<&Observer>,
    environment: Environment,
) -> Result<Enabled, ConfError> {
    let base = strip(text)?;
    let config = Config::parse(&base, file, environment)?;
    let plan = plan::plan(&config, settings, observer)?;
    Ok(Enabled {
        text: block::append(&base, &plan.lines),
        lines: plan.lines,
        notes: plan.notes,
        unobserved: plan.unobserved,
    })
}

/// Why a configuration cannot be read or extended. Each says the thing, the reason and, where there
/// is one, the remedy.
#[derive(Debug, thiserror::Error)]
pub enum ConfError {
    /// The file cannot be read at all.
    #[error("cannot read {}: {source}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// OpenSSL would refuse this line too.
    #[error("cannot understand {}, line {line}: {reason} (correct that line first)", file.display())]
    Syntax {
        /// The file that holds the line.
        file: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// It can be read, but Outboard cannot be added without changing what it means.
    #[error("{0}")]
    Refused(String),
}

fn refused(reason: impl Into<String>) -> ConfError {
    ConfError::Refused(reason.into())
}

#[cfg(test)]
mod differential;
#[cfg(test)]
mod fixtures;
