//! What the service and the process of the verbs tell each other, over a pair of sockets.
//!
//! A message is one packet, or several: the first byte of a packet says whether more of the message follows. Messages have secrets: what
//! held one is wiped.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use outboard_cca::Bytes;
use rustix::io::Errno;
use rustix::net::{
    self, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use zeroize::{Zeroize, Zeroizing};

/// The most of a message in one packet: less than a socket takes anywhere.
const PART: usize = 32 * 1024;
/// The longest message: it forgets a million counts of wrong PINs.
const MOST: usize = 128 << 20;
/// What is said first in a packet.
const LAST: u8 = 0;
const MORE: u8 = 1;

/// A name of the state, and its value.
pub(crate) type Entry = (String, Bytes);

/// What the service tells.
#[derive(Serialize, Deserialize)]
pub(crate) enum ToVerbs {
    /// A part of the state.
    Entries(Vec<Entry>),
    /// That was all of the state.
    Loaded,
    /// A connection to serve, which is attached.
    Serve {
        number: u64,
        administrator: bool,
        user: u32,
        process: i32,
    },
    /// A connection to give back, once its request is answered.
    GiveBack(u64),
    /// Whether a change of the state is stored.
    Stored { number: u64, done: bool },
    /// To be answered by [`FromVerbs::Heard`].
    Ask(u64),
    /// To end, once what is under way is answered.
    End,
}

/// What the process of the verbs tells.
#[derive(Serialize, Deserialize)]
pub(crate) enum FromVerbs {
    /// It cannot serve, and ends.
    Failed(String),
    /// A change of the state, to be stored.
    Change {
        number: u64,
        put: Vec<Entry>,
        remove: Vec<String>,
    },
    /// A connection that it does not serve any more.
    Back(u64),
    /// All that was told before that question is done.
    Heard(u64),
}

/// The packets of a message.
pub(crate) fn packets(message: &impl Serialize) -> io::Result<Vec<Zeroizing<Vec<u8>>>> {
    let size = postcard::experimental::serialized_size(message).map_err(io::Error::other)?;
    if size > MOST {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    // In room that does not grow: what it left behind would have its secrets.
    let bytes = postcard::to_extend(message, Vec::with_capacity(size)).map_err(io::Error::other)?;
    let bytes = Zeroizing::new(bytes);
    let count = bytes.len().div_ceil(PART);
    let packet = |(number, part): (usize, &[u8])| {
        let mut packet = Zeroizing::new(Vec::with_capacity(1 + part.len()));
        packet.push(if number + 1 < count { MORE } else { LAST });
        packet.extend_from_slice(part);
        packet
    };
    Ok(bytes.chunks(PART).enumerate().map(packet).collect())
}

/// Sends a packet, perhaps with a descriptor.
pub(crate) fn send(
    socket: impl AsFd,
    packet: &[u8],
    attached: Option<rustix::fd::BorrowedFd<'_>>,
    flags: SendFlags,
) -> Result<(), Errno> {
    let flags = flags | SendFlags::NOSIGNAL;
    let Some(attached) = attached else {
        return net::send(socket, packet, flags).map(drop);
    };
    let descriptors = [attached];
    let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut room);
    control.push(SendAncillaryMessage::ScmRights(&descriptors));
    net::sendmsg(socket, &[IoSlice::new(packet)], &mut control, flags).map(drop)
}

/// Receives messages.
pub(crate) struct Receiver {
    room: Zeroizing<Vec<u8>>,
    /// What came of a message whose end did not.
    begun: Zeroizing<Vec<u8>>,
}

impl Receiver {
    pub(crate) fn new() -> Self {
        Self {
            room: Zeroizing::new(vec![0; 1 + PART]),
            begun: Zeroizing::default(),
        }
    }

    /// The next message, and what is attached to it. None: the other end is gone.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`], where `flags` say not to wait; or what came is no message.
    pub(crate) fn receive<T: DeserializeOwned>(
        &mut self,
        socket: impl AsFd,
        flags: RecvFlags,
    ) -> io::Result<Option<(T, Option<OwnedFd>)>> {
        loop {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut control = RecvAncillaryBuffer::new(&mut space);
            let flags = flags | RecvFlags::CMSG_CLOEXEC;
            let mut parts = [IoSliceMut::new(&mut self.room)];
            let length = match net::recvmsg(&socket, &mut parts, &mut control, flags) {
                Ok(received) => received.bytes,
                Err(Errno::INTR) => continue,
                // It ended with something unread.
                Err(Errno::CONNRESET) => 0,
                Err(error) => return Err(error.into()),
            };
            let attached = control.drain().find_map(|message| match message {
                RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
                _ => None,
            });
            let Some((first, part)) = self.room[..length].split_first() else {
                return Ok(None);
            };
            if self.begun.len() + part.len() > MOST {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            let more = *first == MORE;
            extend(&mut self.begun, part);
            self.room[..length].zeroize();
            if more {
                continue;
            }
            let whole = std::mem::take(&mut self.begun);
            let message = postcard::from_bytes(&whole).map_err(io::Error::other)?;
            return Ok(Some((message, attached)));
        }
    }
}

/// Appends, and wipes what is left behind where the room is too small.
fn extend(bytes: &mut Zeroizing<Vec<u8>>, more: &[u8]) {
    if bytes.capacity() - bytes.len() < more.len() {
        let room = (bytes.len() + more.len()).max(2 * bytes.capacity());
        let mut larger = Zeroizing::new(Vec::with_capacity(room));
        larger.extend_from_slice(bytes);
        *bytes = larger;
    }
    bytes.extend_from_slice(more);
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::{AddressFamily, SocketFlags, SocketType};

    fn pair() -> (OwnedFd, OwnedFd) {
        let kind = SocketType::SEQPACKET;
        net::socketpair(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None).unwrap()
    }

    #[test]
    fn a_message_of_any_length_comes_whole_and_a_descriptor_with_it() {
        let (one, other) = pair();
        let sender = std::thread::spawn(move || {
            for length in [0, 1, PART - 20, PART, 5 * PART + 1] {
                let put = vec![("name".to_owned(), Bytes::from(vec![7; length]))];
                let message = FromVerbs::Change {
                    number: length as u64,
                    put,
                    remove: vec!["other".into()],
                };
                for packet in packets(&message).unwrap() {
                    send(&one, &packet, None, SendFlags::empty()).unwrap();
                }
            }
            let message = packets(&FromVerbs::Back(3)).unwrap();
            send(&one, &message[0], Some(one.as_fd()), SendFlags::empty()).unwrap();
        });
        let mut receiver = Receiver::new();
        let mut next = || {
            let received = receiver.receive::<FromVerbs>(&other, RecvFlags::empty());
            received.unwrap()
        };
        for length in [0, 1, PART - 20, PART, 5 * PART + 1] {
            let Some((FromVerbs::Change { number, put, .. }, None)) = next() else {
                panic!("{length}");
            };
            assert_eq!((number as usize, put[0].1.len()), (length, length));
        }
        assert!(matches!(next(), Some((FromVerbs::Back(3), Some(_)))));
        sender.join().unwrap();
        assert!(next().is_none());
    }

    #[test]
    fn what_is_no_message_is_an_error() {
        let (one, other) = pair();
        net::send(&one, &[LAST, 200, 1], SendFlags::empty()).unwrap();
        let received = Receiver::new().receive::<ToVerbs>(&other, RecvFlags::DONTWAIT);
        assert!(received.is_err());
    }
}
