//! Key derivations (provider-kdf(7)). Bytes are those of the derived key.

use std::ffi::{c_char, c_int};

use outboard_provider_abi::raw::Param;

use super::{Shim, begin, erased, forward, timed};
use crate::slot::{Function, Pointer};

pub(super) fn shim(id: c_int, slot: usize) -> Shim {
    match id {
        1 => begin::new(slot),
        2 => begin::copy::<2>(),
        3 => begin::free::<3>(),
        4 => erased!(reset as unsafe extern "C" fn(_)),
        5 => erased!(derive as unsafe extern "C" fn(_, _, _, _) -> _),
        6 | 9 => Shim::Kept,
        7 => begin::gettable(slot),
        8 => begin::settable(slot),
        10 => begin::get::<10>(),
        11 => begin::set::<11>(),
        12 => erased!(set_key as unsafe extern "C" fn(_, _, _) -> _),
        13 => erased!(derive_key as unsafe extern "C" fn(_, _, _, _, _, _) -> _),
        _ => Shim::Unknown,
    }
}

forward!(4 reset());
forward!(12 set_key(key: Pointer, parameter: *const c_char) -> c_int);

timed!(5 derive(key: *mut u8, length: usize, params: *const Param) -> c_int,
|context, answer, ticks| {
    // SAFETY: an ended array or null, whole for the call.
    unsafe { context.notice(params) };
    // Without a place for a key only the parameters are looked at.
    if !key.is_null() {
        context.count_if(answer == 1, length as u64, ticks);
    }
});

timed!(13 derive_key(key_type: *const c_char, provider: Pointer, import: Option<Function>,
    length: usize, params: *const Param) -> Pointer,
|context, answer, ticks| {
    // SAFETY: an ended array or null, whole for the call.
    unsafe { context.notice(params) };
    context.count_if(!answer.is_null(), length as u64, ticks);
});
