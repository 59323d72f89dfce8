//! What C passes: pointers with lengths, made into what Rust may touch.

use std::slice;

use cryptoki_sys::*;
use zeroize::Zeroize;

use crate::error::Result;

/// More bytes than a process has addresses for: a program that says so has lost count.
const MOST: CK_ULONG = 1 << 56;

/// The bytes that a pointer and a length stand for.
///
/// # Safety
/// There are as many bytes, which nobody changes for as long as `'a`, or none.
pub(super) unsafe fn bytes<'a>(from: *const CK_BYTE, length: CK_ULONG) -> Result<&'a [u8]> {
    if length == 0 {
        return Ok(&[]);
    }
    if from.is_null() || length > MOST {
        return Err(CKR_ARGUMENTS_BAD.into());
    }
    // SAFETY: by the caller's word.
    Ok(unsafe { slice::from_raw_parts(from, length as usize) })
}

/// Bytes that the program wants filled.
///
/// # Safety
/// As [`bytes`], and nobody reads them.
pub(super) unsafe fn room<'a>(to: *mut CK_BYTE, length: CK_ULONG) -> Result<&'a mut [u8]> {
    if length == 0 {
        return Ok(&mut []);
    }
    if to.is_null() || length > MOST {
        return Err(CKR_ARGUMENTS_BAD.into());
    }
    // SAFETY: by the caller's word.
    Ok(unsafe { slice::from_raw_parts_mut(to, length as usize) })
}

/// A place for one value.
pub(super) struct Place<T>(*mut T);

impl<T> Place<T> {
    /// The place that a pointer leads to.
    ///
    /// # Safety
    /// It is null or leads to a place for a `T`, for as long as this lives.
    pub(super) unsafe fn new(place: *mut T) -> Result<Self> {
        match place.is_null() {
            true => Err(CKR_ARGUMENTS_BAD.into()),
            false => Ok(Self(place)),
        }
    }

    pub(super) fn put(self, value: T) {
        // SAFETY: a place, by the word of who made this.
        unsafe { self.0.write(value) }
    }
}

/// Where a result goes: a buffer and its length, or the question how long one has to be (PKCS #11, 5.2).
pub(crate) struct Output<'a> {
    buffer: *mut CK_BYTE,
    length: &'a mut CK_ULONG,
    /// How many bytes there is room for.
    room: CK_ULONG,
}

impl<'a> Output<'a> {
    /// Room of our own, and its length.
    pub(crate) fn of(room: &'a mut [u8], length: &'a mut CK_ULONG) -> Self {
        *length = room.len() as CK_ULONG;
        Self {
            buffer: room.as_mut_ptr(),
            room: *length,
            length,
        }
    }
}

