//! The record: what every observed process's cryptography did and cost.
//!
//! ```text
//!   process A ─┐ Recorder, Row                     ┌─▶ Record ─▶ outboard observe
//!   process B ─┼──────────────▶ one file, mapped ──┤
//!   its child ─┘  (an entry each, and rows)        └─▶ reset
//! ```
//!
//! A process takes an entry when it [`open`]s the record, before it confines itself; a forked child
//! takes its own at its first count, without a system call that a sandbox could refuse (`getpid`
//! alone). A row is one kind of work: algorithm, operation, implementation, key, digest. Counting is
//! a few relaxed additions to mapped memory.
//!
//! The record differs from the ledger in what it knows: the ledger has a fixed list of the
//! operations that Outboard decides about, the record takes whatever algorithm comes by.

mod clock;
mod error;
mod identity;
mod known;
mod layout;
mod reader;
mod recorder;
mod row;

pub use clock::Clock;
pub use error::{RecordError, missing};
pub use identity::{Details, Identity, Operation};
pub use layout::{SIZE_LIMITS, TELLING_SIZES};
pub use outboard_shared_memory::{FileError, Ticket};
pub use reader::{
    Record, RecordedProcess, SizeClass, Work, all_paths, create, default_path, reset, sum,
};
pub use recorder::{Recorder, lane, open};
pub use row::{Row, UNKNOWN};
