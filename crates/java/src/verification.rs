//! Signatures, judged with public keys.

use std::time::Instant;

use outboard_engine::scalar::digest::Digest;
use outboard_engine::scalar::ec::{self, Curve};
use outboard_engine::scalar::ed25519;
use outboard_engine::scalar::rsa::{self, Numbers, Scheme};
use outboard_engine::{Operation, Path, ledger};

use crate::error::Result;
use crate::key::Signing;

/// Whether that is the encoding of a point on the curve.
pub(crate) fn is_point(curve: Curve, point: &[u8]) -> bool {
    ec::Key::public(curve, point).is_ok()
}

/// Whether that is an RSA signature of a digest by the key with that modulus and exponent.
pub(crate) fn rsa(
    n: &[u8],
    e: &[u8],
    signing: &Signing,
    value: &[u8],
    signature: &[u8],
) -> Result<bool> {
    let started = Instant::now();
    let digest = signing.hash()?;
    let private = None;
    let key = rsa::Key::new(&Numbers { n, e, private })?;
    let is_right = key.verify(signing.scheme, digest, value, signature)
        || signing.scheme == Scheme::Pkcs1
            && key.verify_unnamed(&briefly_named(digest, value), signature);
    let operation = match key.bits() {
        2048 => Some(Operation::Rsa2048Verify),
        3072 => Some(Operation::Rsa3072Verify),
        4096 => Some(Operation::Rsa4096Verify),
        _ => None,
    };
    if let Some(operation) = operation {
        count(operation, started);
    }
    Ok(is_right)
}

/// A digest as some sign it: its algorithm's parameters are missing instead of NULL (RFC 8017, A.2.4, lets that pass). Java's own
/// provider takes it, too.
fn briefly_named(digest: Digest, value: &[u8]) -> Vec<u8> {
    // NIST's numbers of SHA-256, SHA-384 and SHA-512.
    let number = match digest {
        Digest::Sha384 => 2,
        Digest::Sha512 => 3,
        _ => 1,
    };
    let length = value.len() as u8;
    let mut named = vec![0x30, 15 + length, 0x30, 11];
    named.extend(b"\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02");
    named.extend([number, 4, length]);
    named.extend_from_slice(value);
    named
}

/// Whether that is an ECDSA signature of a digest, in DER.
pub(crate) fn ec(curve: Curve, point: &[u8], value: &[u8], signature: &[u8]) -> Result<bool> {
    let started = Instant::now();
    let is_right = ec::Key::public(curve, point)?.verify(value, signature);
    let operation = match curve {
        Curve::P256 => Operation::P256Verify,
        Curve::P384 => Operation::P384Verify,
        Curve::P521 => Operation::P521Verify,
    };
    count(operation, started);
    Ok(is_right)
}

/// Whether that is an Ed25519 signature of a message.
pub(crate) fn ed25519(public: &[u8; ed25519::LENGTH], message: &[u8], signature: &[u8]) -> bool {
    let started = Instant::now();
    let is_right = ed25519::verify(public, message, signature);
    count(Operation::Ed25519Verify, started);
    is_right
}

fn count(operation: Operation, started: Instant) {
    ledger::record(operation, Path::Scalar, 0, started.elapsed());
}
