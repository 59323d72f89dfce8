//! What stands in the objects of a key that is made here, or that the card service has.

use cryptoki_sys::*;
use der::asn1::{OctetStringRef, UintRef};
use der::{Decode, Encode};
use outboard_engine::scalar::ec::Curve;
use outboard_engine::scalar::pair::{Kind, Pair, Private};
use outboard_engine::scalar::x25519;
use outboard_wire::{KeyType, Public};
use zeroize::Zeroizing;

use super::attributes::{bits, number};
use super::lattice::Lattice;
use super::material::Named;
use super::private_info::{PrivateKeyInfo, RsaPrivateKey};
use crate::error::{Error, Result};

/// Attributes with their values.
pub(super) type Values = Vec<(CK_ATTRIBUTE_TYPE, Zeroizing<Vec<u8>>)>;

/// What the two halves of a key say of themselves.
#[derive(Default)]
pub(crate) struct Halves {
    public: Values,
    private: Values,
}

impl Halves {
    /// What the public half says, with attributes' types.
    pub(crate) fn public(&self) -> Vec<(CK_ATTRIBUTE_TYPE, &[u8])> {
        borrowed(&self.public)
    }

    /// What the private half says.
    pub(crate) fn private(&self) -> Vec<(CK_ATTRIBUTE_TYPE, &[u8])> {
        borrowed(&self.private)
    }

    /// A new key pair.
    ///
    /// # Errors
    /// The engine's.
    pub(crate) fn generate(what: What) -> Result<Self> {
        match what {
            What::X25519 => {
                let private = x25519::generate()?;
                let public = x25519::public_of(&private);
                let mut halves = Self::of_curve(Named::X25519, CKK_EC_MONTGOMERY, &public)?;
                halves.add_classes();
                halves
                    .private
                    .push((CKA_VALUE, Zeroizing::new(private.to_vec())));
                Ok(halves)
            }
            What::Lattice(lattice) => lattice.generate(),
            What::Pair(kind) => Self::of_pair(&Pair::generate(kind)?),
        }
    }

    /// What the halves say of a key pair that the card service is to make: all but its numbers.
    pub(crate) fn expected(kind: KeyType, curve: Option<&[u8]>) -> Self {
        let key_type = match kind {
            KeyType::Rsa(_) => CKK_RSA,
            KeyType::Ed25519 => CKK_EC_EDWARDS,
            _ => CKK_EC,
        };
        let mut private = vec![(CKA_KEY_TYPE, Zeroizing::new(number(key_type)))];
        private.extend(curve.map(|curve| (CKA_EC_PARAMS, Zeroizing::new(curve.to_vec()))));
        let mut public = private.clone();
        if let KeyType::Rsa(bits) = kind {
            public.push((CKA_MODULUS_BITS, Zeroizing::new(number(bits.into()))));
        }
        Self::of(public, private)
    }

    /// A pair with what its halves say besides their classes.
    pub(super) fn of(public: Values, private: Values) -> Self {
        let mut halves = Self { public, private };
        halves.add_classes();
        halves
    }

    /// Calls the curve as the program does: by its object identifier, or by its name.
    pub(crate) fn call_curve(&mut self, parameters: &[u8]) {
        for (kind, value) in self.public.iter_mut().chain(&mut self.private) {
            if *kind == CKA_EC_PARAMS {
                *value = Zeroizing::new(parameters.to_vec());
            }
        }
    }

    /// A key pair of a PrivateKeyInfo (RFC 5958).
    ///
    /// # Errors
    /// The engine's: it is none, or of a type that is not read.
    pub(crate) fn read(info: &[u8]) -> Result<Self> {
        Self::of_pair(&Pair::from_info(info)?)
    }

    fn of_pair(pair: &Pair) -> Result<Self> {
        let mut halves = halves(&pair.public)?;
        halves.add_secrets(pair)?;
        Ok(halves)
    }

    fn add_classes(&mut self) {
        let class = |class| (CKA_CLASS, Zeroizing::new(number(class)));
        self.public.push(class(CKO_PUBLIC_KEY));
        self.private.push(class(CKO_PRIVATE_KEY));
    }

