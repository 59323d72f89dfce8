//! What a record looks like in memory, word by word.
//!
//! ```text
//! Image (a file of exactly this size)
//! ├─ header     identity (magic, version, sizes), clock, how much is taken
//! ├─ entries    0 … 447: one process each; 448 … 511: the processes of one program that came later
//! └─ rows       one kind of work of one entry each, found by a hash of both
//!
//! Local (anonymous, private to one process; a forked child finds it zeroed)
//! ├─ ticket     which entry this process counts for
//! └─ known      the rows it used last, by kind of work
//! ```
//!
//! Every word is an `AtomicU64`, for which every bit pattern is valid: whatever a file holds, it can
//! be read as an `Image` without harm. Zero is the empty state of everything. Entries and rows are
//! never given back: a record says what happened since it was made. Once the first processes have
//! taken theirs, later ones share one by program, so its size is bounded and no count is lost.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use outboard_shared_memory::{
    Beginning, Entries, FileError, Format, Identity as Kind, Plain, TicketCell, Words, process,
};

use crate::clock::Clock;
use crate::error::WORDS;
use crate::identity::{Identity, Operation};
use crate::known::Known;

/// Raise when the meaning of any word changes.
pub(crate) const VERSION: u64 = 4;
const MAGIC: u64 = u64::from_be_bytes(*b"OUTBOBSV");

/// How many processes are told apart.
pub(crate) const PROCESSES: usize = 448;
/// How many programs are told apart among the processes that came later.
const PROGRAMS: usize = 64;
pub(crate) const ENTRIES: usize = PROCESSES + PROGRAMS;

pub(crate) const ROWS: usize = 8192;
/// Once so many rows are taken, new processes share entries by program.
pub(crate) const ROWS_FOR_PROCESSES: u64 = 6144;

/// The largest number of bytes of each class of sizes but the last, which has no limit. Records and
/// packets carry some bytes of their own: each limit leaves room for 64 of them.
pub const SIZE_LIMITS: [u64; 8] = [
    64,
    256,
    1 << 10,
    4 << 10,
    16 << 10,
    64 << 10,
    256 << 10,
    1 << 20,
];
pub(crate) const SIZE_CLASSES: usize = SIZE_LIMITS.len() + 1;

/// Sizes that tell what was done: of these it is counted besides how many had exactly so many bytes. They are what
/// OpenSSH hashes with SHA-512 in a key exchange with sntrup761, after the byte that tells such a hash from others: (a
/// hash of) the secret with the ciphertext, and the public key. Its own C does the rest unseen.
pub const TELLING_SIZES: [u64; 2] = [1 + 32 + 1039, 1 + 1158];

/// The class of a size.
#[inline]
pub(crate) const fn size_class(bytes: u64) -> usize {
    // Class k holds 64 · 4^k bytes and 64 more.
    let beyond = bytes.saturating_sub(65) >> 6;
    let class = (64 - beyond.leading_zeros() as usize).div_ceil(2);
    if class < SIZE_CLASSES {
        class
    } else {
        SIZE_CLASSES - 1
    }
}

/// The whole file.
#[repr(C, align(64))]
pub(crate) struct Image {
    pub(crate) header: Header,
    pub(crate) entries: Entries<PROCESSES, PROGRAMS>,
    pub(crate) rows: [RowImage; ROWS],
}

#[repr(C, align(64))]
pub(crate) struct Header {
    identity: Kind<6>,
    /// A `Clock`.
    clock: AtomicU64,
    /// Nanoseconds since 1970.
    pub(crate) created: AtomicU64,
    /// The clock and the nanoseconds since boot at one moment, to tell ticks' length later.
    pub(crate) reference_ticks: AtomicU64,
    pub(crate) reference_boot: AtomicU64,
    /// Ticks from which an operation is looked at: did it run that long, or was it interrupted?
    pub(crate) suspicious: AtomicU64,
    /// How many processes asked for an entry of their own.
    pub(crate) entries_taken: AtomicU64,
    pub(crate) rows_taken: AtomicU64,
    /// Operations that found no row.
    pub(crate) lost: AtomicU64,
    /// When the counters were last set to zero, in nanoseconds since boot; zero if never. (Nothing was here in earlier
    /// records.)
    pub(crate) reset: AtomicU64,
}

/// What a row is; in the lower half of its first word.
pub(crate) mod state {
    pub(crate) const FREE: u64 = 0;
    pub(crate) const BUSY: u64 = 1;
    pub(crate) const READY: u64 = 2;
}

/// One kind of work of one entry. What small operations count lies on one line of the cache, the third.
#[repr(C, align(64))]
pub(crate) struct RowImage {
    /// The entry's index in the upper half, a `state` in the lower.
    pub(crate) owner: AtomicU64,
    identity: [AtomicU64; 14],
    pub(crate) counters: Counters,
}

/// What was counted in a row.
#[repr(C)]
pub(crate) struct Counters {
    /// Operations that answered an error, such as a signature that does not hold; not among the calls.
    pub(crate) failed: AtomicU64,
    /// Preparations: key schedules and the like, and parts of a message that was never finished.
    pub(crate) preparations: AtomicU64,
    pub(crate) preparation_ticks: AtomicU64,
    pub(crate) classes: [Class; SIZE_CLASSES],
    /// Operations that were interrupted; they are counted with the mean time of their class.
    pub(crate) interrupted: AtomicU64,
    /// Operations whose time is not known; they are among the calls of their class, and no time is.
    pub(crate) untimed: AtomicU64,
    /// How many operations had each of `TELLING_SIZES`; they are among those of their class.
    pub(crate) telling: [AtomicU64; TELLING_SIZES.len()],
}

