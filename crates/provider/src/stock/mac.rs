//! Stock's message authentication codes.

use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::sync::Arc;

use outboard_provider_abi::raw::Param;
use outboard_provider_abi::{Error, Input, Output, Params, ParamsMut, Result, foreign};

use super::{Held, Stock, call};
use crate::outboard::Shared;

/// A message authentication context of stock's, owned.
pub(crate) struct Authentication {
    algorithm: Held<foreign::Mac>,
    raw: *mut c_void,
}

// SAFETY: OpenSSL's contexts may move between threads.
unsafe impl Send for Authentication {}

impl Authentication {
    /// A fresh context.
    pub(crate) fn new(shared: &Arc<Shared>, name: &CStr) -> Result<Self> {
        let algorithm = Held::of(shared, |stock| stock.macs.find(stock, name))?;
        let raw = call!(algorithm, newctx(algorithm.provider()) or ptr::null_mut());
        Self::own(algorithm, raw)
    }

    fn own(algorithm: Held<foreign::Mac>, raw: *mut c_void) -> Result<Self> {
        if raw.is_null() {
            return Err(Error::silent());
        }
        Ok(Self { algorithm, raw })
    }

    pub(crate) fn duplicate(&self) -> Result<Self> {
        let raw = call!(self.algorithm, dupctx(self.raw) or ptr::null_mut());
        Self::own(self.algorithm.clone(), raw)
    }

    pub(crate) fn init(&mut self, key: Input<'_>, params: Params<'_>) -> c_int {
        let (key, length) = (key.as_ptr(), key.length());
        call!(self.algorithm, init(self.raw, key, length, params.as_ptr()) or 0)
    }

    pub(crate) fn update(&mut self, data: Input<'_>) -> c_int {
        call!(self.algorithm, update(self.raw, data.as_ptr(), data.length()) or 0)
    }

    pub(crate) fn finish(&mut self, mut output: Output<'_>) -> c_int {
        let (output, length, room) = output.as_raw();
        call!(self.algorithm, finish(self.raw, output, length, room) or 0)
    }

    pub(crate) fn set(&mut self, params: Params<'_>) -> c_int {
        call!(self.algorithm, set_ctx_params(self.raw, params.as_ptr()) or 0)
    }

    pub(crate) fn get(&mut self, mut params: ParamsMut<'_>) -> c_int {
        call!(self.algorithm, get_ctx_params(self.raw, params.as_mut_ptr()) or 0)
    }
}

impl Drop for Authentication {
    fn drop(&mut self) {
        call!(self.algorithm, freectx(self.raw) or ());
    }
}

impl Stock {
    /// What can be set on codes by that algorithm.
    pub(crate) fn settable_of_mac(
        &self,
        name: &CStr,
        context: Option<&Authentication>,
    ) -> *const Param {
        let Some(algorithm) = self.macs.find(self, name) else {
            return ptr::null();
        };
        let context = context.map_or(ptr::null_mut(), |context| context.raw);
        call!(algorithm, settable_ctx_params(context, algorithm.provider()) or ptr::null())
    }

    /// What can be read of them.
    pub(crate) fn gettable_of_mac(
        &self,
        name: &CStr,
        context: Option<&Authentication>,
    ) -> *const Param {
        let Some(algorithm) = self.macs.find(self, name) else {
            return ptr::null();
        };
        let context = context.map_or(ptr::null_mut(), |context| context.raw);
        call!(algorithm, gettable_ctx_params(context, algorithm.provider()) or ptr::null())
    }
}
