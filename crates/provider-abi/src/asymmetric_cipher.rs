//! Encryption with public keys: what an implementation says, and the C functions made of it.

use std::ffi::{c_int, c_uchar, c_void};
use std::sync::Arc;

use crate::arguments::{Input, Output};
use crate::context::Context;
use crate::error::Result;
use crate::foreign;
use crate::keymgmt::{KeyManagement, key_of};
use crate::offer::{Offer, ours};
use crate::params::{Params, ParamsMut};
use crate::provider::State;
use crate::raw::{Param, asymmetric_cipher};

/// A context that encrypts or decrypts (OpenSSL's provider-asym_cipher(7)). What the functions answer, libcrypto gets; an
/// error answers 0.
pub trait AsymmetricCipher: Sized + Send + 'static {
    /// Its keys.
    type Key: KeyManagement;

    /// A fresh context; none answers null.
    fn new(provider: &<Self::Key as KeyManagement>::Provider) -> Result<Option<Self>>;
    /// A context in the same state; none answers null.
    fn duplicate(&mut self) -> Result<Option<Self>>;
    /// Begins to encrypt or to decrypt.
    fn init(&mut self, way: Way, key: Option<Arc<Self::Key>>, params: Params<'_>) -> Result<c_int>;
    /// Writes the ciphertext or the message, or tells how long it is at most.
    fn run(&mut self, way: Way, input: Input<'_>, output: Output<'_>) -> Result<c_int>;
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

/// What a context is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To encrypt.
    Encrypt,
    /// To decrypt.
    Decrypt,
}

/// What libcrypto cannot do without.
pub const NEEDED: &[i32] = &[
    asymmetric_cipher::NEWCTX,
    asymmetric_cipher::DECRYPT_INIT,
    asymmetric_cipher::DECRYPT,
    asymmetric_cipher::FREECTX,
];

/// What becomes of another provider's function in a table of ours.
pub fn offer<C: AsymmetricCipher>(id: i32) -> Offer {
    use asymmetric_cipher as table;
    match id {
        table::NEWCTX => ours!(new::<C> as unsafe extern "C" fn(_) -> _),
        table::FREECTX => ours!(free::<C> as unsafe extern "C" fn(_)),
        table::DUPCTX => ours!(duplicate::<C> as unsafe extern "C" fn(_) -> _),
        table::ENCRYPT_INIT => ours!(encrypt_init::<C> as foreign::Init),
        table::ENCRYPT => ours!(encrypt::<C> as unsafe extern "C" fn(_, _, _, _, _, _) -> _),
        table::DECRYPT_INIT => ours!(decrypt_init::<C> as foreign::Init),
        table::DECRYPT => ours!(decrypt::<C> as unsafe extern "C" fn(_, _, _, _, _, _) -> _),
        table::SET_CTX_PARAMS => ours!(set::<C> as unsafe extern "C" fn(_, _) -> _),
        table::GET_CTX_PARAMS => ours!(get::<C> as unsafe extern "C" fn(_, _) -> _),
        table::SETTABLE_CTX_PARAMS => ours!(settable::<C> as unsafe extern "C" fn(_, _) -> _),
        table::GETTABLE_CTX_PARAMS => ours!(gettable::<C> as unsafe extern "C" fn(_, _) -> _),
        _ => Offer::Unknown,
    }
}

// SAFETY of every function below: libcrypto calls with the types and lifetimes of
// provider-asym_cipher(7): contexts made here and not yet freed, by one thread at a time; keys of our own
// key management; buffers of the lengths it tells; arrays of parameters that end with a null key.

unsafe extern "C" fn new<C: AsymmetricCipher>(provider: *mut c_void) -> *mut c_void {
    // SAFETY: the pointer that `OSSL_provider_init` gave out.
    let state = unsafe { State::<<C::Key as KeyManagement>::Provider>::of(provider) };
    Context::make(state.core, || C::new(&state.provider))
}

unsafe extern "C" fn free<C: AsymmetricCipher>(context: *mut c_void) {
    // SAFETY: see above.
    unsafe { Context::<C>::free(context) };
}

unsafe extern "C" fn duplicate<C: AsymmetricCipher>(context: *mut c_void) -> *mut c_void {
    // SAFETY: see above.
    unsafe { Context::<C>::duplicate(context, C::duplicate) }
}

/// The two functions that begin and do it, for each way.
macro_rules! way {
    ($way:ident: $init:ident, $run:ident) => {
        unsafe extern "C" fn $init<C: AsymmetricCipher>(
            context: *mut c_void,
            key: *mut c_void,
            params: *const Param,
        ) -> c_int {
            // SAFETY: see above.
            unsafe {
                Context::<C>::with(context, 0, |cipher| {
                    cipher.init(Way::$way, key_of(key), Params::new(params))
                })
            }
        }

        unsafe extern "C" fn $run<C: AsymmetricCipher>(
            context: *mut c_void,
            output: *mut c_uchar,
            length: *mut usize,
            room: usize,
            input: *const c_uchar,
            input_length: usize,
        ) -> c_int {
            // SAFETY: see above.
            unsafe {
                Context::<C>::with(context, 0, |cipher| {
                    let output = Output::new(output, length, room);
                    cipher.run(Way::$way, Input::new(input, input_length), output)
                })
            }
        }
    };
}

way!(Encrypt: encrypt_init, encrypt);
way!(Decrypt: decrypt_init, decrypt);

unsafe extern "C" fn set<C: AsymmetricCipher>(context: *mut c_void, params: *const Param) -> c_int {
    // SAFETY: see above.
    unsafe { Context::<C>::with(context, 0, |cipher| cipher.set(Params::new(params))) }
}

unsafe extern "C" fn get<C: AsymmetricCipher>(context: *mut c_void, params: *mut Param) -> c_int {
    // SAFETY: see above.
    unsafe { Context::<C>::with(context, 0, |cipher| cipher.get(ParamsMut::new(params))) }
}

unsafe extern "C" fn settable<C: AsymmetricCipher>(
    context: *mut c_void,
    provider: *mut c_void,
) -> *const Param {
    // SAFETY: see above; the pointer that `OSSL_provider_init` gave out.
    unsafe {
        let state = State::<<C::Key as KeyManagement>::Provider>::of(provider);
        Context::<C>::describe(context, state.core, |context| {
            C::settable(context, &state.provider)
        })
    }
}

unsafe extern "C" fn gettable<C: AsymmetricCipher>(
    context: *mut c_void,
    provider: *mut c_void,
) -> *const Param {
    // SAFETY: see above; the pointer that `OSSL_provider_init` gave out.
    unsafe {
        let state = State::<<C::Key as KeyManagement>::Provider>::of(provider);
        Context::<C>::describe(context, state.core, |context| {
            C::gettable(context, &state.provider)
        })
    }
}
