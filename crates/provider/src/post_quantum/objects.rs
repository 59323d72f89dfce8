//! Names of ML-DSA's object identifiers, which libcrypto before 3.5 lacks. X.509 finds a key and a signature by them.

use std::ffi::CStr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::thread::sleep;
use std::time::{Duration, Instant};

use outboard_engine::fork;
use outboard_provider_abi::Core;

/// Number, short and long name, as OpenSSL 3.5 has them.
pub(super) const OBJECTS: [[&CStr; 3]; 3] = [
    [c"2.16.840.1.101.3.4.3.17", c"id-ml-dsa-44", c"ML-DSA-44"],
    [c"2.16.840.1.101.3.4.3.18", c"id-ml-dsa-65", c"ML-DSA-65"],
    [c"2.16.840.1.101.3.4.3.19", c"id-ml-dsa-87", c"ML-DSA-87"],
];

/// The process whose thread tells names now; 0 where none does. No mutex: a fork could find it taken, and the child would wait for a
/// thread that it does not have.
static TELLS: AtomicU64 = AtomicU64::new(0);

/// The libcryptos that know the names, by an address in each. They stay as long as the process.
static TOLD: [AtomicUsize; 8] = [const { AtomicUsize::new(0) }; 8];

/// Longer than telling takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(1);
/// Between two looks.
const NAP: Duration = Duration::from_micros(50);

/// Tells libcrypto the names, and that a signature of each kind is by a key of that kind without a digest. The table is the
/// process's: names that are there already stay.
///
/// OpenSSL 3.0 writes into this table without a lock, and adds a signature again that is there already. So each libcrypto is told
/// once, by one thread.
pub(crate) fn name(core: &Core) {
    let Some(library) = core.address().map(<*const _>::addr) else {
        return;
    };
    let knows = || TOLD.iter().any(|told| told.load(SeqCst) == library);
    if knows() {
        return;
    }
    // Where another thread takes that long, it still tells them: to all of the process.
    let Some(_turn) = Turn::take() else { return };
    if knows() {
        return;
    }
    for [number, short, long] in OBJECTS {
        core.name_object(number, short, long);
        core.name_signature(short, short);
    }
    if let Some(free) = TOLD.iter().find(|told| told.load(SeqCst) == 0) {
        free.store(library, SeqCst);
    }
}

/// The turn to tell names, until dropped.
struct Turn;

impl Turn {
    /// Waits for it; none if it takes too long. One that a process had which forked this one is free.
    fn take() -> Option<Self> {
        let (ours, begun) = (fork::process(), Instant::now());
        while begun.elapsed() < PATIENCE {
            let theirs = match TELLS.load(SeqCst) {
                theirs if theirs == ours => {
                    sleep(NAP);
                    continue;
                }
                theirs => theirs,
            };
            if TELLS.compare_exchange(theirs, ours, SeqCst, SeqCst).is_ok() {
                return Some(Self);
            }
        }
        None
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        TELLS.store(0, SeqCst);
    }
}
