//! Message authentication codes: what an implementation says, and the C functions made of it.

use std::ffi::{c_int, c_uchar, c_void};

use crate::arguments::{Input, Output};
use crate::context::Context;
use crate::error::Result;
use crate::offer::{Offer, ours};
use crate::params::{Params, ParamsMut};
use crate::provider::{Provider, State};
use crate::raw::{Param, mac};

/// A message authentication context (OpenSSL's provider-mac(7)). What the functions answer, libcrypto gets; an error
/// answers 0.
pub trait Mac: Sized + Send + 'static {
    /// The provider that it belongs to.
    type Provider: Provider;

    /// A fresh context; none answers null.
    fn new(provider: &Self::Provider) -> Result<Option<Self>>;
    /// A context in the same state; none answers null.
    fn duplicate(&mut self) -> Result<Option<Self>>;
    /// Begins a message, with that key or with the one before.
    fn init(&mut self, key: Input<'_>, params: Params<'_>) -> Result<c_int>;
    /// Takes more of the message.
    fn update(&mut self, data: Input<'_>) -> Result<c_int>;
    /// Writes the message's code.
    fn finish(&mut self, output: Output<'_>) -> Result<c_int>;
    /// Sets context parameters.
    fn set(&mut self, params: Params<'_>) -> Result<c_int>;
    /// Answers context parameters.
    fn get(&mut self, params: ParamsMut<'_>) -> Result<c_int>;
    /// What can be set on a context, or on those of a provider.
    fn settable(context: Option<&mut Self>, provider: &Self::Provider) -> *const Param;
    /// What can be read.
    fn gettable(context: Option<&mut Self>, provider: &Self::Provider) -> *const Param;
}

/// What libcrypto cannot do without.
pub const NEEDED: &[i32] = &[
    mac::NEWCTX,
    mac::FREECTX,
    mac::INIT,
    mac::UPDATE,
    mac::FINAL,
];

/// What becomes of another provider's function in a table of ours.
pub fn offer<M: Mac>(id: i32) -> Offer {
    match id {
        mac::NEWCTX => ours!(new::<M> as unsafe extern "C" fn(_) -> _),
        mac::DUPCTX => ours!(duplicate::<M> as unsafe extern "C" fn(_) -> _),
        mac::FREECTX => ours!(free::<M> as unsafe extern "C" fn(_)),
        mac::INIT => ours!(init::<M> as unsafe extern "C" fn(_, _, _, _) -> _),
        mac::UPDATE => ours!(update::<M> as unsafe extern "C" fn(_, _, _) -> _),
        mac::FINAL => ours!(finish::<M> as unsafe extern "C" fn(_, _, _, _) -> _),
        mac::SET_CTX_PARAMS => ours!(set::<M> as unsafe extern "C" fn(_, _) -> _),
        mac::GET_CTX_PARAMS => ours!(get::<M> as unsafe extern "C" fn(_, _) -> _),
        mac::SETTABLE_CTX_PARAMS => ours!(settable::<M> as unsafe extern "C" fn(_, _) -> _),
        mac::GETTABLE_CTX_PARAMS => ours!(gettable::<M> as unsafe extern "C" fn(_, _) -> _),
        // With INIT_SKEY, too: a program could no longer use the default provider's key objects with it.
        _ => Offer::Unknown,
    }
}

// SAFETY of every function below: libcrypto calls with the types and lifetimes of provider-mac(7): contexts made here
// and not yet freed, by one thread at a time; buffers of the lengths it tells; arrays of parameters that end with a
// null key.

unsafe extern "C" fn new<M: Mac>(provider: *mut c_void) -> *mut c_void {
    // SAFETY: the pointer that `OSSL_provider_init` gave out.
    let state = unsafe { State::<M::Provider>::of(provider) };
    Context::make(state.core, || M::new(&state.provider))
}

unsafe extern "C" fn free<M: Mac>(context: *mut c_void) {
    // SAFETY: see above.
    unsafe { Context::<M>::free(context) };
}

unsafe extern "C" fn duplicate<M: Mac>(context: *mut c_void) -> *mut c_void {
    // SAFETY: see above.
    unsafe { Context::<M>::duplicate(context, M::duplicate) }
}

unsafe extern "C" fn init<M: Mac>(
    context: *mut c_void,
    key: *const c_uchar,
    length: usize,
    params: *const Param,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        Context::<M>::with(context, 0, |mac| {
            mac.init(Input::new(key, length), Params::new(params))
        })
    }
}

unsafe extern "C" fn update<M: Mac>(
    context: *mut c_void,
    data: *const c_uchar,
    length: usize,
) -> c_int {
    // SAFETY: see above.
    unsafe { Context::<M>::with(context, 0, |mac| mac.update(Input::new(data, length))) }
}

unsafe extern "C" fn finish<M: Mac>(
    context: *mut c_void,
    output: *mut c_uchar,
    length: *mut usize,
    room: usize,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        Context::<M>::with(context, 0, |mac| {
            mac.finish(Output::new(output, length, room))
        })
    }
}

unsafe extern "C" fn set<M: Mac>(context: *mut c_void, params: *const Param) -> c_int {
    // SAFETY: see above.
    unsafe { Context::<M>::with(context, 0, |mac| mac.set(Params::new(params))) }
}

unsafe extern "C" fn get<M: Mac>(context: *mut c_void, params: *mut Param) -> c_int {
    // SAFETY: see above.
    unsafe { Context::<M>::with(context, 0, |mac| mac.get(ParamsMut::new(params))) }
}

unsafe extern "C" fn settable<M: Mac>(context: *mut c_void, provider: *mut c_void) -> *const Param {
    // SAFETY: see above; the pointer that `OSSL_provider_init` gave out.
    unsafe {
        let state = State::<M::Provider>::of(provider);
        Context::<M>::describe(context, state.core, |context| {
            M::settable(context, &state.provider)
        })
    }
}

unsafe extern "C" fn gettable<M: Mac>(context: *mut c_void, provider: *mut c_void) -> *const Param {
    // SAFETY: see above; the pointer that `OSSL_provider_init` gave out.
    unsafe {
        let state = State::<M::Provider>::of(provider);
        Context::<M>::describe(context, state.core, |context| {
            M::gettable(context, &state.provider)
        })
    }
}
