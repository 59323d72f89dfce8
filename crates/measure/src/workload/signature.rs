//! Signing and verifying.

use outboard_libcrypto::{Context, DigestSigner, DigestVerifier, Key, Params};

use super::Prepared;
use crate::{Error, KeyKind, Keys, Result};

/// As long as what TLS 1.3 signs in a handshake with SHA-256 (RFC 8446, 4.4.3: 64 spaces, 33 bytes
/// of context, a zero, 32 bytes of hash).
pub(crate) const MESSAGE: [u8; 130] = [0x20; 130];

/// A server that signs a handshake: the key stays, the context is new each time. RSA as TLS 1.3
/// has it: PSS with a salt as long as the digest.
pub(super) fn sign(context: &Context, keys: &Keys, kind: KeyKind) -> Result<Prepared> {
    sign_with(keys.private(context, kind)?, kind)
}

/// The same with a key of the caller's.
pub(super) fn sign_with(key: Key, kind: KeyKind) -> Result<Prepared> {
    let params = match kind {
        KeyKind::Rsa(_) => Params::new()
            .text(c"pad-mode", "pss")
            .text(c"saltlen", "digest"),
        _ => Params::new(),
    };
    let served_by = DigestSigner::new(&key, kind.digest(), &params)?.provider_name();
    Ok(Prepared::new(served_by, move || {
        DigestSigner::new(&key, kind.digest(), &params)?.sign(&MESSAGE)?;
        Ok(())
    }))
}

/// A client that verifies: the public half alone, the context new each time. RSA as certificates
/// have it: PKCS #1 v1.5.
pub(super) fn verify(context: &Context, keys: &Keys, kind: KeyKind) -> Result<Prepared> {
    let key = keys.public(context, kind)?;
    let signature = signature(keys, kind)?;
    let served_by = DigestVerifier::new(&key, kind.digest(), &Params::new())?.provider_name();
    Ok(Prepared::new(served_by, move || {
        verify_once(&key, kind, &signature)
    }))
}

/// Stock's signature of the message.
pub(super) fn signature(keys: &Keys, kind: KeyKind) -> Result<Vec<u8>> {
    let key = keys.private(keys.maker(), kind)?;
    Ok(DigestSigner::new(&key, kind.digest(), &Params::new())?.sign(&MESSAGE)?)
}

/// Verifies stock's signature.
pub(super) fn verify_once(key: &Key, kind: KeyKind, signature: &[u8]) -> Result<()> {
    let mut verifier = DigestVerifier::new(key, kind.digest(), &Params::new())?;
    if verifier.verify(signature, &MESSAGE)? {
        Ok(())
    } else {
        Err(Error::Disagreement {
            what: format!("{}-verify", kind.name()),
            maker: "stock",
            judge: "the other side",
        })
    }
}

/// Signs once with PKCS #1 v1.5 or the key's one scheme.
pub(super) fn sign_once(key: &Key, kind: KeyKind) -> Result<()> {
    DigestSigner::new(key, kind.digest(), &Params::new())?.sign(&MESSAGE)?;
    Ok(())
}
