//! Keys of the card service.

use outboard_client as client;
use outboard_engine::scalar::digest::Digest;
use outboard_engine::scalar::rsa::{SaltLength, Scheme};
use outboard_wire::{self as wire, KeyId, Listed, Operation, Public, Reference, Salt};
use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::key::{Bytes, Signing};
use crate::process;

/// A key that the card service has.
pub(crate) struct Key {
    id: KeyId,
    name: String,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Rsa,
    Ec,
    Ed25519,
}

/// The keys that this process may use.
pub(crate) fn keys() -> Result<Vec<Listed>> {
    Ok(process::service()?.list(0)?.keys)
}

impl Key {
    /// The key that a reference in DER names.
    pub(crate) fn of(reference: &[u8]) -> Result<Self> {
        let Reference { id, name, public } =
            Reference::from_der(reference).map_err(|_| Error::Misused)?;
        let kind = match Public::of(&public).ok_or(Error::Misused)? {
            Public::Rsa { .. } => Kind::Rsa,
            Public::Ec { .. } => Kind::Ec,
            Public::Ed25519(_) => Kind::Ed25519,
        };
        Ok(Self { id, name, kind })
    }

    /// As [`Key::derive`](crate::key::Key::derive). The service judges the point.
    pub(crate) fn derive(&self, point: &[u8]) -> Result<Bytes> {
        self.ask(Operation::Ecdh { point })
    }

    /// As [`Key::sign`](crate::key::Key::sign). The service pads: it is told which digest the value is.
    pub(crate) fn sign(&self, signing: &Signing, value: &[u8]) -> Result<Bytes> {
        let named = |digest| match digest {
            Digest::Sha256 => Ok(wire::Digest::Sha256),
            Digest::Sha384 => Ok(wire::Digest::Sha384),
            Digest::Sha512 => Ok(wire::Digest::Sha512),
            _ => Err(Error::NotByService),
        };
        let operation = match (self.kind, signing.scheme) {
            (Kind::Ed25519, _) => Operation::Ed25519 { message: value },
            (Kind::Ec, _) => Operation::Ecdsa {
                digest: signing.digest.map(named).transpose()?,
                value,
            },
            (Kind::Rsa, Scheme::Pkcs1) => Operation::Pkcs1 {
                digest: Some(named(signing.hash()?)?),
                value,
            },
            (Kind::Rsa, Scheme::Pss { mgf1, salt }) => Operation::Pss {
                digest: named(signing.hash()?)?,
                mgf1: named(mgf1)?,
                salt: match salt {
                    SaltLength::Bytes(bytes) => {
                        Salt::Bytes(bytes.try_into().map_err(|_| Error::NotByService)?)
                    }
                    SaltLength::Digest | SaltLength::Auto => Salt::Digest,
                },
                value,
            },
        };
        self.ask(operation)
    }

    fn ask(&self, operation: Operation<'_>) -> Result<Bytes> {
        let key = client::Key {
            id: self.id,
            name: &self.name,
            ticket: None,
        };
        let mut result = Zeroizing::new(Vec::new());
        process::service()?.ask(key, operation, &mut result)?;
        Ok(result)
    }
}