impl Output<'_> {
    /// # Safety
    /// `length` is null or leads to a number; `buffer` is null or has room for as many bytes; for as long as this lives.
    pub(super) unsafe fn new(buffer: *mut CK_BYTE, length: *mut CK_ULONG) -> Result<Self> {
        // SAFETY: by the caller's word.
        match unsafe { length.as_mut() } {
            Some(length) => Ok(Self {
                buffer,
                room: *length,
                length,
            }),
            None => Err(CKR_ARGUMENTS_BAD.into()),
        }
    }

    /// Whether the program asks only how long the result is: tells it.
    ///
    /// # Errors
    /// The buffer is too small; the length is told.
    pub(crate) fn is_question(&mut self, needed: usize) -> Result<bool> {
        *self.length = needed as CK_ULONG;
        if self.buffer.is_null() {
            return Ok(true);
        }
        match self.has_room(needed) {
            true => Ok(false),
            false => Err(CKR_BUFFER_TOO_SMALL.into()),
        }
    }

    /// Tells a length that the result is not longer than, where the program asks only for that.
    pub(crate) fn is_question_for(&mut self, most: usize) -> bool {
        let asks = self.buffer.is_null();
        if asks {
            *self.length = most as CK_ULONG;
        }
        asks
    }

    /// The same place for later.
    pub(crate) fn keep(self) -> Kept {
        Kept {
            buffer: self.buffer,
            room: self.room,
        }
    }

    /// Whether there is room for so many bytes.
    pub(crate) fn has_room(&self, needed: usize) -> bool {
        !self.buffer.is_null() && self.room >= needed as CK_ULONG
    }

    /// The buffer, which has room for so many bytes; tells that they are written.
    ///
    /// # Panics
    /// It has not: [`Output::is_question`] was not asked.
    pub(super) fn room(&mut self, written: usize) -> *mut CK_BYTE {
        assert!(self.has_room(written));
        *self.length = written as CK_ULONG;
        self.buffer
    }

    /// Writes the end of a result whose beginning, up to that place, is written; there is room for it.
    pub(crate) fn append(&mut self, at: usize, end: &[u8]) {
        let buffer = self.room(at + end.len());
        // SAFETY: a buffer with room for as many bytes, by the word of who made this.
        unsafe { slice::from_raw_parts_mut(buffer.add(at), end.len()) }.copy_from_slice(end);
    }

    /// Takes back so many bytes that were written.
    pub(crate) fn wipe(&mut self, written: usize) {
        let buffer = self.room(written);
        *self.length = 0;
        // SAFETY: as above.
        unsafe { slice::from_raw_parts_mut(buffer, written) }.zeroize();
    }

    /// Writes the result.
    ///
    /// # Errors
    /// The buffer is too small; the length is told.
    pub(crate) fn put(&mut self, result: &[u8]) -> Result<()> {
        if !self.is_question(result.len())? {
            // SAFETY: a buffer with room for at least as many bytes, by the word of who made this.
            unsafe { slice::from_raw_parts_mut(self.buffer, result.len()) }.copy_from_slice(result);
        }
        Ok(())
    }
}

/// Where a result goes that is outstanding. The program leaves the place alone until the result is there, or the operation is
/// given up (PKCS #11 3.2, 5.21): only the thread writes there that calls `C_AsyncComplete`.
pub(crate) struct Kept {
    buffer: *mut CK_BYTE,
    room: CK_ULONG,
}

// SAFETY: the place is the program's, which says from which thread it may be written.
unsafe impl Send for Kept {}

impl Kept {
    /// For what is no bytes.
    pub(crate) fn nowhere() -> Self {
        Self {
            buffer: std::ptr::null_mut(),
            room: 0,
        }
    }

    /// The place, and where its length is told.
    pub(super) fn output(self, length: &mut CK_ULONG) -> Output<'_> {
        Output {
            buffer: self.buffer,
            length,
            room: self.room,
        }
    }

    pub(super) fn buffer(&self) -> *mut CK_BYTE {
        self.buffer
    }
}

/// A list that the program wants, or the question how long it is.
///
/// # Safety
/// `length` is null or leads to a number; `list` is null or has room for as many values.
pub(super) unsafe fn list<T: Copy>(
    values: &[T],
    list: *mut T,
    length: *mut CK_ULONG,
) -> Result<()> {
    // SAFETY: by the caller's word.
    let length = unsafe { length.as_mut() }.ok_or(CKR_ARGUMENTS_BAD)?;
    let given = std::mem::replace(length, values.len() as CK_ULONG);
    if list.is_null() {
        return Ok(());
    }
    if given < values.len() as CK_ULONG {
        return Err(CKR_BUFFER_TOO_SMALL.into());
    }
    // SAFETY: room for at least as many values, by the caller's word.
    unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), list, values.len()) };
    Ok(())
}

/// A text as the standard's structures have it: of fixed length, filled with spaces.
pub(crate) fn padded<const N: usize>(text: &str) -> [CK_UTF8CHAR; N] {
    let mut padded = [b' '; N];
    let mut end = text.len().min(N);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    padded[..end].copy_from_slice(&text.as_bytes()[..end]);
    padded
}
