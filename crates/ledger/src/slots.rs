//! Who counts where: taking an entry, giving it back, and adding up what the dead left.
//!
//! ```text
//!            claim            close              claim
//!   Free ──────────▶ Running ────────▶ Ended ──────────▶ (Busy, folded) ──▶ Running
//!    ▲                  │ owner died
//!    └──── (Busy, folded) ◀── collect_dead
//! ```
//!
//! An entry changes hands by one compare-and-swap of its owner word. To *fold* is to move its
//! counters, one by one, to the entry of its program. A process killed while it folds loses at most
//! the one counter it had in hand.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use outboard_shared_memory::process;

use super::layout::{CardCell, Entry, Image, OTHERS, PROCESSES, State};

/// How a process signs the entries it takes.
#[derive(Clone, Copy)]
pub(super) struct Signature {
    pub(super) pid: u32,
    /// Nanoseconds since boot.
    pub(super) claimed: u64,
    pub(super) comm: [u8; 16],
}

/// An entry for a process to count in: its own; or, when all are taken, its program's. Makes no
/// system call.
pub(super) fn claim(image: &Image, signature: &Signature) -> usize {
    claim_process(image, signature)
        .unwrap_or_else(|| claim_program(image, signature.pid, signature.comm))
}

/// Whether a process that comes now finds an entry of its own.
pub(super) fn has_room(image: &Image) -> bool {
    image.entries[..PROCESSES]
        .iter()
        .any(|entry| matches!(state_of(entry), Some((State::Free | State::Ended, _))))
}

/// Says that the owner of entry `index`, if it is still this process, counts no more.
pub(super) fn release(image: &Image, index: usize, pid: u32) {
    if index < PROCESSES {
        let owner = &image.entries[index].owner;
        // If it is not ours any more there is nothing to say.
        let _ = owner.compare_exchange(
            State::Running.word(pid),
            State::Ended.word(pid),
            Release,
            Relaxed,
        );
    }
}

/// Adds up and frees the entries of processes that died without a word. Probes with system calls:
/// cheaply all of them first, and only if that finds none, some of them thoroughly.
pub(super) fn collect_dead(image: &Image, pid: u32) {
    /// Each costs a read of `/proc`; a process that starts should not be held up.
    const THOROUGH: usize = 16;
    let collected = (0..PROCESSES)
        .filter(|&index| collect_if(image, index, pid, |owner, _| !process::exists(owner)))
        .count();
    if collected == 0 {
        (0..PROCESSES)
            .map(|step| (pid as usize + step) % PROCESSES) // not always the same ones
            .take(THOROUGH)
            .for_each(|index| {
                collect_if(image, index, pid, |owner, claimed| {
                    !process::is_alive(owner, claimed)
                });
            });
    }
}

/// Folds and frees the entry if its owner is dead; whether it did.
fn collect_if(image: &Image, index: usize, pid: u32, is_dead: impl Fn(u32, u64) -> bool) -> bool {
    let entry = &image.entries[index];
    let word = entry.owner.load(Acquire);
    let dead = match State::parse(word) {
        Some((State::Running, owner)) => is_dead(owner, entry.claimed.load(Relaxed)),
        // Killed at its work; what `claimed` says may be the previous owner's.
        Some((State::Busy, owner)) => !process::exists(owner),
        _ => false,
    };
    if !dead || !take(entry, word, pid) {
        return false;
    }
    fold(image, index, pid);
    entry.owner.store(State::Free.word(0), Release);
    true
}

fn claim_process(image: &Image, signature: &Signature) -> Option<usize> {
    let (index, was) = take_any(image, State::Free, signature.pid)
        .or_else(|| take_any(image, State::Ended, signature.pid))?;
    if was == State::Ended {
        fold(image, index, signature.pid);
    }
    image.cards[index].iter().for_each(CardCell::clear);
    let entry = &image.entries[index];
    entry.claimed.store(signature.claimed, Relaxed);
    entry.comm.store(signature.comm);
    entry
        .owner
        .store(State::Running.word(signature.pid), Release);
    Some(index)
}

