//! What is done with a key: the service pads, computes, and takes paddings off.

use std::num::NonZeroU16;
use std::sync::Arc;

use outboard_engine::card::{self, BreakEven, Kind, Output, Request};
use outboard_engine::scalar::digest::Digest;
use outboard_engine::scalar::ec;
use outboard_engine::scalar::pair::{Pair, Private};
use outboard_engine::scalar::rsa::{self, Message, Rejection, SaltLength, Scheme, Versions};
use outboard_engine::{Error, Operation};
use outboard_vault as policy;
use outboard_wire as wire;
use zeroize::Zeroizing;

/// A key, ready to compute with.
pub(crate) enum Native {
    Rsa(Arc<card::rsa::Key>),
    Ec(Arc<ec::Key>),
    Ed25519(Arc<card::ed25519::Key>),
}

/// An operation with its key and its input.
pub(crate) enum Work {
    /// One that the engine has a name for, and perhaps lanes.
    Named(Request),
    /// RSA's private operation with a key of another size.
    RsaOfAnySize(Arc<card::rsa::Key>, Vec<u8>),
}

/// The padding that is taken off what was decrypted.
pub(crate) enum Unpadding {
    Pkcs1(Rejection),
    Premaster(Rejection, Versions),
    Oaep {
        digest: Digest,
        mgf1: Digest,
        label: Vec<u8>,
    },
}

/// Why a request cannot be done with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unfit {
    #[error("the key is of another type than the operation")]
    Type,
    #[error("{0}")]
    Engine(#[from] Error),
}

impl Unfit {
    /// What the client is told.
    pub(crate) fn status(self) -> wire::Status {
        match self {
            Self::Type => wire::Status::NotAllowed,
            Self::Engine(_) => wire::Status::Malformed,
        }
    }
}

impl From<Pair> for Native {
    fn from(pair: Pair) -> Self {
        match pair.private {
            Private::Rsa(key) => Self::Rsa(Arc::new(card::rsa::Key::new(key))),
            Private::Ec(key) => Self::Ec(Arc::new(key)),
            Private::Ed25519(key) => Self::Ed25519(Arc::new(card::ed25519::Key::new(key))),
        }
    }
}

impl Native {
    /// The work that a request asks for, and the padding that is then to be taken off.
    pub(crate) fn work(
        &self,
        operation: &wire::Operation<'_>,
    ) -> Result<(Work, Option<Unpadding>), Unfit> {
        use wire::Operation as Asked;
        let work = match (self, *operation) {
            (Self::Rsa(key), Asked::Pkcs1 { digest, value }) => {
                let block = match digest {
                    None => key.encode_unnamed(value)?,
                    Some(digest) => key.encode(Scheme::Pkcs1, engine(digest), value)?,
                };
                Work::signature(key, block)
            }
            (
                Self::Rsa(key),
                Asked::Pss {
                    digest,
                    mgf1,
                    salt,
                    value,
                },
            ) => {
                let salt = match salt {
                    wire::Salt::Digest => SaltLength::Digest,
                    wire::Salt::Bytes(bytes) => SaltLength::Bytes(bytes.into()),
                };
                let mgf1 = engine(mgf1);
                let block = key.encode(Scheme::Pss { mgf1, salt }, engine(digest), value)?;
                Work::signature(key, block)
            }
            (
                Self::Rsa(key),
                Asked::Decrypt {
                    encryption,
                    ciphertext,
                },
            ) => {
                let block = key.ciphertext(ciphertext)?;
                let unpadding = Unpadding::of(encryption, key, &block)?;
                return Ok((Work::decryption(key, block), Some(unpadding)));
            }
            (Self::Ec(key), Asked::Ecdsa { digest, value }) => {
                // A policy speaks of digests: what is named one must be as long as one.
                if digest.is_some_and(|digest| engine(digest).length() != value.len()) {
                    return Err(Error::InvalidInput.into());
                }
                Work::Named(Request::ecdsa(Arc::clone(key), value)?)
            }
            (Self::Ec(key), Asked::Ecdh { point }) => {
                let peer = ec::Key::public(key.curve(), point).map_err(|_| Error::InvalidInput)?;
                Work::Named(Request::ecdh(Arc::clone(key), Arc::new(peer))?)
            }
            (Self::Ed25519(key), Asked::Ed25519 { message }) => {
                Work::Named(Request::ed25519(Arc::clone(key), message)?)
            }
            _ => return Err(Unfit::Type),
        };
        Ok((work, None))
    }
}

impl Unpadding {
    fn of(
        encryption: wire::Encryption<'_>,
        key: &rsa::Key,
        ciphertext: &[u8],
    ) -> Result<Self, Error> {
        Ok(match encryption {
            wire::Encryption::Pkcs1 => Self::Pkcs1(key.rejection(ciphertext)?),
            wire::Encryption::Premaster {
                offered,
                negotiated,
            } => {
                let negotiated = negotiated.map(NonZeroU16::get);
                let versions = Versions {
                    offered,
                    negotiated,
                };
                Self::Premaster(key.rejection(ciphertext)?, versions)
            }
            wire::Encryption::Oaep {
                digest,
                mgf1,
                label,
            } => Self::Oaep {
                digest: engine(digest),
                mgf1: engine(mgf1),
                label: label.to_vec(),
            },
        })
    }

    /// What a client is told that gets no message. Whatever is wrong, it is the same.
    pub(crate) fn refusal(&self, error: Error) -> String {
        match (self, error) {
            (Self::Oaep { .. }, Error::Failed) => {
                "the ciphertext gives no message (was it encrypted for this key, with OAEP, and with this label and these \
                 digests?)"
                    .to_owned()
            }
            _ => error.to_string(),
        }
    }

