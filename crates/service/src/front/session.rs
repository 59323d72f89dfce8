//! One ssh client of the front, and the request that it waits for.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::epoll::EventFlags;
use rustix::net::Shutdown;

use crate::agent::frames::{self, Heard, Incoming, Outgoing};
use crate::agent::{message, relay};
use crate::sockets;
use crate::visitor::Visitor;

/// Between two tries, the first and the longest: as other programs do.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(50));
/// The most bytes of messages that a client has said for good. OpenSSH's are some kilobytes at most.
const MOST_SAID: usize = 64 * 1024;

/// A client, from its connection's first moment to its last.
pub(super) struct Session {
    pub(super) client: Visitor,
    pub(super) uid: u32,
    /// How long a request is tried, in all.
    limit: Duration,
    /// When it is looked at though nothing happens to it.
    pub(super) alarm: Option<Instant>,
    heard: Incoming,
    answer: Outgoing,
    asking: Option<Asking>,
    /// The messages that the service has said yes to. They change what it answers later (`session-bind@openssh.com`), so
    /// they are said again before each request.
    said: Vec<Vec<u8>>,
}

/// What a session waits for.
pub(super) enum Waits<'a> {
    /// That to happen to its client's socket.
    Client(EventFlags),
    /// That to happen to its connection to the service, which is new or not; none between two tries. And that time.
    Service {
        asked: Option<(BorrowedFd<'a>, EventFlags, bool)>,
        until: Instant,
    },
}

/// A request of a client.
struct Asking {
    /// All that the service hears: what was said before, and the request.
    messages: Vec<u8>,
    /// Where the request begins in it.
    request: usize,
    /// How many answers the service gives, the last one to the request.
    answers: usize,
    /// Tried until then.
    until: Instant,
    again: Instant,
    pause: Duration,
    relay: Option<Relay>,
}

/// A connection to the service.
struct Relay {
    socket: OwnedFd,
    is_new: bool,
    sent: usize,
    heard: Incoming,
    /// How many answers are there.
    answers: usize,
}

impl Session {
    pub(super) fn new(client: Visitor, uid: u32, limit: Duration) -> Self {
        Self {
            client,
            uid,
            limit,
            alarm: None,
            heard: Incoming::default(),
            answer: Outgoing::default(),
            asking: None,
            said: Vec::new(),
        }
    }

    /// Does what can be done now without a wait.
    ///
    /// # Errors
    /// The client has closed the connection, speaks another protocol, or says too much.
    pub(super) fn go_on(
        &mut self,
        service: &Path,
        now: Instant,
        room: &mut [u8],
    ) -> io::Result<Waits<'_>> {
        loop {
            self.answer.send(&self.client)?;
            if !self.answer.is_empty() {
                return Ok(Waits::Client(EventFlags::OUT));
            }
            if let Some(asking) = &mut self.asking {
                let Some(answer) = asking.go_on(&self.client, service, now, room) else {
                    break;
                };
                if answer == message::success() {
                    self.remember()?;
                }
                self.asking = None;
                self.answer = answer.into();
                continue;
            }
            match self.heard.read(&self.client, room)? {
                Heard::Message => {
                    let request = self.heard.take();
                    self.asking = Some(Asking::new(&self.said, &request, now, now + self.limit));
                }
                Heard::Nothing => return Ok(Waits::Client(EventFlags::IN)),
                Heard::End => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
        }
        // INVARIANT: the loop ends only while a request is under way.
        let asking = self.asking.as_mut().ok_or(io::ErrorKind::Other)?;
        let until = asking.wakes();
        self.alarm = Some(until);
        let asked = asking.watched();
        Ok(Waits::Service { asked, until })
    }

    /// Keeps a message that the service has said yes to.
    fn remember(&mut self) -> io::Result<()> {
        let request = self.asking.as_ref().map(Asking::request);
        let is_new = |request: &&[u8]| self.said.iter().all(|said| said != request);
        if let Some(request) = request.filter(is_new) {
            let length: usize = self.said.iter().map(Vec::len).sum();
            if length + request.len() > MOST_SAID {
                return Err(io::ErrorKind::OutOfMemory.into());
            }
            self.said.push(request.to_vec());
        }
        Ok(())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // The service may hold a copy for a moment: the client learns now that nobody listens.
        let _ = rustix::net::shutdown(&self.client, Shutdown::Both);
    }
}

impl Asking {
    fn new(said: &[Vec<u8>], request: &[u8], now: Instant, until: Instant) -> Self {
        let before = said.concat();
        Self {
            request: before.len(),
            messages: [&before, request].concat(),
            answers: said.len() + 1,
            until,
            again: now,
            pause: PAUSES.0,
            relay: None,
        }
    }

    fn request(&self) -> &[u8] {
        &self.messages[self.request..]
    }

    /// The service's answer; none as long as there is none. When it is too late, the answer is a failure.
    fn go_on(
        &mut self,
        client: &Visitor,
        service: &Path,
        now: Instant,
        room: &mut [u8],
    ) -> Option<Vec<u8>> {
        if now >= self.until {
            return Some(message::failure());
        }
        if self.relay.is_none() {
            if now < self.again {
                return None;
            }
            self.relay = Relay::open(client, service).ok();
        }
        let answer = match &mut self.relay {
            Some(relay) => relay.go_on(&self.messages, self.answers, room),
            None => Err(io::ErrorKind::NotConnected.into()),
        };
        answer.unwrap_or_else(|_| {
            // The service has gone, or it wants to be asked again.
            self.relay = None;
            self.again = now + self.pause;
            self.pause = (self.pause * 2).min(PAUSES.1);
            None
        })
    }

    /// When it goes on at the latest.
    fn wakes(&self) -> Instant {
        match self.relay {
            Some(_) => self.until,
            None => self.again.min(self.until),
        }
    }

    /// What is watched meanwhile, and whether it is new.
    fn watched(&mut self) -> Option<(BorrowedFd<'_>, EventFlags, bool)> {
        let relay = self.relay.as_mut()?;
        let events = match relay.sent < self.messages.len() {
            // The service may close the connection before it has heard all.
            true => EventFlags::IN | EventFlags::OUT,
            false => EventFlags::IN,
        };
        let is_new = std::mem::replace(&mut relay.is_new, false);
        Some((relay.socket.as_fd(), events, is_new))
    }
}

impl Relay {
    fn open(client: &Visitor, service: &Path) -> io::Result<Self> {
        let socket = sockets::connect(service)?;
        relay::introduce(client, &socket)?;
        Ok(Self {
            socket,
            is_new: true,
            sent: 0,
            heard: Incoming::default(),
            answers: 0,
        })
    }

    /// The answer to the last of the messages; none as long as it is not there. What was said before must be granted again:
    /// without it the service might answer what it must not.
    fn go_on(
        &mut self,
        messages: &[u8],
        answers: usize,
        room: &mut [u8],
    ) -> io::Result<Option<Vec<u8>>> {
        self.sent += frames::send(&self.socket, &messages[self.sent..])?;
        loop {
            match self.heard.read(&self.socket, room)? {
                Heard::Nothing => return Ok(None),
                Heard::End => return Err(io::ErrorKind::UnexpectedEof.into()),
                Heard::Message => {
                    let answer = self.heard.take();
                    self.answers += 1;
                    if self.answers == answers {
                        return Ok(Some(answer));
                    }
                    if answer != message::success() {
                        return Ok(Some(message::failure()));
                    }
                }
            }
        }
    }
}
