//! Which algorithms this machine should use: what each costs here, measured, and the order that follows.
//!
//! ```text
//! ssh   ciphers, MACs and key exchanges of the installed OpenSSH; as drop-ins for sshd and ssh
//! tls   certificates, groups and cipher suites of the installed OpenSSL; as lines for servers
//!        both: serving   the provider of the measured programs
//!              pairs     contenders that take turns, and their median
//!              order     what follows from costs
//!              level     how careful an advice is
//!              document  the measurements of an earlier run
//!              progress  what somebody who waits is told
//! ```
//!
//! Knows the installed OpenSSH and OpenSSL: starts them on loopback, and writes OpenSSH's drop-ins. Knows nothing of a
//! terminal: it answers with values, and tells a [`Listener`] how far it is.

mod document;
mod error;
mod level;
mod order;
mod pairs;
mod progress;
mod serving;
pub mod ssh;
pub mod tls;

pub use error::Error;
pub use level::Level;
pub use progress::{Listener, Progress};
pub use serving::Wanted;

/// Refuses names that were asked for and that `subject` does not have here. The error lists the names that it has.
fn check_only(only: &[String], known: &[&str], subject: &'static str) -> Result<(), Error> {
    let unknown: Vec<&str> = only
        .iter()
        .map(String::as_str)
        .filter(|name| !known.contains(name))
        .collect();
    if unknown.is_empty() {
        return Ok(());
    }
    Err(Error::Unknown {
        subject,
        unknown: unknown.join(", "),
        known: known.join(", "),
    })
}
