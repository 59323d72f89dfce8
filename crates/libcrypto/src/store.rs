//! Keys that a URI leads to.

use std::ffi::{CString, c_int, c_void};
use std::ptr;

use crate::sys::{EVP_PKEY, OSSL_STORE_CTX, OSSL_STORE_INFO_PKEY, OSSL_STORE_INFO_PUBKEY};
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
        let library = context.library();
        // SAFETY: live objects; what is opened is closed, and what is loaded is freed.
        let raw = unsafe {
            let (stores, store) = opened(context, uri)?;
            let get = match expected {
                OSSL_STORE_INFO_PUBKEY => stores.OSSL_STORE_INFO_get1_PUBKEY,
                _ => stores.OSSL_STORE_INFO_get1_PKEY,
            };
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

/// Whether what a URI leads to may be searched for an alias (OSSL_STORE_find(3)).
pub fn is_searched(context: &Context, uri: &str) -> Result<bool> {
    // SAFETY: live objects and a terminated text; what is made is freed, and the store closed before.
    unsafe {
        let (stores, store) = opened(context, uri)?;
        let search = (stores.OSSL_STORE_SEARCH_by_alias)(c"alias".as_ptr());
        let found = (stores.OSSL_STORE_find)(store, search);
        (stores.OSSL_STORE_close)(store);
        (stores.OSSL_STORE_SEARCH_free)(search);
        Ok(found == 1)
    }
}

/// What a URI leads to, for the caller to close.
fn opened(context: &Context, uri: &str) -> Result<(Stores, *mut OSSL_STORE_CTX)> {
    let stores = Stores::containing(context.functions().EVP_PKEY_free as *const c_void)?;
    // One with a NUL inside ends there, as in C.
    let uri: Vec<u8> = uri.bytes().take_while(|&byte| byte != 0).collect();
    let uri = CString::new(uri).unwrap_or_default();
    // SAFETY: a live context and a terminated text; nothing is asked for at a terminal.
    let store = unsafe {
        (stores.OSSL_STORE_open_ex)(
            uri.as_ptr(),
            context.as_ptr(),
            ptr::null(),
            ptr::null(),
            ptr::null_mut(),
            ptr::null(),
            ptr::null(),
            ptr::null_mut(),
        )
    };
    let store = context
        .library()
        .check_pointer("cannot open the URI", store)?;
    Ok((stores, store))
}
