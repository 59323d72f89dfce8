//! Asking: one request, one answer, and what happens in between.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread::sleep;
use std::time::{Duration, Instant};

use outboard_wire::haste::Haste;
use outboard_wire::{
    Answer, KeyId, Listed, MOST, Malformed, Operation, Page, Reference, Request, SERVICE_LIMIT,
    SYSTEM_DIRECTORY, Status, Ticket,
};
use zeroize::{Zeroize, Zeroizing};

use crate::address::Address;
use crate::connection::{self, Refusal, Room};
use crate::error::{Error, Problem, tame};
use crate::fork;
use crate::pace::{Pace, Paces};
use crate::pool::{self, Pool, Taken};

mod pending;

pub use pending::{Pending, Progress};

/// How a service is asked.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The service's directory.
    pub directory: PathBuf,
    /// How long a request is tried, in all.
    pub limit: Duration,
    /// How many connections the process may have, at most [`MOST_CONNECTIONS`](crate::MOST_CONNECTIONS).
    pub connections: usize,
}

impl Settings {
    /// What holds unless it is said otherwise, for the service of a directory.
    pub fn of(directory: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
            limit: SERVICE_LIMIT,
            connections: pool::MOST,
        }
    }

    /// What holds for a program that was told a directory and a limit, or not.
    pub fn told(directory: Option<&Path>, limit: Option<Duration>) -> Self {
        let settings = Self::of(directory.unwrap_or(Path::new(SYSTEM_DIRECTORY)));
        Self {
            limit: limit.unwrap_or(settings.limit),
            ..settings
        }
    }
}

/// A key, as its reference names it.
#[derive(Clone, Copy, Debug)]
pub struct Key<'a> {
    /// Which key it is.
    pub id: KeyId,
    /// Its name, for errors.
    pub name: &'a str,
    /// What opens its token; none for a key that belongs to none.
    pub ticket: Option<Ticket<'a>>,
}

/// A process's connection to a service. Made in one process, it serves the processes that this one forks, too.
pub struct Client {
    settings: Settings,
    address: Address,
    pool: Pool,
    numbers: AtomicU32,
    /// What was learned of how soon answers come.
    paces: Paces,
    /// Whether there was a filter of system calls from the start.
    filtered: bool,
}

/// The longest answer of an operation: a signature, a secret, or a sentence.
const MOST_ANSWER: usize = 4096;
/// Between two tries, the first and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(50));

/// A request, as it is sent.
struct Outgoing {
    id: u32,
    packet: Zeroizing<Vec<u8>>,
    /// Tried until then.
    until: Instant,
    /// The longest answer.
    most: usize,
    /// How soon its answer comes.
    pace: Pace,
    /// Whether it waits for a place. A job's does not: paused jobs of its own thread may have all places.
    waits: bool,
}

/// A request that was sent on a connection.
struct Sent {
    place: Taken,
    descriptor: i32,
    /// The connection was there before.
    old: bool,
}

/// The pauses between tries, the next one first.
struct Pauses(Duration);

/// Why a try failed.
enum Failed {
    /// Another one may succeed; at once where the connection was only old.
    Again { problem: Problem, at_once: bool },
    /// No other one would succeed.
    Never(Problem),
}

impl Client {
    /// Knows where the service is, and asks nothing yet. To be made before a program changes its root or confines itself.
    pub fn new(settings: Settings) -> Self {
        fork::watch();
        Self {
            address: Address::of(&settings.directory),
            pool: Pool::new(settings.connections),
            numbers: AtomicU32::new(1),
            paces: Paces::new(),
            filtered: is_filtered(),
            settings,
        }
    }

    /// Asks, and writes the result into `result`, which is emptied first. Waits for the settings' limit at most.
    ///
    /// # Errors
    /// The service does not answer, or refuses.
    pub fn ask(
        &self,
        key: Key<'_>,
        operation: Operation<'_>,
        result: &mut Zeroizing<Vec<u8>>,
    ) -> Result<(), Error> {
        self.ask_by(key, operation, result, true)
    }

    /// As [`ask`](Self::ask), for a thread that has begun other requests ([`begin`](Self::begin)): waits for none of their
    /// connections.
    ///
    /// # Errors
    /// As [`ask`](Self::ask).
    pub fn ask_meanwhile(
        &self,
        key: Key<'_>,
        operation: Operation<'_>,
        result: &mut Zeroizing<Vec<u8>>,
    ) -> Result<(), Error> {
        self.ask_by(key, operation, result, false)
    }

