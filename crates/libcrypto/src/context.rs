//! A library context: the providers that are loaded and which of them is preferred.

use std::ffi::{CString, c_char};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use crate::provider::Provider;
use crate::sys::OSSL_LIB_CTX;
use crate::{Error, Functions, Library, Result};

/// OpenSSL's library context (OSSL_LIB_CTX(3)). Cheap to clone; freed with its last clone.
#[derive(Clone, Debug)]
pub struct Context {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    library: Library,
    /// Null for the process' default context.
    raw: *mut OSSL_LIB_CTX,
}

// SAFETY: OpenSSL's library contexts lock what they share between threads.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

impl Context {
    /// A context of its own, which reads no configuration. It loads `default` by itself at the
    /// first use if nothing else was loaded.
    pub fn new(library: &Library) -> Result<Self> {
        // SAFETY: takes nothing.
        let raw = unsafe { (library.functions().OSSL_LIB_CTX_new)() };
        let raw = library.check_pointer("cannot make a library context", raw)?;
        Ok(Self {
            inner: Arc::new(Inner {
                library: library.clone(),
                raw,
            }),
        })
    }

    /// A context of its own, set up by the configuration file at `path` (config(5)).
    pub fn from_configuration(library: &Library, path: &Path) -> Result<Self> {
        let context = Self::new(library)?;
        context.load_configuration(path)?;
        Ok(context)
    }

    /// Sets the context up by a configuration file.
    pub fn load_configuration(&self, path: &Path) -> Result<()> {
        let name = CString::new(path.as_os_str().as_bytes()).map_err(|_| Error::ZeroByte)?;
        // SAFETY: a live context and a terminated name.
        let status =
            unsafe { (self.functions().OSSL_LIB_CTX_load_config)(self.as_ptr(), name.as_ptr()) };
        self.library()
            .check("cannot load the OpenSSL configuration", status)
    }

    /// Loads and activates a provider by name (or path of its module), for as long as the context
    /// lives.
    pub fn load_provider(&self, name: &str) -> Result<Provider> {
        let name = CString::new(name).map_err(|_| Error::ZeroByte)?;
        // SAFETY: a live context and a terminated name.
        let raw = unsafe { (self.functions().OSSL_PROVIDER_load)(self.as_ptr(), name.as_ptr()) };
        let raw = self
            .library()
            .check_pointer("cannot load the provider", raw)?;
        Ok(Provider::new(self.clone(), raw))
    }

    /// Whether a provider of that name is active.
    pub fn has_provider(&self, name: &str) -> bool {
        let Ok(name) = CString::new(name) else {
            return false;
        };
        // SAFETY: a live context and a terminated name.
        unsafe { (self.functions().OSSL_PROVIDER_available)(self.as_ptr(), name.as_ptr()) == 1 }
    }

    /// The library that it belongs to.
    pub fn library(&self) -> &Library {
        &self.inner.library
    }

    /// OpenSSL's pointer; null for the process' default context. It lives as long as `self`.
    pub fn as_ptr(&self) -> *mut OSSL_LIB_CTX {
        self.inner.raw
    }

    pub(crate) fn functions(&self) -> &Functions {
        self.inner.library.functions()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: made by OSSL_LIB_CTX_new, and every object of it held a clone.
            unsafe { (self.library.functions().OSSL_LIB_CTX_free)(self.raw) }
        }
    }
}

/// A property query or name for OpenSSL: null where there is none.
pub(crate) fn optional(text: Option<&str>) -> Result<Option<CString>> {
    text.map(|text| CString::new(text).map_err(|_| Error::ZeroByte))
        .transpose()
}

/// The pointer of an optional text.
pub(crate) fn pointer(text: &Option<CString>) -> *const c_char {
    text.as_ref().map_or(std::ptr::null(), |text| text.as_ptr())
}
