//! The provider itself: from `OSSL_provider_init` to its teardown.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

use crate::boundary::{boundary, release};
use crate::core::Core;
use crate::error::Result;
use crate::params::{END, ParamsMut, integer, text};
use crate::raw::{Algorithm, Callback, CoreHandle, Dispatch, Param, provider};

/// What a provider is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Ciphers.
    Cipher,
    /// Key derivation functions.
    Kdf,
    /// Key management.
    KeyManagement,
    /// Key exchange.
    KeyExchange,
    /// Signatures.
    Signature,
    /// Encryption with public keys.
    AsymmetricCipher,
    /// Key encapsulation.
    Kem,
    /// What writes keys.
    Encoder,
    /// What reads keys.
    Decoder,
    /// What opens URIs.
    Store,
}

impl Kind {
    fn from_operation_id(id: c_int) -> Option<Self> {
        match id {
            2 => Some(Self::Cipher),
            4 => Some(Self::Kdf),
            10 => Some(Self::KeyManagement),
            11 => Some(Self::KeyExchange),
            12 => Some(Self::Signature),
            13 => Some(Self::AsymmetricCipher),
            14 => Some(Self::Kem),
            20 => Some(Self::Encoder),
            21 => Some(Self::Decoder),
            22 => Some(Self::Store),
            _ => None,
        }
    }

    /// `OSSL_OP_…`.
    pub const fn operation_id(self) -> c_int {
        match self {
            Self::Cipher => 2,
            Self::Kdf => 4,
            Self::KeyManagement => 10,
            Self::KeyExchange => 11,
            Self::Signature => 12,
            Self::AsymmetricCipher => 13,
            Self::Kem => 14,
            Self::Encoder => 20,
            Self::Decoder => 21,
            Self::Store => 22,
        }
    }
}

/// A provider: one value for each library context that loads it.
pub trait Provider: Sized + Send + Sync + 'static {
    /// Its name, as `openssl list -providers` shows it.
    const NAME: &'static CStr;
    /// Its version.
    const VERSION: &'static CStr;

    /// Comes to life. Must be cheap: every program that loads libcrypto's configuration pays for it.
    fn new(core: Core) -> Result<Self>;
    /// The algorithms of that kind, a list that ends with [`Algorithm::END`] and lives as long as
    /// the provider.
    fn algorithms(&self, kind: Kind) -> &[Algorithm];
    /// Gives each capability of that name, such as `TLS-GROUP`, until the receiver answers false.
    fn capabilities(&self, name: &CStr, give: &mut dyn FnMut(*const Param) -> bool) -> Result<()>;
}

/// The provider behind the pointer that libcrypto passes around.
pub(crate) struct State<P> {
    pub(crate) core: Core,
    pub(crate) provider: P,
}

impl<P: Provider> State<P> {
    /// # Safety
    /// `pointer` is what [`init`] gave out for the same `P`, not yet torn down.
    pub(crate) unsafe fn of<'a>(pointer: *mut c_void) -> &'a Self {
        // SAFETY: by the caller's word.
        unsafe { &*pointer.cast::<Self>() }
    }
}

/// Exports a [`Provider`] as `OSSL_provider_init`.
#[macro_export]
macro_rules! export_provider {
    ($provider:ty) => {
        #[global_allocator]
        static ALLOCATOR: $crate::guest::memory::Allocator =
            $crate::guest::memory::Allocator::new();

        /// What libcrypto calls when it has loaded the module.
        ///
        /// # Safety
        /// Called by libcrypto alone, with what provider-base(7) says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn OSSL_provider_init(
            handle: *const $crate::raw::CoreHandle,
            dispatch: *const $crate::raw::Dispatch,
            out: *mut *const $crate::raw::Dispatch,
            context: *mut *mut ::std::ffi::c_void,
        ) -> ::std::ffi::c_int {
            // SAFETY: passed on as they came.
            unsafe { $crate::init::<$provider>(handle, dispatch, out, context) }
        }
    };
}

