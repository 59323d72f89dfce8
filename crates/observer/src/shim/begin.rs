//! Beginning, copying and ending contexts, and listing their parameters: the same for all kinds.

use std::ffi::{c_char, c_int};

use outboard_provider_abi::raw::Param;

use super::passing::Place;
use super::{Kind, Shim, erase, erased, inner};
use crate::context::Held;
use crate::slot::{self, Function, Pointer, Slot, slot};

/// `newctx` of every kind, for the algorithm of a slot.
pub(super) fn new() -> Shim {
    type New = unsafe extern "C" fn(Pointer) -> Pointer;
    static NEW: &[[New; 16]] = &slot::table!(new_context, 0;
        0 16 32 48 64 80 96 112 128 144 160 176 192 208 224 240 256 272 288 304 320 336 352 368);
    const _: () = assert!(NEW.len() * 16 == slot::SIGNATURES);
    Shim::BySlot(|number| erase!(slot::of(NEW, number)))
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
unsafe fn new_in(slot: &'static Slot, provider: Pointer) -> Pointer {
    let inner = inner!(slot, 1, fn(Pointer) -> Pointer);
    if let Some(aside) = slot.aside() {
        // SAFETY: the context of another provider of the same kind.
        return Held::hold(slot, unsafe { inner(aside) }, None);
    }
    let own = match slot.kind {
        // SAFETY: libcrypto passes the context that our initialisation gave it, which is the provider's.
        Kind::Digest | Kind::Cipher => unsafe { inner(provider) },
        // SAFETY: as above.
        _ => slot.within(|| unsafe { inner(provider) }),
    };
    Held::hold(slot, own, slot.uses_others)
}

/// `newctx` of signatures, which also takes a property query.
pub(super) fn new_with_query() -> Shim {
    type New = unsafe extern "C" fn(Pointer, *const c_char) -> Pointer;
    static NEW: &[[New; 16]] =
        &slot::table!(new_context_with_query, slot::SIGNATURES; 0 16 32 48 64 80 96 112);
    const _: () = assert!(slot::SIGNATURES + NEW.len() * 16 == slot::KEY_MANAGEMENT);
    Shim::BySlot(|number| erase!(slot::of(NEW, number - slot::SIGNATURES)))
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
unsafe fn new_with_query_in(
    slot: &'static Slot,
    provider: Pointer,
    query: *const c_char,
) -> Pointer {
    let inner = inner!(slot, 1, fn(Pointer, *const c_char) -> Pointer);
    // SAFETY: libcrypto passes the context that our initialisation gave it, which is the provider's.
    let own = slot.within(|| unsafe { inner(provider, query) });
    Held::hold(slot, own, slot.uses_others)
}

/// `gettable_ctx_params` and `settable_ctx_params`, which libcrypto also calls without a context.
pub(super) fn list() -> Shim {
    type List = unsafe extern "C" fn(Pointer, Pointer) -> *const Param;
    static LISTS: &[[List; 16]] = &slot::table!(listed, 0; 0 16 32 48 64 80 96 112);
    static PLACES: [Place; LISTS.len() * 16] = [const { Place::empty() }; LISTS.len() * 16];

    unsafe extern "C" fn listed<const PLACE: usize>(
        context: Pointer,
        provider: Pointer,
    ) -> *const Param {
        let own = match context.is_null() {
            true => context,
            // SAFETY: libcrypto passes a context that it got from us.
            false => unsafe { Held::of(context) }.own(),
        };
        // SAFETY: it has the type of the id that it was filled for.
        let inner = unsafe { std::mem::transmute::<Function, List>(PLACES[PLACE].function()) };
        // SAFETY: both are the provider's own, or null as libcrypto passes it.
        unsafe { inner(own, provider) }
    }

    Shim::ByFunction(|function, current_job| {
        let number = Place::of(&PLACES, function, current_job)?;
        Some(erase!(slot::of(LISTS, number)))
    })
}

/// `dupctx`, of the id that it has in this kind.
pub(super) fn copy<const ID: c_int>() -> Shim {
    erased!(copy_context::<ID> as unsafe extern "C" fn(Pointer) -> Pointer)
}

unsafe extern "C" fn copy_context<const ID: c_int>(context: Pointer) -> Pointer {
    // SAFETY: libcrypto passes a context that it got from us.
    let held = unsafe { Held::of(context) };
    let inner = inner!(held.slot(), ID, fn(Pointer) -> Pointer);
    // SAFETY: the context that the provider made. Whatever it uses is copied too.
    held.hold_copy(unsafe { inner(held.own()) })
}

/// `freectx`, of the id that it has in this kind.
pub(super) fn free<const ID: c_int>() -> Shim {
    erased!(free_context::<ID> as unsafe extern "C" fn(Pointer))
}

unsafe extern "C" fn free_context<const ID: c_int>(context: Pointer) {
    if context.is_null() {
        return;
    }
    // SAFETY: libcrypto passes a context that it got from us, for the last time.
    let (slot, context) = unsafe { Held::end(context) };
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
    let held = unsafe { Held::of(context) };
    let inner = inner!(held.slot(), ID, fn(Pointer, *mut Param) -> c_int);
    // SAFETY: as it came, for the context that the provider made.
    unsafe { inner(held.own(), params) }
}

/// `set_ctx_params`, of the id that it has in this kind.
pub(super) fn set<const ID: c_int>() -> Shim {
    erased!(set_params::<ID> as unsafe extern "C" fn(Pointer, *const Param) -> c_int)
}

unsafe extern "C" fn set_params<const ID: c_int>(context: Pointer, params: *const Param) -> c_int {
    // SAFETY: libcrypto passes a context that it got from us.
    let held = unsafe { Held::of(context) };
    let inner = inner!(held.slot(), ID, fn(Pointer, *const Param) -> c_int);
    // SAFETY: as it came, for the context that the provider made.
    let answer = held.within(|| unsafe { inner(held.own(), params) });
    if let Held::Counted(context) = held
        && answer == 1
        && context.slot().notices()
    {
        // SAFETY: an ended array, whole for the call.
        unsafe { context.notice(params) };
    }
    answer
}
