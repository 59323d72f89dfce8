//! Keys that are ready to compute, made of an object's attributes.

use std::sync::Arc;

use cryptoki_sys::*;
use outboard_engine::card;
use outboard_engine::scalar::ec::{self, Curve};
use outboard_engine::scalar::ed25519;
use outboard_engine::scalar::rsa::{self, Numbers, PrivateNumbers};
use outboard_engine::{dsa, kem};
use zeroize::Zeroizing;

use super::attributes::Attributes;
use super::{lattice, secret};
use crate::coprocessor::ServiceKey;
use crate::error::{Error, Result};

/// A key.
#[derive(Clone)]
pub(crate) enum Material {
    /// None that computes: data, a certificate, a secret, X25519's public half.
    None,
    /// RSA, either half.
    Rsa(Arc<card::rsa::Key>),
    /// A key of a NIST curve, either half.
    Ec(Arc<ec::Key>),
    /// Ed25519's private half.
    Ed25519(Arc<card::ed25519::Key>),
    /// Ed25519's public half.
    Ed25519Public([u8; ed25519::LENGTH]),
    /// X25519's private half.
    X25519(Arc<Zeroizing<[u8; 32]>>),
    /// ML-KEM, either half.
    MlKem(Arc<kem::Key>),
    /// ML-DSA, either half.
    MlDsa(Arc<dsa::Key>),
    /// The private half of a key of the card service.
    Service(Arc<ServiceKey>),
}

/// A curve as `CKA_EC_PARAMS` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    /// One of NIST's.
    Nist(Curve),
    Ed25519,
    X25519,
}

/// The first name is the one that keys get that are made here: an object identifier in DER (RFC 5480, RFC 8410). The second
/// is a printable string.
const CURVES: [(Named, [&[u8]; 2]); 5] = [
    (
        Named::Nist(Curve::P256),
        [
            b"\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07",
            b"\x13\x05P-256",
        ],
    ),
    (
        Named::Nist(Curve::P384),
        [b"\x06\x05\x2b\x81\x04\x00\x22", b"\x13\x05P-384"],
    ),
    (
        Named::Nist(Curve::P521),
        [b"\x06\x05\x2b\x81\x04\x00\x23", b"\x13\x05P-521"],
    ),
    (
        Named::Ed25519,
        [b"\x06\x03\x2b\x65\x70", b"\x13\x0cedwards25519"],
    ),
    (
        Named::X25519,
        [b"\x06\x03\x2b\x65\x6e", b"\x13\x0acurve25519"],
    ),
];

impl Named {
    /// The curve of `CKA_EC_PARAMS`.
    pub(crate) fn from_parameters(parameters: &[u8]) -> Option<Self> {
        let found = CURVES.iter().find(|(_, names)| names.contains(&parameters));
        found.map(|&(named, _)| named)
    }

    /// The `CKA_EC_PARAMS` of keys that are made here.
    pub(crate) fn parameters(self) -> &'static [u8] {
        let found = CURVES.iter().find(|(named, _)| *named == self);
        found.map_or(&[], |(_, names)| names[0])
    }

    /// The type of its keys.
    fn key_type(self) -> CK_KEY_TYPE {
        match self {
            Self::Nist(_) => CKK_EC,
            Self::Ed25519 => CKK_EC_EDWARDS,
            Self::X25519 => CKK_EC_MONTGOMERY,
        }
    }

    /// The bytes of a public half.
    fn public_length(self) -> usize {
        match self {
            Self::Nist(curve) => 1 + 2 * curve.field_length(),
            Self::Ed25519 | Self::X25519 => 32,
        }
    }
}

impl Material {
    /// The key of an object.
    ///
    /// # Errors
    /// `CKR_ATTRIBUTE_VALUE_INVALID`: its numbers make none. `CKR_CURVE_NOT_SUPPORTED`.
    pub(crate) fn of(attributes: &Attributes) -> Result<Self> {
        let Some(key_type) = attributes.number(CKA_KEY_TYPE) else {
            return Ok(Self::None);
        };
        let is_private = attributes.number(CKA_CLASS) == Some(CKO_PRIVATE_KEY);
        match key_type {
            CKK_RSA => rsa(attributes, is_private),
            _ if secret::is_type(key_type) => Ok(Self::None),
            _ if lattice::is_type(key_type) => lattice::material(attributes, is_private),
            _ => curve(attributes, key_type, is_private),
        }
    }
}

