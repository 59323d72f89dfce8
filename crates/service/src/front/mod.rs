//! The front of the service for ssh clients: it holds no key, and outlives the service.
//!
//! ```text
//! sshd, ssh ──agent.sock──▶ the front ──relay.sock──▶ the service
//!             (kept)                    (one connection for each request)
//! ```
//!
//! An ssh client asks its agent once, on a connection that it keeps. So a process must be at the other end that does not end
//! when the service does. The front knows where a message ends and what says yes, and no more: the service decides who may
//! do what, and asks the kernel who the client is ([`crate::agent::relay`]).
//!
//! One thread looks at all connections and waits for none. A client has one request under way, and costs two descriptors at
//! most, one of them while it waits for the service.
//!
//! ```text
//! session.rs  one client, and its request
//! ```

mod session;

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};

use outboard_wire::{AGENT_SOCKET, RELAY_SOCKET};
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};

use crate::complaints::{About, Complaints};
use crate::peer::Peer;
use crate::sockets::AgentSocket;
use crate::visitor::Visitor;
use crate::{Error, agent, cannot, closing, limits, process, tell_systemd};
use session::{Session, Waits};

/// The most connections of one user but root: each may have a long message in memory.
const MOST_OF_USER: usize = 256;
/// Descriptors for everything else.
const OTHER_DESCRIPTORS: usize = 64;
/// How long the front serves the clients that are connected when it is told to end: a login takes less.
const FAREWELL: Duration = Duration::from_secs(2);

/// The number of the listening socket, and of what tells the end. The clients' follow.
const LISTENER: u64 = 0;
const END: u64 = 1;
const FIRST_CLIENT: u64 = 2;

/// Serves ssh clients for the service of that directory, until SIGTERM or SIGINT. Each request is tried for `limit`, in all.
///
/// # Errors
/// It cannot start.
pub fn serve_agent(directory: &Path, limit: Duration) -> Result<(), Error> {
    process::end_on_panic();
    process::hide_memory();
    process::raise_descriptors();
    let directory =
        fs::canonicalize(directory).map_err(cannot(format!("find {}", directory.display())))?;
    crate::only_ours(&directory)?;
    let end = crate::told_to_end()?;
    let path = directory.join(AGENT_SOCKET);
    let listener =
        AgentSocket::open(&directory).map_err(cannot(format!("listen at {}", path.display())))?;
    let service = directory.join(RELAY_SOCKET);
    let mut front =
        Front::new(&listener, &path, &end, &service, limit).map_err(cannot("watch its sockets"))?;
    tracing::info!("serving ssh clients at {}", path.display());
    tell_systemd("READY=1");
    front.serve();
    tell_systemd("STOPPING=1");
    Ok(())
}

struct Front<'a> {
    epoll: rustix::fd::OwnedFd,
    listener: &'a AgentSocket,
    /// Where clients connect.
    path: &'a Path,
    /// Where the service is asked.
    service: &'a Path,
    /// How long a request is tried there, in all.
    limit: Duration,
    sessions: HashMap<u64, Session>,
    next: u64,
    /// When a session is looked at though nothing happens to it.
    alarms: BTreeSet<(Instant, u64)>,
    /// How many clients there may be.
    most: usize,
    /// When the front ends, once it is told to.
    ends: Option<Instant>,
    complaints: Complaints,
}

