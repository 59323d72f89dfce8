//! A process's connection to the card service: connect, fork, retry, time limits.
//!
//! ```text
//! Client::ask ──▶ pool ──▶ connection ──▶ address     the socket's path, or its abstract name in a chroot
//!      ▲            │           └── one packet out, one packet in
//!      └─ retry     └── places for connections: each belongs to one request at a time, and to one process
//! ```
//!
//! A request names its key, so a connection has no state. A request whose answer was lost is sent again on a new
//! connection, until the time limit has passed. No signal is raised, no thread is made, and no descriptor is open before
//! the first request.

pub mod address;
mod client;
mod connection;
mod error;
mod fork;
mod pace;
mod pool;
#[cfg(feature = "stand-in")]
pub mod stand_in;

pub use client::{Client, Key, Pending, Progress, Settings};
pub use error::{Error, Problem};
pub use pool::MOST as MOST_CONNECTIONS;
