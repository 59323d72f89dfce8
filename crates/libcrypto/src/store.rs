//! Keys that a URI leads to.

use std::ffi::{CString, c_int, c_void};
use std::ptr;

use crate::sys::{EVP_PKEY, OSSL_STORE_INFO_PKEY, OSSL_STORE_INFO_PUBKEY};
use crate::{Context, Key, Result, Stores};

impl Key {
    /// The private key that a URI leads to, or a file's name (OSSL_STORE_open(3)).
    pub fn from_uri(context: &Context, uri: &str) -> Result<Self> {
        Self::open(context, uri, OSSL_STORE_INFO_PKEY)
    }

    /// The public key that a URI leads to, or a file's name.
    pub fn public_from_uri(context: &Context, uri: &str) -> Result<Self> {
        Self::open(context, uri, OSSL_STORE_INFO_PUBKEY)
    }

    fn open(context: &Context, uri: &str, expected: c_int) -> Result<Self> {
        let stores = Stores::containing(context.functions().EVP_PKEY_free as *const c_void)?;
        // One with a NUL inside ends there, as in C.
        let uri: Vec<u8> = uri.bytes().take_while(|&byte| byte != 0).collect();
        let uri = CString::new(uri).unwrap_or_default();
        let library = context.library();
        let get = match expected {
            OSSL_STORE_INFO_PUBKEY => stores.OSSL_STORE_INFO_get1_PUBKEY,
            _ => stores.OSSL_STORE_INFO_get1_PKEY,
        };
        // SAFETY: live objects and a terminated text; nothing is asked for at a terminal; what is opened is closed, and
        // what is loaded is freed.
        let raw = unsafe {
            let store = (stores.OSSL_STORE_open_ex)(
                uri.as_ptr(),
                context.as_ptr(),
                ptr::null(),
                ptr::null(),
                ptr::null_mut(),
                ptr::null(),
                ptr::null(),
                ptr::null_mut(),
            );
            let store = library.check_pointer("cannot open the URI", store)?;
            let mut raw: *mut EVP_PKEY = ptr::null_mut();
            if (stores.OSSL_STORE_expect)(store, expected) == 1 {
                while raw.is_null() && (stores.OSSL_STORE_eof)(store) == 0 {
                    let info = (stores.OSSL_STORE_load)(store);
                    if !info.is_null() {
                        raw = get(info);
                        (stores.OSSL_STORE_INFO_free)(info);
                    }
                }
            }
            (stores.OSSL_STORE_close)(store);
            library.check_pointer("the URI leads to no such key", raw)?
        };
        // SAFETY: a new key that we own.
        Ok(unsafe { Self::from_raw(context, raw) })
    }
}
