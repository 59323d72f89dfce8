//! The front of the card service, at the ssh-agent's socket: whether it answers.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use outboard_wire::{AGENT_SOCKET, SYSTEM_DIRECTORY};
use rustix::process::Pid;
use serde::Serialize;

use crate::card_service::option;

/// How long an answer may take: longer than the front asks the service.
const PATIENCE: Duration = Duration::from_secs(10);

/// How the front does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Front {
    /// It answers.
    Running,
    /// Nobody listens, or this user may not connect.
    Down,
    /// It answers, and does not reach the service.
    Alone,
    /// It accepts connections and says nothing.
    Silent,
}

impl Front {
    /// Asks the one of that directory for its keys.
    pub fn of(directory: &Path) -> Self {
        /// The answers that list keys and that say no (RFC 9987).
        const IDENTITIES: u8 = 12;
        const FAILURE: u8 = 5;
        let Ok(agent) = connect(&socket(directory)) else {
            return Self::Down;
        };
        match keys(agent).map(|answer| answer.first().copied()) {
            Ok(Some(IDENTITIES)) => Self::Running,
            Ok(Some(FAILURE)) => Self::Alone,
            _ => Self::Silent,
        }
    }

    /// In words, for the front of that directory.
    pub fn words(self, directory: &Path) -> String {
        let socket = socket(directory);
        let socket = socket.display();
        match self {
            Self::Running => format!("answers at {socket}"),
            Self::Down => format!("nobody answers at {socket} ({})", start(directory)),
            Self::Alone => {
                format!("at {socket}, does not reach the service (run 'outboard doctor')")
            }
            Self::Silent => format!("at {socket}, says nothing (run 'outboard doctor')"),
        }
    }
}

/// What starts it.
pub fn start(directory: &Path) -> String {
    match directory == Path::new(SYSTEM_DIRECTORY) {
        true => "run 'systemctl enable --now outboard-agent.socket'".to_owned(),
        false => format!("run 'outboard service start{}'", option(directory)),
    }
}

/// Where it listens.
pub fn socket(directory: &Path) -> PathBuf {
    directory.join(AGENT_SOCKET)
}

/// A connection to the agent at that socket.
pub fn connect(socket: &Path) -> io::Result<UnixStream> {
    let agent = UnixStream::connect(socket)?;
    agent.set_read_timeout(Some(PATIENCE))?;
    Ok(agent)
}

/// What an agent answers to the question which keys there are.
pub fn keys(mut agent: UnixStream) -> io::Result<Vec<u8>> {
    /// The longest answer of an agent.
    const MOST: u32 = 256 * 1024;
    /// The only byte of the question (RFC 9987).
    const REQUEST_IDENTITIES: u8 = 11;
    agent.write_all(&[0, 0, 0, 1, REQUEST_IDENTITIES])?;
    let mut length = [0; 4];
    agent.read_exact(&mut length)?;
    let mut answer = Vec::new();
    let length = u32::from_be_bytes(length).min(MOST);
    agent.take(length.into()).read_to_end(&mut answer)?;
    Ok(answer)
}

/// The process that listens there; none where nobody does. (For the system's socket that is systemd.)
pub fn listener(directory: &Path) -> Option<Pid> {
    let agent = connect(&socket(directory)).ok()?;
    let peer = rustix::net::sockopt::socket_peercred(&agent).ok()?;
    Some(peer.pid)
}
