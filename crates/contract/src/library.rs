//! One loaded libcrypto, whose functions are called by name.
//!
//! A table of prototypes would name only what some version has, and would be longer than the
//! scenarios. Every function that they call takes integers and pointers alone, which the calling
//! convention of x86-64 (System V ABI, section 3.2.3) hands over in registers and eight-byte places
//! whatever their number: so that one type serves all.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_void};

/// The most arguments that a function has: `PKCS12_create_ex`.
const MOST: usize = 12;

type Function = unsafe extern "C" fn(
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
) -> usize;

type Lookup = unsafe extern "C" fn(*const std::ffi::c_char) -> *mut c_void;

/// A libcrypto in this process.
pub(crate) struct Library {
    handle: *mut c_void,
    path: String,
    /// Of a libcrypto that exports nothing else: the function that finds the others.
    lookup: Option<Lookup>,
    found: RefCell<HashMap<&'static str, Option<Function>>>,
}

impl Library {
    /// Loads the libcrypto at that path.
    pub(crate) fn open(path: &str) -> Result<Self, String> {
        let name = CString::new(path).map_err(|_| "a path has no NUL".to_owned())?;
        // SAFETY: loading a library runs its initialisers; the caller chose an OpenSSL.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() {
            // SAFETY: answers null or a text that lives until the loader is used again on this thread.
            let reason = unsafe { text(libc::dlerror()) };
            return Err(format!(
                "cannot load {path}: {}",
                reason.unwrap_or_default()
            ));
        }
        // SAFETY: a valid handle and a terminated name.
        let lookup = unsafe { libc::dlsym(handle, c"contract_lookup".as_ptr()) };
        // SAFETY: the only object with a function of that name is the one that our test builds, with this prototype.
        let lookup = unsafe { std::mem::transmute::<*mut c_void, Option<Lookup>>(lookup) };
        Ok(Self {
            handle,
            path: path.to_owned(),
            lookup,
            found: RefCell::default(),
        })
    }

    /// What the function of that name answers: a word, of which an `int` is the lower half. None where this version has
    /// no such function.
    pub(crate) fn call(&self, name: &'static str, arguments: &[usize]) -> Option<usize> {
        assert!(arguments.len() <= MOST, "{name} has too many arguments");
        let function = *self
            .found
            .borrow_mut()
            .entry(name)
            .or_insert_with(|| self.find(name));
        let mut words = [0; MOST];
        words[..arguments.len()].copy_from_slice(arguments);
        let [a, b, c, d, e, f, g, h, i, j, k, l] = words;
        // SAFETY: a scenario is a C program in all but its syntax: it keeps to the prototype in OpenSSL's headers, and to
        // what that function asks of its arguments. More arguments than a function has are not read.
        function.map(|function| unsafe { function(a, b, c, d, e, f, g, h, i, j, k, l) })
    }

    /// The address of a function, to be handed to another.
    pub(crate) fn address(&self, name: &str) -> *mut c_void {
        if name.starts_with("SSL_") || name.starts_with("TLS_") {
            return self.in_libssl(name);
        }
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: a valid handle, or the function found in it, and a terminated name.
        unsafe {
            match self.lookup {
                Some(lookup) => lookup(name.as_ptr()),
                None => libc::dlsym(self.handle, name.as_ptr()),
            }
        }
    }

    /// A function of the libssl that lies beside this libcrypto.
    fn in_libssl(&self, name: &str) -> *mut c_void {
        let path = CString::new(self.path.replace("libcrypto", "libssl")).unwrap_or_default();
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: loading OpenSSL's own library, and finding a function by its terminated name.
        unsafe {
            let handle = libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
            if handle.is_null() {
                handle
            } else {
                libc::dlsym(handle, name.as_ptr())
            }
        }
    }

    fn find(&self, name: &str) -> Option<Function> {
        // SAFETY: the address of a function, or null, which is none; see the head of this file for its type.
        unsafe { std::mem::transmute::<*mut c_void, Option<Function>>(self.address(name)) }
    }
}

/// A text of C's; none where it is null.
///
/// # Safety
/// Null, or a terminated text.
pub(crate) unsafe fn text(pointer: *const std::ffi::c_char) -> Option<String> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    Some(
        unsafe { CStr::from_ptr(pointer) }
            .to_string_lossy()
            .into_owned(),
    )
}
