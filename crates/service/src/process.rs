//! What the service and its front ask of the kernel for themselves: nobody else reads their memory.

use rustix::mm::MlockAllFlags;
use rustix::process::{DumpableBehavior, Resource, Rlimit};
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
    let everything = MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT;
    let locked = match may_lock_all() {
        true => rustix::mm::mlockall(everything),
        false => Err(rustix::io::Errno::NOMEM),
    };
    if let Err(error) = locked {
        tracing::warn!(
            "the memory cannot be locked: {error}; a swap device may receive keys \
             (raise LimitMEMLOCK=, or run 'ulimit -l unlimited')"
        );
    }
    locked.is_ok()
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
