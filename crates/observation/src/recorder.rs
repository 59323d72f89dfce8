//! Where one process counts.

use std::hint;
use std::path::Path;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU8, AtomicU64};

use once_cell::race::OnceBox;
use outboard_shared_memory::{self as shared_memory, FileError, Signature, Ticket, process};

use crate::RecordError;
use crate::clock::Clock;
use crate::error::WORDS;
use crate::identity::Identity;
use crate::layout::{Image, Local, PROCESSES, ROWS, ROWS_FOR_PROCESSES, state};
use crate::row::Row;

/// Makes the file at `path` the record of this process, unless it has one already.
///
/// # Errors
/// Where the file can't be used; nothing is counted then.
pub fn open(path: &Path) -> Result<&'static Recorder, RecordError> {
    GLOBAL.get_or_try_init(|| Recorder::new(path).map(Box::new))
}

/// Set once, and never freed. No lock: a `fork` in another thread would leave it locked in the child.
static GLOBAL: OnceBox<Recorder> = OnceBox::new();

/// The record of one process, mapped until the process ends.
pub struct Recorder {
    image: &'static Image,
    local: &'static Local,
    clock: Clock,
    suspicious: u64,
    /// Looked up while that is still allowed, for the children too.
    comm: [u8; 16],
    /// What found no row, by hashes. Rows are never given back, so it need not be sought again.
    without_row: [AtomicU64; 256],
}

impl Recorder {
    fn new(path: &Path) -> Result<Self, RecordError> {
        let image = shared_memory::shared::<Image>(path)?;
        let local = shared_memory::local().map_err(|source| RecordError {
            words: WORDS,
            path: path.into(),
            reason: FileError::System {
                action: "map",
                source,
            },
        })?;
        let recorder = Self {
            image,
            local,
            clock: image.header.clock(),
            suspicious: image.header.suspicious.load(Relaxed),
            comm: process::program_name(),
            without_row: [const { AtomicU64::new(0) }; 256],
        };
        recorder.claim();
        Ok(recorder)
    }

    /// The clock to measure by.
    #[inline]
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Ticks from which a piece of work is looked at: did it run that long, or was it interrupted?
    #[inline]
    pub fn suspicious(&self) -> u64 {
        self.suspicious
    }

    /// This process's ticket.
    #[inline]
    pub fn ticket(&self) -> Ticket {
        self.local.ticket.get().unwrap_or_else(|| self.claim())
    }

    /// This process's row for a kind of work, of the threads of that [`lane`]; none where all rows are taken, or
    /// nobody can say what the work is. `kind` is below 2^44, and means the same throughout the process.
    pub fn row(
        &self,
        ticket: Ticket,
        lane: u8,
        kind: u64,
        identity: impl FnOnce() -> Option<Identity>,
    ) -> Option<Row> {
        let lane = lane % LANES;
        let kind = kind * u64::from(LANES) + u64::from(lane);
        let index = match self.local.known.row(kind) {
            Some(index) => index,
            None => {
                let index = self.find(ticket, lane, &identity()?)?;
                self.local.known.keep(kind, index);
                index
            }
        };
        Some(self.at(index))
    }

    /// The index of the row.
    fn find(&self, ticket: Ticket, lane: u8, identity: &Identity) -> Option<u16> {
        let mut identity = *identity;
        identity.set_lane(lane);
        let entry = ticket.entry()? as u64;
        let ready = entry << 32 | state::READY;
        let busy = entry << 32 | state::BUSY;
        let words = identity.words();
        let unmistakable = (identity.hash() ^ entry.wrapping_mul(0x9e37_79b9_7f4a_7c15)) | 1;
        let without_row = &self.without_row[(unmistakable >> 32) as usize % self.without_row.len()];
        if without_row.load(Relaxed) == unmistakable {
            self.image.header.lost.fetch_add(1, Relaxed);
            return None;
        }
        let start = first_place(entry) + identity.hash() % NEAR;
        for step in 0..ROWS as u64 {
            let index = (start.wrapping_add(step) % ROWS as u64) as usize;
            let row = &self.image.rows[index];
            let mut owner = row.owner.load(Acquire);
            if owner == state::FREE {
                match row
                    .owner
                    .compare_exchange(state::FREE, busy, AcqRel, Acquire)
                {
                    Ok(_) => {
                        row.set_identity(&words);
                        row.owner.store(ready, Release);
                        self.image.header.rows_taken.fetch_add(1, Relaxed);
                        return Some(index as u16);
                    }
                    Err(of_another) => owner = of_another,
                }
            }
            // Being named by another thread of ours; who dies at it leaves the row busy forever.
            for _ in 0..1000 {
                if owner != busy {
                    break;
                }
                hint::spin_loop();
                owner = row.owner.load(Acquire);
            }
            if owner == ready && row.is(&words) {
                return Some(index as u16);
            }
        }
        without_row.store(unmistakable, Relaxed);
        self.image.header.lost.fetch_add(1, Relaxed);
        None
    }

