//! Key encapsulation (provider-kem(7)).

use std::ffi::c_int;

use outboard_observation::Operation;
use outboard_provider_abi::raw::Param;

use super::{Shim, begin, erased, timed};
use crate::context::Context;
use crate::slot::Pointer;

pub(super) fn shim(id: c_int, slot: usize) -> Shim {
    match id {
        1 => begin::new(slot),
        2 => erased!(encapsulate_init as unsafe extern "C" fn(_, _, _) -> _),
        3 => erased!(encapsulate as unsafe extern "C" fn(_, _, _, _, _) -> _),
        4 => erased!(decapsulate_init as unsafe extern "C" fn(_, _, _) -> _),
        5 => erased!(decapsulate as unsafe extern "C" fn(_, _, _, _, _) -> _),
        6 => begin::free::<6>(),
        7 => begin::copy::<7>(),
        8 => begin::get::<8>(),
        9 => begin::gettable(slot),
        10 => begin::set::<10>(),
        11 => begin::settable(slot),
        12 => erased!(encapsulate_init_with as unsafe extern "C" fn(_, _, _, _) -> _),
        13 => erased!(decapsulate_init_with as unsafe extern "C" fn(_, _, _, _) -> _),
        _ => Shim::Unknown,
    }
}

/// # Safety
/// As libcrypto called us.
unsafe fn begun(context: &Context, operation: Operation, key: Pointer) {
    context.set_operation(operation);
    // SAFETY: libcrypto passes a key of the same provider.
    unsafe { context.set_key(key) };
}

timed!(2 encapsulate_init(key: Pointer, params: *const Param) -> c_int,
    // SAFETY: as libcrypto called us.
    |context, _, _| unsafe { begun(context, Operation::Encapsulate, key) });

timed!(12 encapsulate_init_with(key: Pointer, own: Pointer, params: *const Param) -> c_int,
    // SAFETY: as libcrypto called us.
    |context, _, _| unsafe { begun(context, Operation::Encapsulate, key) });

timed!(4 decapsulate_init(key: Pointer, params: *const Param) -> c_int,
    // SAFETY: as libcrypto called us.
    |context, _, _| unsafe { begun(context, Operation::Decapsulate, key) });

timed!(13 decapsulate_init_with(key: Pointer, theirs: Pointer, params: *const Param) -> c_int,
    // SAFETY: as libcrypto called us.
    |context, _, _| unsafe { begun(context, Operation::Decapsulate, key) });

timed!(3 encapsulate(out: *mut u8, out_length: *mut usize, secret: *mut u8, length: *mut usize)
    -> c_int,
|context, answer, ticks| if !out.is_null() {
    context.count_if(answer == 1, 0, ticks);
});

timed!(5 decapsulate(out: *mut u8, out_length: *mut usize, input: *const u8, length: usize) -> c_int,
|context, answer, ticks| if !out.is_null() {
    context.count_if(answer == 1, 0, ticks);
});
