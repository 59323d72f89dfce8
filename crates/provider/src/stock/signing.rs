//! Signing and verifying by the default provider.

use std::ffi::{CStr, c_int};
use std::ptr;
use std::sync::Arc;

use outboard_libcrypto::{Functions, sys};
use outboard_provider_abi::raw::Param;
use outboard_provider_abi::signature::Purpose;
use outboard_provider_abi::{Error, ParamList, Result};

use super::check;
use super::key::{Key, Operation};

/// A signature context of the default provider, owned.
pub(crate) struct Signing {
    key: Arc<Key>,
    /// Null where the operation is on its own.
    digest: *mut sys::EVP_MD_CTX,
    /// The operation; with a digest it belongs to that.
    operation: *mut sys::EVP_PKEY_CTX,
}

// SAFETY: OpenSSL's contexts may move between threads.
unsafe impl Send for Signing {}

impl Signing {
    /// Begins, with the parameters set.
    pub(crate) fn new(
        key: Arc<Key>,
        purpose: Purpose,
        digest: Option<&CStr>,
        params: &ParamList,
    ) -> Result<Self> {
        let f = key.functions();
        let name = digest.map_or(ptr::null(), CStr::as_ptr);
        let mut signing = Self {
            key: Arc::clone(&key),
            digest: ptr::null_mut(),
            operation: ptr::null_mut(),
        };
        let none: *const sys::OSSL_PARAM = ptr::null();
        // SAFETY: live keys and contexts; each raw pointer is owned by `signing` from when it is made.
        unsafe {
            let begun = match purpose {
                Purpose::Sign | Purpose::Verify | Purpose::Recover => {
                    signing.operation = Operation::new(&key)?.into_raw();
                    match purpose {
                        Purpose::Sign => (f.EVP_PKEY_sign_init_ex)(signing.operation, none),
                        Purpose::Verify => (f.EVP_PKEY_verify_init_ex)(signing.operation, none),
                        _ => (f.EVP_PKEY_verify_recover_init_ex)(signing.operation, none),
                    }
                }
                Purpose::DigestSign | Purpose::DigestVerify => {
                    signing.digest = (f.EVP_MD_CTX_new)();
                    if signing.digest.is_null() {
                        return Err(Error::in_queue());
                    }
                    let begin = if purpose == Purpose::DigestSign {
                        f.EVP_DigestSignInit_ex
                    } else {
                        f.EVP_DigestVerifyInit_ex
                    };
                    begin(
                        signing.digest,
                        &raw mut signing.operation,
                        name,
                        key.context().as_ptr(),
                        ptr::null(),
                        key.as_ptr(),
                        none,
                    )
                }
            };
            check(begun)?;
        }
        if !params.is_empty() {
            params.with_array(|params| signing.set(params))?;
        }
        Ok(signing)
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

    /// Signs; without an output tells the size of a signature.
    pub(crate) fn sign(&mut self, data: &[u8], output: Option<&mut [u8]>) -> Result<usize> {
        let f = self.functions();
        // SAFETY: a live operation; writes at most as many bytes as there are.
        written(output, |output, length| unsafe {
            (f.EVP_PKEY_sign)(self.operation, output, length, data.as_ptr(), data.len())
        })
    }

    /// Whether that is a signature of the data.
    pub(crate) fn verify(&mut self, signature: &[u8], data: &[u8]) -> Result<bool> {
        // SAFETY: a live operation; reads as many bytes as there are.
        Ok(1 == unsafe {
            (self.functions().EVP_PKEY_verify)(
                self.operation,
                signature.as_ptr(),
                signature.len(),
                data.as_ptr(),
                data.len(),
            )
        })
    }

    /// The data that was signed; without an output tells the most it may be.
    pub(crate) fn recover(&mut self, signature: &[u8], output: Option<&mut [u8]>) -> Result<usize> {
        let f = self.functions();
        // SAFETY: a live operation; writes at most as many bytes as there are.
        written(output, |output, length| unsafe {
            (f.EVP_PKEY_verify_recover)(
                self.operation,
                output,
                length,
                signature.as_ptr(),
                signature.len(),
            )
        })
    }

    /// Takes more of the message.
    pub(crate) fn update(&mut self, data: &[u8], purpose: Purpose) -> Result<()> {
        let f = self.functions();
        let update = if purpose == Purpose::DigestSign {
            f.EVP_DigestSignUpdate
        } else {
            f.EVP_DigestVerifyUpdate
        };
        // SAFETY: a live context; reads as many bytes as there are.
        check(unsafe { update(self.digest, data.as_ptr().cast(), data.len()) })
    }

    /// Signs the message; without an output tells the size of a signature.
    pub(crate) fn finish_sign(&mut self, output: Option<&mut [u8]>) -> Result<usize> {
        let f = self.functions();
        // SAFETY: a live context; writes at most as many bytes as there are.
        written(output, |output, length| unsafe {
            (f.EVP_DigestSignFinal)(self.digest, output, length)
        })
    }

    /// Whether that is a signature of the message.
    pub(crate) fn finish_verify(&mut self, signature: &[u8]) -> Result<bool> {
        // SAFETY: a live context; reads as many bytes as there are.
        Ok(1 == unsafe {
            (self.functions().EVP_DigestVerifyFinal)(
                self.digest,
                signature.as_ptr(),
                signature.len(),
            )
        })
    }

    /// Signs a message in one call, as the algorithms without a digest of their own must.
    pub(crate) fn digest_sign(&mut self, data: &[u8], output: Option<&mut [u8]>) -> Result<usize> {
        let f = self.functions();
        // SAFETY: a live context; writes at most as many bytes as there are.
        written(output, |output, length| unsafe {
            (f.EVP_DigestSign)(self.digest, output, length, data.as_ptr(), data.len())
        })
    }

    /// Verifies a message in one call.
    pub(crate) fn digest_verify(&mut self, signature: &[u8], data: &[u8]) -> Result<bool> {
        // SAFETY: a live context; reads as many bytes as there are.
        Ok(1 == unsafe {
            (self.functions().EVP_DigestVerify)(
                self.digest,
                signature.as_ptr(),
                signature.len(),
                data.as_ptr(),
                data.len(),
            )
        })
    }

    /// A context in the same state.
    pub(crate) fn duplicate(&self) -> Result<Self> {
        let f = self.functions();
        let mut copy = Self {
            key: Arc::clone(&self.key),
            digest: ptr::null_mut(),
            operation: ptr::null_mut(),
        };
        // SAFETY: live contexts; each raw pointer is owned by `copy` from when it is made.
        unsafe {
            if self.digest.is_null() {
                copy.operation = (f.EVP_PKEY_CTX_dup)(self.operation);
            } else {
                copy.digest = (f.EVP_MD_CTX_new)();
                if copy.digest.is_null() {
                    return Err(Error::in_queue());
                }
                check((f.EVP_MD_CTX_copy_ex)(copy.digest, self.digest))?;
                copy.operation = (f.EVP_MD_CTX_get_pkey_ctx)(copy.digest);
            }
        }
        if copy.operation.is_null() {
            Err(Error::in_queue())
        } else {
            Ok(copy)
        }
    }

    fn functions(&self) -> &Functions {
        self.key.functions()
    }
}

impl Drop for Signing {
    fn drop(&mut self) {
        let f = self.functions();
        // SAFETY: ours, and dropped once; a digest frees its operation.
        unsafe {
            if self.digest.is_null() {
                (f.EVP_PKEY_CTX_free)(self.operation);
            } else {
                (f.EVP_MD_CTX_free)(self.digest);
            }
        }
    }
}

/// Runs a call that writes an output, or without one tells its size.
pub(super) fn written(
    output: Option<&mut [u8]>,
    call: impl FnOnce(*mut u8, *mut usize) -> c_int,
) -> Result<usize> {
    let (output, mut length) = output.map_or((ptr::null_mut(), 0), |output| {
        (output.as_mut_ptr(), output.len())
    });
    check(call(output, &raw mut length))?;
    Ok(length)
}
