//! One connection: a socket of packets.

use std::io;
use std::mem::zeroed;
use std::time::Instant;

use outboard_wire::haste::{Haste, SOON};
use zeroize::Zeroize;

use crate::address::{Address, Raw};

/// What tells a socket from whatever else may have its number later.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Identity {
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

/// Why there is no connection.
pub(crate) enum Refusal {
    /// The system gives no socket.
    Resource(io::Error),
    /// Nobody listens, or the process may not connect.
    Unreachable(io::Error),
    /// Another user listens.
    Impostor {
        found: libc::uid_t,
        expected: libc::uid_t,
    },
}

/// The lowest descriptor that may be ours: programs take 0, 1 and 2 for what they usually are.
const LOWEST: i32 = 3;

/// Makes a connection; never waits.
pub(crate) fn connect(address: &Address) -> Result<(i32, Identity), Refusal> {
    let socket = Socket::new().map_err(Refusal::Resource)?;
    let visible = address.visible().map_err(Refusal::Unreachable)?;
    match socket.connect(&visible) {
        Ok(()) => {}
        Err(error) if error.raw_os_error() == Some(libc::ENOENT) => {
            let (hidden, expected) = address.hidden().ok_or(Refusal::Unreachable(error))?;
            // The error names the path, which is what a person looks for.
            let gone = |_| Refusal::Unreachable(io::Error::from_raw_os_error(libc::ENOENT));
            socket.connect(&hidden).map_err(gone)?;
            let found = socket.listener().map_err(Refusal::Unreachable)?;
            if found != expected && found != 0 {
                return Err(Refusal::Impostor { found, expected });
            }
        }
        Err(error) => return Err(Refusal::Unreachable(error)),
    }
    let identity = identity(socket.0)
        .ok_or_else(last)
        .map_err(Refusal::Resource)?;
    Ok((socket.keep(), identity))
}

/// Sends a packet; waits until then at most.
pub(crate) fn send(descriptor: i32, packet: &[u8], until: Instant) -> io::Result<()> {
    loop {
        // SAFETY: as many bytes as the slice has.
        let sent = unsafe {
            libc::send(
                descriptor,
                packet.as_ptr().cast(),
                packet.len(),
                libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT,
            )
        };
        match sent {
            0.. => return Ok(()),
            _ => wait_or_fail(descriptor, libc::POLLOUT, until)?,
        }
    }
}

/// Room for a packet. What was received there is wiped; the rest, which nobody wrote to, costs nothing.
pub(crate) struct Room(Vec<u8>);

impl Room {
    /// For a packet of so many bytes.
    pub(crate) fn new(most: usize) -> Self {
        Self(Vec::with_capacity(most))
    }

