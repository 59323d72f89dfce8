//! Signatures: what an implementation says, and the C functions made of it.

use std::ffi::{c_char, c_int, c_uchar, c_void};
use std::sync::Arc;

use crate::context::{Context, bytes, output, signature_of};
use crate::error::Result;
use crate::keymgmt::{KeyManagement, key_of};
use crate::params::{Params, ParamsMut, read_text};
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
}

/// A signature context (OpenSSL's provider-signature(7)).
pub trait Signature: Sized + Send + 'static {
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
    /// Begins: no key means the one of last time.
    fn init(
        &mut self,
        purpose: Purpose,
        digest: Option<&str>,
        key: Option<Arc<Self::Key>>,
        params: Params<'_>,
    ) -> Result<()>;
    /// Signs; without an output tells the size of a signature.
    fn sign(&mut self, data: &[u8], output: Option<&mut [u8]>) -> Result<usize>;
    /// Whether that is a signature of the data.
    fn verify(&mut self, signature: &[u8], data: &[u8]) -> Result<bool>;
    /// The data that was signed; without an output tells the most it may be.
    fn recover(&mut self, signature: &[u8], output: Option<&mut [u8]>) -> Result<usize>;
    /// Takes more of the message.
    fn update(&mut self, data: &[u8]) -> Result<()>;
    /// Signs the message; without an output tells the size of a signature.
    fn finish_sign(&mut self, output: Option<&mut [u8]>) -> Result<usize>;
    /// Whether that is a signature of the message.
    fn finish_verify(&mut self, signature: &[u8]) -> Result<bool>;
    /// Signs a message in one call.
    fn digest_sign(&mut self, data: &[u8], output: Option<&mut [u8]>) -> Result<usize> {
        if output.is_some() {
            self.update(data)?;
        }
        self.finish_sign(output)
    }
    /// Verifies a message in one call.
    fn digest_verify(&mut self, signature: &[u8], data: &[u8]) -> Result<bool> {
        self.update(data)?;
        self.finish_verify(signature)
    }
    /// Sets context parameters.
    fn set(&mut self, params: Params<'_>) -> Result<()>;
    /// Answers context parameters.
    fn get(&mut self, params: ParamsMut<'_>) -> Result<()>;
}

type Init = unsafe extern "C" fn(*mut c_void, *mut c_void, *const Param) -> c_int;
type DigestInit =
    unsafe extern "C" fn(*mut c_void, *const c_char, *mut c_void, *const Param) -> c_int;

macro_rules! table {
    ($signature:ident $(, $more:expr)*) => {
        const {
            &[
                entry!(
                    signature::NEWCTX,
                    new::<$signature> as unsafe extern "C" fn(_, _) -> _
                ),
                entry!(signature::FREECTX, free::<$signature> as unsafe extern "C" fn(_)),
                entry!(
                    signature::DUPCTX,
                    duplicate::<$signature> as unsafe extern "C" fn(_) -> _
                ),
                entry!(signature::SIGN_INIT, sign_init::<$signature> as Init),
                entry!(
                    signature::SIGN,
                    sign::<$signature> as unsafe extern "C" fn(_, _, _, _, _, _) -> _
                ),
                entry!(signature::VERIFY_INIT, verify_init::<$signature> as Init),
                entry!(
                    signature::VERIFY,
                    verify::<$signature> as unsafe extern "C" fn(_, _, _, _, _) -> _
                ),
                entry!(signature::VERIFY_RECOVER_INIT, recover_init::<$signature> as Init),
                entry!(
                    signature::VERIFY_RECOVER,
                    recover::<$signature> as unsafe extern "C" fn(_, _, _, _, _, _) -> _
                ),
                entry!(
                    signature::DIGEST_SIGN_INIT,
                    digest_sign_init::<$signature> as DigestInit
                ),
                entry!(
                    signature::DIGEST_SIGN_UPDATE,
                    update::<$signature> as unsafe extern "C" fn(_, _, _) -> _
                ),
                entry!(
                    signature::DIGEST_SIGN_FINAL,
                    finish_sign::<$signature> as unsafe extern "C" fn(_, _, _, _) -> _
                ),
                entry!(
                    signature::DIGEST_SIGN,
                    digest_sign::<$signature> as unsafe extern "C" fn(_, _, _, _, _, _) -> _
                ),
                entry!(
                    signature::DIGEST_VERIFY_INIT,
                    digest_verify_init::<$signature> as DigestInit
                ),
                entry!(
                    signature::DIGEST_VERIFY_UPDATE,
                    update::<$signature> as unsafe extern "C" fn(_, _, _) -> _
                ),
                entry!(
                    signature::DIGEST_VERIFY_FINAL,
                    finish_verify::<$signature> as unsafe extern "C" fn(_, _, _) -> _
                ),
                entry!(
                    signature::DIGEST_VERIFY,
                    digest_verify::<$signature> as unsafe extern "C" fn(_, _, _, _, _) -> _
                ),
                entry!(
                    signature::GET_CTX_PARAMS,
                    get::<$signature> as unsafe extern "C" fn(_, _) -> _
                ),
                entry!(
                    signature::SET_CTX_PARAMS,
                    set::<$signature> as unsafe extern "C" fn(_, _) -> _
                ),
                entry!(
                    signature::GETTABLE_CTX_PARAMS,
                    gettable::<$signature> as unsafe extern "C" fn(_, _) -> _
                ),
                entry!(
                    signature::SETTABLE_CTX_PARAMS,
                    settable::<$signature> as unsafe extern "C" fn(_, _) -> _
                ),
                $($more,)*
                Dispatch::END,
            ]
        }
    };
}

/// The dispatch table of a signature algorithm.
pub const fn table<S: Signature>() -> &'static [Dispatch] {
    table!(S)
}

