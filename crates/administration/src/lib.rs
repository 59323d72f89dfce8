//! What the command `outboard` and the card service tell each other: a line of JSON for each message.
//!
//! ```text
//! outboard keys, outboard service ──Request──▶ admin.sock of the service
//!                                 ◀──Reply───
//! ```
//!
//! The service asks the kernel for the uid of the process at the other end, so a message carries no name of its
//! sender.

mod connection;
mod line;
mod message;
mod secret;

pub use connection::{Connection, Error};
pub use line::{Lines, MOST_LINE, to_line};
pub use message::{
    AuditEntry, CardInfo, Code, Complaint, Grant, KeyInfo, KeyUsage, Master, MasterState,
    ProcessUsage, Refusal, Reply, Request, Right, Served, Status, Subject, Used, UserUsage,
};
pub use secret::Secret;
