//! RSA decryption.

use outboard_libcrypto::{Context, Decryptor, Encryptor, Params};

use super::Prepared;
use crate::{KeyKind, Keys, Result};

/// Unwraps a 32-byte key, as CMS and Kerberos do: OAEP with SHA-256, the context new each time.
pub(super) fn decrypt(context: &Context, keys: &Keys, kind: KeyKind) -> Result<Prepared> {
    let params = Params::new()
        .text(c"pad-mode", "oaep")
        .text(c"digest", "SHA256");
    let public = keys.public(keys.maker(), kind)?;
    let ciphertext = Encryptor::new(&public, &params)?.encrypt(&[0x5a; 32])?;
    let key = keys.private(context, kind)?;
    let served_by = Decryptor::new(&key, &params)?.provider_name();
    Ok(Prepared::new(served_by, move || {
        Decryptor::new(&key, &params)?.decrypt(&ciphertext)?;
        Ok(())
    }))
}
