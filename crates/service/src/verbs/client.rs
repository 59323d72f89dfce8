//! A connection that the service has handed over.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Mutex;

use outboard_cca::Caller;
use outboard_wire::haste::Haste;
use rustix::io::Errno;
use rustix::net::{self, RecvAncillaryBuffer, RecvFlags, ReturnFlags, Shutdown};

use crate::peer::Peer;

/// A connection.
pub(super) struct Client {
    pub(super) number: u64,
    socket: OwnedFd,
    pub(super) caller: Caller,
    /// The process at its other end.
    pub(super) process: i32,
    pub(super) turn: Mutex<Turn>,
    /// How soon its requests follow each other.
    pub(super) haste: Haste,
}

/// Whose a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Nobody's: a request may come.
    Idle,
    /// That of the thread which carries out its request.
    Busy,
    /// Likewise; then the service's.
    Last,
    /// The service's.
    Back,
}

impl Client {
    pub(super) fn new(number: u64, socket: OwnedFd, caller: Caller, process: i32) -> Self {
        Self {
            number,
            socket,
            caller,
            process,
            turn: Mutex::new(Turn::Idle),
            haste: Haste::default(),
        }
    }

    /// Who asks, for the log.
    pub(super) fn peer(&self) -> Peer {
        Peer {
            uid: self.caller.user,
            gids: Vec::new(),
            pid: self.process,
        }
    }

    /// Looks at the next packet, which stays where it is.
    ///
    /// # Errors
    /// `Errno::NOTSUP`: descriptors are attached (see [`crate::visitor`]).
    pub(super) fn look(&self, room: &mut [u8]) -> Result<usize, Errno> {
        let looked = net::recvmsg(
            &self.socket,
            &mut [std::io::IoSliceMut::new(room)],
            &mut RecvAncillaryBuffer::default(),
            RecvFlags::PEEK | RecvFlags::DONTWAIT | RecvFlags::TRUNC,
        )?;
        match looked.flags.contains(ReturnFlags::CTRUNC) {
            true => Err(Errno::NOTSUP),
            false => Ok(looked.bytes),
        }
    }

    /// Whether there is a packet, or the end.
    pub(super) fn is_readable(&self) -> bool {
        let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
        net::recv(&self.socket, &mut [0_u8; 1], flags) != Err(Errno::AGAIN)
    }

    /// Takes the packet that was looked at.
    pub(super) fn skip(&self) {
        let flags = RecvFlags::DONTWAIT | RecvFlags::TRUNC;
        let _ = net::recv(&self.socket, &mut [0; 1], flags);
    }

    /// Nobody reads its answers: both ends learn that.
    pub(super) fn shut(&self) {
        let _ = net::shutdown(&self.socket, Shutdown::Both);
    }
}

impl AsFd for Client {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
