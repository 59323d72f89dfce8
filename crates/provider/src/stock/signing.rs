//! Stock's signatures.

use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::sync::Arc;

use outboard_provider_abi::raw::Param;
use outboard_provider_abi::signature::{Of, Purpose};
use outboard_provider_abi::{Error, Input, Output, Params, ParamsMut, Result, foreign};

use super::{Held, Key, Stock, call, describes};
use crate::outboard::Shared;

/// A signature context of stock's, owned.
pub(crate) struct Signing {
    algorithm: Held<foreign::Signature>,
    raw: *mut c_void,
}

// SAFETY: OpenSSL's contexts may move between threads.
unsafe impl Send for Signing {}

impl Signing {
    /// A fresh context, whose digests are fetched by that query.
    pub(crate) fn new(
        shared: &Arc<Shared>,
        name: &CStr,
        properties: Option<&CStr>,
    ) -> Result<Self> {
        let algorithm = Held::of(shared, |stock| stock.signatures.find(stock, name))?;
        let properties = properties.map_or(ptr::null(), CStr::as_ptr);
        let raw = call!(algorithm, newctx(algorithm.provider(), properties) or ptr::null_mut());
        Self::own(algorithm, raw)
    }

    fn own(algorithm: Held<foreign::Signature>, raw: *mut c_void) -> Result<Self> {
        if raw.is_null() {
            return Err(Error::silent());
        }
        Ok(Self { algorithm, raw })
    }

    pub(crate) fn duplicate(&self) -> Result<Self> {
        let raw = call!(self.algorithm, dupctx(self.raw) or ptr::null_mut());
        Self::own(self.algorithm.clone(), raw)
    }

    pub(crate) fn init(
        &mut self,
        purpose: Purpose,
        digest: Option<&CStr>,
        key: Option<&Key>,
        params: Params<'_>,
    ) -> c_int {
        let (context, params) = (self.raw, params.as_ptr());
        let key = key.map_or(ptr::null_mut(), Key::as_ptr);
        let digest = digest.map_or(ptr::null(), CStr::as_ptr);
        let algorithm = &self.algorithm;
        match purpose {
            Purpose::Sign => call!(algorithm, sign_init(context, key, params) or 0),
            Purpose::Verify => call!(algorithm, verify_init(context, key, params) or 0),
            Purpose::Recover => call!(algorithm, verify_recover_init(context, key, params) or 0),
            Purpose::DigestSign => {
                call!(algorithm, digest_sign_init(context, digest, key, params) or 0)
            }
            Purpose::DigestVerify => {
                call!(algorithm, digest_verify_init(context, digest, key, params) or 0)
            }
            Purpose::MessageSign => call!(algorithm, sign_message_init(context, key, params) or 0),
            Purpose::MessageVerify => {
                call!(algorithm, verify_message_init(context, key, params) or 0)
            }
        }
    }

    pub(crate) fn sign(&mut self, data: Input<'_>, mut output: Output<'_>) -> c_int {
        let (out, length, room) = output.as_raw();
        let (data, data_length) = (data.as_ptr(), data.length());
        call!(self.algorithm, sign(self.raw, out, length, room, data, data_length) or 0)
    }

    pub(crate) fn verify(&mut self, signature: Input<'_>, data: Input<'_>) -> c_int {
        let (signed, length) = (signature.as_ptr(), signature.length());
        call!(
            self.algorithm,
            verify(self.raw, signed, length, data.as_ptr(), data.length()) or 0
        )
    }

    pub(crate) fn recover(&mut self, signature: Input<'_>, mut output: Output<'_>) -> c_int {
        let (out, length, room) = output.as_raw();
        let (signed, signed_length) = (signature.as_ptr(), signature.length());
        call!(
            self.algorithm,
            verify_recover(self.raw, out, length, room, signed, signed_length) or 0
        )
    }

    pub(crate) fn update(&mut self, purpose: Purpose, data: Input<'_>) -> c_int {
        let (context, data, length) = (self.raw, data.as_ptr(), data.length());
        let algorithm = &self.algorithm;
        match purpose {
            Purpose::MessageSign => {
                call!(algorithm, sign_message_update(context, data, length) or 0)
            }
            Purpose::MessageVerify => {
                call!(algorithm, verify_message_update(context, data, length) or 0)
            }
            Purpose::DigestVerify => {
                call!(algorithm, digest_verify_update(context, data, length) or 0)
            }
            _ => call!(algorithm, digest_sign_update(context, data, length) or 0),
        }
    }

    pub(crate) fn finish_sign(&mut self, purpose: Purpose, mut output: Output<'_>) -> c_int {
        let (out, length, room) = output.as_raw();
        if purpose == Purpose::MessageSign {
            return call!(
                self.algorithm,
                sign_message_final(self.raw, out, length, room) or 0
            );
        }
        call!(self.algorithm, digest_sign_final(self.raw, out, length, room) or 0)
    }

    /// Asks for the size of a message's signature, for what that leaves behind.
    pub(crate) fn ask_size(&mut self, purpose: Purpose) {
        let mut length = 0;
        self.finish_sign(purpose, Output::query(&mut length));
    }

    pub(crate) fn finish_verify(&mut self, purpose: Purpose, signature: Input<'_>) -> c_int {
        if purpose == Purpose::MessageVerify {
            return call!(self.algorithm, verify_message_final(self.raw) or 0);
        }
        let (signed, length) = (signature.as_ptr(), signature.length());
        call!(self.algorithm, digest_verify_final(self.raw, signed, length) or 0)
    }

    pub(crate) fn digest_sign(&mut self, data: Input<'_>, mut output: Output<'_>) -> c_int {
        let (out, length, room) = output.as_raw();
        let (data, data_length) = (data.as_ptr(), data.length());
        call!(self.algorithm, digest_sign(self.raw, out, length, room, data, data_length) or 0)
    }

    pub(crate) fn digest_verify(&mut self, signature: Input<'_>, data: Input<'_>) -> c_int {
        let (signed, length) = (signature.as_ptr(), signature.length());
        call!(
            self.algorithm,
            digest_verify(self.raw, signed, length, data.as_ptr(), data.length()) or 0
        )
    }

    pub(crate) fn set(&mut self, of: Of, params: Params<'_>) -> c_int {
        let params = params.as_ptr();
        match of {
            Of::Context => call!(self.algorithm, set_ctx_params(self.raw, params) or 0),
            Of::Digest => call!(self.algorithm, set_ctx_md_params(self.raw, params) or 0),
        }
    }

    pub(crate) fn get(&mut self, of: Of, mut params: ParamsMut<'_>) -> c_int {
        let params = params.as_mut_ptr();
        match of {
            Of::Context => call!(self.algorithm, get_ctx_params(self.raw, params) or 0),
            Of::Digest => call!(self.algorithm, get_ctx_md_params(self.raw, params) or 0),
        }
    }

    /// What can be set on its digest.
    pub(crate) fn digest_settable(&self) -> *const Param {
        call!(self.algorithm, settable_ctx_md_params(self.raw) or ptr::null())
    }

    /// What can be read of it.
    pub(crate) fn digest_gettable(&self) -> *const Param {
        call!(self.algorithm, gettable_ctx_md_params(self.raw) or ptr::null())
    }
}

impl Drop for Signing {
    fn drop(&mut self) {
        call!(self.algorithm, freectx(self.raw) or ());
    }
}

describes!(signatures of Signing: settable_of_signature, gettable_of_signature);
