//! Keeps the process of the verbs: starts it, hands connections over, stores what it changes, and starts it anew where it ends.
//!
//! One thread does that, and waits for nobody: what the process does not take stays in a queue here. Only the store is waited for, once for
//! all changes that are there at the same time.
//!
//! Where a verb ends the process, the keeper answers that verb's caller. All other requests are in their sockets, and the next process
//! carries them out. One that was under way twice when a process ended is not tried a third time.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use outboard_cca::{Bytes, Caller};
use outboard_vault::{self as vault, StateChange, StateEntry};
use outboard_wire::Status;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd};
use zeroize::Zeroizing;

use super::board::{Board, UnderWay};
use super::pair::{Entry, FromVerbs, ToVerbs};
use super::running::Running;
use super::{Coprocessor, SWITCH, caller};
use crate::complaints::About;
use crate::gate::{Connection, Gate, lock};
use crate::keys::{Keys, Refusal};

/// Before the process starts anew: the first time, and the longest. A process that lived long is forgiven.
const PAUSES: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(2));
const LONG: Duration = Duration::from_secs(60);
/// How long the process may take to end when it is told to: as long as short verbs and the disk take.
const FAREWELL: Duration = Duration::from_secs(3);
/// How often a request is begun, if the process ends meanwhile and nobody knows why.
const TRIES: u8 = 2;
/// What of the state is told at a time.
const PART: usize = 16 * 1024;
/// The first words of entries that are the service's own.
const OF_SERVICE: &str = "service/";

/// What the keeper is to do.
pub(super) enum Command {
    Serve {
        connection: Arc<Connection>,
        caller: Caller,
        row: Arc<vault::Coprocessor>,
    },
    /// The grants have changed.
    Review {
        row: Arc<vault::Coprocessor>,
        done: Sender<()>,
    },
    /// The coprocessor is off.
    Stop(Sender<()>),
    /// The service ends.
    End,
}

/// Where commands are left for the keeper.
pub(super) struct Desk {
    commands: Mutex<VecDeque<Command>>,
    bell: OwnedFd,
}

/// That a command is carried out.
pub(super) struct Promise(Receiver<()>);

/// A connection that was handed over, or is to be.
struct Handed {
    connection: Arc<Connection>,
    caller: Caller,
    /// The request that was under way when processes ended, and how often it was.
    unlucky: (u32, u8),
}

/// The thread.
pub(super) struct Keeper {
    gate: Arc<Gate>,
    keys: Arc<Keys>,
    board: &'static Board,
    board_file: OwnedFd,
    desk: Arc<Desk>,
    directory: PathBuf,
    handed: HashMap<u64, Handed>,
    row: Option<Arc<vault::Coprocessor>>,
    /// That of the process. A coprocessor that was destroyed may have another one after it while its process ends.
    row_of_process: Option<Arc<vault::Coprocessor>>,
    process: Option<Running>,
    /// Until when the process may take its time to end, once it is told to.
    ends: Option<Instant>,
    /// How often it ended since it lived long.
    deaths: u32,
    /// When it may start.
    not_before: Instant,
    /// Questions to the process, and whose they are.
    asked: HashMap<u64, Sender<()>>,
    next: u64,
    stopping: Vec<Sender<()>>,
    is_over: bool,
}

impl Desk {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            commands: Mutex::default(),
            bell: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
        })
    }

    pub(super) fn say(&self, command: Command) {
        lock(&self.commands).push_back(command);
        let _ = rustix::io::write(&self.bell, &1_u64.to_ne_bytes());
    }

    /// Says a command that is answered.
    pub(super) fn ask(&self, command: impl FnOnce(Sender<()>) -> Command) -> Promise {
        let (done, promise) = channel();
        self.say(command(done));
        Promise(promise)
    }

    fn next(&self) -> Option<Command> {
        lock(&self.commands).pop_front()
    }
}

impl Promise {
    /// Waits until it is done; a while at most, for the process may be stuck.
    pub(super) fn wait(self) {
        let _ = self.0.recv_timeout(2 * FAREWELL);
    }
}

