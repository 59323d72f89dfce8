//! Signatures: what an implementation says, and the C functions made of it.

use std::ffi::{CStr, c_char, c_int, c_uchar, c_void};
use std::ptr;
use std::sync::Arc;

use crate::arguments::{Input, Output};
use crate::context::Context;
use crate::error::Result;
use crate::foreign;
use crate::keymgmt::{KeyManagement, key_of};
use crate::offer::{Offer, ours};
use crate::params::{Params, ParamsMut};
use crate::provider::State;
use crate::raw::{Dispatch, Param, signature};

/// What a signature context is set up for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To sign what is already a digest, or is signed as it is.
    Sign,
    /// To verify such a signature.
    Verify,
    /// To take the signed data out of a signature.
    Recover,
    /// To digest a message and sign it.
    DigestSign,
    /// To digest a message and verify its signature.
    DigestVerify,
    /// To sign a message by an algorithm that names its own digest, or none (since 3.4).
    MessageSign,
    /// To verify such a signature.
    MessageVerify,
}

/// One of two kinds of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// The context's own.
    Context,
    /// Its digest's.
    Digest,
}

/// A signature context (OpenSSL's provider-signature(7)). What the functions answer, libcrypto gets; an error
/// answers 0.
pub trait Signature: Sized + Send + 'static {
    /// Its keys.
    type Key: KeyManagement;

    /// A fresh context, whose digests are fetched by that query; none answers null.
    fn new(
        provider: &<Self::Key as KeyManagement>::Provider,
        properties: Option<&CStr>,
    ) -> Result<Option<Self>>;
    /// A context in the same state; none answers null.
    fn duplicate(&mut self) -> Result<Option<Self>>;
    /// Begins: no key means the one of last time.
    fn init(
        &mut self,
        purpose: Purpose,
        digest: Option<&CStr>,
        key: Option<Arc<Self::Key>>,
        params: Params<'_>,
    ) -> Result<c_int>;
    /// Signs what is already a digest.
    fn sign(&mut self, data: Input<'_>, output: Output<'_>) -> Result<c_int>;
    /// Whether that is a signature of what is already a digest.
    fn verify(&mut self, signature: Input<'_>, data: Input<'_>) -> Result<c_int>;
    /// The data that was signed.
    fn recover(&mut self, signature: Input<'_>, output: Output<'_>) -> Result<c_int>;
    /// Takes more of the message.
    fn update(&mut self, purpose: Purpose, data: Input<'_>) -> Result<c_int>;
    /// Signs the message.
    fn finish_sign(&mut self, purpose: Purpose, output: Output<'_>) -> Result<c_int>;
    /// Whether that is a signature of the message; with [`Purpose::MessageVerify`] it was set before.
    fn finish_verify(&mut self, purpose: Purpose, signature: Input<'_>) -> Result<c_int>;
    /// Signs a message in one call.
    fn digest_sign(&mut self, data: Input<'_>, output: Output<'_>) -> Result<c_int>;
    /// Verifies a message in one call.
    fn digest_verify(&mut self, signature: Input<'_>, data: Input<'_>) -> Result<c_int>;
    /// Sets parameters.
    fn set(&mut self, of: Of, params: Params<'_>) -> Result<c_int>;
    /// Answers parameters.
    fn get(&mut self, of: Of, params: ParamsMut<'_>) -> Result<c_int>;
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
    /// What can be set on a context's digest.
    fn digest_settable(&mut self) -> *const Param;
    /// What can be read of it.
    fn digest_gettable(&mut self) -> *const Param;
}

/// What libcrypto cannot do without.
pub const NEEDED: &[i32] = &[signature::NEWCTX, signature::FREECTX];

/// The functions of an algorithm that signs messages and names no digest.
pub const DIGESTS: &[i32] = &[
    signature::NEWCTX,
    signature::FREECTX,
    signature::DUPCTX,
    signature::DIGEST_SIGN_INIT,
    signature::DIGEST_SIGN_UPDATE,
    signature::DIGEST_SIGN_FINAL,
    signature::DIGEST_SIGN,
    signature::DIGEST_VERIFY_INIT,
    signature::DIGEST_VERIFY_UPDATE,
    signature::DIGEST_VERIFY_FINAL,
    signature::DIGEST_VERIFY,
    signature::GET_CTX_PARAMS,
    signature::GETTABLE_CTX_PARAMS,
    signature::SET_CTX_PARAMS,
    signature::SETTABLE_CTX_PARAMS,
];

/// The same, and those by which `EVP_PKEY_sign_message_init` signs (since 3.4).
pub const MESSAGES: &[i32] = &[
    signature::NEWCTX,
    signature::FREECTX,
    signature::DUPCTX,
    signature::SIGN_MESSAGE_INIT,
    signature::SIGN,
    signature::VERIFY_MESSAGE_INIT,
    signature::VERIFY,
    signature::DIGEST_SIGN_INIT,
    signature::DIGEST_SIGN_UPDATE,
    signature::DIGEST_SIGN_FINAL,
    signature::DIGEST_SIGN,
    signature::DIGEST_VERIFY_INIT,
    signature::DIGEST_VERIFY_UPDATE,
    signature::DIGEST_VERIFY_FINAL,
    signature::DIGEST_VERIFY,
    signature::GET_CTX_PARAMS,
    signature::GETTABLE_CTX_PARAMS,
    signature::SET_CTX_PARAMS,
    signature::SETTABLE_CTX_PARAMS,
];

/// A table of those functions, for an algorithm that no other provider has.
pub fn own<S: Signature>(ids: &[i32]) -> Box<[Dispatch]> {
    crate::offer::own(ids, offer::<S>)
}

/// What becomes of another provider's function in a table of ours.
pub fn offer<S: Signature>(id: i32) -> Offer {
    use foreign::{DigestInit, Init, Sign, SignFinal, Update, Verify};
    match id {
        signature::NEWCTX => ours!(new::<S> as unsafe extern "C" fn(_, _) -> _),
        signature::FREECTX => ours!(free::<S> as unsafe extern "C" fn(_)),
        signature::DUPCTX => ours!(duplicate::<S> as unsafe extern "C" fn(_) -> _),
        signature::SIGN_INIT => ours!(sign_init::<S> as Init),
        signature::SIGN => ours!(sign::<S> as Sign),
        signature::SIGN_MESSAGE_INIT => ours!(message_sign_init::<S> as Init),
        signature::SIGN_MESSAGE_UPDATE => ours!(update::<S, MESSAGE_SIGN> as Update),
        signature::SIGN_MESSAGE_FINAL => ours!(finish_sign::<S, MESSAGE_SIGN> as SignFinal),
        signature::VERIFY_INIT => ours!(verify_init::<S> as Init),
        signature::VERIFY => ours!(verify::<S> as Verify),
        signature::VERIFY_MESSAGE_INIT => ours!(message_verify_init::<S> as Init),
        signature::VERIFY_MESSAGE_UPDATE => ours!(update::<S, MESSAGE_VERIFY> as Update),
        signature::VERIFY_MESSAGE_FINAL => {
            ours!(finish_message_verify::<S> as unsafe extern "C" fn(_) -> _)
        }
        signature::VERIFY_RECOVER_INIT => ours!(recover_init::<S> as Init),
        signature::VERIFY_RECOVER => ours!(recover::<S> as Sign),
        signature::DIGEST_SIGN_INIT => ours!(digest_sign_init::<S> as DigestInit),
        signature::DIGEST_SIGN_UPDATE => ours!(update::<S, DIGEST_SIGN> as Update),
        signature::DIGEST_SIGN_FINAL => ours!(finish_sign::<S, DIGEST_SIGN> as SignFinal),
        signature::DIGEST_SIGN => ours!(digest_sign::<S> as Sign),
        signature::DIGEST_VERIFY_INIT => ours!(digest_verify_init::<S> as DigestInit),
        signature::DIGEST_VERIFY_UPDATE => ours!(update::<S, DIGEST_VERIFY> as Update),
        signature::DIGEST_VERIFY_FINAL => ours!(finish_digest_verify::<S> as Update),
        signature::DIGEST_VERIFY => ours!(digest_verify::<S> as Verify),
        signature::GET_CTX_PARAMS => ours!(get::<S> as unsafe extern "C" fn(_, _) -> _),
        signature::SET_CTX_PARAMS => ours!(set::<S> as unsafe extern "C" fn(_, _) -> _),
        signature::GETTABLE_CTX_PARAMS => ours!(gettable::<S> as unsafe extern "C" fn(_, _) -> _),
        signature::SETTABLE_CTX_PARAMS => ours!(settable::<S> as unsafe extern "C" fn(_, _) -> _),
        signature::GET_CTX_MD_PARAMS => ours!(digest_get::<S> as unsafe extern "C" fn(_, _) -> _),
        signature::SET_CTX_MD_PARAMS => ours!(digest_set::<S> as unsafe extern "C" fn(_, _) -> _),
        signature::GETTABLE_CTX_MD_PARAMS => {
            ours!(digest_gettable::<S> as unsafe extern "C" fn(_) -> _)
        }
        signature::SETTABLE_CTX_MD_PARAMS => {
            ours!(digest_settable::<S> as unsafe extern "C" fn(_) -> _)
        }
        signature::QUERY_KEY_TYPES => Offer::Theirs,
        _ => Offer::Unknown,
    }
}

/// Purposes that functions are generic in, as numbers since constants of other types are not yet allowed.
const DIGEST_SIGN: u8 = 0;
const DIGEST_VERIFY: u8 = 1;
const MESSAGE_SIGN: u8 = 2;
const MESSAGE_VERIFY: u8 = 3;

const fn purpose(number: u8) -> Purpose {
    match number {
        DIGEST_SIGN => Purpose::DigestSign,
        DIGEST_VERIFY => Purpose::DigestVerify,
        MESSAGE_SIGN => Purpose::MessageSign,
        _ => Purpose::MessageVerify,
    }
}

// SAFETY of every function below: libcrypto calls with the types and lifetimes of
// provider-signature(7): contexts made here and not yet freed, by one thread at a time; keys of our
// own key management; buffers of the lengths it tells; arrays of parameters that end with a null key.

unsafe extern "C" fn new<S: Signature>(
    provider: *mut c_void,
    properties: *const c_char,
) -> *mut c_void {
    // SAFETY: the pointer that `OSSL_provider_init` gave out.
    let state = unsafe { State::<<S::Key as KeyManagement>::Provider>::of(provider) };
    // SAFETY: see above.
    let properties = unsafe { text(properties) };
    Context::make(state.core, || S::new(&state.provider, properties))
}

unsafe extern "C" fn free<S: Signature>(context: *mut c_void) {
    // SAFETY: see above.
    unsafe { Context::<S>::free(context) };
}

unsafe extern "C" fn duplicate<S: Signature>(context: *mut c_void) -> *mut c_void {
    // SAFETY: see above.
    unsafe { Context::<S>::duplicate(context, S::duplicate) }
}

unsafe fn init<S: Signature>(
    context: *mut c_void,
    purpose: Purpose,
    digest: *const c_char,
    key: *mut c_void,
    params: *const Param,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        Context::<S>::with(context, 0, |signature| {
            signature.init(purpose, text(digest), key_of(key), Params::new(params))
        })
    }
}

macro_rules! inits {
    ($($name:ident: $purpose:ident;)*) => {
        $(unsafe extern "C" fn $name<S: Signature>(
            context: *mut c_void,
            key: *mut c_void,
            params: *const Param,
        ) -> c_int {
            // SAFETY: see above.
            unsafe { init::<S>(context, Purpose::$purpose, ptr::null(), key, params) }
        })*
    };
}

inits! {
    sign_init: Sign;
    verify_init: Verify;
    recover_init: Recover;
    message_sign_init: MessageSign;
    message_verify_init: MessageVerify;
}

unsafe extern "C" fn digest_sign_init<S: Signature>(
    context: *mut c_void,
    digest: *const c_char,
    key: *mut c_void,
    params: *const Param,
) -> c_int {
    // SAFETY: see above.
    unsafe { init::<S>(context, Purpose::DigestSign, digest, key, params) }
}

unsafe extern "C" fn digest_verify_init<S: Signature>(
    context: *mut c_void,
    digest: *const c_char,
    key: *mut c_void,
    params: *const Param,
) -> c_int {
    // SAFETY: see above.
    unsafe { init::<S>(context, Purpose::DigestVerify, digest, key, params) }
}

unsafe extern "C" fn sign<S: Signature>(
    context: *mut c_void,
    out: *mut c_uchar,
    length: *mut usize,
    room: usize,
    data: *const c_uchar,
    data_length: usize,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        Context::<S>::with(context, 0, |signature| {
            signature.sign(
                Input::new(data, data_length),
                Output::new(out, length, room),
            )
        })
    }
}

unsafe extern "C" fn verify<S: Signature>(
    context: *mut c_void,
    signed: *const c_uchar,
    signed_length: usize,
    data: *const c_uchar,
    data_length: usize,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        Context::<S>::with(context, 0, |signature| {
            signature.verify(
                Input::new(signed, signed_length),
                Input::new(data, data_length),
            )
        })
    }
}

unsafe extern "C" fn recover<S: Signature>(
    context: *mut c_void,
    out: *mut c_uchar,
    length: *mut usize,
    room: usize,
    signed: *const c_uchar,
    signed_length: usize,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        Context::<S>::with(context, 0, |signature| {
            signature.recover(
                Input::new(signed, signed_length),
                Output::new(out, length, room),
            )
        })
    }
}

