//! One loaded libcrypto.

use std::ffi::{CStr, CString, c_int, c_void};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::Arc;

use crate::error::text;
use crate::object::Object;
use crate::sys;
use crate::{Encryptions, Error, Functions, Hashes, Providers, Result, Stores};

/// A libcrypto in this process with its entry points. Cheap to clone.
#[derive(Clone)]
pub struct Library {
    inner: Arc<Inner>,
}

struct Inner {
    functions: Functions,
    path: PathBuf,
}

impl Library {
    /// What [`Library::open`] takes for the system's own OpenSSL 3.
    pub const SYSTEM: &str = "libcrypto.so.3";

    /// Loads the libcrypto at `path`, or finds `path` as the dynamic loader does when it is a bare
    /// name such as [`Library::SYSTEM`].
    ///
    /// # Errors
    /// [`Error::Load`] with the loader's reason; [`Error::MissingSymbol`] before OpenSSL 3.0.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let name = CString::new(path.as_os_str().as_bytes()).map_err(|_| Error::ZeroByte)?;
        // SAFETY: loading a library runs its initialisers; the caller chose an OpenSSL.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() {
            return Err(Error::Load {
                path: path.into(),
                reason: loader_error(),
            });
        }
        Self::resolve(handle, path.into())
    }

    /// The libcrypto of this process that holds `address`, for example one of the functions that a
    /// provider was handed. Loads nothing: the library is there already, as a shared object or as
    /// part of a program that exports its symbols.
    ///
    /// # Errors
    /// [`Error::NotFound`] where no object that offers OpenSSL holds it.
    pub fn containing(address: *const c_void) -> Result<Self> {
        let (handle, path) = handle_of(address).ok_or(Error::NotFound(address as usize))?;
        Self::resolve(handle, path)
    }

    /// Whether [`Library::containing`] would find a library, without looking up all it offers.
    pub fn is_reachable(address: *const c_void) -> bool {
        handle_of(address).is_some()
    }

    /// The entry points, for what the safe wrappers don't offer.
    pub fn functions(&self) -> &Functions {
        &self.inner.functions
    }

    /// The path or name it was found by.
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// The file behind the name that it was found by.
    pub fn mapped_path(&self) -> PathBuf {
        let address = self.functions().OPENSSL_version_major as *const c_void;
        Self::containing(address)
            .map(|found| found.path().to_owned())
            .unwrap_or_else(|_| self.path().to_owned())
    }

    /// Its version, for example `3.0.22`.
    pub fn version(&self) -> String {
        self.information(sys::OPENSSL_VERSION_STRING)
    }

    /// Its version as numbers: major, minor, patch.
    pub fn version_numbers(&self) -> (u32, u32, u32) {
        let f = self.functions();
        // SAFETY: they take nothing and answer constants.
        unsafe {
            (
                (f.OPENSSL_version_major)(),
                (f.OPENSSL_version_minor)(),
                (f.OPENSSL_version_patch)(),
            )
        }
    }

    /// The directory of its `openssl.cnf`; none where it was built without one.
    pub fn configuration_directory(&self) -> Option<PathBuf> {
        quoted(&self.information(sys::OPENSSL_DIR))
    }

    /// The directory where it looks for provider modules; none where it was built without one.
    pub fn modules_directory(&self) -> Option<PathBuf> {
        quoted(&self.information(sys::OPENSSL_MODULES_DIR))
    }

    /// Keeps the process' default context free of the system's `openssl.cnf`. Contexts of one's own
    /// never read it. Has an effect only before anything else used the default context.
    pub fn ignore_system_configuration(&self) -> Result<()> {
        // SAFETY: null settings are allowed.
        self.check("cannot initialise libcrypto", unsafe {
            (self.functions().OPENSSL_init_crypto)(
                sys::OPENSSL_INIT_NO_LOAD_CONFIG,
                std::ptr::null(),
            )
        })
    }

    /// Fills `buffer` with randomness of the process' default context.
    ///
    /// # Errors
    /// [`Error::TooLong`]; [`Error::OpenSsl`] where it has no source of randomness.
    pub fn randomise(&self, buffer: &mut [u8]) -> Result<()> {
        let length = c_int::try_from(buffer.len()).map_err(|_| Error::TooLong(buffer.len()))?;
        // SAFETY: writes as many bytes as there are.
        self.check("cannot draw randomness", unsafe {
            (self.functions().RAND_bytes)(buffer.as_mut_ptr(), length)
        })
    }

    /// What the error queue of this thread holds, as an error about `what`.
    pub(crate) fn error(&self, what: &'static str) -> Error {
        Error::from_queue(self.functions(), what)
    }

    /// OpenSSL's way to say that something worked: a positive number.
    pub(crate) fn check(&self, what: &'static str, status: c_int) -> Result<()> {
        if status > 0 {
            Ok(())
        } else {
            Err(self.error(what))
        }
    }

    /// OpenSSL's way to answer an object: a pointer that is not null.
    pub(crate) fn check_pointer<T>(&self, what: &'static str, pointer: *mut T) -> Result<*mut T> {
        if pointer.is_null() {
            Err(self.error(what))
        } else {
            Ok(pointer)
        }
    }

    fn resolve(handle: *mut c_void, path: PathBuf) -> Result<Self> {
        // SAFETY: the handle is valid and never closed, so the addresses stay; the names end with a
        // zero; an object that answers to all these names is an OpenSSL of version 3 or later.
        let functions = unsafe { Functions::resolve(|name| libc::dlsym(handle, name.as_ptr()))? };
        Ok(Self {
            inner: Arc::new(Inner { functions, path }),
        })
    }

    fn information(&self, kind: c_int) -> String {
        // SAFETY: answers a text that lives as long as the library, for any kind.
        unsafe { text((self.functions().OpenSSL_version)(kind)) }.unwrap_or_default()
    }
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Library({} {})", self.path().display(), self.version())
    }
}

