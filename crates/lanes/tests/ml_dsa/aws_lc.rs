//! ML-DSA by AWS-LC, from given seeds and with given randomness; and SHAKE256, for μ.

use aws_lc_sys as aws_lc;
use outboard_lanes::ml_dsa::{BYTES, MU, Set};
use std::ptr::{NonNull, null_mut};

/// A key: a pair, or a public key.
pub(crate) struct Key(NonNull<aws_lc::EVP_PKEY>, Set);

/// A context that is freed.
struct Context(*mut aws_lc::EVP_PKEY_CTX);

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: made by AWS-LC, freed once.
        unsafe { aws_lc::EVP_PKEY_CTX_free(self.0) };
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        // SAFETY: made by AWS-LC, freed once.
        unsafe { aws_lc::EVP_PKEY_free(self.0.as_ptr()) };
    }
}

fn nid(set: Set) -> i32 {
    match set {
        Set::MlDsa44 => aws_lc::NID_MLDSA44,
        Set::MlDsa65 => aws_lc::NID_MLDSA65,
        Set::MlDsa87 => aws_lc::NID_MLDSA87,
    }
}

/// SHAKE256 of the parts together.
pub(crate) fn shake256<const LENGTH: usize>(parts: &[&[u8]]) -> [u8; LENGTH] {
    // SAFETY: gives a constant.
    shake(unsafe { aws_lc::EVP_shake256() }, parts)
}

/// SHAKE128 of the parts together.
#[allow(dead_code)] // Not every test needs it.
pub(crate) fn shake128<const LENGTH: usize>(parts: &[&[u8]]) -> [u8; LENGTH] {
    // SAFETY: gives a constant.
    shake(unsafe { aws_lc::EVP_shake128() }, parts)
}

fn shake<const LENGTH: usize>(function: *const aws_lc::EVP_MD, parts: &[&[u8]]) -> [u8; LENGTH] {
    let (message, mut digest) = (parts.concat(), [0; LENGTH]);
    // SAFETY: the context is freed, once; AWS-LC reads and writes as many bytes as there are.
    let done = unsafe {
        let context = aws_lc::EVP_MD_CTX_new();
        let begun = aws_lc::EVP_DigestInit_ex(context, function, null_mut());
        let fed = aws_lc::EVP_DigestUpdate(context, message.as_ptr().cast(), message.len());
        let ended = aws_lc::EVP_DigestFinalXOF(context, digest.as_mut_ptr(), LENGTH);
        aws_lc::EVP_MD_CTX_free(context);
        (begun, fed, ended)
    };
    assert_eq!(done, (1, 1, 1));
    digest
}

impl Key {
    pub(crate) fn of_seed(set: Set, seed: &[u8; BYTES]) -> Key {
        // SAFETY: reads as many bytes as there are, and makes the key.
        let key = unsafe {
            aws_lc::EVP_PKEY_pqdsa_new_raw_private_key(nid(set), seed.as_ptr(), seed.len())
        };
        Key(NonNull::new(key).expect("a key"), set)
    }

    /// The public half alone.
    #[allow(dead_code)] // Not every test needs it.
    pub(crate) fn of_public(set: Set, key: &[u8]) -> Key {
        // SAFETY: reads as many bytes as there are, and makes the key.
        let key =
            unsafe { aws_lc::EVP_PKEY_pqdsa_new_raw_public_key(nid(set), key.as_ptr(), key.len()) };
        Key(NonNull::new(key).expect("a key"), set)
    }

    pub(crate) fn public(&self) -> Vec<u8> {
        self.half(
            self.1.public_key_bytes(),
            aws_lc::EVP_PKEY_get_raw_public_key,
        )
    }

    pub(crate) fn private(&self) -> Vec<u8> {
        self.half(
            self.1.private_key_bytes(),
            aws_lc::EVP_PKEY_get_raw_private_key,
        )
    }

    fn half(
        &self,
        length: usize,
        get: unsafe extern "C" fn(*const aws_lc::EVP_PKEY, *mut u8, *mut usize) -> i32,
    ) -> Vec<u8> {
        let (mut bytes, mut written) = (vec![0; length], length);
        // SAFETY: writes no more than it is told.
        let done = unsafe { get(self.0.as_ptr(), bytes.as_mut_ptr(), &raw mut written) };
        assert_eq!((done, written), (1, length));
        bytes
    }

    fn context(&self) -> Context {
        // SAFETY: the key lives, and the context takes a reference of its own.
        Context(unsafe { aws_lc::EVP_PKEY_CTX_new(self.0.as_ptr(), null_mut()) })
    }

    /// Hedged, by AWS-LC's own randomness.
    pub(crate) fn sign(&self, mu: &[u8; MU]) -> Vec<u8> {
        let mut signature = vec![0; self.1.signature_bytes()];
        let (mut length, context) = (signature.len(), self.context());
        // SAFETY: a live context; as much room as is said; reads 64 bytes.
        let done = unsafe {
            assert_eq!(aws_lc::EVP_PKEY_sign_init(context.0), 1);
            aws_lc::EVP_PKEY_sign(
                context.0,
                signature.as_mut_ptr(),
                &raw mut length,
                mu.as_ptr(),
                mu.len(),
            )
        };
        assert_eq!((done, length), (1, signature.len()));
        signature
    }

    pub(crate) fn verify(&self, mu: &[u8; MU], signature: &[u8]) -> bool {
        let context = self.context();
        // SAFETY: a live context; reads as many bytes as there are.
        unsafe {
            assert_eq!(aws_lc::EVP_PKEY_verify_init(context.0), 1);
            let answer = aws_lc::EVP_PKEY_verify(
                context.0,
                signature.as_ptr(),
                signature.len(),
                mu.as_ptr(),
                mu.len(),
            );
            aws_lc::ERR_clear_error();
            answer == 1
        }
    }
}

// AWS-LC exports these for its own tests, and its headers do not declare them: so their names have its version, which
// changes with the package `aws-lc-sys`. If the linker does not find them, change it here.
macro_rules! internal {
    ($name:ident, $symbol:literal) => {
        unsafe extern "C" {
            #[link_name = $symbol]
            fn $name(
                key: *const u8,
                signature: *mut u8,
                length: *mut usize,
                mu: *const u8,
                mu_length: usize,
                prefix: *const u8,
                prefix_length: usize,
                randomness: *const u8,
            ) -> i32;
        }
    };
}
internal!(sign_44, "aws_lc_0_47_0_ml_dsa_extmu_44_sign_internal");
internal!(sign_65, "aws_lc_0_47_0_ml_dsa_extmu_65_sign_internal");
internal!(sign_87, "aws_lc_0_47_0_ml_dsa_extmu_87_sign_internal");

/// Signs with that private key and that randomness.
pub(crate) fn sign_by(set: Set, key: &[u8], mu: &[u8; MU], randomness: &[u8; BYTES]) -> Vec<u8> {
    let sign = match set {
        Set::MlDsa44 => sign_44,
        Set::MlDsa65 => sign_65,
        Set::MlDsa87 => sign_87,
    };
    assert_eq!(key.len(), set.private_key_bytes());
    let mut signature = vec![0; set.signature_bytes()];
    let mut length = signature.len();
    // SAFETY: reads a key of the set's length, μ and the randomness; writes a signature of the set's length.
    let done = unsafe {
        sign(
            key.as_ptr(),
            signature.as_mut_ptr(),
            &raw mut length,
            mu.as_ptr(),
            mu.len(),
            std::ptr::null(),
            0,
            randomness.as_ptr(),
        )
    };
    assert_eq!((done, length), (1, signature.len()));
    signature
}