/// The same of an algorithm that signs messages, not digests: 3.4 and later begin it by a function of
/// its own, which arrives as [`Purpose::DigestSign`] or [`Purpose::DigestVerify`] without a digest.
pub const fn table_of_messages<S: Signature>() -> &'static [Dispatch] {
    table!(
        S,
        entry!(signature::SIGN_MESSAGE_INIT, message_sign_init::<S> as Init),
        entry!(
            signature::VERIFY_MESSAGE_INIT,
            message_verify_init::<S> as Init
        )
    )
}

// SAFETY of every function below: libcrypto calls with the types and lifetimes of
// provider-signature(7): contexts made here and not yet freed, by one thread at a time; keys of our
// own key management; buffers of the lengths it tells; arrays of parameters that end with a null key.

unsafe extern "C" fn new<S: Signature>(
    provider: *mut c_void,
    _properties: *const c_char,
) -> *mut c_void {
    // SAFETY: the pointer that `OSSL_provider_init` gave out.
    let state = unsafe { State::<<S::Key as KeyManagement>::Provider>::of(provider) };
    Context::make(state.core, || S::new(&state.provider))
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
            let digest = read_text(digest);
            signature.init(purpose, digest.as_deref(), key_of(key), Params::new(params))?;
            Ok(1)
        })
    }
}

unsafe extern "C" fn sign_init<S: Signature>(
    context: *mut c_void,
    key: *mut c_void,
    params: *const Param,
) -> c_int {
    // SAFETY: see above.
    unsafe { init::<S>(context, Purpose::Sign, std::ptr::null(), key, params) }
}

unsafe extern "C" fn verify_init<S: Signature>(
    context: *mut c_void,
    key: *mut c_void,
    params: *const Param,
) -> c_int {
    // SAFETY: see above.
    unsafe { init::<S>(context, Purpose::Verify, std::ptr::null(), key, params) }
}

unsafe extern "C" fn recover_init<S: Signature>(
    context: *mut c_void,
    key: *mut c_void,
    params: *const Param,
) -> c_int {
    // SAFETY: see above.
    unsafe { init::<S>(context, Purpose::Recover, std::ptr::null(), key, params) }
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

unsafe extern "C" fn message_sign_init<S: Signature>(
    context: *mut c_void,
    key: *mut c_void,
    params: *const Param,
) -> c_int {
    // SAFETY: see above.
    unsafe { init::<S>(context, Purpose::DigestSign, std::ptr::null(), key, params) }
}

unsafe extern "C" fn message_verify_init<S: Signature>(
    context: *mut c_void,
    key: *mut c_void,
    params: *const Param,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        init::<S>(
            context,
            Purpose::DigestVerify,
            std::ptr::null(),
            key,
            params,
        )
    }
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
            signature_of(data, data_length, out, length, room, |data, out| {
                signature.sign(data, out)
            })
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
            let signed = bytes(signed, signed_length).unwrap_or_default();
            let data = bytes(data, data_length).unwrap_or_default();
            Ok(signature.verify(signed, data)?.into())
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
            let signed = bytes(signed, signed_length).unwrap_or_default();
            output(out, length, room, |out| signature.recover(signed, out))
        })
    }
}

unsafe extern "C" fn update<S: Signature>(
    context: *mut c_void,
    data: *const c_uchar,
    length: usize,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        Context::<S>::with(context, 0, |signature| {
            signature
                .update(bytes(data, length).unwrap_or_default())
                .map(|()| 1)
        })
    }
}

unsafe extern "C" fn finish_sign<S: Signature>(
    context: *mut c_void,
    out: *mut c_uchar,
    length: *mut usize,
    room: usize,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        Context::<S>::with(context, 0, |signature| {
            output(out, length, room, |out| signature.finish_sign(out))
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
            signature_of(data, data_length, out, length, room, |data, out| {
                signature.digest_sign(data, out)
            })
        })
    }
}

unsafe extern "C" fn finish_verify<S: Signature>(
    context: *mut c_void,
    signed: *const c_uchar,
    signed_length: usize,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        Context::<S>::with(context, 0, |signature| {
            let signed = bytes(signed, signed_length).unwrap_or_default();
            Ok(signature.finish_verify(signed)?.into())
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
            let signed = bytes(signed, signed_length).unwrap_or_default();
            let data = bytes(data, data_length).unwrap_or_default();
            Ok(signature.digest_verify(signed, data)?.into())
        })
    }
}

unsafe extern "C" fn set<S: Signature>(context: *mut c_void, params: *const Param) -> c_int {
    // SAFETY: see above.
    unsafe {
        Context::<S>::with(context, 0, |signature| {
            signature.set(Params::new(params)).map(|()| 1)
        })
    }
}

unsafe extern "C" fn get<S: Signature>(context: *mut c_void, params: *mut Param) -> c_int {
    // SAFETY: see above.
    unsafe {
        Context::<S>::with(context, 0, |signature| {
            signature.get(ParamsMut::new(params)).map(|()| 1)
        })
    }
}

unsafe extern "C" fn gettable<S: Signature>(
    _context: *mut c_void,
    _provider: *mut c_void,
) -> *const Param {
    S::GETTABLE.as_ptr()
}

unsafe extern "C" fn settable<S: Signature>(
    _context: *mut c_void,
    _provider: *mut c_void,
) -> *const Param {
    S::SETTABLE.as_ptr()
}
