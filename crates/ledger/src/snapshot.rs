//! Reading, resetting and finding ledgers: what the command does. The file is copied before it is
//! looked at, so that nothing in it, nor a change of its size, can do harm.

use std::collections::BTreeMap;
use std::path::{Path as FilePath, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, SystemTime};

use outboard_shared_memory::{Copied, State, UserFiles, process};

use super::layout::{CardCell, Image, OTHERS, PROCESSES};
use super::{Card, Counts, LedgerError};

/// What a ledger said at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// When the ledger was made.
    pub created: SystemTime,
    /// The processes that have an entry, alive or not, in the order of their start.
    pub processes: Vec<Process>,
    /// What processes that have no entry any more (or found none free) counted, by program; the name
    /// `(others)` stands for all that could not be told apart.
    pub programs: Vec<Program>,
}

/// One process.
#[derive(Clone, Debug)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// The user it opened the ledger as: the file's owner, whatever the file says.
    pub uid: u32,
    /// Its name as `ps` shows it; unprintable characters are replaced.
    pub program: String,
    /// Whether it still runs.
    pub alive: bool,
    /// When it opened the ledger, or first counted after a `fork`.
    pub started: SystemTime,
    /// What it counted.
    pub counts: Counts,
    /// The cards it started.
    pub cards: Vec<Card>,
    /// `started` on the clock that nobody sets: with the pid, it names the process.
    claimed: u64,
}

/// The processes of one program that ended.
#[derive(Clone, Debug)]
pub struct Program {
    /// Their name.
    pub program: String,
    /// How many processes were added up (those that found no entry are not among them).
    pub processes: u64,
    /// What they counted.
    pub counts: Counts,
}

/// The name of the programs that can't be told apart.
const OTHERS_NAME: &str = "(others)";

const FILES: UserFiles = UserFiles {
    prefix: "outboard.",
};

/// Where the ledger of a user is, unless configured otherwise.
pub fn default_path(uid: u32) -> PathBuf {
    FILES.path(uid)
}

/// The files that are where ledgers are by default, of all users, in the order of their ids.
pub fn all_paths() -> Vec<PathBuf> {
    FILES.all()
}

/// Sets the counters of one process to zero, or (without a `pid`) all of them. Returns how many
/// processes and programs that concerned.
///
/// An operation that ends at the same moment may be forgotten in part.
///
/// # Errors
/// As [`Snapshot::read`].
pub fn reset(path: &FilePath, pid: Option<u32>) -> Result<usize, LedgerError> {
    let copied = copy(path, true)?;
    let image = &copied.image;
    let mut concerned = 0;
    for (index, entry) in image.entries.iter().enumerate() {
        let wanted = match (pid, entry.state()) {
            (None, _) => true,
            (Some(pid), Some((State::Running | State::Ended, owner))) => owner == pid,
            _ => false,
        };
        let counters = &image.counters[index];
        if wanted && counters.words().any(|word| word.load(Relaxed) != 0) {
            copied.zero(counters)?;
            concerned += 1;
        }
        if wanted && index < PROCESSES {
            reset_cards(&copied, &image.cards[index])?;
        }
    }
    Ok(concerned)
}

/// What the cards of a process counted; not what they are doing.
fn reset_cards(copied: &Copied<Image>, cards: &[CardCell]) -> Result<(), LedgerError> {
    for cell in cards {
        if cell.status.load(Relaxed) != 0 {
            copied.zero(&cell.work)?;
            copied.set(&cell.started, process::since_boot())?;
        }
    }
    Ok(())
}

impl Snapshot {
    /// Reads the ledger at `path`. The file is not changed.
    ///
    /// # Errors
    /// If there is none, it can't be read, is somebody else's (root may read any), or is not a
    /// ledger of this version.
    pub fn read(path: &FilePath) -> Result<Self, LedgerError> {
        let copied = copy(path, false)?;
        let owner = copied.owner()?;
        Ok(Self::parse(&copied.image, owner, process::is_alive))
    }

    /// Everything in it added up.
    pub fn total(&self) -> Counts {
        let mut total = Counts::new();
        let processes = self.processes.iter().map(|process| &process.counts);
        let programs = self.programs.iter().map(|program| &program.counts);
        processes
            .chain(programs)
            .for_each(|counts| total.add(counts));
        total
    }

