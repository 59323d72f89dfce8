//! Digests (provider-digest(7)). An operation is a message: all of its parts, and its end.

use std::ffi::c_int;

use outboard_observation::lane;
use outboard_provider_abi::raw::Param;

use super::{Shim, begin, erased, forward, inner, timed};
use crate::context::Context;
use crate::slot::{self, Pointer, Slot, Table, slot};

pub(super) fn shim(id: c_int, slot: usize) -> Shim {
    match id {
        1 => begin::new(slot),
        2 => erased!(init as unsafe extern "C" fn(_, _) -> _),
        3 => erased!(update as unsafe extern "C" fn(_, _, _) -> _),
        4 => erased!(finish as unsafe extern "C" fn(_, _, _, _) -> _),
        5 => {
            static AT_ONCE: Table<AtOnce> = slot::table!(at_once);
            erased!(slot::of(&AT_ONCE, slot))
        }
        6 => begin::free::<6>(),
        7 => begin::copy::<7>(),
        8 | 11 => Shim::Kept,
        9 => begin::set::<9>(),
        10 => begin::get::<10>(),
        12 => begin::settable(slot),
        13 => begin::gettable(slot),
        14 => erased!(squeeze as unsafe extern "C" fn(_, _, _, _) -> _),
        15 => erased!(copy as unsafe extern "C" fn(_, _)),
        16 => erased!(serialize as unsafe extern "C" fn(_, _, _) -> _),
        17 => erased!(deserialize as unsafe extern "C" fn(_, _, _) -> _),
        _ => Shim::Unknown,
    }
}

type AtOnce = unsafe extern "C" fn(Pointer, *const u8, usize, *mut u8, *mut usize, usize) -> c_int;

unsafe extern "C" fn init(context: Pointer, params: *const Param) -> c_int {
    // SAFETY: libcrypto passes a context that it got from us.
    let context = unsafe { Context::of(context) };
    context.flush();
    let inner = inner!(context.slot, 2, fn(Pointer, *const Param) -> c_int);
    // SAFETY: as it came, for the context that the provider made.
    unsafe { inner(context.inner, params) }
}

timed!(3 update(input: *const u8, length: usize) -> c_int,
    |context, _, ticks| context.carry(length as u64, ticks));

timed!(4 finish(out: *mut u8, length: *mut usize, size: usize) -> c_int,
    |context, answer, ticks| context.count_if(answer == 1, squeezed(size), ticks));

timed!(14 squeeze(out: *mut u8, length: *mut usize, size: usize) -> c_int,
    |context, answer, ticks| context.count_if(answer == 1, squeezed(size), ticks));

/// The bytes of a long answer, which are as much work as those of a message. (No digest of a length of its own is
/// longer than 64.)
fn squeezed(size: usize) -> u64 {
    match size {
        ..=64 => 0,
        longer => longer as u64,
    }
}

forward!(16 serialize(out: *mut u8, length: *mut usize) -> c_int);
forward!(17 deserialize(input: *const u8, length: usize) -> c_int);

unsafe extern "C" fn copy(to: Pointer, from: Pointer) {
    // SAFETY: libcrypto passes contexts that it got from us, of the same algorithm.
    let (to, from) = unsafe { (Context::of(to), Context::of(from)) };
    to.flush();
    let inner = inner!(from.slot, 15, fn(Pointer, Pointer));
    // SAFETY: the contexts that the provider made.
    unsafe { inner(to.inner, from.inner) }
}

/// A whole message without a context.
unsafe extern "C" fn at_once<const SLOT: usize>(
    provider: Pointer,
    input: *const u8,
    length: usize,
    out: *mut u8,
    out_length: *mut usize,
    size: usize,
) -> c_int {
    // SAFETY: as libcrypto called us.
    unsafe { at_once_in(slot(SLOT), provider, input, length, out, out_length, size) }
}

/// # Safety
/// As libcrypto called us, for the algorithm of that slot.
#[inline(never)]
unsafe extern "C" fn at_once_in(
    slot: &Slot,
    provider: Pointer,
    input: *const u8,
    length: usize,
    out: *mut u8,
    out_length: *mut usize,
    size: usize,
) -> c_int {
    let inner = inner!(
        slot,
        5,
        fn(Pointer, *const u8, usize, *mut u8, *mut usize, usize) -> c_int
    );
    let start = slot.now();
    // SAFETY: everything as it came.
    let answer = unsafe { inner(provider, input, length, out, out_length, size) };
    let ticks = slot.since(start);
    if let Some(row) = slot.row(slot.recorder.ticket(), lane(), slot.mark) {
        match answer {
            1 => row.add(length as u64, ticks),
            _ => row.fail(ticks),
        }
    }
    answer
}