    /// The reference to the key of that name ([`is_name`](outboard_wire::is_name)), where the service lets this process
    /// know of it.
    ///
    /// # Errors
    /// As [`ask`](Self::ask).
    pub fn find(&self, name: &str) -> Result<Reference, Error> {
        let result = self.learn(name, Operation::Find { name })?;
        Reference::from_der(&result).map_err(|_| Error {
            key: name.to_owned(),
            problem: Problem::NoReference,
        })
    }

    /// The keys that this process may use, by name, and their generation; none of them where that is still `known`.
    ///
    /// # Errors
    /// As [`ask`](Self::ask).
    pub fn list(&self, known: u64) -> Result<Page, Error> {
        let mut all = Page::default();
        loop {
            let last = all.keys.last();
            let after = last.map_or("", |listed: &Listed| &listed.reference.name);
            let known = if after.is_empty() { known } else { 0 };
            let result = self.learn("", Operation::List { known, after })?;
            let page = Page::decode(&result).map_err(|malformed| Error {
                key: String::new(),
                problem: Problem::Misunderstood(malformed),
            })?;
            let goes_on = page
                .keys
                .first()
                .is_none_or(|first| first.reference.name[..] > *after);
            if page.generation != all.generation {
                // The first page, or the keys have changed meanwhile.
                let was_first = all.keys.is_empty();
                all = Page {
                    generation: page.generation,
                    keys: Vec::new(),
                };
                if !was_first {
                    continue;
                }
            }
            if page.keys.is_empty() || !goes_on {
                return Ok(all);
            }
            all.keys.extend(page.keys);
        }
    }

    /// Asks the CCA coprocessor for a verb, and writes its answer into `answer`, which is emptied first.
    ///
    /// It is tried for that limit, and not for the settings'. A verb that changes what the coprocessor stores (`changes`) is not sent again once it was sent: nobody knows whether it
    /// was done.
    ///
    /// # Errors
    /// The service does not answer, or the coprocessor is not for this process.
    pub fn verb(
        &self,
        request: &[u8],
        changes: bool,
        limit: Duration,
        answer: &mut Zeroizing<Vec<u8>>,
    ) -> Result<(), Problem> {
        answer.clear();
        let key = Key {
            id: KeyId([0; 16]),
            name: "",
            ticket: None,
        };
        let mut outgoing = self.request(key, Operation::Verb { request }, true)?;
        outgoing.until = Instant::now() + limit;
        self.keep_trying(&outgoing, || {
            let sent = self.send(&outgoing)?;
            match self.hear(sent, &outgoing, answer) {
                Err(Failed::Again { problem, .. })
                    if changes && matches!(problem, Problem::Unreachable { .. }) =>
                {
                    Err(Failed::Never(problem))
                }
                heard => heard,
            }
        })
    }

    /// Asks what needs no key.
    fn learn(&self, name: &str, operation: Operation<'_>) -> Result<Zeroizing<Vec<u8>>, Error> {
        // It stands for nothing.
        let id = KeyId([0; 16]);
        let mut result = Zeroizing::new(Vec::new());
        let key = Key {
            id,
            name,
            ticket: None,
        };
        let asked = self.keep_asking(key, operation, &mut result, true);
        asked.map(|()| result).map_err(|problem| Error {
            key: name.to_owned(),
            problem: match problem {
                Problem::Refused {
                    status: Status::Malformed,
                    ..
                } => Problem::Older {
                    directory: self.settings.directory.clone(),
                },
                problem => problem,
            },
        })
    }

    /// Sends a request and does not wait for its answer, for callers that do something else meanwhile. Where the service
    /// is not there, it is sent later ([`Pending::go_on`]).
    ///
    /// # Errors
    /// It cannot be sent, now or later.
    pub fn begin(
        self: &Arc<Self>,
        key: Key<'_>,
        operation: Operation<'_>,
    ) -> Result<Pending, Error> {
        let error = |problem| Error {
            key: key.name.to_owned(),
            problem,
        };
        let request = self.request(key, operation, false).map_err(error)?;
        let mut pending = Pending {
            client: Arc::clone(self),
            key: key.name.to_owned(),
            request,
            sent: None,
            pauses: Pauses::default(),
            again: Instant::now(),
        };
        pending.send().map_err(error)?;
        Ok(pending)
    }

