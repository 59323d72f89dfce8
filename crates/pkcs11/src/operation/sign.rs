//! Signatures.

use std::sync::Arc;

use cryptoki_sys::*;
use der::asn1::UintRef;
use der::{Decode, Sequence};
use outboard_engine::Operation::{Rsa2048Sign, Rsa3072Sign, Rsa4096Sign};
use outboard_engine::card::{self, Request};
use outboard_engine::scalar::digest::{Digest, Hasher};
use outboard_engine::scalar::ed25519;
use outboard_engine::scalar::rsa::{SaltLength, Scheme};
use outboard_wire::{Digest as AskedDigest, Operation as Asked, Salt};
use zeroize::Zeroizing;

use super::computation::{Bytes, Computation, Function, Manner};
use super::hash;
use super::mac::{Coding, OrCode};
use super::rsa::power;
use crate::abi::Output;
use crate::coprocessor::{Kind, ServiceKey};
use crate::error::{Error, Result};
use crate::mechanism::{Mechanism, Sign, SignScheme, What};
use crate::module::{self, Module};
use crate::object::{Material, Object};
use crate::session::Session;

/// A signature under way.
pub(crate) struct Signing {
    key: Arc<Object>,
    sign: Sign,
    /// What has come of a message in parts.
    hasher: Option<Hasher>,
    manner: Manner,
}

/// An ECDSA signature as the engine has it (RFC 3279, 2.2.3).
#[derive(Sequence)]
pub(super) struct Pair<'a> {
    pub(super) r: UintRef<'a>,
    pub(super) s: UintRef<'a>,
}

fn place(session: &mut Session) -> &mut Option<OrCode<Signing>> {
    &mut session.signing
}

impl Module {
    /// `C_SignInit`
    pub(crate) fn sign_init(
        &self,
        session: CK_SESSION_HANDLE,
        mechanism: &Mechanism,
        key: CK_OBJECT_HANDLE,
    ) -> Result<()> {
        let manner = self.manner(session, CKF_SIGN)?;
        let key = self.key(session, key)?;
        if let What::Code(code, length) = &mechanism.what {
            let coding = Coding::new(&key, code, *length)?;
            key.admit(CKA_SIGN, mechanism.kind)?;
            return self.begin(session, place, OrCode::Code(coding));
        }
        let What::Sign(sign) = &mechanism.what else {
            return Err(CKR_MECHANISM_INVALID.into());
        };
        fits(&key.material, &sign.scheme)?;
        key.admit(CKA_SIGN, mechanism.kind)?;
        let (sign, hasher) = (sign.clone(), None);
        let signing = Signing {
            key,
            sign,
            hasher,
            manner,
        };
        self.begin(session, place, OrCode::Signature(signing))
    }

    /// `C_Sign`
    pub(crate) fn sign(
        &self,
        session: CK_SESSION_HANDLE,
        data: &[u8],
        mut output: Output<'_>,
    ) -> Result<()> {
        let signing = match self.take(session, place)? {
            OrCode::Signature(signing) => signing,
            OrCode::Code(coding) => return self.code(session, coding, Some(data), output),
        };
        if signing.hasher.is_some() {
            return Err(CKR_OPERATION_ACTIVE.into());
        }
        match output.is_question(length(&signing.key.material)) {
            Ok(false) => {
                let signature = match signing.sign.hash {
                    Some(digest) => signing.finish(self, &hash(digest, data)?)?,
                    None => signing.finish(self, data)?,
                };
                self.give(session, Function::Sign, signature, output)
            }
            answer => {
                self.put_back(session, place, OrCode::Signature(signing));
                answer.map(drop)
            }
        }
    }

    /// `C_SignUpdate`
    pub(crate) fn sign_update(&self, session: CK_SESSION_HANDLE, part: &[u8]) -> Result<()> {
        let mut signing = self.take(session, place)?;
        match &mut signing {
            OrCode::Signature(Signing { hasher, sign, .. }) => go_on(hasher, sign, part)?,
            OrCode::Code(coding) => coding.update(part)?,
        }
        self.put_back(session, place, signing);
        Ok(())
    }

    /// `C_SignFinal`
    pub(crate) fn sign_final(
        &self,
        session: CK_SESSION_HANDLE,
        mut output: Output<'_>,
    ) -> Result<()> {
        let mut signing = match self.take(session, place)? {
            OrCode::Signature(signing) => signing,
            OrCode::Code(coding) => return self.code(session, coding, None, output),
        };
        match output.is_question(length(&signing.key.material)) {
            Ok(false) => {
                let value = end(&mut signing.hasher, &signing.sign)?;
                let signature = signing.finish(self, &value)?;
                self.give(session, Function::SignFinal, signature, output)
            }
            answer => {
                self.put_back(session, place, OrCode::Signature(signing));
                answer.map(drop)
            }
        }
    }

