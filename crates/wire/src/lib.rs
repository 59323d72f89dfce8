//! The card service's messages: bytes in, requests out.
//!
//! ```text
//! reference.rs  what stands in the file of a key: PEM block OUTBOARD KEY
//! key.rs        how a key is called, and what it is; public.rs: its public half
//! request.rs    client ──▶ service   one packet for each request; ticket.rs: what opens a token
//! answer.rs     client ◀── service   one packet for each answer
//! message.rs    what the answer to a decryption has
//! page.rs       what the answer to a listing has
//! attributes.rs what a token's object has
//! haste.rs      how an end waits for the other
//! ```
//!
//! A request names its key by id (only `Find` and `List` by name), so a connection has no state: a request whose answer was lost is
//! sent again on a new connection. Knows formats; never sockets or keys.

use std::path::Path;
use std::time::Duration;

mod answer;
pub mod attributes;
mod bytes;
pub mod haste;
mod key;
pub mod message;
mod page;
mod public;
pub mod reference;
mod request;
mod ticket;

pub use answer::{Answer, Status};
pub use key::{KeyId, KeyType, is_name};
pub use page::{Listed, Page, certificates};
pub use public::Public;
pub use reference::Reference;
pub use request::{Digest, Encryption, Operation, Request, Salt};
pub use ticket::Ticket;

/// The version of the messages.
pub const VERSION: u8 = 1;

/// The longest message that a key signs, in bytes.
pub const MOST_MESSAGE: usize = 64 * 1024;
/// The longest packet, request or answer, in bytes: such a message, with what stands before it.
pub const MOST: usize = MOST_MESSAGE + 64;

/// The name of the socket for the use of keys, in a service's directory.
pub const SERVICE_SOCKET: &str = "service.sock";
/// The name of the socket for administration, in a service's directory.
pub const ADMINISTRATION_SOCKET: &str = "admin.sock";
/// The name of the ssh-agent's socket, in a service's directory: the front's.
pub const AGENT_SOCKET: &str = "agent.sock";
/// The name of the socket where the front asks for ssh clients, in a service's directory.
pub const RELAY_SOCKET: &str = "relay.sock";
/// How long a request is tried, in all, where nobody said otherwise (the setting `service-limit`).
pub const SERVICE_LIMIT: Duration = Duration::from_secs(5);
/// The directory of the system's service.
pub const SYSTEM_DIRECTORY: &str = "/run/outboard";

/// The option that names a service's directory to `outboard service` and `outboard keys`, after a space; nothing for the
/// system's.
pub fn directory_option(directory: &Path) -> String {
    match directory == Path::new(SYSTEM_DIRECTORY) {
        true => String::new(),
        false => format!(" --directory {}", directory.display()),
    }
}

/// The abstract name (unix(7)) of the service of a directory, without the zero byte that it begins with:
/// `outboard/run/outboard` for `/run/outboard`. Programs that have changed their root directory since they read a
/// reference reach the service by it. None where it is longer than an address has room for.
pub fn abstract_name(directory: &Path) -> Option<Vec<u8>> {
    use std::os::unix::ffi::OsStrExt;
    /// The bytes of an address, less the one that makes it abstract.
    const ROOM: usize = 107;
    let name = [b"outboard", directory.as_os_str().as_bytes()].concat();
    (name.len() <= ROOM).then_some(name)
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
    /// A name that no key can have.
    Name,
    /// An attribute that does not come after the one before it.
    Order,
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
            Self::Name => formatter.write_str("the message has a name that no key can have"),
            Self::Order => formatter.write_str("the message has attributes in a wrong order"),
        }
    }
}

impl std::error::Error for Malformed {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_another_directory_is_named() {
        assert_eq!(directory_option(Path::new(SYSTEM_DIRECTORY)), "");
        let option = directory_option(Path::new("/tmp/keys"));
        assert_eq!(option, " --directory /tmp/keys");
    }

    #[test]
    fn an_abstract_name_tells_the_directory() {
        let name = abstract_name(Path::new("/run/outboard"));
        assert_eq!(name.as_deref(), Some(&b"outboard/run/outboard"[..]));
        assert_eq!(abstract_name(Path::new(&"/long".repeat(30))), None);
    }
}
