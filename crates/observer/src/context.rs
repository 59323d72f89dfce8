//! What libcrypto holds instead of a provider's context: that context, and what is counted with it.

use std::cell::Cell;
use std::ffi::{CStr, c_void};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use outboard_observation::{Clock, Operation, Row, Ticket};
use outboard_provider_abi::raw::Param;

use crate::key;
use crate::mark::Mark;
use crate::params::{self, Said};
use crate::slot::Slot;
use crate::within::Pausing;

/// A wrapped context. libcrypto uses each on one thread at a time, or copies it on several.
#[repr(C)]
pub(crate) struct Context {
    head: Head,
    /// Whether it uses other algorithms that come through us too.
    uses_others: Option<Pausing>,
    /// What the algorithm is used for, as far as it is known.
    mark: Cell<Mark>,
    row: Cell<Option<Row>>,
    /// Whose row that is.
    ticket: Cell<Ticket>,
    /// Bytes and time of what belongs to an operation that has not ended yet.
    bytes: AtomicU64,
    ticks: AtomicU64,
}

/// What every wrapped context begins with.
#[derive(Clone, Copy)]
#[repr(C)]
struct Head {
    /// The provider's own.
    inner: *mut c_void,
    slot: &'static Slot,
    /// Whether a whole `Context` begins with this. If not, an algorithm uses it within itself.
    is_counted: bool,
}

/// What libcrypto's pointer to a context stands for.
pub(crate) enum Held<'a> {
    Counted(&'a Context),
    /// The provider's own context, which an algorithm uses within itself: nothing is counted.
    Within(&'static Slot, *mut c_void),
}

impl Held<'_> {
    /// What stands behind libcrypto's pointer.
    ///
    /// # Safety
    /// `pointer` came from [`hold`](Self::hold) or [`hold_copy`](Self::hold_copy) and was not freed.
    #[inline]
    pub(crate) unsafe fn of<'a>(pointer: *mut c_void) -> Held<'a> {
        // SAFETY: by the caller's word; everything that is held begins with a head.
        let head = unsafe { &*pointer.cast::<Head>() };
        match head.is_counted {
            // SAFETY: it is a whole context.
            true => Held::Counted(unsafe { &*pointer.cast::<Context>() }),
            false => Held::Within(head.slot, head.inner),
        }
    }

    /// Holds a context that the provider made; null stays null. `uses_others` is what its slot says, or
    /// none where it finds what it uses elsewhere.
    #[inline]
    pub(crate) fn hold(
        slot: &'static Slot,
        own: *mut c_void,
        uses_others: Option<Pausing>,
    ) -> *mut c_void {
        if own.is_null() {
            own
        } else if slot.is_within_another() {
            hold_uncounted(slot, own)
        } else {
            Context::wrap(slot, own, uses_others)
        }
    }

    /// Holds a copy that the provider made of the context in `self`. What was carried goes with the
    /// copy: libcrypto ends a copy where the original may go on (EVP_DigestSignFinal(3)).
    #[inline]
    pub(crate) fn hold_copy(&self, own: *mut c_void) -> *mut c_void {
        match self {
            _ if own.is_null() => own,
            Self::Counted(context) => context.wrap_copy(own),
            Self::Within(slot, _) => hold_uncounted(slot, own),
        }
    }

    #[inline]
    pub(crate) fn slot(&self) -> &'static Slot {
        match self {
            Self::Counted(context) => context.slot(),
            Self::Within(slot, _) => slot,
        }
    }

    /// As [`Slot::within`].
    #[inline]
    pub(crate) fn within<T>(&self, call: impl FnOnce() -> T) -> T {
        match self {
            Self::Counted(context) => context.within(call),
            Self::Within(slot, _) => slot.within(call),
        }
    }

    /// The provider's own context.
    #[inline]
    pub(crate) fn own(&self) -> *mut c_void {
        match self {
            Self::Counted(context) => context.inner(),
            Self::Within(_, own) => *own,
        }
    }

    /// Counts what was carried for an operation that will not end.
    #[inline]
    pub(crate) fn flush(&self) {
        if let Self::Counted(context) = self {
            context.flush();
        }
    }

    /// Ends what is behind the pointer, but for the provider's own, which is given back.
    ///
    /// # Safety
    /// As [`of`](Self::of); the pointer is not used again.
    #[inline]
    pub(crate) unsafe fn end(pointer: *mut c_void) -> (&'static Slot, *mut c_void) {
        // SAFETY: by the caller's word.
        match unsafe { Held::of(pointer) } {
            Held::Within(slot, own) => {
                // SAFETY: it came from `hold_uncounted`.
                drop(unsafe { Box::from_raw(pointer.cast::<Head>()) });
                (slot, own)
            }
            Held::Counted(context) => {
                context.flush();
                let ended = (context.slot(), context.inner());
                // SAFETY: it came from `Context::wrap` or `Context::wrap_copy`.
                drop(unsafe { Box::from_raw(pointer.cast::<Context>()) });
                ended
            }
        }
    }
}

fn hold_uncounted(slot: &'static Slot, inner: *mut c_void) -> *mut c_void {
    let is_counted = false;
    Box::into_raw(Box::new(Head {
        inner,
        slot,
        is_counted,
    }))
    .cast()
}

