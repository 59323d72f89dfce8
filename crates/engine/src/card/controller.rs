//! Whether a kind of request is worth a queue at the moment: one for each kind and process.
//!
//! A thread that runs everything inline never sees two requests at once, though a hundred
//! connections wait. So concurrency is *probed*: now and then a request that is alone is queued. If
//! others join it while it waits, batches come out filled, and all go to the queue from then on; when
//! batches come out below the number that pays, all run inline again, and the next probe is twice as
//! far away.
//!
//! ```text
//!                batch that pays: credit = CREDIT
//!   inline ──probe──▶ queue ──batches that don't pay: credit spent──▶ inline, probes twice as rare
//! ```
//!
//! All of it is advice: a lost update delays a decision, no more.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// How many requests may be queued in vain after the last batch that paid.
const CREDIT: u32 = 32;
/// Requests run inline between two probes, at first and at last. Odd numbers, all that are between too: for callers that make
/// eight at a time, every eighth would be the last of its round, and never find company.
const FIRST: u32 = 7;
const LAST: u32 = 511;

/// Decides for one kind.
pub(super) struct Controller {
    /// Requests that will be queued whatever comes; 0: inline.
    credit: AtomicU32,
    /// Requests until the next probe.
    until_probe: AtomicU32,
    interval: AtomicU32,
}

impl Controller {
    pub(super) const fn new() -> Self {
        Self {
            credit: AtomicU32::new(0),
            until_probe: AtomicU32::new(FIRST),
            interval: AtomicU32::new(FIRST),
        }
    }

    /// Whether a request should be queued though no other is in flight.
    pub(super) fn wants(&self) -> bool {
        if self.credit.load(Relaxed) > 0 {
            return true;
        }
        let left = self.until_probe.load(Relaxed);
        if left > 1 {
            self.until_probe.store(left - 1, Relaxed);
            return false;
        }
        self.until_probe.store(self.interval.load(Relaxed), Relaxed);
        self.credit.store(1, Relaxed);
        true
    }

    /// A batch came out; whether it paid to queue it.
    pub(super) fn observe(&self, filled: usize, paid: bool) {
        if paid {
            self.credit.store(CREDIT, Relaxed);
            self.interval.store(FIRST, Relaxed);
            return;
        }
        let credit = self.credit.load(Relaxed);
        let left = credit.saturating_sub(filled as u32);
        self.credit.store(left, Relaxed);
        if credit > 0 && left == 0 {
            let interval = (self.interval.load(Relaxed) * 2 + 1).min(LAST);
            self.interval.store(interval, Relaxed);
            self.until_probe.store(interval, Relaxed);
        }
    }

    /// Whether requests are queued at the moment.
    #[cfg(test)]
    fn is_open(&self) -> bool {
        self.credit.load(Relaxed) > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One caller, never joined by another: the share of queued requests tends to nothing.
    #[test]
    fn who_is_alone_is_left_alone() {
        let controller = Controller::new();
        let mut queued = 0;
        for _ in 0..10_000 {
            if controller.wants() {
                queued += 1;
                controller.observe(1, false);
            }
        }
        assert!((10..40).contains(&queued), "{queued}");
    }

    /// Whatever the round, sooner or later one that is not its last is probed.
    #[test]
    fn company_of_every_round_is_found() {
        for round in 2..=16 {
            let controller = Controller::new();
            let found = (0..20_000).any(|request| {
                let probed = controller.wants();
                let is_last = request % round == round - 1;
                if probed && is_last {
                    controller.observe(1, false);
                }
                probed && !is_last
            });
            assert!(found, "{round}");
        }
    }

    #[test]
    fn company_is_found_and_its_end_too() {
        let controller = Controller::new();
        let first = (1..1000).find(|_| controller.wants());
        assert_eq!(first, Some(FIRST));
        controller.observe(8, true);
        assert!((0..1000).all(|_| controller.wants()));
        for _ in 0..CREDIT {
            assert!(controller.is_open());
            controller.observe(1, false);
        }
        assert!(!controller.is_open() && !controller.wants());
    }
}
