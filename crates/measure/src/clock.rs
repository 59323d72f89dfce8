//! The time this thread has had, and the time that has passed.

use std::time::Duration;

/// A moment on two clocks: of the world, and of this thread's work. The second stands still while
/// other programs have the processor.
#[derive(Clone, Copy, Debug)]
pub struct Instant {
    wall: Duration,
    cpu: Duration,
}

/// Nanoseconds between two moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Elapsed {
    pub(crate) wall: u64,
    pub(crate) cpu: u64,
}

impl Instant {
    /// This moment.
    pub fn now() -> Self {
        Self {
            wall: read(libc::CLOCK_MONOTONIC),
            cpu: read(libc::CLOCK_THREAD_CPUTIME_ID),
        }
    }

    /// How long this thread has worked since, on the same thread.
    pub fn cpu_since(self) -> Duration {
        read(libc::CLOCK_THREAD_CPUTIME_ID).saturating_sub(self.cpu)
    }

    /// How much time has passed since.
    pub fn wall_since(self) -> Duration {
        read(libc::CLOCK_MONOTONIC).saturating_sub(self.wall)
    }

    /// What passed on both clocks from an earlier moment to this one.
    pub(crate) fn since(self, earlier: Self) -> Elapsed {
        let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        Elapsed {
            wall: nanoseconds(self.wall.saturating_sub(earlier.wall)),
            cpu: nanoseconds(self.cpu.saturating_sub(earlier.cpu)),
        }
    }

    /// A moment so long after the beginning of both clocks.
    #[cfg(test)]
    pub(crate) fn at(time: Duration) -> Self {
        Self {
            wall: time,
            cpu: time,
        }
    }
}

/// What all threads of this process have worked.
pub(crate) fn cpu_of_process() -> Duration {
    read(libc::CLOCK_PROCESS_CPUTIME_ID)
}

fn read(clock: libc::clockid_t) -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is live. Linux has these clocks, so the call cannot fail.
    unsafe { libc::clock_gettime(clock, &mut time) };
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or(0),
        u32::try_from(time.tv_nsec).unwrap_or(0),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeping_is_no_work() {
        let start = Instant::now();
        std::thread::sleep(Duration::from_millis(30));
        let elapsed = Instant::now().since(start);
        assert!(elapsed.wall >= 30_000_000);
        assert!(elapsed.cpu < 15_000_000, "{elapsed:?}");
    }

    #[test]
    fn working_is() {
        let start = Instant::now();
        while start.cpu_since() < Duration::from_millis(5) {
            std::hint::spin_loop();
        }
        // The world's clock is kept right by slowing it a little; the other is not.
        assert!(start.wall_since() >= Duration::from_millis(4));
    }
}
