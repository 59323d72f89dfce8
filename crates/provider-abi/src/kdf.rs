//! Key derivation functions: what an implementation says, and the C functions made of it.

use std::ffi::{c_int, c_uchar, c_void};
use std::ptr;

use crate::arguments::Output;
use crate::context::Context;
use crate::error::Result;
use crate::offer::{Offer, ours};
use crate::params::{Params, ParamsMut};
use crate::provider::{Provider, State};
use crate::raw::{Param, kdf};

/// A key derivation context (OpenSSL's provider-kdf(7)). What the functions answer, libcrypto gets; an error
/// answers 0.
pub trait Kdf: Sized + Send + 'static {
    /// The provider that it belongs to.
    type Provider: Provider;

    /// A fresh context; none answers null.
    fn new(provider: &Self::Provider) -> Result<Option<Self>>;
    /// A context in the same state; none answers null.
    fn duplicate(&mut self) -> Result<Option<Self>>;
    /// Forgets all that was set.
    fn reset(&mut self);
    /// Sets those parameters, then fills the whole room with what is derived.
    fn derive(&mut self, output: Output<'_>, params: Params<'_>) -> Result<c_int>;
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
pub const NEEDED: &[i32] = &[kdf::NEWCTX, kdf::FREECTX, kdf::DERIVE];

/// What becomes of another provider's function in a table of ours.
pub fn offer<K: Kdf>(id: i32) -> Offer {
    match id {
        kdf::NEWCTX => ours!(new::<K> as unsafe extern "C" fn(_) -> _),
        kdf::DUPCTX => ours!(duplicate::<K> as unsafe extern "C" fn(_) -> _),
        kdf::FREECTX => ours!(free::<K> as unsafe extern "C" fn(_)),
        kdf::RESET => ours!(reset::<K> as unsafe extern "C" fn(_)),
        kdf::DERIVE => ours!(derive::<K> as unsafe extern "C" fn(_, _, _, _) -> _),
        kdf::SET_CTX_PARAMS => ours!(set::<K> as unsafe extern "C" fn(_, _) -> _),
        kdf::GET_CTX_PARAMS => ours!(get::<K> as unsafe extern "C" fn(_, _) -> _),
        kdf::SETTABLE_CTX_PARAMS => ours!(settable::<K> as unsafe extern "C" fn(_, _) -> _),
        kdf::GETTABLE_CTX_PARAMS => ours!(gettable::<K> as unsafe extern "C" fn(_, _) -> _),
        // Without them libcrypto takes a key's bytes, and makes a key of bytes.
        kdf::SET_SKEY | kdf::DERIVE_SKEY => Offer::Omitted,
        _ => Offer::Unknown,
    }
}

// SAFETY of every function below: libcrypto calls with the types and lifetimes of provider-kdf(7): contexts made here
// and not yet freed, by one thread at a time; buffers of the lengths it tells; arrays of parameters that end with a
// null key.

unsafe extern "C" fn new<K: Kdf>(provider: *mut c_void) -> *mut c_void {
    // SAFETY: the pointer that `OSSL_provider_init` gave out.
    let state = unsafe { State::<K::Provider>::of(provider) };
    Context::make(state.core, || K::new(&state.provider))
}

unsafe extern "C" fn free<K: Kdf>(context: *mut c_void) {
    // SAFETY: see above.
    unsafe { Context::<K>::free(context) };
}

unsafe extern "C" fn duplicate<K: Kdf>(context: *mut c_void) -> *mut c_void {
    // SAFETY: see above.
    unsafe { Context::<K>::duplicate(context, K::duplicate) }
}

unsafe extern "C" fn reset<K: Kdf>(context: *mut c_void) {
    // SAFETY: see above.
    unsafe {
        Context::<K>::with(context, (), |kdf| {
            kdf.reset();
            Ok(())
        });
    }
}

unsafe extern "C" fn derive<K: Kdf>(
    context: *mut c_void,
    output: *mut c_uchar,
    length: usize,
    params: *const Param,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        Context::<K>::with(context, 0, |kdf| {
            let output = Output::new(output, ptr::null_mut(), length);
            kdf.derive(output, Params::new(params))
        })
    }
}

unsafe extern "C" fn set<K: Kdf>(context: *mut c_void, params: *const Param) -> c_int {
    // SAFETY: see above.
    unsafe { Context::<K>::with(context, 0, |kdf| kdf.set(Params::new(params))) }
}

unsafe extern "C" fn get<K: Kdf>(context: *mut c_void, params: *mut Param) -> c_int {
    // SAFETY: see above.
    unsafe { Context::<K>::with(context, 0, |kdf| kdf.get(ParamsMut::new(params))) }
}

unsafe extern "C" fn settable<K: Kdf>(context: *mut c_void, provider: *mut c_void) -> *const Param {
    // SAFETY: see above; the pointer that `OSSL_provider_init` gave out.
    unsafe {
        let state = State::<K::Provider>::of(provider);
        Context::<K>::describe(context, state.core, |context| {
            K::settable(context, &state.provider)
        })
    }
}

unsafe extern "C" fn gettable<K: Kdf>(context: *mut c_void, provider: *mut c_void) -> *const Param {
    // SAFETY: see above; the pointer that `OSSL_provider_init` gave out.
    unsafe {
        let state = State::<K::Provider>::of(provider);
        Context::<K>::describe(context, state.core, |context| {
            K::gettable(context, &state.provider)
        })
    }
}
