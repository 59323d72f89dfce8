//! Verbs of the coprocessor: their connections are handed to the process that carries verbs out, and come back from it.
//!
//! A verb's packet stays in its socket: the process reads it there, and whoever follows that process, too.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use outboard_cca::Answer;
use outboard_wire::{self as wire, Status};
use rustix::net::RecvFlags;

use super::{Connection, Gate, Pending};
use crate::complaints::About;
use crate::keys::Refusal;

/// What is looked at of a packet, to know its number.
const HEAD: usize = 64;
/// What a caller learns whose verb ended the process.
const ENDED: Answer = Answer {
    return_code: 16,
    reason_code: 336,
    reply: None,
};

impl Gate {
    /// Hands a connection over whose next packet asks for a verb, or refuses the verb.
    pub(super) fn hear_verb(&self, connection: &Arc<Connection>, id: u32) -> Option<Pending> {
        let refusal = self.coprocessor.hand_over(connection).err()?;
        connection.skip();
        self.refuse(connection, id, None, refusal.status, &refusal.sentence)
    }

    /// Serves a connection again that was handed over.
    pub(crate) fn take_back(&self, connection: &Connection) {
        self.listen_again(connection);
    }

    /// Answers a request that ended the process of the verbs, if it is not yet answered. The connection is then the gate's again.
    pub(crate) fn answer_ended(&self, connection: &Arc<Connection>, id: u32, verb: &str) {
        let sentence = format_args!("{verb} ended the coprocessor's process, which starts anew");
        self.complaints.of(&connection.peer, About::Verbs, sentence);
        if connection.waiting() == Some(id) {
            connection.skip();
            let answer = ENDED.encode().unwrap_or_default();
            return self.answer(connection, id, Status::Done, &answer);
        }
        self.take_back(connection);
    }

    /// Refuses what waits in a connection that cannot be handed over. The connection is then the gate's again.
    pub(crate) fn refuse_waiting(&self, connection: &Arc<Connection>, refusal: &Refusal) {
        match connection.waiting() {
            Some(id) => {
                connection.skip();
                self.refuse(connection, id, None, refusal.status, &refusal.sentence);
            }
            None => self.take_back(connection),
        }
    }
}

impl Connection {
    /// The client's number of the request that waits in the socket.
    fn waiting(&self) -> Option<u32> {
        let mut head = [0; HEAD];
        let looked = self.socket.receive(&mut head, RecvFlags::PEEK);
        looked
            .ok()
            .and_then(|length| wire::Request::id_of(&head[..length]))
    }

    /// Takes a packet that was looked at.
    pub(super) fn skip(&self) {
        let _ = self.socket.receive(&mut [0; 1], RecvFlags::TRUNC);
    }

    /// Whether the next packet is looked at before it is taken: it may ask for a verb.
    pub(super) fn looks(&self) -> RecvFlags {
        match self.asks_for_verbs.load(Relaxed) {
            true => RecvFlags::PEEK,
            false => RecvFlags::empty(),
        }
    }
}