impl Context {
    #[inline]
    pub(crate) fn slot(&self) -> &'static Slot {
        self.head.slot
    }

    /// The provider's own.
    #[inline]
    pub(crate) fn inner(&self) -> *mut c_void {
        self.head.inner
    }

    /// Wraps a context that the provider made.
    #[inline(never)]
    fn wrap(slot: &'static Slot, inner: *mut c_void, uses_others: Option<Pausing>) -> *mut c_void {
        Box::into_raw(Box::new(Self {
            head: Head {
                inner,
                slot,
                is_counted: true,
            },
            uses_others,
            mark: Cell::new(slot.mark),
            row: Cell::new(None),
            ticket: Cell::new(Ticket::NONE),
            bytes: AtomicU64::new(0),
            ticks: AtomicU64::new(0),
        }))
        .cast()
    }

    /// Wraps a copy that the provider made of the context in `self`.
    #[inline(never)]
    fn wrap_copy(&self, inner: *mut c_void) -> *mut c_void {
        Box::into_raw(Box::new(Self {
            head: Head { inner, ..self.head },
            uses_others: self.uses_others,
            mark: self.mark.clone(),
            row: self.row.clone(),
            ticket: self.ticket.clone(),
            bytes: AtomicU64::new(self.bytes.swap(0, Relaxed)),
            ticks: AtomicU64::new(self.ticks.swap(0, Relaxed)),
        }))
        .cast()
    }

    /// As [`Slot::within`].
    #[inline]
    pub(crate) fn within<T>(&self, call: impl FnOnce() -> T) -> T {
        self.slot().within_if(self.uses_others, call)
    }

    /// As [`Slot::alone`].
    #[inline]
    pub(crate) fn alone<T>(&self, call: impl FnOnce() -> T) -> T {
        call()
    }

    /// The clock that times are measured by.
    #[inline]
    pub(crate) fn clock(&self) -> Clock {
        self.slot().recorder.clock()
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
        let Some(get) = self.slot().key_params else {
            return;
        };
        let mut text = [0; 32];
        // SAFETY: by the caller's word; `get` is of the key type's key management.
        let length = unsafe { key::describe(get, key, &mut text) };
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
        const DIGEST: &CStr = c"digest";
        const PADDING: &CStr = c"pad-mode";
        // SAFETY: by the caller's word.
        unsafe {
            params::look(params, &[DIGEST, PADDING], |key, said| match said {
                Said::Text(text) if key == DIGEST => {
                    self.change(|mark| mark.with_digest(text));
                }
                Said::Text(text) => self.change(|mark| mark.with_mode(text)),
                // RSA_PKCS1_PADDING and so on of openssl/rsa.h.
                Said::Number(number) if key == PADDING => {
                    let mode: &[u8] = match number {
                        1 => b"pkcs1",
                        3 => b"none",
                        4 => b"oaep",
                        5 => b"x931",
                        6 => b"pss",
                        _ => b"",
                    };
                    self.change(|mark| mark.with_mode(mode));
                }
                Said::Number(_) => {}
            });
        }
    }

    /// Says more of what it is used for, and counts in another row if that is something else.
    #[inline]
    fn change(&self, say: impl FnOnce(Mark) -> Mark) {
        let before = self.mark.get();
        let mark = say(before);
        if mark != before {
            self.mark.set(mark);
            self.ticket.set(Ticket::NONE);
        }
    }

    /// Keeps bytes and time for the operation that they belong to.
    #[inline]
    pub(crate) fn carry(&self, bytes: u64, mut ticks: u64) {
        if ticks >= self.slot().recorder.suspicious() {
            ticks = self.uninterrupted(bytes, ticks);
        }
        // Nobody else adds; only copying may happen on several threads.
        self.bytes
            .store(self.bytes.load(Relaxed).wrapping_add(bytes), Relaxed);
        self.ticks
            .store(self.ticks.load(Relaxed).wrapping_add(ticks), Relaxed);
    }

    /// The time of a part that took long: if it took eight times as long for its bytes as the parts
    /// before it, something else ran meanwhile, and it gets their time.
    #[cold]
    fn uninterrupted(&self, bytes: u64, ticks: u64) -> u64 {
        let (before, took) = (
            u128::from(self.bytes.load(Relaxed)),
            u128::from(self.ticks.load(Relaxed)),
        );
        if before == 0 {
            return ticks;
        }
        let usual = u64::try_from(took * u128::from(bytes) / before).unwrap_or(ticks);
        if ticks / 8 > usual { usual } else { ticks }
    }

    /// Counts an operation, with what was carried.
    #[inline]
    pub(crate) fn count(&self, bytes: u64, ticks: u64) {
        let (carried_bytes, carried_ticks) = self.take();
        let (bytes, ticks) = (carried_bytes + bytes, carried_ticks + ticks);
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
            let ticks = self.take().1 + ticks;
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
        let ticket = self.slot().recorder.ticket();
        if ticket != self.ticket.get() {
            self.look_up(ticket);
        }
        self.row.get()
    }

    fn look_up(&self, ticket: Ticket) {
        let row = self.slot().row(ticket, self.mark.get());
        self.row.set(row);
        self.ticket.set(ticket);
    }
}
