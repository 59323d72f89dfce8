//! The workers: each waits for requests, carries one out, and answers it.
//!
//! A verb that may take long has a thread of its own, of which there are few: the workers go on meanwhile.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use outboard_cca::{self as cca, Answer, Request};
use outboard_wire::haste::SOON;
use outboard_wire::{self as wire, MOST, MOST_MESSAGE, Operation, Status};
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;
use rustix::net::SendFlags;
use zeroize::{Zeroize, Zeroizing};

use super::client::{Client, Turn};
use super::{Out, crash};
use crate::complaints::{About, Complaints};
use crate::coprocessor::board::{Board, MOST_LONG, MOST_WORKERS, Place};
use crate::coprocessor::pair::FromVerbs;
use crate::gate::lock;

/// How many verbs that take long run at a time for one user.
const MOST_LONG_OF_USER: usize = 2;

/// How long a worker stays with a connection whose requests follow each other at once.
const LONGEST_STAY: Duration = Duration::from_millis(20);

/// The number of what wakes workers at the end. Connections have others.
const END: u64 = u64::MAX;

/// In the place of an answer that fits no packet: the labels of a list, for example.
const TOO_LONG: Answer = Answer {
    return_code: 8,
    reason_code: 1106,
    reply: None,
};

/// What the workers wait for.
pub(super) struct Watched {
    epoll: OwnedFd,
    end: OwnedFd,
}

impl Watched {
    pub(super) fn new() -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let end = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        epoll::add(&epoll, &end, EventData::new_u64(END), EventFlags::IN)?;
        Ok(Self { epoll, end })
    }
}

/// The coprocessor, and who asks it.
pub(super) struct Verbs {
    watched: Watched,
    card: cca::Coprocessor,
    board: &'static Board,
    out: &'static Out,
    clients: Mutex<HashMap<u64, Arc<Client>>>,
    /// The users of verbs that take long and are under way.
    long: Mutex<[Option<u32>; MOST_LONG]>,
    ends: AtomicBool,
    /// How many workers stay with a connection, and how many may.
    staying: AtomicUsize,
    most_staying: usize,
    complaints: Complaints,
}

/// A worker that stays with a connection, and until when.
struct Stay<'a> {
    staying: &'a AtomicUsize,
    until: Instant,
}

impl<'a> Stay<'a> {
    /// None where as many stay as may.
    fn begin(staying: &'a AtomicUsize, most: usize) -> Option<Self> {
        let stay = Self {
            staying,
            until: Instant::now() + LONGEST_STAY,
        };
        (staying.fetch_add(1, Relaxed) < most).then_some(stay)
    }
}

impl Drop for Stay<'_> {
    fn drop(&mut self) {
        self.staying.fetch_sub(1, Relaxed);
    }
}

/// A request that is to be carried out.
struct Call {
    client: Arc<Client>,
    id: u32,
    request: Request,
}

impl Verbs {
    pub(super) fn new(
        card: cca::Coprocessor,
        board: &'static Board,
        out: &'static Out,
        watched: Watched,
        processors: usize,
    ) -> Self {
        board.set_records(card.records());
        Self {
            watched,
            card,
            board,
            out,
            clients: Mutex::default(),
            long: Mutex::default(),
            ends: AtomicBool::new(false),
            staying: AtomicUsize::new(0),
            // Half of the processors are for the callers.
            most_staying: (processors / 2).min(MOST_WORKERS / 2),
            complaints: Complaints::default(),
        }
    }

    /// Starts the workers: twice as many as processors, for one that waits for the disk keeps no processor.
    pub(super) fn start(self: &Arc<Self>, processors: usize) -> io::Result<Vec<JoinHandle<()>>> {
        let workers = 0..(2 * processors).min(MOST_WORKERS);
        let start = |worker| {
            let verbs = Arc::clone(self);
            let thread = std::thread::Builder::new().name("verbs".into());
            thread.spawn(move || verbs.work(verbs.board.of_worker(worker)))
        };
        workers.map(start).collect()
    }

    /// Ends the workers, once each has answered what it has begun.
    pub(super) fn end(&self) {
        self.ends.store(true, Relaxed);
        // It stays readable, so every worker wakes.
        let _ = rustix::io::write(&self.watched.end, &1_u64.to_ne_bytes());
    }

    /// Serves a connection.
    pub(super) fn serve(&self, client: Client) {
        let (number, client) = (client.number, Arc::new(client));
        lock(&self.clients).insert(number, Arc::clone(&client));
        let flags = EventFlags::IN | EventFlags::ONESHOT;
        if epoll::add(
            &self.watched.epoll,
            &client,
            EventData::new_u64(number),
            flags,
        )
        .is_err()
        {
            self.let_go(&client);
        }
    }

