//! Who counts where: taking an entry, giving it back, and adding up what the dead left.
//!
//! ```text
//!            claim            release            claim
//!   Free ──────────▶ Running ────────▶ Ended ──────────▶ (Busy, emptied) ──▶ Running
//!    ▲                  │ owner died
//!    └──── (Busy, emptied) ◀── collect_dead
//! ```
//!
//! An entry changes hands by one compare-and-swap of its owner word, and what it counted is moved by the
//! user of these entries while it is *busy*. Those that find no entry of their own share their program's.
//! Whatever the words hold, nothing here does harm or runs for ever: the file may be hostile.

use std::ops::Index;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::process::{self, NameCell};
use crate::{Plain, Ticket};

/// A place for each of so many processes, then one for each of so many programs. The last one is that of all programs
/// that found none of their own.
#[repr(C)]
pub struct Entries<const PROCESSES: usize, const PROGRAMS: usize> {
    processes: [Entry; PROCESSES],
    programs: [Entry; PROGRAMS],
}

/// Whose counters those of the same index are.
#[repr(C, align(64))]
pub struct Entry {
    /// A `State` and a process id. Written last when an entry is filled.
    owner: AtomicU64,
    /// When the owner took it, in nanoseconds since boot (`CLOCK_BOOTTIME`).
    claimed: AtomicU64,
    /// Zero: whose the entry is, is for the file's owner to tell.
    _unused: AtomicU64,
    /// The program's name, as the kernel keeps it: 15 bytes and a zero.
    comm: NameCell,
    /// For a program: how many processes were added up.
    processes: AtomicU64,
}

// SAFETY: `repr(C)`, and every field is an `AtomicU64` or an array or `Plain` struct of them.
unsafe impl<const PROCESSES: usize, const PROGRAMS: usize> Plain for Entries<PROCESSES, PROGRAMS> {}

/// What an entry is; the low byte of its owner's word, the process id in the upper half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// Nobody's, and its counters are zero.
    Free = 0,
    /// Being filled or emptied by the process named.
    Busy = 1,
    /// Of the process named.
    Running = 2,
    /// Of a process that said it has ended; its counters are still there.
    Ended = 3,
    /// Of a program whose processes ended, or came when there was no entry left.
    Program = 4,
}

/// How a process signs the entries it takes.
#[derive(Clone, Copy)]
pub struct Signature {
    /// Its id.
    pub pid: u32,
    /// Nanoseconds since boot.
    pub claimed: u64,
    /// The program's name.
    pub comm: [u8; 16],
}

impl Signature {
    /// Of this process, whose name is `comm`, now: without a system call that a sandbox could refuse (`getpid` alone).
    pub fn now(comm: [u8; 16]) -> Self {
        Self {
            pid: process::id(),
            claimed: process::since_boot(),
            comm,
        }
    }
}

impl State {
    /// The word for it.
    const fn word(self, pid: u32) -> u64 {
        (pid as u64) << 32 | self as u64
    }

    /// The state and process id of a word; `None` if it is none of ours.
    const fn parse(owner: u64) -> Option<(Self, u32)> {
        let state = match owner as u32 {
            0 => Self::Free,
            1 => Self::Busy,
            2 => Self::Running,
            3 => Self::Ended,
            4 => Self::Program,
            _ => return None,
        };
        Some((state, (owner >> 32) as u32))
    }
}

impl Entry {
    /// What it is, and of which process; `None` where somebody wrote nonsense.
    pub fn state(&self) -> Option<(State, u32)> {
        State::parse(self.owner.load(Acquire))
    }

    /// When it was taken, in nanoseconds since boot.
    pub fn claimed(&self) -> u64 {
        self.claimed.load(Relaxed)
    }

    /// The program's name.
    pub fn comm(&self) -> [u8; 16] {
        self.comm.load()
    }

    /// For a program: how many processes were added up.
    pub fn processes(&self) -> u64 {
        self.processes.load(Relaxed)
    }

    /// Says that another process was added up.
    pub fn add_process(&self) {
        self.processes.fetch_add(1, Relaxed);
    }

    /// Makes it ours to change, if nobody changed it since `word` was read.
    fn take(&self, word: u64, pid: u32) -> bool {
        self.owner
            .compare_exchange(word, State::Busy.word(pid), Acquire, Relaxed)
            .is_ok()
    }
}