unsafe extern "C" fn update<S: Signature, const PURPOSE: u8>(
    context: *mut c_void,
    data: *const c_uchar,
    length: usize,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        Context::<S>::with(context, 0, |signature| {
            signature.update(purpose(PURPOSE), Input::new(data, length))
        })
    }
}

unsafe extern "C" fn finish_sign<S: Signature, const PURPOSE: u8>(
    context: *mut c_void,
    out: *mut c_uchar,
    length: *mut usize,
    room: usize,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        Context::<S>::with(context, 0, |signature| {
            signature.finish_sign(purpose(PURPOSE), Output::new(out, length, room))
        })
    }
}

unsafe extern "C" fn digest_sign<S: Signature>(
    context: *mut c_void,
    out: *mut c_uchar,
    length: *mut usize,
    room: usize,
    data: *const c_uchar,
    data_length: usize,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        Context::<S>::with(context, 0, |signature| {
            signature.digest_sign(
                Input::new(data, data_length),
                Output::new(out, length, room),
            )
        })
    }
}

unsafe extern "C" fn finish_digest_verify<S: Signature>(
    context: *mut c_void,
    signed: *const c_uchar,
    length: usize,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        Context::<S>::with(context, 0, |signature| {
            signature.finish_verify(Purpose::DigestVerify, Input::new(signed, length))
        })
    }
}

