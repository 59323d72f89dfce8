//! Who counts where in the ledger. To *fold* is to move what an entry counted, counter by counter, to the entry of its
//! program. A process killed while it folds loses at most the one counter it had in hand.

use std::sync::atomic::Ordering::{Relaxed, Release};

use outboard_shared_memory::{Signature, process};

use super::layout::{CardCell, Image};

impl Image {
    /// An entry for a process to count in: its own; or, when all are taken, its program's. Makes no
    /// system call.
    pub(super) fn claim(&self, signature: &Signature) -> usize {
        let empty = |index: usize| {
            self.fold(index, signature.pid);
            self.cards[index].iter().for_each(CardCell::clear);
        };
        self.entries
            .claim(signature, 0, empty)
            .unwrap_or_else(|| self.entries.claim_program(signature.pid, signature.comm))
    }

    /// Adds up and frees the entries of processes that died without a word.
    pub(super) fn collect_dead(&self) {
        let pid = process::id();
        self.entries
            .collect_dead(pid, |index| self.fold(index, pid));
    }

    /// Moves the counters of an entry that we hold to its program's.
    fn fold(&self, index: usize, pid: u32) {
        let ended = &self.counters[index];
        if ended.words().all(|counter| counter.load(Relaxed) == 0) {
            return;
        }
        self.header.folds_begun.fetch_add(1, Release);
        let comm = self.entries[index].comm();
        let program = self.entries.claim_program(pid, comm);
        self.entries[program].add_process();
        for (from, to) in ended.words().zip(self.counters[program].words()) {
            match from.swap(0, Relaxed) {
                0 => {}
                count => drop(to.fetch_add(count, Relaxed)),
            }
        }
        self.header.folds_done.fetch_add(1, Release);
    }
}
