//! A connection of the command to a service.

use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use outboard_wire::{ADMINISTRATION_SOCKET, SYSTEM_DIRECTORY};

use crate::line::{Lines, MOST_LINE, to_line};
use crate::{KeyInfo, Refusal, Reply, Request};

/// How long the command waits for an answer: a key of 4096 bits takes seconds to be made, a roll of all keys more.
const PATIENCE: Duration = Duration::from_secs(600);

/// How long it waits for the first one, which takes no work: systemd holds the socket even where no service runs.
const PATIENCE_FOR_THE_FIRST: Duration = Duration::from_secs(5);

/// A connection to a service.
pub struct Connection {
    lines: Lines<UnixStream>,
    path: PathBuf,
    patience: Duration,
    /// Whether the service has answered.
    answered: bool,
}

/// Why a service was not reached, or did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nobody listens.
    #[error(
        "the card service does not answer at {path}: {reason} (run 'outboard service start{}')",
        option(path)
    )]
    Unreachable {
        /// The socket.
        path: PathBuf,
        /// Why.
        reason: io::Error,
    },
    /// The connection ended.
    #[error(
        "the card service at {path} ended the connection: {reason} (see 'outboard service status' and its log)"
    )]
    Lost {
        /// The socket.
        path: PathBuf,
        /// Why.
        reason: io::Error,
    },
    /// Somebody holds the socket, and does not answer.
    #[error(
        "the card service does not answer at {path}: it cannot start, or it is busy ('outboard doctor' and 'systemctl status outboard' say \
         why)"
    )]
    Silent {
        /// The socket.
        path: PathBuf,
    },
    /// The answer is none: another version of the service.
    #[error(
        "the card service at {path} answers what this command does not understand: {reason} (restart the service after an upgrade)"
    )]
    Misunderstood {
        /// The socket.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// It refuses.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// The option that names the directory of a socket, after a space; nothing for the system's.
fn option(socket: &Path) -> String {
    match socket.parent() {
        Some(directory) if directory != Path::new(SYSTEM_DIRECTORY) => {
            format!(" --directory {}", directory.display())
        }
        _ => String::new(),
    }
}

impl Connection {
    /// Connects to the service of that directory.
    ///
    /// # Errors
    /// [`Error::Unreachable`].
    pub fn open(directory: &Path) -> Result<Self, Error> {
        Self::open_for(directory, PATIENCE)
    }

    /// Connects to the service of that directory, and waits no longer than that for each answer.
    ///
    /// # Errors
    /// [`Error::Unreachable`].
    pub fn open_for(directory: &Path, patience: Duration) -> Result<Self, Error> {
        let path = directory.join(ADMINISTRATION_SOCKET);
        match UnixStream::connect(&path) {
            Ok(stream) => Ok(Self {
                lines: Lines::new(stream, MOST_LINE),
                path,
                patience,
                answered: false,
            }),
            Err(reason) => Err(Error::Unreachable { path, reason }),
        }
    }

    /// Asks, and waits for the answer, which is never [`Reply::Refused`].
    ///
    /// # Errors
    /// The service refuses, or its answer does not come.
    pub fn ask(&mut self, request: &Request) -> Result<Reply, Error> {
        if !self.answered {
            let status =
                self.exchange(&Request::Status, self.patience.min(PATIENCE_FOR_THE_FIRST))?;
            self.answered = true;
            if matches!(request, Request::Status) {
                return Ok(status);
            }
        }
        self.exchange(request, self.patience)
    }

    fn exchange(&mut self, request: &Request, patience: Duration) -> Result<Reply, Error> {
        let line = to_line(request).map_err(|reason| Error::Misunderstood {
            path: self.path.clone(),
            reason: reason.to_string(),
        })?;
        let stream = self.lines.stream();
        let limited = stream.set_read_timeout(Some(patience));
        let limited = limited.and_then(|()| stream.set_write_timeout(Some(patience)));
        let sent = limited.and_then(|()| stream.write_all(&line));
        let exchange = sent.and_then(|()| self.lines.next_line());
        let path = self.path.clone();
        let lost = |reason: io::Error| match reason.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Error::Silent { path },
            _ => Error::Lost { path, reason },
        };
        let answer = exchange
            .and_then(|answer| answer.ok_or_else(|| io::ErrorKind::UnexpectedEof.into()))
            .map_err(lost)?;
        match serde_json::from_slice(&answer) {
            Ok(Reply::Refused(refusal)) => Err(refusal.into()),
            Ok(reply) => Ok(reply),
            Err(reason) => Err(Error::Misunderstood {
                path: self.path.clone(),
                reason: reason.to_string(),
            }),
        }
    }

    /// Every key, by name; a sentence for each that is damaged.
    ///
    /// # Errors
    /// The service refuses, or its answer does not come.
    pub fn keys(&mut self) -> Result<(Vec<KeyInfo>, Vec<String>), Error> {
        let (mut all, mut all_damaged): (Vec<KeyInfo>, _) = (Vec::new(), Vec::new());
        loop {
            let after = all.last().map(|key| key.name.clone());
            match self.ask(&Request::List { after })? {
                Reply::Keys {
                    keys,
                    damaged,
                    more,
                } => {
                    let ended = !more || keys.is_empty();
                    all.extend(keys);
                    all_damaged.extend(damaged);
                    if ended {
                        return Ok((all, all_damaged));
                    }
                }
                _ => return Err(self.surprised()),
            }
        }
    }

    /// The error that says that the service's answer belongs to another question.
    pub fn surprised(&self) -> Error {
        Error::Misunderstood {
            path: self.path.clone(),
            reason: "an answer to another question".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreachable_service_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let error = Connection::open(directory.path())
            .err()
            .unwrap()
            .to_string();
        assert!(error.contains("admin.sock"), "{error}");
        let remedy = format!(
            "outboard service start --directory {}'",
            directory.path().display()
        );
        assert!(error.contains(&remedy), "{error}");
    }

    #[test]
    fn a_socket_that_nobody_serves_is_named_soon() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(ADMINISTRATION_SOCKET);
        let _held = std::os::unix::net::UnixListener::bind(&path).unwrap();
        let patience = Duration::from_millis(20);
        let mut connection = Connection::open_for(directory.path(), patience).unwrap();
        let error = connection.ask(&Request::Status).unwrap_err().to_string();
        assert!(error.contains("does not answer at"), "{error}");
    }
}
