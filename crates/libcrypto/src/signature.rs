//! Signing and verifying: of data through a digest, and of a digest that is there already.

use std::ffi::CString;

use crate::context::pointer;
use crate::key::name;
use crate::provider::provider_name;
use crate::sys::{EVP_MD_CTX, EVP_PKEY_CTX};
use crate::{Context, Functions, Key, OperationContext, Params, Result};

/// Signs data (EVP_DigestSignInit(3)).
#[derive(Debug)]
pub struct DigestSigner(DigestOperation);

impl DigestSigner {
    /// Prepares signing with `key` through `digest`; none for Ed25519, which hashes by itself.
    pub fn new(key: &Key, digest: Option<&str>, params: &Params) -> Result<Self> {
        DigestOperation::new(key, digest, params, true).map(Self)
    }

    /// Signs all of `data` at once.
    pub fn sign(&mut self, data: &[u8]) -> Result<Vec<u8>> {
        let f = *self.0.functions();
        self.0.output("cannot sign", |signature, length| {
            // SAFETY: a live context; the output has room for `length` bytes or is null.
            unsafe { (f.EVP_DigestSign)(self.0.raw, signature, length, data.as_ptr(), data.len()) }
        })
    }

    /// Adds data to what is signed.
    pub fn update(&mut self, data: &[u8]) -> Result<()> {
        let f = self.0.functions();
        // SAFETY: a live context and live bytes.
        let status =
            unsafe { (f.EVP_DigestSignUpdate)(self.0.raw, data.as_ptr().cast(), data.len()) };
        self.0.context.library().check("cannot digest", status)
    }

    /// Signs what was added.
    pub fn finish(&mut self) -> Result<Vec<u8>> {
        let f = *self.0.functions();
        self.0.output("cannot sign", |signature, length| {
            // SAFETY: a live context; the output has room for `length` bytes or is null.
            unsafe { (f.EVP_DigestSignFinal)(self.0.raw, signature, length) }
        })
    }

    /// The provider that signs.
    pub fn provider_name(&self) -> Option<String> {
        self.0.provider_name()
    }

    /// The context, for calls that this crate does not make.
    pub fn as_ptr(&self) -> *mut EVP_MD_CTX {
        self.0.raw
    }
}

/// Verifies signatures of data (EVP_DigestVerifyInit(3)).
#[derive(Debug)]
pub struct DigestVerifier(DigestOperation);

impl DigestVerifier {
    /// Prepares verifying with `key` through `digest`; none for Ed25519, which hashes by itself.
    pub fn new(key: &Key, digest: Option<&str>, params: &Params) -> Result<Self> {
        DigestOperation::new(key, digest, params, false).map(Self)
    }

    /// Whether `signature` is one of `data`, all of it at once.
    ///
    /// # Errors
    /// Where OpenSSL could not tell; a signature that it found malformed is merely not valid.
    pub fn verify(&mut self, signature: &[u8], data: &[u8]) -> Result<bool> {
        // SAFETY: a live context and live bytes.
        let status = unsafe {
            (self.0.functions().EVP_DigestVerify)(
                self.0.raw,
                signature.as_ptr(),
                signature.len(),
                data.as_ptr(),
                data.len(),
            )
        };
        Ok(self.0.verdict(status))
    }

    /// Adds data to what was signed.
    pub fn update(&mut self, data: &[u8]) -> Result<()> {
        let f = self.0.functions();
        // SAFETY: a live context and live bytes.
        let status =
            unsafe { (f.EVP_DigestVerifyUpdate)(self.0.raw, data.as_ptr().cast(), data.len()) };
        self.0.context.library().check("cannot digest", status)
    }

    /// Whether `signature` is one of what was added.
    pub fn finish(&mut self, signature: &[u8]) -> Result<bool> {
        // SAFETY: a live context and live bytes.
        let status = unsafe {
            (self.0.functions().EVP_DigestVerifyFinal)(
                self.0.raw,
                signature.as_ptr(),
                signature.len(),
            )
        };
        Ok(self.0.verdict(status))
    }

    /// The provider that verifies.
    pub fn provider_name(&self) -> Option<String> {
        self.0.provider_name()
    }
}

/// Signs a digest (EVP_PKEY_sign(3)).
#[derive(Debug)]
pub struct Signer(OperationContext);

impl Signer {
    /// Prepares signing; the parameters say padding, digest and salt length.
    pub fn new(key: &Key, params: &Params) -> Result<Self> {
        let operation = OperationContext::with_key(key)?;
        // SAFETY: a live context and an ended array.
        let status = unsafe {
            (operation.functions().EVP_PKEY_sign_init_ex)(operation.as_ptr(), params.as_ptr())
        };
        operation.check("cannot prepare signing", status)?;
        Ok(Self(operation))
    }

    /// OpenSSL's pointer. It lives as long as `self`.
    pub fn as_ptr(&self) -> *mut EVP_PKEY_CTX {
        self.0.as_ptr()
    }

