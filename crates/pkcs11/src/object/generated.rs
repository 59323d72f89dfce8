//! What stands in the objects of a key that is made here, or that the card service has.

use cryptoki_sys::*;
use der::asn1::{AnyRef, BitStringRef, ObjectIdentifier, OctetStringRef, UintRef};
use der::{Decode, Encode, Sequence};
use outboard_engine::scalar::pair::{Kind, Pair, Private};
use outboard_engine::scalar::x25519;
use zeroize::Zeroizing;

use super::attributes::{bits, number};
use super::material::Named;
use crate::error::{Error, Result};

/// Attributes with their values.
type Values = Vec<(CK_ATTRIBUTE_TYPE, Zeroizing<Vec<u8>>)>;

/// What the two halves of a key say of themselves.
#[derive(Default)]
pub(crate) struct Halves {
    public: Values,
    private: Values,
}

/// RFC 8017, A.1.2, for keys of two primes.
#[derive(Sequence)]
pub(super) struct RsaPrivateKey<'a> {
    pub(super) version: u8,
    pub(super) n: UintRef<'a>,
    pub(super) e: UintRef<'a>,
    pub(super) d: UintRef<'a>,
    pub(super) p: UintRef<'a>,
    pub(super) q: UintRef<'a>,
    pub(super) dp: UintRef<'a>,
    pub(super) dq: UintRef<'a>,
    pub(super) qinv: UintRef<'a>,
}

/// RFC 5958; the attributes that may follow are none of our own keys'.
#[derive(Sequence)]
pub(super) struct PrivateKeyInfo<'a> {
    pub(super) version: u8,
    pub(super) algorithm: AlgorithmIdentifier<'a>,
    pub(super) key: &'a OctetStringRef,
}

/// RFC 5280, 4.1.
#[derive(Sequence)]
struct SubjectPublicKeyInfo<'a> {
    algorithm: AlgorithmIdentifier<'a>,
    key: BitStringRef<'a>,
}

#[derive(Sequence)]
pub(super) struct AlgorithmIdentifier<'a> {
    pub(super) algorithm: ObjectIdentifier,
    pub(super) parameters: Option<AnyRef<'a>>,
}

/// RFC 8017, A.1.1.
#[derive(Sequence)]
struct RsaPublicKey<'a> {
    n: UintRef<'a>,
    e: UintRef<'a>,
}

pub(super) const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
pub(super) const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");

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
            What::Pair(kind) => Self::of_pair(&Pair::generate(kind)?),
        }
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
}

/// What is known of a key by its SubjectPublicKeyInfo.
///
/// # Errors
/// It is none, or of a type that the module does not have.
pub(crate) fn halves(public: &[u8]) -> Result<Halves> {
    let bad = |_| Error::from(CKR_GENERAL_ERROR);
    let info = SubjectPublicKeyInfo::from_der(public).map_err(bad)?;
    let key = info.key.as_bytes().ok_or(CKR_GENERAL_ERROR)?;
    let mut halves = match info.algorithm.algorithm {
        RSA => {
            let key = RsaPublicKey::from_der(key).map_err(bad)?;
            let both = [
                (CKA_KEY_TYPE, Zeroizing::new(number(CKK_RSA))),
                (CKA_MODULUS, of_number(&key.n)),
                (CKA_PUBLIC_EXPONENT, of_number(&key.e)),
            ];
            let bits = (CKA_MODULUS_BITS, Zeroizing::new(bits(key.n.as_bytes())));
            Halves {
                public: both.iter().cloned().chain([bits]).collect(),
                private: both.to_vec(),
            }
        }
        EC => {
            let parameters = info.algorithm.parameters.ok_or(CKR_GENERAL_ERROR)?;
            let parameters = parameters.to_der().map_err(bad)?;
            let named = Named::from_parameters(&parameters).ok_or(CKR_CURVE_NOT_SUPPORTED)?;
            Halves::of_curve(named, CKK_EC, key)?
        }
        algorithm => {
            let algorithm = algorithm.to_der().map_err(bad)?;
            match Named::from_parameters(&algorithm) {
                Some(Named::Ed25519) => Halves::of_curve(Named::Ed25519, CKK_EC_EDWARDS, key)?,
                _ => return Err(CKR_CURVE_NOT_SUPPORTED.into()),
            }
        }
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
