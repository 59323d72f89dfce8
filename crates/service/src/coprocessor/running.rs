//! The process of the verbs, as the service has it.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Instant;

use rustix::io::Errno;
use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
use zeroize::Zeroizing;

use super::pair::{self, FromVerbs, Receiver, ToVerbs};
use crate::gate::Connection;

/// The service's own program, which is the process's, too. (Where an installation has replaced the file, it is still this one.)
const PROGRAM: &str = "/proc/self/exe";

/// The process, and what is not yet told to it.
pub(super) struct Running {
    child: Child,
    pair: OwnedFd,
    receiver: Receiver,
    unsent: VecDeque<Unsent>,
    pub(super) since: Instant,
}

/// A packet, and the connection that goes with it.
struct Unsent {
    packet: Zeroizing<Vec<u8>>,
    attached: Option<Arc<Connection>>,
}

impl Running {
    /// Starts it for a service in that directory.
    pub(super) fn start(board: &OwnedFd, directory: &Path) -> io::Result<Self> {
        let (pair, theirs) = net::socketpair(
            AddressFamily::UNIX,
            SocketType::SEQPACKET,
            SocketFlags::CLOEXEC,
            None,
        )?;
        let child = std::process::Command::new(PROGRAM)
            .arg0("outboardd")
            .arg("--verbs")
            .arg("--directory")
            .arg(directory)
            // Nothing that the service was told by its environment.
            .env_clear()
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::from(board.try_clone()?))
            .spawn()?;
        Ok(Self {
            child,
            pair,
            receiver: Receiver::new(),
            unsent: VecDeque::new(),
            since: Instant::now(),
        })
    }

    /// Tells it something, now or as soon as it listens.
    pub(super) fn tell(&mut self, message: &ToVerbs, attached: Option<&Arc<Connection>>) {
        // INVARIANT: what the service tells is short, or comes in parts.
        let Ok(packets) = pair::packets(message) else {
            return;
        };
        for packet in packets {
            let attached = attached.cloned();
            self.unsent.push_back(Unsent { packet, attached });
        }
        self.go_on();
    }

    /// Tells what it takes now.
    pub(super) fn go_on(&mut self) {
        while let Some(Unsent { packet, attached }) = self.unsent.front() {
            let attached = attached
                .as_ref()
                .map(|connection| connection.socket.as_fd());
            match pair::send(&self.pair, packet, attached, SendFlags::DONTWAIT) {
                Err(Errno::AGAIN | Errno::INTR | Errno::NOBUFS | Errno::TOOMANYREFS) => return,
                // Where it is gone, its end is heard.
                _ => drop(self.unsent.pop_front()),
            }
        }
    }

    /// Whether it is to be told more.
    pub(super) fn has_to_hear(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// What it tells; none where it has ended, or tells what makes no sense. Never waits.
    pub(super) fn hear(&mut self) -> io::Result<Option<FromVerbs>> {
        let received = self.receiver.receive(&self.pair, RecvFlags::DONTWAIT)?;
        Ok(received.map(|(message, _)| message))
    }

    /// Ends it at once, if it has not ended.
    pub(super) fn reap(mut self) -> io::Result<ExitStatus> {
        let _ = self.child.kill();
        self.child.wait()
    }
}

impl AsFd for Running {
    fn as_fd(&self) -> rustix::fd::BorrowedFd<'_> {
        self.pair.as_fd()
    }
}
