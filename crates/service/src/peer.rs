//! The process at the other end of a socket: the kernel says which user runs it.

use std::os::fd::{AsFd, AsRawFd};

use rustix::net::sockopt;

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
    pub(crate) fn of(socket: impl AsFd) -> std::io::Result<Self> {
        let credentials = sockopt::socket_peercred(&socket)?;
        let mut gids = vec![credentials.gid.as_raw()];
        gids.extend(groups(socket)?);
        Ok(Self {
            uid: credentials.uid.as_raw(),
            gids,
            pid: credentials.pid.as_raw_nonzero().get(),
        })
    }

    /// Whether it administers every key: root does, and the service's own user.
    pub(crate) fn is_administrator(&self) -> bool {
        self.uid == 0 || self.uid == rustix::process::geteuid().as_raw()
    }
}

/// The supplementary groups (`SO_PEERGROUPS`).
fn groups(socket: impl AsFd) -> std::io::Result<Vec<u32>> {
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
        let error = std::io::Error::last_os_error();
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
}
