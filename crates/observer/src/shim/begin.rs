//! Beginning, copying and ending contexts, and listing their parameters: the same for all kinds.

use std::ffi::{c_char, c_int};
use std::ptr::NonNull;

use outboard_provider_abi::raw::Param;

use super::{Shim, erased, inner};
use crate::context::Context;
use crate::slot::{self, Pointer, Slot, Table, slot};

/// `newctx` of every kind, for the algorithm of that slot.
pub(super) fn new(number: usize) -> Shim {
    type New = unsafe extern "C" fn(Pointer) -> Pointer;
    static NEW: Table<New> = slot::table!(new_context);
    erased!(slot::of(&NEW, number))
}

unsafe extern "C" fn new_context<const SLOT: usize>(provider: Pointer) -> Pointer {
    // SAFETY: as libcrypto called us.
    unsafe { new_in(slot(SLOT), provider) }
}

/// Not within the functions of each slot, which have to stay small together.
///
/// # Safety
/// As libcrypto called us, for the algorithm of that slot.
#[inline(never)]
unsafe extern "C" fn new_in(slot: &'static Slot, provider: Pointer) -> Pointer {
    let inner = inner!(slot, 1, fn(Pointer) -> Pointer);
    // SAFETY: libcrypto passes the context that our initialisation gave it, which is the provider's.
    Context::wrap(slot, unsafe { inner(provider) })
}

/// `newctx` of signatures, which also takes a property query.
pub(super) fn new_with_query(number: usize) -> Shim {
    type New = unsafe extern "C" fn(Pointer, *const c_char) -> Pointer;
    static NEW: Table<New> = slot::table!(new_context_with_query);
    erased!(slot::of(&NEW, number))
}

unsafe extern "C" fn new_context_with_query<const SLOT: usize>(
    provider: Pointer,
    query: *const c_char,
) -> Pointer {
    // SAFETY: as libcrypto called us.
    unsafe { new_with_query_in(slot(SLOT), provider, query) }
}

/// # Safety
/// As libcrypto called us, for the algorithm of that slot.
#[inline(never)]
unsafe extern "C" fn new_with_query_in(
    slot: &'static Slot,
    provider: Pointer,
    query: *const c_char,
) -> Pointer {
    let inner = inner!(slot, 1, fn(Pointer, *const c_char) -> Pointer);
    // SAFETY: libcrypto passes the context that our initialisation gave it, which is the provider's.
    Context::wrap(slot, unsafe { inner(provider, query) })
}

type List = unsafe extern "C" fn(Pointer, Pointer) -> *const Param;

/// `gettable_ctx_params`.
pub(super) fn gettable(number: usize) -> Shim {
    static GETTABLE: Table<List> = slot::table!(gettable_params);
    erased!(slot::of(&GETTABLE, number))
}

unsafe extern "C" fn gettable_params<const SLOT: usize>(
    context: Pointer,
    provider: Pointer,
) -> *const Param {
    // SAFETY: as libcrypto called us.
    unsafe { list(slot(SLOT), |(gettable, _)| gettable, context, provider) }
}

/// `settable_ctx_params`.
pub(super) fn settable(number: usize) -> Shim {
    static SETTABLE: Table<List> = slot::table!(settable_params);
    erased!(slot::of(&SETTABLE, number))
}

unsafe extern "C" fn settable_params<const SLOT: usize>(
    context: Pointer,
    provider: Pointer,
) -> *const Param {
    // SAFETY: as libcrypto called us.
    unsafe { list(slot(SLOT), |(_, settable)| settable, context, provider) }
}

/// # Safety
/// `context` is null or one of ours; `provider` is the provider's.
#[inline(never)]
unsafe fn list(
    slot: &Slot,
    choose: fn((c_int, c_int)) -> c_int,
    context: Pointer,
    provider: Pointer,
) -> *const Param {
    let inner = inner!(
        slot,
        choose(slot.kind.lists()),
        fn(Pointer, Pointer) -> *const Param
    );
    let context = match context.is_null() {
        true => context,
        // SAFETY: by the caller's word.
        false => unsafe { Context::of(context) }.inner,
    };
    // SAFETY: both are the provider's own, or null as libcrypto passes it.
    unsafe { inner(context, provider) }
}

/// `dupctx`, of the id that it has in this kind.
pub(super) fn copy<const ID: c_int>() -> Shim {
    erased!(copy_context::<ID> as unsafe extern "C" fn(Pointer) -> Pointer)
}

unsafe extern "C" fn copy_context<const ID: c_int>(context: Pointer) -> Pointer {
    // SAFETY: libcrypto passes a context that it got from us.
    let context = unsafe { Context::of(context) };
    let inner = inner!(context.slot, ID, fn(Pointer) -> Pointer);
    // SAFETY: the context that the provider made.
    context.wrap_copy(unsafe { inner(context.inner) })
}

/// `freectx`, of the id that it has in this kind.
pub(super) fn free<const ID: c_int>() -> Shim {
    erased!(free_context::<ID> as unsafe extern "C" fn(Pointer))
}

unsafe extern "C" fn free_context<const ID: c_int>(context: Pointer) {
    let Some(context) = NonNull::new(context) else {
        return;
    };
    // SAFETY: libcrypto passes a context that it got from us, for the last time.
    let (slot, context) = unsafe { Context::unwrap(context) };
    let inner = inner!(slot, ID, fn(Pointer));
    // SAFETY: the context that the provider made, for the last time.
    unsafe { inner(context) }
}

/// `get_ctx_params`, of the id that it has in this kind.
pub(super) fn get<const ID: c_int>() -> Shim {
    erased!(get_params::<ID> as unsafe extern "C" fn(Pointer, *mut Param) -> c_int)
}

unsafe extern "C" fn get_params<const ID: c_int>(context: Pointer, params: *mut Param) -> c_int {
    // SAFETY: libcrypto passes a context that it got from us.
    let context = unsafe { Context::of(context) };
    let inner = inner!(context.slot, ID, fn(Pointer, *mut Param) -> c_int);
    // SAFETY: as it came, for the context that the provider made.
    unsafe { inner(context.inner, params) }
}

/// `set_ctx_params`, of the id that it has in this kind.
pub(super) fn set<const ID: c_int>() -> Shim {
    erased!(set_params::<ID> as unsafe extern "C" fn(Pointer, *const Param) -> c_int)
}

unsafe extern "C" fn set_params<const ID: c_int>(context: Pointer, params: *const Param) -> c_int {
    // SAFETY: libcrypto passes a context that it got from us.
    let context = unsafe { Context::of(context) };
    let inner = inner!(context.slot, ID, fn(Pointer, *const Param) -> c_int);
    // SAFETY: as it came, for the context that the provider made.
    let answer = unsafe { inner(context.inner, params) };
    if answer == 1 && context.slot.notices() {
        // SAFETY: an ended array, whole for the call.
        unsafe { context.notice(params) };
    }
    answer
}
