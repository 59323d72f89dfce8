//! Private keys in the forms that files have them in: OpenSSL reads them.

use std::fs;
use std::path::Path;

use outboard_administration::Secret;
use outboard_installation as installation;
use outboard_libcrypto::{Context, Key, Structure};
use zeroize::Zeroizing;

use crate::Failure;

/// The most bytes of a key file.
pub(super) const MOST: usize = 1 << 20;

/// The first line of that file.
pub(super) fn passphrase(file: Option<&Path>) -> Result<Option<Zeroizing<Vec<u8>>>, Failure> {
    let Some(file) = file else { return Ok(None) };
    let text = fs::read(file)
        .map(Zeroizing::new)
        .map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    Ok(Some(Zeroizing::new(line.to_vec())))
}

/// The key of a file's content, as PKCS #8.
pub(super) fn read(
    content: &[u8],
    passphrase: Option<&[u8]>,
    source: &str,
) -> Result<Secret, Failure> {
    let context = Context::new(&installation::library()?)?;
    let is_pem = content.windows(10).any(|window| window == b"-----BEGIN");
    let key = match is_pem {
        true => Key::from_pem(&context, content, passphrase),
        false => Key::from_der(&context, content),
    };
    let key = key.map_err(|error| {
        let remedy = match passphrase {
            None if is_pem => " (if it is encrypted, name a file with --passphrase)",
            _ => "",
        };
        format!("{source} holds no private key that OpenSSL can read: {error}{remedy}")
    })?;
    let der = key.to_der(Structure::Pkcs8)?;
    Ok(Secret(der))
}

/// A PrivateKeyInfo as PEM.
pub(super) fn pem(key: &Secret) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let context = Context::new(&installation::library()?)?;
    let key = Key::from_der(&context, &key.0)?;
    Ok(key.to_pem(Structure::Pkcs8)?)
}
