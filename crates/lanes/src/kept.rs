//! Memory for what is kept longer than an operation.
//!
//! It is the system's, whatever allocator the program has: one that must not fail may have a reserve for operations, and what stays is no
//! matter for that. So where there is no memory, nothing is kept.

use crate::vector::Digit;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;
use core::slice;
use std::alloc::{GlobalAlloc, Layout, System};

/// A polynomial.
type Polynomial<const VECTORS: usize> = [Digit; VECTORS];

/// Polynomials, none of them secret: they are not wiped.
pub(crate) struct Kept<const VECTORS: usize> {
    first: NonNull<Polynomial<VECTORS>>,
    length: usize,
}

// SAFETY: it owns them, and has nothing else.
unsafe impl<const VECTORS: usize> Send for Kept<VECTORS> {}
// SAFETY: as above; shared, they are only read.
unsafe impl<const VECTORS: usize> Sync for Kept<VECTORS> {}

impl<const VECTORS: usize> Kept<VECTORS> {
    /// So many, 0 each. None where there is no memory, and of none.
    pub(crate) fn zeros(length: usize) -> Option<Self> {
        let layout = Self::layout(length)?;
        // SAFETY: it has a size.
        let first = unsafe { System.alloc_zeroed(layout) };
        Some(Self {
            first: NonNull::new(first.cast())?,
            length,
        })
    }

    fn layout(length: usize) -> Option<Layout> {
        let layout = Layout::array::<Polynomial<VECTORS>>(length).ok()?;
        (layout.size() > 0).then_some(layout)
    }
}

impl<const VECTORS: usize> Drop for Kept<VECTORS> {
    fn drop(&mut self) {
        if let Some(layout) = Self::layout(self.length) {
            // SAFETY: it came from there, by that layout.
            unsafe { System.dealloc(self.first.as_ptr().cast(), layout) };
        }
    }
}

impl<const VECTORS: usize> Deref for Kept<VECTORS> {
    type Target = [Polynomial<VECTORS>];

    fn deref(&self) -> &Self::Target {
        // SAFETY: so many are there, all bytes of which were set.
        unsafe { slice::from_raw_parts(self.first.as_ptr(), self.length) }
    }
}

impl<const VECTORS: usize> DerefMut for Kept<VECTORS> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        // SAFETY: as above; nobody else has them.
        unsafe { slice::from_raw_parts_mut(self.first.as_ptr(), self.length) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_as_were_asked_for() {
        let mut kept = Kept::<2>::zeros(3).expect("there is memory");
        kept[2][1] = Digit::splat(7);
        let expected = [
            [Digit::ZERO; 2],
            [Digit::ZERO; 2],
            [Digit::ZERO, Digit::splat(7)],
        ];
        assert!(
            kept.iter()
                .flatten()
                .map(|digit| digit.0)
                .eq(expected.iter().flatten().map(|digit| digit.0))
        );
        assert!(kept.as_ptr().is_aligned());
        assert!(Kept::<2>::zeros(0).is_none());
        assert!(Kept::<2>::zeros(usize::MAX / 64).is_none());
        assert!(Kept::<2>::zeros(1 << 50).is_none());
    }
}
