//! A sign that others see in `/proc/PID/maps`, without the process's help: one more view of a shared file, a page of it,
//! that may not be read (`---s`).
//!
//! A forked child shows it as its parent does, which no counter in the file could say. Made of calls that the C library's
//! allocator makes, too (`mremap`, `mprotect`): a sandbox that ends programs for them is hard to live in. Where they
//! fail, no sign is seen.

use std::ptr::{self, NonNull};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicPtr, AtomicUsize};

use crate::Format;

/// Seen while it has reasons. Without a lock: a `fork` in another thread would leave that locked in the child.
pub struct Sign {
    reasons: AtomicUsize,
    /// The view, once there was a reason; it stays, readable, when there is none any more.
    page: AtomicPtr<libc::c_void>,
}

impl Sign {
    /// One that nobody sees.
    pub const fn new() -> Self {
        Self {
            reasons: AtomicUsize::new(0),
            page: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Adds a reason to show it: as a view of `file`, mapped by [`shared`](crate::shared).
    pub fn raise<T: Format>(&self, file: &'static T) {
        self.reasons.fetch_add(1, SeqCst);
        if self.page.load(SeqCst).is_null() {
            self.make(NonNull::from(file).cast());
        }
        self.show();
    }

    /// Takes a reason away.
    pub fn lower(&self) {
        let _ = self
            .reasons
            .fetch_update(SeqCst, SeqCst, |reasons| reasons.checked_sub(1));
        self.show();
    }

    fn make(&self, file: NonNull<libc::c_void>) {
        // SAFETY: of the old size zero, the kernel makes a second view of a shared mapping's page, at an address of its
        // choice, and leaves the first one alone.
        let page = unsafe { libc::mremap(file.as_ptr(), 0, page_size(), libc::MREMAP_MAYMOVE) };
        if page == libc::MAP_FAILED {
            return;
        }
        let first = self
            .page
            .compare_exchange(ptr::null_mut(), page, SeqCst, SeqCst);
        if first.is_err() {
            // SAFETY: the page just made, which nobody else knows.
            unsafe { libc::munmap(page, page_size()) };
        }
    }

    /// Lets the page say whether there are reasons. Of several threads, the last one looks again after it has written.
    fn show(&self) {
        let page = self.page.load(SeqCst);
        while !page.is_null() {
            let has_reasons = self.reasons.load(SeqCst) > 0;
            let access = match has_reasons {
                true => libc::PROT_NONE,
                false => libc::PROT_READ,
            };
            // SAFETY: a page of this sign's own, which nobody reads or writes.
            let refused = unsafe { libc::mprotect(page, page_size(), access) } != 0;
            if refused || has_reasons == (self.reasons.load(SeqCst) > 0) {
                break;
            }
        }
    }
}

impl Default for Sign {
    fn default() -> Self {
        Self::new()
    }
}

fn page_size() -> usize {
    // SAFETY: no memory is touched; no system call either.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).unwrap_or(4096)
}
