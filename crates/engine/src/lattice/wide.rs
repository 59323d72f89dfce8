//! Path `wide` of ML-KEM and of ML-DSA: one operation across the lanes.
//!
//! The lanes wipe what they used. They want more of the processor than other lanes do: VBMI2 and VNNI, too.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use crate::card::stack;
use crate::{Operation, Path, ledger};

/// Whether this processor, or this build in its place, has the lanes for it.
pub fn has_lanes() -> bool {
    // Both need the same instructions.
    cfg!(feature = "emulated-lanes")
        || outboard_lanes::ml_kem::wide::available() && outboard_lanes::ml_dsa::wide::available()
}

/// Runs an operation on path `wide` where that is the path, and counts it. None where the lanes have no answer: they are
/// not there, or the input is none; path `scalar` finds out.
pub(crate) fn on<R>(
    path: Path,
    operation: Operation,
    run: impl FnOnce() -> Option<R>,
) -> Option<R> {
    if path != Path::Wide || !has_lanes() {
        return None;
    }
    let started = Instant::now();
    // A panic in the lanes is caught here, as for other operations across them.
    let caught = || catch_unwind(AssertUnwindSafe(run)).ok().flatten();
    let result = stack::on_own(caught).flatten();
    if result.is_some() {
        ledger::record(operation, Path::Wide, 0, started.elapsed());
    }
    result
}
