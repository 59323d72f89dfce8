//! A clock that costs a few nanoseconds: the processor's own counter where it runs evenly, else the
//! system's.

use std::time::Instant;

use outboard_shared_memory::process;

/// How a record measures time. All processes of a record use the clock that its maker chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Clock {
    /// `CLOCK_MONOTONIC`; a tick is a nanosecond.
    System = 1,
    /// The processor's counter (`rdtsc`, `cntvct_el0`), which runs at a constant rate in all states.
    Processor = 2,
}

impl Clock {
    /// The cheapest clock of this machine that can be trusted.
    pub fn best() -> Self {
        if counter_is_even() {
            Self::Processor
        } else {
            Self::System
        }
    }

    pub(crate) fn from_word(word: u64) -> Option<Self> {
        match word {
            1 => Some(Self::System),
            2 => Some(Self::Processor),
            _ => None,
        }
    }

    /// The time now, in ticks.
    #[inline]
    pub fn now(self) -> u64 {
        match self {
            Self::Processor => counter(),
            Self::System => process::monotonic(),
        }
    }

    /// Ticks in a second. Takes some ten milliseconds on the processor's counter.
    pub fn ticks_per_second(self) -> f64 {
        if self == Self::System {
            return 1e9;
        }
        let (start, from) = (Instant::now(), self.now());
        std::thread::sleep(std::time::Duration::from_millis(10));
        let (time, ticks) = (start.elapsed(), self.now().wrapping_sub(from));
        #[expect(clippy::cast_precision_loss, reason = "six digits are enough")]
        let ticks = ticks as f64;
        ticks / time.as_secs_f64()
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn counter() -> u64 {
    // SAFETY: every x86-64 processor has it, and Linux lets programs use it.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// Whether the counter runs at one rate in every state of the processor ("invariant TSC").
#[cfg(target_arch = "x86_64")]
fn counter_is_even() -> bool {
    use std::arch::x86_64::__cpuid;
    const POWER_MANAGEMENT: u32 = 0x8000_0007;
    const INVARIANT: u32 = 1 << 8;
    __cpuid(0x8000_0000).eax >= POWER_MANAGEMENT && __cpuid(POWER_MANAGEMENT).edx & INVARIANT != 0
}

#[cfg(target_arch = "aarch64")]
#[inline]
fn counter() -> u64 {
    let ticks: u64;
    // SAFETY: reads a register that Linux lets programs read.
    unsafe { std::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack)) };
    ticks
}

#[cfg(target_arch = "aarch64")]
fn counter_is_even() -> bool {
    true
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn counter() -> u64 {
    process::monotonic()
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn counter_is_even() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_go_forward_at_a_known_rate() {
        for clock in [Clock::System, Clock::best()] {
            let rate = clock.ticks_per_second();
            assert!((1e6..1e11).contains(&rate), "{clock:?}: {rate}");
            let earlier = clock.now();
            assert!(clock.now() >= earlier);
        }
    }
}