    /// Receives a packet, in the place of the last one; waits until then at most. A packet that is due in haste is asked for
    /// again and again, before it is waited for.
    ///
    /// # Errors
    /// The connection ended, or it is too late. [`io::ErrorKind::FileTooLarge`]: the packet is longer than the room.
    pub(crate) fn receive(
        &mut self,
        descriptor: i32,
        until: Instant,
        haste: Option<&Haste>,
    ) -> io::Result<()> {
        self.wipe();
        let due = haste.filter(|haste| haste.is_due());
        let mut asking = due.map(|haste| (haste, Instant::now()));
        let mut is_first = true;
        if asking.is_none() {
            // Nothing is there as soon as this: not asked for before the first wait.
            wait(descriptor, libc::POLLIN, until)?;
        }
        loop {
            let most = self.0.capacity();
            // SAFETY: as much room as the vector has.
            let received = unsafe {
                libc::recv(
                    descriptor,
                    self.0.as_mut_ptr().cast(),
                    most,
                    libc::MSG_DONTWAIT | libc::MSG_TRUNC,
                )
            };
            let length = match (received, asking) {
                (0, asking) => {
                    if let Some((haste, since)) = asking {
                        haste.came(false, since.elapsed(), SOON);
                    }
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                (1.., _) => received as usize,
                (_, Some((_, since))) if is_early() && since.elapsed() < SOON => {
                    is_first = false;
                    std::hint::spin_loop();
                    continue;
                }
                (_, Some((haste, since))) => {
                    haste.came(false, since.elapsed(), SOON);
                    asking = None;
                    continue;
                }
                (_, None) => {
                    wait_or_fail(descriptor, libc::POLLIN, until)?;
                    continue;
                }
            };
            match asking {
                Some((haste, _)) if is_first => haste.was_there(),
                Some((haste, since)) => haste.came(true, since.elapsed(), SOON),
                None => {}
            }
            // SAFETY: the kernel wrote that much, and no more than there is room for.
            unsafe { self.0.set_len(length.min(most)) };
            return match length > most {
                true => Err(io::ErrorKind::FileTooLarge.into()),
                false => Ok(()),
            };
        }
    }

    /// The last packet.
    pub(crate) fn packet(&self) -> &[u8] {
        &self.0
    }

    fn wipe(&mut self) {
        self.0[..].zeroize();
        self.0.clear();
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.wipe();
    }
}

/// Waits where the last error says that it was too early; otherwise that is the error.
fn wait_or_fail(descriptor: i32, events: i16, until: Instant) -> io::Result<()> {
    let error = last();
    match error.raw_os_error() {
        Some(libc::EAGAIN) => wait(descriptor, events, until),
        Some(libc::EINTR) => Ok(()),
        _ => Err(error),
    }
}

fn wait(descriptor: i32, events: i16, until: Instant) -> io::Result<()> {
    let mut waiting = libc::pollfd {
        fd: descriptor,
        events,
        revents: 0,
    };
    loop {
        let left = until.saturating_duration_since(Instant::now());
        // Rounded up: a wait of nothing would be a busy one.
        let left = i32::try_from(left.as_micros().div_ceil(1000)).unwrap_or(i32::MAX);
        // SAFETY: one descriptor, of ours.
        match unsafe { libc::poll(&raw mut waiting, 1, left) } {
            0 => return Err(io::ErrorKind::TimedOut.into()),
            1.. => return Ok(()),
            _ if last().raw_os_error() == Some(libc::EINTR) => {}
            _ => return Err(last()),
        }
    }
}

/// Whether the last error says that it was too early.
fn is_early() -> bool {
    last().raw_os_error() == Some(libc::EAGAIN)
}

/// Whether there is something to receive, or never will be again.
pub(crate) fn is_readable(descriptor: i32) -> bool {
    wait(descriptor, libc::POLLIN, Instant::now()).is_ok()
}

/// What a descriptor is; none where it is no socket.
pub(crate) fn identity(descriptor: i32) -> Option<Identity> {
    // SAFETY: numbers, for which zeros are a value.
    let mut found: libc::stat = unsafe { zeroed() };
    // SAFETY: a value of ours.
    let answer = unsafe { libc::fstat(descriptor, &raw mut found) };
    (answer == 0 && found.st_mode & libc::S_IFMT == libc::S_IFSOCK).then_some(Identity {
        device: found.st_dev,
        inode: found.st_ino,
    })
}

/// Closes a descriptor that is ours.
pub(crate) fn close(descriptor: i32) {
    // SAFETY: by the caller's word.
    unsafe { libc::close(descriptor) };
}

fn last() -> io::Error {
    io::Error::last_os_error()
}

/// A new socket, closed where it does not become a connection.
struct Socket(i32);

impl Socket {
    fn new() -> io::Result<Self> {
        let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // SAFETY: makes a descriptor.
        let socket = Self(unsafe { libc::socket(libc::AF_UNIX, kind, 0) });
        match socket.0 {
            ..0 => Err(last()),
            0..LOWEST => {
                // SAFETY: copies a descriptor of ours, which is closed when dropped.
                let copy = unsafe { libc::fcntl(socket.0, libc::F_DUPFD_CLOEXEC, LOWEST) };
                match copy {
                    ..0 => Err(last()),
                    _ => Ok(Self(copy)),
                }
            }
            _ => Ok(socket),
        }
    }

    fn connect(&self, to: &Raw) -> io::Result<()> {
        // SAFETY: an address and its length.
        match unsafe { libc::connect(self.0, (&raw const to.address).cast(), to.length) } {
            0 => Ok(()),
            _ => Err(last()),
        }
    }

    /// The user that listens at the other end.
    fn listener(&self) -> io::Result<libc::uid_t> {
        let mut peer = libc::ucred {
            pid: 0,
            uid: libc::uid_t::MAX,
            gid: libc::gid_t::MAX,
        };
        let mut length = size_of::<libc::ucred>() as libc::socklen_t;
        // SAFETY: a value of ours, and its length.
        let answer = unsafe {
            libc::getsockopt(
                self.0,
                libc::SOL_SOCKET,
                libc::SO_PEERCRED,
                (&raw mut peer).cast(),
                &raw mut length,
            )
        };
        match answer {
            0 => Ok(peer.uid),
            _ => Err(last()),
        }
    }

    fn keep(self) -> i32 {
        let descriptor = self.0;
        std::mem::forget(self);
        descriptor
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.0 >= 0 {
            close(self.0);
        }
    }
}
