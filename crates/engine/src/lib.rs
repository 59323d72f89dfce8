//! An operation in, a result out: keys, paths, cards, profile, ledger.
//!
//! ```text
//! front ──▶ engine ──▶ path: stock | scalar | card ──▶ result
//!           (profile       │
//!            decides)      └─▶ ledger
//! ```
//!
//! Knows `lanes` and AWS-LC; never OpenSSL's types.

pub mod card;
mod error;
pub mod fork;
pub mod ledger;
pub mod machine;
mod operation;
pub mod profile;
pub mod scalar;
pub mod settings;

pub use error::{Error, Result};
pub use machine::Machine;
pub use operation::{Family, Operation, Path};
