//! Reading, resetting and finding records: what the command does. The file is copied before it is
//! looked at, so that nothing in it, nor a change of its size, can do harm.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, SystemTime};

use outboard_shared_memory::{self as shared_memory, Copied, UserFiles, process};
use serde::Serialize;

use crate::layout::{
    ENTRIES, Image, PROCESSES, ROWS, RowImage, SIZE_CLASSES, SIZE_LIMITS, TELLING_SIZES, state,
};
use crate::{Clock, Operation, RecordError};

/// What a record said at one moment.
#[derive(Clone, Debug)]
pub struct Record {
    /// When it was made.
    pub created: SystemTime,
    /// When the counters were last set to zero, in nanoseconds since boot; zero if never. What a process that began
    /// before did until then is not in it.
    pub reset: u64,
    /// Who did anything, in the order of their start; then programs.
    pub processes: Vec<RecordedProcess>,
    /// Operations that found no row and were not counted: at least so many, for later ones of a context that found none
    /// do not seek again.
    pub lost: u64,
}

/// One process, or the processes of one program that could not be told apart.
#[derive(Clone, Debug)]
pub struct RecordedProcess {
    /// Its id; none for a program.
    pub pid: Option<u32>,
    /// The user it opened the record as: the file's owner, whatever the file says.
    pub uid: u32,
    /// Its name as `ps` shows it.
    pub program: String,
    /// How many processes these are.
    pub processes: u64,
    /// When it opened the record, or first counted after a `fork`, in nanoseconds since boot.
    pub started: u64,
    /// What it did.
    pub work: Vec<Work>,
}

/// What was done of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Work {
    /// The algorithm's name as the provider gives it.
    pub algorithm: String,
    /// What was done with it.
    pub operation: Operation,
    /// Which provider did it.
    pub implementation: String,
    /// The key's length in bits, or its curve or group; empty where that has no meaning.
    pub key: String,
    /// The digest used within; empty where there is none.
    pub digest: String,
    /// The padding or mode; empty where there is none.
    pub mode: String,
    /// How often.
    pub calls: u64,
    /// Bytes of input.
    pub bytes: u64,
    /// All of its time, preparations and failures included.
    pub nanoseconds: u64,
    /// How often a key was prepared, or a part of a message processed that was never finished.
    pub preparations: u64,
    /// Time of that, and of what failed.
    pub preparation_nanoseconds: u64,
    /// Operations that were interrupted, whose time is the mean of their class.
    pub interrupted: u64,
    /// Operations whose time is not known: others may have run meanwhile. They are among the calls.
    pub untimed: u64,
    /// Operations that answered an error; not among the calls.
    pub failed: u64,
    /// By size of the input.
    pub sizes: Vec<SizeClass>,
    /// How many had exactly one of [`TELLING_SIZES`] each.
    #[serde(skip)]
    pub telling: [u64; TELLING_SIZES.len()],
}

/// The operations of one class of sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SizeClass {
    /// The largest number of bytes; none for the last class. (Each class holds 64 bytes more, for
    /// what records and packets carry of their own.)
    pub up_to: Option<u64>,
    /// How many.
    pub calls: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their time.
    pub nanoseconds: u64,
}

/// With the layout's version: what a program of an earlier one still writes stands beside.
const FILES: UserFiles = UserFiles {
    prefix: "outboard-observed-4.",
};

/// Where the record of a user is, unless configured otherwise.
pub fn default_path(uid: u32) -> PathBuf {
    FILES.path(uid)
}

/// The files that are where records are by default, of all users, in the order of their ids.
pub fn all_paths() -> Vec<PathBuf> {
    FILES.all()
}

/// Makes an empty record at `path`, complete before anybody can see it.
///
/// # Errors
/// Where there is something of that name, or the system refuses.
pub fn create(path: &Path) -> Result<(), RecordError> {
    shared_memory::create::<Image>(path)
}

/// Sets every counter of the record at `path` to zero.
///
/// An operation that ends at the same moment may be forgotten in part.
///
/// # Errors
/// As [`Record::read`].
pub fn reset(path: &Path) -> Result<(), RecordError> {
    let copied = Copied::<Image>::of(path, true)?;
    for row in &copied.image.rows {
        if row.owner.load(Relaxed) as u32 as u64 == state::READY {
            copied.zero(&row.counters)?;
        }
    }
    let header = &copied.image.header;
    copied.zero(&header.lost)?;
    copied.set(&header.reset, process::since_boot())
}

