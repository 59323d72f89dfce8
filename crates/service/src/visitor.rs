//! A socket whose other end may be anybody's.
//!
//! A process may attach descriptors to what it writes (SCM_RIGHTS). The kernel closes them where the message is read, or where the
//! socket is closed with the message unread, and it may wait meanwhile: for a TCP connection with SO_LINGER, as long as its owner
//! likes. So a thread that serves others never reads such a message, and never closes a socket that may hold one.
//!
//! ```text
//! from Linux 6.16   the listening socket takes no descriptors (SO_PASSRIGHTS), so nobody can attach any
//! before            each message is looked at before it is read; sockets are closed on other threads (closing.rs)
//! ```

use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{
    self, RecvAncillaryBuffer, RecvFlags, ReturnFlags, Shutdown, SocketFlags, sockopt,
};

use crate::closing;
use crate::peer;

/// Of Linux 6.16, where a number of options is that of most processors.
const SO_PASSRIGHTS: libc::c_int = 83;

/// Says that what connects to that listening socket from now on cannot attach descriptors, where the kernel knows that.
pub(crate) fn take_no_descriptors(listener: impl AsFd) {
    let no: libc::c_int = 0;
    // SAFETY: a value of ours, and its length.
    let _ = unsafe {
        libc::setsockopt(
            listener.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            SO_PASSRIGHTS,
            (&raw const no).cast(),
            size_of_val(&no) as libc::socklen_t,
        )
    };
}

/// Whether a socket takes descriptors. One that was accepted is as its listener was when the other end connected.
fn takes_descriptors(socket: impl AsFd) -> bool {
    let mut takes: libc::c_int = 1;
    let mut length = size_of_val(&takes) as libc::socklen_t;
    // SAFETY: a value of ours, and its length. It stays 1 where the kernel does not know the option.
    let _ = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            SO_PASSRIGHTS,
            (&raw mut takes).cast(),
            &raw mut length,
        )
    };
    takes != 0
}

/// A connection, or a copy of one.
#[derive(Debug)]
pub(crate) struct Visitor {
    socket: ManuallyDrop<OwnedFd>,
    /// Whether descriptors may be attached to what comes.
    may_bring: bool,
    /// Whether another process serves it, too.
    is_copy: bool,
}

