//! The gate: clients' requests in, answers out.
//!
//! ```text
//!            epoll                   no lanes: one request, on this thread
//! clients ─────────▶ a worker thread ┤
//!   ◀── answers ───────────┘          lanes: up to eight requests; those of one kind share the lanes
//! ```
//!
//! There is a worker for each processor. A connection is looked at by one worker at a time, and read again only when
//! its request is answered: a client has one request under way for each of its connections, and many connections do
//! not come before one.
//!
//! With lanes, one worker (the leader) collects at a time: two would take each other's batches apart. It hands over
//! before it works, unless it runs a batch that is not full. Without lanes, there is a leader as long as one client asks alone for what
//! takes a moment: the other workers would wake for nothing. A leader that may have to wait for the store hands over first.
//!
//! For administrators a worker is a card. One that is offline takes one request at a time and runs it alone.

mod batch;
mod relayed;
mod verbs;
mod wait;

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use outboard_administration::CardInfo;
use outboard_engine::card::{self, BreakEven, DEPTH};
use outboard_wire::haste::Haste;
use outboard_wire::{self as wire, Answer, KeyId, MOST, Status};
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::net::{RecvFlags, SendFlags};

use crate::agent::{Identities, relay};
use crate::cards::Card;
use crate::closing;
use crate::company::Company;
use crate::complaints::{About, Complaints};
use crate::coprocessor::Coprocessor;
use crate::keys::{Key, Keys, Refusal};
use crate::limits;
use crate::peer::Peer;
use crate::process;
use crate::usage::{self, Command, Purpose};
use crate::visitor::Visitor;
use crate::work::{Unpadding, Work};
use relayed::Relayed;

/// Descriptors for everything else: listening sockets, the store, commands.
const OTHER_DESCRIPTORS: usize = 600;

/// The gate of a service.
pub(crate) struct Gate {
    epoll: OwnedFd,
    listeners: Vec<Listener>,
    keys: Arc<Keys>,
    pub(crate) coprocessor: Arc<Coprocessor>,
    identities: Identities,
    connections: Mutex<HashMap<u64, Arc<Connection>>>,
    next: AtomicU64,
    leader: Mutex<()>,
    /// What a leader collected and did not do itself.
    left: Mutex<Vec<Pending>>,
    company: Company,
    /// How soon the next request comes.
    haste: Haste,
    /// Whether what was done last, without lanes, takes a moment.
    was_short: AtomicBool,
    lanes: Option<BreakEven>,
    /// One for each worker.
    cards: Vec<Card>,
    /// How many connections there may be.
    most: usize,
    ends: AtomicBool,
    pub(crate) counts: Counts,
    pub(crate) complaints: Complaints,
}

/// What a gate did.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) done: AtomicU64,
    pub(crate) in_lanes: AtomicU64,
    pub(crate) refused: AtomicU64,
}

struct Listener {
    socket: OwnedFd,
    /// Where the front's clients connect, if this is the front's socket.
    relays: Option<PathBuf>,
}

pub(crate) struct Connection {
    pub(crate) number: u64,
    pub(crate) socket: Visitor,
    /// The process at the other end.
    pub(crate) peer: Peer,
    /// Whether the next packet may ask for a verb; as long as the client asks for keys, it does not.
    asks_for_verbs: AtomicBool,
    /// What is relayed; none where the client sends packets.
    relayed: Option<Relayed>,
    /// The process's command, read when it first uses a key.
    command: OnceLock<Command>,
}

/// A request for a key that is there.
struct Asked {
    connection: Arc<Connection>,
    id: u32,
    key: Arc<Key>,
    /// None where it needs no private half.
    purpose: Option<Purpose>,
    /// What its result is padded by.
    unpadding: Option<Unpadding>,
}

/// A request that has passed all checks.
struct Pending {
    asked: Asked,
    work: Work,
}

/// Held by the leader.
type Lead<'a> = Option<MutexGuard<'a, ()>>;

/// What a worker woke for.
enum Woken {
    Requests(Vec<Arc<Connection>>),
    /// Work that another worker left.
    Left(Pending),
    End,
}

/// The first numbers are the listeners'.
const FIRST_CONNECTION: u64 = 16;
/// The number of what wakes workers at the end.
const END: u64 = u64::MAX;

