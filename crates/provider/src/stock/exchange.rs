//! Key exchange by the default provider.

use std::sync::Arc;

use outboard_libcrypto::{Functions, sys};
use outboard_provider_abi::raw::Param;
use outboard_provider_abi::{ParamList, Result};

use super::check;
use super::key::{Key, Operation};
use super::signing::written;

/// A key exchange context of the default provider, owned.
pub(crate) struct Exchange {
    key: Arc<Key>,
    operation: *mut sys::EVP_PKEY_CTX,
}

// SAFETY: OpenSSL's contexts may move between threads.
unsafe impl Send for Exchange {}

impl Exchange {
    /// Begins with our key and the parameters set.
    pub(crate) fn new(key: Arc<Key>, params: &ParamList) -> Result<Self> {
        let operation = Operation::new(&key)?.into_raw();
        let mut exchange = Self { key, operation };
        // SAFETY: a live operation.
        check(unsafe {
            (exchange.functions().EVP_PKEY_derive_init_ex)(operation, std::ptr::null())
        })?;
        if !params.is_empty() {
            params.with_array(|params| exchange.set(params))?;
        }
        Ok(exchange)
    }

    /// Sets the peer's key. libcrypto has validated it where the program asked for that.
    pub(crate) fn set_peer(&mut self, peer: &Key) -> Result<()> {
        // SAFETY: a live operation and key.
        check(unsafe {
            (self.functions().EVP_PKEY_derive_set_peer_ex)(self.operation, peer.as_ptr(), 0)
        })
    }

    /// Sets parameters.
    pub(crate) fn set(&mut self, params: *const Param) -> Result<()> {
        // SAFETY: a live operation; the array is whole for the call.
        check(unsafe { (self.functions().EVP_PKEY_CTX_set_params)(self.operation, params.cast()) })
    }

    /// Answers parameters.
    pub(crate) fn get(&mut self, params: *mut Param) -> Result<()> {
        // SAFETY: a live operation; the caller's array.
        check(unsafe { (self.functions().EVP_PKEY_CTX_get_params)(self.operation, params.cast()) })
    }

    /// Writes the shared secret; without an output tells its size.
    pub(crate) fn derive(&mut self, output: Option<&mut [u8]>) -> Result<usize> {
        let f = self.functions();
        // SAFETY: a live operation; writes at most as many bytes as there are.
        written(output, |output, length| unsafe {
            (f.EVP_PKEY_derive)(self.operation, output, length)
        })
    }

    fn functions(&self) -> &Functions {
        self.key.functions()
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        // SAFETY: ours, and dropped once.
        unsafe { (self.functions().EVP_PKEY_CTX_free)(self.operation) };
    }
}