    /// The row of an index that [`find`](Self::find) gave.
    #[inline]
    fn at(&self, index: u16) -> Row {
        Row::new(&self.image.rows[usize::from(index) % ROWS], self.suspicious)
    }

    /// Takes an entry: its own while there is room for so many, then its program's. Here, and only here, runs what a
    /// forked child does first: `getpid` and the clock (vDSO).
    #[cold]
    fn claim(&self) -> Ticket {
        let signature = Signature::now(self.comm);
        let entries = &self.image.entries;
        let index = self.own_entry(&signature).unwrap_or_else(|| {
            let index = entries.claim_program(signature.pid, signature.comm);
            entries[index].add_process();
            index
        });
        let ticket = Ticket::new(signature.claimed, Some(index));
        // If another thread was faster, our entry stays without rows, and nobody shows it.
        self.local.ticket.set(ticket).err().unwrap_or(ticket)
    }

    /// Entries are taken one after another: few pages, which a forked child has to find.
    fn own_entry(&self, signature: &Signature) -> Option<usize> {
        let header = &self.image.header;
        if header.rows_taken.load(Relaxed) >= ROWS_FOR_PROCESSES
            || header.entries_taken.load(Relaxed) >= PROCESSES as u64
        {
            return None;
        }
        let next = header.entries_taken.fetch_add(1, Relaxed) as usize;
        self.image.entries.claim(signature, next, |_| ())
    }
}

/// So many rows lie between where one process's rows begin and where another's do.
const NEIGHBOURS: u64 = 128;

/// Rows of a process begin to be sought among so many: few pages, which neither a short program has to find nor a busy
/// one to keep at hand.
const NEAR: u64 = 32;

/// Where an entry's rows are sought first: neighbours of no entry near it.
fn first_place(entry: u64) -> u64 {
    let mixed = entry.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    mixed % (ROWS as u64 / NEIGHBOURS) * NEIGHBOURS
}

const LANES: u8 = 8;

