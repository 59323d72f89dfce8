//! Keys of the card service: stock's form has the public half, the service has the private one.

use std::ffi::CStr;

use der::asn1::{AnyRef, BitStringRef, ObjectIdentifier, UintRef};
use der::{Decode, Sequence};
use outboard_client as client;
use outboard_engine::scalar::ec::Curve;
use outboard_provider_abi::{Error, ParamList, Reason, Result, Selection};
use outboard_wire::{Operation, Reference};
use zeroize::Zeroizing;

use crate::outboard::Shared;

/// What is known of a key of the service.
#[derive(Clone)]
pub(crate) struct Service {
    pub(super) reference: Reference,
    /// The size of an RSA key's modulus; 0 for other types.
    pub(super) bits: usize,
}

impl Service {
    /// The size of an RSA key's modulus in bits.
    pub(crate) fn bits(&self) -> usize {
        self.bits
    }

    /// Whether that is the same key.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.reference.id == other.reference.id
    }

    /// Lets the service do an operation.
    pub(crate) fn ask(
        &self,
        shared: &Shared,
        operation: Operation<'_>,
    ) -> Result<Zeroizing<Vec<u8>>> {
        let client = shared
            .service()
            .ok_or_else(|| self.error(Reason::Unsupported, "the program has no card service"))?;
        let key = client::Key {
            id: self.reference.id,
            name: &self.reference.name,
        };
        let mut result = Zeroizing::new(Vec::new());
        let answer = match shared.job() {
            Some(job) => job.ask(client, key, operation, &mut result),
            None => client.ask(key, operation, &mut result),
        };
        match answer {
            Ok(()) => Ok(result),
            Err(error) => Err(Error::new(Reason::OperationFailed, error.to_string())),
        }
    }

    /// An error that names the key.
    pub(crate) fn error(&self, reason: Reason, what: &str) -> Error {
        Error::new(reason, format!("key '{}': {what}", self.reference.name))
    }

    /// What the service does not do.
    pub(crate) fn unsupported(&self) -> Error {
        self.error(
            Reason::Unsupported,
            "the card service does not do this operation. It signs by RSA with PKCS #1 v1.5 or PSS, ECDSA and Ed25519, with \
             SHA-1 and SHA-2, decrypts by RSA with PKCS #1 v1.5 or OAEP, and derives by ECDH (use a key file of its own \
             for what needs more)",
        )
    }
}

/// A public half, read from a SubjectPublicKeyInfo (RFC 5280, 4.1).
pub(crate) enum Public {
    /// An RSA key: modulus and exponent, most significant byte first (RFC 8017, A.1.1).
    Rsa { n: Vec<u8>, e: Vec<u8> },
    /// A point on a named curve (RFC 5480).
    Ec { curve: Curve, point: Vec<u8> },
    /// 32 bytes (RFC 8410).
    Ed25519(Vec<u8>),
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
const CURVES: [(ObjectIdentifier, Curve); 3] = [
    (
        ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7"),
        Curve::P256,
    ),
    (ObjectIdentifier::new_unwrap("1.3.132.0.34"), Curve::P384),
    (ObjectIdentifier::new_unwrap("1.3.132.0.35"), Curve::P521),
];

impl Public {
    /// Reads it; none where it is damaged or of a type that the service does not have.
    pub(crate) fn of(info: &[u8]) -> Option<Self> {
        let info = SubjectPublicKeyInfo::from_der(info).ok()?;
        let bytes = info.key.as_bytes()?;
        match info.algorithm.algorithm {
            RSA => {
                let key = RsaPublicKey::from_der(bytes).ok()?;
                let (n, e) = (key.n.as_bytes().to_vec(), key.e.as_bytes().to_vec());
                Some(Self::Rsa { n, e })
            }
            EC => {
                let named: ObjectIdentifier = info.algorithm.parameters?.decode_as().ok()?;
                let (_, curve) = CURVES.into_iter().find(|(known, _)| *known == named)?;
                let point = bytes.to_vec();
                Some(Self::Ec { curve, point })
            }
            ED25519 => Some(Self::Ed25519(bytes.to_vec())),
            _ => None,
        }
    }

    /// The name of its type.
    pub(crate) fn name(&self) -> &'static CStr {
        match self {
            Self::Rsa { .. } => c"RSA",
            Self::Ec { .. } => c"EC",
            Self::Ed25519(_) => c"ED25519",
        }
    }

    /// What stock's form of it is made of.
    pub(super) fn params(&self) -> (Selection, ParamList) {
        let params = ParamList::new();
        match self {
            Self::Rsa { n, e } => (
                Selection::PUBLIC,
                params.big_endian(c"n", n).big_endian(c"e", e),
            ),
            Self::Ec { curve, point } => {
                let name = curve.name().to_string_lossy();
                let selection = Selection(Selection::PUBLIC.0 | Selection::DOMAIN.0);
                (
                    selection,
                    params.text(c"group", &name).octets(c"pub", point),
                )
            }
            Self::Ed25519(half) => (Selection::PUBLIC, params.octets(c"pub", half)),
        }
    }

    /// The size of an RSA key's modulus in bits; 0 for other types.
    pub(super) fn bits(&self) -> usize {
        match self {
            Self::Rsa { n, .. } => match n.first() {
                Some(top) => 8 * n.len() - top.leading_zeros() as usize,
                None => 0,
            },
            _ => 0,
        }
    }
}