    /// Serves a connection no more, once its request is answered.
    pub(super) fn give_back(&self, number: u64) {
        let client = lock(&self.clients).get(&number).cloned();
        let Some(client) = client else { return };
        let mut turn = lock(&client.turn);
        match *turn {
            Turn::Idle => {
                *turn = Turn::Back;
                drop(turn);
                self.let_go(&client);
            }
            Turn::Busy => *turn = Turn::Last,
            Turn::Last | Turn::Back => {}
        }
    }

    /// The service has the connection again, and what is unread in it.
    fn let_go(&self, client: &Client) {
        // The service has it open, too, so epoll would go on watching it.
        let _ = epoll::delete(&self.watched.epoll, client);
        lock(&self.clients).remove(&client.number);
        self.out.say(&FromVerbs::Back(client.number));
    }

    /// Carries out requests until the end.
    fn work(self: &Arc<Self>, place: &'static Place) {
        crash::at(place);
        let mut room = Zeroizing::new(vec![0; MOST + 1]);
        while !self.ends.load(Relaxed) {
            let mut events = [Event {
                flags: EventFlags::empty(),
                data: EventData::new_u64(END),
            }];
            // None where a signal interrupts it.
            let Ok(1) = epoll::wait(&self.watched.epoll, &mut events, None) else {
                continue;
            };
            let number = { events[0].data }.u64();
            let client = lock(&self.clients).get(&number).cloned();
            let Some(client) = client else { continue };
            match &mut *lock(&client.turn) {
                turn @ Turn::Idle => *turn = Turn::Busy,
                _ => continue,
            }
            let mut stay = None;
            // None: another thread has the connection.
            while let Some(next) = self.hear(&client, &mut room, place) {
                if next != Turn::Idle || !self.stays(&client, &mut stay) {
                    self.finish(&client, next);
                    break;
                }
            }
        }
    }

