//! OpenSSL's `EVP_PKEY_CTX`: a key, or a type of key, with what is about to be done with it.

use std::ffi::CString;

use crate::context::{optional, pointer};
use crate::provider::provider_name;
use crate::sys::{EVP_PKEY, EVP_PKEY_CTX};
use crate::{Context, Error, Functions, Key, Params, Result};

/// An operation in the making (EVP_PKEY_CTX_new(3)). Signing, deriving and the rest wrap one.
#[derive(Debug)]
pub struct OperationContext {
    context: Context,
    raw: *mut EVP_PKEY_CTX,
}

// SAFETY: not tied to a thread; without `Sync`, only one thread uses it at a time.
unsafe impl Send for OperationContext {}

impl OperationContext {
    /// For work with `key`; OpenSSL holds a reference to it.
    pub fn with_key(key: &Key) -> Result<Self> {
        Self::with_key_and_properties(key, None)
    }

    /// For work with `key` by an implementation of these properties (property(7)).
    pub fn with_key_and_properties(key: &Key, properties: Option<&str>) -> Result<Self> {
        let context = key.context().clone();
        let properties = optional(properties)?;
        // SAFETY: live objects; OpenSSL takes a reference of its own to the key.
        let raw = unsafe {
            (context.functions().EVP_PKEY_CTX_new_from_pkey)(
                context.as_ptr(),
                key.as_ptr(),
                pointer(&properties),
            )
        };
        let raw = context
            .library()
            .check_pointer("cannot prepare work with the key", raw)?;
        Ok(Self { context, raw })
    }

    /// For making keys of a type: `RSA`, `EC`, `X25519`.
    pub fn with_type(context: &Context, name: &str) -> Result<Self> {
        let name = CString::new(name).map_err(|_| Error::ZeroByte)?;
        // SAFETY: a live context and a terminated name.
        let raw = unsafe {
            (context.functions().EVP_PKEY_CTX_new_from_name)(
                context.as_ptr(),
                name.as_ptr(),
                std::ptr::null(),
            )
        };
        let raw = context
            .library()
            .check_pointer("cannot find this type of key", raw)?;
        Ok(Self {
            context: context.clone(),
            raw,
        })
    }

    /// Prepares making keys, once; then [`OperationContext::generate`] as often as needed.
    pub fn prepare_generation(&mut self, params: &Params) -> Result<()> {
        // SAFETY: a live context; an ended array.
        let status = unsafe {
            let status = (self.functions().EVP_PKEY_keygen_init)(self.raw);
            if status > 0 {
                (self.functions().EVP_PKEY_CTX_set_params)(self.raw, params.as_ptr())
            } else {
                status
            }
        };
        self.check("cannot prepare making a key", status)
    }

    /// Makes a key.
    pub fn generate(&mut self) -> Result<Key> {
        let mut key: *mut EVP_PKEY = std::ptr::null_mut();
        // SAFETY: a live context and a live pointer for the answer.
        let status = unsafe { (self.functions().EVP_PKEY_generate)(self.raw, &mut key) };
        self.check("cannot make a key", status)?;
        // SAFETY: a new key that we own.
        Ok(unsafe { Key::from_raw(&self.context, key) })
    }

    /// Sets parameters of the operation.
    pub fn set_params(&mut self, params: &Params) -> Result<()> {
        // SAFETY: a live context; an ended array.
        let status =
            unsafe { (self.functions().EVP_PKEY_CTX_set_params)(self.raw, params.as_ptr()) };
        self.check("cannot set the parameters", status)
    }

    /// The provider whose implementation serves the operation, once it is prepared.
    pub fn provider_name(&self) -> Option<String> {
        // SAFETY: a live context, whose provider lives as long.
        unsafe {
            let provider = (self.functions().EVP_PKEY_CTX_get0_provider)(self.raw);
            provider_name(&self.context, provider)
        }
    }

    /// OpenSSL's pointer; it lives as long as `self`.
    pub fn as_ptr(&self) -> *mut EVP_PKEY_CTX {
        self.raw
    }

    pub(crate) fn functions(&self) -> &Functions {
        self.context.functions()
    }

    pub(crate) fn check(&self, what: &'static str, status: i32) -> Result<()> {
        self.context.library().check(what, status)
    }

    /// Calls `function` twice, as most of OpenSSL's calls ask: for the length, then for the bytes.
    pub(crate) fn output(
        &self,
        what: &'static str,
        function: impl Fn(*mut u8, *mut usize) -> i32,
    ) -> Result<Vec<u8>> {
        let mut length = 0;
        self.check(what, function(std::ptr::null_mut(), &mut length))?;
        let mut output = vec![0; length];
        self.check(what, function(output.as_mut_ptr(), &mut length))?;
        output.truncate(length);
        Ok(output)
    }
}

impl Drop for OperationContext {
    fn drop(&mut self) {
        // SAFETY: made by one of the constructors and owned.
        unsafe { (self.functions().EVP_PKEY_CTX_free)(self.raw) }
    }
}