impl Keeper {
    pub(super) fn new(
        gate: Arc<Gate>,
        keys: Arc<Keys>,
        of: &Coprocessor,
        directory: &Path,
    ) -> io::Result<Self> {
        Ok(Self {
            gate,
            keys,
            board: of.board,
            board_file: of.board_file.try_clone()?,
            desk: Arc::clone(&of.desk),
            directory: directory.to_owned(),
            handed: HashMap::new(),
            row: None,
            row_of_process: None,
            process: None,
            ends: None,
            deaths: 0,
            not_before: Instant::now(),
            asked: HashMap::new(),
            next: 0,
            stopping: Vec::new(),
            is_over: false,
        })
    }

    /// Does all that until the service ends.
    pub(super) fn keep(mut self) {
        loop {
            while let Some(command) = self.desk.next() {
                self.obey(command);
            }
            let now = Instant::now();
            if self.ends.is_some_and(|ends| ends <= now) {
                self.ended();
            }
            if self.is_over && self.process.is_none() {
                return;
            }
            if self.process.is_none() && !self.handed.is_empty() && self.not_before <= now {
                self.start();
            }
            self.wait();
            self.hear();
        }
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Serve {
                connection,
                caller,
                row,
            } => {
                self.row = Some(row);
                let number = connection.number;
                let handed = Handed {
                    connection,
                    caller,
                    unlucky: (0, 0),
                };
                if let Some(process) = self.process.as_mut().filter(|_| self.ends.is_none()) {
                    serve(process, &handed);
                }
                self.handed.insert(number, handed);
            }
            Command::Review { row, done } => self.review(row, done),
            Command::Stop(done) => {
                self.stopping.push(done);
                self.farewell();
            }
            Command::End => {
                self.is_over = true;
                self.farewell();
            }
        }
    }

    /// Takes connections back whose callers may not do any longer what they could.
    fn review(&mut self, row: Arc<vault::Coprocessor>, done: Sender<()>) {
        let changed = self.handed.values().filter(|handed| {
            let peer = &handed.connection.peer;
            caller(peer, &row) != Some(handed.caller)
        });
        let changed: Vec<_> = changed.map(|handed| handed.connection.number).collect();
        self.row = Some(row);
        match &mut self.process {
            Some(process) => {
                for number in changed {
                    process.tell(&ToVerbs::GiveBack(number), None);
                }
                self.next += 1;
                process.tell(&ToVerbs::Ask(self.next), None);
                self.asked.insert(self.next, done);
            }
            None => {
                changed
                    .into_iter()
                    .for_each(|number| self.take_back(number));
                let _ = done.send(());
            }
        }
    }

    /// Tells the process to end. It answers what it has begun.
    fn farewell(&mut self) {
        match &mut self.process {
            None => self.stopped(),
            Some(process) => {
                if self.ends.is_none() {
                    process.tell(&ToVerbs::End, None);
                    self.ends = Some(Instant::now() + FAREWELL);
                }
            }
        }
    }

    /// There is no process any more: the gate has all connections again.
    fn stopped(&mut self) {
        let numbers: Vec<_> = self.handed.keys().copied().collect();
        numbers
            .into_iter()
            .for_each(|number| self.take_back(number));
        for done in self.stopping.drain(..) {
            let _ = done.send(());
        }
    }

    fn take_back(&mut self, number: u64) {
        if let Some(handed) = self.handed.remove(&number) {
            self.gate.take_back(&handed.connection);
        }
    }

    /// Starts the process, and tells it the state and all connections.
    fn start(&mut self) {
        let started = self.state().and_then(|state| {
            let process = Running::start(&self.board_file, &self.directory);
            let failed = |error| {
                Refusal::without_key(
                    Status::Failed,
                    format!("the coprocessor's process cannot start: {error}"),
                )
            };
            process.map(|process| (process, state)).map_err(failed)
        });
        let (mut process, state) = match started {
            Ok(started) => started,
            Err(refusal) => return self.refuse(&refusal),
        };
        let mut part = Vec::new();
        let mut size = 0;
        for (name, value) in state {
            size += name.len() + value.len();
            part.push((name, Bytes::from(&value[..])));
            if size >= PART {
                process.tell(&ToVerbs::Entries(std::mem::take(&mut part)), None);
                size = 0;
            }
        }
        process.tell(&ToVerbs::Entries(part), None);
        process.tell(&ToVerbs::Loaded, None);
        // Grants may have changed since they were handed over.
        let row = self.row.clone();
        let may = |handed: &Handed| {
            let row = row.as_ref()?;
            caller(&handed.connection.peer, row)
        };
        let gone = self
            .handed
            .iter()
            .filter(|(_, handed)| may(handed) != Some(handed.caller));
        let gone: Vec<_> = gone.map(|(number, _)| *number).collect();
        gone.into_iter().for_each(|number| self.take_back(number));
        for handed in self.handed.values() {
            serve(&mut process, handed);
        }
        self.row_of_process = row;
        self.process = Some(process);
    }

    /// The state that the process begins with.
    fn state(&self) -> Result<Vec<StateEntry>, Refusal> {
        let row = self.row.as_ref();
        let row = row.ok_or_else(|| Refusal::without_key(Status::Failed, String::new()))?;
        let mut state = self.keys.vault.state_entries(row)?;
        state.retain(|(name, _)| !name.starts_with(OF_SERVICE));
        Ok(state)
    }

    /// Refuses what waits, because there is no process.
    fn refuse(&mut self, refusal: &Refusal) {
        self.pause();
        for (_, handed) in self.handed.drain() {
            self.gate.refuse_waiting(&handed.connection, refusal);
        }
    }

    /// The process does not start again at once, the longer the more often it has ended.
    fn pause(&mut self) {
        let pause = PAUSES.0 * 2_u32.saturating_pow(self.deaths.min(16));
        self.deaths = self.deaths.saturating_add(1);
        self.not_before = Instant::now() + pause.min(PAUSES.1);
    }

    /// Waits for commands and for the process.
    fn wait(&self) {
        let now = Instant::now();
        let starts = (self.process.is_none() && !self.handed.is_empty()).then_some(self.not_before);
        let until = self.ends.into_iter().chain(starts).min();
        let limit = until.map(|until| {
            let left = until.saturating_duration_since(now) + Duration::from_millis(1);
            Timespec {
                tv_sec: left.as_secs() as i64,
                tv_nsec: left.subsec_nanos().into(),
            }
        });
        let mut watched = vec![PollFd::new(&self.desk.bell, PollFlags::IN)];
        if let Some(process) = &self.process {
            let events = match process.has_to_hear() {
                true => PollFlags::IN | PollFlags::OUT,
                false => PollFlags::IN,
            };
            watched.push(PollFd::from_borrowed_fd(process.as_fd(), events));
        }
        let _ = rustix::event::poll(&mut watched, limit.as_ref());
        let _ = rustix::io::read(&self.desk.bell, &mut [0; 8]);
    }

    /// Hears what the process tells, and stores what it changes.
    fn hear(&mut self) {
        let mut changes = Vec::new();
        let has_ended = loop {
            let Some(process) = &mut self.process else {
                return;
            };
            match process.hear() {
                Ok(Some(FromVerbs::Change {
                    number,
                    put,
                    remove,
                })) => changes.push(Change::new(number, put, remove)),
                Ok(Some(FromVerbs::Back(number))) => self.take_back(number),
                Ok(Some(FromVerbs::Heard(number))) => {
                    if let Some(done) = self.asked.remove(&number) {
                        let _ = done.send(());
                    }
                }
                Ok(Some(FromVerbs::Failed(sentence))) => {
                    let refusal = Refusal::without_key(Status::Failed, sentence);
                    self.refuse(&refusal);
                }
                Ok(None) => break true,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break false,
                Err(error) => {
                    tracing::error!("the coprocessor's process tells what makes no sense: {error}");
                    break true;
                }
            }
        };
        self.store(&changes);
        if let Some(process) = &mut self.process {
            process.go_on();
        }
        if has_ended {
            self.ended();
        }
    }

    /// Stores changes in their order, and tells the process. If not all can be stored, each is tried.
    fn store(&mut self, changes: &[Change]) {
        let (Some(row), Some(process)) = (&self.row_of_process, &mut self.process) else {
            return;
        };
        let vault = &self.keys.vault;
        let write = |changes: &[Change]| {
            let changes: Vec<_> = changes.iter().map(Change::of_vault).collect();
            vault.change_state(row, &changes)
        };
        let all = match changes {
            [] => return,
            _ if changes.iter().all(|change| change.is_theirs) => write(changes).is_ok(),
            _ => false,
        };
        for change in changes {
            let done = all
                || (change.is_theirs && {
                    let written = write(std::slice::from_ref(change));
                    if let Err(error) = &written {
                        let problem =
                            format_args!("the coprocessor cannot write its state: {error}");
                        self.gate.complaints.of_system(About::Store, problem);
                    }
                    written.is_ok()
                });
            let number = change.number;
            process.tell(&ToVerbs::Stored { number, done }, None);
        }
    }

    /// The process is gone, or must go now.
    fn ended(&mut self) {
        let Some(process) = self.process.take() else {
            return;
        };
        let lived = process.since.elapsed();
        let status = process.reap();
        let under_way: Vec<_> = self.board.under_way().collect();
        self.board.clear();
        self.asked.clear();
        if self.ends.take().is_some() {
            // What may be stored is not done again where the coprocessor is on again, nor refused as if it were not.
            under_way.into_iter().for_each(|request| self.lost(request));
            return self.stopped();
        }
        if lived > LONG {
            self.deaths = 0;
        }
        // A process that could not begin has said why.
        if !self.handed.is_empty() {
            let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
            tracing::error!("the coprocessor's process has ended ({status}); it starts anew");
        }
        for request in under_way {
            self.lost(request);
        }
        self.pause();
    }

    /// A request was under way when the process ended.
    fn lost(&mut self, request: UnderWay) {
        let Some(handed) = self.handed.get_mut(&request.connection) else {
            return;
        };
        let tries = match handed.unlucky {
            (id, tries) if id == request.request => tries + 1,
            _ => 1,
        };
        handed.unlucky = (request.request, tries);
        // What may be stored already is not done again.
        if request.ended || request.changed || tries >= TRIES {
            let connection = Arc::clone(&handed.connection);
            self.handed.remove(&request.connection);
            self.gate
                .answer_ended(&connection, request.request, request.verb);
        }
    }
}

