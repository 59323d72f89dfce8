//! Key encapsulation.

use zeroize::Zeroizing;

use crate::sys::EVP_PKEY_CTX;
use crate::{Key, OperationContext, Params, Result};

/// Makes secrets that the owner of a key learns from a ciphertext (EVP_PKEY_encapsulate(3)).
#[derive(Debug)]
pub struct Encapsulator(OperationContext);

impl Encapsulator {
    /// Prepares it for a public key.
    pub fn new(key: &Key, params: &Params) -> Result<Self> {
        let operation = OperationContext::with_key(key)?;
        // SAFETY: a live context and an ended array.
        let status = unsafe {
            (operation.functions().EVP_PKEY_encapsulate_init)(operation.as_ptr(), params.as_ptr())
        };
        operation.check("cannot prepare encapsulation", status)?;
        Ok(Self(operation))
    }

    /// A ciphertext and its secret.
    pub fn encapsulate(&mut self) -> Result<(Vec<u8>, Zeroizing<Vec<u8>>)> {
        let function = self.0.functions().EVP_PKEY_encapsulate;
        let (mut ciphertext, mut secret) = (Vec::new(), Zeroizing::new(Vec::new()));
        let (mut length, mut secret_length) = (0, 0);
        let (nowhere, context) = (std::ptr::null_mut(), self.0.as_ptr());
        // SAFETY: a live context, and live places for the lengths.
        let status = unsafe {
            function(
                context,
                nowhere,
                &raw mut length,
                nowhere,
                &raw mut secret_length,
            )
        };
        self.0.check("cannot encapsulate", status)?;
        ciphertext.resize(length, 0);
        secret.resize(secret_length, 0);
        // SAFETY: a live context, and as much room as the lengths say.
        let status = unsafe {
            function(
                context,
                ciphertext.as_mut_ptr(),
                &raw mut length,
                secret.as_mut_ptr(),
                &raw mut secret_length,
            )
        };
        self.0.check("cannot encapsulate", status)?;
        ciphertext.truncate(length);
        secret.truncate(secret_length);
        Ok((ciphertext, secret))
    }

    /// The provider that encapsulates.
    pub fn provider_name(&self) -> Option<String> {
        self.0.provider_name()
    }
}

/// Learns secrets from ciphertexts (EVP_PKEY_decapsulate(3)).
#[derive(Debug)]
pub struct Decapsulator(OperationContext);

impl Decapsulator {
    /// Prepares it for a private key.
    pub fn new(key: &Key, params: &Params) -> Result<Self> {
        let operation = OperationContext::with_key(key)?;
        // SAFETY: a live context and an ended array.
        let status = unsafe {
            (operation.functions().EVP_PKEY_decapsulate_init)(operation.as_ptr(), params.as_ptr())
        };
        operation.check("cannot prepare decapsulation", status)?;
        Ok(Self(operation))
    }

    /// The secret of a ciphertext.
    pub fn decapsulate(&mut self, ciphertext: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        let function = self.0.functions().EVP_PKEY_decapsulate;
        let output = self.0.output("cannot decapsulate", |secret, length| {
            // SAFETY: a live context; the output has room for `length` bytes or is null; a live slice.
            unsafe {
                function(
                    self.0.as_ptr(),
                    secret,
                    length,
                    ciphertext.as_ptr(),
                    ciphertext.len(),
                )
            }
        });
        output.map(Zeroizing::new)
    }

    /// The context, for calls that are not here. It lives as long as this.
    pub fn as_ptr(&self) -> *mut EVP_PKEY_CTX {
        self.0.as_ptr()
    }

    /// The provider that decapsulates.
    pub fn provider_name(&self) -> Option<String> {
        self.0.provider_name()
    }
}
