//! Symmetric ciphers (provider-cipher(7)). An operation is a piece of data; what surrounds it (a new
//! vector, additional data, the tag) takes time but is none, and is counted with the next.

use std::ffi::c_int;

use outboard_observation::Operation;
use outboard_provider_abi::raw::Param;

use super::{Shim, begin, erased, timed};
use crate::context::Context;
use crate::slot::Pointer;

pub(super) fn shim(id: c_int, slot: usize) -> Shim {
    match id {
        1 => begin::new(slot),
        2 => erased!(encrypt_init as unsafe extern "C" fn(_, _, _, _, _, _) -> _),
        3 => erased!(decrypt_init as unsafe extern "C" fn(_, _, _, _, _, _) -> _),
        4 => erased!(update as unsafe extern "C" fn(_, _, _, _, _, _) -> _),
        5 => erased!(finish as unsafe extern "C" fn(_, _, _, _) -> _),
        6 => erased!(at_once as unsafe extern "C" fn(_, _, _, _, _, _) -> _),
        7 => begin::free::<7>(),
        8 => begin::copy::<8>(),
        9 | 12 => Shim::Kept,
        10 => begin::get::<10>(),
        11 => begin::set::<11>(),
        13 => begin::gettable(slot),
        14 => begin::settable(slot),
        15 => erased!(encrypt_pipes_init as unsafe extern "C" fn(_, _, _, _, _, _, _) -> _),
        16 => erased!(decrypt_pipes_init as unsafe extern "C" fn(_, _, _, _, _, _, _) -> _),
        17 => erased!(update_pipes as unsafe extern "C" fn(_, _, _, _, _, _, _) -> _),
        18 => erased!(finish_pipes as unsafe extern "C" fn(_, _, _, _, _) -> _),
        19 => erased!(encrypt_init_with as unsafe extern "C" fn(_, _, _, _, _) -> _),
        20 => erased!(decrypt_init_with as unsafe extern "C" fn(_, _, _, _, _) -> _),
        _ => Shim::Unknown,
    }
}

/// A key is prepared, or only a vector set.
fn begun(context: &Context, operation: Operation, has_key: bool, ticks: u64) {
    context.set_operation(operation);
    if has_key {
        context.prepare(ticks);
    } else {
        context.carry(0, ticks);
    }
}

timed!(2 encrypt_init(key: *const u8, key_length: usize, vector: *const u8, vector_length: usize,
        params: *const Param) -> c_int,
    |context, _, ticks| begun(context, Operation::Seal, !key.is_null(), ticks));

timed!(3 decrypt_init(key: *const u8, key_length: usize, vector: *const u8, vector_length: usize,
        params: *const Param) -> c_int,
    |context, _, ticks| begun(context, Operation::Open, !key.is_null(), ticks));

timed!(19 encrypt_init_with(key: Pointer, vector: *const u8, vector_length: usize,
        params: *const Param) -> c_int,
    |context, _, ticks| begun(context, Operation::Seal, !key.is_null(), ticks));

timed!(20 decrypt_init_with(key: Pointer, vector: *const u8, vector_length: usize,
        params: *const Param) -> c_int,
    |context, _, ticks| begun(context, Operation::Open, !key.is_null(), ticks));

/// Data was processed; without an output it is additional data, without an input the end.
fn processed(context: &Context, answer: c_int, is_data: bool, bytes: usize, ticks: u64) {
    if is_data {
        context.count_if(answer == 1, bytes as u64, ticks);
    } else if answer == 1 {
        context.carry(0, ticks);
    } else {
        context.count_if(false, 0, ticks);
    }
}

timed!(4 update(out: *mut u8, out_length: *mut usize, size: usize, input: *const u8, length: usize)
    -> c_int,
|context, answer, ticks| {
    processed(context, answer, !out.is_null() && !input.is_null(), length, ticks);
});

timed!(6 at_once(out: *mut u8, out_length: *mut usize, size: usize, input: *const u8, length: usize)
    -> c_int,
|context, answer, ticks| {
    processed(context, answer, !out.is_null() && !input.is_null(), length, ticks);
});

timed!(5 finish(out: *mut u8, length: *mut usize, size: usize) -> c_int,
    |context, answer, ticks| processed(context, answer, false, 0, ticks));

timed!(15 encrypt_pipes_init(key: *const u8, key_length: usize, pipes: usize,
        vectors: *const *const u8, vector_length: usize, params: *const Param) -> c_int,
    |context, _, ticks| begun(context, Operation::Seal, !key.is_null(), ticks));

timed!(16 decrypt_pipes_init(key: *const u8, key_length: usize, pipes: usize,
        vectors: *const *const u8, vector_length: usize, params: *const Param) -> c_int,
    |context, _, ticks| begun(context, Operation::Open, !key.is_null(), ticks));

timed!(17 update_pipes(pipes: usize, out: *const *mut u8, out_lengths: *mut usize,
    sizes: *const usize, inputs: *const *const u8, lengths: *const usize) -> c_int,
|context, answer, ticks| {
    let is_data = !out.is_null() && !inputs.is_null();
    let bytes = match lengths.is_null() {
        true => 0,
        // SAFETY: as many lengths as there are pipes.
        false => unsafe { std::slice::from_raw_parts(lengths, pipes) }.iter().sum(),
    };
    processed(context, answer, is_data, bytes, ticks);
});

timed!(18 finish_pipes(pipes: usize, out: *const *mut u8, lengths: *mut usize, sizes: *const usize)
        -> c_int,
    |context, answer, ticks| processed(context, answer, false, 0, ticks));
