//! What libcrypto holds instead of a provider's context: that context, and what is counted with it.

use std::cell::Cell;
use std::ffi::{CStr, c_void};
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use outboard_observation::{Operation, Row, Ticket, UNKNOWN};
use outboard_provider_abi::raw::Param;

use crate::key;
use crate::mark::Mark;
use crate::params::{self, Said};
use crate::slot::Slot;
use crate::spare;

/// A wrapped context. libcrypto uses each on one thread at a time, or copies it on several.
pub(crate) struct Context {
    /// The provider's own.
    pub(crate) inner: *mut c_void,
    pub(crate) slot: &'static Slot,
    /// What the algorithm is used for, as far as it is known.
    mark: Cell<Mark>,
    /// Of the thread that made it.
    lane: u8,
    row: Cell<Option<Row>>,
    /// Whose row that is.
    ticket: Cell<Ticket>,
    /// Bytes and time of what belongs to an operation that has not ended yet.
    bytes: AtomicU64,
    ticks: AtomicU64,
}

impl Context {
    /// Wraps a context that the provider made; null stays null.
    pub(crate) fn wrap(slot: &'static Slot, inner: *mut c_void) -> *mut c_void {
        if inner.is_null() {
            return inner;
        }
        let context = spare::keep(|lane| Self {
            inner,
            slot,
            lane,
            mark: Cell::new(slot.mark),
            row: Cell::new(None),
            ticket: Cell::new(Ticket::NOBODY),
            bytes: AtomicU64::new(0),
            ticks: AtomicU64::new(0),
        });
        context.as_ptr().cast()
    }

    /// Wraps a copy that the provider made of the context in `self`. What was carried goes with the
    /// copy: libcrypto ends a copy where the original may go on (EVP_DigestSignFinal(3)).
    pub(crate) fn wrap_copy(&self, inner: *mut c_void) -> *mut c_void {
        if inner.is_null() {
            return inner;
        }
        let context = spare::keep(|lane| Self {
            inner,
            slot: self.slot,
            lane,
            mark: self.mark.clone(),
            row: self.row.clone(),
            ticket: self.ticket.clone(),
            bytes: AtomicU64::new(self.bytes.swap(0, Relaxed)),
            ticks: AtomicU64::new(self.ticks.swap(0, Relaxed)),
        });
        context.as_ptr().cast()
    }

    /// The context behind libcrypto's pointer.
    ///
    /// # Safety
    /// `pointer` came from [`wrap`](Self::wrap) or [`wrap_copy`](Self::wrap_copy) and was not freed.
    #[inline]
    pub(crate) unsafe fn of<'a>(pointer: *mut c_void) -> &'a Self {
        // SAFETY: by the caller's word.
        unsafe { &*pointer.cast::<Self>() }
    }

    /// Ends it, and gives back the provider's own.
    ///
    /// # Safety
    /// As [`of`](Self::of); the pointer is not used again.
    pub(crate) unsafe fn unwrap(pointer: NonNull<c_void>) -> (&'static Slot, *mut c_void) {
        // SAFETY: by the caller's word.
        let context = unsafe { spare::give_back(pointer.cast::<Self>()) };
        context.flush();
        (context.slot, context.inner)
    }

    /// Says what is done from now on.
    pub(crate) fn set_operation(&self, operation: Operation) {
        self.change(|mark| mark.with_operation(operation));
    }

    /// Says with which key.
    ///
    /// # Safety
    /// `key` is null or a live key of the same provider, of the type that this algorithm wants.
    pub(crate) unsafe fn set_key(&self, key: *mut c_void) {
        let Some(questions) = self.slot.key_questions else {
            return;
        };
        let mut text = [0; 32];
        // SAFETY: by the caller's word; the questions are for the key type's key management.
        let length = unsafe { key::describe(questions, key, &mut text) };
        if length > 0 {
            self.change(|mark| mark.with_key(&text[..length]));
        }
    }

    /// Says with which digest.
    ///
    /// # Safety
    /// `name` is null or terminated.
    pub(crate) unsafe fn set_digest(&self, name: *const std::ffi::c_char) {
        if name.is_null() {
            return;
        }
        // SAFETY: by the caller's word.
        let name = unsafe { CStr::from_ptr(name) }.to_bytes();
        if !name.is_empty() {
            self.change(|mark| mark.with_digest(name));
        }
    }

