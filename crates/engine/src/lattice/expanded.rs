//! What the lanes keep of a public half for its next operations.
//!
//! To make it is half of an operation or more, and to keep it takes 3 to 66 KB. So a key that serves once, as a TLS server has one of
//! each client, goes without: it is made in the second operation. A process keeps no more than [`MOST`].

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use once_cell::race::OnceBox;

/// The bytes that all keys of a process may keep together: those of six hundred keys of ML-KEM-768, or of a hundred of ML-DSA-65.
const MOST: usize = 4 << 20;

/// The bytes that are kept.
static KEPT: AtomicUsize = AtomicUsize::new(0);

/// A public half with its matrix, as the lanes have it.
pub trait Expanded: Send + Sync + 'static {
    /// Bytes of memory.
    fn size(&self) -> usize;
}

/// The place for it in a key.
pub(super) struct Place<E: Expanded> {
    kept: OnceBox<Kept<E>>,
    was_used: AtomicBool,
}

/// Counted as long as it lives.
struct Kept<E: Expanded>(E);

impl<E: Expanded> Kept<E> {
    /// None if there is too much already.
    fn new(expanded: E) -> Option<Box<Self>> {
        let size = expanded.size();
        let room = |kept: usize| kept.checked_add(size).filter(|sum| *sum <= MOST);
        KEPT.fetch_update(Relaxed, Relaxed, room).ok()?;
        Some(Box::new(Self(expanded)))
    }
}

impl<E: Expanded> Drop for Kept<E> {
    fn drop(&mut self) {
        KEPT.fetch_sub(self.0.size(), Relaxed);
    }
}

impl<E: Expanded> Place<E> {
    /// Empty, or with what there is already.
    pub(super) fn new(expanded: Option<E>) -> Self {
        let kept = expanded.and_then(Kept::new);
        Self {
            kept: kept.map_or_else(OnceBox::new, OnceBox::with_value),
            was_used: AtomicBool::new(false),
        }
    }

    /// What is kept, which the second use makes. None on the first one, and where it cannot be made or kept.
    pub(super) fn get(&self, make: impl FnOnce() -> Option<E>) -> Option<&E> {
        if let Some(kept) = self.kept.get() {
            return Some(&kept.0);
        }
        if !self.was_used.swap(true, Relaxed) || KEPT.load(Relaxed) >= MOST {
            return None;
        }
        let made = self
            .kept
            .get_or_try_init(|| make().and_then(Kept::new).ok_or(()));
        made.ok().map(|kept| &kept.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Sized(usize);

    impl Expanded for Sized {
        fn size(&self) -> usize {
            self.0
        }
    }

    /// One test, as all tests of a program share the count.
    #[test]
    fn the_second_use_makes_it_and_no_more_is_kept_than_is_allowed() {
        let place = Place::new(None);
        assert!(place.get(|| unreachable!("the first use")).is_none());
        assert!(place.get(|| None).is_none());
        assert_eq!(place.get(|| Some(Sized(7))).map(Sized::size), Some(7));
        assert_eq!(
            place.get(|| unreachable!("it is kept")).map(Sized::size),
            Some(7)
        );

        let made = Place::new(Some(Sized(8)));
        assert_eq!(
            made.get(|| unreachable!("it is kept")).map(Sized::size),
            Some(8)
        );

        // Another test's keys may be there, too.
        let large = [(); 2].map(|()| Place::new(Some(Sized(MOST / 2))));
        let is_kept = |place: &Place<Sized>| place.kept.get().is_some();
        assert!(!large.iter().all(is_kept), "15 bytes are kept beside them");
        let too_large = Place::new(Some(Sized(MOST)));
        assert!(!is_kept(&too_large));
        let another = Place::new(None);
        let again = [(); 2].map(|()| another.get(|| Some(Sized(MOST))).is_none());
        assert_eq!(again, [true; 2]);
        drop(large);
        assert!(another.get(|| Some(Sized(MOST / 2))).is_some());
    }
}
