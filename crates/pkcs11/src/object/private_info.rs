//! Private keys as they are wrapped: PrivateKeyInfo (RFC 5958), in DER.

use cryptoki_sys::*;
use der::Encode;
use der::asn1::{AnyRef, BitStringRef, ObjectIdentifier, OctetStringRef, UintRef};
use der::{Decode, Sequence};
use zeroize::Zeroizing;

use super::{Material, Named, Object};
use crate::error::{Error, Result};

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

#[derive(Sequence)]
pub(super) struct AlgorithmIdentifier<'a> {
    pub(super) algorithm: ObjectIdentifier,
    pub(super) parameters: Option<AnyRef<'a>>,
}

const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");

/// RFC 5915, 3; the curve stands beside it.
#[derive(Sequence)]
struct EcPrivateKey<'a> {
    version: u8,
    number: &'a OctetStringRef,
    #[asn1(context_specific = "1", optional = "true")]
    public: Option<BitStringRef<'a>>,
}

impl Object {
    /// The PrivateKeyInfo of a private key.
    ///
    /// # Errors
    /// `CKR_KEY_NOT_WRAPPABLE`: it is of a type that is not read again.
    pub(crate) fn private_info(&self) -> Result<Zeroizing<Vec<u8>>> {
        let attributes = &self.attributes;
        let get = |kind| {
            attributes
                .get(kind)
                .ok_or(Error::from(CKR_KEY_NOT_WRAPPABLE))
        };
        let failed = |_| Error::from(CKR_FUNCTION_FAILED);
        let integer = |kind| UintRef::new(get(kind)?).map_err(failed);
        let null = AnyRef::NULL;
        let (algorithm, parameters, key) = match &self.material {
            Material::Rsa(_) => {
                let key = RsaPrivateKey {
                    version: 0,
                    n: integer(CKA_MODULUS)?,
                    e: integer(CKA_PUBLIC_EXPONENT)?,
                    d: integer(CKA_PRIVATE_EXPONENT)?,
                    p: integer(CKA_PRIME_1)?,
                    q: integer(CKA_PRIME_2)?,
                    dp: integer(CKA_EXPONENT_1)?,
                    dq: integer(CKA_EXPONENT_2)?,
                    qinv: integer(CKA_COEFFICIENT)?,
                };
                (RSA, Some(null), key.to_der().map_err(failed)?)
            }
            Material::Ec(key) => {
                let named = Named::Nist(key.curve()).parameters();
                let named = AnyRef::from_der(named).map_err(failed)?;
                let number = key.number()?;
                let key = EcPrivateKey {
                    version: 1,
                    number: OctetStringRef::new(&number).map_err(failed)?,
                    public: None,
                };
                (EC, Some(named), key.to_der().map_err(failed)?)
            }
            Material::Ed25519(_) => {
                let named = Named::Ed25519.parameters();
                let named = ObjectIdentifier::from_der(named).map_err(failed)?;
                let seed = OctetStringRef::new(get(CKA_VALUE)?).map_err(failed)?;
                (named, None, seed.to_der().map_err(failed)?)
            }
            _ => return Err(CKR_KEY_NOT_WRAPPABLE.into()),
        };
        let key = Zeroizing::new(key);
        let info = PrivateKeyInfo {
            version: 0,
            algorithm: AlgorithmIdentifier {
                algorithm,
                parameters,
            },
            key: OctetStringRef::new(&key).map_err(failed)?,
        };
        Ok(Zeroizing::new(info.to_der().map_err(failed)?))
    }
}
