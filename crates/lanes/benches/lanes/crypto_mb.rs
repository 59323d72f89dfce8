//! Intel's crypto_mb, eight lanes, in the directory that `CRYPTO_MB` names. `make bench-lanes` fetches it for
//! this comparison.

use crate::Run;
use crate::aws_lc::RsaKey;
use outboard_crypto_mb::{self as crypto_mb, Curve, Library, Result};
use std::path::Path;

/// None where it was not fetched.
pub(crate) fn open() -> Option<Library> {
    let directory = std::env::var_os("CRYPTO_MB")?;
    let file = Path::new(&directory).join("libcrypto_mb.so");
    let library = Library::open(&file);
    library.map_err(|error| println!("{error}")).ok()
}

/// The operation, so many lanes filled.
pub(crate) fn run(library: Library, operation: &str) -> Option<Run> {
    let batch = match operation {
        "RSA-2048 private" => rsa(library, 2048),
        "RSA-3072 private" => rsa(library, 3072),
        "RSA-4096 private" => rsa(library, 4096),
        "ECDSA P-256 sign" => library.ecdsa(Curve::P256),
        "ECDSA P-384 sign" => library.ecdsa(Curve::P384),
        "ECDH P-256" => library.ecdh(Curve::P256),
        "ECDH P-384" => library.ecdh(Curve::P384),
        "P-256 public key" => library.public_key(Curve::P256),
        "P-384 public key" => library.public_key(Curve::P384),
        "X25519" => library.x25519(),
        "X25519 public key" => library.x25519_public_key(),
        "Ed25519 sign" => library.ed25519_sign(32),
        "Ed25519 verify" => library.ed25519_verify(32),
        _ => return None,
    };
    let mut batch = batch.unwrap_or_else(|error| panic!("{operation}: {error}"));
    Some(Box::new(move |filled| {
        batch(filled).unwrap_or_else(|error| panic!("{error}"));
    }))
}

fn rsa(library: Library, bits: u32) -> Result<crypto_mb::Batch> {
    let keys = RsaKey::eight(bits);
    let numbers = keys
        .each_ref()
        .map(|key| key.with_components(|c| [c.p, c.q, c.dp, c.dq, c.qinv].map(<[u8]>::to_vec)));
    let parts = numbers
        .each_ref()
        .map(|[p, q, dp, dq, qinv]| crypto_mb::RsaKey { p, q, dp, dq, qinv });
    let x = vec![0x42; bits as usize / 8];
    library.rsa(parts, &x, &keys[0].private(&x))
}
