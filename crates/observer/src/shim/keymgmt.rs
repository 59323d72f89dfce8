//! Key management (provider-keymgmt(7)). Only generating a key is counted; keys are never wrapped, so
//! everything else is the provider's own, or passed on to it.

use std::ffi::{c_int, c_void};

use super::{Shim, erase, inner, passing};
use crate::key;
use crate::slot::{self, Pointer, Slot, slot};

pub(super) fn shim(id: c_int) -> Shim {
    match id {
        6 => {
            static GENERATE: &[[Generate; 16]] =
                &slot::table!(generate, slot::KEY_MANAGEMENT; 0 16 32 48 64 80 96 112);
            const _: () = assert!(slot::KEY_MANAGEMENT + GENERATE.len() * 16 == slot::SLOTS);
            Shim::BySlot(|number| erase!(slot::of(GENERATE, number - slot::KEY_MANAGEMENT)))
        }
        8 => passing::load_key(),
        22 => passing::validate_key(),
        40 => passing::import_key(),
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
    if slot.is_within_another() {
        // SAFETY: everything as it came.
        return unsafe { inner(context, progress, argument) };
    }
    let clock = slot.recorder.clock();
    let start = clock.now();
    // SAFETY: everything as it came.
    let key = slot.within(|| unsafe { inner(context, progress, argument) });
    let ticks = clock.now().wrapping_sub(start);
    let mut mark = slot.mark;
    if let Some(get) = slot.key_params {
        let mut text = [0; 32];
        // SAFETY: a key just made by this key management, or null.
        let length = unsafe { key::describe(get, key, &mut text) };
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