    /// The code of all that came, with the rest of the message.
    fn code(
        &self,
        session: CK_SESSION_HANDLE,
        coding: Coding,
        whole: Option<&[u8]>,
        mut output: Output<'_>,
    ) -> Result<()> {
        coding.admit(whole)?;
        match output.is_question(coding.length()) {
            Ok(false) => output.put(&coding.finish(whole)?),
            answer => {
                self.put_back(session, place, OrCode::Code(coding));
                answer.map(drop)
            }
        }
    }
}

/// Takes a part of a message that the module hashes.
pub(super) fn go_on(hasher: &mut Option<Hasher>, sign: &Sign, part: &[u8]) -> Result<()> {
    let digest = sign.hash.ok_or(CKR_FUNCTION_NOT_SUPPORTED)?;
    let mut hash = match hasher.take() {
        Some(hash) => hash,
        None => Hasher::new(digest)?,
    };
    hash.update(part)?;
    *hasher = Some(hash);
    Ok(())
}

/// The digest of the parts.
pub(super) fn end(
    hasher: &mut Option<Hasher>,
    sign: &Sign,
) -> Result<outboard_engine::scalar::digest::Value> {
    go_on(hasher, sign, &[])?;
    let hasher = hasher.take().ok_or(CKR_GENERAL_ERROR)?;
    Ok(hasher.end()?)
}

/// Whether a key's type is the scheme's.
pub(super) fn fits(key: &Material, scheme: &SignScheme) -> Result<()> {
    use SignScheme::{Ecdsa, Eddsa, MlDsa, Pkcs1, Pss, Raw};
    if let Material::Service(key) = key {
        return match (key.kind, scheme) {
            // The service adds every padding itself.
            (Kind::Rsa, Raw) => Err(CKR_MECHANISM_INVALID.into()),
            (Kind::Rsa, Pkcs1 | Pss(..)) | (Kind::Ec, Ecdsa) | (Kind::Ed25519, Eddsa) => Ok(()),
            _ => Err(CKR_KEY_TYPE_INCONSISTENT.into()),
        };
    }
    match (key, scheme) {
        (Material::Rsa(_), Pkcs1 | Raw | Pss(..))
        | (Material::Ec(_), Ecdsa)
        | (Material::Ed25519(_) | Material::Ed25519Public(_), Eddsa)
        | (Material::MlDsa(_), MlDsa(_)) => Ok(()),
        _ => Err(CKR_KEY_TYPE_INCONSISTENT.into()),
    }
}

/// The length of a key's signatures.
pub(super) fn length(key: &Material) -> usize {
    match key {
        Material::Rsa(key) => key.length(),
        Material::Ec(key) => 2 * key.curve().field_length(),
        Material::Ed25519(_) | Material::Ed25519Public(_) => ed25519::SIGNATURE_LENGTH,
        Material::MlDsa(key) => key.set().signature_length(),
        Material::Service(key) => key.length,
        _ => 0,
    }
}

impl Signing {
    /// The signature of a digest, or of what the program gave instead.
    fn finish(&self, module: &Module, value: &[u8]) -> Result<Computation<Bytes>> {
        let manner = self.manner;
        Ok(match &self.key.material {
            Material::Rsa(key) => rsa(module, key, &self.sign, value, manner)?,
            Material::Ec(key) => {
                if value.is_empty() {
                    return Err(CKR_DATA_LEN_RANGE.into());
                }
                let length = 2 * key.curve().field_length();
                let request = Request::ecdsa(Arc::clone(key), value)?;
                let signature = module.compute(request, manner);
                signature.map(move |signature| halves_of(&signature?, length))
            }
            Material::Ed25519(key) => {
                module.compute(Request::ed25519(Arc::clone(key), value)?, manner)
            }
            Material::Service(key) => by_service(module, key, &self.sign, value, manner)?,
            Material::MlDsa(key) => {
                let SignScheme::MlDsa(context) = &self.sign.scheme else {
                    return Err(CKR_KEY_TYPE_INCONSISTENT.into());
                };
                let path = module::path(key.set().signing());
                Computation::Done(Ok(Bytes::new(key.sign(path, value, context)?)))
            }
            _ => return Err(CKR_KEY_TYPE_INCONSISTENT.into()),
        })
    }
}

/// An ECDSA signature as PKCS #11 has it: both numbers, each as long as the field.
fn halves_of(signature: &[u8], length: usize) -> Result<Zeroizing<Vec<u8>>> {
    let pair = Pair::from_der(signature).map_err(|_| CKR_GENERAL_ERROR)?;
    let mut halves = Zeroizing::new(vec![0; length]);
    let (r, s) = halves.split_at_mut(length / 2);
    for (half, number) in [(r, pair.r), (s, pair.s)] {
        let number = number.as_bytes();
        let start = half.len().checked_sub(number.len());
        half[start.ok_or(CKR_GENERAL_ERROR)?..].copy_from_slice(number);
    }
    Ok(halves)
}

