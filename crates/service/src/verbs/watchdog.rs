//! A request that computes without end: it ends the process as a crash does, so that its worker is there for others again.
//!
//! Nothing is done for a request itself. One thread looks from time to time how much processor time each worker has used since its request
//! began. A request that waits (for the disk, for a lock, for a stopped process) uses none.

use std::io;
use std::mem::MaybeUninit;
use std::time::Duration;

use crate::coprocessor::board::{Board, Place};

/// More processor time than any verb needs. The longest is CSNDPKG with RSA-4096: a second or two on a server, and its luck varies by a
/// factor of ten. This is enough for a processor ten times as slow.
const MOST: Duration = Duration::from_secs(180);
/// How often it looks.
const PAUSE: Duration = Duration::from_secs(2);

/// What was seen at a place.
struct Seen {
    /// The number of the request there.
    begun: u32,
    /// What its worker had used when the request was first seen.
    used: Duration,
}

/// Watches all that is on that board, as long as the process lives.
pub(super) fn start(board: &'static Board) -> io::Result<()> {
    let thread = std::thread::Builder::new().name("watchdog".into());
    thread.spawn(move || watch(board)).map(drop)
}

fn watch(board: &'static Board) {
    let seen = |_: &Place| Seen {
        begun: 0,
        used: Duration::ZERO,
    };
    let mut seen: Vec<_> = board.places().iter().map(seen).collect();
    loop {
        // Nobody wakes it earlier.
        std::thread::park_timeout(PAUSE);
        for (place, seen) in board.places().iter().zip(&mut seen) {
            let loops = place.verb_under_way().filter(|_| seen.is_over(place));
            if let Some(verb) = loops {
                end(place, seen, verb);
            }
        }
    }
}

impl Seen {
    /// Whether the request at that place has used too much.
    fn is_over(&mut self, place: &Place) -> bool {
        let (begun, Some(used)) = (place.begun(), used(place.clock())) else {
            return false;
        };
        if begun != self.begun {
            *self = Self { begun, used };
        }
        used.saturating_sub(self.used) > most()
    }
}

/// Ends the process for the request that was seen at that place.
fn end(place: &Place, seen: &Seen, verb: &str) {
    place.ends_the_process(seen.begun);
    // The request may have ended meanwhile.
    if place.begun() != seen.begun || place.verb_under_way().is_none() {
        return;
    }
    tracing::error!(
        "{verb} has used more than {} s of processor time; its process ends",
        most().as_secs()
    );
    std::process::abort();
}

/// What the calling thread's processor time is read from. Where there is nothing, [`used`] reads nothing.
pub(super) fn clock() -> i32 {
    const NONE: i32 = i32::MAX;
    let mut clock = NONE;
    // SAFETY: this thread lives, and there is room for a number.
    match unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &raw mut clock) } {
        0 => clock,
        _ => NONE,
    }
}

/// The processor time of a thread; none if it has ended.
fn used(clock: i32) -> Option<Duration> {
    let mut time = MaybeUninit::<libc::timespec>::zeroed();
    // SAFETY: there is room for a time. A clock that is none is refused.
    let time = unsafe {
        if libc::clock_gettime(clock, time.as_mut_ptr()) != 0 {
            return None;
        }
        time.assume_init()
    };
    Some(Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}

#[cfg(not(debug_assertions))]
fn most() -> Duration {
    MOST
}

/// A test does not wait so long.
#[cfg(debug_assertions)]
fn most() -> Duration {
    match HURRIES.load(std::sync::atomic::Ordering::Relaxed) {
        true => Duration::from_secs(1),
        false => MOST,
    }
}

#[cfg(debug_assertions)]
static HURRIES: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

/// Allows requests a second from now on, as a test asks.
#[cfg(debug_assertions)]
pub(super) fn hurry() {
    HURRIES.store(true, std::sync::atomic::Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uses that much of this thread's processor time.
    fn compute(time: Duration) {
        let since = used(clock()).unwrap();
        while used(clock()).unwrap() - since < time {
            std::hint::black_box(0);
        }
    }

    #[test]
    fn what_a_request_uses_counts_and_what_others_used_does_not() {
        hurry();
        let (board, _file) = Board::make().unwrap();
        let place = board.of_worker(0);
        place.belongs_to(clock());
        let mut seen = Seen {
            begun: 0,
            used: Duration::ZERO,
        };
        for request in 0..3 {
            place.begin(1, request, None);
            assert!(!seen.is_over(place), "it has just begun");
            compute(Duration::from_millis(600));
            assert!(!seen.is_over(place));
            place.end();
        }
        place.begin(1, 3, None);
        assert!(!seen.is_over(place));
        std::thread::sleep(Duration::from_millis(1200));
        assert!(!seen.is_over(place), "it waits");
        compute(Duration::from_millis(1100));
        assert!(seen.is_over(place));
    }

    #[test]
    fn a_thread_that_has_ended_uses_nothing() {
        let gone = std::thread::spawn(clock).join().unwrap();
        assert_eq!(used(gone), None);
    }
}