impl<const PROCESSES: usize, const PROGRAMS: usize> Entries<PROCESSES, PROGRAMS> {
    /// How many there are.
    pub const COUNT: usize = PROCESSES + PROGRAMS;
    /// The entry where all programs that found no place of their own are added up.
    pub const OTHERS: usize = Self::COUNT - 1;

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        const { assert!(PROGRAMS > 0 && Self::COUNT <= Ticket::ENTRIES) };
        self.processes.iter().chain(&self.programs)
    }

    /// An entry of its own for a process; none when all are taken. Sought from the one at `start` on. Makes no system call.
    ///
    /// `empty` is called with the index, while nobody else uses the entry: what was counted there was another's.
    pub fn claim(
        &self,
        signature: &Signature,
        start: usize,
        empty: impl FnOnce(usize),
    ) -> Option<usize> {
        let index = self
            .take_free(signature.pid, start)
            .or_else(|| self.take_ended(signature.pid))?;
        empty(index);
        let entry = &self.processes[index];
        entry.claimed.store(signature.claimed, Relaxed);
        entry.comm.store(signature.comm);
        let running = State::Running.word(signature.pid);
        entry.owner.store(running, Release);
        Some(index)
    }

    /// The entry of a program, made if there is none; the common one when there is no room.
    pub fn claim_program(&self, pid: u32, comm: [u8; 16]) -> usize {
        let own = self.programs[..PROGRAMS - 1].iter().position(|entry| {
            let word = entry.owner.load(Acquire);
            match State::parse(word) {
                Some((State::Program, _)) => entry.comm() == comm,
                Some((State::Free, _)) if entry.take(word, pid) => {
                    entry.comm.store(comm);
                    entry.owner.store(State::Program.word(0), Release);
                    true
                }
                // Another process is naming it, perhaps by the same name: then there are two of
                // that name, which readers add up.
                _ => false,
            }
        });
        own.map_or(Self::OTHERS, |program| PROCESSES + program)
    }

    /// Whether a process that comes now finds an entry of its own.
    pub fn has_room(&self) -> bool {
        self.processes
            .iter()
            .any(|entry| matches!(entry.state(), Some((State::Free | State::Ended, _))))
    }

    /// Says that the owner of entry `index`, if it is still this process, counts no more.
    pub fn release(&self, index: usize, pid: u32) {
        if let Some(entry) = self.processes.get(index) {
            // If it is not ours any more there is nothing to say.
            let _ = entry.owner.compare_exchange(
                State::Running.word(pid),
                State::Ended.word(pid),
                Release,
                Relaxed,
            );
        }
    }

    /// Empties and frees the entries of processes that died without a word. Probes with system calls:
    /// cheaply all of them first, and only if that finds none, some of them thoroughly.
    pub fn collect_dead(&self, pid: u32, empty: impl Fn(usize)) {
        /// Each costs a read of `/proc`; a process that starts should not be held up.
        const THOROUGH: usize = 16;
        let collected = (0..PROCESSES)
            .filter(|&index| {
                self.collect_if(index, pid, &empty, |owner, _| !process::exists(owner))
            })
            .count();
        if collected == 0 {
            (0..PROCESSES)
                .map(|step| (pid as usize + step) % PROCESSES) // not always the same ones
                .take(THOROUGH)
                .for_each(|index| {
                    self.collect_if(index, pid, &empty, |owner, claimed| {
                        !process::is_alive(owner, claimed)
                    });
                });
        }
    }

    /// Whether a living process is at it to fill or to empty an entry.
    pub fn is_changing(&self) -> bool {
        self.iter()
            .any(|entry| matches!(entry.state(), Some((State::Busy, pid)) if process::exists(pid)))
    }

    /// Empties and frees the entry if its owner is dead; whether it did.
    fn collect_if(
        &self,
        index: usize,
        pid: u32,
        empty: impl Fn(usize),
        is_dead: impl Fn(u32, u64) -> bool,
    ) -> bool {
        let entry = &self.processes[index];
        let word = entry.owner.load(Acquire);
        let dead = match State::parse(word) {
            Some((State::Running, owner)) => is_dead(owner, entry.claimed()),
            // Killed at its work; what `claimed` says may be the previous owner's.
            Some((State::Busy, owner)) => !process::exists(owner),
            _ => false,
        };
        if !dead || !entry.take(word, pid) {
            return false;
        }
        empty(index);
        entry.owner.store(State::Free.word(0), Release);
        true
    }

    fn take_free(&self, pid: u32, start: usize) -> Option<usize> {
        (0..PROCESSES)
            .map(|step| start.wrapping_add(step) % PROCESSES)
            .find(|&index| {
                let entry = &self.processes[index];
                let word = entry.owner.load(Relaxed);
                matches!(State::parse(word), Some((State::Free, _))) && entry.take(word, pid)
            })
    }

    /// Takes that of the ended which was claimed longest ago, so that what ended last can be read longest.
    fn take_ended(&self, pid: u32) -> Option<usize> {
        for _ in 0..PROCESSES {
            let ended = self
                .processes
                .iter()
                .enumerate()
                .filter_map(|(index, entry)| {
                    let word = entry.owner.load(Acquire);
                    let is_ended = matches!(State::parse(word), Some((State::Ended, _)));
                    is_ended.then_some((index, word))
                });
            let (index, word) = ended.min_by_key(|&(index, _)| self.processes[index].claimed())?;
            if self.processes[index].take(word, pid) {
                return Some(index);
            }
            // Another process was faster: there is one less to try. Or one keeps changing its word: no
            // reason to try for ever.
        }
        None
    }
}