/// Takes that entry of this state that was claimed longest ago, so that what ended last can be read
/// longest.
fn take_any(image: &Image, state: State, pid: u32) -> Option<(usize, State)> {
    for _ in 0..PROCESSES {
        let (index, word) = image.entries[..PROCESSES]
            .iter()
            .enumerate()
            .map(|(index, entry)| (index, entry.owner.load(Acquire)))
            .filter(|&(_, word)| State::parse(word).is_some_and(|(found, _)| found == state))
            .min_by_key(|&(index, _)| image.entries[index].claimed.load(Relaxed))?;
        if take(&image.entries[index], word, pid) {
            return Some((index, state));
        }
        // Another process was faster: there is one less to try. Or one keeps changing its word: no
        // reason to try for ever.
    }
    None
}

/// The entry of a program, made if there is none; the common one when there is no room.
fn claim_program(image: &Image, pid: u32, comm: [u8; 16]) -> usize {
    (PROCESSES..OTHERS)
        .find(|&index| {
            let entry = &image.entries[index];
            let word = entry.owner.load(Acquire);
            match State::parse(word) {
                Some((State::Program, _)) => entry.comm.load() == comm,
                Some((State::Free, _)) if take(entry, word, pid) => {
                    entry.comm.store(comm);
                    entry.owner.store(State::Program.word(0), Release);
                    true
                }
                // Another process is naming it, perhaps by the same name: then there are two of
                // that name, which readers add up.
                _ => false,
            }
        })
        .unwrap_or(OTHERS)
}

/// Makes an entry ours to change, if nobody changed it since `word` was read.
fn take(entry: &Entry, word: u64, pid: u32) -> bool {
    entry
        .owner
        .compare_exchange(word, State::Busy.word(pid), Acquire, Relaxed)
        .is_ok()
}

/// Moves the counters of an entry that we hold to its program's.
fn fold(image: &Image, index: usize, pid: u32) {
    let ended = &image.counters[index];
    if ended.words().all(|counter| counter.load(Relaxed) == 0) {
        return;
    }
    image.header.folds_begun.fetch_add(1, Release);
    let program = claim_program(image, pid, image.entries[index].comm.load());
    image.entries[program].processes.fetch_add(1, Relaxed);
    for (from, to) in ended.words().zip(image.counters[program].words()) {
        match from.swap(0, Relaxed) {
            0 => {}
            count => drop(to.fetch_add(count, Relaxed)),
        }
    }
    image.header.folds_done.fetch_add(1, Release);
}

fn state_of(entry: &Entry) -> Option<(State, u32)> {
    State::parse(entry.owner.load(Acquire))
}

#[cfg(test)]
mod tests {
    use outboard_shared_memory::zeroed;

    use super::*;

    /// There can't be a process of this id: it is above the kernel's limit of 2²².
    const NOBODY: u32 = 1 << 30;

    fn signature(pid: u32, claimed: u64, name: usize) -> Signature {
        let mut comm = [0; 16];
        comm[..8].copy_from_slice(&name.to_be_bytes());
        comm[8] = b'x';
        Signature { pid, claimed, comm }
    }

    fn count(image: &Image, index: usize, times: u64) {
        let word = image.counters[index].words().nth(7);
        word.expect("there are more").fetch_add(times, Relaxed);
    }

    fn counted(image: &Image, index: usize) -> u64 {
        image.counters[index]
            .words()
            .map(|word| word.load(Relaxed))
            .sum()
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
        let everything: u64 = (0..image.entries.len())
            .map(|index| counted(&image, index))
            .sum();
        assert_eq!(everything, by_name.iter().sum::<u64>());
        for (name, expected) in by_name.into_iter().enumerate() {
            let of_name: u64 = (0..image.entries.len())
                .filter(|&index| image.entries[index].comm.load() == signature(0, 0, name).comm)
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
        let found: u64 = (0..image.entries.len())
            .map(|index| counted(&image, index))
            .sum();
        assert_eq!(found, total);
        assert!(counted(&image, OTHERS) > 0, "some were not told apart");
        let (begun, done) = image.header.folds();
        assert_eq!(begun, done);
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
