//! Randomness of AWS-LC's, where the system grants it.
//!
//! AWS-LC seeds a generator for each thread by the system call `getrandom`, and **aborts the process** where
//! that is refused, as a sandbox does that answers it with `EPERM`; where the system says that there is no such
//! call, it opens a device and keeps it open. A guest does neither to its host. So the call is tried here, just
//! before AWS-LC would make it: at a thread's first draw, and at its first draw after a fork, which is when
//! sandboxes are put on. What is refused is an error ([`Error::Randomness`]), and the caller's affair.
//!
//! AWS-LC seeds anew after 4,096 draws, too, and nothing says when these are reached: one operation draws
//! several times or not at all. To try before every draw would make a system call where AWS-LC makes none, which
//! a sandbox may kill for. It is tried every [`INTERVAL`]th time: a thread that confines itself without a fork, in
//! the last of these intervals before AWS-LC seeds anew, is not saved.

use std::cell::Cell;

use super::check;
use crate::error::{Error, Result};
use crate::fork::{self, Whole};

/// How many draws are taken for granted.
const INTERVAL: u32 = 1024;

thread_local! {
    /// The process, and how many draws more, for which this thread has the system's word.
    static GRANTED: Cell<(u32, u32)> = const { Cell::new((0, 0)) };
}

/// Fills `buffer` with randomness that is fit for keys.
///
/// # Errors
/// [`Error::Randomness`].
pub fn randomise(buffer: &mut [u8]) -> Result<()> {
    let _whole = drawing()?;
    // SAFETY: writes as many bytes as there are.
    let answer = unsafe { aws_lc_sys::RAND_bytes(buffer.as_mut_ptr(), buffer.len()) };
    check(answer, Error::Resource)
}

/// Begins a moment in which AWS-LC may draw randomness; no fork cuts it in two.
///
/// # Errors
/// [`Error::Randomness`]: AWS-LC must not be asked.
pub(super) fn drawing() -> Result<Whole> {
    // No fork by another thread comes between the word and the draw.
    let whole = fork::whole();
    if !fork::may_draw() {
        return Err(Error::Randomness);
    }
    let generation = fork::generation();
    let left = match GRANTED.get() {
        (granted_to, left) if granted_to == generation && left > 0 => left,
        _ if is_granted() => INTERVAL,
        _ => return Err(Error::Randomness),
    };
    GRANTED.set((generation, left - 1));
    Ok(whole)
}

/// Whether the system gives randomness now. If it does not because it has gathered none since it started, that
/// is no, too: AWS-LC would write a complaint to the program's output and wait.
#[cold]
fn is_granted() -> bool {
    let mut byte = 0_u8;
    // The system call itself, as AWS-LC makes it: the C library's function may get by without.
    // SAFETY: writes at most one byte.
    let written = unsafe {
        libc::syscall(
            libc::SYS_getrandom,
            &raw mut byte,
            size_of_val(&byte),
            libc::GRND_NONBLOCK,
        )
    };
    written == 1
}
