//! Key exchange: what an implementation says, and the C functions made of it.

use std::ffi::{c_int, c_uchar, c_void};
use std::sync::Arc;

use crate::arguments::Output;
use crate::context::Context;
use crate::error::Result;
use crate::foreign;
use crate::keymgmt::{KeyManagement, key_of};
use crate::offer::{Offer, ours};
use crate::params::{Params, ParamsMut};
use crate::provider::State;
use crate::raw::{Param, keyexch};

/// A key exchange context (OpenSSL's provider-keyexch(7)). What the functions answer, libcrypto gets; an error
/// answers 0.
pub trait KeyExchange: Sized + Send + 'static {
    /// Its keys.
    type Key: KeyManagement;

    /// A fresh context; none answers null.
    fn new(provider: &<Self::Key as KeyManagement>::Provider) -> Result<Option<Self>>;
    /// A context in the same state; none answers null.
    fn duplicate(&mut self) -> Result<Option<Self>>;
    /// Sets our key.
    fn init(&mut self, key: Option<Arc<Self::Key>>, params: Params<'_>) -> Result<c_int>;
    /// Sets the peer's key.
    fn set_peer(&mut self, key: Option<Arc<Self::Key>>) -> Result<c_int>;
    /// Writes the shared secret, or tells its size.
    fn derive(&mut self, secret: Output<'_>) -> Result<c_int>;
    /// Sets context parameters.
    fn set(&mut self, params: Params<'_>) -> Result<c_int>;
    /// Answers context parameters.
    fn get(&mut self, params: ParamsMut<'_>) -> Result<c_int>;
    /// What can be set on a context, or on those of a provider.
    fn settable(
        context: Option<&mut Self>,
        provider: &<Self::Key as KeyManagement>::Provider,
    ) -> *const Param;
    /// What can be read.
    fn gettable(
        context: Option<&mut Self>,
        provider: &<Self::Key as KeyManagement>::Provider,
    ) -> *const Param;
}

/// What libcrypto cannot do without.
pub const NEEDED: &[i32] = &[
    keyexch::NEWCTX,
    keyexch::INIT,
    keyexch::DERIVE,
    keyexch::FREECTX,
];

/// What becomes of another provider's function in a table of ours.
pub fn offer<E: KeyExchange>(id: i32) -> Offer {
    match id {
        keyexch::NEWCTX => ours!(new::<E> as unsafe extern "C" fn(_) -> _),
        keyexch::FREECTX => ours!(free::<E> as unsafe extern "C" fn(_)),
        keyexch::DUPCTX => ours!(duplicate::<E> as unsafe extern "C" fn(_) -> _),
        keyexch::INIT => ours!(init::<E> as foreign::Init),
        keyexch::SET_PEER => ours!(set_peer::<E> as unsafe extern "C" fn(_, _) -> _),
        keyexch::DERIVE => ours!(derive::<E> as unsafe extern "C" fn(_, _, _, _) -> _),
        keyexch::SET_CTX_PARAMS => ours!(set::<E> as unsafe extern "C" fn(_, _) -> _),
        keyexch::GET_CTX_PARAMS => ours!(get::<E> as unsafe extern "C" fn(_, _) -> _),
        keyexch::SETTABLE_CTX_PARAMS => ours!(settable::<E> as unsafe extern "C" fn(_, _) -> _),
        keyexch::GETTABLE_CTX_PARAMS => ours!(gettable::<E> as unsafe extern "C" fn(_, _) -> _),
        // Derives into a key of the default provider's; without it libcrypto derives bytes and makes one.
        keyexch::DERIVE_SKEY => Offer::Omitted,
        _ => Offer::Unknown,
    }
}

// SAFETY of every function below: libcrypto calls with the types and lifetimes of
// provider-keyexch(7): contexts made here and not yet freed, by one thread at a time; keys of our own
// key management; buffers of the lengths it tells; arrays of parameters that end with a null key.

unsafe extern "C" fn new<E: KeyExchange>(provider: *mut c_void) -> *mut c_void {
    // SAFETY: the pointer that `OSSL_provider_init` gave out.
    let state = unsafe { State::<<E::Key as KeyManagement>::Provider>::of(provider) };
    Context::make(state.core, || E::new(&state.provider))
}

unsafe extern "C" fn free<E: KeyExchange>(context: *mut c_void) {
    // SAFETY: see above.
    unsafe { Context::<E>::free(context) };
}

unsafe extern "C" fn duplicate<E: KeyExchange>(context: *mut c_void) -> *mut c_void {
    // SAFETY: see above.
    unsafe { Context::<E>::duplicate(context, E::duplicate) }
}

unsafe extern "C" fn init<E: KeyExchange>(
    context: *mut c_void,
    key: *mut c_void,
    params: *const Param,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        Context::<E>::with(context, 0, |exchange| {
            exchange.init(key_of(key), Params::new(params))
        })
    }
}

unsafe extern "C" fn set_peer<E: KeyExchange>(context: *mut c_void, key: *mut c_void) -> c_int {
    // SAFETY: see above.
    unsafe { Context::<E>::with(context, 0, |exchange| exchange.set_peer(key_of(key))) }
}

unsafe extern "C" fn derive<E: KeyExchange>(
    context: *mut c_void,
    secret: *mut c_uchar,
    length: *mut usize,
    room: usize,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        Context::<E>::with(context, 0, |exchange| {
            exchange.derive(Output::new(secret, length, room))
        })
    }
}

unsafe extern "C" fn set<E: KeyExchange>(context: *mut c_void, params: *const Param) -> c_int {
    // SAFETY: see above.
    unsafe { Context::<E>::with(context, 0, |exchange| exchange.set(Params::new(params))) }
}

unsafe extern "C" fn get<E: KeyExchange>(context: *mut c_void, params: *mut Param) -> c_int {
    // SAFETY: see above.
    unsafe { Context::<E>::with(context, 0, |exchange| exchange.get(ParamsMut::new(params))) }
}

unsafe extern "C" fn settable<E: KeyExchange>(
    context: *mut c_void,
    provider: *mut c_void,
) -> *const Param {
    // SAFETY: see above; the pointer that `OSSL_provider_init` gave out.
    unsafe {
        let state = State::<<E::Key as KeyManagement>::Provider>::of(provider);
        Context::<E>::describe(context, state.core, |context| {
            E::settable(context, &state.provider)
        })
    }
}

unsafe extern "C" fn gettable<E: KeyExchange>(
    context: *mut c_void,
    provider: *mut c_void,
) -> *const Param {
    // SAFETY: see above; the pointer that `OSSL_provider_init` gave out.
    unsafe {
        let state = State::<<E::Key as KeyManagement>::Provider>::of(provider);
        Context::<E>::describe(context, state.core, |context| {
            E::gettable(context, &state.provider)
        })
    }
}
