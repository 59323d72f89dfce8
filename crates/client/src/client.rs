//! Asking: one request, one answer, and what happens in between.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread::sleep;
use std::time::{Duration, Instant};

use outboard_wire::{Answer, KeyId, MOST, Malformed, Operation, Request};
use zeroize::{Zeroize, Zeroizing};

use crate::address::Address;
use crate::connection::{self, Refusal};
use crate::error::{Error, Problem, tame};
use crate::fork;
use crate::pool::{self, Pool, Taken};

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
            limit: Duration::from_secs(5),
            connections: pool::MOST,
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
}

/// A process's connection to a service. Made in one process, it serves the processes that this one forks, too.
pub struct Client {
    settings: Settings,
    address: Address,
    pool: Pool,
    numbers: AtomicU32,
    /// Whether there was a filter of system calls from the start.
    filtered: bool,
}

/// The longest answer: a signature, a secret, or a sentence.
const MOST_ANSWER: usize = 4096;
/// Between two tries, the first and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(50));

/// What became of one try.
enum Try {
    Done,
    /// Another one may succeed; at once where the connection was only old.
    Again {
        problem: Problem,
        at_once: bool,
    },
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
        result.clear();
        self.keep_asking(key, operation, result)
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
    ) -> Result<(), Problem> {
        if !self.filtered && is_filtered() {
            return Err(Problem::Confined);
        }
        let until = Instant::now() + self.settings.limit;
        let id = self.numbers.fetch_add(1, Relaxed);
        let key = key.id;
        let mut packet = Zeroizing::new(Vec::with_capacity(256));
        Request { id, key, operation }.encode(&mut packet);
        if packet.len() > MOST {
            let (length, most) = (packet.len(), MOST);
            return Err(Problem::Long { length, most });
        }
        let mut pause = PAUSES.0;
        loop {
            let (problem, at_once) = match self.once(id, &packet, until, result) {
                Try::Done => return Ok(()),
                Try::Never(problem) => return Err(problem),
                Try::Again { problem, at_once } => (problem, at_once),
            };
            let left = until.saturating_duration_since(Instant::now());
            if left < pause {
                return Err(problem);
            }
            if !at_once {
                sleep(pause);
                pause = (pause * 2).min(PAUSES.1);
            }
        }
    }

    fn once(&self, id: u32, packet: &[u8], until: Instant, result: &mut Vec<u8>) -> Try {
        let Some(mut place) = self.place(until) else {
            return Try::Never(Problem::Crowded {
                connections: self.pool.len(),
                limit: self.settings.limit,
            });
        };
        let (descriptor, old) = match place.descriptor() {
            Some(descriptor) => (descriptor, true),
            None => match self.connect(&mut place) {
                Ok(descriptor) => (descriptor, false),
                Err(failed) => return failed,
            },
        };
        let mut room = Zeroizing::new([0; MOST_ANSWER]);
        let exchanged = connection::send(descriptor, packet, until)
            .and_then(|()| receive(descriptor, id, &mut room[..], until));
        match exchanged {
            Ok(Ok(answer)) => {
                place.give_back();
                if answer.status == outboard_wire::Status::Done {
                    result.zeroize();
                    result.extend_from_slice(answer.bytes);
                    return Try::Done;
                }
                let problem = Problem::Refused {
                    status: answer.status,
                    sentence: tame(answer.bytes),
                };
                match answer.status.is_passing() {
                    true => Try::Again {
                        problem,
                        at_once: false,
                    },
                    false => Try::Never(problem),
                }
            }
            Ok(Err(malformed)) => Try::Never(Problem::Misunderstood(malformed)),
            Err(error) if error.kind() == std::io::ErrorKind::TimedOut => {
                Try::Never(Problem::Silent(self.settings.limit))
            }
            // The service went; an idle connection of before says so only now.
            Err(source) => Try::Again {
                problem: self.unreachable(source),
                at_once: old,
            },
        }
    }

    /// A place in the pool, waited for.
    fn place(&self, until: Instant) -> Option<Taken<'_>> {
        let mut nap = Duration::from_micros(50);
        loop {
            if let Some(place) = self.pool.take() {
                return Some(place);
            }
            if Instant::now() + nap > until {
                return None;
            }
            sleep(nap);
            nap = (nap * 2).min(PAUSES.0);
        }
    }

    fn connect(&self, place: &mut Taken<'_>) -> Result<i32, Try> {
        match connection::connect(&self.address) {
            Ok((descriptor, identity)) => {
                place.put(descriptor, identity);
                Ok(descriptor)
            }
            Err(Refusal::Resource(error)) => Err(Try::Never(Problem::Resource(error))),
            Err(Refusal::Impostor { found, expected }) => {
                Err(Try::Never(Problem::Impostor { found, expected }))
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
                    true => Try::Again {
                        problem,
                        at_once: false,
                    },
                    false => Try::Never(problem),
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

/// The answer to that request. Others are late ones, and dropped.
fn receive(
    descriptor: i32,
    id: u32,
    room: &mut [u8],
    until: Instant,
) -> std::io::Result<Result<Answer<'_>, Malformed>> {
    let length = loop {
        let length = connection::receive(descriptor, room, until)?;
        if length > room.len() {
            return Ok(Err(Malformed::Long));
        }
        match Answer::decode(&room[..length]) {
            Ok(answer) if answer.id == id => break length,
            Ok(_) => {}
            Err(malformed) => return Ok(Err(malformed)),
        }
    };
    Ok(Answer::decode(&room[..length]))
}

/// Whether a filter of system calls is in force for the calling thread.
fn is_filtered() -> bool {
    // SAFETY: asks about the calling thread.
    unsafe { libc::prctl(libc::PR_GET_SECCOMP, 0, 0, 0, 0) != 0 }
}
