//! The C side of the interface, as `openssl/core.h` and `openssl/core_dispatch.h` of OpenSSL 3.0 fix
//! it. Later versions only add to it, which is why one provider file serves them all.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

/// `OSSL_CORE_HANDLE`: libcrypto's name for this provider, passed back in every upcall.
#[repr(C)]
pub struct CoreHandle {
    _opaque: [u8; 0],
}

/// `OSSL_DISPATCH`: one function of a table that ends with id 0.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Dispatch {
    /// Which function, `OSSL_FUNC_…`.
    pub function_id: c_int,
    /// The function, to be cast to the type its id stands for.
    pub function: Option<unsafe extern "C" fn()>,
}

impl Dispatch {
    /// What ends every table.
    pub const END: Dispatch = Dispatch {
        function_id: 0,
        function: None,
    };
}

/// The entries of a table, without the one that ends it.
///
/// # Safety
/// `table` ends with id 0 and outlives what is returned.
pub unsafe fn entries<'a>(table: *const Dispatch) -> impl Iterator<Item = &'a Dispatch> {
    let mut next = table;
    std::iter::from_fn(move || {
        // SAFETY: by the caller's word; never beyond the entry with id 0.
        unsafe {
            let entry = next.as_ref().filter(|entry| entry.function_id != 0)?;
            next = next.add(1);
            Some(entry)
        }
    })
}

/// `OSSL_ALGORITHM`: one algorithm of a list that ends with a null name.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Algorithm {
    /// Names, separated by colons.
    pub names: *const c_char,
    /// Properties that queries match against, such as `provider=outboard`.
    pub properties: *const c_char,
    /// The functions.
    pub implementation: *const Dispatch,
    /// What `openssl list` shows.
    pub description: *const c_char,
}

// SAFETY: the pointers lead to constants that are never written.
unsafe impl Sync for Algorithm {}
// SAFETY: as above.
unsafe impl Send for Algorithm {}

impl Algorithm {
    /// What ends every list.
    pub const END: Algorithm = Algorithm {
        names: std::ptr::null(),
        properties: std::ptr::null(),
        implementation: std::ptr::null(),
        description: std::ptr::null(),
    };

    /// Whether that is one of its names; their case does not count.
    ///
    /// # Safety
    /// `names` is a terminated text.
    pub unsafe fn has_name(&self, name: &str) -> bool {
        // SAFETY: by the caller's word.
        let names = unsafe { CStr::from_ptr(self.names) }.to_bytes();
        names
            .split(|&byte| byte == b':')
            .any(|known| known.eq_ignore_ascii_case(name.as_bytes()))
    }
}

/// `OSSL_PARAM`: one parameter of an array that ends with a null key.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Param {
    /// The parameter's name.
    pub key: *const c_char,
    /// One of the `PARAM_…` constants.
    pub data_type: c_uint,
    /// The value, or where it shall be written.
    pub data: *mut c_void,
    /// How many bytes `data` holds.
    pub data_size: usize,
    /// How many were written.
    pub return_size: usize,
}

impl Param {
    /// Whether that is its name, which is NUL-terminated. Compared in place: to measure the name first
    /// costs a call, which short operations on ciphers feel.
    #[inline]
    pub(crate) fn is(&self, name: &CStr) -> bool {
        name.to_bytes_with_nul()
            .iter()
            .enumerate()
            // SAFETY: all before this byte were equal, and none of them the last.
            .all(|(index, &byte)| unsafe { *self.key.add(index) } as u8 == byte)
    }
}

// SAFETY: only descriptor lists (whose data is null) are ever shared.
unsafe impl Sync for Param {}
// SAFETY: as above.
unsafe impl Send for Param {}

/// A signed integer of `data_size` bytes, native order.
pub const PARAM_INTEGER: c_uint = 1;
/// An unsigned integer of `data_size` bytes, native order.
pub const PARAM_UNSIGNED_INTEGER: c_uint = 2;
/// A double.
pub const PARAM_REAL: c_uint = 3;
/// Characters, copied.
pub const PARAM_UTF8_STRING: c_uint = 4;
/// Bytes, copied.
pub const PARAM_OCTET_STRING: c_uint = 5;
/// A pointer to characters.
pub const PARAM_UTF8_PTR: c_uint = 6;
/// A pointer to bytes.
pub const PARAM_OCTET_PTR: c_uint = 7;
/// `return_size` of a parameter that nothing was written to.
pub const PARAM_UNMODIFIED: usize = usize::MAX;

/// `OSSL_CALLBACK`: receives an array of parameters.
pub type Callback = unsafe extern "C" fn(params: *const Param, argument: *mut c_void) -> c_int;

/// What the core offers to providers (`OSSL_FUNC_CORE_…`).
pub mod core {
    #![allow(missing_docs, reason = "provider-base(7) and its kin have them")]
    pub const GET_PARAMS: i32 = 2;
    pub const GET_LIBCTX: i32 = 4;
    pub const NEW_ERROR: i32 = 5;
    pub const SET_ERROR_DEBUG: i32 = 6;
    pub const VSET_ERROR: i32 = 7;
    pub const OBJ_ADD_SIGID: i32 = 11;
    pub const OBJ_CREATE: i32 = 12;
    pub const BIO_READ_EX: i32 = 42;
    pub const BIO_WRITE_EX: i32 = 43;
    pub const BIO_GETS: i32 = 49;
}

