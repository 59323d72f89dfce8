//! What is asked of the kernel about processes, and about the time they share.

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// This process's id. Asked anew each time: it differs after `fork`.
pub fn id() -> u32 {
    std::process::id()
}

/// The user whose files are ours.
pub fn effective_user() -> u32 {
    // SAFETY: has no preconditions and cannot fail.
    unsafe { libc::geteuid() }
}

/// Whether we have other rights than the user whose files are ours: a setuid program, or a daemon that
/// is a user for a while. Such a user could shorten a file under us.
pub fn is_privileged() -> bool {
    let (mut real, mut effective, mut saved) = (0, 0, 0);
    // SAFETY: writes three numbers; asks for the kernel's own word on how we were started.
    unsafe {
        libc::getresuid(&raw mut real, &raw mut effective, &raw mut saved) != 0
            || real != effective
            || saved != effective
            || libc::getauxval(libc::AT_SECURE) != 0
    }
}

/// Nanoseconds since boot, sleep included, never zero. Answered by the vDSO, without a system call.
pub fn since_boot() -> u64 {
    clock(libc::CLOCK_BOOTTIME).max(1)
}

/// Nanoseconds since 1970.
pub fn since_epoch() -> u64 {
    clock(libc::CLOCK_REALTIME)
}

/// Nanoseconds on the clock that nobody sets.
pub fn monotonic() -> u64 {
    clock(libc::CLOCK_MONOTONIC)
}

fn clock(clock: libc::clockid_t) -> u64 {
    let mut time = MaybeUninit::<libc::timespec>::zeroed();
    // SAFETY: the pointer is to a timespec of ours.
    unsafe { libc::clock_gettime(clock, time.as_mut_ptr()) };
    // SAFETY: zero is a valid timespec, so it is initialised even if the call failed.
    let time = unsafe { time.assume_init() };
    (time.tv_sec as u64)
        .wrapping_mul(1_000_000_000)
        .wrapping_add(time.tv_nsec as u64)
}

/// The program's name as `ps` shows it: the main thread's, padded with zeros.
pub fn program_name() -> [u8; 16] {
    let mut name = [0; 16];
    // SAFETY: has no preconditions and cannot fail.
    let thread = unsafe { libc::gettid() };
    if thread as u32 == id() {
        // SAFETY: PR_GET_NAME writes at most 16 bytes, the last of which is zero.
        unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
    } else if let Ok(text) = std::fs::read("/proc/self/comm") {
        let text = text.strip_suffix(b"\n").unwrap_or(&text);
        let length = text.len().min(15);
        name[..length].copy_from_slice(&text[..length]);
    }
    name
}

/// Room for such a name in shared memory. Zero is the empty name.
#[derive(Debug)]
#[repr(C)]
pub struct NameCell([AtomicU64; 2]);

impl NameCell {
    /// The name that is there; while it is written, parts of two.
    pub fn load(&self) -> [u8; 16] {
        let mut name = [0; 16];
        for (bytes, word) in name.chunks_exact_mut(8).zip(&self.0) {
            bytes.copy_from_slice(&word.load(Relaxed).to_ne_bytes());
        }
        name
    }

    /// Writes a name.
    pub fn store(&self, name: [u8; 16]) {
        for (bytes, word) in name.as_chunks().0.iter().zip(&self.0) {
            word.store(u64::from_ne_bytes(*bytes), Relaxed);
        }
    }
}

/// Such a name as it can be shown on a terminal: what is unprintable is replaced.
pub fn printable(name: [u8; 16]) -> String {
    let length = name.iter().position(|&byte| byte == 0).unwrap_or(16);
    String::from_utf8_lossy(&name[..length])
        .chars()
        .map(|c| if steers(c) { '\u{fffd}' } else { c })
        .collect()
}

/// Whether a character could steer a terminal, or turn the reading direction around: what others wrote is shown
/// without such.
pub fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether there is a process of that id.
pub fn exists(pid: u32) -> bool {
    let Ok(pid) = libc::pid_t::try_from(pid) else {
        return false;
    };
    // SAFETY: signal 0 is never delivered. A positive id names one process, not a group.
    pid > 0
        && (unsafe { libc::kill(pid, 0) } == 0
            || std::io::Error::last_os_error().raw_os_error() != Some(libc::ESRCH))
}

/// Whether the process of that id is the one that was there at `claimed` nanoseconds since boot: it
/// exists, is no zombie, and started before.
///
/// Start times are rounded down to clock ticks (10 ms); an id would have to be given out anew within
/// one for a mistake. Where `/proc` can't be read, the id alone decides.
pub fn is_alive(pid: u32, claimed: u64) -> bool {
    exists(pid) && Stat::of(pid).is_none_or(|stat| !stat.is_zombie && stat.started <= claimed)
}

/// The part of `/proc/PID/stat` (proc(5)) that tells processes of the same id apart.
struct Stat {
    is_zombie: bool,
    /// Nanoseconds since boot.
    started: u64,
}

impl Stat {
    fn of(pid: u32) -> Option<Self> {
        let text = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
        // SAFETY: has no preconditions.
        let ticks_per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
        Self::parse(&text, u64::try_from(ticks_per_second).ok()?.max(1))
    }

    fn parse(text: &[u8], ticks_per_second: u64) -> Option<Self> {
        // The name (field 2) may hold anything, parentheses and spaces too: count from its last one.
        let end_of_name = text.iter().rposition(|&byte| byte == b')')?;
        let mut fields = std::str::from_utf8(&text[end_of_name + 1..])
            .ok()?
            .split_ascii_whitespace();
        let state = fields.next()?; // field 3
        let ticks: u64 = fields.nth(18)?.parse().ok()?; // field 22
        let nanoseconds = u128::from(ticks) * 1_000_000_000 / u128::from(ticks_per_second);
        Some(Self {
            is_zombie: matches!(state, "Z" | "X"),
            started: u64::try_from(nanoseconds).ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_alive_since_it_started() {
        assert!(is_alive(id(), since_boot()));
        assert!(!is_alive(id(), 1), "nobody of this id was there at boot");
        for impossible in [0, u32::MAX, i32::MAX as u32] {
            assert!(!exists(impossible), "{impossible}");
        }
    }

    #[test]
    fn stat_is_parsed_behind_any_name() {
        let line = b"7 (a) Z (b) S 1 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 250 9 9\n";
        let stat = Stat::parse(line, 100).expect("well-formed");
        assert_eq!((stat.is_zombie, stat.started), (false, 2_500_000_000));
        assert!(Stat::parse(b"7 (a) Z 1 2 3", 100).is_none());
        assert!(Stat::parse(b"", 100).is_none());
    }

    #[test]
    fn the_program_is_named_from_any_thread() {
        let main = std::fs::read("/proc/self/comm").expect("proc is mounted");
        let name = std::thread::Builder::new()
            .name("another".into())
            .spawn(program_name)
            .map(|thread| thread.join().expect("it does not panic"))
            .expect("a thread starts");
        assert!(main.starts_with(name.split(|&b| b == 0).next().expect("a first part")));
    }

    #[test]
    fn a_name_that_others_chose_steers_no_terminal() {
        let mut name = [0; 16];
        let text = "a\x1b]\u{202e}\u{2069}\u{200f}é";
        name[..text.len()].copy_from_slice(text.as_bytes());
        assert_eq!(printable(name), "a\u{fffd}]\u{fffd}\u{fffd}\u{fffd}é");
    }
}
