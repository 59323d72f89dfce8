//! AWS-LC's own functions: what the engine calls, called directly.

mod ml_dsa;
mod ml_kem;

use std::ptr;

use aws_lc_sys as lc;
use outboard_engine::Error as Failed;
use outboard_engine::scalar::rsa::Numbers;

use outboard_operation::Operation;

use super::repeat;
use crate::workload::{ASSOCIATED, Iv, MESSAGE, Work, nature};
use crate::{Contender, Error, Result};

/// What AWS-LC made for us; freed when dropped.
struct Owned<T> {
    pointer: *mut T,
    free: unsafe extern "C" fn(*mut T),
}

impl<T> Owned<T> {
    /// Takes charge of a new thing, unless there is none.
    fn new(pointer: *mut T, free: unsafe extern "C" fn(*mut T)) -> Result<Self> {
        if pointer.is_null() {
            return Err(Failed::Resource.into());
        }
        Ok(Self { pointer, free })
    }

    /// The pointer. (A method, as a closure that names the field would take the pointer alone, and
    /// outlive what it points to.)
    fn as_ptr(&self) -> *mut T {
        self.pointer
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: the pointer came from the function that `free` belongs to, and is freed once.
        unsafe { (self.free)(self.pointer) }
    }
}

/// A true answer of AWS-LC.
fn check(answer: i32) -> Result<()> {
    if answer == 1 {
        Ok(())
    } else {
        Err(Error::from(Failed::Failed))
    }
}

fn number(bytes: &[u8]) -> Result<Owned<lc::BIGNUM>> {
    // SAFETY: reads as many bytes as there are; makes a new number.
    let number = unsafe { lc::BN_bin2bn(bytes.as_ptr(), bytes.len(), ptr::null_mut()) };
    Owned::new(number, lc::BN_free)
}

/// A post-quantum operation.
///
/// # Panics
/// If it is none.
pub(super) fn post_quantum(operation: Operation) -> Result<Box<Contender<'static>>> {
    match nature(operation).1 {
        Work::Lattice(kind, act) if kind.starts_with("ML-KEM") => ml_kem::contender(kind, act),
        Work::Lattice(kind, act) => ml_dsa::contender(kind, act),
        _ => panic!("{} is no post-quantum operation", operation.name()),
    }
}

/// AES-GCM in one call, in place, by a key of 16 or 32 bytes.
pub(super) fn seal(key: &[u8], size: usize) -> Result<Box<Contender<'static>>> {
    // SAFETY: static algorithms; a key as long as the algorithm asks.
    let context = unsafe {
        let algorithm = match key.len() {
            16 => lc::EVP_aead_aes_128_gcm(),
            _ => lc::EVP_aead_aes_256_gcm(),
        };
        lc::EVP_AEAD_CTX_new(algorithm, key.as_ptr(), key.len(), 16)
    };
    let context = Owned::new(context, lc::EVP_AEAD_CTX_free)?;
    let mut iv = Iv::default();
    let mut text = vec![0x61; size + 16];
    Ok(repeat(move || {
        let iv = iv.next();
        let mut written = 0;
        // SAFETY: a live context; input and output begin at the same byte, and there is room for the
        // tag behind the text.
        check(unsafe {
            lc::EVP_AEAD_CTX_seal(
                context.as_ptr(),
                text.as_mut_ptr(),
                &raw mut written,
                text.len(),
                iv.as_ptr(),
                iv.len(),
                text.as_ptr(),
                size,
                ASSOCIATED.as_ptr(),
                ASSOCIATED.len(),
            )
        })
    }))
}

/// SHA-256 and RSASSA-PSS with a salt as long as the digest.
pub(super) fn rsa_sign(numbers: &Numbers<'_>) -> Result<Box<Contender<'static>>> {
    let private = numbers.private.as_ref().ok_or(Failed::NoPrivateKey)?;
    let (n, e) = (number(numbers.n)?, number(numbers.e)?);
    let (d, p, q) = (number(private.d)?, number(private.p)?, number(private.q)?);
    let (dp, dq, qinv) = (
        number(private.dp)?,
        number(private.dq)?,
        number(private.qinv)?,
    );
    // SAFETY: live numbers, which are copied.
    let key = unsafe {
        lc::RSA_new_private_key(
            n.as_ptr(),
            e.as_ptr(),
            d.as_ptr(),
            p.as_ptr(),
            q.as_ptr(),
            dp.as_ptr(),
            dq.as_ptr(),
            qinv.as_ptr(),
        )
    };
    let key = Owned::new(key, lc::RSA_free)?;
    let mut signature = vec![0; numbers.n.len()];
    Ok(repeat(move || {
        let mut digest = [0; 32];
        let mut written = 0;
        // SAFETY: 32 bytes of digest; a live key; writes at most as many bytes as there are.
        check(unsafe {
            lc::SHA256(MESSAGE.as_ptr(), MESSAGE.len(), digest.as_mut_ptr());
            lc::RSA_sign_pss_mgf1(
                key.as_ptr(),
                &raw mut written,
                signature.as_mut_ptr(),
                signature.len(),
                digest.as_ptr(),
                digest.len(),
                lc::EVP_sha256(),
                lc::EVP_sha256(),
                lc::RSA_PSS_SALTLEN_DIGEST,
            )
        })
    }))
}

/// SHA-384 and ECDSA by the private number.
pub(super) fn p384_sign(private: &[u8]) -> Result<Box<Contender<'static>>> {
    let private = number(private)?;
    // SAFETY: makes a new key.
    let key = unsafe { lc::EC_KEY_new_by_curve_name(lc::NID_secp384r1) };
    let key = Owned::new(key, lc::EC_KEY_free)?;
    // SAFETY: a live key, and a number that is copied.
    check(unsafe { lc::EC_KEY_set_private_key(key.as_ptr(), private.as_ptr()) })?;
    // SAFETY: a live key.
    let mut signature = vec![0; unsafe { lc::ECDSA_size(key.as_ptr()) }];
    Ok(repeat(move || {
        let mut digest = [0; 48];
        let mut written = 0;
        // SAFETY: 48 bytes of digest; a live key; room for the longest signature.
        check(unsafe {
            lc::SHA384(MESSAGE.as_ptr(), MESSAGE.len(), digest.as_mut_ptr());
            lc::ECDSA_sign(
                0,
                digest.as_ptr(),
                digest.len(),
                signature.as_mut_ptr(),
                &raw mut written,
                key.as_ptr(),
            )
        })
    }))
}

/// Ed25519 by a seed.
pub(super) fn ed25519_sign(seed: &[u8; 32]) -> Box<Contender<'static>> {
    let (mut public, mut key) = ([0; 32], [0; 64]);
    // SAFETY: 32, 64 and 32 bytes, as the function asks.
    unsafe {
        lc::ED25519_keypair_from_seed(public.as_mut_ptr(), key.as_mut_ptr(), seed.as_ptr());
    }
    let mut signature = [0; 64];
    repeat(move || {
        // SAFETY: 64 bytes of signature and of key; reads as many bytes as the message has.
        check(unsafe {
            lc::ED25519_sign(
                signature.as_mut_ptr(),
                MESSAGE.as_ptr(),
                MESSAGE.len(),
                key.as_ptr(),
            )
        })
    })
}
