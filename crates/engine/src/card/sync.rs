//! What the queue is built from. Its model (`tests/card_model.rs`) puts loom's in their place, which
//! tries every order in which threads can run.

use std::cell;

pub(super) use std::sync::atomic::AtomicU32;
pub(super) use std::sync::{Arc, Condvar, Mutex, MutexGuard};

/// A cell that its users keep from being read and written at once; loom checks that they do.
pub(super) struct UnsafeCell<T>(cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    pub(super) const fn new(value: T) -> Self {
        Self(cell::UnsafeCell::new(value))
    }

    pub(super) fn with_mut<R>(&self, access: impl FnOnce(*mut T) -> R) -> R {
        access(self.0.get())
    }
}
