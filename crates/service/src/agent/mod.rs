//! The ssh-agent endpoint: `agent.sock` speaks the agent protocol (RFC 9987), so that sshd (`HostKeyAgent`) and ssh
//! (`IdentityAgent`) use the service's keys.
//!
//! ```text
//! message.rs     bytes in, what a client asks out; answers
//! identities.rs  keys by their public halves
//! scheme.rs      which digest, and how a signature is written
//! ```
//!
//! Clients list keys and ask for signatures; whatever else they ask fails: keys are added, removed and locked by
//! 'outboard keys'. A client sees and uses only the keys that its user or groups have a grant to use.
//!
//! The gate looks at these connections as at the others, so that their signatures share the lanes with the others'. A
//! connection may be idle for days (sshd keeps one for each session) and then costs a descriptor, no thread.

mod identities;
mod message;
mod scheme;

use std::borrow::Cow;
use std::io;
use std::os::fd::AsFd;

use outboard_wire::{KeyId, Operation};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};

use crate::complaints::About;
use crate::keys::Keys;
use crate::peer::Peer;
use message::Message;
use scheme::{Scheme, Signature};

pub(crate) use identities::Identities;

/// What a connection has said, and what it still has to hear.
#[derive(Default)]
pub(crate) struct Conversation {
    /// What there is of the client's message, with its length.
    heard: Vec<u8>,
    /// The answer, and how much of it is sent.
    answer: Vec<u8>,
    sent: usize,
    /// How the signature under way is written.
    scheme: Option<Scheme>,
    sessions: Vec<Session>,
}

/// What `session-bind@openssh.com` told.
struct Session {
    id: Vec<u8>,
    /// Whether the connection is forwarded to that session's other end.
    forwards: bool,
}

/// What a look at a connection found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// A message that is not whole, or an answer that the client does not read.
    Nothing,
    /// A message is there.
    Message,
    /// The client closed the connection, or it speaks another protocol.
    End,
}

/// What a client wants.
pub(crate) enum Wants {
    /// An answer, which is ready to be sent.
    Answer,
    /// A signature.
    Signature(Asked),
    /// What it does not get; the answer that says so is ready to be sent.
    Refused(Refused),
}

/// Why a client does not get what it wants. The client does not learn it.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) about: About,
    pub(crate) reason: Cow<'static, str>,
}

impl Refused {
    fn because(reason: &'static str) -> Self {
        Self {
            about: About::Agent(reason),
            reason: reason.into(),
        }
    }
}

impl From<message::NotServed> for Refused {
    fn from(_: message::NotServed) -> Self {
        Self::because("the service does not know that message, or only 'outboard keys' does that")
    }
}

impl From<outboard_vault::Error> for Refused {
    fn from(error: outboard_vault::Error) -> Self {
        Self {
            about: About::Store,
            reason: error.to_string().into(),
        }
    }
}

/// A signature that a client asked for.
pub(crate) struct Asked {
    pub(crate) key: KeyId,
    signature: Signature,
}

impl Asked {
    /// What the key has to do for it.
    pub(crate) fn operation(&self) -> Operation<'_> {
        self.signature.operation()
    }
}

