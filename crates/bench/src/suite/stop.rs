//! Ctrl-C: stops every started program and keeps the figures.
//!
//! Every figure is on disk as soon as it is recorded, so nothing must be rescued. The handler kills the started programs,
//! lets a file that is being written finish, and ends the process.

use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use outboard_programs::clean_up_on_signals_then;

/// Set by a signal before anything is killed because of it.
static STOPPED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Held while a result is written.
static WRITING: Mutex<()> = Mutex::new(());

/// From now on SIGINT, SIGTERM and SIGHUP end this process in good order.
///
/// # Errors
/// If the handlers cannot be installed.
pub(super) fn on_signals(directory: &Path) -> io::Result<()> {
    let stopped = STOPPED.get_or_init(Arc::default);
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(stopped))?;
    }
    let directory = directory.to_owned();
    clean_up_on_signals_then(move || {
        // Never given back: nothing is written after this.
        std::mem::forget(writing());
        // The reader of this message may be gone. That must not keep the process from ending.
        let _ = writeln!(
            io::stderr(),
            "\noutboard-bench: stopped; the results so far are in {}",
            directory.display()
        );
    })
}

/// While it is held, a signal waits with ending the process.
pub(super) fn writing() -> MutexGuard<'static, ()> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Call this when something went wrong: if it did because programs were killed after a signal, it
/// does not return, as the process is about to end.
pub(super) fn wait_if_stopped() {
    while STOPPED
        .get()
        .is_some_and(|stopped| stopped.load(Ordering::SeqCst))
    {
        std::thread::park();
    }
}
