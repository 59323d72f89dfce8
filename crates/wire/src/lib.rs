//! The card service's messages: bytes in, requests out.
//!
//! ```text
//! reference.rs  what stands in the file of a key: PEM block OUTBOARD KEY
//! key.rs        how a key is called, and what it is
//! request.rs    client ──▶ service   one packet for each request
//! answer.rs     client ◀── service   one packet for each answer
//! ```
//!
//! A request names its key by id, so a connection has no state: a request whose answer was lost is sent again on a
//! new connection. Knows formats; never sockets or keys.

mod answer;
mod bytes;
mod key;
pub mod reference;
mod request;

pub use answer::{Answer, Status};
pub use key::{KeyId, KeyType};
pub use reference::Reference;
pub use request::{Digest, Operation, Request, Salt};

/// The version of the messages.
pub const VERSION: u8 = 1;

/// The longest packet, request or answer, in bytes.
pub const MOST: usize = 64 * 1024;

/// The name of the socket for the use of keys, in a service's directory.
pub const SERVICE_SOCKET: &str = "service.sock";
/// The name of the socket for administration, in a service's directory.
pub const ADMINISTRATION_SOCKET: &str = "admin.sock";
/// The name of the ssh-agent's socket, in a service's directory.
pub const AGENT_SOCKET: &str = "agent.sock";
/// The directory of the system's service.
pub const SYSTEM_DIRECTORY: &str = "/run/outboard";

/// The abstract name of the socket for the use of keys of the service in that directory. Programs that have changed their
/// root directory since they read a reference reach the service by it.
///
/// Longer than a socket's name may be, a directory's name is cut at its beginning.
pub fn abstract_name(directory: &std::path::Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    const PREFIX: &[u8] = b"outboard:";
    // The kernel's 108 bytes, less the one that makes the name abstract.
    const MOST_NAME: usize = 107 - PREFIX.len();
    let path = directory.as_os_str().as_bytes();
    [PREFIX, &path[path.len().saturating_sub(MOST_NAME)..]].concat()
}

/// Why bytes are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// They end too early.
    Short,
    /// They go on where a message ends, or are longer than [`MOST`].
    Long,
    /// Another version than [`VERSION`].
    Version(u8),
    /// A code that this version does not know.
    Code(u8),
}

impl std::fmt::Display for Malformed {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Short => formatter.write_str("the message ends too early"),
            Self::Long => formatter.write_str("the message is too long"),
            Self::Version(version) => write!(
                formatter,
                "the message has version {version}, this program knows version {VERSION}"
            ),
            Self::Code(code) => write!(formatter, "the message has the unknown code {code}"),
        }
    }
}

impl std::error::Error for Malformed {}
