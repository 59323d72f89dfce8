//! Stores: what opens the URIs of a scheme, and the C functions made of it.
//!
//! What a store finds is given as data. libcrypto reads it with the decoders that it reads files with.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

use crate::context::Context;
use crate::encoder::Passphrase;
use crate::error::Result;
use crate::object::Data;
use crate::params::{END, Params, integer};
use crate::provider::{Provider, State};
use crate::raw::{Callback, Dispatch, Param, store};

/// What a URI leads to (OpenSSL's provider-storemgmt(7)): one key.
pub trait Store: Sized + Send + 'static {
    /// The provider that it belongs to.
    type Provider: Provider;

    /// Opens a URI, which comes from anywhere.
    fn open(provider: &Self::Provider, uri: &[u8]) -> Result<Self>;
    /// What a program finds that wants this; none where it has no such thing.
    fn load(&self, wanted: Wanted) -> Option<&Data>;
}

/// What a program wants of a URI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Whatever there is.
    Anything,
    /// A public key.
    PublicKey,
    /// A private key.
    PrivateKey,
    /// A certificate or something else that is no key.
    Other,
}

impl Wanted {
    /// By `OSSL_STORE_INFO_…`.
    fn of_type(number: i64) -> Self {
        match number {
            0 => Self::Anything,
            3 => Self::PublicKey,
            4 => Self::PrivateKey,
            _ => Self::Other,
        }
    }
}

/// A URI that is open.
struct Open<S> {
    store: S,
    wanted: Wanted,
    /// What there is was given.
    ended: bool,
}

/// The functions of a store.
pub const fn table<S: Store>() -> &'static [Dispatch] {
    const {
        &[
            entry!(store::OPEN, open::<S> as unsafe extern "C" fn(_, _) -> _),
            entry!(
                store::SETTABLE_CTX_PARAMS,
                settable as unsafe extern "C" fn(_) -> _
            ),
            entry!(
                store::SET_CTX_PARAMS,
                set::<S> as unsafe extern "C" fn(_, _) -> _
            ),
            entry!(
                store::LOAD,
                load::<S> as unsafe extern "C" fn(_, _, _, _, _) -> _
            ),
            entry!(store::EOF, eof::<S> as unsafe extern "C" fn(_) -> _),
            entry!(store::CLOSE, close::<S> as unsafe extern "C" fn(_) -> _),
            Dispatch::END,
        ]
    }
}

// SAFETY of every function below: libcrypto calls with the types and lifetimes of provider-storemgmt(7): contexts made
// here and not yet closed, by one thread at a time; arrays of parameters that end with a null key.

unsafe extern "C" fn open<S: Store>(provider: *mut c_void, uri: *const c_char) -> *mut c_void {
    // SAFETY: the pointer that `OSSL_provider_init` gave out.
    let state = unsafe { State::<S::Provider>::of(provider) };
    if uri.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: a terminated text.
    let uri = unsafe { CStr::from_ptr(uri) }.to_bytes();
    Context::make(state.core, || {
        Ok(Some(Open {
            store: S::open(&state.provider, uri)?,
            wanted: Wanted::Anything,
            ended: false,
        }))
    })
}

unsafe extern "C" fn settable(_provider: *mut c_void) -> *const Param {
    static SETTABLE: &[Param] = &[integer(c"expect"), END];
    SETTABLE.as_ptr()
}

/// What a program may search a store for.
const SEARCHES: [&CStr; 5] = [c"subject", c"issuer", c"serial", c"fingerprint", c"alias"];

/// Takes what a program wants. A search is refused: one name has one key. What the program says of anything else (a
/// property query, the form of a file) is no matter here.
unsafe extern "C" fn set<S: Store>(context: *mut c_void, params: *const Param) -> c_int {
    // SAFETY: see above.
    unsafe {
        Context::<Open<S>>::with(context, 0, |open| {
            let params = Params::new(params);
            if SEARCHES.iter().any(|search| params.find(search).is_some()) {
                return Ok(0);
            }
            if let Some(expected) = params.find(c"expect") {
                open.wanted = Wanted::of_type(expected.integer()?);
            }
            Ok(1)
        })
    }
}

unsafe extern "C" fn load<S: Store>(
    context: *mut c_void,
    callback: Option<Callback>,
    argument: *mut c_void,
    _passphrase: Option<Passphrase>,
    _passphrase_argument: *mut c_void,
) -> c_int {
    let Some(callback) = callback else {
        return 0;
    };
    // SAFETY: see above.
    unsafe {
        Context::<Open<S>>::with(context, 0, |open| {
            open.ended = true;
            let data = open.store.load(open.wanted);
            // SAFETY: the callback takes an array of parameters, whole for the call.
            Ok(data.map_or(1, |data| data.give(|params| callback(params, argument))))
        })
    }
}

unsafe extern "C" fn eof<S: Store>(context: *mut c_void) -> c_int {
    // SAFETY: see above.
    unsafe { Context::<Open<S>>::with(context, 1, |open| Ok(open.ended.into())) }
}

unsafe extern "C" fn close<S: Store>(context: *mut c_void) -> c_int {
    // SAFETY: see above.
    unsafe { Context::<Open<S>>::free(context) };
    1
}
