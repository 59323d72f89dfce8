//! RSA signatures: PKCS #1 v1.5 and PSS with the digests that the engine computes.

use std::sync::Arc;

use outboard_engine::card::Request;
use outboard_engine::ledger::Reason as Why;
use outboard_engine::scalar::digest::Digest;
use outboard_engine::scalar::rsa::{SaltLength, Scheme};
use outboard_provider_abi::params::{END, octets, text};
use outboard_provider_abi::raw::Param;
use outboard_provider_abi::signature::Purpose;
use outboard_provider_abi::{Error, ParamMut, ParamRef, Reason, Result};

use super::key::Key;
use crate::outboard::refuse;
use crate::signing::{Algorithm, SigningKey};

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
    type Key = Key;
    type Settings = Settings;
    const HASHES: bool = true;
    const GETTABLE: &'static [Param] = &[
        octets(c"algorithm-id"),
        text(c"pad-mode"),
        text(c"digest"),
        text(c"mgf1-digest"),
        text(c"saltlen"),
        END,
    ];
    const SETTABLE: &'static [Param] = &[
        text(c"digest"),
        text(c"properties"),
        text(c"pad-mode"),
        text(c"mgf1-digest"),
        text(c"mgf1-properties"),
        text(c"saltlen"),
        END,
    ];

    fn settings(key: &Key) -> Settings {
        Settings {
            only_pss: key.is_pss(),
            padding: if key.is_pss() {
                Padding::Pss
            } else {
                Padding::Pkcs1
            },
            mgf1: None,
            salt: Salt::Unset,
            modern_salt: key.shared().libcrypto_is_at_least(3, 1),
        }
    }

    fn set(settings: &mut Settings, param: &ParamRef<'_>) -> Result<bool> {
        match param.key() {
            b"pad-mode" => match code(param, &PADDINGS) {
                Some(1) if !settings.only_pss => settings.padding = Padding::Pkcs1,
                Some(6) => settings.padding = Padding::Pss,
                _ => return Ok(false),
            },
            b"saltlen" if settings.padding == Padding::Pss => {
                settings.salt = match code(param, &SALTS) {
                    Some(-1) => Salt::Digest,
                    Some(-2) => Salt::Auto,
                    Some(-3) => Salt::Max,
                    Some(-4) if settings.modern_salt => Salt::AutoDigestMax,
                    Some(bytes @ 0..) => Salt::Bytes(bytes as usize),
                    _ => return Ok(false),
                };
            }
            b"mgf1-digest" if settings.padding == Padding::Pss => {
                settings.mgf1 = Digest::from_name(param.text()?);
                return Ok(settings.mgf1.is_some());
            }
            // An empty query asks for nothing.
            b"properties" | b"mgf1-properties" => return Ok(param.text()?.is_empty()),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn get(_: &Settings, _: Option<Digest>, _: &mut ParamMut<'_>) -> Result<bool> {
        Ok(false)
    }

    fn objection(
        _key: &Key,
        settings: &Settings,
        digest: Option<Digest>,
        _purpose: Purpose,
    ) -> Option<Why> {
        match (settings.padding, digest) {
            // Which digest it would be is for the default provider to say.
            (Padding::Pss, None) => Some(Why::Digest),
            // Two digests side by side have no name of their own: only TLS 1.1 signs them.
            (Padding::Pss, Some(Digest::Md5Sha1)) => Some(Why::Digest),
            _ => None,
        }
    }

    fn sign(
        key: &Key,
        settings: &Settings,
        digest: Option<Digest>,
        data: &[u8],
        output: &mut [u8],
    ) -> Result<usize> {
        let key = key.native()?;
        let Some(digest) = digest else {
            return key.sign_unnamed(data, output).map_err(refuse);
        };
        if data.len() != digest.length() {
            return Err(Error::new(
                Reason::InvalidLength,
                "not as long as the digest",
            ));
        }
        let scheme = settings.scheme(digest, key.bits(), true)?;
        key.sign(scheme, digest, data, output).map_err(refuse)
    }

    fn request(
        key: &Key,
        settings: &Settings,
        digest: Option<Digest>,
        data: &[u8],
    ) -> Result<Request> {
        let operation = key.operation(true).ok_or(Reason::InvalidKey)?;
        let native = key.native()?;
        let block = match digest {
            None => native.encode_unnamed(data),
            Some(digest) if data.len() != digest.length() => {
                return Err(Error::new(
                    Reason::InvalidLength,
                    "not as long as the digest",
                ));
            }
            Some(digest) => {
                native.encode(settings.scheme(digest, native.bits(), true)?, digest, data)
            }
        };
        Ok(Request::rsa(
            operation,
            Arc::clone(native),
            block.map_err(refuse)?,
        ))
    }

    fn verify(
        key: &Key,
        settings: &Settings,
        digest: Option<Digest>,
        data: &[u8],
        signature: &[u8],
    ) -> Result<bool> {
        let key = key.native()?;
        let Some(digest) = digest else {
            return Ok(key.verify_unnamed(data, signature));
        };
        let scheme = settings.scheme(digest, key.bits(), false)?;
        Ok(key.verify(scheme, digest, data, signature))
    }
}

impl Settings {
    fn scheme(&self, digest: Digest, bits: usize, signing: bool) -> Result<Scheme> {
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
