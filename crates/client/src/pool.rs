//! The connections of a process: a fixed number of places, taken and given back without a lock.
//!
//! ```text
//! empty ──take──▶ busy ──give back──▶ idle ──take──▶ busy
//!   ▲               └──close──┐          └── idle for long, beyond a few: closed
//!   └─────────────────────────┘
//! ```
//!
//! A fork may come at any moment, so there is no lock that a child could find taken. Each place says which process it
//! belongs to. A child that finds its parent's closes its own copy of the descriptor and takes the place over.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use crate::connection::{self, Identity};
use crate::fork;

/// How many connections a process may have.
pub const MOST: usize = 64;

/// How many stay open that are not in use.
const KEPT: usize = 4;
/// How long the others stay open, in milliseconds.
const LINGER: u64 = 1000;

/// The places.
pub(crate) struct Pool {
    places: Arc<[Place]>,
}

/// A place: the process (32 bits), the descriptor (30 bits; all ones for none) and the state (2 bits).
#[derive(Default)]
struct Place {
    word: AtomicU64,
    device: AtomicU64,
    inode: AtomicU64,
    /// When it became idle.
    since: AtomicU64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Word(u64);

const EMPTY: Word = Word(0);
const IDLE: u64 = 1;
const BUSY: u64 = 2;
const NONE: u64 = (1 << 30) - 1;

impl Word {
    fn new(process: u32, descriptor: Option<i32>, state: u64) -> Self {
        let descriptor = descriptor.map_or(NONE, |descriptor| descriptor as u64 & NONE);
        Self(u64::from(process) << 32 | descriptor << 2 | state)
    }

    fn process(self) -> u32 {
        (self.0 >> 32) as u32
    }

    fn descriptor(self) -> Option<i32> {
        let descriptor = self.0 >> 2 & NONE;
        (descriptor != NONE).then_some(descriptor as i32)
    }

    fn state(self) -> u64 {
        self.0 & 3
    }
}

/// A place that is taken for one request. Dropped, it closes its connection.
pub(crate) struct Taken {
    places: Arc<[Place]>,
    /// None: a connection beyond the places, for one request.
    index: Option<usize>,
    process: u32,
    descriptor: Option<i32>,
    identity: Option<Identity>,
    /// The place may be another request's already.
    left: bool,
}

impl Pool {
    /// With so many places, at most [`MOST`].
    pub(crate) fn new(places: usize) -> Self {
        let places = places.clamp(1, MOST);
        Self {
            places: (0..places).map(|_| Place::default()).collect(),
        }
    }

    /// How many places there are.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// A place with an idle connection, or an empty one; none where all are busy.
    pub(crate) fn take(&self) -> Option<Taken> {
        let process = fork::process();
        for place in self.places.iter() {
            place.take_over(process);
        }
        let find = |wanted: fn(Word) -> bool| {
            let words = self
                .places
                .iter()
                .map(|place| Word(place.word.load(Acquire)));
            let mut wanted = words.enumerate().filter(|(_, word)| wanted(*word));
            wanted.find_map(|(index, word)| {
                claim(&self.places, index, word, process, word.descriptor())
            })
        };
        find(|word| word.state() == IDLE).or_else(|| find(|word| word == EMPTY))
    }

    /// A place, or none of them: for a request that must not wait until others are answered.
    pub(crate) fn take_anyway(&self) -> Taken {
        self.take().unwrap_or_else(|| Taken {
            places: Arc::clone(&self.places),
            index: None,
            process: fork::process(),
            descriptor: None,
            identity: None,
            left: false,
        })
    }
}

fn claim(
    places: &Arc<[Place]>,
    index: usize,
    word: Word,
    process: u32,
    descriptor: Option<i32>,
) -> Option<Taken> {
    let place = &places[index];
    let descriptor = descriptor.filter(|_| word != EMPTY);
    let busy = Word::new(process, descriptor, BUSY);
    place.change(word, busy).then(|| Taken {
        // A program may have closed it, and even have opened another one of that number.
        descriptor: descriptor.filter(|&descriptor| place.is_at(descriptor)),
        identity: Some(place.identity()),
        places: Arc::clone(places),
        index: Some(index),
        process,
        left: false,
    })
}

/// Closes what was idle for long, but for a few.
fn tidy(places: &Arc<[Place]>, now: u64) {
    let mut kept = 0;
    for (index, place) in places.iter().enumerate() {
        let word = Word(place.word.load(Acquire));
        if word.state() != IDLE {
            continue;
        }
        kept += 1;
        let old = now.saturating_sub(place.since.load(Relaxed)) > LINGER;
        if kept > KEPT && old {
            drop(claim(
                places,
                index,
                word,
                word.process(),
                word.descriptor(),
            ));
        }
    }
}

impl Place {
    fn change(&self, from: Word, to: Word) -> bool {
        let changed = self.word.compare_exchange(from.0, to.0, AcqRel, Relaxed);
        changed.is_ok()
    }