unsafe extern "C" fn finish_message_verify<S: Signature>(context: *mut c_void) -> c_int {
    // SAFETY: see above.
    unsafe {
        Context::<S>::with(context, 0, |signature| {
            signature.finish_verify(Purpose::MessageVerify, Input::of(&[]))
        })
    }
}

unsafe extern "C" fn digest_verify<S: Signature>(
    context: *mut c_void,
    signed: *const c_uchar,
    signed_length: usize,
    data: *const c_uchar,
    data_length: usize,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        Context::<S>::with(context, 0, |signature| {
            signature.digest_verify(
                Input::new(signed, signed_length),
                Input::new(data, data_length),
            )
        })
    }
}

macro_rules! parameters {
    ($($set:ident, $get:ident: $of:ident;)*) => {
        $(unsafe extern "C" fn $set<S: Signature>(
            context: *mut c_void,
            params: *const Param,
        ) -> c_int {
            // SAFETY: see above.
            unsafe {
                Context::<S>::with(context, 0, |signature| {
                    signature.set(Of::$of, Params::new(params))
                })
            }
        }

        unsafe extern "C" fn $get<S: Signature>(
            context: *mut c_void,
            params: *mut Param,
        ) -> c_int {
            // SAFETY: see above.
            unsafe {
                Context::<S>::with(context, 0, |signature| {
                    signature.get(Of::$of, ParamsMut::new(params))
                })
            }
        })*
    };
}

