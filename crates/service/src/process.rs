//! What the service asks of the kernel for itself: nobody else reads its memory.

use rustix::mm::MlockAllFlags;
use rustix::process::{DumpableBehavior, Resource, Rlimit};

/// Makes the process undumpable and locks its memory. Whether the memory is locked.
pub(crate) fn harden() -> bool {
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
    let everything = MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT;
    match rustix::mm::mlockall(everything) {
        Ok(()) => true,
        Err(error) => {
            tracing::warn!(
                "the memory cannot be locked: {error}; a swap device may receive keys \
                 (raise LimitMEMLOCK=, or run 'ulimit -l unlimited')"
            );
            false
        }
    }
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
