//! The rows that a process used last.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use outboard_shared_memory::Plain;

/// So many words are a line of the cache, and the places of one kind of work.
const PLACES: usize = 8;

/// With the ticket's line a page: a forked child finds it empty, and has no more than that to find.
const LINES: usize = 63;

/// Rows by kind of work: in each word a bit that says that it is taken, 47 bits of the kind and 16 of the row's index.
#[repr(C, align(64))]
pub(crate) struct Known([[AtomicU64; PLACES]; LINES]);

// SAFETY: `repr(C)`, and every field is an `AtomicU64`.
unsafe impl Plain for Known {}

impl Known {
    /// The row of a kind of work, if it was [kept](Self::keep) and nothing else took its place.
    #[inline]
    pub(crate) fn row(&self, kind: u64) -> Option<u16> {
        let wanted = word(kind, 0);
        let words = self.line(kind).iter().map(|place| place.load(Relaxed));
        let found = words.into_iter().find(|word| word & !0xffff == wanted)?;
        Some(found as u16)
    }

    /// Keeps the row of a kind of work.
    pub(crate) fn keep(&self, kind: u64, row: u16) {
        let line = self.line(kind);
        let free = line.iter().find(|place| place.load(Relaxed) == 0);
        let place = free.unwrap_or(&line[usize::from(row) % PLACES]);
        place.store(word(kind, row), Relaxed);
    }

    #[inline]
    fn line(&self, kind: u64) -> &[AtomicU64; PLACES] {
        let mixed = kind.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        &self.0[mixed as usize % LINES]
    }

    #[cfg(test)]
    fn none() -> Self {
        Self(std::array::from_fn(|_| {
            std::array::from_fn(|_| AtomicU64::new(0))
        }))
    }
}

#[inline]
fn word(kind: u64, row: u16) -> u64 {
    debug_assert!(kind < 1 << 47);
    1 << 63 | kind << 16 | u64::from(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kinds of work and rows that belong together.
    fn pairs(number: u16) -> impl Iterator<Item = (u64, u16)> {
        (0..number).map(|row| {
            (
                u64::from(row).wrapping_mul(0x2c9_277b_5a45) % (1 << 47),
                row,
            )
        })
    }

    #[test]
    fn what_was_kept_is_found() {
        let known = Known::none();
        for (kind, row) in pairs(100) {
            assert_eq!(known.row(kind), None);
            known.keep(kind, row);
        }
        assert!(pairs(100).all(|(kind, row)| known.row(kind) == Some(row)));
    }

    #[test]
    fn of_too_many_some_are_found_and_none_wrong() {
        let known = Known::none();
        for (kind, row) in pairs(5000) {
            known.keep(kind, row);
            assert_eq!(known.row(kind), Some(row));
        }
        let found = pairs(5000).filter_map(|(kind, row)| Some((row, known.row(kind)?)));
        let found: Vec<_> = found.collect();
        assert!(found.iter().all(|(row, found)| row == found));
        assert!(found.len() > LINES * PLACES / 2 && found.len() <= LINES * PLACES);
    }
}
