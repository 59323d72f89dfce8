//! The CPU time of processes.

use outboard_observation::Record;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

/// The CPU time of processes by their id, in nanoseconds.
pub(super) type Times = BTreeMap<u32, u64>;

/// The CPU time of this command's children and theirs that have ended and were waited for, in
/// nanoseconds.
pub(super) fn of_children() -> u64 {
    // SAFETY: zero is a valid value of a structure of integers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: writes the structure that it is given.
    unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage) };
    let nanoseconds = |time: libc::timeval| {
        u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000
            + u64::try_from(time.tv_usec).unwrap_or(0) * 1000
    };
    nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime)
}

/// The CPU time of a process that runs, in nanoseconds of which a hundredth of a second is told; none
/// if there is none of that id.
pub(super) fn of_process(pid: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name (field 2) may hold anything: count from its last parenthesis (proc(5)).
    let (_, fields) = text.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?; // field 14
    let system: u64 = fields.next()?.parse().ok()?;
    let ticks = rustix::param::clock_ticks_per_second().max(1);
    Some((user + system) * 1_000_000_000 / ticks)
}

/// Looks at the processes of a record from time to time, until it is stopped: who has ended cannot be
/// asked any more.
pub(super) struct Watch {
    stop: mpsc::Sender<()>,
    thread: JoinHandle<Times>,
}

impl Watch {
    /// Begins.
    pub(super) fn start(record: &Path) -> Self {
        const INTERVAL: Duration = Duration::from_millis(250);
        let (stop, stopped) = mpsc::channel();
        let record: PathBuf = record.into();
        let thread = std::thread::spawn(move || {
            let mut times = Times::new();
            while stopped.recv_timeout(INTERVAL) == Err(mpsc::RecvTimeoutError::Timeout) {
                look(&record, &mut times);
            }
            times
        });
        Self { stop, thread }
    }

    /// Ends it. Processes that were never seen are not among the times.
    pub(super) fn stop(self) -> Times {
        // It may have ended by a panic only, which `join` tells.
        let _ = self.stop.send(());
        self.thread.join().unwrap_or_default()
    }
}

/// The CPU time that each process of a record has now, where it still runs.
pub(super) fn look(record: &Path, times: &mut Times) {
    let Ok(record) = Record::read(record) else {
        return;
    };
    for pid in record.processes.iter().filter_map(|process| process.pid) {
        if let Some(time) = of_process(pid) {
            times.insert(pid, time);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_used_its_cpu() {
        let id = std::process::id();
        let before = of_process(id).expect("it runs");
        let mut number = 1u64;
        while of_process(id).expect("it runs") == before {
            for _ in 0..1_000_000 {
                number = std::hint::black_box(number.wrapping_mul(3));
            }
        }
        assert_eq!(of_process(u32::MAX), None);
    }
}
