//! The entry points, each with the prototype of OpenSSL 3.0's public headers, resolved once.
//!
//! All of them exist from 3.0 on and in 3.5 and 4.0. A new one is one line here.

use std::ffi::{CStr, c_char, c_int, c_long, c_uchar, c_uint, c_ulong, c_void};

use crate::sys::*;
use crate::{Error, Result};

macro_rules! functions {
    (
        $(#[$doc:meta])* $table:ident {
            $(fn $name:ident($($argument:ty),* $(,)?) $(-> $result:ty)?;)*
        }
    ) => {
        $(#[$doc])*
        #[allow(non_snake_case, missing_docs, reason = "the manual pages have them")]
        #[derive(Clone, Copy)]
        pub struct $table {
            $(pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl $table {
            /// Looks up every entry point with `symbol`, which answers null for an unknown name.
            ///
            /// # Safety
            /// `symbol` answers addresses of OpenSSL 3.0 or later only, which stay valid.
            ///
            /// # Errors
            /// [`Error::MissingSymbol`] for the first that is not there.
            pub(crate) unsafe fn resolve(symbol: impl Fn(&CStr) -> *mut c_void) -> Result<Self> {
                Ok(Self {
                    $($name: {
                        const NAME: &CStr = match CStr::from_bytes_with_nul(
                            concat!(stringify!($name), "\0").as_bytes(),
                        ) {
                            Ok(name) => name,
                            Err(_) => unreachable!(),
                        };
                        let address = symbol(NAME);
                        if address.is_null() {
                            return Err(Error::MissingSymbol(stringify!($name)));
                        }
                        // SAFETY: a non-null address of the function of that name, whose prototype
                        // in OpenSSL's headers is the one above; the caller vouches for the library.
                        unsafe {
                            std::mem::transmute::<
                                *mut c_void,
                                unsafe extern "C" fn($($argument),*) $(-> $result)?,
                            >(address)
                        }
                    },)*
                })
            }
        }
    };
}

functions! {
    /// OpenSSL's entry points under their own names. Calling one is as unsafe as it is in C:
    /// its manual page says what it asks of its arguments.
    Functions {
        // The library, its contexts and its providers
        fn OpenSSL_version(c_int) -> *const c_char;
        fn OPENSSL_version_major() -> c_uint;
        fn OPENSSL_version_minor() -> c_uint;
        fn OPENSSL_version_patch() -> c_uint;
        fn OPENSSL_init_crypto(u64, *const c_void) -> c_int;
        fn RAND_bytes(*mut c_uchar, c_int) -> c_int;
        fn EVP_KDF_fetch(*mut OSSL_LIB_CTX, *const c_char, *const c_char) -> *mut c_void;
        fn EVP_KDF_free(*mut c_void);
        fn EVP_KDF_get0_provider(*const c_void) -> *const OSSL_PROVIDER;
        fn EVP_KDF_CTX_new(*mut c_void) -> *mut c_void;
        fn EVP_KDF_CTX_free(*mut c_void);
        fn EVP_KDF_derive(*mut c_void, *mut c_uchar, usize, *const OSSL_PARAM) -> c_int;
        fn EVP_MAC_get0_provider(*const EVP_MAC) -> *const OSSL_PROVIDER;
        fn EVP_Q_mac(
            *mut OSSL_LIB_CTX, *const c_char, *const c_char, *const c_char, *const OSSL_PARAM,
            *const c_void, usize, *const c_uchar, usize, *mut c_uchar, usize, *mut usize,
        ) -> *mut c_uchar;
        fn RAND_get0_private(*mut OSSL_LIB_CTX) -> *mut c_void;
        fn CRYPTO_clear_free(*mut c_void, usize, *const c_char, c_int);
        fn OSSL_LIB_CTX_new() -> *mut OSSL_LIB_CTX;
        fn OSSL_LIB_CTX_load_config(*mut OSSL_LIB_CTX, *const c_char) -> c_int;
        fn OSSL_LIB_CTX_free(*mut OSSL_LIB_CTX);
        fn OSSL_PROVIDER_load(*mut OSSL_LIB_CTX, *const c_char) -> *mut OSSL_PROVIDER;
        fn OSSL_PROVIDER_unload(*mut OSSL_PROVIDER) -> c_int;
        fn OSSL_PROVIDER_available(*mut OSSL_LIB_CTX, *const c_char) -> c_int;
        fn OSSL_PROVIDER_get0_name(*const OSSL_PROVIDER) -> *const c_char;
        fn OSSL_PROVIDER_get_params(*const OSSL_PROVIDER, *mut OSSL_PARAM) -> c_int;
        fn OSSL_PROVIDER_gettable_params(*const OSSL_PROVIDER) -> *const OSSL_PARAM;
        fn OSSL_PROVIDER_get0_provider_ctx(*const OSSL_PROVIDER) -> *mut c_void;
        fn OSSL_PROVIDER_query_operation(
            *const OSSL_PROVIDER, c_int, *mut c_int,
        ) -> *const OSSL_ALGORITHM;
        fn OSSL_PROVIDER_self_test(*const OSSL_PROVIDER) -> c_int;
        fn OSSL_PROVIDER_get_capabilities(
            *const OSSL_PROVIDER, *const c_char, ParamsCallback, *mut c_void,
        ) -> c_int;

        // The error queue
        fn ERR_get_error_all(
            *mut *const c_char, *mut c_int, *mut *const c_char, *mut *const c_char, *mut c_int,
        ) -> c_ulong;
        fn ERR_lib_error_string(c_ulong) -> *const c_char;
        fn ERR_reason_error_string(c_ulong) -> *const c_char;
        fn ERR_clear_error();
        fn ERR_set_mark() -> c_int;
        fn ERR_pop_to_mark() -> c_int;

        // Parameters

        // Keys
        fn EVP_PKEY_free(*mut EVP_PKEY);
        fn EVP_PKEY_up_ref(*mut EVP_PKEY) -> c_int;
        fn EVP_PKEY_dup(*mut EVP_PKEY) -> *mut EVP_PKEY;
        fn EVP_PKEY_eq(*const EVP_PKEY, *const EVP_PKEY) -> c_int;
        fn EVP_PKEY_parameters_eq(*const EVP_PKEY, *const EVP_PKEY) -> c_int;
        fn EVP_PKEY_is_a(*const EVP_PKEY, *const c_char) -> c_int;
        fn EVP_PKEY_get_bits(*const EVP_PKEY) -> c_int;
        fn EVP_PKEY_get_security_bits(*const EVP_PKEY) -> c_int;
        fn EVP_PKEY_get_size(*const EVP_PKEY) -> c_int;
        fn EVP_PKEY_get0_provider(*const EVP_PKEY) -> *const OSSL_PROVIDER;
        fn EVP_PKEY_get_params(*const EVP_PKEY, *mut OSSL_PARAM) -> c_int;
        fn EVP_PKEY_set_params(*mut EVP_PKEY, *mut OSSL_PARAM) -> c_int;
        fn EVP_PKEY_export(*const EVP_PKEY, c_int, ParamsCallback, *mut c_void) -> c_int;

        // A key with what is done with it
        fn EVP_PKEY_CTX_new_from_name(
            *mut OSSL_LIB_CTX, *const c_char, *const c_char,
        ) -> *mut EVP_PKEY_CTX;
        fn EVP_PKEY_CTX_new_from_pkey(
            *mut OSSL_LIB_CTX, *mut EVP_PKEY, *const c_char,
        ) -> *mut EVP_PKEY_CTX;
        fn EVP_PKEY_CTX_free(*mut EVP_PKEY_CTX);
        fn EVP_PKEY_CTX_dup(*const EVP_PKEY_CTX) -> *mut EVP_PKEY_CTX;
        fn EVP_PKEY_CTX_get0_provider(*const EVP_PKEY_CTX) -> *const OSSL_PROVIDER;
        fn EVP_PKEY_CTX_get_params(*mut EVP_PKEY_CTX, *mut OSSL_PARAM) -> c_int;
        fn EVP_PKEY_CTX_set_params(*mut EVP_PKEY_CTX, *const OSSL_PARAM) -> c_int;
        fn EVP_PKEY_fromdata_init(*mut EVP_PKEY_CTX) -> c_int;
        fn EVP_PKEY_fromdata(
            *mut EVP_PKEY_CTX, *mut *mut EVP_PKEY, c_int, *mut OSSL_PARAM,
        ) -> c_int;
        fn EVP_PKEY_paramgen_init(*mut EVP_PKEY_CTX) -> c_int;
        fn EVP_PKEY_keygen_init(*mut EVP_PKEY_CTX) -> c_int;
        fn EVP_PKEY_generate(*mut EVP_PKEY_CTX, *mut *mut EVP_PKEY) -> c_int;
        fn EVP_PKEY_check(*mut EVP_PKEY_CTX) -> c_int;
        fn EVP_PKEY_public_check(*mut EVP_PKEY_CTX) -> c_int;
        fn EVP_PKEY_public_check_quick(*mut EVP_PKEY_CTX) -> c_int;
        fn EVP_PKEY_private_check(*mut EVP_PKEY_CTX) -> c_int;
        fn EVP_PKEY_pairwise_check(*mut EVP_PKEY_CTX) -> c_int;
        fn EVP_PKEY_param_check(*mut EVP_PKEY_CTX) -> c_int;
        fn EVP_PKEY_param_check_quick(*mut EVP_PKEY_CTX) -> c_int;
        fn EVP_PKEY_sign_init_ex(*mut EVP_PKEY_CTX, *const OSSL_PARAM) -> c_int;
        fn EVP_PKEY_sign(
            *mut EVP_PKEY_CTX, *mut c_uchar, *mut usize, *const c_uchar, usize,
        ) -> c_int;
        fn EVP_PKEY_verify_init_ex(*mut EVP_PKEY_CTX, *const OSSL_PARAM) -> c_int;
        fn EVP_PKEY_verify(
            *mut EVP_PKEY_CTX, *const c_uchar, usize, *const c_uchar, usize,
        ) -> c_int;
        fn EVP_PKEY_verify_recover_init_ex(*mut EVP_PKEY_CTX, *const OSSL_PARAM) -> c_int;
        fn EVP_PKEY_verify_recover(
            *mut EVP_PKEY_CTX, *mut c_uchar, *mut usize, *const c_uchar, usize,
        ) -> c_int;
        fn EVP_PKEY_derive_init_ex(*mut EVP_PKEY_CTX, *const OSSL_PARAM) -> c_int;
        fn EVP_PKEY_derive_set_peer(*mut EVP_PKEY_CTX, *mut EVP_PKEY) -> c_int;
        fn EVP_PKEY_derive_set_peer_ex(*mut EVP_PKEY_CTX, *mut EVP_PKEY, c_int) -> c_int;
        fn EVP_PKEY_derive(*mut EVP_PKEY_CTX, *mut c_uchar, *mut usize) -> c_int;
        fn EVP_PKEY_encapsulate_init(*mut EVP_PKEY_CTX, *const OSSL_PARAM) -> c_int;
        fn EVP_PKEY_encapsulate(
            *mut EVP_PKEY_CTX, *mut c_uchar, *mut usize, *mut c_uchar, *mut usize,
        ) -> c_int;
        fn EVP_PKEY_decapsulate_init(*mut EVP_PKEY_CTX, *const OSSL_PARAM) -> c_int;
        fn EVP_PKEY_decapsulate(
            *mut EVP_PKEY_CTX, *mut c_uchar, *mut usize, *const c_uchar, usize,
        ) -> c_int;
        fn EVP_PKEY_encrypt_init_ex(*mut EVP_PKEY_CTX, *const OSSL_PARAM) -> c_int;
        fn EVP_PKEY_encrypt(
            *mut EVP_PKEY_CTX, *mut c_uchar, *mut usize, *const c_uchar, usize,
        ) -> c_int;
        fn EVP_PKEY_decrypt_init_ex(*mut EVP_PKEY_CTX, *const OSSL_PARAM) -> c_int;
        fn EVP_PKEY_decrypt(
            *mut EVP_PKEY_CTX, *mut c_uchar, *mut usize, *const c_uchar, usize,
        ) -> c_int;

        // Digests, and signing with one
        fn EVP_MD_fetch(*mut OSSL_LIB_CTX, *const c_char, *const c_char) -> *mut EVP_MD;
        fn EVP_MD_free(*mut EVP_MD);
        fn EVP_MD_get0_provider(*const EVP_MD) -> *const OSSL_PROVIDER;
        fn EVP_MD_get_size(*const EVP_MD) -> c_int;
        fn EVP_MD_CTX_new() -> *mut EVP_MD_CTX;
        fn EVP_MD_CTX_free(*mut EVP_MD_CTX);
        fn EVP_MD_CTX_copy_ex(*mut EVP_MD_CTX, *const EVP_MD_CTX) -> c_int;
        fn EVP_MD_CTX_get_pkey_ctx(*const EVP_MD_CTX) -> *mut EVP_PKEY_CTX;
        fn EVP_DigestInit_ex2(*mut EVP_MD_CTX, *const EVP_MD, *const OSSL_PARAM) -> c_int;
        fn EVP_DigestUpdate(*mut EVP_MD_CTX, *const c_void, usize) -> c_int;
        fn EVP_DigestFinal_ex(*mut EVP_MD_CTX, *mut c_uchar, *mut c_uint) -> c_int;
        fn EVP_DigestSignInit_ex(
            *mut EVP_MD_CTX, *mut *mut EVP_PKEY_CTX, *const c_char, *mut OSSL_LIB_CTX, *const c_char,
            *mut EVP_PKEY, *const OSSL_PARAM,
        ) -> c_int;
        fn EVP_DigestSignUpdate(*mut EVP_MD_CTX, *const c_void, usize) -> c_int;
        fn EVP_DigestSignFinal(*mut EVP_MD_CTX, *mut c_uchar, *mut usize) -> c_int;
        fn EVP_DigestSign(
            *mut EVP_MD_CTX, *mut c_uchar, *mut usize, *const c_uchar, usize,
        ) -> c_int;
        fn EVP_DigestVerifyInit_ex(
            *mut EVP_MD_CTX, *mut *mut EVP_PKEY_CTX, *const c_char, *mut OSSL_LIB_CTX, *const c_char,
            *mut EVP_PKEY, *const OSSL_PARAM,
        ) -> c_int;
        fn EVP_DigestVerifyUpdate(*mut EVP_MD_CTX, *const c_void, usize) -> c_int;
        fn EVP_DigestVerifyFinal(*mut EVP_MD_CTX, *const c_uchar, usize) -> c_int;
        fn EVP_DigestVerify(
            *mut EVP_MD_CTX, *const c_uchar, usize, *const c_uchar, usize,
        ) -> c_int;

        // Message authentication codes
        fn EVP_MAC_fetch(*mut OSSL_LIB_CTX, *const c_char, *const c_char) -> *mut EVP_MAC;
        fn EVP_MAC_free(*mut EVP_MAC);

        // Ciphers
        fn EVP_CIPHER_fetch(*mut OSSL_LIB_CTX, *const c_char, *const c_char) -> *mut EVP_CIPHER;
        fn EVP_CIPHER_free(*mut EVP_CIPHER);
        fn EVP_CIPHER_get0_provider(*const EVP_CIPHER) -> *const OSSL_PROVIDER;
        fn EVP_CIPHER_get_key_length(*const EVP_CIPHER) -> c_int;
        fn EVP_CIPHER_get_iv_length(*const EVP_CIPHER) -> c_int;
        fn EVP_CIPHER_get_block_size(*const EVP_CIPHER) -> c_int;
        fn EVP_CIPHER_CTX_new() -> *mut EVP_CIPHER_CTX;
        fn EVP_CIPHER_CTX_free(*mut EVP_CIPHER_CTX);
        fn EVP_CIPHER_CTX_copy(*mut EVP_CIPHER_CTX, *const EVP_CIPHER_CTX) -> c_int;
        fn EVP_CIPHER_CTX_ctrl(*mut EVP_CIPHER_CTX, c_int, c_int, *mut c_void) -> c_int;
        fn EVP_CIPHER_CTX_set_padding(*mut EVP_CIPHER_CTX, c_int) -> c_int;
        fn EVP_CipherInit_ex2(
            *mut EVP_CIPHER_CTX, *const EVP_CIPHER, *const c_uchar, *const c_uchar, c_int,
            *const OSSL_PARAM,
        ) -> c_int;
        fn EVP_CipherUpdate(
            *mut EVP_CIPHER_CTX, *mut c_uchar, *mut c_int, *const c_uchar, c_int,
        ) -> c_int;
        fn EVP_CipherFinal_ex(*mut EVP_CIPHER_CTX, *mut c_uchar, *mut c_int) -> c_int;
        fn EVP_Cipher(*mut EVP_CIPHER_CTX, *mut c_uchar, *const c_uchar, c_uint) -> c_int;

        // Asynchronous jobs
        fn ASYNC_start_job(
            *mut *mut ASYNC_JOB, *mut ASYNC_WAIT_CTX, *mut c_int, JobFunction, *mut c_void, usize,
        ) -> c_int;
        fn ASYNC_pause_job() -> c_int;
        fn ASYNC_block_pause();
        fn ASYNC_unblock_pause();
        fn ASYNC_get_current_job() -> *mut ASYNC_JOB;
        fn ASYNC_get_wait_ctx(*mut ASYNC_JOB) -> *mut ASYNC_WAIT_CTX;
        fn ASYNC_WAIT_CTX_new() -> *mut ASYNC_WAIT_CTX;
        fn ASYNC_WAIT_CTX_free(*mut ASYNC_WAIT_CTX);
        fn ASYNC_WAIT_CTX_set_wait_fd(
            *mut ASYNC_WAIT_CTX, *const c_void, c_int, *mut c_void, Option<WaitCleanup>,
        ) -> c_int;
        fn ASYNC_WAIT_CTX_get_fd(
            *mut ASYNC_WAIT_CTX, *const c_void, *mut c_int, *mut *mut c_void,
        ) -> c_int;
        fn ASYNC_WAIT_CTX_get_all_fds(*mut ASYNC_WAIT_CTX, *mut c_int, *mut usize) -> c_int;
        fn ASYNC_WAIT_CTX_clear_fd(*mut ASYNC_WAIT_CTX, *const c_void) -> c_int;
        fn ASYNC_WAIT_CTX_set_callback(
            *mut ASYNC_WAIT_CTX, Option<WaitCallback>, *mut c_void,
        ) -> c_int;
        fn ASYNC_WAIT_CTX_get_callback(
            *mut ASYNC_WAIT_CTX, *mut Option<WaitCallback>, *mut *mut c_void,
        ) -> c_int;

        // Keys as text and bytes
        fn BIO_new_mem_buf(*const c_void, c_int) -> *mut BIO;
        fn BIO_free(*mut BIO) -> c_int;
        fn PEM_read_bio_PrivateKey_ex(
            *mut BIO, *mut *mut EVP_PKEY, Option<PassphraseCallback>, *mut c_void, *mut OSSL_LIB_CTX,
            *const c_char,
        ) -> *mut EVP_PKEY;
        fn PEM_read_bio_PUBKEY_ex(
            *mut BIO, *mut *mut EVP_PKEY, Option<PassphraseCallback>, *mut c_void, *mut OSSL_LIB_CTX,
            *const c_char,
        ) -> *mut EVP_PKEY;
        fn d2i_AutoPrivateKey_ex(
            *mut *mut EVP_PKEY, *mut *const c_uchar, c_long, *mut OSSL_LIB_CTX, *const c_char,
        ) -> *mut EVP_PKEY;
        fn d2i_PUBKEY_ex(
            *mut *mut EVP_PKEY, *mut *const c_uchar, c_long, *mut OSSL_LIB_CTX, *const c_char,
        ) -> *mut EVP_PKEY;
        fn OSSL_ENCODER_CTX_new_for_pkey(
            *const EVP_PKEY, c_int, *const c_char, *const c_char, *const c_char,
        ) -> *mut OSSL_ENCODER_CTX;
        fn OSSL_ENCODER_CTX_free(*mut OSSL_ENCODER_CTX);
        fn OSSL_ENCODER_CTX_set_cipher(*mut OSSL_ENCODER_CTX, *const c_char, *const c_char) -> c_int;
        fn EVP_PKEY_set1_encoded_public_key(*mut EVP_PKEY, *const c_uchar, usize) -> c_int;
        fn OSSL_ENCODER_to_data(*mut OSSL_ENCODER_CTX, *mut *mut c_uchar, *mut usize) -> c_int;
    }
}

functions! {
    /// The few that a provider needs to find other providers' implementations: looked up when a
    /// program begins, where all of [`Functions`] would cost too much.
    Providers {
        fn OSSL_PROVIDER_do_all(*mut OSSL_LIB_CTX, ProviderCallback, *mut c_void) -> c_int;
        fn OSSL_PROVIDER_get0_name(*const OSSL_PROVIDER) -> *const c_char;
        fn OSSL_PROVIDER_get0_provider_ctx(*const OSSL_PROVIDER) -> *mut c_void;
        fn OSSL_PROVIDER_query_operation(
            *const OSSL_PROVIDER, c_int, *mut c_int,
        ) -> *const OSSL_ALGORITHM;
        fn OSSL_PROVIDER_get_capabilities(
            *const OSSL_PROVIDER, *const c_char, ParamsCallback, *mut c_void,
        ) -> c_int;
        fn EVP_KEYMGMT_fetch(*mut OSSL_LIB_CTX, *const c_char, *const c_char) -> *mut c_void;
        fn EVP_KEYMGMT_free(*mut c_void);
        fn EVP_KEYMGMT_get0_provider(*const c_void) -> *const OSSL_PROVIDER;
        fn EVP_KEYEXCH_fetch(*mut OSSL_LIB_CTX, *const c_char, *const c_char) -> *mut c_void;
        fn EVP_KEYEXCH_free(*mut c_void);
        fn EVP_KEYEXCH_get0_provider(*const c_void) -> *const OSSL_PROVIDER;
        fn EVP_SIGNATURE_fetch(*mut OSSL_LIB_CTX, *const c_char, *const c_char) -> *mut c_void;
        fn EVP_SIGNATURE_free(*mut c_void);
        fn EVP_SIGNATURE_get0_provider(*const c_void) -> *const OSSL_PROVIDER;
        fn EVP_ASYM_CIPHER_fetch(*mut OSSL_LIB_CTX, *const c_char, *const c_char) -> *mut c_void;
        fn EVP_ASYM_CIPHER_free(*mut c_void);
        fn EVP_ASYM_CIPHER_get0_provider(*const c_void) -> *const OSSL_PROVIDER;
        fn EVP_KDF_fetch(*mut OSSL_LIB_CTX, *const c_char, *const c_char) -> *mut c_void;
        fn EVP_KDF_free(*mut c_void);
        fn EVP_KDF_get0_provider(*const c_void) -> *const OSSL_PROVIDER;
        fn ERR_set_mark() -> c_int;
        fn ERR_pop_to_mark() -> c_int;
    }
}

functions! {
    /// What opens URIs (OSSL_STORE_open(3)).
    Stores {
        fn OSSL_STORE_open_ex(
            *const c_char, *mut OSSL_LIB_CTX, *const c_char, *const c_void, *mut c_void, *const OSSL_PARAM,
            *const c_void, *mut c_void,
        ) -> *mut OSSL_STORE_CTX;
        fn OSSL_STORE_expect(*mut OSSL_STORE_CTX, c_int) -> c_int;
        fn OSSL_STORE_find(*mut OSSL_STORE_CTX, *const OSSL_STORE_SEARCH) -> c_int;
        fn OSSL_STORE_SEARCH_by_alias(*const c_char) -> *mut OSSL_STORE_SEARCH;
        fn OSSL_STORE_SEARCH_free(*mut OSSL_STORE_SEARCH);
        fn OSSL_STORE_load(*mut OSSL_STORE_CTX) -> *mut OSSL_STORE_INFO;
        fn OSSL_STORE_eof(*mut OSSL_STORE_CTX) -> c_int;
        fn OSSL_STORE_close(*mut OSSL_STORE_CTX) -> c_int;
        fn OSSL_STORE_INFO_get1_PKEY(*const OSSL_STORE_INFO) -> *mut EVP_PKEY;
        fn OSSL_STORE_INFO_get1_PUBKEY(*const OSSL_STORE_INFO) -> *mut EVP_PKEY;
        fn OSSL_STORE_INFO_free(*mut OSSL_STORE_INFO);
    }
}

functions! {
    /// Hashes as such, on states that the caller holds. Deprecated since 3.0, and there in every version but such as are
    /// built without what is deprecated.
    Hashes {
        fn SHA256_Init(*mut c_void) -> c_int;
        fn SHA256_Update(*mut c_void, *const c_void, usize) -> c_int;
        fn SHA256_Final(*mut c_uchar, *mut c_void) -> c_int;
        fn SHA384_Init(*mut c_void) -> c_int;
        fn SHA384_Update(*mut c_void, *const c_void, usize) -> c_int;
        fn SHA384_Final(*mut c_uchar, *mut c_void) -> c_int;
    }
}

functions! {
    /// What encrypts a private key for a file (PKCS #8).
    Encryptions {
        fn EVP_CIPHER_fetch(*mut OSSL_LIB_CTX, *const c_char, *const c_char) -> *mut EVP_CIPHER;
        fn EVP_CIPHER_free(*mut EVP_CIPHER);
        fn d2i_PKCS8_PRIV_KEY_INFO(*mut *mut c_void, *mut *const c_uchar, c_long) -> *mut c_void;
        fn PKCS8_PRIV_KEY_INFO_free(*mut c_void);
        fn PKCS8_encrypt_ex(
            c_int, *const EVP_CIPHER, *const c_char, c_int, *mut c_uchar, c_int, c_int, *mut c_void,
            *mut OSSL_LIB_CTX, *const c_char,
        ) -> *mut c_void;
        fn X509_SIG_free(*mut c_void);
        fn i2d_X509_SIG(*const c_void, *mut *mut c_uchar) -> c_int;
    }
}
