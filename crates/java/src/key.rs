//! Private keys, and what is done with them.

use std::sync::Arc;

use outboard_engine::Operation;
use outboard_engine::card::{self, Request};
use outboard_engine::kem;
use outboard_engine::scalar::digest::Digest;
use outboard_engine::scalar::ec::{self, Curve};
use outboard_engine::scalar::pair::{Pair, Private};
use outboard_engine::scalar::rsa::{SaltLength, Scheme};
use outboard_engine::scalar::x25519;
use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::process;
use crate::service;

/// What comes out of a computation with a private key.
pub(crate) type Bytes = Zeroizing<Vec<u8>>;

/// A private key.
pub(crate) enum Key {
    Rsa(Arc<card::rsa::Key>),
    Ec(Arc<ec::Key>),
    Ed25519(Arc<card::ed25519::Key>),
    /// In memory of its own: a key that is moved leaves a copy behind.
    X25519(Box<x25519::Private>),
    /// Either half.
    MlKem(Box<kem::Key>),
    Service(service::Key),
}

/// A group that keys are made on, as the Java half numbers them.
#[derive(Clone, Copy)]
pub(crate) enum Group {
    Nist(Curve),
    X25519,
}

/// How a value is signed.
#[derive(Clone, Copy)]
pub(crate) struct Signing {
    /// Which digest the value is; none for Ed25519, where the value is the message.
    pub(crate) digest: Option<Digest>,
    /// RSA's alone.
    pub(crate) scheme: Scheme,
}

impl Group {
    /// The group of that number.
    pub(crate) fn of(number: i32) -> Result<Self> {
        Ok(match number {
            0 => Self::Nist(Curve::P256),
            1 => Self::Nist(Curve::P384),
            2 => Self::Nist(Curve::P521),
            3 => Self::X25519,
            _ => return Err(Error::Misused),
        })
    }
}

impl Signing {
    /// As the Java half says it: the digest's number, or a negative one; that of the mask's digest, which is negative for
    /// PKCS #1 v1.5; the salt's length.
    pub(crate) fn of(digest: i32, mask: i32, salt: i32) -> Result<Self> {
        let scheme = match digest_of(mask)? {
            Some(mgf1) => Scheme::Pss {
                mgf1,
                salt: SaltLength::Bytes(salt.try_into().map_err(|_| Error::Misused)?),
            },
            None => Scheme::Pkcs1,
        };
        let digest = digest_of(digest)?;
        Ok(Self { digest, scheme })
    }

    /// The digest, which all but Ed25519's signatures have.
    pub(crate) fn hash(&self) -> Result<Digest> {
        self.digest.ok_or(Error::Misused)
    }
}

fn digest_of(number: i32) -> Result<Option<Digest>> {
    Ok(match number {
        ..0 => None,
        0 => Some(Digest::Sha256),
        1 => Some(Digest::Sha384),
        2 => Some(Digest::Sha512),
        _ => return Err(Error::Misused),
    })
}

impl Key {
    /// The key of a PrivateKeyInfo; none where the engine does not take it.
    pub(crate) fn read(info: &[u8]) -> Option<Self> {
        Some(match Pair::from_info(info).ok()?.private {
            Private::Rsa(key) => Self::Rsa(Arc::new(card::rsa::Key::new(key))),
            Private::Ec(key) => Self::Ec(Arc::new(key)),
            Private::Ed25519(key) => Self::Ed25519(Arc::new(card::ed25519::Key::new(key))),
        })
    }

    /// The X25519 key of a scalar; none where that has another length.
    pub(crate) fn x25519(scalar: &[u8]) -> Option<Self> {
        let scalar: &[u8; x25519::LENGTH] = scalar.try_into().ok()?;
        let mut key = Box::<x25519::Private>::default();
        key.copy_from_slice(scalar);
        Some(Self::X25519(key))
    }

    /// A new key, and its public half: a point that is not compressed, or X25519's 32 bytes.
    pub(crate) fn generate(group: Group) -> Result<(Self, Vec<u8>)> {
        match group {
            Group::Nist(curve) => {
                let pair = process::run(Request::ec_generate(curve))?;
                let key = ec::Key::pair(curve, &pair)?;
                let public = pair[curve.field_length()..].to_vec();
                Ok((Self::Ec(Arc::new(key)), public))
            }
            Group::X25519 => {
                let pair = process::run(Request::x25519_generate())?;
                let (private, public) = pair.split_at(x25519::LENGTH);
                let key = Self::x25519(private).ok_or(Error::Misused)?;
                Ok((key, public.to_vec()))
            }
        }
    }

    /// The private number of a key on a curve, most significant byte first, X25519's scalar, or ML-KEM's private half.
    pub(crate) fn secret(&self) -> Result<Bytes> {
        match self {
            Self::Ec(key) => Ok(key.number()?),
            Self::X25519(key) => Ok(Zeroizing::new(key.to_vec())),
            Self::MlKem(key) => {
                let half = key
                    .private_bytes()
                    .ok_or(outboard_engine::Error::NoPrivateKey)?;
                Ok(Zeroizing::new(half.to_vec()))
            }
            _ => Err(Error::Misused),
        }
    }

    /// The secret that the key shares with a peer's; none where the peer's is no public half of the same group, or one of
    /// small order.
    pub(crate) fn derive(&self, peer: &[u8]) -> Result<Option<Bytes>> {
        use outboard_engine::Error::{InvalidInput, InvalidKey};
        let derived = match self {
            Self::Ec(key) => match ec::Key::public(key.curve(), peer) {
                Ok(peer) => process::run(Request::ecdh(Arc::clone(key), Arc::new(peer))?),
                Err(refused) => Err(refused.into()),
            },
            Self::X25519(key) => {
                let peer = peer.try_into().map_err(|_| Error::Misused)?;
                process::run(Request::x25519(key, peer))
            }
            Self::Service(key) => key.derive(peer),
            _ => return Err(Error::Misused),
        };
        match derived {
            Err(Error::Engine(InvalidKey | InvalidInput)) => Ok(None),
            derived => derived.map(Some),
        }
    }

    /// The signature of a value.
    pub(crate) fn sign(&self, signing: &Signing, value: &[u8]) -> Result<Bytes> {
        match self {
            Self::Rsa(key) => {
                let block = key.encode(signing.scheme, signing.hash()?, value)?;
                power(key, block)
            }
            Self::Ec(key) => process::run(Request::ecdsa(Arc::clone(key), value)?),
            Self::Ed25519(key) => process::run(Request::ed25519(Arc::clone(key), value)?),
            Self::Service(key) => key.sign(signing, value),
            Self::X25519(_) | Self::MlKem(_) => Err(Error::Misused),
        }
    }
}

/// Raises a block to the private exponent.
fn power(key: &Arc<card::rsa::Key>, block: Vec<u8>) -> Result<Bytes> {
    let operation = match key.bits() {
        2048 => Operation::Rsa2048Sign,
        3072 => Operation::Rsa3072Sign,
        4096 => Operation::Rsa4096Sign,
        _ => {
            let mut result = Zeroizing::new(vec![0; key.length()]);
            key.power(&block, &mut result)?;
            return Ok(result);
        }
    };
    process::run(Request::rsa(operation, Arc::clone(key), block))
}
