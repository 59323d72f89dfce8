//! AWS-LC's objects, freed when dropped.

use std::ptr::NonNull;

use crate::error::{Error, Result};
use crate::fork;

/// An object of AWS-LC that is freed by `T`'s own function.
pub(super) trait Object {
    /// Frees it.
    ///
    /// # Safety
    /// `object` is live and not used again.
    unsafe fn free(object: *mut Self);
}

macro_rules! object {
    ($($object:ty => $free:path;)*) => {
        $(impl Object for $object {
            unsafe fn free(object: *mut Self) {
                // SAFETY: by the caller's word.
                unsafe { $free(object) };
            }
        })*
    };
}

object! {
    aws_lc_sys::BIGNUM => aws_lc_sys::BN_clear_free;
    aws_lc_sys::BN_CTX => aws_lc_sys::BN_CTX_free;
    aws_lc_sys::RSA => aws_lc_sys::RSA_free;
    aws_lc_sys::EC_KEY => aws_lc_sys::EC_KEY_free;
    aws_lc_sys::EC_POINT => aws_lc_sys::EC_POINT_free;
    aws_lc_sys::EVP_PKEY => aws_lc_sys::EVP_PKEY_free;
    aws_lc_sys::EVP_PKEY_CTX => aws_lc_sys::EVP_PKEY_CTX_free;
    aws_lc_sys::EVP_MD_CTX => aws_lc_sys::EVP_MD_CTX_free;
    aws_lc_sys::EVP_CIPHER_CTX => aws_lc_sys::EVP_CIPHER_CTX_free;
    aws_lc_sys::HMAC_CTX => aws_lc_sys::HMAC_CTX_free;
    aws_lc_sys::CMAC_CTX => aws_lc_sys::CMAC_CTX_free;
}

/// An owned pointer.
pub(super) struct Owned<T: Object>(NonNull<T>);

impl<T: Object> Owned<T> {
    /// Takes over what AWS-LC made; null becomes that error.
    ///
    /// # Safety
    /// `object` is null or live, and nobody else frees it.
    pub(super) unsafe fn new(object: *mut T, otherwise: Error) -> Result<Self> {
        NonNull::new(object).map(Self).ok_or_else(|| {
            fork::ready();
            // SAFETY: clears this thread's queue, which belongs to our copy of AWS-LC alone.
            unsafe { aws_lc_sys::ERR_clear_error() };
            otherwise
        })
    }

    pub(super) fn as_ptr(&self) -> *mut T {
        self.0.as_ptr()
    }

    /// Gives it to whoever frees it from now on.
    pub(super) fn into_raw(self) -> *mut T {
        std::mem::ManuallyDrop::new(self).as_ptr()
    }
}

impl<T: Object> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: live, and dropped once.
        unsafe { T::free(self.0.as_ptr()) };
    }
}

// SAFETY: AWS-LC's objects may move between threads.
unsafe impl<T: Object> Send for Owned<T> {}
// SAFETY: AWS-LC allows concurrent use through const functions; keys are built before they are
// shared, and RSA's cached values are behind its own lock.
unsafe impl<T: Object> Sync for Owned<T> {}
