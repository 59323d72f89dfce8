//! The sockets that the service and its front listen on.
//!
//! systemd hands them over where a socket unit has them, and keeps them while the service restarts: a client that
//! connects meanwhile waits. Otherwise the service makes them.
//!
//! The service's socket has a second, abstract address, which a process in a chroot still reaches (HAProxy confines itself so). Anyone
//! may bind an abstract address while the service does not run, so clients check who listens.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use outboard_wire::{ADMINISTRATION_SOCKET, AGENT_SOCKET, RELAY_SOCKET, SERVICE_SOCKET};
use rustix::fs::Mode;
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use crate::visitor::take_no_descriptors;

/// How many clients may wait to be accepted.
const BACKLOG: i32 = 4096;

/// How long a service that was killed may still seem to be there.
pub(crate) const DYING: Duration = Duration::from_secs(2);

/// The sockets that the service listens on.
pub(crate) struct Sockets {
    // First: who comes next must not find a file that is about to be removed.
    _made: Made,
    /// For the use of keys: one in the file system, and its abstract twin.
    pub(crate) service: Vec<OwnedFd>,
    /// For administration.
    pub(crate) administration: OwnedFd,
    /// For the front.
    pub(crate) relay: Option<OwnedFd>,
}

impl Sockets {
    /// Takes systemd's, and makes those that are missing.
    pub(crate) fn open(directory: &Path) -> io::Result<Self> {
        let (mut service, mut administration, mut relay) = (Vec::new(), None, None);
        for socket in inherited() {
            let address = SocketAddrUnix::try_from(net::getsockname(&socket)?)?;
            let path = address
                .path_bytes()
                .map(|path| Path::new(OsStr::from_bytes(path)));
            match path.and_then(Path::file_name).and_then(OsStr::to_str) {
                None | Some(SERVICE_SOCKET) => service.push(socket),
                Some(ADMINISTRATION_SOCKET) => administration = Some(socket),
                Some(RELAY_SOCKET) => relay = Some(socket),
                // Of another version's units.
                Some(_) => {}
            }
        }
        let mut made = Made::default();
        // Where systemd hands sockets over, it decides which ones there are.
        let makes = service.is_empty();
        if makes {
            // Everybody may connect: whether a key may be used is decided for each key.
            service.push(made.bind(directory.join(SERVICE_SOCKET), SocketType::SEQPACKET)?);
            match bind_abstract(directory) {
                Ok(socket) => service.extend(socket),
                // Anybody can take the address. The service is there for all others.
                Err(error) => tracing::warn!(
                    "programs that changed their root directory cannot connect, because another process listens at the \
                     abstract address of {}: {error} (find it with 'ss -xlp', and start the service again)",
                    directory.display()
                ),
            }
        }
        let administration = match administration {
            Some(socket) => socket,
            None => made.bind(directory.join(ADMINISTRATION_SOCKET), SocketType::STREAM)?,
        };
        if makes && relay.is_none() {
            // As above: the service asks who it is.
            relay = Some(made.bind(directory.join(RELAY_SOCKET), SocketType::STREAM)?);
        }
        // The front hands its clients over at the other one.
        service.iter().for_each(take_no_descriptors);
        take_no_descriptors(&administration);
        Ok(Self {
            _made: made,
            service,
            administration,
            relay,
        })
    }
}

/// The socket that ssh clients connect to.
pub(crate) struct AgentSocket {
    // First, as above.
    _made: Made,
    pub(crate) socket: OwnedFd,
}

impl AgentSocket {
    /// Takes systemd's, or makes it.
    pub(crate) fn open(directory: &Path) -> io::Result<Self> {
        let mut made = Made::default();
        let socket = match inherited().pop() {
            Some(socket) => socket,
            // Everybody may connect: a client sees only the keys that it may use.
            None => made.bind(directory.join(AGENT_SOCKET), SocketType::STREAM)?,
        };
        take_no_descriptors(&socket);
        Ok(Self {
            _made: made,
            socket,
        })
    }
}

/// The sockets' files that this process has to remove at its end.
#[derive(Default)]
struct Made(Vec<PathBuf>);

impl Made {
    /// A listening socket to which everybody may connect.
    fn bind(&mut self, path: PathBuf, kind: SocketType) -> io::Result<OwnedFd> {
        let socket = bind(&path, kind)?;
        self.0.push(path);
        Ok(socket)
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        for path in &self.0 {
            let _ = fs::remove_file(path);
        }
    }
}

/// The descriptors that systemd hands over (`sd_listen_fds(3)`).
fn inherited() -> Vec<OwnedFd> {
    const FIRST: i32 = 3;
    let number = |name| std::env::var(name).ok()?.parse::<i32>().ok();
    if number("LISTEN_PID") != i32::try_from(std::process::id()).ok() {
        return Vec::new();
    }
    let count = number("LISTEN_FDS").unwrap_or(0).clamp(0, 16);
    (FIRST..FIRST + count)
        .map(|descriptor| {
            // SAFETY: systemd opened it for this process, and nothing else here knows of it.
            let socket = unsafe { OwnedFd::from_raw_fd(descriptor) };
            let _ = rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC);
            // systemd's block: of two workers that see one client, the second would wait in accept(2) for another.
            let _ = rustix::io::ioctl_fionbio(&socket, true);
            socket
        })
        .collect()
}

/// A listening socket in the file system, to which everybody may connect. What a process that was killed has left there is
/// replaced; a process that lives is an error.
fn bind(path: &Path, kind: SocketType) -> io::Result<OwnedFd> {
    let address = SocketAddrUnix::new(path)?;
    let since = Instant::now();
    while fs::symlink_metadata(path).is_ok() {
        match net::connect(socket(kind)?, &address) {
            Err(Errno::CONNREFUSED | Errno::NOENT) => fs::remove_file(path)?,
            // Somebody listens, also where so many wait that the queue takes no more.
            Ok(()) | Err(Errno::AGAIN) if since.elapsed() > DYING => {
                return Err(io::Error::new(
                    io::ErrorKind::AddrInUse,
                    format!("another service listens at {}", path.display()),
                ));
            }
            Ok(()) | Err(Errno::AGAIN) => std::thread::sleep(DYING / 50),
            Err(error) => return Err(error.into()),
        }
    }
    let socket = socket(kind)?;
    // From the first moment: a client that is refused for want of permission does not try again. No other thread runs yet.
    let before = rustix::process::umask(Mode::XUSR | Mode::XGRP | Mode::XOTH);
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

/// A connection to such a socket; never waits.
pub(crate) fn connect(path: &Path) -> io::Result<OwnedFd> {
    let socket = socket(SocketType::STREAM)?;
    net::connect(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(socket)
}

fn socket(kind: SocketType) -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(net::socket_with(AddressFamily::UNIX, kind, flags, None)?)
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn one_whose_queue_is_full_lives() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(AGENT_SOCKET);
        let listener = socket(SocketType::STREAM).unwrap();
        net::bind(&listener, &SocketAddrUnix::new(&path).unwrap()).unwrap();
        net::listen(&listener, 1).unwrap();
        let waiting: Vec<_> = std::iter::from_fn(|| connect(&path).ok()).collect();
        assert!(!waiting.is_empty());
        let error = bind(&path, SocketType::STREAM).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
        assert!(path.exists());
    }
}
