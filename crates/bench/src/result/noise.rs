//! Whether the machine was quiet enough for its figures to mean something.

use std::fs;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use outboard_programs::{cpu_time_of, descendants};

use super::{ENOUGH, ResultFile};

/// What else the machine did, and whether that casts doubt on the figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// The share of all processors' time that went to processes that are not the workload's, 0 to 1.
    pub others: f64,
    /// The share that the host of a virtual machine took away, 0 to 1.
    pub stolen: f64,
    /// The load average of the last minute when it began.
    pub load: f64,
    /// Why the figures are to be taken with care, in words; empty on a quiet machine.
    pub reasons: Vec<String>,
}

/// The share of the processors that other processes may use without a warning.
const MUCH: f64 = 0.10;

/// An interval of a ratio that reaches further than this from its median, as a part of it, is wide.
const WIDE: f64 = 0.10;

/// Watches the machine from the beginning of a workload to its end.
#[derive(Clone, Copy, Debug)]
pub struct Watch {
    began: Instant,
    cpu: MachineTime,
    ours: Duration,
    load: f64,
}

/// Since the machine started, summed over its processors, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct MachineTime {
    busy: f64,
    stolen: f64,
}

impl Watch {
    /// Begins now.
    pub fn begin() -> Self {
        let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        Self {
            began: Instant::now(),
            cpu: machine_time(),
            ours: our_time(),
            load: load
                .split_whitespace()
                .next()
                .and_then(|load| load.parse().ok())
                .unwrap_or(0.0),
        }
    }

    /// How long it has been.
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// What happened since.
    pub fn noise(&self, result: &ResultFile) -> Noise {
        let now = machine_time();
        let processors = processors_online();
        let available = (self.elapsed().as_secs_f64() * processors).max(1e-3);
        let ours = (our_time().saturating_sub(self.ours)).as_secs_f64();
        let share = |seconds: f64| (seconds / available).clamp(0.0, 1.0);
        let others = share(now.busy - self.cpu.busy - ours);
        let stolen = share(now.stolen - self.cpu.stolen);
        let mut reasons = Vec::new();
        if others > MUCH {
            reasons.push(format!(
                "other processes used {:.0} % of the machine",
                others * 100.0
            ));
        }
        if stolen > MUCH {
            reasons.push(format!(
                "the host of this virtual machine took away {:.0} % of its time",
                stolen * 100.0
            ));
        }
        let ratios = || {
            let rows = result.rows().filter(|(_, row)| row.samples >= ENOUGH);
            rows.filter_map(|(_, row)| row.ratio.as_ref())
        };
        let wide = ratios()
            .filter(|ratio| {
                let reach = (ratio.high - ratio.median).max(ratio.median - ratio.low);
                reach > WIDE * ratio.median
            })
            .count();
        if wide > 0 {
            reasons.push(format!(
                "{wide} of {} ratios are uncertain by more than {:.0} %",
                ratios().count(),
                WIDE * 100.0
            ));
        }
        Noise {
            others: rounded(others),
            stolen: rounded(stolen),
            load: self.load,
            reasons,
        }
    }
}

/// To a thousandth: more would pretend.
fn rounded(share: f64) -> f64 {
    (share * 1e3).round() / 1e3
}

fn machine_time() -> MachineTime {
    fs::read_to_string("/proc/stat")
        .ok()
        .and_then(|text| parse(text.lines().next()?))
        .unwrap_or_default()
}

/// The first line of `/proc/stat` (proc_stat(5)): user, nice, system, idle, iowait, irq, softirq,
/// steal, all in ticks of a hundredth of a second on every Linux of today.
fn parse(line: &str) -> Option<MachineTime> {
    let ticks: Vec<f64> = line
        .strip_prefix("cpu ")?
        .split_whitespace()
        .map_while(|field| field.parse().ok())
        .collect();
    let [user, nice, system, _idle, _wait, irq, softirq, stolen, ..] = ticks[..] else {
        return None;
    };
    Some(MachineTime {
        busy: (user + nice + system + irq + softirq) / 100.0,
        stolen: stolen / 100.0,
    })
}

fn processors_online() -> f64 {
    // SAFETY: sysconf touches no memory of ours.
    let processors = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    processors.max(1) as f64
}

/// The time of this process and of its descendants, user and system: of those that have ended and were
/// waited for, and of those that run.
fn our_time() -> Duration {
    let running = descendants(std::process::id())
        .into_iter()
        .filter_map(cpu_time_of);
    running.chain(ended_time()).sum()
}

/// This process's time, and its ended descendants'.
fn ended_time() -> [Duration; 2] {
    [libc::RUSAGE_SELF, libc::RUSAGE_CHILDREN].map(|who| {
        // SAFETY: a `rusage` is plain integers, for which all zeros is a value; the pointer is to
        // a live variable.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(who, &mut usage);
            usage
        };
        let time = |time: libc::timeval| {
            Duration::from_secs(time.tv_sec.unsigned_abs())
                + Duration::from_micros(time.tv_usec.unsigned_abs())
        };
        time(usage.ru_utime) + time(usage.ru_stime)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_line_is_understood() {
        let time = parse("cpu  100 20 30 4000 50 6 7 80 0 0").unwrap();
        assert!((time.busy - 1.63).abs() < 1e-9 && (time.stolen - 0.8).abs() < 1e-9);
        assert_eq!(parse("cpu0 1 2 3"), None);
        assert!(machine_time().busy > 0.0);
    }

    #[test]
    fn our_own_time_is_not_others() {
        // Of this process alone: other tests' programs come and go meanwhile.
        let [before, _] = ended_time();
        let start = outboard_measure::Instant::now();
        while start.cpu_since() < Duration::from_millis(30) {}
        assert!(ended_time()[0] >= before + Duration::from_millis(20));
        assert!(our_time() > Duration::ZERO);
    }
}
