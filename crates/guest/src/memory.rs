//! Memory for when the system has none left.
//!
//! OpenSSL and other libraries answer an allocation that fails with an error; Rust's standard library ends the process. So a
//! module allocates with [`Allocator`], which has a reserve:
//!
//! ```text
//! allocation ──▶ malloc ──▶ memory
//!                  └─ none left ──▶ reserve ──▶ memory
//!                                      └─ half used ──▶ is_low: each new call fails, as without memory
//! ```
//!
//! A call that has begun finishes with what the reserve holds, and the next ones fail as stock's do, until memory
//! is freed. The reserve is part of the module's zeroed pages: it costs no memory until it is used.
//! What is as large as a program's message is no matter for the reserve: such allocations must be fallible.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Bytes of a block: what an allocation's alignment may be at most.
const BLOCK: usize = 256;
const BLOCKS: usize = 2048;
/// With so many blocks in use, no new call begins.
const LOW: usize = BLOCKS / 2;
/// How often a thread tries to enter. A forked child that inherited the mark of a thread it does not have gives up.
const PATIENCE: usize = 1 << 16;

/// The allocator of a module: the system's, and a reserve for when that has no memory.
pub struct Allocator(Reserve);

impl Allocator {
    /// An allocator with its whole reserve.
    #[expect(
        clippy::new_without_default,
        reason = "for a static, which needs a constant"
    )]
    pub const fn new() -> Self {
        Self(Reserve {
            memory: UnsafeCell::new(Pages([0; BLOCK * BLOCKS])),
            used: UnsafeCell::new([0; BLOCKS / 64]),
            entered: AtomicBool::new(false),
        })
    }
}

// SAFETY: what the system gives is the system's to take; what the reserve gives lies in the reserve, is as large and aligned
// as asked for, and is given once until it is taken back.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: passed on.
        let memory = unsafe { System.alloc(layout) };
        if memory.is_null() {
            self.0.give(layout)
        } else {
            memory
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: passed on.
        let memory = unsafe { System.alloc_zeroed(layout) };
        if !memory.is_null() {
            return memory;
        }
        let memory = self.0.give(layout);
        if !memory.is_null() {
            // SAFETY: just given, that large.
            unsafe { memory.write_bytes(0, layout.size()) };
        }
        memory
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if self.0.holds(memory) {
            self.0.take(memory, layout.size());
        } else {
            // SAFETY: passed on; it came from the system.
            unsafe { System.dealloc(memory, layout) };
        }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !self.0.holds(memory) {
            // SAFETY: passed on; it came from the system.
            let moved = unsafe { System.realloc(memory, layout, size) };
            if !moved.is_null() {
                return moved;
            }
        }
        // SAFETY: by the caller's word, the size does not overflow with this alignment.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        // SAFETY: `memory` has `layout`, the new memory has `wanted`, and they are apart.
        unsafe {
            let moved = self.alloc(wanted);
            if !moved.is_null() {
                ptr::copy_nonoverlapping(memory, moved, layout.size().min(size));
                self.dealloc(memory, layout);
            }
            moved
        }
    }
}

/// How many blocks are in use, in all reserves of this module (there is one).
static IN_USE: AtomicUsize = AtomicUsize::new(0);

/// Whether so little is left that no new call may begin.
#[inline]
pub fn is_low() -> bool {
    IN_USE.load(Ordering::Relaxed) >= LOW
}

#[repr(align(256))]
struct Pages(#[expect(dead_code, reason = "reached by pointers alone")] [u8; BLOCK * BLOCKS]);

/// Blocks, each used or free. An allocation is a row of them.
struct Reserve {
    memory: UnsafeCell<Pages>,
    /// A bit for each block: it is in use.
    used: UnsafeCell<[u64; BLOCKS / 64]>,
    /// A thread looks for blocks, or frees some.
    entered: AtomicBool,
}

// SAFETY: the bits are touched by the one thread that entered; a block belongs to whoever it was given to.
unsafe impl Sync for Reserve {}

impl Reserve {
    fn holds(&self, memory: *mut u8) -> bool {
        memory.addr().wrapping_sub(self.memory.get().addr()) < BLOCK * BLOCKS
    }

    #[cold]
    fn give(&self, layout: Layout) -> *mut u8 {
        let count = layout.size().div_ceil(BLOCK).max(1);
        if count > LOW || layout.align() > BLOCK {
            return ptr::null_mut();
        }
        let first = self.with_used(|used| {
            let first = row(used, count)?;
            (first..first + count).for_each(|block| used[block / 64] |= 1 << (block % 64));
            Some(first)
        });
        match first.flatten() {
            Some(first) => {
                IN_USE.fetch_add(count, Ordering::Relaxed);
                // The whole of it may be reached through the pointer that is given.
                self.memory.get().cast::<u8>().wrapping_add(first * BLOCK)
            }
            None => ptr::null_mut(),
        }
    }

    #[cold]
    fn take(&self, memory: *mut u8, size: usize) {
        let first = (memory.addr() - self.memory.get().addr()) / BLOCK;
        let count = size.div_ceil(BLOCK).max(1);
        let freed = self.with_used(|used| {
            (first..first + count).for_each(|block| used[block / 64] &= !(1 << (block % 64)));
        });
        // Otherwise they stay in use: a child that inherited another thread's mark.
        if freed.is_some() {
            IN_USE.fetch_sub(count, Ordering::Relaxed);
        }
    }

    /// Runs `body` on the bits, alone; none where no thread leaves.
    fn with_used<R>(&self, body: impl FnOnce(&mut [u64; BLOCKS / 64]) -> R) -> Option<R> {
        let mut tries = 0;
        while self.entered.swap(true, Ordering::Acquire) {
            tries += 1;
            if tries == PATIENCE {
                return None;
            }
            std::hint::spin_loop();
        }
        // SAFETY: this thread alone has entered.
        let result = body(unsafe { &mut *self.used.get() });
        self.entered.store(false, Ordering::Release);
        Some(result)
    }
}

/// The first of so many free blocks in a row.
fn row(used: &[u64; BLOCKS / 64], count: usize) -> Option<usize> {
    let mut free = 0;
    for block in 0..BLOCKS {
        let is_used = used[block / 64] >> (block % 64) & 1 == 1;
        free = if is_used { 0 } else { free + 1 };
        if free == count {
            return Some(block + 1 - count);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).expect("a layout")
    }

    #[test]
    fn what_is_given_is_apart_aligned_and_given_again_when_freed() {
        static RESERVE: Allocator = Allocator::new();
        let reserve = &RESERVE.0;
        let shapes = [
            (1, 1),
            (0, 1),
            (256, 256),
            (257, 64),
            (BLOCK * 1000, 8),
            (3, 4),
        ];
        for _ in 0..100 {
            let given: Vec<_> = shapes
                .iter()
                .map(|(size, align)| (reserve.give(layout(*size, *align)), *size, *align))
                .collect();
            for (index, (memory, size, align)) in given.iter().enumerate() {
                assert!(reserve.holds(*memory) && memory.addr().is_multiple_of(*align));
                // SAFETY: just given.
                unsafe { memory.write_bytes(index as u8, *size) };
            }
            for (index, (memory, size, _)) in given.iter().enumerate() {
                // SAFETY: written above.
                let bytes = unsafe { std::slice::from_raw_parts(*memory, *size) };
                assert!(bytes.iter().all(|byte| *byte == index as u8));
                reserve.take(*memory, *size);
            }
        }
        assert!(reserve.give(layout(BLOCK * LOW + 1, 1)).is_null());
        assert!(reserve.give(layout(1, 2 * BLOCK)).is_null());
    }
}
