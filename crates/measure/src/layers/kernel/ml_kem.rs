//! ML-KEM by AWS-LC's own functions.

use std::ptr;

use aws_lc_sys as lc;

use super::{Owned, check};
use crate::layers::repeat;
use crate::workload::Act;
use crate::{Contender, Result};

/// The longest ciphertext, of ML-KEM-1024, and the length of a secret, in bytes.
const CIPHERTEXT: usize = 1568;
const SECRET: usize = 32;

/// `kind` is OpenSSL's name of the parameter set.
pub(super) fn contender(kind: &str, act: Act) -> Result<Box<Contender<'static>>> {
    let set = match kind {
        "ML-KEM-512" => lc::NID_MLKEM512,
        "ML-KEM-768" => lc::NID_MLKEM768,
        _ => lc::NID_MLKEM1024,
    };
    let key = generate(set)?;
    let (ciphertext, _) = encapsulate(&key)?;
    Ok(match act {
        Act::Generate => repeat(move || generate(set).map(drop)),
        Act::Encapsulate => repeat(move || encapsulate(&key).map(drop)),
        _ => repeat(move || {
            let context = of(&key)?;
            let (mut secret, mut length) = ([0; SECRET], SECRET);
            // SAFETY: a live context; room for a secret; reads as many bytes as there are.
            check(unsafe {
                lc::EVP_PKEY_decapsulate(
                    context.as_ptr(),
                    secret.as_mut_ptr(),
                    &raw mut length,
                    ciphertext.as_ptr(),
                    ciphertext.len(),
                )
            })
        }),
    })
}

fn generate(set: i32) -> Result<Owned<lc::EVP_PKEY>> {
    let mut key = ptr::null_mut();
    // SAFETY: a new context of a known kind, and a key that it makes.
    unsafe {
        let context = lc::EVP_PKEY_CTX_new_id(lc::EVP_PKEY_KEM, ptr::null_mut());
        let context = Owned::new(context, lc::EVP_PKEY_CTX_free)?;
        check(lc::EVP_PKEY_CTX_kem_set_params(context.as_ptr(), set))?;
        check(lc::EVP_PKEY_keygen_init(context.as_ptr()))?;
        check(lc::EVP_PKEY_keygen(context.as_ptr(), &raw mut key))?;
    }
    Owned::new(key, lc::EVP_PKEY_free)
}

/// The ciphertext and its secret.
fn encapsulate(key: &Owned<lc::EVP_PKEY>) -> Result<(Vec<u8>, [u8; SECRET])> {
    let context = of(key)?;
    let (mut ciphertext, mut secret) = (vec![0; CIPHERTEXT], [0; SECRET]);
    let (mut written, mut length) = (CIPHERTEXT, SECRET);
    // SAFETY: a live context; as much room as is said.
    check(unsafe {
        lc::EVP_PKEY_encapsulate(
            context.as_ptr(),
            ciphertext.as_mut_ptr(),
            &raw mut written,
            secret.as_mut_ptr(),
            &raw mut length,
        )
    })?;
    ciphertext.truncate(written);
    Ok((ciphertext, secret))
}

fn of(key: &Owned<lc::EVP_PKEY>) -> Result<Owned<lc::EVP_PKEY_CTX>> {
    // SAFETY: a live key.
    let context = unsafe { lc::EVP_PKEY_CTX_new(key.as_ptr(), ptr::null_mut()) };
    Owned::new(context, lc::EVP_PKEY_CTX_free)
}
