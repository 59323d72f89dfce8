//! Message authentication codes (provider-mac(7)). An operation is a message.

use std::ffi::c_int;

use outboard_provider_abi::raw::Param;

use super::{Shim, begin, erased, timed};
use crate::slot::Pointer;

pub(super) fn shim(id: c_int, slot: usize) -> Shim {
    match id {
        1 => begin::new(slot),
        2 => begin::copy::<2>(),
        3 => begin::free::<3>(),
        4 => erased!(init as unsafe extern "C" fn(_, _, _, _) -> _),
        5 => erased!(update as unsafe extern "C" fn(_, _, _) -> _),
        6 => erased!(finish as unsafe extern "C" fn(_, _, _, _) -> _),
        7 | 10 => Shim::Kept,
        8 => begin::get::<8>(),
        9 => begin::set::<9>(),
        11 => begin::gettable(slot),
        12 => begin::settable(slot),
        13 => erased!(init_with as unsafe extern "C" fn(_, _, _) -> _),
        _ => Shim::Unknown,
    }
}

timed!(4 init(key: *const u8, length: usize, params: *const Param) -> c_int,
|context, _, ticks| {
    context.flush();
    // SAFETY: an ended array or null, whole for the call.
    unsafe { context.notice(params) };
    context.carry(0, ticks);
});

timed!(13 init_with(key: Pointer, params: *const Param) -> c_int,
|context, _, ticks| {
    context.flush();
    // SAFETY: an ended array or null, whole for the call.
    unsafe { context.notice(params) };
    context.carry(0, ticks);
});

timed!(5 update(input: *const u8, length: usize) -> c_int,
    |context, _, ticks| context.carry(length as u64, ticks));

timed!(6 finish(out: *mut u8, length: *mut usize, size: usize) -> c_int,
|context, answer, ticks| match out.is_null() {
    true => context.carry(0, ticks),
    false => context.count_if(answer == 1, 0, ticks),
});
