//! Path `wide` of ML-KEM: one operation across the lanes. It was not measured yet: only a profile of this machine chooses it.
//!
//! The lanes wipe what they used. They want more of the processor than other lanes do: VBMI2 and VNNI, too.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use outboard_lanes::ml_kem::{self as lanes, wide};

use super::{SECRET, SEED, Secret, Set};
use crate::card::stack;
use crate::scalar::SecretBytes;
use crate::{Operation, Path, ledger};

/// Whether this processor, or this build in its place, has the lanes for it.
pub fn are_there() -> bool {
    cfg!(feature = "emulated-lanes") || wide::available()
}

/// Runs an operation on path `wide` where that is the path, and counts it. None where the lanes have no answer: they are
/// not there, or the input is none; path `scalar` finds out.
pub(super) fn on<R>(
    path: Path,
    operation: Operation,
    run: impl FnOnce() -> Option<R>,
) -> Option<R> {
    if path != Path::Wide || !are_there() {
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

/// The halves of a seed's key.
pub(super) fn generate(set: Set, seed: &[u8]) -> Option<(Box<[u8]>, SecretBytes)> {
    let seed: &[u8; SEED] = seed.try_into().ok()?;
    let (halves, _) = seed.as_chunks();
    let mut pair = wide::generate(of(set), &halves[0], &halves[1]).ok()?;
    let private = SecretBytes::whole(mem::take(&mut pair.decapsulation_key));
    Some((pair.encapsulation_key.into(), private))
}

/// A ciphertext for a public half, and its secret.
pub(super) fn encapsulate(
    set: Set,
    public: &[u8],
    message: &[u8; SECRET],
) -> Option<(Vec<u8>, Secret)> {
    let both = wide::encapsulate(of(set), public, message).ok()?;
    Some((both.ciphertext, both.secret))
}

/// The secret of a ciphertext, by a private half.
pub(super) fn decapsulate(set: Set, private: &[u8], ciphertext: &[u8]) -> Option<Secret> {
    wide::decapsulate(of(set), private, ciphertext).ok()
}

const fn of(set: Set) -> lanes::Set {
    match set {
        Set::MlKem512 => lanes::Set::MlKem512,
        Set::MlKem768 => lanes::Set::MlKem768,
        Set::MlKem1024 => lanes::Set::MlKem1024,
    }
}
