//! Counting.

use std::sync::atomic::Ordering::Relaxed;

use crate::layout::{RowImage, TELLING_SIZES, size_class};

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
    /// Our clock also runs while the processor does something else. An operation that took eight
    /// times the mean of its class, and long, was interrupted: it is counted with the mean.
    #[inline]
    pub fn add(&self, bytes: u64, mut ticks: u64) {
        let class = &self.image.classes[size_class(bytes)];
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
        for (count, size) in self.image.telling.iter().zip(TELLING_SIZES) {
            if bytes == size {
                count.fetch_add(1, Relaxed);
            }
        }
    }

    /// Counts time that belongs to no single operation: preparing a key, or part of a message.
    #[inline]
    pub fn prepare(&self, bytes: u64, ticks: u64) {
        self.image.preparations.fetch_add(1, Relaxed);
        self.image.preparation_ticks.fetch_add(ticks, Relaxed);
        if bytes != 0 {
            let class = &self.image.classes[size_class(bytes)];
            class.bytes.fetch_add(bytes, Relaxed);
        }
    }

    /// Counts an operation that answered an error.
    pub fn fail(&self, ticks: u64) {
        self.image.failed.fetch_add(1, Relaxed);
        self.image
            .preparation_ticks
            .fetch_add(ticks.min(self.suspicious), Relaxed);
    }

    #[cold]
    fn uninterrupted(&self, bytes: u64, ticks: u64) -> u64 {
        const FEWEST: u64 = 8;
        const FACTOR: u64 = 8;
        let class = &self.image.classes[size_class(bytes)];
        let calls = class.calls.load(Relaxed);
        if calls < FEWEST {
            return ticks;
        }
        let mean = class.ticks.load(Relaxed) / calls;
        if ticks / FACTOR > mean {
            self.image.interrupted.fetch_add(1, Relaxed);
            mean
        } else {
            ticks
        }
    }
}