/// The service pads: it is told which digest the value is.
fn by_service(
    module: &Module,
    key: &ServiceKey,
    sign: &Sign,
    value: &[u8],
    manner: Manner,
) -> Result<Computation<Bytes>> {
    let named = |digest| asked(digest).ok_or(Error::from(CKR_MECHANISM_PARAM_INVALID));
    let operation = match &sign.scheme {
        SignScheme::Pkcs1 => match sign.hash {
            Some(digest) => Asked::Pkcs1 {
                digest: Some(named(digest)?),
                value,
            },
            None => pkcs1_of(value),
        },
        SignScheme::Pss(digest, Scheme::Pss { mgf1, salt }) => Asked::Pss {
            digest: named(*digest)?,
            mgf1: named(*mgf1)?,
            salt: match salt {
                SaltLength::Bytes(bytes) => {
                    let bytes = u16::try_from(*bytes).map_err(|_| CKR_MECHANISM_PARAM_INVALID)?;
                    Salt::Bytes(bytes)
                }
                SaltLength::Digest | SaltLength::Auto => Salt::Digest,
            },
            value,
        },
        SignScheme::Ecdsa => {
            let digest = sign.hash.map(named).transpose()?;
            let signature = module.ask(key, Asked::Ecdsa { digest, value }, manner);
            let length = key.length;
            return Ok(signature.map(move |signature| halves_of(&signature?, length)));
        }
        SignScheme::Eddsa => Asked::Ed25519 { message: value },
        SignScheme::Pss(..) | SignScheme::Raw | SignScheme::MlDsa(_) => {
            return Err(CKR_MECHANISM_INVALID.into());
        }
    };
    Ok(module.ask(key, operation, manner))
}

/// What a program wants signed by PKCS #1 v1.5: a digest, where it named one as RFC 8017 (9.2) says, for a key's policy speaks
/// of digests.
fn pkcs1_of(value: &[u8]) -> Asked<'_> {
    /// The beginning of each DigestInfo.
    const NAMES: [(AskedDigest, &[u8]); 5] = [
        (
            AskedDigest::Sha1,
            b"\x30\x21\x30\x09\x06\x05\x2b\x0e\x03\x02\x1a\x05\x00\x04\x14",
        ),
        (
            AskedDigest::Sha224,
            b"\x30\x2d\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x04\x05\x00\x04\x1c",
        ),
        (
            AskedDigest::Sha256,
            b"\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20",
        ),
        (
            AskedDigest::Sha384,
            b"\x30\x41\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x02\x05\x00\x04\x30",
        ),
        (
            AskedDigest::Sha512,
            b"\x30\x51\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x03\x05\x00\x04\x40",
        ),
    ];
    let named = NAMES.iter().find_map(|&(digest, name)| {
        let value = value.strip_prefix(name)?;
        let length = usize::from(*name.last()?);
        (value.len() == length).then_some((digest, value))
    });
    match named {
        Some((digest, value)) => Asked::Pkcs1 {
            digest: Some(digest),
            value,
        },
        None => Asked::Pkcs1 {
            digest: None,
            value,
        },
    }
}

/// How the service calls a digest.
pub(super) fn asked(digest: Digest) -> Option<AskedDigest> {
    Some(match digest {
        Digest::Sha1 => AskedDigest::Sha1,
        Digest::Sha224 => AskedDigest::Sha224,
        Digest::Sha256 => AskedDigest::Sha256,
        Digest::Sha384 => AskedDigest::Sha384,
        Digest::Sha512 => AskedDigest::Sha512,
        _ => return None,
    })
}

fn rsa(
    module: &Module,
    key: &Arc<card::rsa::Key>,
    sign: &Sign,
    value: &[u8],
    manner: Manner,
) -> Result<Computation<Bytes>> {
    let too_long = |_| Error::from(CKR_DATA_LEN_RANGE);
    let block = match (&sign.scheme, sign.hash) {
        (SignScheme::Pkcs1, Some(digest)) => key.encode(Scheme::Pkcs1, digest, value)?,
        (SignScheme::Pkcs1, None) => key.encode_unnamed(value).map_err(too_long)?,
        (SignScheme::Pss(digest, scheme), _) => {
            key.encode(*scheme, *digest, value).map_err(too_long)?
        }
        _ => unpadded(key.length(), value)?,
    };
    let operations = [Rsa2048Sign, Rsa3072Sign, Rsa4096Sign];
    Ok(power(module, key, block, operations, manner))
}

/// A number as long as the modulus, of bytes that may be fewer.
pub(super) fn unpadded(length: usize, value: &[u8]) -> Result<Vec<u8>> {
    let start = length.checked_sub(value.len()).ok_or(CKR_DATA_LEN_RANGE)?;
    let mut block = vec![0; length];
    block[start..].copy_from_slice(value);
    Ok(block)
}