    fn ask_by(
        &self,
        key: Key<'_>,
        operation: Operation<'_>,
        result: &mut Zeroizing<Vec<u8>>,
        waits: bool,
    ) -> Result<(), Error> {
        result.clear();
        self.keep_asking(key, operation, result, waits)
            .map_err(|problem| Error {
                key: key.name.to_owned(),
                problem,
            })
    }

    fn keep_asking(
        &self,
        key: Key<'_>,
        operation: Operation<'_>,
        result: &mut Vec<u8>,
        waits: bool,
    ) -> Result<(), Problem> {
        let request = self.request(key, operation, waits)?;
        self.keep_trying(&request, || self.once(&request, result))
    }

    fn request(
        &self,
        key: Key<'_>,
        operation: Operation<'_>,
        waits: bool,
    ) -> Result<Outgoing, Problem> {
        if !self.filtered && is_filtered() {
            return Err(Problem::Confined);
        }
        let until = Instant::now() + self.settings.limit;
        let id = self.numbers.fetch_add(1, Relaxed);
        // In room that does not grow: what it leaves behind would have the secrets of a verb.
        let room = match operation {
            Operation::Verb { request } => 64 + request.len(),
            _ => 256,
        };
        let mut packet = Zeroizing::new(Vec::with_capacity(room));
        let mut request = Request {
            id,
            key: key.id,
            ticket: None,
            operation,
        };
        request.encode(&mut packet);
        if key.ticket.is_some() {
            // In room that does not grow: what it leaves behind would have the ticket.
            packet = Zeroizing::new(Vec::with_capacity(packet.len() + Ticket::LENGTH));
            request.ticket = key.ticket;
            request.encode(&mut packet);
        }
        let most = match operation {
            Operation::List { .. } | Operation::Verb { .. } => MOST,
            _ => MOST_ANSWER,
        };
        if packet.len() > MOST {
            let (length, most) = (packet.len(), MOST);
            return Err(Problem::Long { length, most });
        }
        Ok(Outgoing {
            id,
            packet,
            until,
            most,
            pace: Pace::of(&operation),
            waits,
        })
    }

    fn keep_trying(
        &self,
        request: &Outgoing,
        mut once: impl FnMut() -> Result<(), Failed>,
    ) -> Result<(), Problem> {
        let mut pauses = Pauses::default();
        while let Err(failed) = once() {
            if let Some(pause) = pauses.before_another(request, failed)? {
                sleep(pause);
            }
        }
        Ok(())
    }

    fn once(&self, request: &Outgoing, result: &mut Vec<u8>) -> Result<(), Failed> {
        let sent = self.send(request)?;
        self.hear(sent, request, result)
    }

    /// Sends a request, on a connection of before or on a new one.
    fn send(&self, request: &Outgoing) -> Result<Sent, Failed> {
        let Some(mut place) = self.place(request) else {
            return Err(Failed::Never(Problem::Crowded {
                connections: self.pool.len(),
                limit: self.settings.limit,
            }));
        };
        let (descriptor, old) = match place.descriptor() {
            Some(descriptor) => (descriptor, true),
            None => (self.connect(&mut place)?, false),
        };
        match connection::send(descriptor, &request.packet, request.until) {
            Ok(()) => Ok(Sent {
                place,
                descriptor,
                old,
            }),
            Err(error) => Err(self.failed(error, old)),
        }
    }

    /// Receives the answer to what was sent.
    fn hear(&self, sent: Sent, request: &Outgoing, result: &mut Vec<u8>) -> Result<(), Failed> {
        let Sent {
            place,
            descriptor,
            old,
        } = sent;
        // Not on the stack, of which an asynchronous job of OpenSSL has little.
        let mut room = Room::new(request.most);
        let haste = self.paces.haste(request.pace);
        match receive(descriptor, request.id, &mut room, request.until, haste) {
            Ok(Ok(answer)) => {
                place.give_back();
                self.paces.answered(request.pace);
                if answer.status == Status::Done {
                    result.zeroize();
                    result.extend_from_slice(answer.bytes);
                    return Ok(());
                }
                let problem = Problem::Refused {
                    status: answer.status,
                    sentence: tame(answer.bytes),
                };
                Err(match answer.status.is_passing() {
                    true => Failed::Again {
                        problem,
                        at_once: false,
                    },
                    false => Failed::Never(problem),
                })
            }
            Ok(Err(malformed)) => Err(Failed::Never(Problem::Misunderstood(malformed))),
            Err(error) => Err(self.failed(error, old)),
        }
    }

