//! The card service, as this process reaches it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicPtr, Ordering::AcqRel, Ordering::Acquire};
use std::time::Duration;

use outboard_cca::Description;
use outboard_client::{Client, Problem, Settings};
use outboard_wire::{SERVICE_LIMIT, SYSTEM_DIRECTORY, Status};
use zeroize::Zeroizing;

use crate::call::Codes;

/// The environment variable that names the directory of another service than the system's.
const VARIABLE: &str = "OUTBOARD_CCA";
/// How long a verb that takes long is waited for.
const LONG: Duration = Duration::from_secs(120);

/// Asks the service for a verb.
pub(crate) fn ask(
    verb: &Description,
    request: &[u8],
    answer: &mut Zeroizing<Vec<u8>>,
) -> Result<(), Codes> {
    let limit = match verb.takes_long() {
        true => LONG,
        false => SERVICE_LIMIT,
    };
    let asked = client().verb(request, verb.changes(), limit, answer);
    asked.map_err(|problem| match problem {
        // The user has no grant.
        Problem::Refused {
            status: Status::Denied,
            ..
        } => Codes(8, 90),
        Problem::Long { .. } => Codes(8, 153),
        Problem::Refused {
            status: Status::Malformed | Status::Failed,
            ..
        }
        | Problem::Misunderstood(_) => Codes(16, 337),
        // The service is not there, or its coprocessor is off.
        _ => Codes(12, 338),
    })
}

/// The client, made at the first call. No lock, which a fork could find taken: of two that are made at the same time, one stays.
fn client() -> &'static Client {
    static CLIENT: AtomicPtr<Client> = AtomicPtr::new(std::ptr::null_mut());
    let known = CLIENT.load(Acquire);
    if known.is_null() {
        let made = Box::into_raw(Box::new(Client::new(Settings::of(&directory()))));
        let null = std::ptr::null_mut();
        if CLIENT
            .compare_exchange(null, made, AcqRel, Acquire)
            .is_err()
        {
            // SAFETY: made above, and nobody else knows it.
            drop(unsafe { Box::from_raw(made) });
        }
    }
    // SAFETY: not null any more, and never freed.
    unsafe { &*CLIENT.load(Acquire) }
}

/// A variable of the environment. A program that has more rights than its user takes nothing from the user.
pub(crate) fn of_user(name: &str) -> Option<OsString> {
    // SAFETY: has no preconditions.
    match unsafe { libc::getauxval(libc::AT_SECURE) } {
        0 => std::env::var_os(name),
        _ => None,
    }
}

fn directory() -> PathBuf {
    match of_user(VARIABLE) {
        Some(directory) if !directory.is_empty() => directory.into(),
        _ => SYSTEM_DIRECTORY.into(),
    }
}
