//! Digests.

use crate::context::{optional, pointer};
use crate::key::name;
use crate::provider::provider_name;
use crate::sys::{EVP_MD, EVP_MD_CTX};
use crate::{Context, Error, Result};

/// A fetched digest (EVP_MD_fetch(3)).
#[derive(Debug)]
pub struct Digest {
    context: Context,
    raw: *mut EVP_MD,
}

// SAFETY: OpenSSL counts references atomically; a fetched digest is constant.
unsafe impl Send for Digest {}
// SAFETY: as above.
unsafe impl Sync for Digest {}

impl Digest {
    /// Finds the digest of that name and, if any, these properties.
    pub fn fetch(context: &Context, algorithm: &str, properties: Option<&str>) -> Result<Self> {
        let (algorithm, properties) = (name(algorithm)?, optional(properties)?);
        // SAFETY: a live context and terminated texts.
        let raw = unsafe {
            (context.functions().EVP_MD_fetch)(
                context.as_ptr(),
                algorithm.as_ptr(),
                pointer(&properties),
            )
        };
        let raw = context
            .library()
            .check_pointer("cannot find the digest", raw)?;
        Ok(Self {
            context: context.clone(),
            raw,
        })
    }

    /// Bytes of its result.
    pub fn size(&self) -> usize {
        // SAFETY: a live digest.
        unsafe { (self.context.functions().EVP_MD_get_size)(self.raw) }
            .try_into()
            .unwrap_or(0)
    }

    /// The provider that implements it.
    pub fn provider_name(&self) -> Option<String> {
        // SAFETY: a live digest, whose provider lives as long.
        unsafe {
            let provider = (self.context.functions().EVP_MD_get0_provider)(self.raw);
            provider_name(&self.context, provider)
        }
    }

    /// Digests `data`.
    pub fn digest(&self, data: &[u8]) -> Result<Vec<u8>> {
        let mut output = vec![0; self.size()];
        DigestContext::new(&self.context)?.digest_into(self, data, &mut output)?;
        Ok(output)
    }
}

impl Drop for Digest {
    fn drop(&mut self) {
        // SAFETY: we own one reference.
        unsafe { (self.context.functions().EVP_MD_free)(self.raw) }
    }
}

/// A digest's state, to be used again and again.
#[derive(Debug)]
pub struct DigestContext {
    context: Context,
    raw: *mut EVP_MD_CTX,
}

// SAFETY: not tied to a thread; without `Sync`, only one thread uses it at a time.
unsafe impl Send for DigestContext {}

impl DigestContext {
    /// A state for any digest.
    pub fn new(context: &Context) -> Result<Self> {
        // SAFETY: takes nothing.
        let raw = unsafe { (context.functions().EVP_MD_CTX_new)() };
        let raw = context
            .library()
            .check_pointer("cannot make a digest context", raw)?;
        Ok(Self {
            context: context.clone(),
            raw,
        })
    }

    /// Digests `data` into `output`, which has room for the digest's size.
    pub fn digest_into(&mut self, digest: &Digest, data: &[u8], output: &mut [u8]) -> Result<()> {
        Error::check_room(digest.size(), output.len())?;
        let f = self.context.functions();
        let mut length = 0;
        // SAFETY: live objects; the output has room.
        let status = unsafe {
            let mut status = (f.EVP_DigestInit_ex2)(self.raw, digest.raw, std::ptr::null());
            if status > 0 {
                status = (f.EVP_DigestUpdate)(self.raw, data.as_ptr().cast(), data.len());
            }
            if status > 0 {
                status = (f.EVP_DigestFinal_ex)(self.raw, output.as_mut_ptr(), &mut length);
            }
            status
        };
        self.context.library().check("cannot digest", status)
    }
}

impl Drop for DigestContext {
    fn drop(&mut self) {
        // SAFETY: made by `new` and owned.
        unsafe { (self.context.functions().EVP_MD_CTX_free)(self.raw) }
    }
}