const _: () = {
    let counters = std::mem::offset_of!(RowImage, counters);
    let counted = counters + std::mem::offset_of!(Counters, preparations);
    assert!(counted.is_multiple_of(64));
    assert!(
        counters + std::mem::offset_of!(Counters, classes) + 2 * size_of::<Class>() == counted + 64
    );
};

/// The operations of one class of sizes.
#[repr(C)]
pub(crate) struct Class {
    pub(crate) calls: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) ticks: AtomicU64,
}

/// What a process knows about itself; zeroed in a forked child (see `outboard_shared_memory::local`).
#[repr(C, align(64))]
pub(crate) struct Local {
    /// Zero before the first count.
    pub(crate) ticket: TicketCell,
    pub(crate) known: Known,
}

const _: () = assert!(size_of::<Local>() == 4096);

// SAFETY: `repr(C)`, and every field is an `AtomicU64` or an array or `Plain` struct of them.
unsafe impl Plain for Image {}
// SAFETY: as above.
unsafe impl Plain for Header {}
// SAFETY: as above.
unsafe impl Plain for Counters {}
// SAFETY: as above.
unsafe impl Plain for Local {}

impl Header {
    const IDENTITY: [u64; 6] = [
        MAGIC,
        VERSION,
        size_of::<Image>() as u64,
        ENTRIES as u64,
        ROWS as u64,
        SIZE_CLASSES as u64,
    ];

    /// The clock of this record.
    pub(crate) fn clock(&self) -> Clock {
        Clock::from_word(self.clock.load(Relaxed)).unwrap_or(Clock::System)
    }
}

impl Beginning for Header {
    fn initialise(&self) {
        /// What no symmetric operation of a usual size takes, in nanoseconds or ticks of a processor.
        const SUSPICIOUS: [u64; 2] = [100_000, 250_000];
        let clock = Clock::best();
        self.identity.store(Self::IDENTITY);
        self.clock.store(clock as u64, Relaxed);
        self.created.store(process::since_epoch(), Relaxed);
        self.reference_ticks.store(clock.now(), Relaxed);
        self.reference_boot.store(process::since_boot(), Relaxed);
        let suspicious = SUSPICIOUS[usize::from(clock == Clock::Processor)];
        self.suspicious.store(suspicious, Relaxed);
    }

    fn check(&self) -> Result<(), FileError> {
        self.identity.check(Self::IDENTITY)?;
        match Clock::from_word(self.clock.load(Relaxed)) {
            Some(_) => Ok(()),
            None => Err(FileError::WrongBeginning),
        }
    }
}

impl Format for Image {
    type Beginning = Header;
    const WORDS: &'static Words = WORDS;
}

impl RowImage {
    pub(crate) fn identity(&self) -> Identity {
        Identity::from_words(self.identity.each_ref().map(|word| word.load(Relaxed)))
    }

    pub(crate) fn is(&self, words: &[u64]) -> bool {
        self.identity
            .iter()
            .zip(words)
            .all(|(word, &value)| word.load(Relaxed) == value)
    }

    /// Whether operations of one size take about the same time: not so where something else sets how much work
    /// there is, as iterations do where a key is derived from a password, or luck where primes are sought.
    pub(crate) fn size_tells_time(&self) -> bool {
        const FROM_PASSWORDS: [&str; 5] = ["PBKDF", "SCRYPT", "id-scrypt", "ARGON2", "PKCS12KDF"];
        const OF_PRIMES: [&str; 3] = ["RSA", "DH", "DSA"];
        let identity = self.identity();
        let is_one = |names: &[&str]| {
            let algorithm = identity.algorithm();
            names.iter().any(|name| algorithm.starts_with(name))
        };
        match identity.operation() {
            None => false,
            Some(Operation::Kdf) => !is_one(&FROM_PASSWORDS),
            Some(Operation::Generate) => !is_one(&OF_PRIMES),
            Some(_) => true,
        }
    }

    pub(crate) fn set_identity(&self, words: &[u64]) {
        for (word, &value) in self.identity.iter().zip(words) {
            word.store(value, Relaxed);
        }
    }
}

impl Counters {
    /// Every counter.
    pub(crate) fn words(&self) -> impl Iterator<Item = &AtomicU64> {
        let classes = self.classes.iter();
        [
            &self.preparations,
            &self.preparation_ticks,
            &self.interrupted,
            &self.untimed,
            &self.failed,
        ]
        .into_iter()
        .chain(&self.telling)
        .chain(classes.flat_map(|class| [&class.calls, &class.bytes, &class.ticks]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_room_for_what_records_carry() {
        for (class, &limit) in SIZE_LIMITS.iter().enumerate() {
            assert_eq!(size_class(limit), class);
            assert_eq!(size_class(limit + 64), class, "limit {limit}");
            assert_eq!(size_class(limit + 65), class + 1, "limit {limit}");
        }
        assert_eq!(size_class(0), 0);
        assert_eq!(size_class(u64::MAX), SIZE_CLASSES - 1);
    }
}
