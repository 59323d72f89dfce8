//! What C passes to an operation: where input is, where output goes, who receives parameters.
//!
//! All can be read safely, and passed on to another provider as they came.

use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::slice;

use crate::raw::{Callback, Param};

/// Bytes that C passes. Null stays null for who passes them on.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    data: *const u8,
    length: usize,
    lives: PhantomData<&'a [u8]>,
}

impl<'a> Input<'a> {
    /// # Safety
    /// `data` is null or leads to `length` bytes for `'a`.
    pub(crate) unsafe fn new(data: *const u8, length: usize) -> Self {
        Self {
            data,
            length,
            lives: PhantomData,
        }
    }

    /// Those bytes, for a call of one's own.
    pub fn of(bytes: &'a [u8]) -> Self {
        // SAFETY: a slice is as long as it says.
        unsafe { Self::new(bytes.as_ptr(), bytes.len()) }
    }

    /// The bytes; none where the pointer is null or they are more than there can be.
    pub fn bytes(&self) -> Option<&'a [u8]> {
        let readable = !self.data.is_null() && self.length <= isize::MAX as usize;
        // SAFETY: not null, and as long as was promised to `new`.
        readable.then(|| unsafe { slice::from_raw_parts(self.data, self.length) })
    }

    /// As C passed it.
    pub fn as_ptr(&self) -> *const u8 {
        self.data
    }

    /// As C passed it.
    pub fn length(&self) -> usize {
        self.length
    }
}

/// Where C wants a result, and its length; without a buffer only the length is asked for.
pub struct Output<'a> {
    data: *mut u8,
    length: *mut usize,
    room: usize,
    lives: PhantomData<&'a mut [u8]>,
}

impl<'a> Output<'a> {
    /// Asks for a length alone.
    pub fn query(length: &'a mut usize) -> Self {
        // SAFETY: no buffer, and a length that lives.
        unsafe { Self::new(std::ptr::null_mut(), length, 0) }
    }

    /// # Safety
    /// `data` is null or leads to `room` writable bytes, `length` is null or writable, for `'a`.
    pub(crate) unsafe fn new(data: *mut u8, length: *mut usize, room: usize) -> Self {
        Self {
            data,
            length,
            room,
            lives: PhantomData,
        }
    }

    /// Whether only the length is asked for.
    pub fn is_query(&self) -> bool {
        self.data.is_null()
    }

    /// How many bytes there is room for.
    pub fn room(&self) -> usize {
        self.room
    }

    /// Tells the length.
    pub fn tell(&mut self, length: usize) {
        if !self.length.is_null() {
            // SAFETY: writable, as was promised to `new`.
            unsafe { self.length.write(length) };
        }
    }

    /// Writes a result and its length; false where there is not that much room. What is written may lie where the
    /// caller's input does: nothing of ours refers to it any more.
    pub fn put(&mut self, result: &[u8]) -> bool {
        if self.data.is_null() || result.len() > self.room {
            return false;
        }
        // SAFETY: not null, with that much room; `result` is ours and so lies elsewhere.
        unsafe { std::ptr::copy_nonoverlapping(result.as_ptr(), self.data, result.len()) };
        self.tell(result.len());
        true
    }

    /// As C passed it: where, the length's place, and room.
    pub fn as_raw(&mut self) -> (*mut u8, *mut usize, usize) {
        (self.data, self.length, self.room)
    }
}

/// Who receives parameters (`OSSL_CALLBACK`).
#[derive(Clone, Copy)]
pub struct Receiver {
    callback: Option<Callback>,
    argument: *mut c_void,
}

impl Receiver {
    pub(crate) fn new(callback: Option<Callback>, argument: *mut c_void) -> Self {
        Self { callback, argument }
    }

    /// Calls `give` for each array instead, for as long as `body` runs.
    pub fn with<R>(
        mut give: &mut dyn FnMut(*const Param) -> bool,
        body: impl FnOnce(Self) -> R,
    ) -> R {
        body(Self::new(Some(pass_on), (&raw mut give).cast()))
    }

    /// As C passed it: the function and its argument.
    pub fn as_raw(&self) -> (Option<Callback>, *mut c_void) {
        (self.callback, self.argument)
    }
}

unsafe extern "C" fn pass_on(params: *const Param, give: *mut c_void) -> c_int {
    // SAFETY: what `with` passes, which outlives its body.
    let give = unsafe { &mut *give.cast::<&mut dyn FnMut(*const Param) -> bool>() };
    // A panic ends here, on the inner side of the frames of C.
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| give(params)))
        .is_ok_and(|given| given)
        .into()
}