    /// What is answered of a block that was decrypted: as many bytes for every message.
    pub(crate) fn answer(&self, block: &[u8]) -> Result<Output, Error> {
        let Message { room, length } = match self {
            Self::Pkcs1(rejection) => rejection.message(block),
            Self::Premaster(rejection, versions) => {
                let secret = rejection.premaster(block, *versions);
                return Ok(Zeroizing::new(secret.to_vec()));
            }
            Self::Oaep {
                digest,
                mgf1,
                label,
            } => rsa::oaep(block, *digest, *mgf1, label)?,
        };
        let mut answer = Zeroizing::default();
        // INVARIANT: at most 512 bytes, as long as the longest modulus.
        wire::message::encode(&room, length as u16, &mut answer);
        Ok(answer)
    }
}

impl Work {
    fn signature(key: &Arc<card::rsa::Key>, block: Vec<u8>) -> Self {
        let operation = match key.bits() {
            2048 => Some(Operation::Rsa2048Sign),
            3072 => Some(Operation::Rsa3072Sign),
            4096 => Some(Operation::Rsa4096Sign),
            _ => None,
        };
        Self::power(operation, key, block)
    }

    fn decryption(key: &Arc<card::rsa::Key>, block: Vec<u8>) -> Self {
        let operation = match key.bits() {
            2048 => Some(Operation::Rsa2048Decrypt),
            3072 => Some(Operation::Rsa3072Decrypt),
            4096 => Some(Operation::Rsa4096Decrypt),
            _ => None,
        };
        Self::power(operation, key, block)
    }

    /// RSA's private operation, under its name if it has one.
    fn power(operation: Option<Operation>, key: &Arc<card::rsa::Key>, block: Vec<u8>) -> Self {
        let key = Arc::clone(key);
        match operation {
            Some(operation) => Self::Named(Request::rsa(operation, key, block)),
            None => Self::RsaOfAnySize(key, block),
        }
    }

    /// What it could share the lanes with.
    pub(crate) fn kind(&self) -> Option<Kind> {
        match self {
            Self::Named(request) => Kind::of(request.operation()),
            Self::RsaOfAnySize(..) => None,
        }
    }

    /// Does it on this thread, alone.
    pub(crate) fn alone(&self, break_even: Option<&BreakEven>) -> Result<Output, Error> {
        match self {
            Self::Named(request) => match break_even {
                Some(break_even) => request.run_alone(break_even),
                None => request.run_scalar(),
            },
            Self::RsaOfAnySize(key, block) => {
                let mut output = Output::new(vec![0; key.length()]);
                let written = key.power(block, &mut output)?;
                output.truncate(written);
                Ok(output)
            }
        }
    }
}

/// What a key's policy is asked about an operation; nothing for what needs no private half.
pub(crate) fn policy_requests(
    operation: &wire::Operation<'_>,
) -> impl Iterator<Item = policy::Request> {
    use wire::Operation as Asked;
    let named = |digest: Option<wire::Digest>| digest.map_or(policy::Digest::Unnamed, of_policy);
    let sign = |padding, digest| policy::Request {
        operation: policy::Operation::Sign,
        padding,
        digest,
    };
    let derive = policy::Request {
        operation: policy::Operation::Derive,
        padding: None,
        digest: None,
    };
    let decrypt = |padding, digest: Option<wire::Digest>| policy::Request {
        operation: policy::Operation::Decrypt,
        padding: Some(padding),
        digest: digest.map(of_policy),
    };
    let pss = |digest| sign(Some(policy::Padding::Pss), Some(of_policy(digest)));
    let requests = match *operation {
        Asked::Describe | Asked::Find { .. } | Asked::List { .. } | Asked::Verb { .. } => {
            [None, None]
        }
        Asked::Pkcs1 { digest, .. } => {
            let padding = Some(policy::Padding::Pkcs1);
            [Some(sign(padding, Some(named(digest)))), None]
        }
        Asked::Pss { digest, mgf1, .. } => [Some(pss(digest)), Some(pss(mgf1))],
        Asked::Ecdsa { digest, .. } => [Some(sign(None, Some(named(digest)))), None],
        Asked::Ecdh { .. } => [Some(derive), None],
        Asked::Ed25519 { .. } => [Some(sign(None, None)), None],
        Asked::Decrypt { encryption, .. } => match encryption {
            wire::Encryption::Pkcs1 | wire::Encryption::Premaster { .. } => {
                [Some(decrypt(policy::Padding::Pkcs1, None)), None]
            }
            wire::Encryption::Oaep { digest, mgf1, .. } => {
                [digest, mgf1].map(|digest| Some(decrypt(policy::Padding::Oaep, Some(digest))))
            }
        },
    };
    requests.into_iter().flatten()
}

fn of_policy(digest: wire::Digest) -> policy::Digest {
    match digest {
        wire::Digest::Md5Sha1 => policy::Digest::Md5Sha1,
        wire::Digest::Sha1 => policy::Digest::Sha1,
        wire::Digest::Sha224 => policy::Digest::Sha224,
        wire::Digest::Sha256 => policy::Digest::Sha256,
        wire::Digest::Sha384 => policy::Digest::Sha384,
        wire::Digest::Sha512 => policy::Digest::Sha512,
    }
}

fn engine(digest: wire::Digest) -> Digest {
    match digest {
        wire::Digest::Md5Sha1 => Digest::Md5Sha1,
        wire::Digest::Sha1 => Digest::Sha1,
        wire::Digest::Sha224 => Digest::Sha224,
        wire::Digest::Sha256 => Digest::Sha256,
        wire::Digest::Sha384 => Digest::Sha384,
        wire::Digest::Sha512 => Digest::Sha512,
    }
}