    fn failed(&self, error: std::io::Error, old: bool) -> Failed {
        match error.kind() {
            std::io::ErrorKind::TimedOut => Failed::Never(Problem::Silent {
                limit: self.settings.limit,
                directory: self.settings.directory.clone(),
            }),
            // The service went; an idle connection of before says so only now.
            _ => Failed::Again {
                problem: self.unreachable(error),
                at_once: old,
            },
        }
    }

    /// A place in the pool, waited for; none of them for a request that does not wait.
    fn place(&self, request: &Outgoing) -> Option<Taken> {
        if !request.waits {
            return Some(self.pool.take_anyway());
        }
        let mut nap = Duration::from_micros(50);
        loop {
            if let Some(place) = self.pool.take() {
                return Some(place);
            }
            if Instant::now() + nap > request.until {
                return None;
            }
            sleep(nap);
            nap = (nap * 2).min(PAUSES.0);
        }
    }

    fn connect(&self, place: &mut Taken) -> Result<i32, Failed> {
        match connection::connect(&self.address) {
            Ok((descriptor, identity)) => {
                place.put(descriptor, identity);
                Ok(descriptor)
            }
            Err(Refusal::Resource(error)) => Err(Failed::Never(Problem::Resource(error))),
            Err(Refusal::Impostor { found, expected }) => {
                Err(Failed::Never(Problem::Impostor { found, expected }))
            }
            Err(Refusal::Unreachable(error)) => {
                let gone = matches!(
                    error.raw_os_error(),
                    // Not there, not there yet, or so many wait that it takes no more.
                    Some(libc::ENOENT | libc::ECONNREFUSED | libc::ECONNRESET | libc::EAGAIN)
                        | Some(libc::EINTR)
                );
                let problem = self.unreachable(error);
                Err(match gone {
                    true => Failed::Again {
                        problem,
                        at_once: false,
                    },
                    false => Failed::Never(problem),
                })
            }
        }
    }

    fn unreachable(&self, source: std::io::Error) -> Problem {
        Problem::Unreachable {
            path: self.address.path().to_owned(),
            source,
        }
    }
}

impl Sent {
    /// Whether an answer may still come: this process sent it, on a connection that is still there.
    fn is_under_way(&self) -> bool {
        self.place.is_ours() && self.place.is_connected()
    }
}

impl Default for Pauses {
    fn default() -> Self {
        Self(PAUSES.0)
    }
}

impl Pauses {
    /// What comes before another try: a pause, or nothing.
    ///
    /// # Errors
    /// There is none: it would not succeed, or it is too late.
    fn before_another(
        &mut self,
        request: &Outgoing,
        failed: Failed,
    ) -> Result<Option<Duration>, Problem> {
        let (problem, at_once) = match failed {
            Failed::Again { problem, at_once } => (problem, at_once),
            Failed::Never(problem) => return Err(problem),
        };
        let pause = self.0;
        if request.until.saturating_duration_since(Instant::now()) < pause {
            return Err(problem);
        }
        if at_once {
            return Ok(None);
        }
        self.0 = (pause * 2).min(PAUSES.1);
        Ok(Some(pause))
    }
}

/// The answer to that request. Others are late ones, and dropped.
fn receive<'a>(
    descriptor: i32,
    id: u32,
    room: &'a mut Room,
    until: Instant,
    haste: Option<&Haste>,
) -> std::io::Result<Result<Answer<'a>, Malformed>> {
    loop {
        match room.receive(descriptor, until, haste) {
            Err(error) if error.kind() == std::io::ErrorKind::FileTooLarge => {
                return Ok(Err(Malformed::Long));
            }
            received => received?,
        }
        match Answer::decode(room.packet()) {
            Ok(answer) if answer.id == id => break,
            Ok(_) => {}
            Err(malformed) => return Ok(Err(malformed)),
        }
    }
    Ok(Answer::decode(room.packet()))
}

/// Whether a filter of system calls is in force for the calling thread.
fn is_filtered() -> bool {
    // SAFETY: asks about the calling thread.
    unsafe { libc::prctl(libc::PR_GET_SECCOMP, 0, 0, 0, 0) != 0 }
}
