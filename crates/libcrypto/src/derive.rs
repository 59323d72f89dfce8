//! Key agreement.

use zeroize::Zeroizing;

use crate::{Key, OperationContext, Params, Result};

/// Derives shared secrets (EVP_PKEY_derive(3)).
#[derive(Debug)]
pub struct Deriver(OperationContext);

impl Deriver {
    /// Prepares deriving with our private key.
    pub fn new(key: &Key, params: &Params) -> Result<Self> {
        let operation = OperationContext::with_key(key)?;
        // SAFETY: a live context and an ended array.
        let status = unsafe {
            (operation.functions().EVP_PKEY_derive_init_ex)(operation.as_ptr(), params.as_ptr())
        };
        operation.check("cannot prepare deriving", status)?;
        Ok(Self(operation))
    }

    /// Whose public key it is; OpenSSL checks it.
    pub fn set_peer(&mut self, peer: &Key) -> Result<()> {
        // SAFETY: live objects.
        let status = unsafe {
            (self.0.functions().EVP_PKEY_derive_set_peer)(self.0.as_ptr(), peer.as_ptr())
        };
        self.0.check("the peer's key does not suit", status)
    }

    /// The shared secret.
    pub fn derive(&mut self) -> Result<Zeroizing<Vec<u8>>> {
        let derive = self.0.functions().EVP_PKEY_derive;
        self.0
            .output("cannot derive", |secret, length| {
                // SAFETY: a live context; the output has room for `length` bytes or is null.
                unsafe { derive(self.0.as_ptr(), secret, length) }
            })
            .map(Zeroizing::new)
    }

    /// The provider that derives.
    pub fn provider_name(&self) -> Option<String> {
        self.0.provider_name()
    }
}
