//! Encoders: what an implementation says, and the C functions made of it.
//!
//! A key goes to an encoder of its own provider as it is; to another's it is exported, and what cannot be exported is
//! not written. So a provider whose keys are to be written as any other's has encoders of its own.
//!
//! The function that makes a context gets nothing that tells encoders apart: each has one of its own, generic in
//! the encoder's number.

use std::ffi::{c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;

use zeroize::Zeroizing;

use crate::boundary::boundary;
use crate::context::Context;
use crate::core::Core;
use crate::error::Result;
use crate::keymgmt::{self, KeyManagement, Selection, key_of};
use crate::offer::{Offer, ours};
use crate::params::Params;
use crate::provider::State;
use crate::raw::{Dispatch, Param, encoder};

/// How many encoders a provider may have for one key type.
pub const MOST: usize = 32;

/// Asks for a passphrase (`OSSL_PASSPHRASE_CALLBACK`).
pub type Passphrase =
    unsafe extern "C" fn(*mut c_char, usize, *mut usize, *const Param, *mut c_void) -> c_int;

/// What an encoder is asked to write, and where, as C passed it: for the call alone, so it cannot be copied.
pub struct Writing {
    core: Core,
    /// An `OSSL_CORE_BIO`.
    pub output: *mut c_void,
    /// The key as parameters, where it comes so.
    pub described: *const Param,
    /// Which parts.
    pub selection: Selection,
    /// Who asks for a passphrase.
    pub passphrase: Option<Passphrase>,
    /// And its argument.
    pub argument: *mut c_void,
}

/// An encoder's context (OpenSSL's provider-encoder(7)). What the functions answer, libcrypto gets; an error
/// answers 0.
pub trait Encoder: Sized + Send + 'static {
    /// The keys that it writes.
    type Key: KeyManagement;

    /// A fresh context of that encoder; none answers null.
    fn new(
        provider: &<Self::Key as KeyManagement>::Provider,
        number: usize,
    ) -> Result<Option<Self>>;
    /// Whether that encoder writes those parts.
    fn does(
        provider: &<Self::Key as KeyManagement>::Provider,
        number: usize,
        selection: Selection,
    ) -> c_int;
    /// What can be set on a context of that encoder.
    fn settable(provider: &<Self::Key as KeyManagement>::Provider, number: usize) -> *const Param;
    /// Sets parameters.
    fn set(&mut self, params: Params<'_>) -> Result<c_int>;
    /// Writes a key.
    fn encode(&mut self, key: Option<Arc<Self::Key>>, what: &Writing) -> Result<c_int>;
}

impl Writing {
    /// Writes all of these bytes to the output; whether that went well.
    pub fn write(&self, mut bytes: &[u8]) -> bool {
        let Some(write) = self.core.bio_write else {
            return false;
        };
        while !bytes.is_empty() {
            let mut written = 0;
            // SAFETY: libcrypto's own function and BIO, which lives as long as this call and so as `self`; and as many
            // bytes as is said.
            let answer = unsafe {
                write(
                    self.output,
                    bytes.as_ptr().cast(),
                    bytes.len(),
                    &raw mut written,
                )
            };
            match bytes.get(written..) {
                Some(rest) if answer == 1 && written > 0 => bytes = rest,
                _ => return false,
            }
        }
        true
    }

    /// The passphrase that the program answers with; none where it gives none.
    pub fn passphrase(&self) -> Option<Zeroizing<Vec<u8>>> {
        /// As long as libcrypto's own buffer for one.
        const MOST: usize = 1024;
        let ask = self.passphrase?;
        let mut room = Zeroizing::new(vec![0_u8; MOST]);
        let mut length = 0;
        // SAFETY: libcrypto's own function with its argument, and as much room as is said.
        let answer = unsafe {
            ask(
                room.as_mut_ptr().cast(),
                room.len(),
                &raw mut length,
                ptr::null(),
                self.argument,
            )
        };
        if answer != 1 || length > room.len() {
            return None;
        }
        room.truncate(length);
        Some(room)
    }
}

/// The functions of an encoder of keys that no other provider has: no other provider's keys are exported to it.
pub fn own<E: Encoder>(number: usize) -> Box<[Dispatch]> {
    const IDS: &[i32] = &[
        encoder::NEWCTX,
        encoder::FREECTX,
        encoder::SET_CTX_PARAMS,
        encoder::SETTABLE_CTX_PARAMS,
        encoder::DOES_SELECTION,
        encoder::ENCODE,
    ];
    crate::offer::own(IDS, |id| offer::<E>(number, id))
}

/// What libcrypto cannot do without.
pub const NEEDED: &[i32] = &[encoder::NEWCTX, encoder::FREECTX, encoder::ENCODE];

type New = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
type Does = unsafe extern "C" fn(*mut c_void, c_int) -> c_int;
type Describe = unsafe extern "C" fn(*mut c_void) -> *const Param;

/// What becomes of another provider's function in a table of ours, of the encoder of that number.
pub fn offer<E: Encoder>(number: usize, id: i32) -> Offer {
    if number >= MOST {
        return Offer::Unknown;
    }
    match id {
        encoder::NEWCTX => ours!(table::<E>().0[number]),
        encoder::DOES_SELECTION => ours!(table::<E>().1[number]),
        encoder::SETTABLE_CTX_PARAMS => ours!(table::<E>().2[number]),
        encoder::FREECTX => ours!(free::<E> as unsafe extern "C" fn(_)),
        encoder::SET_CTX_PARAMS => ours!(set::<E> as unsafe extern "C" fn(_, _) -> _),
        encoder::ENCODE => {
            ours!(encode::<E> as unsafe extern "C" fn(_, _, _, _, _, _, _) -> _)
        }
        encoder::IMPORT_OBJECT => ours!(import::<E> as unsafe extern "C" fn(_, _, _) -> _),
        encoder::FREE_OBJECT => ours!(keymgmt::free::<E::Key> as unsafe extern "C" fn(_)),
        encoder::GET_PARAMS | encoder::GETTABLE_PARAMS => Offer::Theirs,
        _ => Offer::Unknown,
    }
}

/// The functions that are generic in an encoder's number.
const fn table<E: Encoder>() -> ([New; MOST], [Does; MOST], [Describe; MOST]) {
    macro_rules! each {
        ($function:ident as $type:ty) => {
            each!(@ $function as $type: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
                16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31)
        };
        (@ $function:ident as $type:ty: $($number:literal)*) => {
            [$($function::<E, $number> as $type),*]
        };
    }
    (
        each!(new as New),
        each!(does as Does),
        each!(settable as Describe),
    )
}

/// A context, with what it takes to make keys.
struct Encoding<E: Encoder> {
    state: *const State<<E::Key as KeyManagement>::Provider>,
    encoder: E,
}

// SAFETY of every function below: libcrypto calls with the types and lifetimes of provider-encoder(7): contexts made
// here and not yet freed, by one thread at a time; keys of our own key management, or made here; arrays of parameters
// that end with a null key.

unsafe extern "C" fn new<E: Encoder, const NUMBER: usize>(provider: *mut c_void) -> *mut c_void {
    // SAFETY: the pointer that `OSSL_provider_init` gave out.
    let state = unsafe { State::<<E::Key as KeyManagement>::Provider>::of(provider) };
    Context::make(state.core, || {
        let encoder = E::new(&state.provider, NUMBER)?;
        Ok(encoder.map(|encoder| Encoding { state, encoder }))
    })
}

unsafe extern "C" fn free<E: Encoder>(context: *mut c_void) {
    // SAFETY: see above.
    unsafe { Context::<Encoding<E>>::free(context) };
}

unsafe extern "C" fn does<E: Encoder, const NUMBER: usize>(
    provider: *mut c_void,
    selection: c_int,
) -> c_int {
    // SAFETY: the pointer that `OSSL_provider_init` gave out.
    let state = unsafe { State::<<E::Key as KeyManagement>::Provider>::of(provider) };
    boundary(&state.core, 0, || {
        Ok(E::does(&state.provider, NUMBER, Selection(selection)))
    })
}

unsafe extern "C" fn settable<E: Encoder, const NUMBER: usize>(
    provider: *mut c_void,
) -> *const Param {
    // SAFETY: the pointer that `OSSL_provider_init` gave out.
    let state = unsafe { State::<<E::Key as KeyManagement>::Provider>::of(provider) };
    boundary(&state.core, ptr::null(), || {
        Ok(E::settable(&state.provider, NUMBER))
    })
}

unsafe extern "C" fn set<E: Encoder>(context: *mut c_void, params: *const Param) -> c_int {
    // SAFETY: see above.
    unsafe {
        Context::<Encoding<E>>::with(context, 0, |encoding| {
            encoding.encoder.set(Params::new(params))
        })
    }
}

unsafe extern "C" fn encode<E: Encoder>(
    context: *mut c_void,
    output: *mut c_void,
    key: *const c_void,
    described: *const Param,
    selection: c_int,
    passphrase: Option<Passphrase>,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        Context::<Encoding<E>>::with(context, 0, |encoding| {
            let what = Writing {
                core: (*encoding.state).core,
                output,
                described,
                selection: Selection(selection),
                passphrase,
                argument,
            };
            encoding.encoder.encode(key_of(key), &what)
        })
    }
}

unsafe extern "C" fn import<E: Encoder>(
    context: *mut c_void,
    selection: c_int,
    params: *const Param,
) -> *mut c_void {
    // SAFETY: see above; the provider outlives its contexts.
    unsafe {
        Context::<Encoding<E>>::with(context, ptr::null_mut(), |encoding| {
            let state = &*encoding.state;
            Ok(keymgmt::imported::<E::Key>(
                state,
                Selection(selection),
                Params::new(params),
            ))
        })
    }
}
