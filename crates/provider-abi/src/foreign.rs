//! Another provider's implementations, as its dispatch tables offer them.
//!
//! A function that the table lacks is `None`. Calling one that is there is as unsafe as it is for
//! libcrypto: contexts and keys must come from the same provider, arrays of parameters must be ended,
//! and so on (provider-keymgmt(7), provider-signature(7), provider-keyexch(7), provider-asym_cipher(7)).

use std::ffi::{c_char, c_int, c_uchar, c_void};

use crate::encoder::Passphrase;
use crate::raw::{self, Algorithm, Callback, Dispatch, Param, entries};

/// Types that a dispatch table's functions are read into.
pub trait Functions: Copy + Send + Sync + 'static {
    /// `OSSL_OP_…`: the operation whose algorithms have such tables.
    const OPERATION: c_int;

    /// Reads a table.
    ///
    /// # Safety
    /// `table` ends with id 0, and each function has the type that `core_dispatch.h` gives its id.
    unsafe fn read(table: *const Dispatch) -> Self;
}

macro_rules! functions {
    (
        $(#[$doc:meta])* $table:ident of $module:ident, operation $operation:literal {
            $($name:ident = $id:ident($($argument:ty),*) $(-> $result:ty)?;)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Default)]
        #[allow(missing_docs, reason = "the manual pages have them")]
        pub struct $table {
            $(pub $name: Option<unsafe extern "C" fn($($argument),*) $(-> $result)?>,)*
        }

        impl Functions for $table {
            const OPERATION: c_int = $operation;

            unsafe fn read(table: *const Dispatch) -> Self {
                let mut functions = Self::default();
                // SAFETY: by the caller's word.
                for entry in unsafe { entries(table) } {
                    match entry.function_id {
                        // libcrypto takes the first where an id is there twice, and so do we.
                        $(raw::$module::$id if functions.$name.is_none() => {
                            functions.$name = entry.function.map(|function| {
                                // SAFETY: by the caller's word that is the function's type.
                                unsafe {
                                    std::mem::transmute::<
                                        unsafe extern "C" fn(),
                                        unsafe extern "C" fn($($argument),*) $(-> $result)?,
                                    >(function)
                                }
                            });
                        },)*
                        _ => {}
                    }
                }
                functions
            }
        }
    };
}

/// An opaque pointer of the other provider's.
type Pointer = *mut c_void;

functions! {
    /// The functions of a key type.
    KeyManagement of keymgmt, operation 10 {
        new = NEW(Pointer) -> Pointer;
        free = FREE(Pointer);
        gen_init = GEN_INIT(Pointer, c_int, *const Param) -> Pointer;
        gen_set_template = GEN_SET_TEMPLATE(Pointer, Pointer) -> c_int;
        gen_set_params = GEN_SET_PARAMS(Pointer, *const Param) -> c_int;
        gen_settable_params = GEN_SETTABLE_PARAMS(Pointer, Pointer) -> *const Param;
        gen_get_params = GEN_GET_PARAMS(Pointer, *mut Param) -> c_int;
        gen_gettable_params = GEN_GETTABLE_PARAMS(Pointer, Pointer) -> *const Param;
        generate = GEN(Pointer, Option<Callback>, Pointer) -> Pointer;
        gen_cleanup = GEN_CLEANUP(Pointer);
        get_params = GET_PARAMS(Pointer, *mut Param) -> c_int;
        gettable_params = GETTABLE_PARAMS(Pointer) -> *const Param;
        set_params = SET_PARAMS(Pointer, *const Param) -> c_int;
        settable_params = SETTABLE_PARAMS(Pointer) -> *const Param;
        has = HAS(Pointer, c_int) -> c_int;
        validate = VALIDATE(Pointer, c_int, c_int) -> c_int;
        matches = MATCH(Pointer, Pointer, c_int) -> c_int;
        import = IMPORT(Pointer, c_int, *const Param) -> c_int;
        import_types_ex = IMPORT_TYPES_EX(Pointer, c_int) -> *const Param;
        export = EXPORT(Pointer, c_int, Option<Callback>, Pointer) -> c_int;
        export_types_ex = EXPORT_TYPES_EX(Pointer, c_int) -> *const Param;
        dup = DUP(Pointer, c_int) -> Pointer;
    }
}

