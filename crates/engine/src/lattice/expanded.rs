//! What the lanes keep of a public half for its next operations.
//!
//! Expanding a key costs half of an operation or more, and keeping it takes 3 to 64 KiB. So a key's first operation goes without, and the
//! second expands it: a TLS server uses each client's key once. All keys of a module keep [`LIMIT`] bytes at most; those that come
//! later go without. The memory is the system's, not the reserve of the module's allocator.
//!
//! Nothing kept is secret. A bit that flips there stays wrong until the key is freed, as one that flips in a key: both sides of an exchange
//! then have different secrets, and right signatures are refused. A signature that was made with it does not pass the check before it is
//! released, and path `scalar` makes another.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use once_cell::race::OnceBox;

/// The bytes that all keys of a module may keep together: those of six hundred keys of ML-KEM-768, or of a hundred of ML-DSA-65.
const LIMIT: usize = 4 << 20;

/// The bytes that are kept.
static KEPT: AtomicUsize = AtomicUsize::new(0);

/// A key's place for its expanded public half.
pub(super) struct Place<E> {
    kept: OnceBox<Kept<E>>,
    was_used: AtomicBool,
}

struct Kept<E> {
    expanded: E,
    _room: Room,
}

/// Bytes that were taken of what may be kept, given back when dropped.
struct Room(usize);

impl Room {
    /// None if there is not enough.
    fn take(size: usize) -> Option<Self> {
        let more = |kept: usize| kept.checked_add(size).filter(|sum| *sum <= LIMIT);
        KEPT.fetch_update(Relaxed, Relaxed, more).ok()?;
        Some(Self(size))
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        KEPT.fetch_sub(self.0, Relaxed);
    }
}

impl<E> Place<E> {
    pub(super) fn empty() -> Self {
        Self {
            kept: OnceBox::new(),
            was_used: AtomicBool::new(false),
        }
    }

    /// With what there is already, of that size.
    pub(super) fn new(size: usize, expanded: Option<E>) -> Self {
        Self {
            kept: kept(size, || expanded).map_or_else(OnceBox::new, OnceBox::with_value),
            ..Self::empty()
        }
    }

    /// What is kept, which the second use makes. None on the first one, and where it cannot be made or kept.
    pub(super) fn get(&self, size: usize, make: impl FnOnce() -> Option<E>) -> Option<&E> {
        if let Some(kept) = self.kept.get() {
            return Some(&kept.expanded);
        }
        if !self.was_used.swap(true, Relaxed) {
            return None;
        }
        let made = self
            .kept
            .get_or_try_init(|| kept(size, make).ok_or(()))
            .ok()?;
        Some(&made.expanded)
    }
}

/// Made only if there is room for it.
fn kept<E>(size: usize, make: impl FnOnce() -> Option<E>) -> Option<Box<Kept<E>>> {
    let _room = Room::take(size)?;
    let expanded = make()?;
    Some(Box::new(Kept { expanded, _room }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test, as all tests of a program share the count.
    #[test]
    fn the_second_use_makes_it_and_no_more_is_kept_than_is_allowed() {
        let place = Place::empty();
        assert_eq!(place.get(1, || unreachable!("the first use")), None);
        assert_eq!(place.get(1, || None), None);
        assert_eq!(place.get(1, || Some('a')), Some(&'a'));
        assert_eq!(place.get(1, || unreachable!("it is kept")), Some(&'a'));

        let made = Place::new(1, Some('b'));
        assert_eq!(made.get(1, || unreachable!("it is kept")), Some(&'b'));

        // Another test's keys may be there, too.
        let large = [(); 2].map(|()| Place::new(LIMIT / 2, Some('c')));
        let is_kept = |place: &Place<char>| place.kept.get().is_some();
        assert!(!large.iter().all(is_kept), "two bytes are kept beside them");
        assert!(!is_kept(&Place::new(LIMIT, Some('d'))));
        let another = Place::empty();
        for _ in 0..2 {
            assert_eq!(another.get(LIMIT, || unreachable!("no room")), None);
        }
        drop(large);
        assert_eq!(another.get(LIMIT / 2, || Some('e')), Some(&'e'));
    }
}
