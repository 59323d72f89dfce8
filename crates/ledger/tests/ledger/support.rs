//! What the tests share: a directory that goes away, and children.

use std::path::{Path, PathBuf};

use outboard_ledger::{Ledger, Status};

/// A directory of the test's own, removed whatever happens.
pub(crate) struct Directory(tempfile::TempDir);

impl Directory {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("the temporary directory is writable"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Where the ledger of the test is.
    pub(crate) fn file(&self) -> PathBuf {
        self.path().join("ledger")
    }
}

/// A ledger that lives as long as the test process, as the real one does.
pub(crate) fn open(path: &Path) -> &'static Ledger {
    let ledger = Box::leak(Box::new(Ledger::open(path)));
    assert!(
        matches!(ledger.status(), Status::Shared(_)),
        "{}",
        ledger.status()
    );
    ledger
}

pub(crate) fn is_shared(ledger: &Ledger) -> bool {
    matches!(ledger.status(), Status::Shared(_))
}

/// A forked child that is waited for, or killed when dropped.
pub(crate) struct Child(libc::pid_t);

/// Forks. The child runs `work`, which must not allocate, lock or panic (other threads may hold any
/// lock), and leaves without a word, as a killed or exec'ing process does.
pub(crate) fn fork(work: impl FnOnce()) -> Child {
    // SAFETY: the child calls nothing but `work`, as just demanded, and `_exit`.
    match unsafe { libc::fork() } {
        -1 => panic!("cannot fork: {}", std::io::Error::last_os_error()),
        0 => {
            work();
            // SAFETY: ends the child without running anything of the test harness.
            unsafe { libc::_exit(0) }
        }
        pid => Child(pid),
    }
}

impl Child {
    pub(crate) fn pid(&self) -> u32 {
        self.0 as u32
    }

    /// Waits; panics unless it ended well.
    pub(crate) fn join(self) {
        let status = self.reap();
        assert_eq!(
            status, 0,
            "wait status {status:#x} (signal in the low byte)"
        );
    }

    pub(crate) fn kill(self) {
        // SAFETY: a child of ours that was not waited for yet.
        unsafe { libc::kill(self.0, libc::SIGKILL) };
        assert_eq!(self.reap(), libc::SIGKILL);
    }

    pub(crate) fn reap(self) -> i32 {
        let mut status = 0;
        // SAFETY: writes the status of a child of ours.
        let waited = unsafe { libc::waitpid(self.0, &mut status, 0) };
        assert_eq!(waited, self.0);
        std::mem::forget(self);
        status
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // SAFETY: as in `kill` and `reap`; a test is failing already.
        unsafe {
            libc::kill(self.0, libc::SIGKILL);
            libc::waitpid(self.0, std::ptr::null_mut(), 0);
        }
    }
}

/// Sleeps until killed.
pub(crate) fn wait_for_ever() {
    loop {
        // SAFETY: has no preconditions.
        unsafe { libc::pause() };
    }
}