/// What a provider offers to the core (`OSSL_FUNC_PROVIDER_…`).
pub mod provider {
    #![allow(missing_docs, reason = "provider-base(7) and its kin have them")]
    pub const TEARDOWN: i32 = 1024;
    pub const GETTABLE_PARAMS: i32 = 1025;
    pub const GET_PARAMS: i32 = 1026;
    pub const QUERY_OPERATION: i32 = 1027;
    pub const GET_CAPABILITIES: i32 = 1030;
}

/// `OSSL_FUNC_CIPHER_…`.
pub mod cipher {
    #![allow(missing_docs, reason = "provider-base(7) and its kin have them")]
    pub const NEWCTX: i32 = 1;
    pub const ENCRYPT_INIT: i32 = 2;
    pub const DECRYPT_INIT: i32 = 3;
    pub const UPDATE: i32 = 4;
    pub const FINAL: i32 = 5;
    pub const CIPHER: i32 = 6;
    pub const FREECTX: i32 = 7;
    pub const DUPCTX: i32 = 8;
    pub const GET_PARAMS: i32 = 9;
    pub const GET_CTX_PARAMS: i32 = 10;
    pub const SET_CTX_PARAMS: i32 = 11;
    pub const GETTABLE_PARAMS: i32 = 12;
    pub const GETTABLE_CTX_PARAMS: i32 = 13;
    pub const SETTABLE_CTX_PARAMS: i32 = 14;
}

/// `OSSL_FUNC_KEYMGMT_…`.
pub mod keymgmt {
    #![allow(missing_docs, reason = "provider-base(7) and its kin have them")]
    pub const NEW: i32 = 1;
    pub const GEN_INIT: i32 = 2;
    pub const GEN_SET_TEMPLATE: i32 = 3;
    pub const GEN_SET_PARAMS: i32 = 4;
    pub const GEN_SETTABLE_PARAMS: i32 = 5;
    pub const GEN: i32 = 6;
    pub const GEN_CLEANUP: i32 = 7;
    pub const LOAD: i32 = 8;
    pub const FREE: i32 = 10;
    pub const GET_PARAMS: i32 = 11;
    pub const GETTABLE_PARAMS: i32 = 12;
    pub const SET_PARAMS: i32 = 13;
    pub const SETTABLE_PARAMS: i32 = 14;
    pub const GEN_GET_PARAMS: i32 = 15;
    pub const GEN_GETTABLE_PARAMS: i32 = 16;
    pub const NEW_EX: i32 = 17;
    pub const QUERY_OPERATION_NAME: i32 = 20;
    pub const HAS: i32 = 21;
    pub const VALIDATE: i32 = 22;
    pub const MATCH: i32 = 23;
    pub const IMPORT: i32 = 40;
    pub const IMPORT_TYPES: i32 = 41;
    pub const EXPORT: i32 = 42;
    pub const EXPORT_TYPES: i32 = 43;
    pub const DUP: i32 = 44;
    pub const IMPORT_TYPES_EX: i32 = 45;
    pub const EXPORT_TYPES_EX: i32 = 46;
}

/// `OSSL_FUNC_KEYEXCH_…`.
pub mod keyexch {
    #![allow(missing_docs, reason = "provider-base(7) and its kin have them")]
    pub const NEWCTX: i32 = 1;
    pub const INIT: i32 = 2;
    pub const DERIVE: i32 = 3;
    pub const SET_PEER: i32 = 4;
    pub const FREECTX: i32 = 5;
    pub const DUPCTX: i32 = 6;
    pub const SET_CTX_PARAMS: i32 = 7;
    pub const SETTABLE_CTX_PARAMS: i32 = 8;
    pub const GET_CTX_PARAMS: i32 = 9;
    pub const GETTABLE_CTX_PARAMS: i32 = 10;
    pub const DERIVE_SKEY: i32 = 11;
}

/// `OSSL_FUNC_KDF_…`.
pub mod kdf {
    #![allow(missing_docs, reason = "provider-kdf(7) has them")]
    pub const NEWCTX: i32 = 1;
    pub const DUPCTX: i32 = 2;
    pub const FREECTX: i32 = 3;
    pub const RESET: i32 = 4;
    pub const DERIVE: i32 = 5;
    pub const GETTABLE_CTX_PARAMS: i32 = 7;
    pub const SETTABLE_CTX_PARAMS: i32 = 8;
    pub const GET_CTX_PARAMS: i32 = 10;
    pub const SET_CTX_PARAMS: i32 = 11;
    pub const SET_SKEY: i32 = 12;
    pub const DERIVE_SKEY: i32 = 13;
}

