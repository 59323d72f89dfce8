//! The keys that workloads use: made once by stock, then the same on both sides.

use std::cell::RefCell;
use std::collections::HashMap;

use outboard_libcrypto::{Context, Key, Params, Structure};
use zeroize::Zeroizing;

use crate::Result;

/// A type of key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyKind {
    /// RSA with a modulus of so many bits.
    Rsa(usize),
    /// NIST P-256.
    P256,
    /// NIST P-384.
    P384,
    /// NIST P-521.
    P521,
    /// X25519.
    X25519,
    /// Ed25519.
    Ed25519,
}

impl KeyKind {
    /// Every kind that servers use.
    pub const ALL: &[Self] = &[
        Self::Rsa(2048),
        Self::Rsa(3072),
        Self::Rsa(4096),
        Self::P256,
        Self::P384,
        Self::P521,
        Self::X25519,
        Self::Ed25519,
    ];

    /// OpenSSL's name of the type.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::Rsa(_) => "RSA",
            Self::P256 | Self::P384 | Self::P521 => "EC",
            Self::X25519 => "X25519",
            Self::Ed25519 => "ED25519",
        }
    }

    /// The name as operations have it: `rsa-2048`, `p256`.
    pub fn name(self) -> String {
        match self {
            Self::Rsa(bits) => format!("rsa-{bits}"),
            Self::P256 => "p256".into(),
            Self::P384 => "p384".into(),
            Self::P521 => "p521".into(),
            Self::X25519 => "x25519".into(),
            Self::Ed25519 => "ed25519".into(),
        }
    }

    /// What key generation is told.
    pub fn generation(self) -> Params {
        match self {
            Self::Rsa(bits) => Params::new().unsigned(c"bits", bits),
            Self::P256 => Params::new().text(c"group", "P-256"),
            Self::P384 => Params::new().text(c"group", "P-384"),
            Self::P521 => Params::new().text(c"group", "P-521"),
            Self::X25519 | Self::Ed25519 => Params::new(),
        }
    }

    /// The digest that usually goes with it; none where the scheme brings its own.
    pub fn digest(self) -> Option<&'static str> {
        match self {
            Self::Rsa(_) | Self::P256 => Some("SHA256"),
            Self::P384 => Some("SHA384"),
            Self::P521 => Some("SHA512"),
            Self::X25519 | Self::Ed25519 => None,
        }
    }
}

type Pem = Zeroizing<Vec<u8>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Owner {
    Us,
    Peer,
}

/// Keys made at their first use.
#[derive(Debug)]
pub struct Keys {
    maker: Context,
    /// PKCS #8 in PEM, as servers store keys.
    pem: RefCell<HashMap<(KeyKind, Owner), Pem>>,
}

impl Keys {
    /// Keys that `maker` makes.
    pub fn new(maker: &Context) -> Self {
        Self {
            maker: maker.clone(),
            pem: RefCell::default(),
        }
    }

    /// Our key of that kind, read from PEM into `context` as a server reads its key.
    pub fn private(&self, context: &Context, kind: KeyKind) -> Result<Key> {
        Ok(Key::from_pem(context, &self.pem(kind, Owner::Us)?, None)?)
    }

    /// Our key's public half, as a peer reads it from a certificate.
    pub fn public(&self, context: &Context, kind: KeyKind) -> Result<Key> {
        Ok(Key::public_from_der(context, &self.public_der(kind)?)?)
    }

    /// The public half of another key of that kind.
    pub fn peer(&self, context: &Context, kind: KeyKind) -> Result<Key> {
        let pem = self.pem(kind, Owner::Peer)?;
        let der = Key::from_pem(&self.maker, &pem, None)?.to_der(Structure::PublicKeyInfo)?;
        Ok(Key::public_from_der(context, &der)?)
    }

    /// Our key as PEM.
    pub fn private_pem(&self, kind: KeyKind) -> Result<Pem> {
        self.pem(kind, Owner::Us)
    }

    /// Our key's public half as PEM.
    pub fn public_pem(&self, kind: KeyKind) -> Result<Pem> {
        Ok(self
            .private(&self.maker, kind)?
            .to_pem(Structure::PublicKeyInfo)?)
    }

    /// Our key's public half as DER.
    pub fn public_der(&self, kind: KeyKind) -> Result<Pem> {
        Ok(self
            .private(&self.maker, kind)?
            .to_der(Structure::PublicKeyInfo)?)
    }

    /// The context that makes the keys: stock, whose word counts.
    pub fn maker(&self) -> &Context {
        &self.maker
    }

    fn pem(&self, kind: KeyKind, owner: Owner) -> Result<Pem> {
        if let Some(pem) = self.pem.borrow().get(&(kind, owner)) {
            return Ok(pem.clone());
        }
        let key = Key::generate(&self.maker, kind.type_name(), &kind.generation())?;
        let pem = key.to_pem(Structure::Pkcs8)?;
        self.pem.borrow_mut().insert((kind, owner), pem.clone());
        Ok(pem)
    }
}
