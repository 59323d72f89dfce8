//! The memory of AWS-LC: Rust's, and nobody else's.
//!
//! AWS-LC asks the dynamic loader for functions that stand in for its own allocation: `OPENSSL_memory_alloc` and its
//! companions, and the allocator's `sdallocx`. In a module that another program loads, the loader finds that program's. A
//! program whose libraries need jemalloc has its `sdallocx`, and the C library's `malloc` where that comes first in the order
//! of search: what AWS-LC took from one it would give back to the other, which ends the program. So these functions are
//! defined here, hidden: the module asks nobody for them.
//!
//! Rust's allocator has a reserve in the provider's module, for when the system has no memory left. AWS-LC needs it, too: it
//! aborts the process where it has no memory for a thread's random generator.

use std::alloc::{Layout, alloc, dealloc};
use std::arch::global_asm;
use std::ffi::{c_int, c_void};
use std::ptr;

use super::wipe::wipe;

/// Before each allocation stands its length, in as many bytes as the C library aligns memory to.
const PREFIX: usize = 16;

/// Hidden, which Rust's own `no_mangle` is not: a module would offer them to the program that loads it.
macro_rules! hidden {
    ($($name:literal => $function:ident;)*) => {
        $(#[cfg(target_arch = "x86_64")]
        global_asm!(
            concat!(".globl ", $name),
            concat!(".hidden ", $name),
            concat!(".type ", $name, ", @function"),
            concat!($name, ":"),
            "jmp {function}",
            function = sym $function,
        );
        #[cfg(target_arch = "aarch64")]
        global_asm!(
            concat!(".globl ", $name),
            concat!(".hidden ", $name),
            concat!(".type ", $name, ", %function"),
            concat!($name, ":"),
            "b {function}",
            function = sym $function,
        );
        #[cfg(target_arch = "riscv64")]
        global_asm!(
            concat!(".globl ", $name),
            concat!(".hidden ", $name),
            concat!(".type ", $name, ", @function"),
            concat!($name, ":"),
            "tail {function}",
            function = sym $function,
        );
        #[cfg(target_arch = "s390x")]
        global_asm!(
            concat!(".globl ", $name),
            concat!(".hidden ", $name),
            concat!(".type ", $name, ", @function"),
            concat!($name, ":"),
            "jg {function}",
            function = sym $function,
        );)*
    };
}

hidden! {
    "OPENSSL_memory_alloc" => give;
    "OPENSSL_memory_free" => take;
    "OPENSSL_memory_get_size" => length;
    "OPENSSL_memory_realloc" => change;
    "sdallocx" => take_sized;
}

unsafe extern "C" {
    fn OPENSSL_memory_alloc(size: usize) -> *mut c_void;
}

/// Sees to it that the functions of this file are linked: AWS-LC's own references to them are weak.
pub(crate) fn link() {
    std::hint::black_box(OPENSSL_memory_alloc as unsafe extern "C" fn(usize) -> *mut c_void);
}

fn layout(size: usize) -> Option<Layout> {
    Layout::from_size_align(size.checked_add(PREFIX)?, PREFIX).ok()
}

unsafe extern "C" fn give(size: usize) -> *mut c_void {
    let Some(layout) = layout(size) else {
        return ptr::null_mut();
    };
    // SAFETY: the layout is not empty; what is given is as large as it says, and aligned for a length.
    unsafe {
        let memory = alloc(layout);
        if memory.is_null() {
            return ptr::null_mut();
        }
        memory.cast::<usize>().write(size);
        memory.add(PREFIX).cast()
    }
}

unsafe extern "C" fn length(memory: *mut c_void) -> usize {
    // SAFETY: AWS-LC passes what `give` gave, which has its length before it.
    unsafe { memory.byte_sub(PREFIX).cast::<usize>().read() }
}

/// Wipes it, which AWS-LC leaves to this function.
unsafe extern "C" fn take(memory: *mut c_void) {
    // SAFETY: AWS-LC passes what `give` gave, not null, and does not use it again.
    unsafe {
        let size = length(memory);
        wipe(std::slice::from_raw_parts_mut(memory.cast::<u8>(), size));
        if let Some(layout) = layout(size) {
            dealloc(memory.byte_sub(PREFIX).cast(), layout);
        }
    }
}

unsafe extern "C" fn change(memory: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: AWS-LC passes what `give` gave, not null; the new memory is apart, and as large as is copied.
    unsafe {
        let changed = give(size);
        if !changed.is_null() {
            ptr::copy_nonoverlapping(
                memory.cast::<u8>(),
                changed.cast::<u8>(),
                size.min(length(memory)),
            );
            take(memory);
        }
        changed
    }
}

/// Never called: AWS-LC frees what it allocated itself by this, and it allocates nothing itself.
unsafe extern "C" fn take_sized(_memory: *mut c_void, _size: usize, _flags: c_int) {}

#[cfg(test)]
mod tests {
    use aws_lc_sys as lc;

    use super::*;

    #[test]
    fn aws_lc_allocates_here() {
        // SAFETY: allocated, written and freed by the rules of AWS-LC.
        unsafe {
            let memory = lc::OPENSSL_malloc(100);
            assert_eq!(length(memory), 100);
            assert!(memory.addr().is_multiple_of(PREFIX));
            memory.cast::<u8>().write_bytes(7, 100);
            let more = lc::OPENSSL_realloc(memory, 1000);
            assert_eq!((length(more), *more.cast::<u8>().add(99)), (1000, 7));
            lc::OPENSSL_free(more);
            assert!(lc::OPENSSL_malloc(usize::MAX - 8).is_null());
            lc::OPENSSL_free(ptr::null_mut());
            let nothing = lc::OPENSSL_malloc(0);
            assert!(!nothing.is_null());
            lc::OPENSSL_free(nothing);
            lc::ERR_clear_error();
        }
        link();
    }
}
