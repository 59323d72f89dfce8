//! The sockets that the service listens on.
//!
//! systemd hands them over where a socket unit has them, and keeps them while the service restarts: a client that
//! connects meanwhile waits. Otherwise the service makes them.
//!
//! Each has a second, abstract address, which a process in a chroot still reaches (HAProxy confines itself so). Anyone
//! may bind an abstract address while the service does not run, so clients check who listens.

use std::fs;
use std::io;
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use outboard_wire::{ADMINISTRATION_SOCKET, AGENT_SOCKET, SERVICE_SOCKET};
use rustix::fs::Mode;
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};

/// How many clients may wait to be accepted.
const BACKLOG: i32 = 4096;

/// How long a service that was killed may still seem to be there.
pub(crate) const DYING: Duration = Duration::from_secs(2);

/// The sockets that the service listens on.
pub(crate) struct Sockets {
    /// For the use of keys: one in the file system, and its abstract twin.
    pub(crate) service: Vec<OwnedFd>,
    /// For administration.
    pub(crate) administration: OwnedFd,
    /// For ssh clients.
    pub(crate) agent: Vec<OwnedFd>,
    /// What the service has to remove at its end.
    made: Vec<PathBuf>,
}

impl Sockets {
    /// Takes systemd's, and makes those that are missing.
    pub(crate) fn open(directory: &Path) -> io::Result<Self> {
        let (mut service, mut administration, mut agent) = (Vec::new(), None, Vec::new());
        for (socket, name) in inherited() {
            match Purpose::of(&name, sockopt::socket_type(&socket)?) {
                Purpose::Service => service.push(socket),
                Purpose::Administration => administration = Some(socket),
                Purpose::Agent => agent.push(socket),
            }
        }
        let mut made = Vec::new();
        // Where systemd hands sockets over, it decides which ones there are.
        let makes = service.is_empty();
        if makes {
            let path = directory.join(SERVICE_SOCKET);
            // Everybody may connect: whether a key may be used is decided for each key.
            service.push(bind(&path, SocketType::SEQPACKET, 0o666)?);
            made.push(path);
            service.extend(bind_abstract(directory)?);
        }
        let administration = match administration {
            Some(socket) => socket,
            None => {
                let path = directory.join(ADMINISTRATION_SOCKET);
                let socket = bind(&path, SocketType::STREAM, 0o666)?;
                made.push(path);
                socket
            }
        };
        if makes && agent.is_empty() {
            let path = directory.join(AGENT_SOCKET);
            // As above: a client sees only the keys that it may use.
            agent.push(bind(&path, SocketType::STREAM, 0o666)?);
            made.push(path);
        }
        Ok(Self {
            service,
            administration,
            agent,
            made,
        })
    }
}

/// What a socket is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Service,
    Administration,
    Agent,
}

impl Purpose {
    /// By the name that the socket's unit gives (`FileDescriptorName=`); by the type where it gives none of ours.
    fn of(name: &str, kind: SocketType) -> Self {
        match name {
            "service" => Self::Service,
            "admin" => Self::Administration,
            "agent" => Self::Agent,
            _ if kind == SocketType::SEQPACKET => Self::Service,
            _ => Self::Administration,
        }
    }
}

impl Drop for Sockets {
    fn drop(&mut self) {
        for path in &self.made {
            let _ = fs::remove_file(path);
        }
    }
}

/// The descriptors that systemd hands over, with their names (`sd_listen_fds_with_names(3)`).
fn inherited() -> Vec<(OwnedFd, String)> {
    const FIRST: i32 = 3;
    let number = |name| std::env::var(name).ok()?.parse::<i32>().ok();
    if number("LISTEN_PID") != i32::try_from(std::process::id()).ok() {
        return Vec::new();
    }
    let count = number("LISTEN_FDS").unwrap_or(0).clamp(0, 16);
    let names = std::env::var("LISTEN_FDNAMES").unwrap_or_default();
    let names = names.split(':').chain(std::iter::repeat(""));
    (FIRST..FIRST + count)
        .zip(names)
        .map(|(descriptor, name)| {
            // SAFETY: systemd opened it for this process, and nothing else here knows of it.
            let socket = unsafe { OwnedFd::from_raw_fd(descriptor) };
            let _ = rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC);
            // systemd's block: of two workers that see one client, the second would wait in accept(2) for another.
            let _ = rustix::io::ioctl_fionbio(&socket, true);
            (socket, name.to_owned())
        })
        .collect()
}