    fn add_secrets(&mut self, pair: &Pair) -> Result<()> {
        let bad = |_| Error::from(CKR_GENERAL_ERROR);
        match &pair.private {
            Private::Rsa(_) => {
                let info = PrivateKeyInfo::from_der(&pair.info).map_err(bad)?;
                let key = RsaPrivateKey::from_der(info.key.as_bytes()).map_err(bad)?;
                self.private.extend([
                    (CKA_PRIVATE_EXPONENT, of_number(&key.d)),
                    (CKA_PRIME_1, of_number(&key.p)),
                    (CKA_PRIME_2, of_number(&key.q)),
                    (CKA_EXPONENT_1, of_number(&key.dp)),
                    (CKA_EXPONENT_2, of_number(&key.dq)),
                    (CKA_COEFFICIENT, of_number(&key.qinv)),
                ]);
            }
            Private::Ec(key) => self.private.push((CKA_VALUE, key.number()?)),
            Private::Ed25519(key) => {
                let seed = Zeroizing::new(key.seed().to_vec());
                self.private.push((CKA_VALUE, seed));
            }
        }
        Ok(())
    }

    fn of_curve(named: Named, key_type: CK_KEY_TYPE, point: &[u8]) -> Result<Self> {
        let string = OctetStringRef::new(point).and_then(|string| string.to_der());
        let string = string.map_err(|_| Error::from(CKR_GENERAL_ERROR))?;
        let both = [
            (CKA_KEY_TYPE, number(key_type)),
            (CKA_EC_PARAMS, named.parameters().to_vec()),
        ];
        let both = || {
            both.iter()
                .map(|(kind, value)| (*kind, Zeroizing::new(value.clone())))
        };
        let mut halves = Self {
            public: both().collect(),
            private: both().collect(),
        };
        halves.public.push((CKA_EC_POINT, Zeroizing::new(string)));
        Ok(halves)
    }
}

/// What key pair is wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    Pair(Kind),
    X25519,
    Lattice(Lattice),
}

impl What {
    /// What the card service calls it; none where it makes no such keys.
    pub(crate) fn of_service(self) -> Option<KeyType> {
        Some(match self {
            Self::Pair(Kind::Rsa(bits)) => KeyType::Rsa(u16::try_from(bits).ok()?),
            Self::Pair(Kind::Ec(Curve::P256)) => KeyType::P256,
            Self::Pair(Kind::Ec(Curve::P384)) => KeyType::P384,
            Self::Pair(Kind::Ec(Curve::P521)) => KeyType::P521,
            Self::Pair(Kind::Ed25519) => KeyType::Ed25519,
            _ => return None,
        })
    }
}

/// What is known of a key by its SubjectPublicKeyInfo.
///
/// # Errors
/// It is none, or of a type that the module does not have.
pub(crate) fn halves(public: &[u8]) -> Result<Halves> {
    let mut halves = match Public::of(public).ok_or(CKR_CURVE_NOT_SUPPORTED)? {
        Public::Rsa { n, e } => {
            let number_of = |bytes: &[u8]| Zeroizing::new(bytes.to_vec());
            let both = [
                (CKA_KEY_TYPE, Zeroizing::new(number(CKK_RSA))),
                (CKA_MODULUS, number_of(n)),
                (CKA_PUBLIC_EXPONENT, number_of(e)),
            ];
            let bits = (CKA_MODULUS_BITS, Zeroizing::new(bits(n)));
            Halves {
                public: both.iter().cloned().chain([bits]).collect(),
                private: both.to_vec(),
            }
        }
        Public::Ec { curve, point } => {
            let curve = match curve {
                KeyType::P256 => Curve::P256,
                KeyType::P384 => Curve::P384,
                KeyType::P521 => Curve::P521,
                _ => return Err(CKR_CURVE_NOT_SUPPORTED.into()),
            };
            Halves::of_curve(Named::Nist(curve), CKK_EC, point)?
        }
        Public::Ed25519(half) => Halves::of_curve(Named::Ed25519, CKK_EC_EDWARDS, half)?,
    };
    halves.add_classes();
    for values in [&mut halves.public, &mut halves.private] {
        values.push((CKA_PUBLIC_KEY_INFO, Zeroizing::new(public.to_vec())));
    }
    Ok(halves)
}

fn of_number(number: &UintRef<'_>) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(number.as_bytes().to_vec())
}

fn borrowed(values: &Values) -> Vec<(CK_ATTRIBUTE_TYPE, &[u8])> {
    let mut borrowed = Vec::with_capacity(values.len());
    for (kind, value) in values {
        borrowed.push((*kind, value.as_slice()));
    }
    borrowed
}
