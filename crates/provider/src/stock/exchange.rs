//! Stock's key exchanges.

use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::sync::Arc;

use outboard_provider_abi::raw::Param;
use outboard_provider_abi::{Error, Output, Params, ParamsMut, Result, foreign};

use super::{Held, Key, Stock, call, describes};
use crate::outboard::Shared;

/// A key exchange context of stock's, owned.
pub(crate) struct Exchange {
    algorithm: Held<foreign::KeyExchange>,
    raw: *mut c_void,
}

// SAFETY: OpenSSL's contexts may move between threads.
unsafe impl Send for Exchange {}

impl Exchange {
    /// A fresh context.
    pub(crate) fn new(shared: &Arc<Shared>, name: &CStr) -> Result<Self> {
        let algorithm = Held::of(shared, |stock| stock.exchanges.find(stock, name))?;
        let raw = call!(algorithm, newctx(algorithm.provider()) or ptr::null_mut());
        Self::own(algorithm, raw)
    }

    fn own(algorithm: Held<foreign::KeyExchange>, raw: *mut c_void) -> Result<Self> {
        if raw.is_null() {
            return Err(Error::silent());
        }
        Ok(Self { algorithm, raw })
    }

    pub(crate) fn duplicate(&self) -> Result<Self> {
        let raw = call!(self.algorithm, dupctx(self.raw) or ptr::null_mut());
        Self::own(self.algorithm.clone(), raw)
    }

    pub(crate) fn init(&mut self, key: Option<&Key>, params: Params<'_>) -> c_int {
        let key = key.map_or(ptr::null_mut(), Key::as_ptr);
        call!(self.algorithm, init(self.raw, key, params.as_ptr()) or 0)
    }

    pub(crate) fn set_peer(&mut self, key: Option<&Key>) -> c_int {
        let key = key.map_or(ptr::null_mut(), Key::as_ptr);
        call!(self.algorithm, set_peer(self.raw, key) or 0)
    }

    pub(crate) fn derive(&mut self, mut secret: Output<'_>) -> c_int {
        let (secret, length, room) = secret.as_raw();
        call!(self.algorithm, derive(self.raw, secret, length, room) or 0)
    }

    pub(crate) fn set(&mut self, params: Params<'_>) -> c_int {
        call!(self.algorithm, set_ctx_params(self.raw, params.as_ptr()) or 0)
    }

    pub(crate) fn get(&mut self, mut params: ParamsMut<'_>) -> c_int {
        call!(self.algorithm, get_ctx_params(self.raw, params.as_mut_ptr()) or 0)
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        call!(self.algorithm, freectx(self.raw) or ());
    }
}

describes!(exchanges of Exchange: settable_of_exchange, gettable_of_exchange);