    /// Whether that descriptor is still the connection.
    fn is_at(&self, descriptor: i32) -> bool {
        connection::identity(descriptor) == Some(self.identity())
    }

    fn identity(&self) -> Identity {
        Identity {
            device: self.device.load(Relaxed),
            inode: self.inode.load(Relaxed),
        }
    }

    /// Makes a place empty that belongs to the process that forked this one.
    fn take_over(&self, process: u32) {
        let word = Word(self.word.load(Acquire));
        if word == EMPTY || word.process() == process {
            return;
        }
        let ours = Word::new(process, None, BUSY);
        if self.change(word, ours) {
            if let Some(descriptor) = word.descriptor().filter(|&one| self.is_at(one)) {
                connection::close(descriptor);
            }
            self.word.store(EMPTY.0, Release);
        }
    }
}

impl Taken {
    fn place(&self) -> Option<&Place> {
        self.index.map(|index| &self.places[index])
    }

    /// Whether this process took it, not one that forked it.
    pub(crate) fn is_ours(&self) -> bool {
        self.process == fork::process()
    }

    /// The connection, where there is one.
    pub(crate) fn descriptor(&self) -> Option<i32> {
        self.descriptor
    }

    /// Whether the descriptor is still the connection: a program may have closed it, and have another one of its number.
    pub(crate) fn is_connected(&self) -> bool {
        self.descriptor.is_some_and(|descriptor| {
            self.identity.is_some() && connection::identity(descriptor) == self.identity
        })
    }

    /// Puts a new connection here. The old one, if any, is closed.
    pub(crate) fn put(&mut self, descriptor: i32, identity: Identity) {
        self.close();
        if let Some(place) = self.place() {
            place.device.store(identity.device, Relaxed);
            place.inode.store(identity.inode, Relaxed);
        }
        self.leave(Word::new(self.process, Some(descriptor), BUSY));
        self.descriptor = Some(descriptor);
        self.identity = Some(identity);
    }

    /// Closes the connection: nobody may find what is late in it.
    pub(crate) fn close(&mut self) {
        if let Some(descriptor) = self.descriptor {
            self.leave(Word::new(self.process, None, BUSY));
            if self.is_connected() {
                connection::close(descriptor);
            }
            self.descriptor = None;
        }
    }

    /// Keeps the connection for the next request, if it has a place.
    pub(crate) fn give_back(mut self) {
        let (Some(place), Some(descriptor)) = (self.place(), self.descriptor) else {
            return;
        };
        let now = now();
        place.since.store(now, Relaxed);
        self.leave(Word::new(self.process, Some(descriptor), IDLE));
        self.left = true;
        tidy(&self.places, now);
    }

    fn leave(&self, word: Word) {
        if let Some(place) = self.place() {
            place.word.store(word.0, Release);
        }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        if self.left {
            return;
        }
        match (self.is_ours(), self.index) {
            (true, _) => {
                self.close();
                self.leave(EMPTY);
            }
            // In a child it is the parent's request, and the child's next one takes the place over.
            (false, Some(_)) => {}
            // Nobody else would close the child's copy.
            (false, None) => self.close(),
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let process = fork::process();
        for (index, place) in self.places.iter().enumerate() {
            let word = Word(place.word.load(Acquire));
            if word.state() == IDLE && word.process() == process {
                drop(claim(&self.places, index, word, process, word.descriptor()));
            }
        }
    }
}

/// Milliseconds of a clock that only goes forward.
fn now() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: a value of ours; the clock is always there, and read without a system call.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, &raw mut now) };
    now.tv_sec as u64 * 1000 + now.tv_nsec as u64 / 1_000_000
}