    /// Whether the worker stays with a connection, whose next request comes within a moment.
    ///
    /// What was sent ahead waits its turn with the others' requests. Few workers stay at a time, and none for long: the others serve
    /// whoever comes.
    fn stays<'a>(&'a self, client: &Client, stay: &mut Option<Stay<'a>>) -> bool {
        if client.is_readable() {
            return false;
        }
        if stay.is_none() {
            *stay = Stay::begin(&self.staying, self.most_staying);
        }
        let begun = Instant::now();
        let may_stay = stay.as_ref().is_some_and(|stay| begun < stay.until);
        if !may_stay || !client.haste.is_due() {
            return false;
        }
        let comes = loop {
            if client.is_readable() {
                break true;
            }
            if begun.elapsed() >= SOON {
                break false;
            }
            std::hint::spin_loop();
        };
        client.haste.came(comes, begun.elapsed(), SOON);
        comes && *lock(&client.turn) == Turn::Busy && !self.ends.load(Relaxed)
    }

    /// Reads a request and carries it out. Whose the connection is then; none where another thread decides that. What is none of a
    /// verb's is the service's.
    fn hear(
        self: &Arc<Self>,
        client: &Arc<Client>,
        room: &mut [u8],
        place: &'static Place,
    ) -> Option<Turn> {
        let packet = match client.look(room) {
            Ok(length @ 1..=MOST) => &mut room[..length],
            Err(Errno::AGAIN | Errno::INTR) => return Some(Turn::Idle),
            // It ended, or brings descriptors, or what is longer than any request.
            _ => {
                room.zeroize();
                return Some(Turn::Back);
            }
        };
        let Some(id) = wire::Request::id_of(packet) else {
            packet.zeroize();
            return Some(Turn::Back);
        };
        place.begin(client.number, id, None);
        let request = match wire::Request::decode(packet) {
            Ok(wire::Request {
                operation: Operation::Verb { request },
                ..
            }) => Request::decode(request),
            _ => {
                // The service's: it may have a secret of a token's, or a key.
                packet.zeroize();
                place.end();
                return Some(Turn::Back);
            }
        };
        // It may have had a PIN or a key in the clear.
        packet.zeroize();
        match request {
            Ok(request) => {
                let client = Arc::clone(client);
                let call = Call {
                    client,
                    id,
                    request,
                };
                if call.request.description().takes_long() {
                    return self.run_apart(call, place);
                }
                self.run(&call, place);
            }
            Err(malformed) => {
                self.board.malformed.fetch_add(1, Relaxed);
                let about = About::Key(None, Status::Malformed);
                self.complaints.of(&client.peer(), about, malformed);
                let sentence = malformed.to_string();
                self.answer(client, id, Status::Malformed, sentence.as_bytes());
                place.end();
            }
        }
        Some(Turn::Idle)
    }

    /// Carries out a verb that may take long, while the workers go on. Whose the connection is then; none: another thread's.
    fn run_apart(self: &Arc<Self>, call: Call, place: &'static Place) -> Option<Turn> {
        let Some(number) = permit(&mut lock(&self.long), call.client.caller) else {
            // The client tries again, for as long as it likes.
            let sentence = b"the coprocessor has too many verbs under way that take long";
            self.answer(&call.client, call.id, Status::Busy, sentence);
            place.end();
            return Some(Turn::Idle);
        };
        let call = Arc::new(call);
        let (verbs, apart) = (Arc::clone(self), Arc::clone(&call));
        let run = move || {
            let place = verbs.board.of_long(number);
            crash::at(place);
            verbs.run(&apart, place);
            verbs.finish(&apart.client, Turn::Idle);
            lock(&verbs.long)[number] = None;
        };
        let thread = std::thread::Builder::new().name("coprocessor".into());
        match thread.spawn(run) {
            Ok(_) => {
                place.end();
                None
            }
            Err(_) => {
                self.run(&call, place);
                lock(&self.long)[number] = None;
                Some(Turn::Idle)
            }
        }
    }

    /// Carries out a verb. The answer always fits a packet.
    fn run(&self, call: &Call, place: &'static Place) {
        let Call {
            client,
            id,
            request,
        } = call;
        let verb = request.verb();
        place.begin(client.number, *id, Some(verb));
        #[cfg(debug_assertions)]
        crash::on_demand(request);
        let answer = self.card.dispatch(client.caller, request);
        #[cfg(debug_assertions)]
        crash::wait_on_demand(request);
        let counts = self.board.verb(verb);
        let count = match answer.return_code {
            0 => &counts.done,
            4 => &counts.unverified,
            _ => &counts.refused,
        };
        count.fetch_add(1, Relaxed);
        if request.description().changes() {
            self.board.set_records(self.card.records());
        }
        match answer.encode() {
            Ok(bytes) if bytes.len() <= MOST_MESSAGE => {
                self.answer(client, *id, Status::Done, &bytes);
            }
            _ => {
                let bytes = TOO_LONG.encode().unwrap_or_default();
                self.answer(client, *id, Status::Done, &bytes);
            }
        }
        place.end();
    }

    /// Answers, and takes the request out of the socket: in this order, so that a request that the process does not answer stays.
    fn answer(&self, client: &Client, id: u32, status: Status, bytes: &[u8]) {
        let mut packet = Vec::with_capacity(8 + bytes.len());
        wire::Answer { id, status, bytes }.encode(&mut packet);
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        let sent = rustix::net::send(client, &packet, flags);
        packet.zeroize();
        client.skip();
        if sent.is_err() {
            // It does not read its answers.
            client.shut();
        }
    }

    /// Waits for the connection's next request, or gives it back.
    fn finish(&self, client: &Client, next: Turn) {
        let turn = {
            let mut turn = lock(&client.turn);
            *turn = match *turn {
                Turn::Last => Turn::Back,
                _ => next,
            };
            *turn
        };
        if turn == Turn::Idle {
            let data = EventData::new_u64(client.number);
            let flags = EventFlags::IN | EventFlags::ONESHOT;
            // Without the lock, for which the worker that this wakes would wait.
            let watched = epoll::modify(&self.watched.epoll, client, data, flags);
            let is_back = || {
                let mut turn = lock(&client.turn);
                std::mem::replace(&mut *turn, Turn::Back) == Turn::Back
            };
            // It cannot be watched any more where it was given back meanwhile.
            if watched.is_ok() || is_back() {
                return;
            }
        }
        self.let_go(client);
    }
}

/// Room for a verb of that caller that takes long; none if there is no more. The last room is an administrator's: so however many users
/// are there, one can take their rights.
fn permit(long: &mut [Option<u32>; MOST_LONG], caller: cca::Caller) -> Option<usize> {
    let user = Some(caller.user);
    let of_user = long.iter().filter(|other| **other == user).count();
    let left = long.iter().filter(|other| other.is_none()).count();
    if of_user >= MOST_LONG_OF_USER || left <= usize::from(!caller.administrator) {
        return None;
    }
    let number = long.iter().position(Option::is_none)?;
    long[number] = user;
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_room_is_an_administrator_s() {
        let mut long = [None; MOST_LONG];
        let user = |user| cca::Caller {
            administrator: false,
            user,
        };
        for number in 0..MOST_LONG - 1 {
            let user = user(number as u32 / 2);
            assert_eq!(permit(&mut long, user), Some(number));
        }
        assert_eq!(permit(&mut long, user(1000)), None);
        let root = cca::Caller {
            administrator: true,
            user: 2000,
        };
        assert_eq!(permit(&mut long, root), Some(MOST_LONG - 1));
        assert_eq!(permit(&mut long, root), None, "it is taken");
        long[..2].fill(None);
        assert_eq!(permit(&mut long, user(1)), None, "two at a time");
        assert_eq!(permit(&mut long, user(0)), Some(0));
        assert_eq!(permit(&mut long, user(4)), None, "the last one again");
    }
}
