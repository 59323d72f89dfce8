//! What the service, its front and the process of the verbs ask of the kernel for themselves: nobody else reads their memory.

use std::ffi::CStr;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

use rustix::mm::MlockAllFlags;
use rustix::process::{DumpableBehavior, Resource, Rlimit, Signal};
use rustix::thread::CapabilitySet;

/// Makes the process undumpable.
pub(crate) fn hide_memory() {
    // No debugger of the same user, no core dump, and /proc/PID/mem is root's.
    let undumpable = rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable);
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    let no_core = rustix::process::setrlimit(Resource::Core, none);
    if undumpable.is_err() || no_core.is_err() {
        tracing::warn!("the kernel does not keep others from reading this process's memory");
    }
}

/// Makes the process undumpable and locks its memory. Whether the memory is locked.
pub(crate) fn harden() -> bool {
    hide_memory();
    let locked = lock_memory();
    if let Err(error) = locked {
        tracing::warn!(
            "the memory cannot be locked: {error}; a swap device may receive keys \
             (raise LimitMEMLOCK=, or run 'ulimit -l unlimited')"
        );
    }
    locked.is_ok()
}

fn lock_memory() -> rustix::io::Result<()> {
    let everything = MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT;
    match may_lock_all() {
        true => rustix::mm::mlockall(everything),
        false => Err(rustix::io::Errno::NOMEM),
    }
}

/// Makes the process of the verbs what it has to be: it ends with the service and not before, has a name of its own, and its memory is as
/// the service's. (Where the memory cannot be locked, the service has said so.)
pub(crate) fn confine(name: &CStr) {
    let _ = rustix::thread::set_name(name);
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
        // A service manager tells all processes to end. The service tells this one, once its callers have their answers.
        // SAFETY: ignores a signal.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    // Where memory runs out, the kernel ends this process rather than the service. Nobody may write that later.
    let _ = std::fs::write("/proc/self/oom_score_adj", "500");
    hide_memory();
    let _ = lock_memory();
}

/// What the process of the verbs inherits: its standard input and its standard output. Whatever else it has, but for the log, is closed.
///
/// # Errors
/// They are not there.
pub(crate) fn inherited() -> io::Result<[OwnedFd; 2]> {
    // SAFETY: closes what is nobody's: this process has just begun.
    unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, 0) };
    for descriptor in [0, 1] {
        // SAFETY: asks for a descriptor's flags.
        if unsafe { libc::fcntl(descriptor, libc::F_GETFD) } < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    // SAFETY: both are there, and nothing else in this process uses them.
    Ok([0, 1].map(|descriptor| unsafe { OwnedFd::from_raw_fd(descriptor) }))
}

/// Whether all memory that the process will ever have may be locked: where there is a limit, what comes after it would
/// be refused, and the service would end.
fn may_lock_all() -> bool {
    /// No service needs that much.
    const ENOUGH: u64 = 1 << 30;
    let limit = rustix::process::getrlimit(Resource::Memlock).current;
    let capabilities = rustix::thread::capabilities(None);
    limit.is_none_or(|limit| limit >= ENOUGH)
        || capabilities.is_ok_and(|sets| sets.effective.contains(CapabilitySet::IPC_LOCK))
}

/// Ends the process where a thread panics, with a line in the log: a service that has lost a part of itself serves worse
/// than one that starts anew, and clients ask again.
pub(crate) fn end_on_panic() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        tracing::error!(
            "an error in the service's own program at {}; the service ends",
            place.as_deref().unwrap_or("an unknown place")
        );
        std::process::abort();
    }));
}

/// Lets the process have as many descriptors as it may.
pub(crate) fn raise_descriptors() {
    let limit = rustix::process::getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    let _ = rustix::process::setrlimit(Resource::Nofile, raised);
}

/// How many descriptors the process may have.
pub(crate) fn descriptors() -> usize {
    let limit = rustix::process::getrlimit(Resource::Nofile).current;
    limit.map_or(usize::MAX, |limit| {
        usize::try_from(limit).unwrap_or(usize::MAX)
    })
}
