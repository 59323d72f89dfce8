//! A file of fixed size that programs share as memory: what the engine's ledger and the record of
//! observations have in common.
//!
//! ```text
//! UserFiles   where each user's file is
//! shared      ──▶ &'static T   a program's view: the file made if there is none, mapped, closed
//! local       ──▶ &'static T   the program's own: a forked child finds it zeroed
//! open        ──▶ File         a reader's: copied with `zeroed` and `bytes_mut`, then looked at
//! process                      who counts, and whether it still lives
//! ```
//!
//! The laws: a file is complete before anybody can see it; it is taken for hostile until its kind,
//! owner, permissions and size are right; no descriptor stays open once it is mapped; and every word
//! is an `AtomicU64`, so that whatever it holds does no harm ([`Plain`]). Nothing here writes to a
//! terminal: what fails is a [`FileError`], and its user names the file and the remedy.

mod error;
mod file;
mod plain;
pub mod process;
mod users;

pub use error::FileError;
pub use file::{Beginning, create, local, open, shared};
pub use plain::{Plain, bytes_mut, zeroed};
pub use users::UserFiles;