impl Conversation {
    /// Sends what is left of the last answer; then reads on, until a message is whole and no further. Never waits.
    pub(crate) fn hear(&mut self, socket: impl AsFd, room: &mut [u8]) -> io::Result<Heard> {
        /// The bytes of a length.
        const LENGTH: usize = 4;
        self.send(&socket)?;
        while !self.has_to_say() {
            let missing = match self.heard.first_chunk::<LENGTH>() {
                None => LENGTH - self.heard.len(),
                Some(length) => match u32::from_be_bytes(*length) as usize {
                    length @ 1..=message::MOST => length + LENGTH - self.heard.len(),
                    _ => return Ok(Heard::End),
                },
            };
            if missing == 0 {
                return Ok(Heard::Message);
            }
            let most = missing.min(room.len());
            match rustix::net::recv(&socket, &mut room[..most], RecvFlags::DONTWAIT) {
                Ok((_, 0)) => return Ok(Heard::End),
                Ok((read, _)) => self.heard.extend_from_slice(&room[..read]),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(Heard::Nothing),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Heard::Nothing)
    }

    /// Whether an answer is not yet sent as a whole.
    pub(crate) fn has_to_say(&self) -> bool {
        self.sent < self.answer.len()
    }

    /// What the client wants by the message that is there.
    pub(crate) fn wants(&mut self, peer: &Peer, identities: &Identities, keys: &Keys) -> Wants {
        let heard = std::mem::take(&mut self.heard);
        match self.heed(&heard[4..], peer, identities, keys) {
            Ok(wants) => wants,
            Err(refused) => {
                self.say(message::failure());
                Wants::Refused(refused)
            }
        }
    }

    fn heed(
        &mut self,
        message: &[u8],
        peer: &Peer,
        identities: &Identities,
        keys: &Keys,
    ) -> Result<Wants, Refused> {
        let answer = match Message::read(message)? {
            Message::RequestIdentities => {
                let list = identities.now(keys)?;
                let usable = list.iter().filter(|identity| identity.is_usable_by(peer));
                message::identities(usable.map(|key| (&key.public[..], &key.name[..])))
            }
            Message::Sign { key, data, flags } => {
                let asked = self.signature(peer, &identities.now(keys)?, key, data, flags)?;
                return Ok(Wants::Signature(asked));
            }
            Message::Bind { session, forwards } => match self.bind(session, forwards) {
                true => message::success(),
                false => return Err(Refused::because("the connection is for another session")),
            },
            Message::Query => message::extensions(),
        };
        self.say(answer);
        Ok(Wants::Answer)
    }

    /// Answers with the signature that the client wants, as the engine puts it out; without one the request fails.
    pub(crate) fn finish(&mut self, signature: Option<&[u8]>) {
        let scheme = self.scheme.take();
        let written = scheme.zip(signature).and_then(|(scheme, signature)| {
            let written = scheme.written(signature)?;
            Some(message::signature(scheme.name(), &written))
        });
        self.say(written.unwrap_or_else(message::failure));
    }

    /// Sends as much of the answer as the socket takes.
    pub(crate) fn send(&mut self, socket: impl AsFd) -> io::Result<()> {
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        while self.has_to_say() {
            match rustix::net::send(&socket, &self.answer[self.sent..], flags) {
                Ok(sent) => self.sent += sent,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        self.answer = Vec::new();
        self.sent = 0;
        Ok(())
    }

    fn say(&mut self, answer: Vec<u8>) {
        self.answer = answer;
        self.sent = 0;
    }

    /// The signature that the client asks for, if the key is for that client and signs so.
    fn signature(
        &mut self,
        peer: &Peer,
        list: &identities::List,
        key: &[u8],
        data: &[u8],
        flags: u32,
    ) -> Result<Asked, Refused> {
        if !self.may_sign(data) {
            return Err(Refused::because("the connection is for another login"));
        }
        let identity = identities::find(list, key, peer).ok_or(Refused::because(
            "there is no such key that the user may use",
        ))?;
        let scheme = identity.kind.scheme(flags);
        let signature = scheme.and_then(|scheme| Signature::of(scheme, data).ok());
        let signature = signature.ok_or(Refused::because(
            "the key does not sign with that algorithm",
        ))?;
        self.scheme = Some(signature.scheme());
        Ok(Asked {
            key: identity.id,
            signature,
        })
    }

    /// Remembers a session that the connection is for.
    ///
    /// The host key in the message, and its signature of the session's identifier, are not verified: OpenSSH's agent
    /// needs them for keys that are restricted to some hosts, and the service has none. So a session that is told here
    /// can only narrow what the connection may do (see [`Self::may_sign`]), never widen it.
    fn bind(&mut self, id: &[u8], forwards: bool) -> bool {
        /// As many as OpenSSH's agent remembers.
        const MOST_SESSIONS: usize = 16;
        /// No digest of a key exchange is longer.
        const MOST_ID: usize = 128;
        // Once it is for one login, a connection is for no other.
        if self.sessions.iter().any(|session| !session.forwards) {
            return false;
        }
        if self.sessions.iter().any(|session| session.id == id) {
            return true;
        }
        if self.sessions.len() == MOST_SESSIONS || id.len() > MOST_ID {
            return false;
        }
        let id = id.to_vec();
        self.sessions.push(Session { id, forwards });
        true
    }

    /// A connection that is for one login signs for no other. Data that is for no login passes: sshd's host keys sign
    /// a digest, and `ssh-keygen -Y sign` files.
    fn may_sign(&self, data: &[u8]) -> bool {
        match (self.sessions.last(), message::session_of(data)) {
            (
                Some(Session {
                    id,
                    forwards: false,
                }),
                Some(session),
            ) => id == session,
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    fn login(session: &[u8]) -> Vec<u8> {
        let mut data = Vec::new();
        message::put_string(&mut data, session);
        data.extend(b"\x32the rest");
        data
    }

    #[test]
    fn a_connection_for_one_login_signs_for_no_other() {
        let mut conversation = Conversation::default();
        assert!(conversation.may_sign(&login(b"any")));
        assert!(conversation.bind(b"hop", true) && conversation.bind(b"hop", true));
        assert!(conversation.may_sign(&login(b"any")));
        assert!(conversation.bind(b"end", false));
        assert!(!conversation.bind(b"other", false) && !conversation.bind(b"other", true));
        assert!(conversation.may_sign(&login(b"end")));
        assert!(!conversation.may_sign(&login(b"any")));
        assert!(!conversation.may_sign(&login(b"hop")));
        assert!(conversation.may_sign(b"\x12\x34 a digest"));
    }

    #[test]
    fn sessions_are_bounded() {
        let mut conversation = Conversation::default();
        let bound = (0..100_u8).filter(|&id| conversation.bind(&[id], true));
        assert_eq!(bound.count(), 16);
        assert!(!Conversation::default().bind(&[0; 129], true));
    }

    #[test]
    fn a_message_is_heard_byte_by_byte_and_no_further() {
        let (mut client, service) = UnixStream::pair().unwrap();
        let mut conversation = Conversation::default();
        let mut room = vec![0; message::MOST];
        let mut hear = |conversation: &mut Conversation| {
            let heard = conversation.hear(&service, &mut room);
            heard.unwrap()
        };
        for byte in [0, 0, 0, 2, 99] {
            client.write_all(&[byte]).unwrap();
            assert_eq!(hear(&mut conversation), Heard::Nothing);
        }
        // The end of this message, and all of the next.
        client.write_all(&[1, 0, 0, 0, 1, 11]).unwrap();
        assert_eq!(hear(&mut conversation), Heard::Message);
        assert_eq!(conversation.heard, [0, 0, 0, 2, 99, 1]);
        conversation.heard.clear();
        conversation.finish(None);
        assert_eq!(hear(&mut conversation), Heard::Message);
        assert_eq!(conversation.heard, [0, 0, 0, 1, 11]);
        let mut answer = [0; 5];
        client.read_exact(&mut answer).unwrap();
        assert_eq!(answer, [0, 0, 0, 1, 5]);
        conversation.heard.clear();
        drop(client);
        assert_eq!(hear(&mut conversation), Heard::End);
    }

    #[test]
    fn what_is_too_long_or_empty_ends_a_connection() {
        let mut room = vec![0; message::MOST];
        for length in [0, 1 + message::MOST as u32, u32::MAX] {
            let (mut client, service) = UnixStream::pair().unwrap();
            client.write_all(&length.to_be_bytes()).unwrap();
            let heard = Conversation::default().hear(&service, &mut room);
            assert_eq!(heard.unwrap(), Heard::End, "{length}");
        }
    }

    #[test]
    fn a_long_answer_waits_for_a_slow_client() {
        let (mut client, service) = UnixStream::pair().unwrap();
        service.set_nonblocking(true).unwrap();
        let mut conversation = Conversation::default();
        let mut room = vec![0; message::MOST];
        conversation.say(vec![7; 4 * message::MOST]);
        conversation.send(&service).unwrap();
        let mut left = 4 * message::MOST;
        let mut looks = 0;
        while left > 0 {
            let read = client.read(&mut room[..50_000]).unwrap();
            left -= read;
            looks += 1;
            let mut room = [0; 16];
            assert_eq!(
                conversation.hear(&service, &mut room).unwrap(),
                Heard::Nothing
            );
        }
        assert!(looks > 1 && !conversation.has_to_say());
    }
}
