//! Room for the lanes on a thread that may have little: an ASYNC job of OpenSSL has 32 KiB of stack
//! and no guard page, the lanes' RSA wants more than that.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Bytes of a stack: many times what the lanes were seen to use (`crates/lanes/tests/stack.rs`).
const SIZE: usize = 1 << 20;
/// Below it, what no access survives.
const GUARD: usize = 1 << 16;

/// Stacks that nobody uses at the moment. Not freed: there are only as many as threads that were in the lanes
/// at once, and of each only the pages that were touched. A child forked meanwhile lacks those in use.
static SPARE: [Place; 64] = [const { Place(AtomicPtr::new(ptr::null_mut())) }; 64];

/// A place for one, in a cache line of its own: threads begin to look at different ones.
#[repr(align(64))]
struct Place(AtomicPtr<u8>);

/// All places, from this thread's own on.
fn places() -> impl Iterator<Item = &'static AtomicPtr<u8>> {
    thread_local!(static MARK: u8 = const { 0 });
    // Threads' memory lies a stack apart: what tells them apart is anywhere in the address.
    let address = MARK.with(|mark| ptr::from_ref(mark).addr()) as u64;
    let own = (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize;
    let (before, from) = SPARE.split_at(own);
    from.iter().chain(before).map(|place| &place.0)
}

/// Sees to it that there is a stack: where a process has confined itself, none may be had any more.
pub(super) fn prepare() {
    drop(Stack::get());
}

/// Runs `body` on a stack of ours; `None` if there is no memory for one. Panics come through.
pub(crate) fn on_own<R>(body: impl FnOnce() -> R) -> Option<R> {
    let stack = Stack::get()?;
    // SAFETY: the pages of `stack` are ours, readable and writable, aligned to a page, and used by
    // nobody else until it is dropped. `catch_unwind` keeps a panic from crossing the switch.
    let result = unsafe {
        psm::on_stack(stack.0, SIZE, || {
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(body))
        })
    };
    drop(stack);
    match result {
        Ok(result) => Some(result),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// How many bytes of a stack of ours that uses.
#[cfg(test)]
pub(crate) fn used(body: impl FnOnce()) -> usize {
    const PATTERN: u64 = 0x5afe_57ac_c0de_5afe;
    let stack = Stack::get().expect("there is memory");
    let words = stack.0.cast::<u64>();
    let all = || (0..SIZE / size_of::<u64>()).map(|index| words.wrapping_add(index));
    // SAFETY: the pages of `stack`, which are ours and aligned; nothing runs on them yet.
    all().for_each(|word| unsafe { word.write(PATTERN) });
    // SAFETY: as in `on_own`; a panic ends the test.
    unsafe { psm::on_stack(stack.0, SIZE, body) };
    // SAFETY: nothing runs on them any more.
    let untouched = all().take_while(|word| unsafe { word.read() } == PATTERN);
    SIZE - untouched.count() * size_of::<u64>()
}

/// The lowest byte of a stack.
struct Stack(*mut u8);

impl Stack {
    fn get() -> Option<Self> {
        let taken = places()
            .filter(|spare| !spare.load(Ordering::Relaxed).is_null())
            .map(|spare| spare.swap(ptr::null_mut(), Ordering::Acquire))
            .find(|stack| !stack.is_null());
        taken.map(Self).or_else(Self::map)
    }

    /// Two mappings, and no change of the protection of one: whoever may ask for memory may do that.
    fn map() -> Option<Self> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing.
        let address =
            unsafe { libc::mmap(ptr::null_mut(), GUARD + SIZE, libc::PROT_NONE, flags, -1, 0) };
        if address == libc::MAP_FAILED {
            return None;
        }
        // SAFETY: within the mapping just made, which is ours.
        let lowest = unsafe { address.cast::<u8>().add(GUARD) };
        // SAFETY: takes the place of a part of that mapping, in which there is nothing.
        let stack = unsafe {
            libc::mmap(
                lowest.cast(),
                SIZE,
                libc::PROT_READ | libc::PROT_WRITE,
                flags | libc::MAP_STACK | libc::MAP_FIXED,
                -1,
                0,
            )
        };
        if stack == libc::MAP_FAILED {
            // SAFETY: the mapping made above, which nobody uses.
            unsafe { libc::munmap(address, GUARD + SIZE) };
            return None;
        }
        Some(Self(lowest))
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        for spare in places() {
            let put = spare.compare_exchange(
                ptr::null_mut(),
                self.0,
                Ordering::Release,
                Ordering::Relaxed,
            );
            if put.is_ok() {
                return;
            }
        }
        // SAFETY: mapped by `map`, and nobody uses it any more.
        unsafe { libc::munmap(self.0.sub(GUARD).cast(), GUARD + SIZE) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_and_it_is_used_again() {
        let deep = || {
            let room = std::hint::black_box([1_u8; SIZE / 8]);
            (
                room.as_ptr() as usize,
                room.iter().map(|byte| usize::from(*byte)).sum(),
            )
        };
        let here = 0;
        let (first, sum): (usize, usize) = on_own(deep).expect("there is memory");
        assert_eq!(sum, SIZE / 8);
        // On this thread's own stack, the room would be right below. (A stack of ours may lie beside it, above or further below.)
        assert!((ptr::from_ref(&here) as usize).wrapping_sub(first) > SIZE / 4);
    }

    #[test]
    fn a_panic_comes_through() {
        let caught = std::panic::catch_unwind(|| on_own(|| std::panic::resume_unwind(Box::new(7))));
        let panic = caught.map(|_: Option<()>| ()).expect_err("it panicked");
        assert_eq!(panic.downcast_ref(), Some(&7));
    }
}