    /// Looks at parameters that are set: digest and padding.
    ///
    /// # Safety
    /// `params` is null or an ended array, whole for the call.
    pub(crate) unsafe fn notice(&self, params: *const Param) {
        if params.is_null() {
            return;
        }
        // SAFETY: by the caller's word.
        for param in unsafe { params::each(params) } {
            // SAFETY: keys are terminated, and values whole for the call.
            match unsafe { params::said(param) } {
                Some(Said::Digest(text)) => self.change(|mark| mark.with_digest(text)),
                Some(Said::Padding(text)) => self.change(|mark| mark.with_mode(text)),
                None => {}
            }
        }
    }

    /// Says more of what it is used for, and counts in another row if that is something else.
    #[inline]
    fn change(&self, say: impl FnOnce(Mark) -> Mark) {
        let before = self.mark.get();
        let mark = say(before);
        if mark != before {
            self.mark.set(mark);
            self.ticket.set(Ticket::NOBODY);
        }
    }

    /// Keeps bytes and time for the operation that they belong to.
    #[inline]
    pub(crate) fn carry(&self, bytes: u64, mut ticks: u64) {
        if ticks >= self.slot.recorder.suspicious() {
            ticks = self.uninterrupted(bytes, ticks);
        }
        // Nobody else adds; only copying may happen on several threads.
        self.bytes
            .store(self.bytes.load(Relaxed).wrapping_add(bytes), Relaxed);
        self.ticks
            .store(self.ticks.load(Relaxed).saturating_add(ticks), Relaxed);
    }

    /// The time of a part that took long: if it took eight times as long for its bytes as the parts
    /// before it, something else ran meanwhile, and it gets their time.
    #[cold]
    fn uninterrupted(&self, bytes: u64, ticks: u64) -> u64 {
        let (before, took) = (
            u128::from(self.bytes.load(Relaxed)),
            u128::from(self.ticks.load(Relaxed)),
        );
        if before == 0 || bytes == 0 || ticks == UNKNOWN {
            return ticks;
        }
        let usual = u64::try_from(took * u128::from(bytes) / before).unwrap_or(ticks);
        if ticks / 8 > usual { usual } else { ticks }
    }

    /// Counts an operation, with what was carried.
    #[inline]
    pub(crate) fn count(&self, bytes: u64, ticks: u64) {
        let (carried_bytes, carried_ticks) = self.take();
        let (bytes, ticks) = (
            carried_bytes.wrapping_add(bytes),
            carried_ticks.saturating_add(ticks),
        );
        if let Some(row) = self.row() {
            row.add(bytes, ticks);
        }
    }

    /// Counts an operation that failed, or succeeded.
    #[inline]
    pub(crate) fn count_if(&self, succeeded: bool, bytes: u64, ticks: u64) {
        if succeeded {
            self.count(bytes, ticks);
        } else {
            let ticks = self.take().1.saturating_add(ticks);
            if let Some(row) = self.row() {
                row.fail(ticks);
            }
        }
    }

    /// Counts the preparation of a key.
    pub(crate) fn prepare(&self, ticks: u64) {
        self.flush();
        if let Some(row) = self.row() {
            row.prepare(0, ticks);
        }
    }

    /// Counts what was carried for an operation that will not end.
    pub(crate) fn flush(&self) {
        let (bytes, ticks) = self.take();
        if (bytes, ticks) != (0, 0)
            && let Some(row) = self.row()
        {
            row.prepare(bytes, ticks);
        }
    }

    /// What was carried.
    #[inline]
    fn take(&self) -> (u64, u64) {
        let carried = (self.bytes.load(Relaxed), self.ticks.load(Relaxed));
        self.bytes.store(0, Relaxed);
        self.ticks.store(0, Relaxed);
        carried
    }

    #[inline]
    fn row(&self) -> Option<Row> {
        let ticket = self.slot.recorder.ticket();
        if ticket != self.ticket.get() {
            self.look_up(ticket);
        }
        self.row.get()
    }

    #[cold]
    fn look_up(&self, ticket: Ticket) {
        let row = self.slot.row(ticket, self.lane, self.mark.get());
        self.row.set(row);
        self.ticket.set(ticket);
    }
}
