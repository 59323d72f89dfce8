//! A value that is replaced while others read it, without a lock.
//!
//! `RwLock` would do but for `fork`: a child forked while another thread holds the lock would wait for
//! that thread, which it does not have.

use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering::SeqCst};

/// A shared value, and those it replaced for as long as somebody may be about to share them.
pub(crate) struct Replaceable<T> {
    /// From `Arc::into_raw`.
    current: AtomicPtr<T>,
    /// Threads between reading `current` and sharing what it pointed to. In a forked child those that
    /// it does not have stay counted.
    readers: AtomicU32,
    replaced: AtomicPtr<Replaced<T>>,
    owns: PhantomData<Arc<T>>,
}

/// A list of values.
struct Replaced<T> {
    _value: Arc<T>,
    next: *mut Replaced<T>,
}

impl<T> Replaceable<T> {
    pub(crate) fn new(value: T) -> Self {
        Self {
            current: AtomicPtr::new(Arc::into_raw(Arc::new(value)).cast_mut()),
            readers: AtomicU32::new(0),
            replaced: AtomicPtr::new(ptr::null_mut()),
            owns: PhantomData,
        }
    }

    /// The value as it is now.
    pub(crate) fn share(&self) -> Arc<T> {
        self.readers.fetch_add(1, SeqCst);
        let value = self.current.load(SeqCst);
        // SAFETY: from `Arc::into_raw`. Had it been replaced and freed already, whoever did so would have
        // replaced it, and then seen no reader, before we were counted: and we would not have found it.
        let value = unsafe {
            Arc::increment_strong_count(value);
            Arc::from_raw(value)
        };
        self.readers.fetch_sub(1, SeqCst);
        value
    }

    /// Puts another value in its place.
    pub(crate) fn replace(&self, value: T) {
        let value = Arc::into_raw(Arc::new(value)).cast_mut();
        let before = self.current.swap(value, SeqCst);
        // All that is in the list was replaced before we look for readers: it is taken first.
        let last = Box::into_raw(Box::new(Replaced {
            // SAFETY: from `Arc::into_raw`, and taken out once.
            _value: unsafe { Arc::from_raw(before) },
            next: ptr::null_mut(),
        }));
        // SAFETY: ours alone.
        unsafe { (*last).next = self.replaced.swap(ptr::null_mut(), SeqCst) };
        if self.readers.load(SeqCst) == 0 {
            // SAFETY: ours alone.
            unsafe { free(last) };
        } else {
            // SAFETY: as above.
            unsafe { self.put_back(last) };
        }
    }

    /// Keeps a list for the next call of `replace`, or the end.
    ///
    /// # Safety
    /// `list` is not null, from `Box::into_raw`, and the caller's alone.
    #[cold]
    unsafe fn put_back(&self, list: *mut Replaced<T>) {
        let mut last = list;
        // SAFETY: by the caller's word, until it is in the list.
        unsafe {
            while !(*last).next.is_null() {
                last = (*last).next;
            }
            let mut others = self.replaced.load(SeqCst);
            loop {
                (*last).next = others;
                match self.replaced.compare_exchange(others, list, SeqCst, SeqCst) {
                    Ok(_) => return,
                    Err(now) => others = now,
                }
            }
        }
    }
}

/// # Safety
/// `list` is null or from `Box::into_raw`, and the caller's alone.
unsafe fn free<T>(mut list: *mut Replaced<T>) {
    while !list.is_null() {
        // SAFETY: by the caller's word.
        list = unsafe { Box::from_raw(list) }.next;
    }
}

impl<T> Drop for Replaceable<T> {
    fn drop(&mut self) {
        // SAFETY: nobody uses it any more.
        unsafe {
            drop(Arc::from_raw(*self.current.get_mut()));
            free(*self.replaced.get_mut());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::thread;

    use super::*;

    /// Says when it is dropped.
    struct Told<'a>(u32, &'a AtomicU32);

    impl Drop for Told<'_> {
        fn drop(&mut self) {
            self.1.fetch_add(1, SeqCst);
        }
    }

    #[test]
    fn readers_see_whole_values_and_each_is_dropped_once() {
        const WRITERS: u32 = 2;
        const EACH: u32 = 20_000;
        let dropped = AtomicU32::new(0);
        let value = Replaceable::new(Told(0, &dropped));
        let ended = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !ended.load(SeqCst) {
                        assert!(value.share().0 <= EACH);
                    }
                });
            }
            let writers: Vec<_> = (0..WRITERS)
                .map(|_| {
                    let write = || (1..=EACH).for_each(|n| value.replace(Told(n, &dropped)));
                    scope.spawn(write)
                })
                .collect();
            let all = writers.into_iter().all(|writer| writer.join().is_ok());
            ended.store(true, SeqCst);
            assert!(all);
        });
        value.replace(Told(EACH, &dropped));
        assert_eq!(dropped.load(SeqCst), WRITERS * EACH + 1, "nothing is kept");
        let last = value.share();
        drop(value);
        assert_eq!(dropped.load(SeqCst), WRITERS * EACH + 1);
        drop(last);
        assert_eq!(dropped.load(SeqCst), WRITERS * EACH + 2);
    }

    /// As in a child that was forked while one of its parent's threads read.
    #[test]
    fn a_reader_that_never_ends_holds_nobody_up() {
        let dropped = AtomicU32::new(0);
        let value = Replaceable::new(Told(0, &dropped));
        value.readers.store(1, SeqCst);
        for number in 1..=3 {
            value.replace(Told(number, &dropped));
            assert_eq!(value.share().0, number);
        }
        assert_eq!(dropped.load(SeqCst), 0, "the reader may share any of them");
        drop(value);
        assert_eq!(dropped.load(SeqCst), 4);
    }
}
