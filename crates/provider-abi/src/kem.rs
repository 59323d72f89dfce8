//! Key encapsulation: what an implementation says, and the C functions made of it.

use std::ffi::{c_int, c_uchar, c_void};
use std::sync::Arc;

use crate::arguments::{Input, Output};
use crate::context::Context;
use crate::error::Result;
use crate::foreign;
use crate::keymgmt::{KeyManagement, key_of};
use crate::params::Params;
use crate::provider::State;
use crate::raw::{Dispatch, Param, kem};

/// A context that encapsulates or decapsulates (OpenSSL's provider-kem(7)). What the functions answer, libcrypto gets; an
/// error answers 0.
pub trait Kem: Sized + Send + 'static {
    /// Its keys.
    type Key: KeyManagement;

    /// A fresh context.
    fn new(provider: &<Self::Key as KeyManagement>::Provider) -> Result<Self>;
    /// A context in the same state.
    fn duplicate(&self) -> Result<Self>;
    /// Begins to encapsulate or to decapsulate.
    fn init(&mut self, way: Way, key: Option<Arc<Self::Key>>, params: Params<'_>) -> Result<c_int>;
    /// Writes a new secret and the ciphertext that tells it, or their lengths.
    fn encapsulate(&mut self, ciphertext: Output<'_>, secret: Output<'_>) -> Result<c_int>;
    /// Writes the secret of a ciphertext, or its length.
    fn decapsulate(&mut self, secret: Output<'_>, ciphertext: Input<'_>) -> Result<c_int>;
    /// Sets context parameters.
    fn set(&mut self, params: Params<'_>) -> Result<c_int>;
    /// What can be set on a context, ended by [`END`](crate::params::END).
    const SETTABLE: &'static [Param];
}

/// What a context is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To encapsulate.
    Encapsulate,
    /// To decapsulate.
    Decapsulate,
}

/// The functions of a key encapsulation.
pub const fn table<K: Kem>() -> &'static [Dispatch] {
    const {
        &[
            entry!(kem::NEWCTX, new::<K> as unsafe extern "C" fn(_) -> _),
            entry!(kem::FREECTX, free::<K> as unsafe extern "C" fn(_)),
            entry!(kem::DUPCTX, duplicate::<K> as unsafe extern "C" fn(_) -> _),
            entry!(
                kem::ENCAPSULATE_INIT,
                encapsulate_init::<K> as foreign::Init
            ),
            entry!(
                kem::ENCAPSULATE,
                encapsulate::<K> as unsafe extern "C" fn(_, _, _, _, _) -> _
            ),
            entry!(
                kem::DECAPSULATE_INIT,
                decapsulate_init::<K> as foreign::Init
            ),
            entry!(
                kem::DECAPSULATE,
                decapsulate::<K> as unsafe extern "C" fn(_, _, _, _, _) -> _
            ),
            entry!(
                kem::SET_CTX_PARAMS,
                set::<K> as unsafe extern "C" fn(_, _) -> _
            ),
            entry!(
                kem::SETTABLE_CTX_PARAMS,
                settable::<K> as unsafe extern "C" fn(_, _) -> _
            ),
            Dispatch::END,
        ]
    }
}

// SAFETY of every function below: libcrypto calls with the types and lifetimes of provider-kem(7): contexts made here and
// not yet freed, by one thread at a time; keys of our own key management; arrays of parameters that end with a null key;
// buffers of the lengths that the places of their lengths hold.

unsafe extern "C" fn new<K: Kem>(provider: *mut c_void) -> *mut c_void {
    // SAFETY: the pointer that `OSSL_provider_init` gave out.
    let state = unsafe { State::<<K::Key as KeyManagement>::Provider>::of(provider) };
    Context::make(state.core, || K::new(&state.provider).map(Some))
}

unsafe extern "C" fn free<K: Kem>(context: *mut c_void) {
    // SAFETY: see above.
    unsafe { Context::<K>::free(context) };
}

unsafe extern "C" fn duplicate<K: Kem>(context: *mut c_void) -> *mut c_void {
    // SAFETY: see above.
    unsafe { Context::<K>::duplicate(context, |context| context.duplicate().map(Some)) }
}

/// # Safety
/// As for every function here.
unsafe fn init<K: Kem>(
    context: *mut c_void,
    way: Way,
    key: *mut c_void,
    params: *const Param,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        Context::<K>::with(context, 0, |context| {
            context.init(way, key_of(key), Params::new(params))
        })
    }
}

unsafe extern "C" fn encapsulate_init<K: Kem>(
    context: *mut c_void,
    key: *mut c_void,
    params: *const Param,
) -> c_int {
    // SAFETY: see above.
    unsafe { init::<K>(context, Way::Encapsulate, key, params) }
}

unsafe extern "C" fn decapsulate_init<K: Kem>(
    context: *mut c_void,
    key: *mut c_void,
    params: *const Param,
) -> c_int {
    // SAFETY: see above.
    unsafe { init::<K>(context, Way::Decapsulate, key, params) }
}

/// A buffer whose length's place says how much room there is. A caller without such a place has enough, by its word: OpenSSL's own
/// take that, too.
///
/// # Safety
/// `length` is null, or readable and writable; `data` is null or has that much room, for any result if `length` is null; both for `'a`.
unsafe fn output<'a>(data: *mut c_uchar, length: *mut usize) -> Output<'a> {
    // SAFETY: by the caller's word.
    unsafe {
        let room = length.as_ref().copied().unwrap_or(usize::MAX);
        Output::new(data, length, room)
    }
}

unsafe extern "C" fn encapsulate<K: Kem>(
    context: *mut c_void,
    ciphertext: *mut c_uchar,
    ciphertext_length: *mut usize,
    secret: *mut c_uchar,
    secret_length: *mut usize,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        Context::<K>::with(context, 0, |context| {
            context.encapsulate(
                output(ciphertext, ciphertext_length),
                output(secret, secret_length),
            )
        })
    }
}

unsafe extern "C" fn decapsulate<K: Kem>(
    context: *mut c_void,
    secret: *mut c_uchar,
    secret_length: *mut usize,
    ciphertext: *const c_uchar,
    ciphertext_length: usize,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        Context::<K>::with(context, 0, |context| {
            context.decapsulate(
                output(secret, secret_length),
                Input::new(ciphertext, ciphertext_length),
            )
        })
    }
}

unsafe extern "C" fn set<K: Kem>(context: *mut c_void, params: *const Param) -> c_int {
    // SAFETY: see above.
    unsafe { Context::<K>::with(context, 0, |context| context.set(Params::new(params))) }
}

unsafe extern "C" fn settable<K: Kem>(
    _context: *mut c_void,
    _provider: *mut c_void,
) -> *const Param {
    K::SETTABLE.as_ptr()
}
