//! What the service and the process of the verbs both see: which requests are under way, and how many verbs there were.
//!
//! The board is a file in memory, of a size that neither process can change: one that shrank it would end the other. Every word is an
//! atomic number, so whatever the board holds does no harm.

use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

use outboard_cca::Request;
use rustix::fs::{MemfdFlags, SealFlags};
use rustix::mm::{MapFlags, ProtFlags};

/// More verbs than there are.
const MOST_VERBS: usize = 256;
const _: () = assert!(Request::VERBS.len() <= MOST_VERBS);

/// The most threads that carry out verbs: workers, and those that verbs have which take long.
pub(crate) const MOST_WORKERS: usize = 64;
pub(crate) const MOST_LONG: usize = 8;

/// The board.
#[repr(C)]
pub(crate) struct Board {
    /// How many records key storage has, and one more; 0: nobody knows.
    records: AtomicU64,
    /// Requests that are none of a verb's.
    pub(crate) malformed: AtomicU64,
    verbs: [Counts; MOST_VERBS],
    /// One for each thread that carries out verbs.
    places: [Place; MOST_WORKERS + MOST_LONG],
}

/// How often a verb was called.
#[repr(C)]
pub(crate) struct Counts {
    pub(crate) done: AtomicU64,
    pub(crate) unverified: AtomicU64,
    pub(crate) refused: AtomicU64,
}

/// What one thread is at.
#[repr(C)]
pub(crate) struct Place {
    /// The number of the connection; 0: nothing.
    connection: AtomicU64,
    /// The client's number of the request.
    request: AtomicU32,
    verb: AtomicU32,
    /// Whether the request may have changed what is stored.
    changed: AtomicU32,
    /// The request that ended the process, as `begun` counts; 0: none did.
    ended: AtomicU32,
    /// How many requests have begun here. The first is 1.
    begun: AtomicU32,
    /// What the processor time of the thread here is read from.
    clock: AtomicI32,
}

/// A request that was under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnderWay {
    pub(crate) connection: u64,
    pub(crate) request: u32,
    /// Its verb's name.
    pub(crate) verb: &'static str,
    pub(crate) changed: bool,
    pub(crate) ended: bool,
}

impl Board {
    /// A new board, and the file that it is.
    pub(crate) fn make() -> io::Result<(&'static Self, OwnedFd)> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = rustix::fs::memfd_create("outboard-board", flags)?;
        rustix::fs::ftruncate(&file, size_of::<Self>() as u64)?;
        let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
        rustix::fs::fcntl_add_seals(&file, seals)?;
        Ok((Self::open(&file)?, file))
    }

    /// The board in that file. It stays as long as the process.
    pub(crate) fn open(file: impl AsFd) -> io::Result<&'static Self> {
        let has_size = rustix::fs::fstat(&file)?.st_size as usize == size_of::<Self>();
        let seals = rustix::fs::fcntl_get_seals(&file)?;
        if !has_size || !seals.contains(SealFlags::SHRINK) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping, wherever there is room.
        let start = unsafe {
            rustix::mm::mmap(
                ptr::null_mut(),
                size_of::<Self>(),
                access,
                MapFlags::SHARED,
                file,
                0,
            )
        }?;
        // SAFETY: as large as a board, aligned to a page, never unmapped, and nobody can make the file smaller. Its words are atomic, and
        // every value is one of theirs.
        Ok(unsafe { &*start.cast::<Self>() })
    }

    /// How many records key storage has, if it was ever asked.
    pub(crate) fn records(&self) -> Option<u64> {
        self.records.load(Relaxed).checked_sub(1)
    }

    pub(crate) fn set_records(&self, records: usize) {
        self.records.store(records as u64 + 1, Relaxed);
    }

    /// The counts of the verb of that number.
    pub(crate) fn verb(&self, number: usize) -> &Counts {
        &self.verbs[number]
    }

    /// How many verbs were carried out, or refused by the coprocessor.
    pub(crate) fn carried_out(&self) -> u64 {
        let verbs = self.verbs.iter();
        verbs.map(Counts::sum).sum()
    }

    /// Where the worker of that number writes what it is at.
    pub(crate) fn of_worker(&self, worker: usize) -> &Place {
        &self.places[worker]
    }

    /// Where a verb that takes long writes that.
    pub(crate) fn of_long(&self, number: usize) -> &Place {
        &self.places[MOST_WORKERS + number]
    }

    /// Where threads write what they are at.
    pub(crate) fn places(&self) -> &[Place] {
        &self.places
    }

    /// What is under way.
    pub(crate) fn under_way(&self) -> impl Iterator<Item = UnderWay> {
        self.places.iter().filter_map(Place::look)
    }

    /// Forgets what its process, which is gone, was at, and had.
    pub(crate) fn clear(&self) {
        self.places.iter().for_each(Place::end);
        self.records.store(0, Relaxed);
    }
}

