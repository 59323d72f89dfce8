//! A verb that ends the process: its request is marked, so that the service answers its caller and nobody else is blamed.

use std::cell::Cell;
use std::ptr;

use super::watchdog;
use crate::coprocessor::board::Place;

thread_local! {
    /// What this thread is at. Read by a signal handler, so there is nothing to make or to destroy.
    static PLACE: Cell<Option<&'static Place>> = const { Cell::new(None) };
}

/// What a fault, or an abort, sends.
const SIGNALS: [libc::c_int; 6] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGILL,
    libc::SIGFPE,
    libc::SIGABRT,
    libc::SIGSYS,
];

/// Marks what ends the process from now on, whichever thread does.
pub(super) fn watch() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        // Not what the panic says: it may have a secret in it.
        tracing::error!(
            "an error in the coprocessor's own program at {}; its process ends",
            place.as_deref().unwrap_or("an unknown place")
        );
        std::process::abort();
    }));
    for signal in SIGNALS {
        // SAFETY: a handler that stores a number; zeros are an empty set of signals, and the values are ours. Afterwards the signal does
        // what it does by default: a fault happens again when the handler returns, and abort(3) sends its signal again.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = mark as extern "C" fn(libc::c_int) as libc::sighandler_t;
            action.sa_flags = libc::SA_ONSTACK | libc::SA_RESETHAND | libc::SA_NODEFER;
            libc::sigaction(signal, &raw const action, ptr::null_mut());
        }
    }
}

/// This thread carries out what stands at that place.
pub(super) fn at(place: &'static Place) {
    place.belongs_to(watchdog::clock());
    PLACE.set(Some(place));
}

/// What this thread carries out, if it carries out verbs.
pub(super) fn place() -> Option<&'static Place> {
    PLACE.get()
}

extern "C" fn mark(_: libc::c_int) {
    if let Some(place) = PLACE.get() {
        place.ends_the_process(place.begun());
    }
}

/// Ends the process as a test asks: a random number of the form `CRASH-…`. Release builds lack this.
#[cfg(debug_assertions)]
pub(super) fn on_demand(request: &outboard_cca::Request) {
    let outboard_cca::Request::RandomNumberGenerate(request) = request else {
        return;
    };
    match request.form.text() {
        "CRASH-PA" => panic!("a test asks for it"),
        "CRASH-AB" => std::process::abort(),
        "CRASH-SE" => {
            // SAFETY: none: the process is to end by a fault.
            unsafe { ptr::null_mut::<u8>().wrapping_add(8).write_volatile(1) };
        }
        "CRASH-ST" => {
            overflow(0);
        }
        "CRASH-LO" => {
            watchdog::hurry();
            loop {
                std::hint::black_box(0);
            }
        }
        // Long enough to be killed in.
        "CRASH-WA" => std::thread::sleep(std::time::Duration::from_secs(3)),
        _ => {}
    }
}

/// Keeps a verb under way that has changed what is stored, where a test asks for it.
#[cfg(debug_assertions)]
pub(super) fn wait_on_demand(request: &outboard_cca::Request) {
    if let outboard_cca::Request::KeyRecordCreate(request) = request
        && request.key_label.starts_with(b"CRASH-WA")
    {
        std::thread::sleep(std::time::Duration::from_secs(3));
    }
}

/// Overflows the stack.
#[cfg(debug_assertions)]
#[allow(unconditional_recursion, reason = "that is its purpose")]
fn overflow(depth: u64) -> u64 {
    let room = std::hint::black_box([depth; 512]);
    overflow(room[7] + 1) + room[9]
}
