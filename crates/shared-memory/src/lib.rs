//! A file of fixed size that programs share as memory, and count in: what the ledger and the record of
//! observations have in common.
//!
//! ```text
//! UserFiles   where each user's file is
//! shared      ──▶ &'static T   a program's view: the file made if there is none, mapped, closed
//! local       ──▶ &'static T   the program's own: a forked child finds it zeroed
//! Copied      ──▶ Box<T>       a reader's: copied, then looked at; parts of it reset
//! Sign                         what others see of a program without its help
//! Entries                      who counts where; Ticket: which entry a process has
//! process                      who counts, and whether it still lives
//! ```
//!
//! A [`Format`] begins with an [`Identity`], has [`Entries`], and whatever is counted for each of them.
//!
//! The laws: a file is complete before anybody can see it; it is taken for hostile until its kind,
//! owner, permissions and size are right; no descriptor stays open once it is mapped; and every word
//! is an `AtomicU64`, so that whatever it holds does no harm ([`Plain`]). Nothing here writes to a
//! terminal: what fails is [`Unusable`], which names the file, the reason and the remedy.

mod copied;
mod entries;
mod error;
mod file;
mod plain;
pub mod process;
mod sign;
mod ticket;
mod users;

pub use copied::Copied;
pub use entries::{Entries, Entry, Signature, State};
pub use error::{FileError, Unusable, Words};
pub use file::{Beginning, Format, Identity, create, local, shared};
pub use plain::{Plain, zeroed};
pub use sign::Sign;
pub use ticket::{Ticket, TicketCell};
pub use users::UserFiles;
