//! Stock's encryption with public keys.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::Arc;
use std::{ptr, slice};

use outboard_provider_abi::asymmetric_cipher::Way;
use outboard_provider_abi::raw::{self, Param};
use outboard_provider_abi::{Error, Input, Output, Params, ParamsMut, Result, foreign, params};

use super::{Held, Key, Stock, call, describes};
use crate::outboard::Shared;

/// A context of stock's that encrypts or decrypts, owned.
pub(crate) struct Encryption {
    algorithm: Held<foreign::AsymmetricCipher>,
    raw: *mut c_void,
}

// SAFETY: OpenSSL's contexts may move between threads.
unsafe impl Send for Encryption {}

/// What was set on an RSA context. Borrows from it, and owns nothing.
pub(crate) struct Settings<'a> {
    /// `RSA_PKCS1_PADDING` and its kin.
    pub(crate) padding: c_int,
    /// The name of OAEP's digest; empty for the default one.
    pub(crate) digest: Name,
    /// The name of the digest of OAEP's masks; empty for the same one.
    pub(crate) mgf1: Name,
    /// OAEP's label.
    pub(crate) label: &'a [u8],
    /// The TLS version that the client offered.
    pub(crate) offered: c_uint,
    /// The TLS version that was negotiated; 0 where it may not stand for the other.
    pub(crate) negotiated: c_uint,
}

/// A digest's name.
pub(crate) struct Name([u8; 64]);

impl Name {
    /// The name; none where it is no text.
    pub(crate) fn text(&self) -> Option<&str> {
        CStr::from_bytes_until_nul(&self.0).ok()?.to_str().ok()
    }
}

impl Encryption {
    /// A fresh context.
    pub(crate) fn new(shared: &Arc<Shared>, name: &CStr) -> Result<Self> {
        let algorithm = Held::of(shared, |stock| stock.encryptions.find(stock, name))?;
        let raw = call!(algorithm, newctx(algorithm.provider()) or ptr::null_mut());
        Self::own(algorithm, raw)
    }

    fn own(algorithm: Held<foreign::AsymmetricCipher>, raw: *mut c_void) -> Result<Self> {
        if raw.is_null() {
            return Err(Error::silent());
        }
        Ok(Self { algorithm, raw })
    }

    pub(crate) fn duplicate(&self) -> Result<Self> {
        let raw = call!(self.algorithm, dupctx(self.raw) or ptr::null_mut());
        Self::own(self.algorithm.clone(), raw)
    }

    pub(crate) fn init(&mut self, way: Way, key: Option<&Key>, params: Params<'_>) -> c_int {
        let (context, params) = (self.raw, params.as_ptr());
        let key = key.map_or(ptr::null_mut(), Key::as_ptr);
        match way {
            Way::Encrypt => call!(self.algorithm, encrypt_init(context, key, params) or 0),
            Way::Decrypt => call!(self.algorithm, decrypt_init(context, key, params) or 0),
        }
    }

    pub(crate) fn run(&mut self, way: Way, input: Input<'_>, mut output: Output<'_>) -> c_int {
        let (out, length, room) = output.as_raw();
        let (data, data_length) = (input.as_ptr(), input.length());
        let context = self.raw;
        match way {
            Way::Encrypt => {
                call!(self.algorithm, encrypt(context, out, length, room, data, data_length) or 0)
            }
            Way::Decrypt => {
                call!(self.algorithm, decrypt(context, out, length, room, data, data_length) or 0)
            }
        }
    }

    pub(crate) fn set(&mut self, params: Params<'_>) -> c_int {
        call!(self.algorithm, set_ctx_params(self.raw, params.as_ptr()) or 0)
    }

    pub(crate) fn get(&mut self, mut params: ParamsMut<'_>) -> c_int {
        call!(self.algorithm, get_ctx_params(self.raw, params.as_mut_ptr()) or 0)
    }

    /// What was set on it; none where it does not say.
    pub(crate) fn settings(&mut self) -> Option<Settings<'_>> {
        let mut settings = Settings {
            padding: 0,
            digest: Name([0; 64]),
            mgf1: Name([0; 64]),
            label: &[],
            offered: 0,
            negotiated: 0,
        };
        let mut label: *const u8 = ptr::null();
        let mut questions = [
            question(c"pad-mode", raw::PARAM_INTEGER, &mut settings.padding),
            question(c"digest", raw::PARAM_UTF8_STRING, &mut settings.digest.0),
            question(c"mgf1-digest", raw::PARAM_UTF8_STRING, &mut settings.mgf1.0),
            question(c"oaep-label", raw::PARAM_OCTET_PTR, &mut label),
            question(
                c"tls-client-version",
                raw::PARAM_UNSIGNED_INTEGER,
                &mut settings.offered,
            ),
            question(
                c"tls-negotiated-version",
                raw::PARAM_UNSIGNED_INTEGER,
                &mut settings.negotiated,
            ),
            params::END,
        ];
        // SAFETY: an ended array, whose values live until they are read below.
        let asked = self.get(unsafe { ParamsMut::new(questions.as_mut_ptr()) });
        let length = questions[3].return_size;
        if asked != 1 || length == raw::PARAM_UNMODIFIED {
            return None;
        }
        if !label.is_null() {
            // SAFETY: stock's own copy of the label, which it changes and frees only with the context.
            settings.label = unsafe { slice::from_raw_parts(label, length) };
        }
        Some(settings)
    }
}

impl Drop for Encryption {
    fn drop(&mut self) {
        call!(self.algorithm, freectx(self.raw) or ());
    }
}

fn question<T>(key: &'static CStr, data_type: c_uint, value: &mut T) -> Param {
    Param {
        key: key.as_ptr().cast::<c_char>(),
        data_type,
        data: ptr::from_mut(value).cast(),
        data_size: size_of::<T>(),
        return_size: raw::PARAM_UNMODIFIED,
    }
}

describes!(encryptions of Encryption: settable_of_encryption, gettable_of_encryption);
