//! Memory for contexts, which come and go by the dozen in a handshake: each thread keeps a little.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::NonNull;

use crate::context::Context;

/// Of what every piece is: a context that is counted, the largest that there is.
const LAYOUT: Layout = Layout::new::<Context>();

/// How many a thread keeps.
const KEPT: usize = 16;

/// Pieces that are free, and which thread this is.
struct Spares {
    lane: Cell<Option<u8>>,
    count: Cell<usize>,
    pieces: [Cell<NonNull<u8>>; KEPT],
}

thread_local! {
    static SPARES: Spares = const {
        Spares {
            lane: Cell::new(None),
            count: Cell::new(0),
            pieces: [const { Cell::new(NonNull::dangling()) }; KEPT],
        }
    };
}

/// Puts a value where it stays until [`give_back`]. It is made with this thread's lane, which lies beside what has to be
/// looked at here.
#[inline]
pub(crate) fn keep<T>(value: impl FnOnce(u8) -> T) -> NonNull<T> {
    const { assert!(size_of::<T>() <= LAYOUT.size() && align_of::<T>() <= LAYOUT.align()) };
    let (spare, lane) = SPARES
        .try_with(|spares| (spares.take(), spares.lane()))
        .unwrap_or((None, 0));
    let piece = spare.unwrap_or_else(|| {
        // SAFETY: the layout is not of size zero.
        let piece = unsafe { alloc(LAYOUT) };
        NonNull::new(piece).unwrap_or_else(|| handle_alloc_error(LAYOUT))
    });
    let piece = piece.cast::<T>();
    // SAFETY: memory of ours alone, which is large enough.
    unsafe { piece.write(value(lane)) };
    piece
}

/// Gives its place back, and the value.
///
/// # Safety
/// It came from [`keep`], and is not used again.
#[inline]
pub(crate) unsafe fn give_back<T>(kept: NonNull<T>) -> T {
    // SAFETY: by the caller's word.
    let value = unsafe { kept.read() };
    let piece = kept.cast::<u8>();
    if !SPARES.try_with(|spares| spares.put(piece)).unwrap_or(false) {
        // SAFETY: made with that layout.
        unsafe { dealloc(piece.as_ptr(), LAYOUT) };
    }
    value
}

impl Spares {
    #[inline]
    fn lane(&self) -> u8 {
        self.lane.get().unwrap_or_else(|| {
            let lane = outboard_observation::lane();
            self.lane.set(Some(lane));
            lane
        })
    }

    #[inline]
    fn take(&self) -> Option<NonNull<u8>> {
        let count = self.count.get().checked_sub(1)?;
        self.count.set(count);
        Some(self.pieces[count].get())
    }

    #[inline]
    fn put(&self, piece: NonNull<u8>) -> bool {
        let count = self.count.get();
        let Some(place) = self.pieces.get(count) else {
            return false;
        };
        place.set(piece);
        self.count.set(count + 1);
        true
    }
}

impl Drop for Spares {
    fn drop(&mut self) {
        while let Some(piece) = self.take() {
            // SAFETY: made with that layout, and free.
            unsafe { dealloc(piece.as_ptr(), LAYOUT) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_apart_and_pieces_come_again() {
        let first: Vec<NonNull<usize>> = (0..2 * KEPT).map(|number| keep(|_| number)).collect();
        for (number, kept) in first.iter().enumerate() {
            // SAFETY: it is kept.
            assert_eq!(unsafe { *kept.as_ref() }, number);
        }
        for (number, &kept) in first.iter().enumerate() {
            // SAFETY: never used again.
            assert_eq!(unsafe { give_back(kept) }, number);
        }
        let again = keep(|_| 7_usize);
        assert!(first.contains(&again));
        // SAFETY: never used again.
        assert_eq!(unsafe { give_back(again) }, 7);
    }
}
