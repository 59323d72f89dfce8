//! Key management (provider-keymgmt(7)). Only generating a key is work; keys are never wrapped, so
//! everything else is the provider's own.

use std::ffi::{c_int, c_void};

use outboard_observation::lane;

use super::{Shim, erased, inner};
use crate::key;
use crate::slot::{self, Pointer, Slot, Table, slot};

pub(super) fn shim(id: c_int, slot: usize) -> Shim {
    match id {
        6 => {
            static GENERATE: Table<Generate> = slot::table!(generate);
            erased!(slot::of(&GENERATE, slot))
        }
        _ => Shim::Kept,
    }
}

type Progress = Option<unsafe extern "C" fn()>;
type Generate = unsafe extern "C" fn(Pointer, Progress, *mut c_void) -> Pointer;

unsafe extern "C" fn generate<const SLOT: usize>(
    context: Pointer,
    progress: Progress,
    argument: *mut c_void,
) -> Pointer {
    // SAFETY: as libcrypto called us.
    unsafe { generate_in(slot(SLOT), context, progress, argument) }
}

/// # Safety
/// As libcrypto called us, for the algorithm of that slot.
#[inline(never)]
unsafe extern "C" fn generate_in(
    slot: &Slot,
    context: Pointer,
    progress: Progress,
    argument: *mut c_void,
) -> Pointer {
    let inner = inner!(slot, 6, fn(Pointer, Progress, *mut c_void) -> Pointer);
    let start = slot.now();
    // SAFETY: everything as it came.
    let key = unsafe { inner(context, progress, argument) };
    let ticks = slot.since(start);
    let mut mark = slot.mark;
    let mut is_named = true;
    if let Some(questions) = slot.key_questions {
        let mut text = [0; 32];
        // SAFETY: a key just made by this key management, or null.
        let length = unsafe { key::describe(questions, key, &mut text) };
        mark = mark.with_key(&text[..length]);
        is_named = !text[0].is_ascii_digit();
    }
    if let Some(row) = slot.row(slot.recorder.ticket(), lane(), mark) {
        // SAFETY: as above, and asked only where it is not null.
        let is_empty = || unsafe { is_empty(slot, key) };
        if key.is_null() {
            row.fail(ticks);
        } else if is_named && is_empty() {
            row.prepare(0, ticks);
        } else {
            row.add(0, ticks);
        }
    }
    key
}

/// Whether a key is none yet, but the name of a group: TLS makes one to put a peer's public key in. (Other parameters,
/// Diffie-Hellman's, are work to find.)
///
/// # Safety
/// The key is of that slot's key management, and alive.
unsafe fn is_empty(slot: &Slot, key: Pointer) -> bool {
    /// `OSSL_KEYMGMT_SELECT_PRIVATE_KEY`.
    const PRIVATE: c_int = 1;
    // libcrypto takes no key management without it.
    let has = inner!(slot, 21, fn(Pointer, c_int) -> c_int);
    // SAFETY: by the caller's word.
    unsafe { has(key, PRIVATE) == 0 }
}