/// A number below 8 of this thread: threads count in rows of their own, or two processors would
/// fight over a cache line at each operation.
pub fn lane() -> u8 {
    static NEXT: AtomicU8 = AtomicU8::new(0);
    thread_local! {
        static LANE: u8 = NEXT.fetch_add(1, Relaxed) % LANES;
    }
    LANE.try_with(|&lane| lane).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Details, Operation, Record, TELLING_SIZES, UNKNOWN, Work, reset};

    #[test]
    fn what_finds_no_row_is_not_sought_again() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let recorder = Recorder::new(&directory.path().join("record")).expect("it can be made");
        let ticket = recorder.ticket();
        let digest = Details::new(Operation::Digest);
        let identity = Identity::new("default", "SHA2-256", &digest);
        let taken = state::BUSY;
        for row in &recorder.image.rows {
            row.owner.store(taken, Relaxed);
        }
        assert_eq!(recorder.find(ticket, 0, &identity), None);
        assert_eq!(recorder.find(ticket, 0, &identity), None);
        assert_eq!(recorder.image.header.lost.load(Relaxed), 2);
        // Such a thing never happens, but shows whether anybody looks.
        recorder.image.rows[0].owner.store(state::FREE, Relaxed);
        assert_eq!(recorder.find(ticket, 0, &identity), None);
        let other = Identity::new("default", "SHA2-512", &digest);
        assert!(recorder.find(ticket, 0, &other).is_some());
    }

    /// A record of our own full of nonsense behind a good beginning: everything goes on, nothing hangs.
    #[test]
    fn nonsense_behind_a_good_beginning() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("record");
        crate::create(&path).expect("it can be made");
        let good = std::fs::read(&path).expect("it was just made");
        let identity = Identity::new("default", "SHA2-256", &Details::new(Operation::Digest));
        for seed in 1..=20_u64 {
            let mut bytes = good.clone();
            let mut state = seed;
            for word in bytes[64..].chunks_exact_mut(8) {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                // Sometimes nearly meaningful: small numbers are states, processes and counters.
                let value = match state % 3 {
                    0 => state,
                    _ => (state % 7) | ((state % 5) << 32),
                };
                word.copy_from_slice(&value.to_ne_bytes());
            }
            std::fs::write(&path, &bytes).expect("it is ours");
            let recorder = Recorder::new(&path).expect("its beginning is good");
            if let Some(row) = recorder.row(recorder.ticket(), 0, 1, || Some(identity)) {
                row.add(100, u64::MAX - 1);
                row.prepare(1, 1);
            }
            let read = Record::read(&path).expect("its beginning is good");
            read.total();
            for process in &read.processes {
                assert!(!process.program.chars().any(char::is_control));
            }
            reset(&path).expect("it is ours");
            let after = Record::read(&path).expect("its beginning is good");
            assert_eq!((after.total(), after.lost), (Vec::new(), 0));
        }
    }

    /// A record of another version is told from what is none.
    #[test]
    fn another_beginning_is_refused() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("record");
        crate::create(&path).expect("it can be made");
        let good = std::fs::read(&path).expect("it was just made");
        // Its kind, its version, its sizes, its clock.
        for (word, reason) in [
            (0, "is not a record: wrong beginning"),
            (1, "is of version 5, not 4"),
            (2, "is of version 4, but another build of Outboard made it"),
            (6, "is not a record: wrong beginning"),
        ] {
            let mut bytes = good.clone();
            let least = if cfg!(target_endian = "little") { 0 } else { 7 };
            bytes[8 * word + least] ^= if word == 6 { 0xf0 } else { 1 };
            std::fs::write(&path, &bytes).expect("it is ours");
            let opened = Recorder::new(&path).map(drop).expect_err(reason);
            let read = Record::read(&path).map(drop).expect_err(reason);
            assert_eq!(opened.to_string(), read.to_string());
            assert!(read.to_string().contains(reason), "{read}");
        }
    }

    #[test]
    fn sizes_that_tell_something_are_counted_apart() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("record");
        let recorder = Recorder::new(&path).expect("it can be made");
        let identity = Identity::new("default", "SHA2-512", &Details::new(Operation::Digest));
        let row = recorder.find(recorder.ticket(), 0, &identity);
        let row = recorder.at(row.expect("there is room"));
        let [less, more] = TELLING_SIZES;
        for (bytes, times) in [(less, 3), (more, 2)] {
            for _ in 0..times {
                row.add(bytes, 1);
            }
            // Not its neighbours, nor what has another size with such a part.
            row.add(bytes - 1, 1);
            row.add(bytes + 1, 1);
            row.prepare(bytes, 1);
        }
        let read = || Record::read(&path).expect("it is ours").total();
        assert_eq!((read()[0].telling, read()[0].calls), ([3, 2], 9));
        let reset_at = || Record::read(&path).expect("it is ours").reset;
        assert_eq!(reset_at(), 0);
        let before = process::since_boot();
        reset(&path).expect("it is ours");
        assert_eq!(read(), []);
        assert!((before..=process::since_boot()).contains(&reset_at()));
    }

    /// A row of its own for some kind of work, with what it then counted.
    fn counted(algorithm: &str, operation: Operation, count: impl Fn(&Row)) -> Work {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("record");
        let recorder = Recorder::new(&path).expect("it can be made");
        let identity = Identity::new("default", algorithm, &Details::new(operation));
        let row = recorder.find(recorder.ticket(), 0, &identity);
        count(&recorder.at(row.expect("there is room")));
        let work = Record::read(&path).expect("it is ours").total();
        work.into_iter().next().expect("something was counted")
    }

    const SHORT: u64 = 1_000;
    const LONG: u64 = 1_000_000_000;

    #[test]
    fn what_took_eight_times_its_like_was_interrupted() {
        let long_after = |algorithm: &str, operation, before: u64| {
            counted(algorithm, operation, |row| {
                (0..before).for_each(|_| row.add(0, SHORT));
                row.add(0, LONG);
            })
        };
        let cut = |work: &Work| work.interrupted == 1;
        assert!(cut(&long_after("SHA2-256", Operation::Digest, 100)));
        let few = long_after("SHA2-256", Operation::Digest, 3);
        assert!(!cut(&few), "too few to tell");
        assert!(cut(&long_after("TLS13-KDF", Operation::Kdf, 100)));
        assert!(cut(&long_after("X25519", Operation::Generate, 100)));
        // Iterations and luck are no matter of size.
        assert!(!cut(&long_after("PBKDF2", Operation::Kdf, 100)));
        assert!(!cut(&long_after("RSA", Operation::Generate, 100)));
    }

    #[test]
    fn without_a_limit_time_grows_with_the_bytes() {
        const MIB: u64 = 1 << 20;
        let work = |ticks: u64| {
            counted("SHA2-256", Operation::Digest, |row| {
                (0..20).for_each(|_| row.add(2 * MIB, 5_000_000));
                row.add(300 * MIB, ticks);
            })
        };
        assert_eq!(work(150 * 5_000_000).interrupted, 0);
        assert_eq!(work(9 * 150 * 5_000_000).interrupted, 1);
    }

    #[test]
    fn an_unknown_time_is_none() {
        let work = counted("RSA", Operation::Sign, |row| {
            row.add(0, UNKNOWN);
            row.prepare(0, UNKNOWN);
            row.fail(UNKNOWN);
        });
        assert_eq!((work.calls, work.untimed, work.nanoseconds), (1, 1, 0));
        let some = counted("RSA", Operation::Sign, |row| {
            (0..9).for_each(|_| row.add(0, LONG));
            row.add(0, UNKNOWN);
        });
        assert_eq!((some.calls, some.untimed, some.interrupted), (10, 1, 0));
        // It makes no mean smaller, by which another would be cut.
        let after = counted("RSA", Operation::Sign, |row| {
            (0..99).for_each(|_| row.add(0, UNKNOWN));
            row.add(0, LONG);
        });
        assert_eq!((after.untimed, after.interrupted), (99, 0));
        assert!(after.nanoseconds > 0);
    }
}
