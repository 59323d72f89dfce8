//! Key exchange: what an implementation says, and the C functions made of it.

use std::ffi::{c_int, c_uchar, c_void};
use std::sync::Arc;

use crate::context::{Context, output};
use crate::error::{Error, Reason, Result};
use crate::keymgmt::{KeyManagement, key_of};
use crate::params::{Params, ParamsMut};
use crate::provider::State;
use crate::raw::{Dispatch, Param, keyexch};

/// A key exchange context (OpenSSL's provider-keyexch(7)).
pub trait KeyExchange: Sized + Send + 'static {
    /// Its keys.
    type Key: KeyManagement;
    /// Parameters that can be read from a context.
    const GETTABLE: &'static [Param];
    /// Parameters that can be set on a context.
    const SETTABLE: &'static [Param];

    /// A fresh context.
    fn new(provider: &<Self::Key as KeyManagement>::Provider) -> Result<Self>;
    /// A context in the same state.
    fn duplicate(&self) -> Result<Self>;
    /// Sets our key.
    fn init(&mut self, key: Arc<Self::Key>) -> Result<()>;
    /// Sets the peer's key.
    fn set_peer(&mut self, key: Arc<Self::Key>) -> Result<()>;
    /// Writes the shared secret; without an output tells its size.
    fn derive(&mut self, output: Option<&mut [u8]>) -> Result<usize>;
    /// Sets context parameters.
    fn set(&mut self, params: Params<'_>) -> Result<()>;
    /// Answers context parameters.
    fn get(&mut self, params: ParamsMut<'_>) -> Result<()>;
}

/// The dispatch table of a key exchange.
pub const fn table<E: KeyExchange>() -> &'static [Dispatch] {
    const {
        &[
            entry!(keyexch::NEWCTX, new::<E> as unsafe extern "C" fn(_) -> _),
            entry!(keyexch::FREECTX, free::<E> as unsafe extern "C" fn(_)),
            entry!(
                keyexch::DUPCTX,
                duplicate::<E> as unsafe extern "C" fn(_) -> _
            ),
            entry!(
                keyexch::INIT,
                init::<E> as unsafe extern "C" fn(_, _, _) -> _
            ),
            entry!(
                keyexch::SET_PEER,
                set_peer::<E> as unsafe extern "C" fn(_, _) -> _
            ),
            entry!(
                keyexch::DERIVE,
                derive::<E> as unsafe extern "C" fn(_, _, _, _) -> _
            ),
            entry!(
                keyexch::SET_CTX_PARAMS,
                set::<E> as unsafe extern "C" fn(_, _) -> _
            ),
            entry!(
                keyexch::GET_CTX_PARAMS,
                get::<E> as unsafe extern "C" fn(_, _) -> _
            ),
            entry!(
                keyexch::SETTABLE_CTX_PARAMS,
                settable::<E> as unsafe extern "C" fn(_, _) -> _
            ),
            entry!(
                keyexch::GETTABLE_CTX_PARAMS,
                gettable::<E> as unsafe extern "C" fn(_, _) -> _
            ),
            Dispatch::END,
        ]
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
            let key = key_of(key).ok_or(Error::new(Reason::InvalidKey, "no key is set"))?;
            exchange.init(key)?;
            exchange.set(Params::new(params)).map(|()| 1)
        })
    }
}

unsafe extern "C" fn set_peer<E: KeyExchange>(context: *mut c_void, key: *mut c_void) -> c_int {
    // SAFETY: see above.
    unsafe {
        Context::<E>::with(context, 0, |exchange| {
            let key = key_of(key).ok_or(Error::new(Reason::InvalidKey, "no peer key is set"))?;
            exchange.set_peer(key).map(|()| 1)
        })
    }
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
            output(secret, length, room, |secret| exchange.derive(secret))
        })
    }
}

unsafe extern "C" fn set<E: KeyExchange>(context: *mut c_void, params: *const Param) -> c_int {
    // SAFETY: see above.
    unsafe {
        Context::<E>::with(context, 0, |exchange| {
            exchange.set(Params::new(params)).map(|()| 1)
        })
    }
}

unsafe extern "C" fn get<E: KeyExchange>(context: *mut c_void, params: *mut Param) -> c_int {
    // SAFETY: see above.
    unsafe {
        Context::<E>::with(context, 0, |exchange| {
            exchange.get(ParamsMut::new(params)).map(|()| 1)
        })
    }
}

unsafe extern "C" fn settable<E: KeyExchange>(
    _context: *mut c_void,
    _provider: *mut c_void,
) -> *const Param {
    E::SETTABLE.as_ptr()
}

unsafe extern "C" fn gettable<E: KeyExchange>(
    _context: *mut c_void,
    _provider: *mut c_void,
) -> *const Param {
    E::GETTABLE.as_ptr()
}
