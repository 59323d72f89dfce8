//! Whether the other end's next packet comes so soon that asking for it again and again costs less than to sleep and be woken.
//!
//! To wake a thread on an idle processor takes 10 to 50 us, on a virtual machine more: longer than most verbs, or than a signature by
//! a key on a curve. So both ends ask again and again for a moment, one of them the service's process, the other the caller's. Where that was in vain, the next
//! packets are waited for at once: more of them each time.
//!
//! They do not yield the processor meanwhile (sched_yield(2)): on a busy machine, whoever yields gets it back milliseconds later. A
//! thread that sleeps is woken sooner.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::time::Duration;

/// How long a packet is asked for again and again.
pub const SOON: Duration = Duration::from_micros(60);

/// How long the service asks for the next request of a program that it has just answered. The program may have to be woken first.
pub const NEXT: Duration = Duration::from_micros(100);

/// After so many times in vain, one packet in 256 is still asked for so.
const MOST_MISSES: u32 = 8;

/// What was learned of one end. Threads may share it: then one of them asks at a time, because the others' packets keep the
/// processors busy. (A fork in that moment leaves its child without haste, which costs nothing but time.)
#[derive(Debug, Default)]
pub struct Haste {
    /// Somebody asks.
    taken: AtomicBool,
    /// Packets that are waited for at once.
    patience: AtomicU32,
    /// Times in vain, less the successes since.
    misses: AtomicU32,
}

impl Haste {
    /// Whether to ask again and again for the next packet. Whoever does says afterwards whether it came ([`came`](Self::came)).
    pub fn is_due(&self) -> bool {
        match self.patience.load(Relaxed) {
            0 => !self.taken.swap(true, Relaxed),
            patience => {
                self.patience.store(patience - 1, Relaxed);
                false
            }
        }
    }

    /// Says whether the packet came, how long it was asked for, and how long it was to be asked for at most.
    ///
    /// One success does not make up for many misses: where packets come by chance, most of the time that is spent on asking is
    /// lost. Whoever asked for much longer than it wanted had to give the processor up. On a machine that is so busy, a thread that sleeps
    /// is served sooner.
    pub fn came(&self, came: bool, after: Duration, most: Duration) {
        let misses = self.misses.load(Relaxed);
        let (misses, patience) = if came && after < most {
            (misses.saturating_sub(1), 0)
        } else {
            let misses = match after > 4 * most {
                true => MOST_MISSES,
                false => (misses + 1).min(MOST_MISSES),
            };
            (misses, (1 << misses) - 1)
        };
        self.misses.store(misses, Relaxed);
        self.patience.store(patience, Relaxed);
        self.taken.store(false, Relaxed);
    }

    /// Says that the packet was there before it was asked for, which tells nothing.
    pub fn was_there(&self) {
        self.taken.store(false, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_vain_is_tried_less_and_less() {
        let haste = Haste::default();
        let mut tries = 0;
        for _ in 0..1_000 {
            if haste.is_due() {
                tries += 1;
                haste.came(false, SOON, SOON);
            }
        }
        // After 1, 2, 4 … 128 packets, then after each 256.
        assert_eq!(tries, 10);
        while !haste.is_due() {}
        haste.came(true, Duration::ZERO, SOON);
        assert!(haste.is_due());
        haste.came(true, Duration::ZERO, SOON);
        assert!(haste.is_due());
    }

    #[test]
    fn one_success_does_not_make_up_for_many_misses() {
        let haste = Haste::default();
        let mut tries = 0;
        for _ in 0..10_000 {
            if haste.is_due() {
                tries += 1;
                haste.came(tries % 3 == 0, Duration::ZERO, SOON);
            }
        }
        assert!(tries < 200, "{tries}");
    }

    #[test]
    fn what_was_there_before_tells_nothing() {
        let haste = Haste::default();
        assert!(haste.is_due());
        haste.came(false, SOON, SOON);
        assert!(!haste.is_due() && haste.is_due());
        haste.was_there();
        assert!(haste.is_due());
        haste.came(false, SOON, SOON);
        assert!((0..3).all(|_| !haste.is_due()) && haste.is_due());
    }

    #[test]
    fn whoever_lost_the_processor_stops_asking() {
        let haste = Haste::default();
        assert!(haste.is_due());
        haste.came(true, 10 * SOON, SOON);
        let patience = (0..1_000).take_while(|_| !haste.is_due()).count();
        assert_eq!(patience, (1 << MOST_MISSES) - 1);
    }

    #[test]
    fn one_asks_at_a_time() {
        let haste = Haste::default();
        assert!(haste.is_due() && !haste.is_due());
        haste.came(true, Duration::ZERO, SOON);
        assert!(haste.is_due());
    }
}
