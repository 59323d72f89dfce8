//! Messages with their length before them, in the pieces that a socket gives and takes. Nothing here waits.

use std::io;
use std::os::fd::AsFd;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};

use super::message::MOST;
use crate::visitor::Visitor;

/// The bytes of a length.
pub(crate) const LENGTH: usize = 4;

/// What a look at a socket found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// No message, or one that is not whole.
    Nothing,
    /// A message is there.
    Message,
    /// The other side closed the connection, or it speaks another protocol.
    End,
}

/// Where messages come from.
pub(crate) trait Source {
    /// Receives what is there; never waits. Nothing: the other side closed the connection.
    fn receive(&self, room: &mut [u8]) -> Result<usize, Errno>;
}

impl Source for Visitor {
    fn receive(&self, room: &mut [u8]) -> Result<usize, Errno> {
        self.receive(room, RecvFlags::empty())
    }
}

/// For the other end, which the process trusts.
impl Source for std::os::fd::OwnedFd {
    fn receive(&self, room: &mut [u8]) -> Result<usize, Errno> {
        rustix::net::recv(self, room, RecvFlags::DONTWAIT).map(|(read, _)| read)
    }
}

#[cfg(any(test, feature = "fuzz"))]
impl Source for std::os::unix::net::UnixStream {
    fn receive(&self, room: &mut [u8]) -> Result<usize, Errno> {
        rustix::net::recv(self, room, RecvFlags::DONTWAIT).map(|(read, _)| read)
    }
}

/// What there is of a message that comes, with its length.
#[derive(Default)]
pub(crate) struct Incoming(Vec<u8>);

impl Incoming {
    /// Reads on, until the message is whole and no further.
    pub(crate) fn read(&mut self, socket: &impl Source, room: &mut [u8]) -> io::Result<Heard> {
        loop {
            let missing = match self.0.first_chunk::<LENGTH>() {
                None => LENGTH - self.0.len(),
                Some(length) => match u32::from_be_bytes(*length) as usize {
                    length @ 1..=MOST => length + LENGTH - self.0.len(),
                    _ => return Ok(Heard::End),
                },
            };
            if missing == 0 {
                return Ok(Heard::Message);
            }
            let most = missing.min(room.len());
            match socket.receive(&mut room[..most]) {
                Ok(0) => return Ok(Heard::End),
                Ok(read) => self.0.extend_from_slice(&room[..read]),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(Heard::Nothing),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The message that is there, with its length; the next one may come.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.0)
    }
}

/// What goes, and how much of it is gone.
#[derive(Default)]
pub(crate) struct Outgoing {
    bytes: Vec<u8>,
    sent: usize,
}

impl From<Vec<u8>> for Outgoing {
    fn from(bytes: Vec<u8>) -> Self {
        Self { bytes, sent: 0 }
    }
}

impl Outgoing {
    /// Whether all is gone.
    pub(crate) fn is_empty(&self) -> bool {
        self.sent == self.bytes.len()
    }

    /// Sends as much as the socket takes.
    pub(crate) fn send(&mut self, socket: impl AsFd) -> io::Result<()> {
        self.sent += send(socket, &self.bytes[self.sent..])?;
        if self.is_empty() {
            *self = Self::default();
        }
        Ok(())
    }
}

/// How many of these bytes the socket takes.
pub(crate) fn send(socket: impl AsFd, bytes: &[u8]) -> io::Result<usize> {
    let mut sent = 0;
    while sent < bytes.len() {
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        match rustix::net::send(&socket, &bytes[sent..], flags) {
            Ok(more) => sent += more,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => break,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(sent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_message_is_read_byte_by_byte_and_no_further() {
        let (mut client, service) = UnixStream::pair().unwrap();
        let mut incoming = Incoming::default();
        let mut room = vec![0; MOST];
        let mut read = |incoming: &mut Incoming| incoming.read(&service, &mut room).unwrap();
        for byte in [0, 0, 0, 2, 99] {
            client.write_all(&[byte]).unwrap();
            assert_eq!(read(&mut incoming), Heard::Nothing);
        }
        // The end of this message, and all of the next.
        client.write_all(&[1, 0, 0, 0, 1, 11]).unwrap();
        assert_eq!(read(&mut incoming), Heard::Message);
        assert_eq!(incoming.take(), [0, 0, 0, 2, 99, 1]);
        assert_eq!(read(&mut incoming), Heard::Message);
        assert_eq!(incoming.take(), [0, 0, 0, 1, 11]);
        drop(client);
        assert_eq!(read(&mut incoming), Heard::End);
    }

    #[test]
    fn what_is_too_long_or_empty_ends_a_connection() {
        let mut room = vec![0; MOST];
        for length in [0, 1 + MOST as u32, u32::MAX] {
            let (mut client, service) = UnixStream::pair().unwrap();
            client.write_all(&length.to_be_bytes()).unwrap();
            let read = Incoming::default().read(&service, &mut room);
            assert_eq!(read.unwrap(), Heard::End, "{length}");
        }
    }

    #[test]
    fn a_long_answer_waits_for_a_slow_client() {
        let (mut client, service) = UnixStream::pair().unwrap();
        let mut outgoing = Outgoing::from(vec![7; 4 * MOST]);
        outgoing.send(&service).unwrap();
        assert!(!outgoing.is_empty());
        let (mut left, mut room) = (4 * MOST, vec![0; 50_000]);
        while left > 0 {
            left -= client.read(&mut room).unwrap();
            outgoing.send(&service).unwrap();
        }
        assert!(outgoing.is_empty());
    }
}
