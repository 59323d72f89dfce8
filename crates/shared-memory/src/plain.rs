//! What may lie over any bytes, and the only places that reinterpret memory as that.

use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

/// Types that may lie over any bytes, such as those of a file that somebody else wrote.
///
/// # Safety
/// Every bit pattern is a valid value, and shared access from other processes is allowed: `repr(C)`
/// of nothing but `AtomicU64`.
pub unsafe trait Plain {}

// SAFETY: it is one itself.
unsafe impl Plain for AtomicU64 {}

/// Views a mapping that is never unmapped as a `T`.
///
/// # Safety
/// `address` is page-aligned, readable and writable for `size_of::<T>()` bytes, and stays so until
/// the process ends.
pub(crate) unsafe fn view<T: Plain>(address: NonNull<libc::c_void>) -> &'static T {
    const { assert!(align_of::<T>() <= 4096) };
    // SAFETY: the caller vouches for the memory and its life; `Plain` makes any content valid; all
    // access through the shared reference is atomic.
    unsafe { address.cast::<T>().as_ref() }
}

/// What it begins with.
pub(crate) fn beginning<T: Plain, H: Plain>(plain: &T) -> &H {
    const { assert!(size_of::<H>() <= size_of::<T>() && align_of::<H>() <= align_of::<T>()) };
    // SAFETY: the same memory, for as long; any bytes are an `H`, and all access is atomic.
    unsafe { &*std::ptr::from_ref(plain).cast() }
}

/// An empty one on the heap, such as a reader copies a file to.
pub fn zeroed<T: Plain>() -> Box<T> {
    let mut empty = Box::<T>::new_uninit();
    // SAFETY: the box owns the bytes; `Plain` makes all-zero a valid value.
    unsafe {
        empty.as_mut_ptr().write_bytes(0, 1);
        empty.assume_init()
    }
}

/// Its bytes, to be overwritten with a file's.
pub(crate) fn bytes_mut<T: Plain>(plain: &mut T) -> &mut [u8] {
    // SAFETY: exclusive access to exactly its bytes. Whatever is written, it stays valid (`Plain`).
    // Padding is initialised, because all there ever is comes from `zeroed` or a mapping.
    unsafe {
        std::slice::from_raw_parts_mut(std::ptr::from_mut(plain).cast::<u8>(), size_of::<T>())
    }
}