impl Providers {
    /// Those of the libcrypto of this process that holds `address`, as [`Library::containing`] finds it.
    ///
    /// # Errors
    /// [`Error::NotFound`] where no object that offers OpenSSL holds it.
    pub fn containing(address: *const c_void) -> Result<Self> {
        let (handle, _) = handle_of(address).ok_or(Error::NotFound(address as usize))?;
        // SAFETY: as in `Library::resolve`.
        unsafe { Self::resolve(|name| libc::dlsym(handle, name.as_ptr())) }
    }
}

impl Hashes {
    /// Of the libcrypto that holds that address in this process.
    ///
    /// # Errors
    /// [`Error::NotFound`] where no object that offers OpenSSL holds it; [`Error::MissingSymbol`] where it does not offer
    /// them.
    pub fn containing(address: *const c_void) -> Result<Self> {
        let (handle, _) = handle_of(address).ok_or(Error::NotFound(address as usize))?;
        // SAFETY: as in `Library::resolve`.
        unsafe { Self::resolve(|name| libc::dlsym(handle, name.as_ptr())) }
    }
}

impl Stores {
    /// Of the libcrypto that holds that address in this process.
    ///
    /// # Errors
    /// As of [`Hashes::containing`].
    pub fn containing(address: *const c_void) -> Result<Self> {
        let (handle, _) = handle_of(address).ok_or(Error::NotFound(address as usize))?;
        // SAFETY: as in `Library::resolve`.
        unsafe { Self::resolve(|name| libc::dlsym(handle, name.as_ptr())) }
    }
}

impl Encryptions {
    /// Of the libcrypto that holds that address in this process.
    ///
    /// # Errors
    /// As of [`Hashes::containing`].
    pub fn containing(address: *const c_void) -> Result<Self> {
        let (handle, _) = handle_of(address).ok_or(Error::NotFound(address as usize))?;
        // SAFETY: as in `Library::resolve`.
        unsafe { Self::resolve(|name| libc::dlsym(handle, name.as_ptr())) }
    }