/// Hands a connection over.
fn serve(process: &mut Running, handed: &Handed) {
    let serve = ToVerbs::Serve {
        number: handed.connection.number,
        administrator: handed.caller.administrator,
        user: handed.caller.user,
        process: handed.connection.peer.pid,
    };
    process.tell(&serve, Some(&handed.connection));
}

/// A change that the process asks for.
struct Change {
    number: u64,
    put: Vec<StateEntry>,
    remove: Vec<String>,
    /// Whether it touches nothing of the service's own.
    is_theirs: bool,
}

impl Change {
    fn new(number: u64, put: Vec<Entry>, remove: Vec<String>) -> Self {
        let put = put.into_iter();
        let put: Vec<_> = put
            .map(|(name, value)| (name, Zeroizing::new(value.take())))
            .collect();
        let mut names = put.iter().map(|(name, _)| name).chain(&remove);
        let is_theirs = names.all(|name| !name.starts_with(OF_SERVICE));
        Self {
            number,
            put,
            remove,
            is_theirs,
        }
    }

    fn of_vault(&self) -> StateChange<'_> {
        StateChange {
            put: &self.put,
            remove: &self.remove,
        }
    }
}

const _: () = assert!(matches!(SWITCH.as_bytes().first_chunk(), Some(b"service/")));