impl Counts {
    pub(crate) fn sum(&self) -> u64 {
        [&self.done, &self.unverified, &self.refused]
            .iter()
            .map(|count| count.load(Relaxed))
            .sum()
    }
}

impl Place {
    /// A request begins, perhaps before its verb is known.
    pub(crate) fn begin(&self, connection: u64, request: u32, verb: Option<usize>) {
        self.request.store(request, Relaxed);
        self.verb.store(verb.unwrap_or(MOST_VERBS) as u32, Relaxed);
        self.begun.fetch_add(1, Relaxed);
        self.connection.store(connection, SeqCst);
    }

    /// The request is answered.
    pub(crate) fn end(&self) {
        self.connection.store(0, SeqCst);
        self.changed.store(0, Relaxed);
    }

    /// The request is about to change what is stored.
    pub(crate) fn changes(&self) {
        self.changed.store(1, SeqCst);
    }

    /// The request of that number is about to end the process. A signal handler may say so. Where it ends meanwhile, the next one
    /// is not to blame.
    pub(crate) fn ends_the_process(&self, begun: u32) {
        self.ended.store(begun, SeqCst);
    }

    /// The thread with that clock writes here from now on.
    pub(crate) fn belongs_to(&self, clock: i32) {
        self.clock.store(clock, Relaxed);
    }

    pub(crate) fn clock(&self) -> i32 {
        self.clock.load(Relaxed)
    }

    /// How many requests have begun here: the number of the one that is under way.
    pub(crate) fn begun(&self) -> u32 {
        self.begun.load(Relaxed)
    }

    /// The verb of the request under way, if there is one.
    pub(crate) fn verb_under_way(&self) -> Option<&'static str> {
        self.look().map(|request| request.verb)
    }

    fn look(&self) -> Option<UnderWay> {
        let connection = self.connection.load(SeqCst);
        let ended = self.ended.load(Relaxed);
        let verb = Request::VERBS.get(self.verb.load(Relaxed) as usize);
        (connection != 0).then(|| UnderWay {
            connection,
            request: self.request.load(Relaxed),
            verb: verb.map_or("an unknown verb", |verb| verb.name),
            changed: self.changed.load(Relaxed) != 0,
            ended: ended != 0 && ended == self.begun(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_see_the_same_and_none_can_shrink_it() {
        let (board, file) = Board::make().unwrap();
        let other = Board::open(&file).unwrap();
        other.of_worker(3).begin(77, 5, Some(0));
        other.of_worker(3).changes();
        other.verb(0).done.fetch_add(2, Relaxed);
        let under_way: Vec<_> = board.under_way().collect();
        assert_eq!(under_way.len(), 1);
        assert_eq!((under_way[0].connection, under_way[0].request), (77, 5));
        assert!(under_way[0].changed && !under_way[0].ended);
        assert_eq!((under_way[0].verb, board.carried_out()), ("CSNBKGN", 2));
        other.of_worker(3).end();
        assert_eq!(board.under_way().count(), 0);
        assert!(rustix::fs::ftruncate(&file, 0).is_err());
        assert!(rustix::fs::ftruncate(&file, 1 << 20).is_err());
    }

    #[test]
    fn another_file_is_none() {
        let plain = tempfile::tempfile().unwrap();
        plain.set_len(size_of::<Board>() as u64).unwrap();
        assert!(Board::open(&plain).is_err());
    }
}
