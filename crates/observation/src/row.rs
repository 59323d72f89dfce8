//! Counting.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use crate::layout::{Class, RowImage, SIZE_LIMITS, TELLING_SIZES, size_class};

/// The time of an operation during which others may have run.
pub const UNKNOWN: u64 = u64::MAX;

/// One kind of work of one process.
#[derive(Clone, Copy)]
pub struct Row {
    image: &'static RowImage,
    suspicious: u64,
}

impl Row {
    pub(crate) fn new(image: &'static RowImage, suspicious: u64) -> Self {
        Self { image, suspicious }
    }

    /// Counts an operation: the bytes it worked on (0 where that means nothing) and its time.
    ///
    /// Our clock also runs while the processor does something else. An operation that took eight times what those of
    /// its size take, and long, was interrupted: it is counted with their mean.
    #[inline]
    pub fn add(&self, bytes: u64, mut ticks: u64) {
        let class = &self.image.counters.classes[size_class(bytes)];
        if ticks >= self.suspicious {
            ticks = self.uninterrupted(bytes, ticks);
        }
        class.calls.fetch_add(1, Relaxed);
        class.ticks.fetch_add(ticks, Relaxed);
        if bytes != 0 {
            class.bytes.fetch_add(bytes, Relaxed);
        }
        const LEAST: u64 = TELLING_SIZES[0];
        const MOST: u64 = TELLING_SIZES[1];
        if bytes.wrapping_sub(LEAST) <= MOST - LEAST {
            self.tell(bytes);
        }
    }

    #[cold]
    fn tell(&self, bytes: u64) {
        for (count, size) in self.image.counters.telling.iter().zip(TELLING_SIZES) {
            if bytes == size {
                count.fetch_add(1, Relaxed);
            }
        }
    }

    /// Counts time that belongs to no single operation: preparing a key, or part of a message.
    #[inline]
    pub fn prepare(&self, bytes: u64, ticks: u64) {
        self.image.counters.preparations.fetch_add(1, Relaxed);
        if ticks != UNKNOWN {
            self.image
                .counters
                .preparation_ticks
                .fetch_add(ticks, Relaxed);
        }
        if bytes != 0 {
            let class = &self.image.counters.classes[size_class(bytes)];
            class.bytes.fetch_add(bytes, Relaxed);
        }
    }

    /// Counts an operation that answered an error.
    pub fn fail(&self, ticks: u64) {
        self.image.counters.failed.fetch_add(1, Relaxed);
        if ticks != UNKNOWN {
            let ticks = ticks.min(self.suspicious);
            self.image
                .counters
                .preparation_ticks
                .fetch_add(ticks, Relaxed);
        }
    }

    #[cold]
    fn uninterrupted(&self, bytes: u64, ticks: u64) -> u64 {
        const FEWEST: u64 = 8;
        const FACTOR: u64 = 8;
        let class = size_class(bytes);
        let image = &self.image.counters.classes[class];
        if ticks == UNKNOWN {
            self.image.counters.untimed.fetch_add(1, Relaxed);
            return 0;
        }
        // Calls without a time would make the mean too small.
        let is_mean_known = self.image.counters.untimed.load(Relaxed) == 0;
        let calls = image.calls.load(Relaxed);
        if calls < FEWEST || !is_mean_known || !self.image.size_tells_time() {
            return ticks;
        }
        let usual = match SIZE_LIMITS.get(class) {
            Some(_) => mean(image),
            // The last class has no limit: there time grows with the bytes.
            None => {
                let sum = |word: &AtomicU64| u128::from(word.load(Relaxed));
                let usual = sum(&image.ticks) * u128::from(bytes) / sum(&image.bytes).max(1);
                u64::try_from(usual).unwrap_or(u64::MAX)
            }
        };
        if ticks / FACTOR > usual {
            self.image.counters.interrupted.fetch_add(1, Relaxed);
            usual
        } else {
            ticks
        }
    }
}

/// The mean time of the operations of a class.
fn mean(class: &Class) -> u64 {
    class.ticks.load(Relaxed) / class.calls.load(Relaxed).max(1)
}
