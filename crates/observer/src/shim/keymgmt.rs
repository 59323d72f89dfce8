//! Key management (provider-keymgmt(7)). Only generating a key is work; keys are never wrapped, so
//! everything else is the provider's own.

use std::ffi::{c_int, c_void};

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
unsafe fn generate_in(
    slot: &Slot,
    context: Pointer,
    progress: Progress,
    argument: *mut c_void,
) -> Pointer {
    let inner = inner!(slot, 6, fn(Pointer, Progress, *mut c_void) -> Pointer);
    let clock = slot.recorder.clock();
    let start = clock.now();
    // SAFETY: everything as it came.
    let key = unsafe { inner(context, progress, argument) };
    let ticks = clock.now().wrapping_sub(start);
    let mut mark = slot.mark;
    if let Some(questions) = slot.key_questions {
        let mut text = [0; 32];
        // SAFETY: a key just made by this key management, or null.
        let length = unsafe { key::describe(questions, key, &mut text) };
        mark = mark.with_key(&text[..length]);
    }
    if let Some(row) = slot.row(slot.recorder.ticket(), mark) {
        match key.is_null() {
            true => row.fail(ticks),
            false => row.add(0, ticks),
        }
    }
    key
}
