//! The contexts that libcrypto holds by pointer.

use std::ffi::c_void;
use std::ptr;
use std::slice;

use crate::boundary::{boundary, brief};
use crate::core::Core;
use crate::error::{Error, Reason, Result};

/// An implementation's state behind a pointer, with what it takes to raise its errors.
pub(crate) struct Context<T> {
    core: Core,
    inner: T,
}

impl<T: 'static> Context<T> {
    /// Makes a context; null and an error in the queue where that fails.
    pub(crate) fn make(core: Core, make: impl FnOnce() -> Result<T>) -> *mut c_void {
        boundary(core, ptr::null_mut(), || {
            Ok(Box::into_raw(Box::new(Self {
                core,
                inner: make()?,
            }))
            .cast())
        })
    }

    /// Runs `body` on the context.
    ///
    /// # Safety
    /// `context` is from [`Context::make`] for the same `T`, not freed, and used by this thread alone.
    pub(crate) unsafe fn with<R>(
        context: *mut c_void,
        otherwise: R,
        body: impl FnOnce(&mut T) -> Result<R>,
    ) -> R {
        // SAFETY: by the caller's word.
        let context = unsafe { &mut *context.cast::<Self>() };
        boundary(context.core, otherwise, || body(&mut context.inner))
    }

    /// As [`Context::with`], for what is as short as a record's encryption: see [`brief`].
    ///
    /// # Safety
    /// As for [`Context::with`].
    pub(crate) unsafe fn with_brief<R>(
        context: *mut c_void,
        otherwise: R,
        body: impl FnOnce(&mut T) -> Result<R>,
    ) -> R {
        // SAFETY: by the caller's word.
        let context = unsafe { &mut *context.cast::<Self>() };
        brief(context.core, otherwise, || body(&mut context.inner))
    }

    /// Makes another context of this one.
    ///
    /// # Safety
    /// As for [`Context::with`].
    pub(crate) unsafe fn duplicate(
        context: *mut c_void,
        duplicate: impl FnOnce(&T) -> Result<T>,
    ) -> *mut c_void {
        // SAFETY: by the caller's word.
        let context = unsafe { &*context.cast::<Self>() };
        Self::make(context.core, || duplicate(&context.inner))
    }

    /// Frees the context; null is ignored.
    ///
    /// # Safety
    /// As for [`Context::with`]; the context is not used again.
    pub(crate) unsafe fn free(context: *mut c_void) {
        if context.is_null() {
            return;
        }
        // SAFETY: made by `Box::into_raw`, by the caller's word.
        let context = unsafe { Box::from_raw(context.cast::<Self>()) };
        boundary(context.core, (), || {
            drop(context);
            Ok(())
        });
    }
}

/// Bytes that C passes; none where the pointer is null.
///
/// # Safety
/// A pointer that is not null leads to `length` bytes for `'a`.
pub(crate) unsafe fn bytes<'a>(data: *const u8, length: usize) -> Option<&'a [u8]> {
    // SAFETY: by the caller's word.
    (!data.is_null()).then(|| unsafe { slice::from_raw_parts(data, length) })
}

/// Runs a function whose result goes to a caller's buffer or, where that is null, tells its size.
///
/// # Safety
/// `output` is null or leads to `room` writable bytes; `length` is null or writable.
pub(crate) unsafe fn output(
    output: *mut u8,
    length: *mut usize,
    room: usize,
    body: impl FnOnce(Option<&mut [u8]>) -> Result<usize>,
) -> Result<i32> {
    // What a caller left unset may be more than a slice can be.
    let room = room.min(isize::MAX as usize);
    // SAFETY: by the caller's word.
    let buffer = (!output.is_null()).then(|| unsafe { slice::from_raw_parts_mut(output, room) });
    let written = body(buffer)?;
    if !output.is_null() && written > room {
        return Err(Error::from(Reason::Internal));
    }
    if !length.is_null() {
        // SAFETY: by the caller's word.
        unsafe { length.write(written) };
    }
    Ok(1)
}

/// The longest signature that there is: RSA's of 16,384 bits.
const LONGEST_SIGNATURE: usize = 2048;

/// As [`output`], for a signature of an input that may reach into the output's buffer: some callers sign in place.
///
/// The signature then waits on the stack, for nothing may be owned here: an asynchronous job of OpenSSL's that pauses
/// in `body` may be dropped there, and its stack with it without being unwound.
///
/// # Safety
/// As `output`'s. `input` leads to `input_length` bytes, or is null.
pub(crate) unsafe fn signature_of(
    input: *const u8,
    input_length: usize,
    out: *mut u8,
    length: *mut usize,
    room: usize,
    body: impl FnOnce(&[u8], Option<&mut [u8]>) -> Result<usize>,
) -> Result<i32> {
    // SAFETY: by the caller's word.
    let data = unsafe { bytes(input, input_length) }.unwrap_or_default();
    let (from, to) = (data.as_ptr() as usize, out as usize);
    let overlap = from < to.saturating_add(room) && to < from.saturating_add(data.len());
    if out.is_null() || !overlap {
        // SAFETY: by the caller's word; the buffers are apart.
        return unsafe { output(out, length, room, |out| body(data, out)) };
    }
    let mut apart = [0; LONGEST_SIGNATURE];
    let room = room.min(LONGEST_SIGNATURE);
    let written = body(data, Some(&mut apart[..room]))?;
    let signature = apart[..room]
        .get(..written)
        .ok_or(Error::from(Reason::Internal))?;
    // SAFETY: `out` leads to at least `room` bytes, which nothing refers to any more; `length` is null or writable.
    unsafe {
        out.copy_from_nonoverlapping(signature.as_ptr(), written);
        if !length.is_null() {
            length.write(written);
        }
    }
    Ok(1)
}