    /// A private key's `PrivateKeyInfo`, encrypted by a passphrase with the cipher of that name, as OpenSSL does it for its
    /// own keys: an `EncryptedPrivateKeyInfo`.
    ///
    /// # Errors
    /// [`Error::OpenSsl`] where there is no such cipher, or it does not encrypt keys.
    ///
    /// # Safety
    /// `context` is null or a live library context of that libcrypto.
    pub unsafe fn encrypt(
        &self,
        context: *mut sys::OSSL_LIB_CTX,
        cipher: &CStr,
        passphrase: &[u8],
        info: &[u8],
    ) -> Result<Vec<u8>> {
        const DEFAULT: c_int = 0;
        /// PBES2, by the cipher.
        const BY_CIPHER: c_int = -1;
        let length = c_int::try_from(passphrase.len());
        let length = length.map_err(|_| Error::TooLong(passphrase.len()))?;
        let info_length = info
            .len()
            .try_into()
            .map_err(|_| Error::TooLong(info.len()))?;
        let failed = || Error::OpenSsl {
            what: "cannot encrypt the private key",
            reasons: Vec::new(),
        };
        // SAFETY: objects made here and freed here once; lengths of live slices; a terminated name; the context by the
        // caller's word.
        unsafe {
            let cipher = (self.EVP_CIPHER_fetch)(context, cipher.as_ptr(), ptr::null());
            let mut next = info.as_ptr();
            let key = (self.d2i_PKCS8_PRIV_KEY_INFO)(ptr::null_mut(), &raw mut next, info_length);
            let encrypted = match cipher.is_null() || key.is_null() {
                true => ptr::null_mut(),
                false => (self.PKCS8_encrypt_ex)(
                    BY_CIPHER,
                    cipher,
                    passphrase.as_ptr().cast(),
                    length,
                    ptr::null_mut(),
                    DEFAULT,
                    DEFAULT,
                    key,
                    context,
                    ptr::null(),
                ),
            };
            (self.EVP_CIPHER_free)(cipher);
            (self.PKCS8_PRIV_KEY_INFO_free)(key);
            if encrypted.is_null() {
                return Err(failed());
            }
            let needed = (self.i2d_X509_SIG)(encrypted, ptr::null_mut());
            let mut written = vec![0; usize::try_from(needed).unwrap_or(0)];
            let mut to = written.as_mut_ptr();
            let same = needed > 0 && (self.i2d_X509_SIG)(encrypted, &raw mut to) == needed;
            (self.X509_SIG_free)(encrypted);
            same.then_some(written).ok_or_else(failed)
        }
    }
}

/// The loader's handle of the object that holds `address`, if that object offers OpenSSL.
fn handle_of(address: *const c_void) -> Option<(*mut c_void, PathBuf)> {
    let object = Object::holding(address)?;
    let flags = libc::RTLD_NOLOAD | libc::RTLD_LAZY | libc::RTLD_LOCAL;
    let (name, path) = if object.name.is_empty() {
        // The program itself, which a null name stands for.
        (std::ptr::null(), PathBuf::from("/proc/self/exe"))
    } else {
        let path = PathBuf::from(object.name.to_string_lossy().into_owned());
        (object.name.as_ptr(), path)
    };
    // The loader compares names before it opens any file, so this also finds a library that was
    // replaced on disk since, or that lies outside a chroot entered since.
    // SAFETY: with RTLD_NOLOAD nothing is loaded, so no code runs; the name is null or terminated.
    let handle = unsafe { libc::dlopen(name, flags) };
    if handle.is_null() {
        return None;
    }
    // A handle also finds what the object depends on: check that it leads back to the object.
    // SAFETY: the handle is valid and the name terminated.
    let probe = unsafe { libc::dlsym(handle, c"OPENSSL_version_major".as_ptr()) };
    object.holds(probe).then_some((handle, path))
}

fn loader_error() -> String {
    // SAFETY: answers null or a text that lives until the loader is used again on this thread.
    unsafe { text(libc::dlerror()) }.unwrap_or_else(|| "the loader gives no reason".into())
}

/// The path in `OPENSSLDIR: "/usr/lib/ssl"`.
fn quoted(information: &str) -> Option<PathBuf> {
    let (_, rest) = information.split_once('"')?;
    let (path, _) = rest.rsplit_once('"')?;
    Some(PathBuf::from(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_come_off() {
        assert_eq!(
            quoted("OPENSSLDIR: \"/usr/lib/ssl\""),
            Some("/usr/lib/ssl".into())
        );
        assert_eq!(quoted("OPENSSLDIR: N/A"), None);
    }

    #[test]
    fn a_missing_library_is_named() {
        let error = Library::open("libcrypto-of-nobody.so").expect_err("there is none");
        assert!(
            error
                .to_string()
                .starts_with("cannot load libcrypto-of-nobody.so: "),
            "{error}"
        );
    }

    #[test]
    fn an_object_without_openssl_is_refused() {
        let address = libc::getpid as *const c_void;
        assert!(matches!(
            Library::containing(address),
            Err(Error::NotFound(_))
        ));
        assert!(matches!(
            Library::containing(std::ptr::null()),
            Err(Error::NotFound(_))
        ));
    }

    #[test]
    fn the_library_is_found_again_by_an_address_in_it() {
        let opened = Library::open(Library::SYSTEM).unwrap();
        let address = opened.functions().EVP_PKEY_free as *const c_void;
        let found = Library::containing(address).unwrap();
        assert_eq!(found.functions().EVP_PKEY_free as usize, address as usize);
        assert_eq!(found.version(), opened.version());
        assert!(found.path().is_absolute());
    }
}
