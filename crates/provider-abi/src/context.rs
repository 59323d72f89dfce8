//! The contexts that libcrypto holds by pointer.

use std::ffi::c_void;
use std::ptr;

use crate::boundary::{boundary, brief, release};
use crate::core::Core;
use crate::error::Result;
use crate::raw::Param;

/// An implementation's state behind a pointer, with what it takes to raise its errors.
pub(crate) struct Context<T> {
    core: Core,
    inner: T,
}

impl<T: 'static> Context<T> {
    /// Makes a context; null where there is to be none, or where that fails, with an error in the queue.
    #[inline]
    pub(crate) fn make(core: Core, make: impl FnOnce() -> Result<Option<T>>) -> *mut c_void {
        boundary(&core, ptr::null_mut(), || {
            let Some(inner) = make()? else {
                return Ok(ptr::null_mut());
            };
            // Part by part to its place: what is built before and then moved is copied once more.
            let mut context = Box::<Self>::new_uninit();
            let place = context.as_mut_ptr();
            // SAFETY: both parts of what was just allocated, which is then whole.
            unsafe {
                (&raw mut (*place).core).write(core);
                (&raw mut (*place).inner).write(inner);
                Ok(Box::into_raw(context.assume_init()).cast())
            }
        })
    }

    /// Runs `body` on the context; null answers `otherwise`.
    ///
    /// # Safety
    /// `context` is from [`Context::make`] for the same `T`, not freed, and used by this thread alone.
    pub(crate) unsafe fn with<R>(
        context: *mut c_void,
        otherwise: R,
        body: impl FnOnce(&mut T) -> Result<R>,
    ) -> R {
        // SAFETY: by the caller's word.
        match unsafe { context.cast::<Self>().as_mut() } {
            Some(Self { core, inner }) => boundary(core, otherwise, || body(inner)),
            None => otherwise,
        }
    }

    /// As [`Context::with`], for what is as short as a record's encryption: see [`brief`].
    ///
    /// # Safety
    /// As for [`Context::with`].
    #[inline]
    pub(crate) unsafe fn with_brief<R>(
        context: *mut c_void,
        otherwise: R,
        body: impl FnOnce(&mut T) -> Result<R>,
    ) -> R {
        // SAFETY: by the caller's word.
        match unsafe { context.cast::<Self>().as_mut() } {
            Some(Self { core, inner }) => brief(core, otherwise, || body(inner)),
            None => otherwise,
        }
    }

    /// Answers a list of descriptors, of the context if there is one.
    ///
    /// # Safety
    /// `context` is null, or as for [`Context::with`].
    pub(crate) unsafe fn describe(
        context: *mut c_void,
        core: Core,
        list: impl FnOnce(Option<&mut T>) -> *const Param,
    ) -> *const Param {
        // SAFETY: by the caller's word.
        let context = unsafe { context.cast::<Self>().as_mut() };
        boundary(&core, ptr::null(), || {
            Ok(list(context.map(|context| &mut context.inner)))
        })
    }

    /// As [`Context::with_brief`], for a body that puts errors into the queue itself.
    ///
    /// # Safety
    /// As for [`Context::with`].
    #[inline]
    pub(crate) unsafe fn with_core<R>(
        context: *mut c_void,
        otherwise: R,
        body: impl FnOnce(&mut T, &Core) -> Result<R>,
    ) -> R {
        // SAFETY: by the caller's word.
        match unsafe { context.cast::<Self>().as_mut() } {
            Some(Self { core, inner }) => brief(core, otherwise, || body(inner, core)),
            None => otherwise,
        }
    }

    /// Makes another context of this one.
    ///
    /// # Safety
    /// As for [`Context::with`].
    pub(crate) unsafe fn duplicate(
        context: *mut c_void,
        duplicate: impl FnOnce(&mut T) -> Result<Option<T>>,
    ) -> *mut c_void {
        // SAFETY: by the caller's word.
        match unsafe { context.cast::<Self>().as_mut() } {
            Some(Self { core, inner }) => Self::make(*core, || duplicate(inner)),
            None => ptr::null_mut(),
        }
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
        release(context.core, || drop(context));
    }
}

/// Bytes that C passes; none where the pointer is null.
///
/// # Safety
/// A pointer that is not null leads to `length` bytes for `'a`.
pub(crate) unsafe fn bytes<'a>(data: *const u8, length: usize) -> Option<&'a [u8]> {
    // SAFETY: by the caller's word.
    (!data.is_null()).then(|| unsafe { std::slice::from_raw_parts(data, length) })
}
