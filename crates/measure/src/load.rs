//! How busy the machine was while something was measured.

use serde::Serialize;
use std::fs;

/// The kernel's counters so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Waited {
    /// Nanoseconds that this thread ran.
    ran: u64,
    /// Nanoseconds that it could have run and waited for a processor.
    waited: u64,
    /// Ticks of all processors, and those that another virtual machine had.
    ticks: u64,
    stolen: u64,
}

/// How much of the time others had the processors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Load {
    /// The measuring thread's share of waiting, in the time in which it wanted to run, from 0 to 1.
    waited_share: f64,
    /// The share of the processors' time that the hypervisor gave to others, from 0 to 1.
    stolen_share: f64,
    /// Whether the machine was quiet enough for the result to be believed.
    believable: bool,
}

/// Above that, a measurement says as much of the other work as of its own.
const MOST: f64 = 0.25;

impl Waited {
    /// The times of this thread; zeros if the kernel does not provide them.
    pub fn now() -> Self {
        let schedule = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        let system = fs::read_to_string("/proc/stat").unwrap_or_default();
        Self::read(&schedule, &system)
    }

    fn read(schedule: &str, system: &str) -> Self {
        let numbers = |line: &str| -> Vec<u64> {
            line.split_whitespace()
                .filter_map(|word| word.parse().ok())
                .collect()
        };
        let own = numbers(schedule);
        // cpu user nice system idle iowait irq softirq steal guest guest_nice (proc(5))
        let all = numbers(system.lines().next().unwrap_or_default());
        let number = |list: &[u64], index: usize| list.get(index).copied().unwrap_or(0);
        Self {
            ran: number(&own, 0),
            waited: number(&own, 1),
            ticks: all.iter().take(8).sum(),
            stolen: number(&all, 7),
        }
    }
}

impl Load {
    /// The load between two readings.
    pub fn between(before: Waited, after: Waited) -> Self {
        let share = |part: u64, whole: u64| match whole {
            0 => 0.0,
            whole => float(part) / float(whole),
        };
        let waited = after.waited.saturating_sub(before.waited);
        let ran = after.ran.saturating_sub(before.ran);
        let stolen = after.stolen.saturating_sub(before.stolen);
        let waited_share = share(waited, ran.saturating_add(waited));
        let stolen_share = share(stolen, after.ticks.saturating_sub(before.ticks));
        Self {
            waited_share,
            stolen_share,
            believable: waited_share <= MOST && stolen_share <= MOST,
        }
    }

    /// A warning, if the load was too high.
    pub fn warning(&self) -> Option<String> {
        (!self.believable).then(|| {
            format!(
                "\nWarning: the machine was too busy, so these numbers are not reliable. The measurement spent \
                 {:.0} % of its time waiting for a processor, and other virtual machines used {:.0} % of the \
                 processors. Run 'outboard calibrate' again when the machine is quiet.\n",
                100.0 * self.waited_share,
                100.0 * self.stolen_share
            )
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
fn float(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_machine_is_told_from_a_quiet_one() {
        let before = Waited::read("1000 500 7\n", "cpu  100 0 0 900 0 0 0 0 0 0\ncpu0 1\n");
        let quiet = Waited::read("2000 600 9\n", "cpu  200 0 0 1800 0 0 0 10 0 0\n");
        let load = Load::between(before, quiet);
        assert!(load.believable && load.warning().is_none(), "{load:?}");
        let busy = Waited::read("2000 1500 9\n", "cpu  200 0 0 1800 0 0 0 10 0 0\n");
        let load = Load::between(before, busy);
        assert!(
            load.warning().is_some_and(|text| text.contains("50 %")),
            "{load:?}"
        );
        let stolen = Waited::read("2000 600 9\n", "cpu  200 0 0 1000 0 0 0 300 0 0\n");
        assert!(!Load::between(before, stolen).believable);
        // A kernel that counts nothing.
        let unknown = Load::between(Waited::default(), Waited::default());
        assert!(unknown.believable);
    }
}
