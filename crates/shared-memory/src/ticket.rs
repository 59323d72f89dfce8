//! Which entry a process counts in.

use std::num::NonZeroU64;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

/// The place of a process: in which entry it counts, and since when. No two processes of one family, and no two claims
/// of one process, have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(NonZeroU64);

/// Bits of a ticket that say in which entry: its index plus one.
const BITS: u32 = 10;
/// In these bits: in none, but in memory of its own.
const PRIVATE: u64 = (1 << BITS) - 1;

impl Ticket {
    /// One that no process has: its time would be before the first nanosecond.
    pub const NOBODY: Self = Self(NonZeroU64::MIN);

    /// So many entries can be told apart.
    pub(crate) const ENTRIES: usize = PRIVATE as usize - 1;

    /// Of an entry that was claimed so many nanoseconds after boot; `None` if there was none to be had.
    pub fn new(claimed: u64, entry: Option<usize>) -> Self {
        let place = entry.map_or(PRIVATE, |index| index as u64 + 1);
        debug_assert!(entry.is_none_or(|index| index < Self::ENTRIES));
        Self(NonZeroU64::new(claimed << BITS | place).expect("invariant: places are not zero"))
    }

    /// The index of the entry.
    pub fn entry(self) -> Option<usize> {
        match self.0.get() & PRIVATE {
            0 | PRIVATE => None,
            place => Some(place as usize - 1),
        }
    }
}

/// Where a process keeps its ticket: in memory that a forked child finds zeroed ([`local`](crate::local)), so that it
/// has none.
#[repr(transparent)]
pub struct TicketCell(AtomicU64);

impl TicketCell {
    /// The ticket of this process; none before its first claim.
    #[inline]
    pub fn get(&self) -> Option<Ticket> {
        NonZeroU64::new(self.0.load(Relaxed)).map(Ticket)
    }

    /// Makes it this process's ticket.
    ///
    /// # Errors
    /// The one that another thread brought first.
    pub fn set(&self, ticket: Ticket) -> Result<(), Ticket> {
        let set = self.0.compare_exchange(0, ticket.0.get(), AcqRel, Acquire);
        match set.map_err(NonZeroU64::new) {
            Err(Some(theirs)) => Err(Ticket(theirs)),
            _ => Ok(()),
        }
    }

    /// Takes it away.
    pub fn take(&self) -> Option<Ticket> {
        NonZeroU64::new(self.0.swap(0, AcqRel)).map(Ticket)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tickets_lead_to_their_entries() {
        let entries = [0, 1, 159, 511, Ticket::ENTRIES - 1].map(Some);
        for entry in entries.into_iter().chain([None]) {
            assert_eq!(Ticket::new(1, entry).entry(), entry);
            assert_eq!(Ticket::new(u64::MAX, entry).entry(), entry);
            assert_ne!(Ticket::new(1, entry), Ticket::new(2, entry));
            assert_ne!(Ticket::new(1, entry), Ticket::NOBODY);
        }
    }

    #[test]
    fn the_first_ticket_stays() {
        let cell = TicketCell(AtomicU64::new(0));
        assert_eq!(cell.get(), None);
        let [first, second] = [1, 2].map(|claimed| Ticket::new(claimed, None));
        assert_eq!(cell.set(first), Ok(()));
        assert_eq!(cell.set(second), Err(first));
        assert_eq!(cell.get(), Some(first));
        assert_eq!(cell.take(), Some(first));
        assert_eq!((cell.take(), cell.set(second)), (None, Ok(())));
    }
}
