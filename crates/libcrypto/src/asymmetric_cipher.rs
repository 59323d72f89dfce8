//! Encryption with a public key and decryption with the private one: RSA.

use zeroize::Zeroizing;

use crate::{Key, OperationContext, Params, Result};

/// Encrypts (EVP_PKEY_encrypt(3)).
#[derive(Debug)]
pub struct Encryptor(OperationContext);

impl Encryptor {
    /// Prepares encrypting; the parameters say padding, digest and label.
    pub fn new(key: &Key, params: &Params) -> Result<Self> {
        let operation = OperationContext::with_key(key)?;
        // SAFETY: a live context and an ended array.
        let status = unsafe {
            (operation.functions().EVP_PKEY_encrypt_init_ex)(operation.as_ptr(), params.as_ptr())
        };
        operation.check("cannot prepare encrypting", status)?;
        Ok(Self(operation))
    }

    /// Encrypts `plaintext`.
    pub fn encrypt(&mut self, plaintext: &[u8]) -> Result<Vec<u8>> {
        let encrypt = self.0.functions().EVP_PKEY_encrypt;
        self.0.output("cannot encrypt", |output, length| {
            // SAFETY: a live context; the output has room for `length` bytes or is null.
            unsafe {
                encrypt(
                    self.0.as_ptr(),
                    output,
                    length,
                    plaintext.as_ptr(),
                    plaintext.len(),
                )
            }
        })
    }

    /// The provider that encrypts.
    pub fn provider_name(&self) -> Option<String> {
        self.0.provider_name()
    }
}

/// Decrypts (EVP_PKEY_decrypt(3)).
#[derive(Debug)]
pub struct Decryptor(OperationContext);

impl Decryptor {
    /// Prepares decrypting; the parameters say padding, digest and label.
    pub fn new(key: &Key, params: &Params) -> Result<Self> {
        let operation = OperationContext::with_key(key)?;
        // SAFETY: a live context and an ended array.
        let status = unsafe {
            (operation.functions().EVP_PKEY_decrypt_init_ex)(operation.as_ptr(), params.as_ptr())
        };
        operation.check("cannot prepare decrypting", status)?;
        Ok(Self(operation))
    }

    /// Decrypts `ciphertext`.
    pub fn decrypt(&mut self, ciphertext: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        let decrypt = self.0.functions().EVP_PKEY_decrypt;
        self.0
            .output("cannot decrypt", |output, length| {
                // SAFETY: a live context; the output has room for `length` bytes or is null.
                unsafe {
                    decrypt(
                        self.0.as_ptr(),
                        output,
                        length,
                        ciphertext.as_ptr(),
                        ciphertext.len(),
                    )
                }
            })
            .map(Zeroizing::new)
    }

    /// The provider that decrypts.
    pub fn provider_name(&self) -> Option<String> {
        self.0.provider_name()
    }
}
