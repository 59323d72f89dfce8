//! ML-DSA by AWS-LC's own functions.

use std::ptr;

use aws_lc_sys as lc;

use super::{Owned, check};
use crate::layers::repeat;
use crate::workload::{Act, MESSAGE};
use crate::{Contender, Result};

/// The longest signature, of ML-DSA-87, in bytes.
const SIGNATURE: usize = 4627;

/// `kind` is OpenSSL's name of the parameter set.
pub(super) fn contender(kind: &str, act: Act) -> Result<Box<Contender<'static>>> {
    let set = match kind {
        "ML-DSA-44" => lc::NID_MLDSA44,
        "ML-DSA-65" => lc::NID_MLDSA65,
        _ => lc::NID_MLDSA87,
    };
    let key = generate(set)?;
    let signature = sign(&key)?;
    Ok(match act {
        Act::Generate => repeat(move || generate(set).map(drop)),
        Act::Sign => repeat(move || sign(&key).map(drop)),
        _ => repeat(move || {
            let context = begin(&key, lc::EVP_DigestVerifyInit)?;
            // SAFETY: a live context; reads as many bytes as there are.
            check(unsafe {
                lc::EVP_DigestVerify(
                    context.as_ptr(),
                    signature.as_ptr(),
                    signature.len(),
                    MESSAGE.as_ptr(),
                    MESSAGE.len(),
                )
            })
        }),
    })
}

fn generate(set: i32) -> Result<Owned<lc::EVP_PKEY>> {
    let mut key = ptr::null_mut();
    // SAFETY: a new context of a known kind, and a key that it makes.
    unsafe {
        let context = lc::EVP_PKEY_CTX_new_id(lc::EVP_PKEY_PQDSA, ptr::null_mut());
        let context = Owned::new(context, lc::EVP_PKEY_CTX_free)?;
        check(lc::EVP_PKEY_CTX_pqdsa_set_params(context.as_ptr(), set))?;
        check(lc::EVP_PKEY_keygen_init(context.as_ptr()))?;
        check(lc::EVP_PKEY_keygen(context.as_ptr(), &raw mut key))?;
    }
    Owned::new(key, lc::EVP_PKEY_free)
}

fn sign(key: &Owned<lc::EVP_PKEY>) -> Result<Vec<u8>> {
    let context = begin(key, lc::EVP_DigestSignInit)?;
    let (mut signature, mut length) = (vec![0; SIGNATURE], SIGNATURE);
    // SAFETY: a live context; as much room as is said; reads as many bytes as there are.
    check(unsafe {
        lc::EVP_DigestSign(
            context.as_ptr(),
            signature.as_mut_ptr(),
            &raw mut length,
            MESSAGE.as_ptr(),
            MESSAGE.len(),
        )
    })?;
    signature.truncate(length);
    Ok(signature)
}

/// A function that begins to sign or to verify.
type Init = unsafe extern "C" fn(
    *mut lc::EVP_MD_CTX,
    *mut *mut lc::EVP_PKEY_CTX,
    *const lc::EVP_MD,
    *mut lc::ENGINE,
    *mut lc::EVP_PKEY,
) -> i32;

fn begin(key: &Owned<lc::EVP_PKEY>, init: Init) -> Result<Owned<lc::EVP_MD_CTX>> {
    // SAFETY: a new context, and a live key.
    unsafe {
        let context = Owned::new(lc::EVP_MD_CTX_new(), lc::EVP_MD_CTX_free)?;
        check(init(
            context.as_ptr(),
            ptr::null_mut(),
            ptr::null(),
            ptr::null_mut(),
            key.as_ptr(),
        ))?;
        Ok(context)
    }
}
