//! RSA signatures: PKCS #1 v1.5 and PSS with the digests that the engine computes.

use std::ffi::CStr;
use std::sync::Arc;

use outboard_engine::Operation;
use outboard_engine::card::{self, Request};
use outboard_engine::ledger::Reason as Why;
use outboard_engine::scalar::digest::Digest;
use outboard_engine::scalar::rsa::{SaltLength, Scheme};
use outboard_provider_abi::{Error, ParamRef, Reason, Result};
use outboard_wire::{Digest as AskedDigest, Operation as Asked, Salt as AskedSalt};

use super::Algorithm;
use crate::key::{self, Key, RSA, RSA_PSS, Service};
use crate::outboard::refuse;

type Native = Arc<card::rsa::Key>;

/// RSA's signatures.
pub(crate) struct Rsa;

/// What a program has set.
#[derive(Clone)]
pub(crate) struct Settings {
    /// Whether the key signs by PSS alone.
    only_pss: bool,
    padding: Padding,
    mgf1: Option<Digest>,
    salt: Salt,
    /// Whether the salt defaults to the digest's length (since 3.1) or to the most that fits.
    modern_salt: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Padding {
    Pkcs1,
    Pss,
}

/// The ways to give the salt's length (`RSA_PSS_SALTLEN_…`).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Salt {
    Unset,
    Bytes(usize),
    Digest,
    Auto,
    Max,
    AutoDigestMax,
}

impl Algorithm for Rsa {
    type Key = key::Rsa;
    type Settings = Settings;
    const NAME: &'static CStr = c"RSA";
    const HASHES: bool = true;

    fn operation(key: &Native, signing: bool) -> Option<Operation> {
        if signing && !key.is_private() {
            return None;
        }
        key::operation(key.bits(), signing)
    }

    fn most(key: &Native) -> usize {
        key.length()
    }

    fn settings(key: &Key<key::Rsa>) -> Settings {
        let only_pss = key.variant() == RSA_PSS;
        Settings {
            only_pss,
            padding: match only_pss {
                true => Padding::Pss,
                false => Padding::Pkcs1,
            },
            mgf1: None,
            salt: Salt::Unset,
            modern_salt: key.shared().libcrypto_is_at_least(3, 1),
        }
    }

    fn is_certain(key: &Key<key::Rsa>) -> bool {
        key.variant() == RSA && key.native().is_some()
    }

    fn take(settings: &mut Settings, digest: Option<Digest>, param: &ParamRef<'_>) -> bool {
        match param.key() {
            b"pad-mode" => match code(param, &PADDINGS) {
                Some(1) if !settings.only_pss => settings.padding = Padding::Pkcs1,
                // Without a digest stock takes one of its own.
                Some(6) if digest.is_some() => settings.padding = Padding::Pss,
                _ => return false,
            },
            b"saltlen" if settings.padding == Padding::Pss => {
                settings.salt = match code(param, &SALTS) {
                    Some(-1) => Salt::Digest,
                    Some(-2) => Salt::Auto,
                    Some(-3) => Salt::Max,
                    Some(-4) if settings.modern_salt => Salt::AutoDigestMax,
                    Some(bytes @ 0..) => Salt::Bytes(bytes as usize),
                    _ => return false,
                };
            }
            b"mgf1-digest" if settings.padding == Padding::Pss => {
                settings.mgf1 = param.text().ok().and_then(Digest::from_name);
                return settings.mgf1.is_some();
            }
            _ => return false,
        }
        true
    }

    fn objection(settings: &Settings, digest: Option<Digest>) -> Option<Why> {
        match (settings.padding, digest) {
            // Which digest it would be is for stock to say.
            (Padding::Pss, None) => Some(Why::Digest),
            // Two digests side by side have no name of their own: only TLS 1.1 signs them.
            (Padding::Pss, Some(Digest::Md5Sha1)) => Some(Why::Digest),
            _ => None,
        }
    }

    fn sign(
        key: &Native,
        settings: &Settings,
        digest: Option<Digest>,
        data: &[u8],
        output: &mut [u8],
    ) -> Result<usize> {
        match digest {
            None => key.sign_unnamed(data, output),
            Some(digest) => {
                let scheme = settings.scheme(digest, key.bits(), data, true)?;
                key.sign(scheme, digest, data, output)
            }
        }
        .map_err(refuse)
    }

