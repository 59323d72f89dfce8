//! Key derivation functions and message authentication codes, as libssl calls them: fetched for each call.

use std::ffi::CStr;

use crate::provider::provider_name;
use crate::{Context, Params, Result};

/// Derives as many bytes as `output` has by the algorithm of that name (EVP_KDF_derive(3)).
pub fn derive_by_kdf(
    context: &Context,
    name: &CStr,
    params: &Params,
    output: &mut [u8],
) -> Result<()> {
    let f = context.functions();
    // SAFETY: live objects, which are freed here; the array is ended, and the output has that much room.
    unsafe {
        let kdf = (f.EVP_KDF_fetch)(context.as_ptr(), name.as_ptr(), std::ptr::null());
        let kdf = context
            .library()
            .check_pointer("cannot find the key derivation", kdf)?;
        let operation = (f.EVP_KDF_CTX_new)(kdf);
        (f.EVP_KDF_free)(kdf);
        let operation = context
            .library()
            .check_pointer("cannot prepare deriving", operation)?;
        let answer = (f.EVP_KDF_derive)(
            operation,
            output.as_mut_ptr(),
            output.len(),
            params.as_ptr(),
        );
        (f.EVP_KDF_CTX_free)(operation);
        context.library().check("cannot derive", answer)
    }
}

/// The provider of the key derivation of that name.
pub fn provider_of_kdf(context: &Context, name: &CStr) -> Option<String> {
    let f = context.functions();
    // SAFETY: a live context and a terminated text; what was fetched is freed once, and its provider lives as long.
    unsafe {
        let kdf = (f.EVP_KDF_fetch)(context.as_ptr(), name.as_ptr(), std::ptr::null());
        if kdf.is_null() {
            return None;
        }
        let name = provider_name(context, (f.EVP_KDF_get0_provider)(kdf));
        (f.EVP_KDF_free)(kdf);
        name
    }
}

/// The provider of the message authentication code of that name.
pub fn provider_of_mac(context: &Context, name: &CStr) -> Option<String> {
    let f = context.functions();
    // SAFETY: a live context and a terminated text; what was fetched is freed once, and its provider lives as long.
    unsafe {
        let mac = (f.EVP_MAC_fetch)(context.as_ptr(), name.as_ptr(), std::ptr::null());
        if mac.is_null() {
            return None;
        }
        let name = provider_name(context, (f.EVP_MAC_get0_provider)(mac));
        (f.EVP_MAC_free)(mac);
        name
    }
}

/// The code of a message by HMAC with that digest (EVP_Q_mac(3)); returns how many bytes of `output` it takes.
pub fn hmac(
    context: &Context,
    digest: &CStr,
    key: &[u8],
    message: &[u8],
    output: &mut [u8],
) -> Result<usize> {
    let mut length = 0;
    // SAFETY: a live context, terminated texts, and lengths that are true.
    let code = unsafe {
        (context.functions().EVP_Q_mac)(
            context.as_ptr(),
            c"HMAC".as_ptr(),
            std::ptr::null(),
            digest.as_ptr(),
            std::ptr::null(),
            key.as_ptr().cast(),
            key.len(),
            message.as_ptr(),
            message.len(),
            output.as_mut_ptr(),
            output.len(),
            &raw mut length,
        )
    };
    context
        .library()
        .check_pointer("cannot authenticate", code)?;
    Ok(length)
}
