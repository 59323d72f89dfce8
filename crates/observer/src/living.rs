//! Which stand-in a provider's context belongs to: libcrypto knows each by the other provider's context.
//!
//! No lock, which a fork in another thread would leave locked in the child. A place is never freed, and
//! serves again.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicUsize};

/// Values, each known by a context of libcrypto's.
pub(crate) struct Living<T: 'static>(AtomicPtr<Place<T>>);

struct Place<T: 'static> {
    /// Of what context, as [`key`] says it; or one of the following.
    key: AtomicUsize,
    value: AtomicPtr<T>,
    next: Option<&'static Self>,
}

const FREE: usize = 0;
const BEING_FILLED: usize = 1;

/// A module's context may be anything, null too.
fn key(context: *mut c_void) -> usize {
    (context as usize).wrapping_add(2)
}

impl<T> Living<T> {
    pub(crate) const fn none() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    pub(crate) fn enter(&self, context: *mut c_void, value: T) {
        let value = Box::into_raw(Box::new(value));
        let is_ours = |place: &&Place<T>| {
            let taken = place
                .key
                .compare_exchange(FREE, BEING_FILLED, Acquire, Relaxed);
            taken.is_ok()
        };
        if let Some(place) = self.places().find(is_ours) {
            place.value.store(value, Relaxed);
            place.key.store(key(context), Release);
            return;
        }
        let place = Box::leak(Box::new(Place {
            key: AtomicUsize::new(key(context)),
            value: AtomicPtr::new(value),
            next: self.first(),
        }));
        loop {
            let next = place
                .next
                .map_or(ptr::null_mut(), |next| ptr::from_ref(next).cast_mut());
            if self
                .0
                .compare_exchange(next, place, AcqRel, Relaxed)
                .is_ok()
            {
                return;
            }
            place.next = self.first();
        }
    }

    /// The value of a context.
    ///
    /// # Safety
    /// It is not used after [`leave`](Self::leave): libcrypto calls no function of a provider after its teardown.
    pub(crate) unsafe fn of<'a>(&self, context: *mut c_void) -> Option<&'a T> {
        let place = self.place(context)?;
        // SAFETY: from `Box::into_raw`, and freed by `leave` alone.
        unsafe { place.value.load(Relaxed).as_ref() }
    }

    pub(crate) fn leave(&self, context: *mut c_void) -> Option<Box<T>> {
        let place = self.place(context)?;
        let value = place.value.swap(ptr::null_mut(), Relaxed);
        place.key.store(FREE, Release);
        // SAFETY: from `Box::into_raw`, and given away once.
        (!value.is_null()).then(|| unsafe { Box::from_raw(value) })
    }

    fn place(&self, context: *mut c_void) -> Option<&'static Place<T>> {
        self.places()
            .find(|place| place.key.load(Acquire) == key(context))
    }

    fn places(&self) -> impl Iterator<Item = &'static Place<T>> + use<T> {
        std::iter::successors(self.first(), |place| place.next)
    }

    fn first(&self) -> Option<&'static Place<T>> {
        // SAFETY: null, or leaked by `enter`.
        unsafe { self.0.load(Acquire).as_ref() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_and_go_on_many_threads() {
        static LIVING: Living<usize> = Living::none();
        std::thread::scope(|scope| {
            for thread in 0..8_usize {
                scope.spawn(move || {
                    for round in 0..200 {
                        let number = thread * 1000 + round;
                        let context = (16 * number) as *mut c_void;
                        LIVING.enter(context, number);
                        // SAFETY: it has not left.
                        assert_eq!(unsafe { LIVING.of(context) }, Some(&number));
                        assert_eq!(LIVING.leave(context).as_deref(), Some(&number));
                        // SAFETY: there is none.
                        assert!(unsafe { LIVING.of(context) }.is_none());
                    }
                });
            }
        });
        assert!(LIVING.places().count() <= 8, "places serve again");
    }
}