/// A listening socket in the file system. What a service that was killed has left there is replaced; a service that
/// lives is an error.
fn bind(path: &Path, kind: SocketType, mode: u32) -> io::Result<OwnedFd> {
    let address = SocketAddrUnix::new(path)?;
    let since = Instant::now();
    while fs::symlink_metadata(path).is_ok() {
        if net::connect(socket(kind)?, &address).is_err() {
            fs::remove_file(path)?;
        } else if since.elapsed() > DYING {
            return Err(io::Error::new(
                io::ErrorKind::AddrInUse,
                format!("another service listens at {}", path.display()),
            ));
        } else {
            std::thread::sleep(DYING / 50);
        }
    }
    let socket = socket(kind)?;
    // From the first moment: a client that is refused for want of permission does not try again. No other thread runs yet.
    let before = rustix::process::umask(Mode::from_raw_mode(!mode & 0o777));
    let bound = net::bind(&socket, &address);
    rustix::process::umask(before);
    bound?;
    net::listen(&socket, BACKLOG)?;
    Ok(socket)
}

/// The abstract twin of the service's socket in that directory; none where the directory's name is too long for one.
fn bind_abstract(directory: &Path) -> io::Result<Option<OwnedFd>> {
    let Some(name) = outboard_wire::abstract_name(directory) else {
        return Ok(None);
    };
    let socket = socket(SocketType::SEQPACKET)?;
    let address = SocketAddrUnix::new_abstract_name(&name)?;
    let since = Instant::now();
    while let Err(error) = net::bind(&socket, &address) {
        if since.elapsed() > DYING {
            return Err(error.into());
        }
        std::thread::sleep(DYING / 50);
    }
    net::listen(&socket, BACKLOG)?;
    Ok(Some(socket))
}

fn socket(kind: SocketType) -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(net::socket_with(AddressFamily::UNIX, kind, flags, None)?)
}

/// The next client of a listening socket; none where none waits.
pub(crate) fn accept(listener: impl AsFd) -> io::Result<Option<OwnedFd>> {
    match net::accept_with(listener, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) {
        Ok(socket) => Ok(Some(socket)),
        Err(
            rustix::io::Errno::AGAIN | rustix::io::Errno::INTR | rustix::io::Errno::CONNABORTED,
        ) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_told_by_its_name_or_else_by_its_type() {
        for (name, kind, purpose) in [
            ("service", SocketType::SEQPACKET, Purpose::Service),
            ("admin", SocketType::STREAM, Purpose::Administration),
            ("agent", SocketType::STREAM, Purpose::Agent),
            ("outboard.socket", SocketType::SEQPACKET, Purpose::Service),
            ("unknown", SocketType::STREAM, Purpose::Administration),
            ("", SocketType::STREAM, Purpose::Administration),
        ] {
            assert_eq!(Purpose::of(name, kind), purpose, "{name}");
        }
    }

    #[test]
    fn what_a_killed_service_left_is_replaced_and_a_living_one_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let sockets = Sockets::open(directory.path()).unwrap();
        let error = Sockets::open(directory.path()).err().unwrap();
        assert!(error.to_string().contains("another service"), "{error}");
        // As a kill leaves it.
        std::mem::forget(fs::rename(
            directory.path().join(SERVICE_SOCKET),
            directory.path().join("aside"),
        ));
        drop(sockets);
        fs::rename(
            directory.path().join("aside"),
            directory.path().join(SERVICE_SOCKET),
        )
        .unwrap();
        let again = Sockets::open(directory.path()).unwrap();
        drop(again);
        assert!(!directory.path().join(SERVICE_SOCKET).exists());
    }
}
