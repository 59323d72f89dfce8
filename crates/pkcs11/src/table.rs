//! Tables of what has a handle, in parts, so that threads seldom meet, and a fork finds none half changed.
//!
//! A lock is held to look something up or to put it there, never while anything is computed: nothing that may wait runs
//! under it, and what is taken out is dropped after it.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::lock::{Held, lock};

const PARTS: usize = 64;

type Part<T> = BTreeMap<u64, T>;

/// Values by handle. A handle is never given twice in a process's life.
pub(crate) struct Table<T> {
    parts: [Mutex<Part<T>>; PARTS],
    last: AtomicU64,
}

impl<T> Table<T> {
    pub(crate) const fn new() -> Self {
        Self::above(0)
    }

    /// One whose handles are greater than that.
    pub(crate) const fn above(handle: u64) -> Self {
        Self {
            parts: [const { Mutex::new(BTreeMap::new()) }; PARTS],
            last: AtomicU64::new(handle),
        }
    }

    /// Puts a value there, and answers its handle, which is not 0.
    pub(crate) fn insert(&self, value: T) -> u64 {
        let handle = self.last.fetch_add(1, Relaxed) + 1;
        self.part(handle).insert(handle, value);
        handle
    }

    /// What `look` answers of a handle's value.
    pub(crate) fn with<R>(&self, handle: u64, look: impl FnOnce(&mut T) -> R) -> Option<R> {
        self.part(handle).get_mut(&handle).map(look)
    }

    /// Takes a value out.
    pub(crate) fn remove(&self, handle: u64) -> Option<T> {
        self.part(handle).remove(&handle)
    }

    /// Takes out all values that are so.
    pub(crate) fn remove_all(&self, mut is: impl FnMut(&T) -> bool) -> Vec<T> {
        let mut removed = Vec::new();
        for part in &self.parts {
            let mut part = lock(part);
            let handles: Vec<u64> = part
                .iter()
                .filter_map(|(&handle, value)| is(value).then_some(handle))
                .collect();
            removed.extend(handles.iter().filter_map(|handle| part.remove(handle)));
        }
        removed
    }

    /// The handles of all values that are so, the oldest first.
    pub(crate) fn find(&self, mut is: impl FnMut(&T) -> bool) -> Vec<u64> {
        let mut found = Vec::new();
        for part in &self.parts {
            let part = lock(part);
            let is = |(&handle, value)| is(value).then_some(handle);
            found.extend(part.iter().filter_map(is));
        }
        found.sort_unstable();
        found
    }

    /// Does something with each value.
    pub(crate) fn each(&self, mut act: impl FnMut(&mut T)) {
        for part in &self.parts {
            lock(part).values_mut().for_each(&mut act);
        }
    }

    /// How many values are so.
    pub(crate) fn count(&self, is: impl Fn(&T) -> bool) -> usize {
        let of_part = |part: &Mutex<Part<T>>| lock(part).values().filter(|value| is(value)).count();
        self.parts.iter().map(of_part).sum()
    }

    fn part(&self, handle: u64) -> Held<'_, Part<T>> {
        lock(&self.parts[handle as usize % PARTS])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_found_until_it_is_taken() {
        let table = Table::new();
        let handles: Vec<u64> = (0..1000).map(|value| table.insert(value)).collect();
        assert_eq!(table.with(handles[7], |value| *value), Some(7));
        assert_eq!(table.find(|value| *value < 3), handles[..3]);
        assert_eq!(table.remove(handles[7]), Some(7));
        assert_eq!(table.with(handles[7], |_| ()), None);
        assert_eq!(table.remove_all(|value| *value < 10).len(), 9);
        assert_eq!(table.count(|_| true), 990);
        assert!(table.insert(0) > handles[999]);
        assert_eq!(table.with(0, |_| ()), None);
    }
}
