//! What the front relays: an ssh client's requests.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, OnceLock};

use outboard_wire::Status;

use super::{Connection, Gate, Pending, lock};
use crate::agent::{Conversation, Heard, Refused, Wants, relay};
use crate::peer::Peer;

/// What the front relays.
pub(super) struct Relayed {
    /// Where the front's clients connect.
    from: PathBuf,
    /// The front's client, once the front has introduced it.
    client: OnceLock<Peer>,
    /// What the client said.
    conversation: Mutex<Conversation>,
}

impl Relayed {
    /// Of a front whose clients connect at that path.
    pub(super) fn new(from: &Path) -> Self {
        Self {
            from: from.to_owned(),
            client: OnceLock::new(),
            conversation: Mutex::default(),
        }
    }

    /// The front's client, once the front has introduced it.
    pub(super) fn client(&self) -> Option<&Peer> {
        self.client.get()
    }

    /// Whether an answer is not yet sent as a whole.
    pub(super) fn has_to_say(&self) -> bool {
        lock(&self.conversation).has_to_say()
    }
}

impl Gate {
    /// Reads what the front relays of an ssh client.
    pub(super) fn hear(
        &self,
        connection: &Arc<Connection>,
        relayed: &Relayed,
        room: &mut [u8],
    ) -> Option<Pending> {
        if relayed.client.get().is_none() {
            match relay::introduced(&connection.socket, &relayed.from, connection.peer.uid) {
                Ok(client) => {
                    let _ = relayed.client.set(client);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return self.listen_again(connection);
                }
                Err(_) => return self.close(connection),
            }
        }
        let asked = {
            let mut conversation = lock(&relayed.conversation);
            match conversation.hear(&connection.socket, room) {
                Ok(Heard::Message) => {}
                Ok(Heard::Nothing) => {
                    drop(conversation);
                    return self.listen_again(connection);
                }
                Ok(Heard::End) | Err(_) => return self.close(connection),
            }
            conversation.wants(connection.client(), &self.identities, &self.keys)
        };
        match asked {
            Wants::Answer => self.say(connection, &relayed.conversation),
            Wants::Refused(Refused { about, reason }) => {
                self.counts.refused.fetch_add(1, Relaxed);
                let sentence = format_args!("an ssh client's request is refused: {reason}");
                self.complaints.of(connection.client(), about, sentence);
                self.say(connection, &relayed.conversation)
            }
            Wants::Signature(asked) => {
                // The number is for packets alone.
                self.admit(connection, 0, asked.key, None, &asked.operation())
            }
        }
    }

    /// Sends what an ssh client is to hear.
    fn say(&self, connection: &Connection, conversation: &Mutex<Conversation>) -> Option<Pending> {
        let sent = lock(conversation).send(&connection.socket);
        match sent {
            Ok(()) => self.listen_again(connection),
            Err(_) => self.close(connection),
        }
    }

    /// Answers a signature's request. Where another try may succeed, the front learns that by the end of the connection.
    pub(super) fn answer_relayed(
        &self,
        connection: &Connection,
        relayed: &Relayed,
        status: Status,
        bytes: &[u8],
    ) {
        if status.is_passing() {
            self.close(connection);
            return;
        }
        lock(&relayed.conversation).finish((status == Status::Done).then_some(bytes));
        self.say(connection, &relayed.conversation);
    }
}