fn rsa(attributes: &Attributes, is_private: bool) -> Result<Material> {
    let of = |kind| attributes.get(kind).ok_or(CKR_TEMPLATE_INCOMPLETE);
    let private = match is_private {
        true => Some(PrivateNumbers {
            d: of(CKA_PRIVATE_EXPONENT)?,
            p: of(CKA_PRIME_1)?,
            q: of(CKA_PRIME_2)?,
            dp: of(CKA_EXPONENT_1)?,
            dq: of(CKA_EXPONENT_2)?,
            qinv: of(CKA_COEFFICIENT)?,
        }),
        false => None,
    };
    let key = rsa::Key::new(&Numbers {
        n: of(CKA_MODULUS)?,
        e: of(CKA_PUBLIC_EXPONENT)?,
        private,
    })?;
    Ok(Material::Rsa(Arc::new(card::rsa::Key::new(key))))
}

fn curve(attributes: &Attributes, key_type: CK_KEY_TYPE, is_private: bool) -> Result<Material> {
    let invalid = || Error::from(CKR_ATTRIBUTE_VALUE_INVALID);
    let parameters = attributes
        .get(CKA_EC_PARAMS)
        .ok_or(CKR_TEMPLATE_INCOMPLETE)?;
    let named = Named::from_parameters(parameters).ok_or(CKR_CURVE_NOT_SUPPORTED)?;
    if named.key_type() != key_type {
        return Err(CKR_TEMPLATE_INCONSISTENT.into());
    }
    let point = attributes
        .get(CKA_EC_POINT)
        .filter(|point| !point.is_empty());
    let point = point.map(|point| point_of(point, named)).transpose()?;
    let value = attributes.get(CKA_VALUE);
    let value = match is_private {
        true => Some(value.ok_or(CKR_TEMPLATE_INCOMPLETE)?),
        false => None,
    };
    Ok(match (named, value) {
        (Named::Nist(curve), Some(number)) => {
            let key = ec::Key::private(curve, number, point)?;
            if point.is_some() && !key.check() {
                return Err(invalid());
            }
            Material::Ec(Arc::new(key))
        }
        (Named::Nist(curve), None) => Material::Ec(Arc::new(ec::Key::public(
            curve,
            point.ok_or_else(invalid)?,
        )?)),
        (Named::Ed25519, Some(seed)) => {
            let seed: Zeroizing<[u8; 32]> = Zeroizing::new(seed.try_into().map_err(|_| invalid())?);
            let key = ed25519::Private::from_seed(&seed);
            if point.is_some_and(|point| point != key.public()) {
                return Err(invalid());
            }
            Material::Ed25519(Arc::new(card::ed25519::Key::new(key)))
        }
        (Named::X25519, Some(number)) => {
            let number = number.try_into().map_err(|_| invalid())?;
            Material::X25519(Arc::new(Zeroizing::new(number)))
        }
        (named, None) => {
            let point = point
                .ok_or_else(invalid)?
                .try_into()
                .map_err(|_| invalid())?;
            match named {
                Named::X25519 => Material::None,
                _ => Material::Ed25519Public(point),
            }
        }
    })
}

/// A public half: in an octet string, as the standard says, or bare, as many programs give it.
pub(crate) fn point_of(given: &[u8], named: Named) -> Result<&[u8]> {
    let length = named.public_length();
    if given.len() == length {
        return Ok(given);
    }
    <&der::asn1::OctetStringRef as der::Decode>::from_der(given)
        .map(|string| string.as_bytes())
        .ok()
        .filter(|point| point.len() == length)
        .ok_or(CKR_ATTRIBUTE_VALUE_INVALID.into())
}