/// `OSSL_FUNC_SIGNATURE_…`.
pub mod signature {
    #![allow(missing_docs, reason = "provider-base(7) and its kin have them")]
    pub const NEWCTX: i32 = 1;
    pub const SIGN_INIT: i32 = 2;
    pub const SIGN: i32 = 3;
    pub const VERIFY_INIT: i32 = 4;
    pub const VERIFY: i32 = 5;
    pub const VERIFY_RECOVER_INIT: i32 = 6;
    pub const VERIFY_RECOVER: i32 = 7;
    pub const DIGEST_SIGN_INIT: i32 = 8;
    pub const DIGEST_SIGN_UPDATE: i32 = 9;
    pub const DIGEST_SIGN_FINAL: i32 = 10;
    pub const DIGEST_SIGN: i32 = 11;
    pub const DIGEST_VERIFY_INIT: i32 = 12;
    pub const DIGEST_VERIFY_UPDATE: i32 = 13;
    pub const DIGEST_VERIFY_FINAL: i32 = 14;
    pub const DIGEST_VERIFY: i32 = 15;
    pub const FREECTX: i32 = 16;
    pub const DUPCTX: i32 = 17;
    pub const GET_CTX_PARAMS: i32 = 18;
    pub const GETTABLE_CTX_PARAMS: i32 = 19;
    pub const SET_CTX_PARAMS: i32 = 20;
    pub const SETTABLE_CTX_PARAMS: i32 = 21;
    pub const GET_CTX_MD_PARAMS: i32 = 22;
    pub const GETTABLE_CTX_MD_PARAMS: i32 = 23;
    pub const SET_CTX_MD_PARAMS: i32 = 24;
    pub const SETTABLE_CTX_MD_PARAMS: i32 = 25;
    pub const QUERY_KEY_TYPES: i32 = 26;
    pub const SIGN_MESSAGE_INIT: i32 = 27;
    pub const SIGN_MESSAGE_UPDATE: i32 = 28;
    pub const SIGN_MESSAGE_FINAL: i32 = 29;
    pub const VERIFY_MESSAGE_INIT: i32 = 30;
    pub const VERIFY_MESSAGE_UPDATE: i32 = 31;
    pub const VERIFY_MESSAGE_FINAL: i32 = 32;
}

/// `OSSL_FUNC_ASYM_CIPHER_…`.
pub mod asymmetric_cipher {
    #![allow(missing_docs, reason = "provider-asym_cipher(7) has them")]
    pub const NEWCTX: i32 = 1;
    pub const ENCRYPT_INIT: i32 = 2;
    pub const ENCRYPT: i32 = 3;
    pub const DECRYPT_INIT: i32 = 4;
    pub const DECRYPT: i32 = 5;
    pub const FREECTX: i32 = 6;
    pub const DUPCTX: i32 = 7;
    pub const GET_CTX_PARAMS: i32 = 8;
    pub const GETTABLE_CTX_PARAMS: i32 = 9;
    pub const SET_CTX_PARAMS: i32 = 10;
    pub const SETTABLE_CTX_PARAMS: i32 = 11;
}

/// `OSSL_FUNC_KEM_…`.
pub mod kem {
    #![allow(missing_docs, reason = "provider-kem(7) has them")]
    pub const NEWCTX: i32 = 1;
    pub const ENCAPSULATE_INIT: i32 = 2;
    pub const ENCAPSULATE: i32 = 3;
    pub const DECAPSULATE_INIT: i32 = 4;
    pub const DECAPSULATE: i32 = 5;
    pub const FREECTX: i32 = 6;
    pub const DUPCTX: i32 = 7;
    pub const SET_CTX_PARAMS: i32 = 10;
    pub const SETTABLE_CTX_PARAMS: i32 = 11;
}

/// `OSSL_FUNC_ENCODER_…`.
pub mod encoder {
    #![allow(missing_docs, reason = "provider-base(7) and its kin have them")]
    pub const NEWCTX: i32 = 1;
    pub const FREECTX: i32 = 2;
    pub const GET_PARAMS: i32 = 3;
    pub const GETTABLE_PARAMS: i32 = 4;
    pub const SET_CTX_PARAMS: i32 = 5;
    pub const SETTABLE_CTX_PARAMS: i32 = 6;
    pub const DOES_SELECTION: i32 = 10;
    pub const ENCODE: i32 = 11;
    pub const IMPORT_OBJECT: i32 = 20;
    pub const FREE_OBJECT: i32 = 21;
}

/// `OSSL_FUNC_STORE_…`.
pub mod store {
    #![allow(missing_docs, reason = "provider-storemgmt(7) has them")]
    pub const OPEN: i32 = 1;
    pub const SETTABLE_CTX_PARAMS: i32 = 3;
    pub const SET_CTX_PARAMS: i32 = 4;
    pub const LOAD: i32 = 5;
    pub const EOF: i32 = 6;
    pub const CLOSE: i32 = 7;
}

/// `OSSL_FUNC_DECODER_…`.
pub mod decoder {
    #![allow(missing_docs, reason = "provider-decoder(7) has them")]
    pub const NEWCTX: i32 = 1;
    pub const FREECTX: i32 = 2;
    pub const DOES_SELECTION: i32 = 10;
    pub const DECODE: i32 = 11;
}