    /// What was counted since an earlier snapshot of the same ledger, by whom. Processes and programs
    /// that counted nothing since are left out.
    pub fn since(&self, earlier: &Self) -> Self {
        let mut before: BTreeMap<(u32, u64), &Process> = earlier
            .processes
            .iter()
            .map(|process| ((process.pid, process.claimed), process))
            .collect();
        let mut processes = self.processes.clone();
        for process in &mut processes {
            if let Some(earlier) = before.remove(&(process.pid, process.claimed)) {
                process.counts.subtract(&earlier.counts);
                for card in &mut process.cards {
                    if let Some(earlier) = earlier.cards.iter().find(|one| one.id == card.id) {
                        card.work.combine(&earlier.work, u64::saturating_sub);
                        card.utilisation = None;
                    }
                }
            }
        }
        let mut programs = self.programs.clone();
        // Processes whose entry is gone have been added to their program: what they had counted
        // before counts as the program's.
        let folded = before
            .values()
            .map(|process| (process.program.as_str(), &process.counts, 0));
        let ended = earlier
            .programs
            .iter()
            .map(|program| (program.program.as_str(), &program.counts, program.processes));
        for (name, counts, count) in ended.chain(folded) {
            let of_name = programs.iter().position(|program| program.program == name);
            let of_others = || {
                programs
                    .iter()
                    .position(|program| program.program == OTHERS_NAME)
            };
            if let Some(index) = of_name.or_else(of_others) {
                programs[index].counts.subtract(counts);
                programs[index].processes = programs[index].processes.saturating_sub(count);
            }
        }
        processes.retain(|process| !process.counts.is_empty());
        programs.retain(|program| !program.counts.is_empty());
        Self {
            created: self.created,
            processes,
            programs,
        }
    }

    fn parse(image: &Image, uid: u32, is_alive: impl Fn(u32, u64) -> bool) -> Self {
        let now = process::since_epoch();
        let booted = now.saturating_sub(process::since_boot());
        let mut processes = Vec::new();
        let mut programs = BTreeMap::<String, Program>::new();
        for (index, entry) in image.entries.iter().enumerate() {
            let counts = Counts::read(&image.counters[index]);
            let owner = entry.state();
            if let Some((state @ (State::Running | State::Ended), pid)) = owner
                && index < PROCESSES
            {
                let claimed = entry.claimed();
                processes.push(Process {
                    pid,
                    uid,
                    program: process::printable(entry.comm()),
                    alive: state == State::Running && is_alive(pid, claimed),
                    started: time(booted.saturating_add(claimed)),
                    counts,
                    cards: Card::read(&image.cards[index], booted, now),
                    claimed,
                });
            } else if !counts.is_empty() {
                // Also what somebody counted where it had no business to.
                let name = match owner {
                    Some((State::Program, _)) if index != OTHERS => {
                        process::printable(entry.comm())
                    }
                    _ => OTHERS_NAME.to_owned(),
                };
                let program = programs.entry(name).or_insert_with_key(|name| Program {
                    program: name.clone(),
                    processes: 0,
                    counts: Counts::new(),
                });
                program.counts.add(&counts);
                program.processes = program.processes.saturating_add(entry.processes());
            }
        }
        processes.sort_by_key(|process| (process.claimed, process.pid));
        Self {
            created: time(image.header.created.load(Relaxed)),
            processes,
            programs: programs.into_values().collect(),
        }
    }
}

/// The file's content, from a moment when no counter was on its way from one place to another.
fn copy(path: &FilePath, writable: bool) -> Result<Copied<Image>, LedgerError> {
    /// A few tenths of a second. Moving a process's counters takes microseconds, and happens rarely.
    const ATTEMPTS: usize = 200;
    let mut copied = Copied::<Image>::of(path, writable)?;
    for _ in 0..ATTEMPTS {
        let (begun, done) = copied.image.header.folds();
        // Where nobody is at it, that process has been killed.
        let is_settled = begun == done || !copied.image.entries.is_changing();
        if is_settled && copied.beginning_now()?.folds() == (begun, done) {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
        copied.renew()?;
    }
    Ok(copied)
}

/// A time that any number has.
pub(super) fn time(nanoseconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_nanos(nanoseconds)
}
