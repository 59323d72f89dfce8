//! Stock's encoders.

use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::sync::Arc;

use outboard_provider_abi::encoder::Writing;
use outboard_provider_abi::foreign::{self, Functions};
use outboard_provider_abi::raw::{Algorithm, Param};
use outboard_provider_abi::{Params, Result, Selection};

use super::{Held, Key, Stock, call, unreachable};
use crate::outboard::Shared;

/// One of stock's encoders.
struct Encoder {
    functions: foreign::Encoder,
    provider: *mut c_void,
}

impl Encoder {
    fn functions(&self) -> &foreign::Encoder {
        &self.functions
    }
}

/// An encoder's context of stock's, owned.
pub(crate) struct Encoding {
    encoder: Encoder,
    raw: *mut c_void,
    /// Keeps the provider.
    _keys: Held<foreign::KeyManagement>,
}

// SAFETY: OpenSSL's contexts may move between threads.
unsafe impl Send for Encoding {}

impl Encoding {
    /// A fresh context of that one of a key type's encoders.
    pub(crate) fn new(shared: &Arc<Shared>, name: &CStr, number: usize) -> Result<Option<Self>> {
        let keys = Held::of(shared, |stock| stock.keys.find(stock, name))?;
        let stock = shared.stock().ok_or_else(unreachable)?;
        let encoder = stock.encoder(name, number).ok_or_else(unreachable)?;
        let raw = call!(encoder, newctx(encoder.provider) or ptr::null_mut());
        Ok((!raw.is_null()).then_some(Self {
            encoder,
            raw,
            _keys: keys,
        }))
    }

    pub(crate) fn set(&mut self, params: Params<'_>) -> c_int {
        call!(self.encoder, set_ctx_params(self.raw, params.as_ptr()) or 0)
    }

    pub(crate) fn encode(&mut self, key: Option<&Key>, what: &Writing) -> c_int {
        let key = key.map_or(ptr::null_mut(), Key::as_ptr).cast_const();
        let (output, described, selection) = (what.output, what.described, what.selection.0);
        let (passphrase, argument) = (what.passphrase, what.argument);
        call!(
            self.encoder,
            encode(self.raw, output, key, described, selection, passphrase, argument) or 0
        )
    }
}

impl Drop for Encoding {
    fn drop(&mut self) {
        call!(self.encoder, freectx(self.raw) or ());
    }
}

impl Stock {
    /// The default provider's encoders of a key type, by number.
    pub(crate) fn encoders(&self, name: &CStr) -> Vec<Algorithm> {
        let encoders = self.with_default(|provider| {
            // SAFETY: the algorithms of a live provider.
            unsafe { named(self.query(provider, foreign::Encoder::OPERATION), name) }
        });
        encoders.unwrap_or_default()
    }

    /// Whether that one of a key type's encoders writes those parts.
    pub(crate) fn encoder_does(&self, name: &CStr, number: usize, selection: Selection) -> c_int {
        let Some(encoder) = self.encoder(name, number) else {
            return 0;
        };
        call!(encoder, does_selection(encoder.provider, selection.0) or 0)
    }

    /// What can be set on it.
    pub(crate) fn settable_of_encoder(&self, name: &CStr, number: usize) -> *const Param {
        let Some(encoder) = self.encoder(name, number) else {
            return ptr::null();
        };
        call!(encoder, settable_ctx_params(encoder.provider) or ptr::null())
    }

    /// That one of the encoders of the provider that has stock's keys of the type.
    fn encoder(&self, name: &CStr, number: usize) -> Option<Encoder> {
        let keys = self.keys.find(self, name)?;
        // SAFETY: the implementation keeps its provider alive.
        let encoders =
            unsafe { named(self.query(keys.owner(), foreign::Encoder::OPERATION), name) };
        let encoder = encoders.get(number)?;
        Some(Encoder {
            // SAFETY: a table of the provider's, ended by id 0.
            functions: unsafe { foreign::Encoder::read(encoder.implementation) },
            provider: keys.provider(),
        })
    }
}

/// Those of a list that have that name.
///
/// # Safety
/// As for [`foreign::algorithms`].
unsafe fn named(list: *const Algorithm, name: &CStr) -> Vec<Algorithm> {
    let Ok(name) = name.to_str() else {
        return Vec::new();
    };
    // SAFETY: by the caller's word.
    let named = unsafe { foreign::algorithms(list).filter(|encoder| encoder.has_name(name)) };
    named.copied().collect()
}