impl<const PROCESSES: usize, const PROGRAMS: usize> Index<usize> for Entries<PROCESSES, PROGRAMS> {
    type Output = Entry;

    fn index(&self, index: usize) -> &Entry {
        match index.checked_sub(PROCESSES) {
            None => &self.processes[index],
            Some(program) => &self.programs[program],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zeroed;

    const PROCESSES: usize = 128;
    const OTHERS: usize = Entries::<PROCESSES, 32>::OTHERS;

    /// A number for each of them, as users have.
    #[repr(C)]
    struct Image {
        entries: Entries<PROCESSES, 32>,
        counts: [AtomicU64; PROCESSES + 32],
    }

    // SAFETY: `repr(C)` of nothing but `AtomicU64`.
    unsafe impl Plain for Image {}

    /// Moves what an entry counted to its program's.
    fn fold(image: &Image, index: usize, pid: u32) {
        if image.counts[index].load(Relaxed) != 0 {
            let program = image
                .entries
                .claim_program(pid, image.entries[index].comm());
            image.entries[program].add_process();
            let count = image.counts[index].swap(0, Relaxed);
            image.counts[program].fetch_add(count, Relaxed);
        }
    }

    fn claim(image: &Image, signature: &Signature) -> usize {
        let empty = |index| fold(image, index, signature.pid);
        let own = image.entries.claim(signature, 0, empty);
        own.unwrap_or_else(|| image.entries.claim_program(signature.pid, signature.comm))
    }

    fn release(image: &Image, index: usize, pid: u32) {
        image.entries.release(index, pid);
    }

    fn collect_dead(image: &Image, pid: u32) {
        image
            .entries
            .collect_dead(pid, |index| fold(image, index, pid));
    }

    fn has_room(image: &Image) -> bool {
        image.entries.has_room()
    }

    /// There can't be a process of this id: it is above the kernel's limit of 2²².
    const NOBODY: u32 = 1 << 30;

    fn signature(pid: u32, claimed: u64, name: usize) -> Signature {
        let mut comm = [0; 16];
        comm[..8].copy_from_slice(&name.to_be_bytes());
        comm[8] = b'x';
        Signature { pid, claimed, comm }
    }

    fn count(image: &Image, index: usize, times: u64) {
        image.counts[index].fetch_add(times, Relaxed);
    }

    fn counted(image: &Image, index: usize) -> u64 {
        image.counts[index].load(Relaxed)
    }

    /// A cheap source of numbers that are not in any order (Marsaglia's xorshift).
    fn numbers(mut state: u64) -> impl FnMut(u64) -> u64 {
        move |below| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % below
        }
    }

    /// Processes come, count and go in any order: every entry has one owner, every owner finds in it
    /// what it counted, and every program has what its processes did.
    #[test]
    fn whatever_processes_do_it_adds_up() {
        const NAMES: usize = PROCESSES / 8;
        let mut random = numbers(88_172_645_463_325_252);
        let image = zeroed::<Image>();
        let mut running: Vec<(Signature, usize, u64)> = Vec::new();
        let mut by_name = [0; NAMES];
        for turn in 1..20_000 {
            match random(10) {
                0..=2 if running.len() < PROCESSES => {
                    let name = random(NAMES as u64) as usize;
                    let signature = signature(NOBODY + turn, u64::from(turn), name);
                    let index = claim(&image, &signature);
                    assert!(index < PROCESSES, "there is room");
                    assert!(running.iter().all(|&(_, other, _)| other != index));
                    assert_eq!(counted(&image, index), 0, "what was there was moved");
                    running.push((signature, index, 0));
                }
                3..=4 if !running.is_empty() => {
                    let which = random(running.len() as u64) as usize;
                    let (signature, index, _) = running.swap_remove(which);
                    release(&image, index, signature.pid);
                }
                _ if !running.is_empty() => {
                    let which = random(running.len() as u64) as usize;
                    let (signature, index, own) = &mut running[which];
                    let times = random(100);
                    count(&image, *index, times);
                    *own += times;
                    let name = usize::from_be_bytes(*signature.comm.first_chunk().expect("16"));
                    by_name[name] += times;
                }
                _ => {}
            }
        }
        for (_, index, own) in &running {
            assert_eq!(counted(&image, *index), *own);
        }
        let everything: u64 = (0..image.counts.len())
            .map(|index| counted(&image, index))
            .sum();
        assert_eq!(everything, by_name.iter().sum::<u64>());
        for (name, expected) in by_name.into_iter().enumerate() {
            let of_name: u64 = (0..image.counts.len())
                .filter(|&index| image.entries[index].comm() == signature(0, 0, name).comm)
                .map(|index| counted(&image, index))
                .sum();
            assert_eq!(of_name, expected, "program {name}");
        }
    }

    /// As above, at once.
    #[test]
    fn whatever_processes_do_at_once_it_adds_up() {
        let image = zeroed::<Image>();
        let total: u64 = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4_u32)
                .map(|thread| {
                    let image = &image;
                    scope.spawn(move || {
                        let mut random = numbers(u64::from(thread) + 1);
                        let mut total = 0;
                        for turn in 0..2000 {
                            let pid = NOBODY + thread * 10_000 + turn;
                            let name = random(50) as usize; // more than are told apart
                            let signature = signature(pid, u64::from(turn), name);
                            let index = claim(image, &signature);
                            let times = random(10);
                            count(image, index, times);
                            total += times;
                            if random(20) > 0 {
                                release(image, index, pid); // else it dies without a word
                            }
                            if random(100) == 0 {
                                collect_dead(image, pid);
                            }
                        }
                        total
                    })
                })
                .collect();
            let totals = threads.into_iter().map(|thread| thread.join());
            totals.map(|total| total.expect("it does not panic")).sum()
        });
        let found: u64 = (0..image.counts.len())
            .map(|index| counted(&image, index))
            .sum();
        assert_eq!(found, total);
        assert!(counted(&image, OTHERS) > 0, "some were not told apart");
        assert!(!image.entries.is_changing());
    }

    /// Fills every entry with a process of that id.
    fn full(pid: u32, claimed: u64) -> Box<Image> {
        let image = zeroed::<Image>();
        for _ in 0..PROCESSES {
            let index = claim(&image, &signature(pid, claimed, 0));
            count(&image, index, 1);
        }
        assert!(!has_room(&image));
        image
    }

    #[test]
    fn the_dead_are_collected_and_the_living_are_not() {
        let us = process::id();
        let dead = full(NOBODY, 1);
        collect_dead(&dead, us);
        assert_eq!(counted(&dead, PROCESSES), PROCESSES as u64);
        assert!(has_room(&dead));

        let alive = full(us, process::since_boot());
        collect_dead(&alive, us);
        assert!(!has_room(&alive));

        let reused = full(us, 1); // by somebody who was there long before us
        collect_dead(&reused, us);
        assert!(has_room(&reused));
    }

    #[test]
    fn who_was_killed_in_the_middle_is_collected() {
        let us = process::id();
        let image = full(us, process::since_boot());
        image.entries[3]
            .owner
            .store(State::Busy.word(NOBODY), Relaxed);
        image.entries[5].owner.store(State::Busy.word(us), Relaxed);
        collect_dead(&image, us);
        let state = |index: usize| image.entries[index].owner.load(Relaxed);
        assert_eq!(state(3), State::Free.word(0));
        assert_eq!(state(5), State::Busy.word(us), "the living are at it");
        assert_eq!(counted(&image, PROCESSES), 1);
    }

    #[test]
    fn only_the_owner_releases() {
        let image = zeroed::<Image>();
        let index = claim(&image, &signature(7, 1, 0));
        release(&image, index, 8);
        assert_eq!(
            image.entries[index].owner.load(Relaxed),
            State::Running.word(7)
        );
        release(&image, OTHERS, 7);
        release(&image, index, 7);
        assert_eq!(
            image.entries[index].owner.load(Relaxed),
            State::Ended.word(7)
        );
    }
}
