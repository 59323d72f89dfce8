//! Signatures (provider-signature(7)). Bytes are those of a message that is hashed within.

use std::ffi::{c_char, c_int};

use outboard_observation::Operation;
use outboard_provider_abi::raw::Param;

use super::{Shim, begin, erased, forward, timed};
use crate::context::Context;
use crate::slot::Pointer;

pub(super) fn shim(id: c_int, slot: usize) -> Shim {
    match id {
        1 => begin::new_with_query(slot),
        2 => erased!(sign_init as unsafe extern "C" fn(_, _, _) -> _),
        3 => erased!(sign as unsafe extern "C" fn(_, _, _, _, _, _) -> _),
        4 => erased!(verify_init as unsafe extern "C" fn(_, _, _) -> _),
        5 => erased!(verify as unsafe extern "C" fn(_, _, _, _, _) -> _),
        6 => erased!(recover_init as unsafe extern "C" fn(_, _, _) -> _),
        7 => erased!(recover as unsafe extern "C" fn(_, _, _, _, _, _) -> _),
        8 => erased!(digest_sign_init as unsafe extern "C" fn(_, _, _, _) -> _),
        9 => erased!(digest_sign_update as unsafe extern "C" fn(_, _, _) -> _),
        10 => erased!(digest_sign_final as unsafe extern "C" fn(_, _, _, _) -> _),
        11 => erased!(digest_sign as unsafe extern "C" fn(_, _, _, _, _, _) -> _),
        12 => erased!(digest_verify_init as unsafe extern "C" fn(_, _, _, _) -> _),
        13 => erased!(digest_verify_update as unsafe extern "C" fn(_, _, _) -> _),
        14 => erased!(digest_verify_final as unsafe extern "C" fn(_, _, _) -> _),
        15 => erased!(digest_verify as unsafe extern "C" fn(_, _, _, _, _) -> _),
        16 => begin::free::<16>(),
        17 => begin::copy::<17>(),
        18 => begin::get::<18>(),
        19 => begin::gettable(slot),
        20 => begin::set::<20>(),
        21 => begin::settable(slot),
        22 => erased!(get_digest_params as unsafe extern "C" fn(_, _) -> _),
        23 => erased!(gettable_digest_params as unsafe extern "C" fn(_) -> _),
        24 => erased!(set_digest_params as unsafe extern "C" fn(_, _) -> _),
        25 => erased!(settable_digest_params as unsafe extern "C" fn(_) -> _),
        26 => Shim::Kept,
        27 => erased!(sign_message_init as unsafe extern "C" fn(_, _, _) -> _),
        28 => erased!(sign_message_update as unsafe extern "C" fn(_, _, _) -> _),
        29 => erased!(sign_message_final as unsafe extern "C" fn(_, _, _, _) -> _),
        30 => erased!(verify_message_init as unsafe extern "C" fn(_, _, _) -> _),
        31 => erased!(verify_message_update as unsafe extern "C" fn(_, _, _) -> _),
        32 => erased!(verify_message_final as unsafe extern "C" fn(_) -> _),
        _ => Shim::Unknown,
    }
}

/// A key is set, and what goes with it.
///
/// # Safety
/// As libcrypto called us.
unsafe fn begun(
    context: &Context,
    operation: Operation,
    digest: *const c_char,
    key: Pointer,
    params: *const Param,
    ticks: u64,
) {
    let operation = match context.slot.mark.is(Operation::Mac) {
        // A MAC by its nature signs and verifies with one key.
        true => Operation::Mac,
        false => operation,
    };
    context.flush();
    context.set_operation(operation);
    // SAFETY: libcrypto passes a key of the same provider, a terminated name or null, and an ended
    // array or null.
    unsafe {
        context.set_key(key);
        context.set_digest(digest);
        context.notice(params);
    }
    context.carry(0, ticks);
}

/// A signature was made, unless only its length was asked for.
fn signed(context: &Context, answer: c_int, out: *const u8, bytes: usize, ticks: u64) {
    if !out.is_null() {
        context.count_if(answer == 1, bytes as u64, ticks);
    }
}

macro_rules! init {
    ($id:literal $name:ident $operation:ident) => {
        timed!($id $name(key: Pointer, params: *const Param) -> c_int,
            // SAFETY: as libcrypto called us.
            |context, _, ticks| unsafe {
                begun(context, Operation::$operation, std::ptr::null(), key, params, ticks)
            });
    };
    ($id:literal $name:ident $operation:ident with digest) => {
        timed!($id $name(digest: *const c_char, key: Pointer, params: *const Param) -> c_int,
            // SAFETY: as libcrypto called us.
            |context, _, ticks| unsafe {
                begun(context, Operation::$operation, digest, key, params, ticks)
            });
    };
}

macro_rules! update {
    ($id:literal $name:ident) => {
        timed!($id $name(input: *const u8, length: usize) -> c_int,
            |context, _, ticks| context.carry(length as u64, ticks));
    };
}

macro_rules! sign {
    ($id:literal $name:ident) => {
        timed!($id $name(out: *mut u8, length: *mut usize, size: usize) -> c_int,
            |context, answer, ticks| signed(context, answer, out, 0, ticks));
    };
}

init!(2 sign_init Sign);
init!(4 verify_init Verify);
init!(6 recover_init Verify);
init!(8 digest_sign_init Sign with digest);
init!(12 digest_verify_init Verify with digest);
init!(27 sign_message_init Sign);
init!(30 verify_message_init Verify);

update!(9 digest_sign_update);
update!(13 digest_verify_update);
update!(28 sign_message_update);
update!(31 verify_message_update);

sign!(10 digest_sign_final);
sign!(29 sign_message_final);

timed!(3 sign(out: *mut u8, length: *mut usize, size: usize, input: *const u8, input_length: usize)
        -> c_int,
    |context, answer, ticks| signed(context, answer, out, 0, ticks));

timed!(11 digest_sign(out: *mut u8, length: *mut usize, size: usize, input: *const u8,
        input_length: usize) -> c_int,
    |context, answer, ticks| signed(context, answer, out, input_length, ticks));

timed!(5 verify(signature: *const u8, length: usize, input: *const u8, input_length: usize) -> c_int,
    |context, answer, ticks| context.count_if(answer == 1, 0, ticks));

timed!(7 recover(out: *mut u8, length: *mut usize, size: usize, signature: *const u8,
        signature_length: usize) -> c_int,
    |context, answer, ticks| signed(context, answer, out, 0, ticks));

timed!(14 digest_verify_final(signature: *const u8, length: usize) -> c_int,
    |context, answer, ticks| context.count_if(answer == 1, 0, ticks));

timed!(15 digest_verify(signature: *const u8, length: usize, input: *const u8, input_length: usize)
        -> c_int,
    |context, answer, ticks| context.count_if(answer == 1, input_length as u64, ticks));

timed!(32 verify_message_final() -> c_int,
    |context, answer, ticks| context.count_if(answer == 1, 0, ticks));

forward!(22 get_digest_params(params: *mut Param) -> c_int);
forward!(23 gettable_digest_params() -> *const Param);
forward!(24 set_digest_params(params: *const Param) -> c_int);
forward!(25 settable_digest_params() -> *const Param);
