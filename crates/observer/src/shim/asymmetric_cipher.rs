//! Encryption with public keys (provider-asym_cipher(7)).

use std::ffi::c_int;

use outboard_observation::Operation;
use outboard_provider_abi::raw::Param;

use super::{Shim, begin, erased, timed};
use crate::context::Context;
use crate::slot::Pointer;

pub(super) fn shim(id: c_int, slot: usize) -> Shim {
    match id {
        1 => begin::new(slot),
        2 => erased!(encrypt_init as unsafe extern "C" fn(_, _, _) -> _),
        3 => erased!(encrypt as unsafe extern "C" fn(_, _, _, _, _, _) -> _),
        4 => erased!(decrypt_init as unsafe extern "C" fn(_, _, _) -> _),
        5 => erased!(decrypt as unsafe extern "C" fn(_, _, _, _, _, _) -> _),
        6 => begin::free::<6>(),
        7 => begin::copy::<7>(),
        8 => begin::get::<8>(),
        9 => begin::gettable(slot),
        10 => begin::set::<10>(),
        11 => begin::settable(slot),
        _ => Shim::Unknown,
    }
}

/// # Safety
/// As libcrypto called us.
unsafe fn begun(context: &Context, operation: Operation, key: Pointer, params: *const Param) {
    context.set_operation(operation);
    // SAFETY: libcrypto passes a key of the same provider, and an ended array or null.
    unsafe {
        context.set_key(key);
        context.notice(params);
    }
}

timed!(2 encrypt_init(key: Pointer, params: *const Param) -> c_int,
    // SAFETY: as libcrypto called us.
    |context, _, _| unsafe { begun(context, Operation::KeyEncrypt, key, params) });

timed!(4 decrypt_init(key: Pointer, params: *const Param) -> c_int,
    // SAFETY: as libcrypto called us.
    |context, _, _| unsafe { begun(context, Operation::KeyDecrypt, key, params) });

timed!(3 encrypt(out: *mut u8, out_length: *mut usize, size: usize, input: *const u8, length: usize)
    -> c_int,
|context, answer, ticks| if !out.is_null() {
    context.count_if(answer == 1, 0, ticks);
});

timed!(5 decrypt(out: *mut u8, out_length: *mut usize, size: usize, input: *const u8, length: usize)
    -> c_int,
|context, answer, ticks| if !out.is_null() {
    context.count_if(answer == 1, 0, ticks);
});