impl Record {
    /// Reads the record at `path`. The file is not changed.
    ///
    /// # Errors
    /// If there is none, it can't be read, is somebody else's (root may read any), or is no record of
    /// this version.
    pub fn read(path: &Path) -> Result<Self, RecordError> {
        let copied = Copied::<Image>::of(path, false)?;
        let rate = ticks_per_second(&copied.image);
        Ok(Self::parse(&copied.image, copied.owner()?, rate))
    }

    /// Everything in it added up, the most time first.
    pub fn total(&self) -> Vec<Work> {
        let mut total = Vec::new();
        for process in &self.processes {
            for work in &process.work {
                add(&mut total, work.clone());
            }
        }
        sort(&mut total);
        total
    }

    /// The same with every kind of work by another name; what has the same names then is added up.
    pub fn renamed(mut self, rename: impl Fn(&mut Work)) -> Self {
        for process in &mut self.processes {
            let mut renamed = Vec::new();
            for mut work in process.work.drain(..) {
                rename(&mut work);
                add(&mut renamed, work);
            }
            sort(&mut renamed);
            process.work = renamed;
        }
        self
    }

    fn parse(image: &Image, uid: u32, rate: f64) -> Self {
        let mut of_entry: BTreeMap<usize, Vec<Work>> = BTreeMap::new();
        for row in &image.rows {
            let owner = row.owner.load(Relaxed);
            let entry = (owner >> 32) as usize;
            if owner as u32 as u64 != state::READY || entry >= ENTRIES {
                continue;
            }
            if let Some(work) = work(row, rate) {
                add(of_entry.entry(entry).or_default(), work);
            }
        }
        let mut processes: Vec<_> = of_entry
            .into_iter()
            .map(|(index, mut work)| {
                sort(&mut work);
                let entry = &image.entries[index];
                let is_process = index < PROCESSES;
                RecordedProcess {
                    pid: is_process.then(|| entry.state().map_or(0, |(_, pid)| pid)),
                    uid,
                    program: process::printable(entry.comm()),
                    processes: match is_process {
                        true => 1,
                        false => entry.processes(),
                    },
                    started: entry.claimed(),
                    work,
                }
            })
            .collect();
        processes.sort_by_key(|process| (process.pid.is_none(), process.started));
        Self {
            created: SystemTime::UNIX_EPOCH
                + Duration::from_nanos(image.header.created.load(Relaxed)),
            reset: image.header.reset.load(Relaxed),
            processes,
            lost: image.header.lost.load(Relaxed),
        }
    }
}

impl Work {
    /// Whether both are of one kind.
    pub fn is_like(&self, other: &Self) -> bool {
        self.algorithm == other.algorithm
            && self.operation == other.operation
            && self.implementation == other.implementation
            && self.key == other.key
            && self.digest == other.digest
            && self.mode == other.mode
    }

    /// Adds work of the same kind.
    pub fn add(&mut self, other: &Self) {
        // A file may hold any numbers.
        let add = |mine: &mut u64, theirs| *mine = mine.saturating_add(theirs);
        add(&mut self.calls, other.calls);
        add(&mut self.bytes, other.bytes);
        add(&mut self.nanoseconds, other.nanoseconds);
        add(&mut self.preparations, other.preparations);
        add(
            &mut self.preparation_nanoseconds,
            other.preparation_nanoseconds,
        );
        add(&mut self.interrupted, other.interrupted);
        add(&mut self.untimed, other.untimed);
        add(&mut self.failed, other.failed);
        for (mine, theirs) in self.sizes.iter_mut().zip(&other.sizes) {
            add(&mut mine.calls, theirs.calls);
            add(&mut mine.bytes, theirs.bytes);
            add(&mut mine.nanoseconds, theirs.nanoseconds);
        }
        for (mine, &theirs) in self.telling.iter_mut().zip(&other.telling) {
            add(mine, theirs);
        }
    }
}

fn add(all: &mut Vec<Work>, work: Work) {
    match all.iter_mut().find(|known| known.is_like(&work)) {
        Some(known) => known.add(&work),
        None => all.push(work),
    }
}

fn sort(all: &mut [Work]) {
    all.sort_by(|a, b| {
        let names = |work: &Work| (work.algorithm.clone(), work.operation, work.key.clone());
        b.nanoseconds
            .cmp(&a.nanoseconds)
            .then_with(|| names(a).cmp(&names(b)))
    });
}