    /// Signs `digest`.
    pub fn sign(&mut self, digest: &[u8]) -> Result<Vec<u8>> {
        let sign = self.0.functions().EVP_PKEY_sign;
        self.0.output("cannot sign", |signature, length| {
            // SAFETY: a live context; the output has room for `length` bytes or is null.
            unsafe {
                sign(
                    self.0.as_ptr(),
                    signature,
                    length,
                    digest.as_ptr(),
                    digest.len(),
                )
            }
        })
    }

    /// The provider that signs.
    pub fn provider_name(&self) -> Option<String> {
        self.0.provider_name()
    }
}

/// Verifies signatures of digests (EVP_PKEY_verify(3)).
#[derive(Debug)]
pub struct Verifier(OperationContext);

impl Verifier {
    /// Prepares verifying; the parameters say padding, digest and salt length.
    pub fn new(key: &Key, params: &Params) -> Result<Self> {
        let operation = OperationContext::with_key(key)?;
        // SAFETY: a live context and an ended array.
        let status = unsafe {
            (operation.functions().EVP_PKEY_verify_init_ex)(operation.as_ptr(), params.as_ptr())
        };
        operation.check("cannot prepare verifying", status)?;
        Ok(Self(operation))
    }

    /// Whether `signature` is one of `digest`.
    pub fn verify(&mut self, signature: &[u8], digest: &[u8]) -> Result<bool> {
        let f = self.0.functions();
        // SAFETY: a live context and live bytes.
        let status = unsafe {
            (f.EVP_PKEY_verify)(
                self.0.as_ptr(),
                signature.as_ptr(),
                signature.len(),
                digest.as_ptr(),
                digest.len(),
            )
        };
        if status != 1 {
            // SAFETY: takes nothing.
            unsafe { (f.ERR_clear_error)() };
        }
        Ok(status == 1)
    }

    /// The provider that verifies.
    pub fn provider_name(&self) -> Option<String> {
        self.0.provider_name()
    }
}

/// A digest whose result is signed or verified.
#[derive(Debug)]
struct DigestOperation {
    context: Context,
    raw: *mut EVP_MD_CTX,
    /// Owned by `raw`.
    operation: *mut EVP_PKEY_CTX,
}

// SAFETY: not tied to a thread; without `Sync`, only one thread uses it at a time.
unsafe impl Send for DigestOperation {}

impl DigestOperation {
    fn new(key: &Key, digest: Option<&str>, params: &Params, sign: bool) -> Result<Self> {
        let digest: Option<CString> = digest.map(name).transpose()?;
        let context = key.context().clone();
        let f = *context.functions();
        // SAFETY: takes nothing.
        let raw = unsafe { (f.EVP_MD_CTX_new)() };
        let raw = context
            .library()
            .check_pointer("cannot make a digest context", raw)?;
        let mut this = Self {
            context,
            raw,
            operation: std::ptr::null_mut(),
        };
        let init = if sign {
            f.EVP_DigestSignInit_ex
        } else {
            f.EVP_DigestVerifyInit_ex
        };
        // SAFETY: live objects, a terminated name or null, an ended array.
        let status = unsafe {
            init(
                raw,
                &mut this.operation,
                pointer(&digest),
                this.context.as_ptr(),
                std::ptr::null(),
                key.as_ptr(),
                params.as_ptr(),
            )
        };
        let what = if sign {
            "cannot prepare signing"
        } else {
            "cannot prepare verifying"
        };
        this.context.library().check(what, status)?;
        Ok(this)
    }

    fn functions(&self) -> &Functions {
        self.context.functions()
    }

    fn provider_name(&self) -> Option<String> {
        // SAFETY: `operation` lives as long as `raw`.
        unsafe {
            let provider = (self.functions().EVP_PKEY_CTX_get0_provider)(self.operation);
            provider_name(&self.context, provider)
        }
    }

    fn output(
        &self,
        what: &'static str,
        function: impl Fn(*mut u8, *mut usize) -> i32,
    ) -> Result<Vec<u8>> {
        let library = self.context.library();
        let mut length = 0;
        library.check(what, function(std::ptr::null_mut(), &mut length))?;
        let mut output = vec![0; length];
        library.check(what, function(output.as_mut_ptr(), &mut length))?;
        output.truncate(length);
        Ok(output)
    }

    /// What a verification answered. The queue's account of a signature that is not valid is of no
    /// use to anyone, and would be taken for the next call's.
    fn verdict(&self, status: i32) -> bool {
        if status != 1 {
            // SAFETY: takes nothing.
            unsafe { (self.functions().ERR_clear_error)() };
        }
        status == 1
    }
}

impl Drop for DigestOperation {
    fn drop(&mut self) {
        // SAFETY: made by `new` and owned; it frees `operation` too.
        unsafe { (self.functions().EVP_MD_CTX_free)(self.raw) }
    }
}
