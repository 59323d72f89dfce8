//! Locks that a fork finds free.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

use outboard_engine::fork::{self, Whole};

/// What a lock guards, until this is dropped. A fork of another thread waits for that.
pub(crate) struct Held<'a, T> {
    // In this order they are dropped.
    value: MutexGuard<'a, T>,
    _whole: Whole,
}

/// Waits for a lock. Nothing that may wait for anything else runs under it. A panic under a lock is no reason to refuse
/// everybody else.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> Held<'_, T> {
    let _whole = fork::whole();
    let value = mutex.lock().unwrap_or_else(PoisonError::into_inner);
    Held { value, _whole }
}

impl<T> Deref for Held<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Held<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}