    fn request(
        key: &Native,
        settings: &Settings,
        digest: Option<Digest>,
        data: &[u8],
    ) -> Result<Request> {
        let operation = Self::operation(key, true).ok_or(Reason::InvalidKey)?;
        let block = match digest {
            None => key.encode_unnamed(data),
            Some(digest) => {
                let scheme = settings.scheme(digest, key.bits(), data, true)?;
                key.encode(scheme, digest, data)
            }
        };
        Ok(Request::rsa(
            operation,
            Arc::clone(key),
            block.map_err(refuse)?,
        ))
    }

    fn asked<'a>(
        key: &Service,
        settings: &Settings,
        digest: Option<Digest>,
        value: &'a [u8],
    ) -> Result<Asked<'a>> {
        let Some(named) = digest else {
            let digest = None;
            return Ok(Asked::Pkcs1 { digest, value });
        };
        let digest = asked(named).ok_or_else(|| key.unsupported())?;
        match settings.scheme(named, key.bits(), value, true)? {
            Scheme::Pkcs1 => Ok(Asked::Pkcs1 {
                digest: Some(digest),
                value,
            }),
            Scheme::Pss { mgf1, salt } => {
                let salt = match salt {
                    SaltLength::Bytes(bytes) => u16::try_from(bytes).ok().map(AskedSalt::Bytes),
                    SaltLength::Digest => Some(AskedSalt::Digest),
                    SaltLength::Auto => None,
                };
                Ok(Asked::Pss {
                    digest,
                    mgf1: asked(mgf1).ok_or_else(|| key.unsupported())?,
                    salt: salt.ok_or_else(|| key.unsupported())?,
                    value,
                })
            }
        }
    }

    fn verify(
        key: &Native,
        settings: &Settings,
        digest: Option<Digest>,
        data: &[u8],
        signature: &[u8],
    ) -> Result<bool> {
        let Some(digest) = digest else {
            return Ok(key.verify_unnamed(data, signature));
        };
        let scheme = settings.scheme(digest, key.bits(), data, false)?;
        Ok(key.verify(scheme, digest, data, signature))
    }
}

impl Settings {
    /// How data is padded that has to be as long as the digest.
    fn scheme(&self, digest: Digest, bits: usize, data: &[u8], signing: bool) -> Result<Scheme> {
        if data.len() != digest.length() {
            return Err(Reason::InvalidLength.into());
        }
        if self.padding == Padding::Pkcs1 {
            return Ok(Scheme::Pkcs1);
        }
        // RFC 8017, 9.1.1: the encoded message is one bit shorter than the modulus.
        let most = (bits - 1)
            .div_ceil(8)
            .checked_sub(digest.length() + 2)
            .ok_or_else(|| Error::new(Reason::InvalidKey, "too short for the digest"))?;
        let salt = match self.salt {
            Salt::Unset if self.modern_salt => Salt::AutoDigestMax,
            Salt::Unset => Salt::Auto,
            salt => salt,
        };
        let salt = match salt {
            Salt::Bytes(bytes) => SaltLength::Bytes(bytes),
            Salt::Digest => SaltLength::Digest,
            Salt::Max => SaltLength::Bytes(most),
            Salt::AutoDigestMax if signing => SaltLength::Bytes(most.min(digest.length())),
            Salt::Auto if signing => SaltLength::Bytes(most),
            Salt::Auto | Salt::AutoDigestMax | Salt::Unset => SaltLength::Auto,
        };
        Ok(Scheme::Pss {
            mgf1: self.mgf1.unwrap_or(digest),
            salt,
        })
    }
}

/// How the card service calls a digest; none where it has none such.
pub(crate) fn asked(digest: Digest) -> Option<AskedDigest> {
    Some(match digest {
        Digest::Md5Sha1 => AskedDigest::Md5Sha1,
        Digest::Sha1 => AskedDigest::Sha1,
        Digest::Sha224 => AskedDigest::Sha224,
        Digest::Sha256 => AskedDigest::Sha256,
        Digest::Sha384 => AskedDigest::Sha384,
        Digest::Sha512 => AskedDigest::Sha512,
        _ => return None,
    })
}

const PADDINGS: [(&str, i64); 2] = [("pkcs1", 1), ("pss", 6)];
const SALTS: [(&str, i64); 4] = [
    ("digest", -1),
    ("auto", -2),
    ("max", -3),
    ("auto-digestmax", -4),
];

/// A parameter that comes as a number, or as a text that is one of the names or a number.
fn code(param: &ParamRef<'_>, names: &[(&str, i64)]) -> Option<i64> {
    let Ok(text) = param.text() else {
        return param.integer().ok();
    };
    names
        .iter()
        .find(|(name, _)| *name == text)
        .map(|&(_, code)| code)
        .or_else(|| text.parse().ok())
}
