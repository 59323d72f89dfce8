//! What the tests of a client share.

#![allow(dead_code, reason = "each test uses its part")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::os::fd::{FromRawFd, OwnedFd};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use outboard_client::stand_in::Reply;
use outboard_client::{Client, Error, Key, Settings};
use outboard_wire::{KeyId, Operation, Request, Status};
use tempfile::TempDir;
use zeroize::Zeroizing;

pub(crate) const KEY: Key<'static> = Key {
    id: KeyId([7; 16]),
    name: "site",
    ticket: None,
};

/// One at a time: they count descriptors, and fork.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn client(directory: &Path, limit: Duration) -> Client {
    Client::new(Settings {
        limit,
        ..Settings::of(directory)
    })
}

pub(crate) const LONG: Duration = Duration::from_secs(20);
pub(crate) const SHORT: Duration = Duration::from_millis(300);

pub(crate) fn ask(client: &Client, value: &[u8]) -> Result<Vec<u8>, Error> {
    let mut result = Zeroizing::new(Vec::new());
    let operation = Operation::Ecdsa {
        digest: None,
        value,
    };
    client.ask(KEY, operation, &mut result)?;
    Ok(result.to_vec())
}

/// Answers what it was asked to sign.
pub(crate) fn echo(_: libc::uid_t, request: &Request<'_>) -> Reply {
    match request.operation {
        Operation::Ecdsa { value, .. } => Reply::Say(Status::Done, value.to_vec()),
        _ => Reply::Say(Status::NotAllowed, Vec::new()),
    }
}

pub(crate) fn place() -> TempDir {
    TempDir::new().unwrap()
}

pub(crate) fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Runs `body` in a child, whose status is 0 where it ends well.
pub(crate) fn fork(body: impl FnOnce()) -> libc::pid_t {
    // SAFETY: the child ends without running anything of the parent's.
    match unsafe { libc::fork() } {
        0 => {
            let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
            // SAFETY: ends the child.
            unsafe { libc::_exit(ended.is_err().into()) };
        }
        child => child,
    }
}

pub(crate) fn wait(child: libc::pid_t) -> i32 {
    let mut status = 0;
    // SAFETY: a child of ours.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    status
}

pub(crate) fn pipe() -> (OwnedFd, OwnedFd) {
    let mut ends = [0; 2];
    // SAFETY: room for two; both are ours.
    unsafe {
        assert_eq!(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC), 0);
        (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1]))
    }
}
