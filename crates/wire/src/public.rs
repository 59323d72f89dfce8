//! The public half of a key, as references and certificates have it: a SubjectPublicKeyInfo (RFC 5280, 4.1) in DER.

use der::asn1::{AnyRef, BitStringRef, ObjectIdentifier, UintRef};
use der::{Decode, Sequence};

use crate::KeyType;

/// A public half of a type that a service has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Public<'a> {
    /// RSA's numbers, most significant byte first (RFC 8017, A.1.1).
    Rsa {
        /// The modulus.
        n: &'a [u8],
        /// The exponent.
        e: &'a [u8],
    },
    /// A point on a curve of NIST's (RFC 5480).
    Ec {
        /// The curve: [`KeyType::P256`], [`KeyType::P384`] or [`KeyType::P521`].
        curve: KeyType,
        /// The point, encoded.
        point: &'a [u8],
    },
    /// Ed25519's 32 bytes (RFC 8410).
    Ed25519(&'a [u8]),
}

#[derive(Sequence)]
struct SubjectPublicKeyInfo<'a> {
    algorithm: AlgorithmIdentifier<'a>,
    key: BitStringRef<'a>,
}

#[derive(Sequence)]
struct AlgorithmIdentifier<'a> {
    algorithm: ObjectIdentifier,
    parameters: Option<AnyRef<'a>>,
}

#[derive(Sequence)]
struct RsaPublicKey<'a> {
    n: UintRef<'a>,
    e: UintRef<'a>,
}

const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");
const CURVES: [(ObjectIdentifier, KeyType); 3] = [
    (
        ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7"),
        KeyType::P256,
    ),
    (ObjectIdentifier::new_unwrap("1.3.132.0.34"), KeyType::P384),
    (ObjectIdentifier::new_unwrap("1.3.132.0.35"), KeyType::P521),
];

impl<'a> Public<'a> {
    /// Reads it; none where it is damaged or of a type that no service has.
    pub fn of(info: &'a [u8]) -> Option<Self> {
        let info = SubjectPublicKeyInfo::from_der(info).ok()?;
        let bytes = info.key.as_bytes()?;
        match info.algorithm.algorithm {
            RSA => {
                let key = RsaPublicKey::from_der(bytes).ok()?;
                let (n, e) = (key.n.as_bytes(), key.e.as_bytes());
                Some(Self::Rsa { n, e })
            }
            EC => {
                let named: ObjectIdentifier = info.algorithm.parameters?.decode_as().ok()?;
                let (_, curve) = CURVES.into_iter().find(|(known, _)| *known == named)?;
                let point = bytes;
                Some(Self::Ec { curve, point })
            }
            ED25519 => Some(Self::Ed25519(bytes)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// RFC 8410, 10.1, with an octet of each other part changed.
    #[test]
    fn a_public_half_is_read_and_what_is_none_is_not() {
        let info = [
            &b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00"[..],
            &[7; 32],
        ];
        let info = info.concat();
        assert_eq!(Public::of(&info), Some(Public::Ed25519(&[7; 32])));
        for at in 0..12 {
            let mut damaged = info.clone();
            damaged[at] ^= 1;
            assert_eq!(Public::of(&damaged), None, "{at}");
        }
    }

    proptest! {
        #[test]
        fn whatever_comes_is_a_public_half_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = Public::of(&bytes);
        }
    }
}