/// What a row counted; none if nothing.
fn work(row: &RowImage, rate: f64) -> Option<Work> {
    let counters = &row.counters;
    if counters.words().all(|counter| counter.load(Relaxed) == 0) {
        return None;
    }
    let identity = row.identity();
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "nanoseconds of a rate known to six digits"
    )]
    let nanoseconds = |ticks: u64| (ticks as f64 / rate * 1e9) as u64;
    let sizes: Vec<SizeClass> = (0..SIZE_CLASSES)
        .map(|index| {
            let class = &counters.classes[index];
            SizeClass {
                up_to: SIZE_LIMITS.get(index).copied(),
                calls: class.calls.load(Relaxed),
                bytes: class.bytes.load(Relaxed),
                nanoseconds: nanoseconds(class.ticks.load(Relaxed)),
            }
        })
        .collect();
    let preparation_nanoseconds = nanoseconds(counters.preparation_ticks.load(Relaxed));
    let sum = |part: fn(&SizeClass) -> u64| sum(sizes.iter().map(part));
    Some(Work {
        algorithm: identity.algorithm(),
        operation: identity.operation()?,
        implementation: identity.implementation(),
        key: identity.key(),
        digest: identity.digest(),
        mode: identity.mode(),
        calls: sum(|class| class.calls),
        bytes: sum(|class| class.bytes),
        nanoseconds: sum(|class| class.nanoseconds).saturating_add(preparation_nanoseconds),
        preparations: counters.preparations.load(Relaxed),
        preparation_nanoseconds,
        interrupted: counters.interrupted.load(Relaxed),
        untimed: counters.untimed.load(Relaxed),
        failed: counters.failed.load(Relaxed),
        sizes,
        telling: counters.telling.each_ref().map(|count| count.load(Relaxed)),
    })
}

/// The sum of a part of works or rows; the largest number where it is larger.
pub fn sum(parts: impl IntoIterator<Item = u64>) -> u64 {
    parts.into_iter().fold(0, u64::saturating_add)
}

/// The clock's rate: since the record was made if that is long enough, else measured now.
fn ticks_per_second(image: &Image) -> f64 {
    let clock = image.header.clock();
    if clock == Clock::System {
        return 1e9;
    }
    let passed = process::since_boot().wrapping_sub(image.header.reference_boot.load(Relaxed));
    let ticks = clock
        .now()
        .wrapping_sub(image.header.reference_ticks.load(Relaxed));
    let slept = process::since_boot().saturating_sub(process::monotonic());
    rate(ticks, passed, slept).unwrap_or_else(|| clock.ticks_per_second())
}

/// Ticks in a second by those that passed since the record was made; none where that was too short to tell, or may have
/// been sleep: boot time counts that, and the processor's counter may not.
fn rate(ticks: u64, passed: u64, slept: u64) -> Option<f64> {
    const LONG_ENOUGH: u64 = 50_000_000;
    const NO_SLEEP: u64 = 1_000_000_000;
    const PLAUSIBLE: std::ops::Range<f64> = 1e6..1e11;
    #[expect(clippy::cast_precision_loss, reason = "six digits are enough")]
    let rate = ticks as f64 / passed as f64 * 1e9;
    let is_known = passed >= LONG_ENOUGH && slept < NO_SLEEP && PLAUSIBLE.contains(&rate);
    is_known.then_some(rate)
}

const _: () = assert!(ROWS <= 1 << 16, "a row's index has 16 bits");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_files_of_their_own() {
        let prefix = format!("outboard-observed-{}.", crate::layout::VERSION);
        assert_eq!(FILES.prefix, prefix);
        for document in [
            include_str!("../../../SECURITY.md"),
            include_str!("../../../docs/using.md"),
            include_str!("../../cli/src/command/generate.rs"),
        ] {
            assert!(document.contains(&format!("/dev/shm/{prefix}UID")));
        }
    }

    #[test]
    fn sleep_bends_no_clock() {
        const SECOND: u64 = 1_000_000_000;
        let ticks = 10 * 2_500_000_000;
        assert_eq!(rate(ticks, 10 * SECOND, 0), Some(2.5e9));
        // An hour asleep, in which the counter stood still.
        assert_eq!(rate(ticks, 3610 * SECOND, 3600 * SECOND), None);
        assert_eq!(rate(ticks, 1000, 0), None);
        assert_eq!(rate(1, 10 * SECOND, 0), None);
    }
}
