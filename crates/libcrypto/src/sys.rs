//! OpenSSL's opaque types, its parameter structure and the constants that the public headers define
//! as macros (`openssl/core.h`, `openssl/evp.h`, `openssl/rsa.h`).

#![allow(non_camel_case_types, reason = "OpenSSL's own names")]

use std::ffi::{c_char, c_int, c_uint, c_void};

macro_rules! opaque {
    ($($name:ident)*) => {
        $(
            #[doc = concat!("OpenSSL's `", stringify!($name), "`; only ever behind a pointer.")]
            #[repr(C)]
            pub struct $name {
                _private: [u8; 0],
            }
        )*
    };
}

opaque! {
    OSSL_LIB_CTX OSSL_PROVIDER OSSL_ALGORITHM OSSL_ENCODER_CTX
    EVP_PKEY EVP_PKEY_CTX EVP_MD EVP_MD_CTX EVP_MAC EVP_CIPHER EVP_CIPHER_CTX
    OSSL_STORE_CTX OSSL_STORE_INFO OSSL_STORE_SEARCH BIO ASYNC_JOB ASYNC_WAIT_CTX
}

/// `OSSL_PARAM` (OSSL_PARAM(3)): one named value; an array of them ends with a null `key`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct OSSL_PARAM {
    /// The name, null-terminated; null in the last element.
    pub key: *const c_char,
    /// One of the `OSSL_PARAM_*` types.
    pub data_type: c_uint,
    /// The value, or where to store it.
    pub data: *mut c_void,
    /// Bytes at `data`.
    pub data_size: usize,
    /// Bytes that the answer has or needs; [`OSSL_PARAM_UNMODIFIED`] when nothing answered.
    pub return_size: usize,
}

impl OSSL_PARAM {
    /// What ends an array of parameters.
    pub const END: Self = Self {
        key: std::ptr::null(),
        data_type: 0,
        data: std::ptr::null_mut(),
        data_size: 0,
        return_size: 0,
    };
}

/// A signed integer in native byte order.
pub const OSSL_PARAM_INTEGER: c_uint = 1;
/// An unsigned integer of any length in native byte order.
pub const OSSL_PARAM_UNSIGNED_INTEGER: c_uint = 2;
/// UTF-8 text; `data_size` leaves the terminator out.
pub const OSSL_PARAM_UTF8_STRING: c_uint = 4;
/// Bytes.
pub const OSSL_PARAM_OCTET_STRING: c_uint = 5;
/// A pointer to UTF-8 text that the provider keeps.
pub const OSSL_PARAM_UTF8_PTR: c_uint = 6;
/// `return_size` of a parameter that nothing answered.
pub const OSSL_PARAM_UNMODIFIED: usize = usize::MAX;

/// `EVP_PKEY_KEY_PARAMETERS`
pub const EVP_PKEY_KEY_PARAMETERS: c_int = 0x84;
/// `EVP_PKEY_PUBLIC_KEY`
pub const EVP_PKEY_PUBLIC_KEY: c_int = 0x86;
/// `EVP_PKEY_KEYPAIR`
pub const EVP_PKEY_KEYPAIR: c_int = 0x87;

/// `OSSL_STORE_INFO_PUBKEY`
pub const OSSL_STORE_INFO_PUBKEY: c_int = 3;
/// `OSSL_STORE_INFO_PKEY`
pub const OSSL_STORE_INFO_PKEY: c_int = 4;

/// `EVP_CTRL_AEAD_SET_IVLEN`
pub const EVP_CTRL_AEAD_SET_IVLEN: c_int = 0x9;
/// `EVP_CTRL_AEAD_GET_TAG`
pub const EVP_CTRL_AEAD_GET_TAG: c_int = 0x10;
/// `EVP_CTRL_AEAD_SET_TAG`
pub const EVP_CTRL_AEAD_SET_TAG: c_int = 0x11;
/// `EVP_CTRL_AEAD_SET_IV_FIXED` (OpenSSH: the fixed part, or -1 for all of the IV)
pub const EVP_CTRL_AEAD_SET_IV_FIXED: c_int = 0x12;
/// `EVP_CTRL_GCM_IV_GEN`
pub const EVP_CTRL_GCM_IV_GEN: c_int = 0x13;
/// `EVP_CTRL_AEAD_TLS1_AAD`
pub const EVP_CTRL_AEAD_TLS1_AAD: c_int = 0x16;

/// `OPENSSL_INIT_NO_LOAD_CONFIG`
pub const OPENSSL_INIT_NO_LOAD_CONFIG: u64 = 0x80;
/// `OPENSSL_MODULES_DIR`, for `OpenSSL_version`
pub const OPENSSL_MODULES_DIR: c_int = 8;
/// `OPENSSL_DIR`, for `OpenSSL_version`
pub const OPENSSL_DIR: c_int = 4;
/// `OPENSSL_VERSION_STRING`, for `OpenSSL_version`
pub const OPENSSL_VERSION_STRING: c_int = 6;

/// `ASYNC_PAUSE`
pub const ASYNC_PAUSE: c_int = 2;
/// `ASYNC_FINISH`
pub const ASYNC_FINISH: c_int = 3;

/// What an asynchronous job runs.
pub type JobFunction = unsafe extern "C" fn(argument: *mut c_void) -> c_int;

/// Tells a program that a paused job can go on (`ASYNC_callback_fn`).
pub type WaitCallback = unsafe extern "C" fn(argument: *mut c_void) -> c_int;

/// Takes what was registered in a wait context that is being freed.
pub type WaitCleanup = unsafe extern "C" fn(
    context: *mut ASYNC_WAIT_CTX,
    key: *const c_void,
    descriptor: c_int,
    data: *mut c_void,
);

/// A passphrase callback (`pem_password_cb`).
pub type PassphraseCallback = unsafe extern "C" fn(
    buffer: *mut c_char,
    size: c_int,
    rwflag: c_int,
    data: *mut c_void,
) -> c_int;

/// A callback that takes parameters (`OSSL_CALLBACK`).
pub type ParamsCallback =
    unsafe extern "C" fn(params: *const OSSL_PARAM, argument: *mut c_void) -> c_int;

/// A callback that takes providers (OSSL_PROVIDER_do_all(3)).
pub type ProviderCallback =
    unsafe extern "C" fn(provider: *mut OSSL_PROVIDER, argument: *mut c_void) -> c_int;
