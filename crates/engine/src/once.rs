//! A value that is made at its first use, without a lock.
//!
//! `OnceLock` would do but for `fork`: a child forked while another thread makes the value would wait
//! for that thread, which it does not have. Here two threads may make it at once; one is kept.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Holds nothing, then one value for its life.
pub struct Once<T>(AtomicPtr<T>);

impl<T> Once<T> {
    /// An empty one.
    pub const fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// The value, if it was made.
    pub fn get(&self) -> Option<&T> {
        // SAFETY: null, or from `Box::into_raw` below and freed only with `self`.
        unsafe { self.0.load(Ordering::Acquire).as_ref() }
    }

    /// The value, made now if it was not.
    pub fn get_or_make(&self, make: impl FnOnce() -> T) -> &T {
        if let Some(value) = self.get() {
            return value;
        }
        let ours = Box::into_raw(Box::new(make()));
        let exchange =
            self.0
                .compare_exchange(ptr::null_mut(), ours, Ordering::AcqRel, Ordering::Acquire);
        match exchange {
            // SAFETY: from `Box::into_raw`, freed only with `self`.
            Ok(_) => unsafe { &*ours },
            Err(theirs) => {
                // SAFETY: ours was shared with nobody.
                drop(unsafe { Box::from_raw(ours) });
                // SAFETY: not null, or the exchange had succeeded; freed only with `self`.
                unsafe { &*theirs }
            }
        }
    }
}

impl<T> Default for Once<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> From<T> for Once<T> {
    fn from(value: T) -> Self {
        Self(AtomicPtr::new(Box::into_raw(Box::new(value))))
    }
}

impl<T> Drop for Once<T> {
    fn drop(&mut self) {
        let value = *self.0.get_mut();
        if !value.is_null() {
            // SAFETY: from `Box::into_raw`, and nobody uses it any more.
            drop(unsafe { Box::from_raw(value) });
        }
    }
}

// SAFETY: it owns a `T`, and any thread may drop it.
unsafe impl<T: Send> Send for Once<T> {}
// SAFETY: it hands out `&T` to any thread, and takes a `T` from any.
unsafe impl<T: Send + Sync> Sync for Once<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_threads_see_one_value() {
        let once = Once::new();
        let values: Vec<usize> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|number| {
                    let once = &once;
                    scope.spawn(move || *once.get_or_make(|| Box::new(number)).as_ref())
                })
                .collect();
            let values = threads.into_iter().map(|thread| thread.join());
            values
                .map(|value| value.expect("it does not panic"))
                .collect()
        });
        assert!(values.iter().all(|value| *value == values[0]));
        assert_eq!(once.get().map(|value| **value), Some(values[0]));
    }
}
