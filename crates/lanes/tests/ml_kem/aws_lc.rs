//! ML-KEM by AWS-LC, from given seeds.

use aws_lc_sys as aws_lc;
use outboard_lanes::ml_kem::Set;
use std::ptr::{NonNull, null_mut};

/// A pair of keys.
pub(crate) struct Keys(NonNull<aws_lc::EVP_PKEY>, Set);

/// A context that is freed.
struct Context(*mut aws_lc::EVP_PKEY_CTX);

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: made by AWS-LC, freed once.
        unsafe { aws_lc::EVP_PKEY_CTX_free(self.0) };
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        // SAFETY: made by AWS-LC, freed once.
        unsafe { aws_lc::EVP_PKEY_free(self.0.as_ptr()) };
    }
}

fn nid(set: Set) -> i32 {
    match set {
        Set::MlKem512 => aws_lc::NID_MLKEM512,
        Set::MlKem768 => aws_lc::NID_MLKEM768,
        Set::MlKem1024 => aws_lc::NID_MLKEM1024,
    }
}

impl Keys {
    pub(crate) fn generate(set: Set, d: &[u8; 32], z: &[u8; 32]) -> Keys {
        let seed = [&d[..], z].concat();
        let (mut length, mut key) = (seed.len(), null_mut());
        // SAFETY: the context lives until the end; AWS-LC reads as many bytes as it is told, and makes the key.
        unsafe {
            let context = Context(aws_lc::EVP_PKEY_CTX_new_id(
                aws_lc::EVP_PKEY_KEM,
                null_mut(),
            ));
            assert_eq!(aws_lc::EVP_PKEY_CTX_kem_set_params(context.0, nid(set)), 1);
            assert_eq!(aws_lc::EVP_PKEY_keygen_init(context.0), 1);
            let made = aws_lc::EVP_PKEY_keygen_deterministic(
                context.0,
                &raw mut key,
                seed.as_ptr(),
                &raw mut length,
            );
            assert_eq!(made, 1);
        }
        Keys(NonNull::new(key).expect("a key"), set)
    }

    fn context(&self) -> Context {
        // SAFETY: the key lives, and the context takes a reference of its own.
        Context(unsafe { aws_lc::EVP_PKEY_CTX_new(self.0.as_ptr(), null_mut()) })
    }

    pub(crate) fn public(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.1.encapsulation_key_bytes()];
        let mut length = bytes.len();
        // SAFETY: writes no more than it is told.
        let done = unsafe {
            aws_lc::EVP_PKEY_get_raw_public_key(
                self.0.as_ptr(),
                bytes.as_mut_ptr(),
                &raw mut length,
            )
        };
        assert_eq!((done, length), (1, bytes.len()));
        bytes
    }

    pub(crate) fn private(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.1.decapsulation_key_bytes()];
        let mut length = bytes.len();
        // SAFETY: writes no more than it is told.
        let done = unsafe {
            aws_lc::EVP_PKEY_get_raw_private_key(
                self.0.as_ptr(),
                bytes.as_mut_ptr(),
                &raw mut length,
            )
        };
        assert_eq!((done, length), (1, bytes.len()));
        bytes
    }

    pub(crate) fn encapsulate(&self, message: &[u8; 32]) -> (Vec<u8>, Vec<u8>) {
        self.try_encapsulate(message).expect("a good key")
    }

    fn try_encapsulate(&self, message: &[u8; 32]) -> Option<(Vec<u8>, Vec<u8>)> {
        let (mut ciphertext, mut secret) = (vec![0; self.1.ciphertext_bytes()], vec![0; 32]);
        let mut lengths = [ciphertext.len(), secret.len(), message.len()];
        let [ciphertext_length, secret_length, message_length] = &mut lengths;
        let context = self.context();
        // SAFETY: writes no more than it is told, and reads 32 bytes.
        let done = unsafe {
            aws_lc::EVP_PKEY_encapsulate_deterministic(
                context.0,
                ciphertext.as_mut_ptr(),
                ciphertext_length,
                secret.as_mut_ptr(),
                secret_length,
                message.as_ptr(),
                message_length,
            )
        };
        (done == 1).then_some((ciphertext, secret))
    }

    pub(crate) fn decapsulate(&self, ciphertext: &[u8]) -> Vec<u8> {
        let (mut secret, mut length) = (vec![0; 32], 32);
        let context = self.context();
        // SAFETY: writes no more than it is told, and reads as much as there is.
        let done = unsafe {
            aws_lc::EVP_PKEY_decapsulate(
                context.0,
                secret.as_mut_ptr(),
                &raw mut length,
                ciphertext.as_ptr(),
                ciphertext.len(),
            )
        };
        assert_eq!(done, 1);
        secret
    }
}

/// Encapsulates for a public key, which may be none.
#[allow(dead_code)] // Not every test needs it.
pub(crate) fn encapsulate_for(
    set: Set,
    public: &[u8],
    message: &[u8; 32],
) -> Option<(Vec<u8>, Vec<u8>)> {
    // SAFETY: reads as many bytes as there are, and makes the key.
    let key =
        unsafe { aws_lc::EVP_PKEY_kem_new_raw_public_key(nid(set), public.as_ptr(), public.len()) };
    let sent = Keys(NonNull::new(key)?, set).try_encapsulate(message);
    // SAFETY: empties this thread's queue.
    unsafe { aws_lc::ERR_clear_error() };
    sent
}
