//! The ssh-agent endpoint: `agent.sock` speaks the agent protocol (RFC 9987), so that sshd (`HostKeyAgent`) and ssh
//! (`IdentityAgent`) use the service's keys. ssh clients come by the front ([`crate::front`]), which outlives the service.
//!
//! ```text
//! relay.rs       for whom the front speaks
//! frames.rs      messages in pieces
//! message.rs     bytes in, what a client asks out; answers
//! identities.rs  keys by their public halves
//! scheme.rs      which digest, and how a signature is written
//! ```
//!
//! Clients list keys and ask for signatures; whatever else they ask fails: keys are added, removed and locked by
//! 'outboard keys'. A client sees and uses only the keys that its user or groups have a grant to use.
//!
//! The gate looks at these connections as at the others, so that their signatures share the lanes with the others'.

pub(crate) mod frames;
mod identities;
pub(crate) mod message;
pub(crate) mod relay;
mod scheme;

use std::borrow::Cow;
use std::io;
use std::os::fd::AsFd;

use crate::complaints::About;
use crate::keys::Keys;
use crate::peer::Peer;
use frames::{Incoming, LENGTH, Outgoing, Source};
use message::Message;
use outboard_wire::{KeyId, Operation};
use scheme::{Scheme, Signature};

pub(crate) use frames::Heard;
pub(crate) use identities::Identities;

/// What a connection has said, and what it still has to hear.
#[derive(Default)]
pub(crate) struct Conversation {
    heard: Incoming,
    answer: Outgoing,
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
    pub(crate) fn hear(
        &mut self,
        socket: &(impl AsFd + Source),
        room: &mut [u8],
    ) -> io::Result<Heard> {
        self.send(socket)?;
        match self.has_to_say() {
            true => Ok(Heard::Nothing),
            false => self.heard.read(socket, room),
        }
    }

    /// Whether an answer is not yet sent as a whole.
    pub(crate) fn has_to_say(&self) -> bool {
        !self.answer.is_empty()
    }

    /// What the client wants by the message that is there.
    pub(crate) fn wants(&mut self, peer: &Peer, identities: &Identities, keys: &Keys) -> Wants {
        let heard = self.heard.take();
        match self.heed(&heard[LENGTH..], peer, identities, keys) {
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
        self.answer.send(socket)
    }

    fn say(&mut self, answer: Vec<u8>) {
        self.answer = answer.into();
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
}