impl Gate {
    /// A gate for so many workers, at those listening sockets: for clients that send packets, and for the front, whose
    /// clients connect at that path.
    pub(crate) fn new(
        service: Vec<OwnedFd>,
        relay: Option<OwnedFd>,
        agent: &Path,
        keys: Arc<Keys>,
        workers: usize,
        end: impl AsFd,
    ) -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let of_clients = service.into_iter().map(|socket| (socket, None));
        let of_front = relay.map(|socket| (socket, Some(agent.to_owned())));
        let listeners = of_clients.chain(of_front);
        let listeners: Vec<_> = listeners
            .map(|(socket, relays)| Listener { socket, relays })
            .collect();
        for (number, listener) in listeners.iter().enumerate() {
            let data = EventData::new_u64(number as u64);
            epoll::add(&epoll, &listener.socket, data, EventFlags::IN)?;
        }
        epoll::add(&epoll, end, EventData::new_u64(END), EventFlags::IN)?;
        let descriptors = process::descriptors();
        let most = descriptors
            .saturating_sub(OTHER_DESCRIPTORS)
            .clamp(descriptors / 4, limits::MOST_CONNECTIONS);
        if most < limits::MOST_CONNECTIONS {
            tracing::warn!(
                "at most {most} programs can be connected, because the service may have {descriptors} descriptors \
                 (raise LimitNOFILE=, or run 'ulimit -n')"
            );
        }
        let break_even = card::are_there().then(crate::break_even);
        Ok(Self {
            epoll,
            listeners,
            coprocessor: Arc::new(Coprocessor::new(Arc::clone(&keys))?),
            keys,
            identities: Identities::default(),
            connections: Mutex::default(),
            next: AtomicU64::new(FIRST_CONNECTION),
            leader: Mutex::default(),
            left: Mutex::default(),
            company: Company::default(),
            haste: Haste::default(),
            was_short: AtomicBool::new(false),
            lanes: break_even,
            cards: (0..workers).map(|_| Card::new()).collect(),
            most,
            ends: AtomicBool::new(false),
            counts: Counts::default(),
            complaints: Complaints::default(),
        })
    }

    /// How many programs are connected.
    pub(crate) fn connections(&self) -> usize {
        lock(&self.connections).len()
    }

    /// What each card does; nothing without lanes, for then there are no cards.
    pub(crate) fn cards(&self) -> Vec<CardInfo> {
        let cards = self.cards.iter().filter(|_| self.lanes.is_some());
        let cards = cards.enumerate();
        cards.map(|(number, card)| card.info(number)).collect()
    }

    /// The card of that number.
    pub(crate) fn card(&self, number: usize) -> Option<&Card> {
        let cards = self.lanes.as_ref().map(|_| &self.cards);
        cards?.get(number)
    }

    /// Serves until the end, as the worker with that card.
    pub(crate) fn work(self: &Arc<Self>, card: usize) {
        let card = &self.cards[card];
        let mut packet = vec![0; MOST + 1];
        // Who leads goes on leading where another worker would wake for nothing.
        let mut leads: Lead<'_> = None;
        // Whether the program that was just answered may ask again at once.
        let mut awaits = false;
        loop {
            let mut lead = leads
                .take()
                .or_else(|| self.one_leads().then(|| lock(&self.leader)));
            let most = match self.lanes.is_some() && card.is_online() {
                true => DEPTH,
                false => 1,
            };
            let woken = self.wait(most, std::mem::take(&mut awaits));
            let since = Instant::now();
            match woken {
                Woken::End => return,
                Woken::Left(pending) => {
                    drop(lead);
                    card.has(1);
                    self.run_alone(card, &pending);
                }
                Woken::Requests(connections) => {
                    let mut hand: Vec<_> = connections
                        .iter()
                        .filter_map(|connection| self.read(connection, &mut packet, &mut lead))
                        .collect();
                    let asks = !hand.is_empty();
                    leads = match &self.lanes {
                        Some(break_even) => {
                            if card.is_online() {
                                self.gather(&mut hand, break_even, &mut packet, &mut lead);
                            }
                            self.share(card, hand, break_even, lead)
                        }
                        None => {
                            for connection in &connections {
                                self.company.saw(connection.number);
                            }
                            self.run_without_lanes(card, &hand, lead)
                        }
                    };
                    awaits = asks && leads.is_some() && self.company.count() < 2;
                }
            }
            card.was_busy(since);
        }
    }

    fn accept(&self, listener: usize) {
        let Some(listener) = self.listeners.get(listener) else {
            return;
        };
        let socket = match Visitor::accept(&listener.socket) {
            Ok(Some(socket)) => socket,
            Ok(None) => return,
            Err(error) => {
                // No descriptor is free: let those that are there go on, instead of asking again at once.
                let problem = format_args!("a client cannot be accepted: {error}");
                self.complaints.of_system(About::Connections, problem);
                std::thread::sleep(Duration::from_millis(10));
                return;
            }
        };
        let Ok(peer) = Peer::of(&socket) else { return };
        let relayed = match &listener.relays {
            Some(from) if !relay::is_front(&peer, from) => {
                let problem = format_args!(
                    "only the user that {} belongs to speaks for ssh clients: the connection is closed",
                    from.display()
                );
                return self.complaints.of(&peer, About::Connections, problem);
            }
            Some(from) => Some(Relayed::new(from)),
            None => None,
        };
        let number = self.next.fetch_add(1, Relaxed);
        let mut connections = lock(&self.connections);
        let of_user = || {
            let others = connections.values();
            let others = others.filter(|other| other.peer.uid == peer.uid);
            others.count() + closing::of_user(peer.uid)
        };
        // No user takes more than a quarter. The front counts the connections of each of its users itself.
        let most_of_user = self.most / 4;
        let is_full = match relayed {
            Some(_) => connections.len() >= self.most,
            None => limits::is_full(
                peer.uid,
                connections.len(),
                self.most,
                of_user,
                most_of_user,
            ),
        };
        if is_full {
            drop(connections);
            // The client sees the end of the connection, and tries again.
            return self.complaints.of(&peer, About::Connections, limits::FULL);
        }
        let flags = EventFlags::IN | EventFlags::ONESHOT;
        if epoll::add(&self.epoll, &socket, EventData::new_u64(number), flags).is_ok() {
            let connection = Connection {
                number,
                socket,
                peer,
                asks_for_verbs: AtomicBool::new(true),
                relayed,
                command: OnceLock::new(),
            };
            connections.insert(number, Arc::new(connection));
        }
    }

    /// Reads a connection's request. What can be answered without a private key is answered at once. A leader hands over before
    /// it may have to wait for the store, which is locked while something is written to the disk.
    fn read(
        &self,
        connection: &Arc<Connection>,
        packet: &mut [u8],
        lead: &mut Lead<'_>,
    ) -> Option<Pending> {
        if let Some(relayed) = &connection.relayed {
            *lead = None;
            return self.hear(connection, relayed, packet);
        }
        let looks = connection.looks();
        let flags = looks | RecvFlags::TRUNC;
        let packet = match connection.socket.receive(&mut *packet, flags) {
            Ok(0) => return self.close(connection),
            // One that is longer than the room is longer than any request.
            Ok(read) => {
                let read = read.min(packet.len());
                &mut packet[..read]
            }
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {
                return self.listen_again(connection);
            }
            Err(_) => return self.close(connection),
        };
        let Some(id) = wire::Request::id_of(packet) else {
            return self.close(connection);
        };
        let request = wire::Request::decode(packet);
        if request.is_ok_and(|request| !self.keys.is_at_hand(&request)) {
            *lead = None;
        }
        if let Ok(wire::Request {
            operation: wire::Operation::Verb { .. },
            ..
        }) = request
        {
            // It may have had a PIN or a key in the clear.
            zeroize::Zeroize::zeroize(packet);
            if !looks.is_empty() {
                return self.hear_verb(connection, id);
            }
            // The client asked for keys before. It asks again, and the packet is left where it is.
            connection.asks_for_verbs.store(true, Relaxed);
            self.answer(
                connection,
                id,
                Status::Busy,
                b"the service asks for the request again",
            );
            return None;
        }
        if !looks.is_empty() {
            connection.skip();
            connection.asks_for_verbs.store(false, Relaxed);
        }
        let request = match request {
            Ok(request) => request,
            Err(malformed) => {
                let sentence = malformed.to_string();
                return self.refuse(connection, id, None, Status::Malformed, &sentence);
            }
        };
        match request.operation {
            // Handed over above.
            wire::Operation::Verb { .. } => None,
            wire::Operation::Find { name } => {
                self.tell(connection, id, self.keys.find(&connection.peer, name))
            }
            wire::Operation::List { known, after } => self.tell(
                connection,
                id,
                self.keys.list(&connection.peer, known, after),
            ),
            operation => self.admit(connection, id, request.key, request.ticket, &operation),
        }
    }

    /// Tells what is known of keys.
    fn tell(
        &self,
        connection: &Arc<Connection>,
        id: u32,
        known: Result<Vec<u8>, Refusal>,
    ) -> Option<Pending> {
        match known {
            Ok(known) => {
                self.answer(connection, id, Status::Done, &known);
                None
            }
            Err(refusal) => self.refuse(connection, id, None, refusal.status, &refusal.sentence),
        }
    }

    /// Decides whether the client may do that with the key. What needs no private half is answered at once.
    fn admit(
        &self,
        connection: &Arc<Connection>,
        id: u32,
        key: KeyId,
        ticket: Option<wire::Ticket<'_>>,
        operation: &wire::Operation<'_>,
    ) -> Option<Pending> {
        let asked = |key| Asked {
            connection: Arc::clone(connection),
            id,
            key,
            purpose: Purpose::of(operation),
            unpadding: None,
        };
        let asked = match self.keys.admit(connection.client(), key, ticket, operation) {
            Ok(key) => asked(key),
            Err(Refusal {
                key,
                status,
                sentence,
            }) => {
                return match key {
                    Some(key) => self.refuse_use(&asked(key), status, &sentence),
                    None => self.refuse(connection, id, None, status, &sentence),
                };
            }
        };
        if asked.purpose.is_none() {
            let name = asked.key.name().as_bytes();
            self.answer(connection, id, Status::Done, name);
            return None;
        }
        match asked.key.native().work(operation) {
            Ok((work, unpadding)) => Some(Pending {
                asked: Asked { unpadding, ..asked },
                work,
            }),
            Err(unfit) => self.refuse_use(&asked, unfit.status(), &unfit.to_string()),
        }
    }

    fn finish(
        &self,
        card: &Card,
        asked: &Asked,
        result: Result<card::Output, outboard_engine::Error>,
    ) {
        let result = result.and_then(|output| match &asked.unpadding {
            None => Ok(output),
            Some(unpadding) => unpadding.answer(&output),
        });
        card.answered(result.is_ok());
        match result {
            Ok(output) => {
                self.counts.done.fetch_add(1, Relaxed);
                asked.count(true);
                self.answer(&asked.connection, asked.id, Status::Done, &output);
            }
            Err(error) => {
                let status = match error {
                    outboard_engine::Error::InvalidInput => Status::Malformed,
                    _ => Status::Failed,
                };
                let sentence = match &asked.unpadding {
                    Some(unpadding) => unpadding.refusal(error),
                    None => error.to_string(),
                };
                self.refuse_use(asked, status, &sentence);
            }
        }
    }

    /// Refuses the use of a key.
    fn refuse_use(&self, asked: &Asked, status: Status, sentence: &str) -> Option<Pending> {
        asked.count(false);
        let key = Some(&*asked.key);
        self.refuse(&asked.connection, asked.id, key, status, sentence)
    }

    fn refuse(
        &self,
        connection: &Arc<Connection>,
        id: u32,
        key: Option<&Key>,
        status: Status,
        sentence: &str,
    ) -> Option<Pending> {
        self.counts.refused.fetch_add(1, Relaxed);
        let (peer, about) = (connection.client(), About::Key(key.map(Key::id), status));
        match key.map(Key::described) {
            Some(key) => {
                let sentence = format_args!("{key}: {sentence}");
                self.complaints.of(peer, about, sentence);
            }
            None => self.complaints.of(peer, about, sentence),
        }
        self.answer(connection, id, status, sentence.as_bytes());
        None
    }

    /// Answers, and looks at the connection again. A client that does not read its answers loses its connection.
    fn answer(&self, connection: &Arc<Connection>, id: u32, status: Status, bytes: &[u8]) {
        if let Some(relayed) = &connection.relayed {
            self.answer_relayed(connection, relayed, status, bytes);
            return;
        }
        let mut packet = Vec::with_capacity(8 + bytes.len());
        Answer { id, status, bytes }.encode(&mut packet);
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        let sent = rustix::net::send(&connection.socket, &packet, flags);
        zeroize::Zeroize::zeroize(&mut packet);
        match sent {
            Ok(_) => self.listen_again(connection),
            Err(_) => self.close(connection),
        };
    }

    fn listen_again(&self, connection: &Connection) -> Option<Pending> {
        let data = EventData::new_u64(connection.number);
        let event = match connection.relayed.as_ref().is_some_and(Relayed::has_to_say) {
            true => EventFlags::OUT,
            false => EventFlags::IN,
        };
        let flags = event | EventFlags::ONESHOT;
        if epoll::modify(&self.epoll, &connection.socket, data, flags).is_err() {
            return self.close(connection);
        }
        None
    }

    fn close(&self, connection: &Connection) -> Option<Pending> {
        lock(&self.connections).remove(&connection.number);
        None
    }
}

impl Connection {
    /// For whom the process at the other end asks: for itself, or the front for its client.
    fn client(&self) -> &Peer {
        let client = self.relayed.as_ref().and_then(Relayed::client);
        client.unwrap_or(&self.peer)
    }
}

impl Asked {
    /// Counts it in the key's account: it was done, or refused.
    fn count(&self, done: bool) {
        let (peer, command) = (self.connection.client(), &self.connection.command);
        if let Some(purpose) = self.purpose {
            let command = command.get_or_init(|| usage::command(peer.pid));
            self.key.usage().count(peer, command, purpose, done);
        }
    }
}

/// Locks what no panic leaves half changed.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
