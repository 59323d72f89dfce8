//! What must not outlive us: process trees and directories, also when a signal ends us.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::tree::kill_tree;

/// Everything that is alive now.
struct Leftovers {
    processes: BTreeSet<u32>,
    directories: BTreeSet<PathBuf>,
}

static LEFTOVERS: Mutex<Leftovers> = Mutex::new(Leftovers {
    processes: BTreeSet::new(),
    directories: BTreeSet::new(),
});

/// From now on SIGINT, SIGTERM and SIGHUP kill what was started, remove what was written and end
/// this process with status 128 + signal. For a command's `main`; a library's user decides.
///
/// # Errors
/// If the handlers cannot be installed.
pub fn clean_up_on_signals() -> std::io::Result<()> {
    clean_up_on_signals_then(|| {})
}

/// As [`clean_up_on_signals`], and does something last, on a thread of its own, before the process
/// ends.
///
/// # Errors
/// If the handlers cannot be installed.
pub fn clean_up_on_signals_then(last: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            if let Some(signal) = signals.forever().next() {
                // Kept until the process ends: nothing that must be whole begins any more.
                let _whole = uninterrupted();
                clean_up();
                last();
                std::process::exit(128 + signal);
            }
        })?;
    Ok(())
}

/// Does something that must be whole: a signal of [`clean_up_on_signals`] waits for its end.
pub fn without_interruption<T>(work: impl FnOnce() -> T) -> T {
    let _whole = uninterrupted();
    work()
}

fn uninterrupted() -> MutexGuard<'static, ()> {
    static UNINTERRUPTED: Mutex<()> = Mutex::new(());
    UNINTERRUPTED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn clean_up() {
    // The lock is kept until the process ends, so that nothing new can be registered meanwhile.
    let leftovers = leftovers();
    for &process in &leftovers.processes {
        kill_tree(process);
    }
    for directory in &leftovers.directories {
        // A process that is dying may still write: a second try finds it dead.
        if std::fs::remove_dir_all(directory).is_err() {
            std::thread::sleep(std::time::Duration::from_millis(50));
            let _ = std::fs::remove_dir_all(directory);
        }
    }
    std::mem::forget(leftovers);
}

pub(crate) fn register_process(process: u32) {
    leftovers().processes.insert(process);
}

pub(crate) fn forget_process(process: u32) {
    leftovers().processes.remove(&process);
}

pub(crate) fn register_directory(directory: &Path) {
    leftovers().directories.insert(directory.to_owned());
}

pub(crate) fn forget_directory(directory: &Path) {
    leftovers().directories.remove(directory);
}

fn leftovers() -> MutexGuard<'static, Leftovers> {
    // A panic between two set operations leaves both sets whole.
    LEFTOVERS.lock().unwrap_or_else(PoisonError::into_inner)
}