parameters! {
    set, get: Context;
    digest_set, digest_get: Digest;
}

macro_rules! descriptions {
    ($($name:ident)*) => {
        $(unsafe extern "C" fn $name<S: Signature>(
            context: *mut c_void,
            provider: *mut c_void,
        ) -> *const Param {
            // SAFETY: see above; the pointer that `OSSL_provider_init` gave out.
            unsafe {
                let state = State::<<S::Key as KeyManagement>::Provider>::of(provider);
                Context::<S>::describe(context, state.core, |context| {
                    S::$name(context, &state.provider)
                })
            }
        })*
    };
}

descriptions!(settable gettable);

unsafe extern "C" fn digest_gettable<S: Signature>(context: *mut c_void) -> *const Param {
    // SAFETY: see above.
    unsafe {
        Context::<S>::with(
            context,
            ptr::null(),
            |context| Ok(context.digest_gettable()),
        )
    }
}

unsafe extern "C" fn digest_settable<S: Signature>(context: *mut c_void) -> *const Param {
    // SAFETY: see above.
    unsafe {
        Context::<S>::with(
            context,
            ptr::null(),
            |context| Ok(context.digest_settable()),
        )
    }
}

/// A text that C passes.
///
/// # Safety
/// `text` is null or terminated, for `'a`.
unsafe fn text<'a>(text: *const c_char) -> Option<&'a CStr> {
    // SAFETY: by the caller's word.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })
}
