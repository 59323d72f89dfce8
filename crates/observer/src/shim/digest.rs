//! Digests (provider-digest(7)). An operation is a message: all of its parts, and its end.

use std::ffi::c_int;

use outboard_provider_abi::raw::Param;

use super::{Shim, begin, erased, forward, inner, timed};
use crate::context::Held;
use crate::slot::Pointer;

pub(super) fn shim(id: c_int) -> Shim {
    match id {
        1 => begin::new(),
        2 => erased!(init as unsafe extern "C" fn(_, _) -> _),
        3 => erased!(update as unsafe extern "C" fn(_, _, _) -> _),
        4 => erased!(finish as unsafe extern "C" fn(_, _, _, _) -> _),
        // A whole message without a context, for which no libcrypto asks.
        5 => Shim::Kept,
        6 => begin::free::<6>(),
        7 => begin::copy::<7>(),
        8 | 11 => Shim::Kept,
        9 => begin::set::<9>(),
        10 => begin::get::<10>(),
        12 => begin::list(),
        13 => begin::list(),
        14 => erased!(squeeze as unsafe extern "C" fn(_, _, _, _) -> _),
        15 => erased!(copy as unsafe extern "C" fn(_, _)),
        16 => erased!(serialize as unsafe extern "C" fn(_, _, _) -> _),
        17 => erased!(deserialize as unsafe extern "C" fn(_, _, _) -> _),
        _ => Shim::Unknown,
    }
}

unsafe extern "C" fn init(context: Pointer, params: *const Param) -> c_int {
    // SAFETY: libcrypto passes a context that it got from us.
    let held = unsafe { Held::of(context) };
    held.flush();
    let inner = inner!(held.slot(), 2, fn(Pointer, *const Param) -> c_int);
    // SAFETY: as it came, for the context that the provider made.
    unsafe { inner(held.own(), params) }
}

timed!(alone 3 update(input: *const u8, length: usize) -> c_int,
    |context, _, ticks| context.carry(length as u64, ticks));

timed!(alone 4 finish(out: *mut u8, length: *mut usize, size: usize) -> c_int,
    |context, answer, ticks| context.count_if(answer == 1, 0, ticks));

timed!(alone 14 squeeze(out: *mut u8, length: *mut usize, size: usize) -> c_int,
    |context, answer, ticks| context.count_if(answer == 1, 0, ticks));

forward!(16 serialize(out: *mut u8, length: *mut usize) -> c_int);
forward!(17 deserialize(input: *const u8, length: usize) -> c_int);

unsafe extern "C" fn copy(to: Pointer, from: Pointer) {
    // SAFETY: libcrypto passes contexts that it got from us, of the same algorithm.
    let (to, from) = unsafe { (Held::of(to), Held::of(from)) };
    to.flush();
    let inner = inner!(from.slot(), 15, fn(Pointer, Pointer));
    // SAFETY: the contexts that the provider made.
    unsafe { inner(to.own(), from.own()) }
}