functions! {
    /// The functions of a key derivation.
    Kdf of kdf, operation 4 {
        newctx = NEWCTX(Pointer) -> Pointer;
        dupctx = DUPCTX(Pointer) -> Pointer;
        freectx = FREECTX(Pointer);
        reset = RESET(Pointer);
        derive = DERIVE(Pointer, *mut c_uchar, usize, *const Param) -> c_int;
        gettable_ctx_params = GETTABLE_CTX_PARAMS(Pointer, Pointer) -> *const Param;
        settable_ctx_params = SETTABLE_CTX_PARAMS(Pointer, Pointer) -> *const Param;
        get_ctx_params = GET_CTX_PARAMS(Pointer, *mut Param) -> c_int;
        set_ctx_params = SET_CTX_PARAMS(Pointer, *const Param) -> c_int;
    }
}

functions! {
    /// The functions of a key exchange.
    KeyExchange of keyexch, operation 11 {
        newctx = NEWCTX(Pointer) -> Pointer;
        init = INIT(Pointer, Pointer, *const Param) -> c_int;
        set_peer = SET_PEER(Pointer, Pointer) -> c_int;
        derive = DERIVE(Pointer, *mut c_uchar, *mut usize, usize) -> c_int;
        freectx = FREECTX(Pointer);
        dupctx = DUPCTX(Pointer) -> Pointer;
        set_ctx_params = SET_CTX_PARAMS(Pointer, *const Param) -> c_int;
        settable_ctx_params = SETTABLE_CTX_PARAMS(Pointer, Pointer) -> *const Param;
        get_ctx_params = GET_CTX_PARAMS(Pointer, *mut Param) -> c_int;
        gettable_ctx_params = GETTABLE_CTX_PARAMS(Pointer, Pointer) -> *const Param;
    }
}

/// Begins an operation with a key.
pub type Init = unsafe extern "C" fn(Pointer, Pointer, *const Param) -> c_int;
/// Begins an operation with a digest and a key.
pub type DigestInit = unsafe extern "C" fn(Pointer, *const c_char, Pointer, *const Param) -> c_int;
/// Signs, or takes out of a signature what was signed.
pub type Sign =
    unsafe extern "C" fn(Pointer, *mut c_uchar, *mut usize, usize, *const c_uchar, usize) -> c_int;
/// Verifies.
pub type Verify =
    unsafe extern "C" fn(Pointer, *const c_uchar, usize, *const c_uchar, usize) -> c_int;
/// Takes more of a message.
pub type Update = unsafe extern "C" fn(Pointer, *const c_uchar, usize) -> c_int;
/// Signs what was taken.
pub type SignFinal = unsafe extern "C" fn(Pointer, *mut c_uchar, *mut usize, usize) -> c_int;

functions! {
    /// The functions of a signature algorithm.
    Signature of signature, operation 12 {
        newctx = NEWCTX(Pointer, *const c_char) -> Pointer;
        freectx = FREECTX(Pointer);
        dupctx = DUPCTX(Pointer) -> Pointer;
        sign_init = SIGN_INIT(Pointer, Pointer, *const Param) -> c_int;
        sign = SIGN(Pointer, *mut c_uchar, *mut usize, usize, *const c_uchar, usize) -> c_int;
        sign_message_init = SIGN_MESSAGE_INIT(Pointer, Pointer, *const Param) -> c_int;
        sign_message_update = SIGN_MESSAGE_UPDATE(Pointer, *const c_uchar, usize) -> c_int;
        sign_message_final = SIGN_MESSAGE_FINAL(Pointer, *mut c_uchar, *mut usize, usize) -> c_int;
        verify_init = VERIFY_INIT(Pointer, Pointer, *const Param) -> c_int;
        verify = VERIFY(Pointer, *const c_uchar, usize, *const c_uchar, usize) -> c_int;
        verify_message_init = VERIFY_MESSAGE_INIT(Pointer, Pointer, *const Param) -> c_int;
        verify_message_update = VERIFY_MESSAGE_UPDATE(Pointer, *const c_uchar, usize) -> c_int;
        verify_message_final = VERIFY_MESSAGE_FINAL(Pointer) -> c_int;
        verify_recover_init = VERIFY_RECOVER_INIT(Pointer, Pointer, *const Param) -> c_int;
        verify_recover = VERIFY_RECOVER(Pointer, *mut c_uchar, *mut usize, usize, *const c_uchar, usize) -> c_int;
        digest_sign_init = DIGEST_SIGN_INIT(Pointer, *const c_char, Pointer, *const Param) -> c_int;
        digest_sign_update = DIGEST_SIGN_UPDATE(Pointer, *const c_uchar, usize) -> c_int;
        digest_sign_final = DIGEST_SIGN_FINAL(Pointer, *mut c_uchar, *mut usize, usize) -> c_int;
        digest_sign = DIGEST_SIGN(Pointer, *mut c_uchar, *mut usize, usize, *const c_uchar, usize) -> c_int;
        digest_verify_init = DIGEST_VERIFY_INIT(Pointer, *const c_char, Pointer, *const Param) -> c_int;
        digest_verify_update = DIGEST_VERIFY_UPDATE(Pointer, *const c_uchar, usize) -> c_int;
        digest_verify_final = DIGEST_VERIFY_FINAL(Pointer, *const c_uchar, usize) -> c_int;
        digest_verify = DIGEST_VERIFY(Pointer, *const c_uchar, usize, *const c_uchar, usize) -> c_int;
        get_ctx_params = GET_CTX_PARAMS(Pointer, *mut Param) -> c_int;
        gettable_ctx_params = GETTABLE_CTX_PARAMS(Pointer, Pointer) -> *const Param;
        set_ctx_params = SET_CTX_PARAMS(Pointer, *const Param) -> c_int;
        settable_ctx_params = SETTABLE_CTX_PARAMS(Pointer, Pointer) -> *const Param;
        get_ctx_md_params = GET_CTX_MD_PARAMS(Pointer, *mut Param) -> c_int;
        gettable_ctx_md_params = GETTABLE_CTX_MD_PARAMS(Pointer) -> *const Param;
        set_ctx_md_params = SET_CTX_MD_PARAMS(Pointer, *const Param) -> c_int;
        settable_ctx_md_params = SETTABLE_CTX_MD_PARAMS(Pointer) -> *const Param;
    }
}

