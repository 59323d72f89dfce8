//! The CPU time of processes.

use super::mapping::Mapped;
use outboard_observation::{Record, sum};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

/// The CPU time of processes in nanoseconds, by process id and start of the process's record. An id alone is not unique,
/// because the system uses ids again.
pub type Times = BTreeMap<(u32, u64), u64>;

/// The CPU time of this command's children and theirs that have ended and were waited for, in
/// nanoseconds.
pub fn of_children() -> u64 {
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

/// The system's figures for a running process.
struct Stat {
    /// Its CPU time in nanoseconds, with a precision of a hundredth of a second.
    cpu: u64,
    /// When it was started, in nanoseconds since boot, rounded down as well.
    started: u64,
}

impl Stat {
    /// None if there is no process of that id.
    fn of(pid: u32) -> Option<Self> {
        let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name (field 2) may hold anything: count from its last parenthesis (proc(5)).
        let (_, fields) = text.rsplit_once(')')?;
        let mut fields = fields.split_ascii_whitespace().skip(11);
        let mut ticks = |skipped| fields.nth(skipped)?.parse::<u64>().ok();
        let (user, system, started) = (ticks(0)?, ticks(0)?, ticks(6)?); // fields 14, 15 and 22
        let rate = rustix::param::clock_ticks_per_second().max(1);
        let nanoseconds = |ticks: u64| {
            let nanoseconds = u128::from(ticks) * 1_000_000_000 / u128::from(rate);
            u64::try_from(nanoseconds).unwrap_or(u64::MAX)
        };
        Some(Self {
            cpu: nanoseconds(user.saturating_add(system)),
            started: nanoseconds(started),
        })
    }
}

/// Reads the CPU time of a record's processes from time to time, until it is stopped. After a process has ended, the
/// system no longer has its CPU time.
pub struct Watch {
    stop: mpsc::Sender<()>,
    thread: JoinHandle<Times>,
}

impl Watch {
    /// Begins.
    pub fn start(record: &Path) -> Self {
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

    /// Ends it. The result lacks processes that ran between two readings.
    pub fn stop(self) -> Times {
        // The thread can have ended only by a panic, which `join` reports.
        let _ = self.stop.send(());
        self.thread.join().unwrap_or_default()
    }
}

/// Reads the present CPU time of each process of a record that still runs and counted all its work.
pub(crate) fn look(path: &Path, times: &mut Times) {
    let Ok(record) = Record::read(path) else {
        return;
    };
    let mapped = Mapped::of(path);
    let counts = |pid| mapped.as_ref().is_some_and(|file| file.is_shared_by(pid));
    let processes = record.processes.iter();
    for process in processes.filter(|process| process.started > record.reset) {
        let Some(pid) = process.pid else {
            continue;
        };
        let key = (pid, process.started);
        // Later, another process may have this id.
        let Some(stat) = Stat::of(pid).filter(|stat| stat.started <= process.started) else {
            continue;
        };
        // In another PID namespace, these ids belong to other processes.
        if times.contains_key(&key) || counts(pid) {
            times.insert(key, stat.cpu);
        }
    }
}

/// Whether the time in a record is possible: at most the time since boot, on all processors. (The limit is generous,
/// because processors may have been removed, and because a clock on a busy machine shows more time than was used.)
pub(crate) fn is_possible(record: &Record) -> bool {
    let uptime = std::fs::read_to_string("/proc/uptime").unwrap_or_default();
    let seconds = uptime.split(['.', ' ']).next().and_then(|s| s.parse().ok());
    let seconds: u64 = seconds.unwrap_or(u64::MAX);
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let processors = u64::try_from(processors).unwrap_or(u64::MAX).max(1024);
    let most = seconds
        .saturating_add(1)
        .saturating_mul(1_000_000_000)
        .saturating_mul(processors);
    let spent = sum(record.total().iter().map(|work| work.nanoseconds));
    spent < most
}

#[cfg(test)]
mod tests {
    use super::*;
    use outboard_observation as observation;

    #[test]
    fn this_process_used_its_cpu() {
        let id = std::process::id();
        let cpu = || Stat::of(id).expect("it runs").cpu;
        let before = cpu();
        let mut number = 1u64;
        while cpu() == before {
            for _ in 0..1_000_000 {
                number = std::hint::black_box(number.wrapping_mul(3));
            }
        }
        assert!(Stat::of(u32::MAX).is_none());
    }

    /// Another process with the same id (a later one, or one in another PID namespace) did not count.
    #[test]
    fn processes_are_those_that_count() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("record");
        let recorder = observation::open(&path).expect("it can be made");
        let details = observation::Details::new(observation::Operation::Digest);
        let identity = observation::Identity::new("default", "SHA2-256", &details);
        let row = recorder.row(recorder.ticket(), 0, 0, || Some(identity));
        let row = row.expect("there is room");
        row.add(1, 1);
        let mut times = Times::new();
        look(&path, &mut times);
        assert_eq!(times.len(), 1);
        let (pid, started) = *times.keys().next().expect("there is one");
        assert_eq!(pid, std::process::id());
        assert!(Stat::of(pid).expect("it runs").started <= started);

        // What was done before does not count any more.
        observation::reset(&path).expect("it is ours");
        row.add(1, 1);
        let mut times = Times::new();
        look(&path, &mut times);
        assert_eq!(times, Times::new());
    }
}
