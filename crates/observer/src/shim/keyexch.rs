//! Key exchanges (provider-keyexch(7)).

use std::ffi::{c_char, c_int};

use outboard_provider_abi::raw::Param;

use super::{Shim, begin, erased, timed};
use crate::slot::{Function, Pointer};

pub(super) fn shim(id: c_int, slot: usize) -> Shim {
    match id {
        1 => begin::new(slot),
        2 => erased!(init as unsafe extern "C" fn(_, _, _) -> _),
        3 => erased!(derive as unsafe extern "C" fn(_, _, _, _) -> _),
        4 => erased!(set_peer as unsafe extern "C" fn(_, _) -> _),
        5 => begin::free::<5>(),
        6 => begin::copy::<6>(),
        7 => begin::set::<7>(),
        8 => begin::settable(slot),
        9 => begin::get::<9>(),
        10 => begin::gettable(slot),
        11 => erased!(derive_key as unsafe extern "C" fn(_, _, _, _, _, _) -> _),
        _ => Shim::Unknown,
    }
}

timed!(2 init(key: Pointer, params: *const Param) -> c_int,
|context, _, ticks| {
    // SAFETY: libcrypto passes a key of the same provider.
    unsafe { context.set_key(key) };
    context.carry(0, ticks);
});

// Setting the peer checks its key.
timed!(4 set_peer(key: Pointer) -> c_int, |context, _, ticks| context.carry(0, ticks));

timed!(3 derive(secret: *mut u8, length: *mut usize, size: usize) -> c_int,
|context, answer, ticks| if !secret.is_null() {
    context.count_if(answer == 1, 0, ticks);
});

timed!(11 derive_key(key_type: *const c_char, provider: Pointer, import: Option<Function>,
        length: usize, params: *const Param) -> Pointer,
    |context, answer, ticks| context.count_if(!answer.is_null(), 0, ticks));
