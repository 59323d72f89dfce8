//! What programs did with Outboard: the ledgers, read and added up.
//!
//! ```text
//! Which ──read──▶ ledgers ──▶ parties      by process, program, user or operation
//!                         ├─▶ served       the share that Outboard served, and the CPU time that it saved, by a profile
//!                         └─▶ openmetrics  text for Prometheus, with what the card service counts
//! ```
//!
//! Knows the ledger, the profile and the names of users. Knows nothing of a terminal.

mod ledgers;
pub mod openmetrics;
mod parties;
mod served;

pub use ledgers::{Error, Ledgers, Which, since};
pub use parties::{By, Counted, Party, Sort, by_program, folded, parties};
pub use served::{Served, seconds};