impl Visitor {
    /// The next client of a listening socket; none where none waits.
    pub(crate) fn accept(listener: impl AsFd) -> io::Result<Option<Self>> {
        match net::accept_with(listener, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) {
            Ok(socket) => Ok(Some(Self::new(socket))),
            Err(Errno::AGAIN | Errno::INTR | Errno::CONNABORTED) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn new(socket: OwnedFd) -> Self {
        let may_bring = takes_descriptors(&socket);
        if may_bring {
            // Otherwise a byte out of band is thrown away without a look, with what is attached to it.
            let _ = sockopt::set_socket_oobinline(&socket, true);
        }
        Self {
            socket: ManuallyDrop::new(socket),
            may_bring,
            is_copy: false,
        }
    }

    /// What another process handed over. It may be anything.
    pub(crate) fn copy(descriptor: OwnedFd) -> Self {
        Self {
            socket: ManuallyDrop::new(descriptor),
            may_bring: true,
            is_copy: true,
        }
    }

    /// Receives into `room`, as recv(2) does. Never waits.
    ///
    /// # Errors
    /// `Errno::NOTSUP`: descriptors are attached. The message stays where it is.
    pub(crate) fn receive(&self, room: &mut [u8], flags: RecvFlags) -> Result<usize, Errno> {
        let flags = flags | RecvFlags::DONTWAIT;
        let most = match self.may_bring {
            true => self.look(room, flags)?.min(room.len()),
            false => room.len(),
        };
        if most == 0 {
            return Ok(0);
        }
        // No further than the look went.
        net::recv(self, &mut room[..most], flags).map(|(_, length)| length)
    }

    /// How much there is to receive; nothing is taken.
    fn look(&self, room: &mut [u8], flags: RecvFlags) -> Result<usize, Errno> {
        let looked = net::recvmsg(
            self,
            &mut [io::IoSliceMut::new(room)],
            // No room for descriptors: the kernel tells that there are some.
            &mut RecvAncillaryBuffer::default(),
            flags | RecvFlags::PEEK,
        )?;
        match looked.flags.contains(ReturnFlags::CTRUNC) {
            true => Err(Errno::NOTSUP),
            false => Ok(looked.bytes),
        }
    }

    /// The socket, for a thread that serves nobody else.
    pub(crate) fn into_inner(self) -> OwnedFd {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: taken once, for `this` is never dropped.
        unsafe { ManuallyDrop::take(&mut this.socket) }
    }
}

impl AsFd for Visitor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Visitor {
    fn drop(&mut self) {
        // SAFETY: taken once, for this is dropped once.
        let socket = unsafe { ManuallyDrop::take(&mut self.socket) };
        if !self.may_bring {
            return drop(socket);
        }
        if !self.is_copy {
            // The other end learns now that nobody listens.
            let _ = net::shutdown(&socket, Shutdown::Both);
        }
        closing::close(peer::uid(&socket), socket);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::IoSlice;
    use std::mem::MaybeUninit;
    use std::net::{TcpListener, TcpStream};
    use std::time::{Duration, Instant};

    use net::{
        AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketType, socketpair,
    };

    /// A connection that takes a long time to close, and what keeps it so.
    fn slow() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let slow = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (never_reads, _) = listener.accept().unwrap();
        slow.set_nonblocking(true).unwrap();
        while io::Write::write(&mut &slow, &[0; 65_536]).is_ok() {}
        sockopt::set_socket_linger(&slow, Some(Duration::from_secs(600))).unwrap();
        (slow, never_reads)
    }

    fn send_with(socket: impl AsFd, bytes: &[u8], attached: impl AsFd, flags: SendFlags) {
        let descriptors = [attached.as_fd()];
        let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut room);
        assert!(control.push(SendAncillaryMessage::ScmRights(&descriptors)));
        net::sendmsg(socket, &[IoSlice::new(bytes)], &mut control, flags).unwrap();
    }

    fn pair(kind: SocketType) -> (OwnedFd, Visitor) {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let (other, ours) = socketpair(AddressFamily::UNIX, kind, flags, None).unwrap();
        (other, Visitor::new(ours))
    }

    /// Neither to read nor to close takes time, whatever is attached and wherever it stands.
    #[test]
    fn nobody_waits_for_what_is_attached() {
        let cases = [
            (SocketType::SEQPACKET, &b""[..], SendFlags::empty()),
            (SocketType::SEQPACKET, b"before", SendFlags::empty()),
            (SocketType::STREAM, b"", SendFlags::empty()),
            (SocketType::STREAM, b"before", SendFlags::empty()),
            (SocketType::STREAM, b"", SendFlags::OOB),
            (SocketType::STREAM, b"before", SendFlags::OOB),
        ];
        for (kind, before, flags) in cases {
            let (other, ours) = pair(kind);
            let (slow, _never_reads) = slow();
            if !before.is_empty() {
                net::send(&other, before, SendFlags::empty()).unwrap();
            }
            send_with(&other, b"x", &slow, flags);
            drop(slow);
            let since = Instant::now();
            let mut room = [0; 100];
            let mut receive = || ours.receive(&mut room, RecvFlags::TRUNC);
            if !before.is_empty() {
                // A stream may be looked at further than this.
                let first = receive();
                assert!(first == Ok(before.len()) || first == Err(Errno::NOTSUP));
            }
            for _ in 0..2 {
                assert_eq!(receive(), Err(Errno::NOTSUP), "{kind:?} {flags:?}");
            }
            drop(ours);
            let elapsed = since.elapsed();
            assert!(elapsed < Duration::from_secs(5), "{kind:?} {elapsed:?}");
            // The other end has learnt of it.
            assert!(net::send(&other, b"y", SendFlags::NOSIGNAL).is_err());
        }
    }

    #[test]
    fn what_has_nothing_attached_is_received() {
        for kind in [SocketType::STREAM, SocketType::SEQPACKET] {
            let (other, ours) = pair(kind);
            let mut room = [0; 4];
            let mut receive = |flags| ours.receive(&mut room, flags);
            assert_eq!(receive(RecvFlags::empty()), Err(Errno::AGAIN));
            net::send(&other, b"hello", SendFlags::empty()).unwrap();
            net::send(&other, b"x", SendFlags::empty()).unwrap();
            match kind {
                SocketType::STREAM => {
                    assert_eq!(receive(RecvFlags::empty()), Ok(4));
                    assert_eq!(receive(RecvFlags::empty()), Ok(2));
                }
                // One that is longer than the room is as long as it is.
                _ => {
                    assert_eq!(receive(RecvFlags::TRUNC), Ok(5));
                    assert_eq!(receive(RecvFlags::TRUNC), Ok(1));
                }
            }
            drop(other);
            assert_eq!(receive(RecvFlags::empty()), Ok(0));
        }
    }

    #[test]
    fn a_listening_socket_takes_no_descriptors_where_the_kernel_knows_that() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("socket");
        let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        take_no_descriptors(&listener);
        let client = std::os::unix::net::UnixStream::connect(&path).unwrap();
        let visitor = Visitor::accept(&listener).unwrap().unwrap();
        assert_eq!(visitor.may_bring, takes_descriptors(&listener));
        if !visitor.may_bring {
            let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut control = SendAncillaryBuffer::new(&mut room);
            let descriptors = [client.as_fd()];
            assert!(control.push(SendAncillaryMessage::ScmRights(&descriptors)));
            let content = [IoSlice::new(b"x")];
            let sent = net::sendmsg(&client, &content, &mut control, SendFlags::NOSIGNAL);
            assert_eq!(sent, Err(Errno::PERM));
        }
    }
}
