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
    places: Box<[Place]>,
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
pub(crate) struct Taken<'a> {
    pool: &'a Pool,
    place: &'a Place,
    process: u32,
    descriptor: Option<i32>,
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
    pub(crate) fn take(&self) -> Option<Taken<'_>> {
        let process = fork::process();
        for place in &self.places {
            place.take_over(process);
        }
        self.each(|place, word| {
            (word.state() == IDLE)
                .then(|| self.claim(place, word, process, word.descriptor()))
                .flatten()
        })
        .or_else(|| {
            self.each(|place, word| {
                (word == EMPTY)
                    .then(|| self.claim(place, word, process, None))
                    .flatten()
            })
        })
    }

    fn each<'a>(
        &'a self,
        visit: impl Fn(&'a Place, Word) -> Option<Taken<'a>>,
    ) -> Option<Taken<'a>> {
        let mut places = self.places.iter();
        places.find_map(|place| visit(place, Word(place.word.load(Acquire))))
    }

    fn claim<'a>(
        &'a self,
        place: &'a Place,
        word: Word,
        process: u32,
        descriptor: Option<i32>,
    ) -> Option<Taken<'a>> {
        let busy = Word::new(process, descriptor, BUSY);
        place.change(word, busy).then(|| {
            // A program may have closed it, and even have opened another one of that number.
            let descriptor = descriptor.filter(|&descriptor| place.is_at(descriptor));
            Taken {
                pool: self,
                place,
                process,
                descriptor,
            }
        })
    }

    /// Closes what was idle for long, but for a few.
    fn tidy(&self, now: u64) {
        let mut kept = 0;
        for place in &self.places {
            let word = Word(place.word.load(Acquire));
            if word.state() != IDLE {
                continue;
            }
            kept += 1;
            let old = now.saturating_sub(place.since.load(Relaxed)) > LINGER;
            if kept > KEPT && old {
                drop(self.claim(place, word, word.process(), word.descriptor()));
            }
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

impl Taken<'_> {
    /// The connection, where the place has one.
    pub(crate) fn descriptor(&self) -> Option<i32> {
        self.descriptor
    }

    /// Puts a new connection here. The old one, if any, is closed.
    pub(crate) fn put(&mut self, descriptor: i32, identity: Identity) {
        self.close();
        self.place.device.store(identity.device, Relaxed);
        self.place.inode.store(identity.inode, Relaxed);
        let word = Word::new(self.process, Some(descriptor), BUSY);
        self.place.word.store(word.0, Release);
        self.descriptor = Some(descriptor);
    }

    /// Closes the connection: nobody may find what is late in it.
    pub(crate) fn close(&mut self) {
        if let Some(descriptor) = self.descriptor.take() {
            let word = Word::new(self.process, None, BUSY);
            self.place.word.store(word.0, Release);
            if self.place.is_at(descriptor) {
                connection::close(descriptor);
            }
        }
    }

    /// Keeps the connection for the next request.
    pub(crate) fn give_back(mut self) {
        let now = now();
        if let Some(descriptor) = self.descriptor.take() {
            self.place.since.store(now, Relaxed);
            let word = Word::new(self.process, Some(descriptor), IDLE);
            self.place.word.store(word.0, Release);
            let pool = self.pool;
            std::mem::forget(self);
            pool.tidy(now);
        }
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.close();
        self.place.word.store(EMPTY.0, Release);
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let process = fork::process();
        for place in &self.places {
            let word = Word(place.word.load(Acquire));
            if word.state() == IDLE && word.process() == process {
                drop(self.claim(place, word, process, word.descriptor()));
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