functions! {
    /// The functions of an encryption with public keys.
    AsymmetricCipher of asymmetric_cipher, operation 13 {
        newctx = NEWCTX(Pointer) -> Pointer;
        encrypt_init = ENCRYPT_INIT(Pointer, Pointer, *const Param) -> c_int;
        encrypt = ENCRYPT(Pointer, *mut c_uchar, *mut usize, usize, *const c_uchar, usize) -> c_int;
        decrypt_init = DECRYPT_INIT(Pointer, Pointer, *const Param) -> c_int;
        decrypt = DECRYPT(Pointer, *mut c_uchar, *mut usize, usize, *const c_uchar, usize) -> c_int;
        freectx = FREECTX(Pointer);
        dupctx = DUPCTX(Pointer) -> Pointer;
        get_ctx_params = GET_CTX_PARAMS(Pointer, *mut Param) -> c_int;
        gettable_ctx_params = GETTABLE_CTX_PARAMS(Pointer, Pointer) -> *const Param;
        set_ctx_params = SET_CTX_PARAMS(Pointer, *const Param) -> c_int;
        settable_ctx_params = SETTABLE_CTX_PARAMS(Pointer, Pointer) -> *const Param;
    }
}

functions! {
    /// The functions of an encoder.
    Encoder of encoder, operation 20 {
        newctx = NEWCTX(Pointer) -> Pointer;
        freectx = FREECTX(Pointer);
        set_ctx_params = SET_CTX_PARAMS(Pointer, *const Param) -> c_int;
        settable_ctx_params = SETTABLE_CTX_PARAMS(Pointer) -> *const Param;
        does_selection = DOES_SELECTION(Pointer, c_int) -> c_int;
        encode = ENCODE(Pointer, Pointer, *const c_void, *const Param, c_int, Option<Passphrase>, Pointer) -> c_int;
    }
}

/// The algorithms of a provider's list.
///
/// # Safety
/// `list` is null or ends with a null name, and outlives what is returned.
pub unsafe fn algorithms<'a>(list: *const Algorithm) -> impl Iterator<Item = &'a Algorithm> {
    let mut next = list;
    std::iter::from_fn(move || {
        // SAFETY: by the caller's word.
        unsafe {
            let algorithm = next.as_ref().filter(|one| !one.names.is_null())?;
            next = next.add(1);
            Some(algorithm)
        }
    })
}

/// The algorithm of that name in a provider's list.
///
/// # Safety
/// `list` is null or ends with a null name; names are terminated texts.
pub unsafe fn algorithm<'a>(list: *const Algorithm, name: &str) -> Option<&'a Algorithm> {
    // SAFETY: by the caller's word.
    unsafe { algorithms(list).find(|algorithm| algorithm.has_name(name)) }
}
