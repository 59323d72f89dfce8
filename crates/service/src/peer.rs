//! The process at the other end of a socket: the kernel says which user runs it.

use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;

use rustix::net::{SocketAddrUnix, sockopt};

/// The user of a process, as it was when the process connected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Peer {
    pub(crate) uid: u32,
    /// The primary group first.
    pub(crate) gids: Vec<u32>,
    pub(crate) pid: i32,
}

impl Peer {
    /// The peer of that socket.
    pub(crate) fn of(socket: impl AsFd) -> io::Result<Self> {
        let credentials = credentials(&socket)?;
        let mut gids = vec![credentials.gid];
        gids.extend(groups(socket)?);
        Ok(Self {
            uid: credentials.uid,
            gids,
            pid: credentials.pid,
        })
    }

    /// The client of a socket that a process of that user accepted, from clients that connected to that path.
    ///
    /// # Errors
    /// The other process may have made the socket itself, so the kernel's word may be about another process: of a socket
    /// that listens, and of the end that connected, the kernel tells who listens. The end that connected has that path as its
    /// name, too, if the process gave it that name where the path led elsewhere (a mount namespace). But what listens has a
    /// name, and no ssh client has one. One end of a socket pair can have that name and another end without one, and of a pair the
    /// kernel tells who made it. But it belongs to the user who made it, and what is accepted to the user who accepted it.
    pub(crate) fn of_accepted(socket: impl AsFd, path: &Path, by: u32) -> io::Result<Self> {
        // As bytes: rustix panics where it reads a name that fills all the room of an address.
        let is_there = rustix::net::getsockname(&socket)? == SocketAddrUnix::new(path)?.into();
        let is_theirs = rustix::fs::fstat(&socket)?.st_uid == by;
        if !is_there || !is_theirs || sockopt::socket_acceptconn(&socket)? || is_named(&socket)? {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Self::of(socket)
    }

    /// Whether it administers every key: root does, and the service's own user.
    pub(crate) fn is_administrator(&self) -> bool {
        self.uid == 0 || self.uid == rustix::process::geteuid().as_raw()
    }
}

/// The user at the other end of a socket; the highest number where there is none.
pub(crate) fn uid(socket: impl AsFd) -> u32 {
    credentials(socket).map_or(u32::MAX, |credentials| credentials.uid)
}

/// Whether the other end has a name.
fn is_named(socket: impl AsFd) -> io::Result<bool> {
    let other = rustix::net::getpeername(socket)?;
    let family = size_of::<libc::sa_family_t>() as libc::socklen_t;
    Ok(other.is_some_and(|other| other.addr_len() > family))
}

/// `SO_PEERCRED`. The process is 0 where this one's namespace does not have it.
fn credentials(socket: impl AsFd) -> io::Result<libc::ucred> {
    /// What a socket without a peer has.
    const NOBODY: u32 = u32::MAX;
    let mut found = libc::ucred {
        pid: 0,
        uid: NOBODY,
        gid: NOBODY,
    };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: a value of ours, and its length.
    let answer = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut found).cast(),
            &raw mut length,
        )
    };
    match answer {
        0 if found.uid != NOBODY => Ok(found),
        0 => Err(io::ErrorKind::NotConnected.into()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The supplementary groups (`SO_PEERGROUPS`).
fn groups(socket: impl AsFd) -> io::Result<Vec<u32>> {
    /// `NGROUPS_MAX`
    const MOST: usize = 65_536;
    let mut room = vec![0_u32; 32];
    loop {
        let mut length = size_of_val(&room[..]) as libc::socklen_t;
        // SAFETY: writes at most `length` bytes, which is the room there is, and tells how many.
        let answer = unsafe {
            libc::getsockopt(
                socket.as_fd().as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_PEERGROUPS,
                room.as_mut_ptr().cast(),
                &raw mut length,
            )
        };
        if answer == 0 {
            room.truncate(length as usize / size_of::<u32>());
            return Ok(room);
        }
        let error = io::Error::last_os_error();
        if error.raw_os_error() != Some(libc::ERANGE) || room.len() >= MOST {
            return Err(error);
        }
        room.resize((length as usize / size_of::<u32>()).max(2 * room.len()), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_knows_the_other_end() {
        let (one, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        let peer = Peer::of(&one).unwrap();
        assert_eq!(peer.uid, rustix::process::getuid().as_raw());
        assert_eq!(peer.gids[0], rustix::process::getgid().as_raw());
        assert_eq!(peer.pid as u32, std::process::id());
    }

    /// A socket with that name, which does not listen.
    fn bound(path: &Path) -> std::os::fd::OwnedFd {
        use rustix::net::{AddressFamily, SocketType, bind, socket};
        let socket = socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
        bind(&socket, &SocketAddrUnix::new(path).unwrap()).unwrap();
        socket
    }

    #[test]
    fn what_is_no_client_of_that_path_is_refused() {
        let us = rustix::process::geteuid().as_raw();
        let directory = tempfile::tempdir().unwrap();
        let (path, other) = (directory.path().join("a"), directory.path().join("b"));
        let connected = |path: &Path| {
            let listener = std::os::unix::net::UnixListener::bind(path).unwrap();
            let client = std::os::unix::net::UnixStream::connect(path).unwrap();
            let (accepted, _) = listener.accept().unwrap();
            (listener, client, accepted)
        };
        let (listener, client, accepted) = connected(&path);
        let peer = Peer::of_accepted(&accepted, &path, us).unwrap();
        assert_eq!(peer.pid as u32, std::process::id());
        assert!(Peer::of_accepted(&accepted, &other, us).is_err());
        assert!(Peer::of_accepted(&accepted, &path, us + 1).is_err());
        // Of these the kernel would tell who listens.
        assert!(Peer::of(&client).is_ok() && Peer::of(&listener).is_ok());
        assert!(Peer::of_accepted(&client, &path, us).is_err());
        assert!(Peer::of_accepted(&listener, &path, us).is_err());
        // A client that is gone still was one.
        drop(client);
        assert_eq!(Peer::of_accepted(&accepted, &path, us).unwrap(), peer);
        let (_elsewhere, _, elsewhere) = connected(&other);
        assert!(Peer::of_accepted(&elsewhere, &path, us).is_err());
        // As in a mount namespace: what connects to another listener has the path as its name.
        std::fs::remove_file(&path).unwrap();
        let named = bound(&path);
        rustix::net::connect(&named, &SocketAddrUnix::new(&other).unwrap()).unwrap();
        assert!(Peer::of(&named).is_ok() && Peer::of_accepted(&named, &path, us).is_err());
        let longest = directory
            .path()
            .join("c".repeat(107 - directory.path().as_os_str().len()));
        assert!(Peer::of_accepted(bound(&longest), &path, us).is_err());
        let internet = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        assert!(Peer::of(&internet).is_err() && Peer::of_accepted(&internet, &path, us).is_err());
        assert!(Peer::of_accepted(std::fs::File::open("/dev/null").unwrap(), &path, us).is_err());
    }
}
