//! What the command `outboard`, the PKCS #11 module and the card service tell each other: a line of JSON for each message.
//!
//! ```text
//! outboard keys, service, token; the PKCS #11 module ──Request──▶ admin.sock of the service
//!                                                   ◀──Reply───
//! ```
//!
//! The service asks the kernel for the uid of the process at the other end, so a message carries no name of its
//! sender.

mod connection;
mod coprocessor;
mod line;
mod message;
mod secret;
mod token;

pub use connection::{Connection, Error};
pub use coprocessor::{CoprocessorInfo, CoprocessorRequest, VerbUsage};
pub use line::{Lines, MOST_LINE, to_line};
pub use message::{
    AuditEntry, CardInfo, Code, Complaint, Grant, KeyInfo, KeyUsage, Master, MasterState,
    ProcessUsage, Refusal, Reply, Request, Right, Served, Status, Subject, Used, UserUsage,
};
pub use secret::Secret;
pub use token::{
    Login, MOST_ATTRIBUTES, MOST_FAILURES, MOST_OBJECTS, NewObject, ObjectInfo, PIN_LENGTH, Pins,
    Role, TokenInfo, TokenPolicy, TokenRequest,
};
