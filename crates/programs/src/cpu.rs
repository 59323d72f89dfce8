//! CPU time of other processes, and the cores they are held to.

use std::mem::MaybeUninit;
use std::time::Duration;

/// User and system time of a living process and all its threads (not its children), to the
/// nanosecond; `None` if there is no such process.
///
/// The process's CPU-time clock (POSIX `clock_getcpuclockid`), not `/proc/PID/stat`, which counts
/// in steps of 10 ms.
pub fn cpu_time_of(process: u32) -> Option<Duration> {
    let process = libc::pid_t::try_from(process).ok()?;
    let mut clock: libc::clockid_t = 0;
    let mut time = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: both calls get pointers to live variables of the right type; `time` is read only
    // after the call that fills it succeeded.
    let time = unsafe {
        if libc::clock_getcpuclockid(process, &mut clock) != 0
            || libc::clock_gettime(clock, time.as_mut_ptr()) != 0
        {
            return None;
        }
        time.assume_init()
    };
    Some(Duration::new(
        u64::try_from(time.tv_sec).ok()?,
        u32::try_from(time.tv_nsec).ok()?,
    ))
}

/// User and system time of the children of a living process that have ended and were waited for, theirs included; `None`
/// if there is no such process. The kernel tells user and system time in steps of 10 ms each.
pub fn cpu_time_of_ended_children(process: u32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name, in parentheses, may itself hold spaces. Fields 16 and 17 (proc(5)) come 13 behind the state.
    let fields = stat[stat.rfind(')')? + 1..].split_whitespace().skip(13);
    let ticks: u64 = fields
        .take(2)
        .filter_map(|field| field.parse::<u64>().ok())
        .sum();
    // SAFETY: sysconf only returns a number.
    let ticks_per_second = u64::try_from(unsafe { libc::sysconf(libc::_SC_CLK_TCK) }).ok()?;
    Some(Duration::from_millis(
        ticks * 1000 / ticks_per_second.max(1),
    ))
}

/// Two cores: one for servers, one for clients, so that neither's work disturbs the other's cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cores {
    /// Where servers run; `None` where there are not two cores to choose from.
    pub server: Option<usize>,
    /// Where clients run.
    pub client: Option<usize>,
}

impl Cores {
    /// The first and the last core that this process may use: the farthest apart, as a rule.
    pub fn choose() -> Self {
        let allowed = allowed();
        match (allowed.first(), allowed.last()) {
            (Some(&first), Some(&last)) if first != last => Self {
                server: Some(first),
                client: Some(last),
            },
            _ => Self {
                server: None,
                client: None,
            },
        }
    }
}

/// The cores that this process may use, in order.
fn allowed() -> Vec<usize> {
    // SAFETY: a `cpu_set_t` is an array of integers, for which all zeros is a value; the call gets
    // its true size, and CPU_ISSET stays below CPU_SETSIZE.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) != 0 {
            return Vec::new();
        }
        (0..libc::CPU_SETSIZE as usize)
            .filter(|&core| libc::CPU_ISSET(core, &set))
            .collect()
    }
}

/// Holds the calling thread to one core, and what it starts from now on. Safe between fork and exec:
/// one system call, no memory of the heap.
///
/// # Errors
/// If the thread may not run there.
pub fn hold_to(core: usize) -> std::io::Result<()> {
    // SAFETY: as above; `core` came from `allowed` and is below CPU_SETSIZE.
    let result = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set)
    };
    if result == 0 {
        Ok(())
    } else {
        Err(std::io::Error::last_os_error())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_time_grows_and_no_process_has_none() {
        let before = cpu_time_of(std::process::id()).unwrap();
        let start = std::time::Instant::now();
        while start.elapsed() < Duration::from_millis(20) {}
        assert!(cpu_time_of(std::process::id()).unwrap() > before);
        assert_eq!(cpu_time_of(u32::MAX), None);
    }

    #[test]
    fn the_time_of_ended_children_is_kept() {
        let loops = "for i in {1..200000}; do :; done";
        let script = format!("({loops}); read -r; ({loops})");
        let mut shell = std::process::Command::new("bash")
            .args(["-c", &script])
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let start = std::time::Instant::now();
        while cpu_time_of_ended_children(shell.id()).unwrap().is_zero() {
            assert!(start.elapsed() < crate::PATIENCE);
            std::thread::sleep(Duration::from_millis(5));
        }
        shell.kill().unwrap();
        shell.wait().unwrap();
        assert_eq!(cpu_time_of_ended_children(u32::MAX), None);
    }
}
