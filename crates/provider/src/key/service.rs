//! Keys of the card service: stock's form has the public half, the service has the private one.

use std::ffi::CStr;

use outboard_client as client;
use outboard_engine::ledger::ReferenceHeld;
use outboard_engine::scalar::ec::Curve;
use outboard_provider_abi::{Error, ParamList, Reason, Result, Selection};
use outboard_wire::{self as wire, KeyType, Operation, Reference};
use zeroize::Zeroizing;

use crate::outboard::Shared;

/// What is known of a key of the service.
#[derive(Clone)]
pub(crate) struct Service {
    pub(super) reference: Reference,
    /// The size of an RSA key's modulus; 0 for other types.
    pub(super) bits: usize,
    /// For as long as the key lives, others see that this process has a reference.
    _shown: ReferenceHeld,
}

impl Service {
    pub(super) fn new(reference: Reference, bits: usize) -> Self {
        Self {
            reference,
            bits,
            _shown: ReferenceHeld::new(),
        }
    }

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
            ticket: None,
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

/// A public half, as stock is given it.
pub(crate) enum Public {
    /// An RSA key: modulus and exponent, most significant byte first (RFC 8017, A.1.1).
    Rsa { n: Vec<u8>, e: Vec<u8> },
    /// A point on a named curve (RFC 5480).
    Ec { curve: Curve, point: Vec<u8> },
    /// 32 bytes (RFC 8410).
    Ed25519(Vec<u8>),
}

impl Public {
    /// Reads it; none where it is damaged or of a type that the service does not have.
    pub(crate) fn of(info: &[u8]) -> Option<Self> {
        Some(match wire::Public::of(info)? {
            wire::Public::Rsa { n, e } => Self::Rsa {
                n: n.to_vec(),
                e: e.to_vec(),
            },
            wire::Public::Ec { curve, point } => Self::Ec {
                curve: match curve {
                    KeyType::P256 => Curve::P256,
                    KeyType::P384 => Curve::P384,
                    KeyType::P521 => Curve::P521,
                    _ => return None,
                },
                point: point.to_vec(),
            },
            wire::Public::Ed25519(half) => Self::Ed25519(half.to_vec()),
        })
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
