//! Stock's key derivations.

use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::sync::Arc;

use outboard_provider_abi::raw::Param;
use outboard_provider_abi::{Error, Output, Params, ParamsMut, Result, foreign};

use super::{Held, Stock, call, describes};
use crate::outboard::Shared;

/// A key derivation context of stock's, owned.
pub(crate) struct Derivation {
    algorithm: Held<foreign::Kdf>,
    raw: *mut c_void,
}

// SAFETY: OpenSSL's contexts may move between threads.
unsafe impl Send for Derivation {}

impl Derivation {
    /// A fresh context.
    pub(crate) fn new(shared: &Arc<Shared>, name: &CStr) -> Result<Self> {
        let algorithm = Held::of(shared, |stock| stock.kdfs.find(stock, name))?;
        let raw = call!(algorithm, newctx(algorithm.provider()) or ptr::null_mut());
        Self::own(algorithm, raw)
    }

    fn own(algorithm: Held<foreign::Kdf>, raw: *mut c_void) -> Result<Self> {
        if raw.is_null() {
            return Err(Error::silent());
        }
        Ok(Self { algorithm, raw })
    }

    pub(crate) fn duplicate(&self) -> Result<Self> {
        let raw = call!(self.algorithm, dupctx(self.raw) or ptr::null_mut());
        Self::own(self.algorithm.clone(), raw)
    }

    pub(crate) fn reset(&mut self) {
        call!(self.algorithm, reset(self.raw) or ());
    }

    pub(crate) fn derive(&mut self, mut output: Output<'_>, params: Params<'_>) -> c_int {
        let (output, _, room) = output.as_raw();
        call!(self.algorithm, derive(self.raw, output, room, params.as_ptr()) or 0)
    }

    pub(crate) fn set(&mut self, params: Params<'_>) -> c_int {
        call!(self.algorithm, set_ctx_params(self.raw, params.as_ptr()) or 0)
    }

    pub(crate) fn get(&mut self, mut params: ParamsMut<'_>) -> c_int {
        call!(self.algorithm, get_ctx_params(self.raw, params.as_mut_ptr()) or 0)
    }
}

impl Drop for Derivation {
    fn drop(&mut self) {
        call!(self.algorithm, freectx(self.raw) or ());
    }
}

describes!(kdfs of Derivation: settable_of_kdf, gettable_of_kdf);
