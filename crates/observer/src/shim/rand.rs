//! Random generators (provider-rand(7)) pass unobserved, but for one thing: OpenSSL 3.5 tells a
//! generator the name of its provider, to take its cipher from that one. The generator looks for it in
//! our own library context, which knows the provider by another name, and knows only that one: so the
//! name is left out.

use std::ffi::{CStr, c_int, c_uint};

use outboard_provider_abi::raw::Param;

use super::{Shim, erased, inner};
use crate::slot::{self, Pointer, Slot, Table, slot};

pub(super) fn shim(id: c_int, slot: usize) -> Shim {
    match id {
        3 => {
            static INSTANTIATE: Table<Instantiate> = slot::table!(instantiate);
            erased!(slot::of(&INSTANTIATE, slot))
        }
        _ => Shim::Kept,
    }
}

type Instantiate =
    unsafe extern "C" fn(Pointer, c_uint, c_int, *const u8, usize, *const Param) -> c_int;

unsafe extern "C" fn instantiate<const SLOT: usize>(
    context: Pointer,
    strength: c_uint,
    prediction_resistance: c_int,
    personalisation: *const u8,
    length: usize,
    params: *const Param,
) -> c_int {
    let others = (strength, prediction_resistance, personalisation, length);
    // SAFETY: as libcrypto called us.
    unsafe { instantiate_in(slot(SLOT), context, others, params) }
}

/// Not within the functions of each slot, which have to stay small together.
///
/// # Safety
/// As libcrypto called us, for the algorithm of that slot.
#[inline(never)]
unsafe fn instantiate_in(
    slot: &'static Slot,
    context: Pointer,
    (strength, prediction_resistance, personalisation, length): (c_uint, c_int, *const u8, usize),
    params: *const Param,
) -> c_int {
    const PROVIDER_NAME: &CStr = c"provider-name";
    let inner = inner!(
        slot,
        3,
        fn(Pointer, c_uint, c_int, *const u8, usize, *const Param) -> c_int
    );
    // SAFETY: an ended array or null, whole for the call.
    let kept = unsafe { crate::params::without(params, PROVIDER_NAME) };
    let params = kept.as_ref().map_or(params, |kept| kept.as_ptr());
    // SAFETY: everything else as it came.
    unsafe {
        inner(
            context,
            strength,
            prediction_resistance,
            personalisation,
            length,
            params,
        )
    }
}
