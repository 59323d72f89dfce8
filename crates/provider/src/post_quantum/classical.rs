//! The classical half of a hybrid key: X25519, or a curve's point.

use std::sync::Arc;

use outboard_engine::card::{self, Request};
use outboard_engine::scalar::ec::{self, Curve, Form};
use outboard_engine::scalar::x25519;
use outboard_engine::{Operation, Path};
use outboard_provider_abi::{Error, Reason, Result};
use zeroize::Zeroizing;

use crate::outboard::{Shared, refuse};

/// The length of either half of an X25519 key, and of its secret, in bytes.
const LENGTH: usize = 32;
/// What a point that is not compressed begins with.
const UNCOMPRESSED: u8 = 4;

/// Which key exchange it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exchange {
    X25519,
    Ecdh(Curve),
}

/// A key, public or private.
#[derive(Clone)]
pub(super) enum Key {
    X25519 {
        /// On the heap: what is moved leaves a copy behind.
        private: Option<Box<Zeroizing<[u8; LENGTH]>>>,
        public: [u8; LENGTH],
    },
    Ec(Arc<ec::Key>),
}

impl Exchange {
    /// The length of a public half, in bytes.
    pub(super) fn public_length(self) -> usize {
        match self {
            Self::X25519 => LENGTH,
            Self::Ecdh(curve) => 1 + 2 * curve.field_length(),
        }
    }

    /// The length of a private half and of a secret, in bytes.
    pub(super) fn secret_length(self) -> usize {
        match self {
            Self::X25519 => LENGTH,
            Self::Ecdh(curve) => curve.field_length(),
        }
    }

    /// A new key.
    pub(super) fn generate(self, shared: &Shared) -> Result<Key> {
        match self.made(shared) {
            // A sandbox that refuses randomness to the engine: the program's own may go on.
            Err(error) if error.reason() == Reason::Randomness => self.drawn(shared),
            made => made,
        }
    }

    /// A new key of the program's own randomness.
    fn drawn(self, shared: &Shared) -> Result<Key> {
        let mut private = Zeroizing::new(vec![0; self.secret_length()]);
        match self {
            Self::X25519 => {
                shared.randomise(&mut private)?;
                let own: &[u8; LENGTH] = private[..].try_into().map_err(|_| Reason::Internal)?;
                self.pair(own, &x25519::public_of(own))
            }
            Self::Ecdh(curve) => {
                // A number beyond the curve's order is one in 2^32 at P-256, and refused.
                for _ in 0..8 {
                    shared.randomise(&mut private)?;
                    if let Ok(key) = ec::Key::private(curve, &private, None) {
                        return Ok(Key::Ec(Arc::new(key)));
                    }
                }
                Err(Reason::Randomness.into())
            }
        }
    }

    fn made(self, shared: &Shared) -> Result<Key> {
        match self {
            Self::X25519 => {
                let halves = run(shared, Request::x25519_generate())?;
                let (private, public) = halves.split_at_checked(LENGTH).ok_or(Reason::Internal)?;
                self.pair(private, public)
            }
            Self::Ecdh(curve) => {
                let halves = run(shared, Request::ec_generate(curve))?;
                let key = ec::Key::pair(curve, &halves).map_err(refuse)?;
                Ok(Key::Ec(Arc::new(key)))
            }
        }
    }

    /// A peer's key. Points are checked to be on the curve, and are not compressed.
    pub(super) fn public(self, bytes: &[u8]) -> Result<Key> {
        if bytes.len() != self.public_length() {
            return Err(Reason::InvalidKey.into());
        }
        match self {
            Self::X25519 => Ok(Key::X25519 {
                private: None,
                public: bytes.try_into().map_err(|_| Reason::Internal)?,
            }),
            Self::Ecdh(_) if bytes.first() != Some(&UNCOMPRESSED) => {
                Err(Error::new(Reason::InvalidKey, "the point is compressed"))
            }
            Self::Ecdh(curve) => {
                let key = ec::Key::public(curve, bytes).map_err(refuse)?;
                Ok(Key::Ec(Arc::new(key)))
            }
        }
    }

    /// The key of both halves.
    pub(super) fn pair(self, private: &[u8], public: &[u8]) -> Result<Key> {
        match self {
            Self::X25519 => {
                let mut own = Box::new(Zeroizing::new([0; LENGTH]));
                if private.len() != LENGTH {
                    return Err(Reason::InvalidKey.into());
                }
                own.copy_from_slice(private);
                let public = public.try_into().map_err(|_| Reason::InvalidKey)?;
                Ok(Key::X25519 {
                    private: Some(own),
                    public,
                })
            }
            Self::Ecdh(curve) => {
                let key = ec::Key::private(curve, private, Some(public)).map_err(refuse)?;
                Ok(Key::Ec(Arc::new(key)))
            }
        }
    }
}

impl Key {
    /// The public half as TLS sends it.
    pub(super) fn public_bytes(&self) -> Result<Vec<u8>> {
        match self {
            Self::X25519 { public, .. } => Ok(public.to_vec()),
            Self::Ec(key) => key.point(Form::Uncompressed).map_err(refuse),
        }
    }

    /// The private half; none where it is not known.
    pub(super) fn private_bytes(&self) -> Result<Option<Zeroizing<Vec<u8>>>> {
        match self {
            Self::X25519 { private, .. } => {
                let private = private.as_ref();
                Ok(private.map(|private| Zeroizing::new(private.to_vec())))
            }
            Self::Ec(key) if key.is_private() => key.number().map(Some).map_err(refuse),
            Self::Ec(_) => Ok(None),
        }
    }

    /// The same key without its private half.
    pub(super) fn to_public(&self) -> Result<Self> {
        match self {
            Self::X25519 { public, .. } => Ok(Self::X25519 {
                private: None,
                public: *public,
            }),
            Self::Ec(key) => {
                let point = key.point(Form::Uncompressed).map_err(refuse)?;
                let key = ec::Key::public(key.curve(), &point).map_err(refuse)?;
                Ok(Self::Ec(Arc::new(key)))
            }
        }
    }

    /// The secret that it shares with a peer; an error where X25519's secret would be zero (RFC 8446, 7.4.2).
    pub(super) fn derive(&self, shared: &Shared, peer: &Self) -> Result<Zeroizing<Vec<u8>>> {
        let request = match (self, peer) {
            (
                Self::X25519 {
                    private: Some(private),
                    ..
                },
                Self::X25519 { public, .. },
            ) => Request::x25519(private, public),
            (Self::Ec(key), Self::Ec(peer)) => {
                Request::ecdh(Arc::clone(key), Arc::clone(peer)).map_err(refuse)?
            }
            _ => return Err(Reason::InvalidKey.into()),
        };
        run(shared, request)
    }
}

/// Runs a request where the profile says. A job of OpenSSL's is never paused here: the caller owns secrets on its stack.
fn run(shared: &Shared, request: Request) -> Result<card::Output> {
    let operation: Operation = request.operation();
    let in_lanes = matches!(shared.path(operation), Path::Wide | Path::Card);
    let result = match in_lanes && shared.job().is_none() {
        true => card::run(request),
        false => request.run_scalar(),
    };
    result.map_err(refuse)
}