/// The body of `OSSL_provider_init`.
///
/// # Safety
/// Called with what libcrypto passes to `OSSL_provider_init`.
pub unsafe fn init<P: Provider>(
    handle: *const CoreHandle,
    dispatch: *const Dispatch,
    out: *mut *const Dispatch,
    context: *mut *mut c_void,
) -> c_int {
    outboard_guest::silence();
    // SAFETY: libcrypto's own table.
    let core = unsafe { Core::new(handle, dispatch) };
    boundary(&core, 0, || {
        let state = Box::new(State {
            core,
            provider: P::new(core)?,
        });
        // SAFETY: where libcrypto wants table and context.
        unsafe {
            out.write(table::<P>().as_ptr());
            context.write(Box::into_raw(state).cast());
        }
        Ok(1)
    })
}

const fn table<P: Provider>() -> &'static [Dispatch] {
    const {
        &[
            entry!(provider::TEARDOWN, teardown::<P> as unsafe extern "C" fn(_)),
            entry!(
                provider::GETTABLE_PARAMS,
                gettable as unsafe extern "C" fn(_) -> _
            ),
            entry!(
                provider::GET_PARAMS,
                get::<P> as unsafe extern "C" fn(_, _) -> _
            ),
            entry!(
                provider::QUERY_OPERATION,
                query::<P> as unsafe extern "C" fn(_, _, _) -> _
            ),
            entry!(
                provider::GET_CAPABILITIES,
                capabilities::<P> as unsafe extern "C" fn(_, _, _, _) -> _
            ),
            Dispatch::END,
        ]
    }
}

// SAFETY of the functions below: libcrypto calls with the types and lifetimes of provider-base(7).

unsafe extern "C" fn teardown<P: Provider>(context: *mut c_void) {
    // SAFETY: made by `Box::into_raw` in `init`; libcrypto does not use it again.
    let state = unsafe { Box::from_raw(context.cast::<State<P>>()) };
    release(state.core, || drop(state));
}

unsafe extern "C" fn gettable(_context: *mut c_void) -> *const Param {
    static GETTABLE: &[Param] = &[
        text(c"name"),
        text(c"version"),
        text(c"buildinfo"),
        integer(c"status"),
        END,
    ];
    GETTABLE.as_ptr()
}

unsafe extern "C" fn get<P: Provider>(context: *mut c_void, params: *mut Param) -> c_int {
    // SAFETY: see above.
    let state = unsafe { State::<P>::of(context) };
    boundary(&state.core, 0, || {
        // SAFETY: see above.
        let mut params = unsafe { ParamsMut::new(params) };
        params.answer(|param| {
            match param.key() {
                b"name" => param.set_text(P::NAME)?,
                b"version" | b"buildinfo" => param.set_text(P::VERSION)?,
                b"status" => param.set_unsigned(1)?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(1)
    })
}

unsafe extern "C" fn query<P: Provider>(
    context: *mut c_void,
    operation_id: c_int,
    no_cache: *mut c_int,
) -> *const Algorithm {
    // SAFETY: see above.
    let state = unsafe { State::<P>::of(context) };
    if !no_cache.is_null() {
        // SAFETY: where libcrypto wants the answer.
        unsafe { no_cache.write(0) };
    }
    boundary(&state.core, ptr::null(), || {
        Ok(Kind::from_operation_id(operation_id)
            .map_or(ptr::null(), |kind| state.provider.algorithms(kind).as_ptr()))
    })
}

unsafe extern "C" fn capabilities<P: Provider>(
    context: *mut c_void,
    name: *const c_char,
    callback: Option<Callback>,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: see above.
    let state = unsafe { State::<P>::of(context) };
    let Some(callback) = callback.filter(|_| !name.is_null()) else {
        return 0;
    };
    // SAFETY: a terminated name.
    let name = unsafe { CStr::from_ptr(name) };
    boundary(&state.core, 0, || {
        let mut all = true;
        state.provider.capabilities(name, &mut |params| {
            // Nothing is given to a receiver that has refused once.
            // SAFETY: the array is whole for the call; the argument is libcrypto's own.
            all = all && unsafe { callback(params, argument) } == 1;
            all
        })?;
        Ok(all.into())
    })
}