impl<'a> Front<'a> {
    fn new(
        listener: &'a AgentSocket,
        path: &'a Path,
        end: impl AsFd,
        service: &'a Path,
        limit: Duration,
    ) -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let events = EventFlags::IN;
        epoll::add(
            &epoll,
            &listener.socket,
            EventData::new_u64(LISTENER),
            events,
        )?;
        // What tells the end goes on telling it.
        let events = EventFlags::IN | EventFlags::ONESHOT;
        epoll::add(&epoll, end, EventData::new_u64(END), events)?;
        // A client's, and the one to the service.
        let most = process::descriptors().saturating_sub(OTHER_DESCRIPTORS) / 2;
        Ok(Self {
            epoll,
            listener,
            path,
            service,
            limit,
            sessions: HashMap::new(),
            next: FIRST_CLIENT,
            alarms: BTreeSet::new(),
            most: most.min(limits::MOST_CONNECTIONS),
            ends: None,
            complaints: Complaints::default(),
        })
    }

    fn serve(&mut self) {
        let mut room = vec![0; agent::message::MOST];
        let mut events = [Event {
            flags: EventFlags::empty(),
            data: EventData::new_u64(0),
        }; 64];
        loop {
            let now = Instant::now();
            while let Some((_, number)) = self.alarms.first().copied().filter(|(at, _)| *at <= now)
            {
                self.go_on(number, now, &mut room);
            }
            if self
                .ends
                .is_some_and(|ends| ends <= now || self.sessions.is_empty())
            {
                return;
            }
            let alarm = self.alarms.first().map(|(at, _)| *at);
            let until = alarm.into_iter().chain(self.ends).min();
            let limit =
                until.map(|until| timespec(until.saturating_duration_since(Instant::now())));
            // None where a signal interrupts it.
            let count = epoll::wait(&self.epoll, &mut events, limit.as_ref()).unwrap_or(0);
            let now = Instant::now();
            for event in &events[..count] {
                match { event.data }.u64() {
                    END => self.end(now),
                    LISTENER => self.accept(now, &mut room),
                    number => self.go_on(number, now, &mut room),
                }
            }
        }
    }

    /// Accepts nobody any more. systemd keeps the listening socket, where it made it: who comes later waits for the next front.
    fn end(&mut self, now: Instant) {
        self.ends = Some(now + FAREWELL);
        let _ = epoll::delete(&self.epoll, &self.listener.socket);
    }

    fn accept(&mut self, now: Instant, room: &mut [u8]) {
        let client = match Visitor::accept(&self.listener.socket) {
            Ok(Some(client)) => client,
            Ok(None) => return,
            Err(error) => {
                // No descriptor is free: instead of asking again at once.
                let problem = format_args!("a client cannot be accepted: {error}");
                self.complaints.of_system(About::Connections, problem);
                std::thread::sleep(Duration::from_millis(10));
                return;
            }
        };
        // As the service asks: it would refuse each of this client's requests.
        let Ok(peer) = Peer::of_accepted(&client, self.path, rustix::process::geteuid().as_raw())
        else {
            return;
        };
        let sessions = self.sessions.values();
        let of_user = || {
            let connected = sessions.filter(|other| other.uid == peer.uid).count();
            connected + closing::of_user(peer.uid)
        };
        let most_of_user = MOST_OF_USER.min(self.most / 4);
        if limits::is_full(
            peer.uid,
            self.sessions.len(),
            self.most,
            of_user,
            most_of_user,
        ) {
            return self.complaints.of(&peer, About::Connections, limits::FULL);
        }
        let number = self.next;
        // Nothing is asked of it yet.
        let flags = EventFlags::ONESHOT;
        if epoll::add(&self.epoll, &client, EventData::new_u64(number), flags).is_ok() {
            self.next += 1;
            self.sessions
                .insert(number, Session::new(client, peer.uid, self.limit));
            self.go_on(number, now, room);
        }
    }

    /// Does what can be done for a client now, and watches for what it waits for then.
    fn go_on(&mut self, number: u64, now: Instant, room: &mut [u8]) {
        let Some(session) = self.sessions.get_mut(&number) else {
            return;
        };
        if let Some(alarm) = session.alarm.take() {
            self.alarms.remove(&(alarm, number));
        }
        let (data, once) = (EventData::new_u64(number), EventFlags::ONESHOT);
        let watched = match session.go_on(self.service, now, room) {
            Ok(Waits::Client(events)) => {
                epoll::modify(&self.epoll, &session.client, data, events | once)
            }
            Ok(Waits::Service { asked, until }) => {
                self.alarms.insert((until, number));
                match asked {
                    None => Ok(()),
                    Some((socket, events, true)) => {
                        epoll::add(&self.epoll, socket, data, events | once)
                    }
                    Some((socket, events, false)) => {
                        epoll::modify(&self.epoll, socket, data, events | once)
                    }
                }
            }
            Err(_) => return self.close(number),
        };
        if watched.is_err() {
            self.close(number);
        }
    }

    fn close(&mut self, number: u64) {
        if let Some(session) = self.sessions.remove(&number) {
            if let Some(alarm) = session.alarm {
                self.alarms.remove(&(alarm, number));
            }
            // The service may hold a copy for a moment, and epoll would watch that.
            let _ = epoll::delete(&self.epoll, &session.client);
        }
    }
}

fn timespec(time: Duration) -> Timespec {
    Timespec {
        tv_sec: time.as_secs().try_into().unwrap_or(i64::MAX),
        tv_nsec: time.subsec_nanos().into(),
    }
}
