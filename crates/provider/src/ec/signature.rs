//! ECDSA.

use std::sync::Arc;

use outboard_engine::card::Request;
use outboard_engine::ledger::Reason as Why;
use outboard_engine::scalar::digest::Digest;
use outboard_provider_abi::params::{END, octets, text, unsigned};
use outboard_provider_abi::raw::Param;
use outboard_provider_abi::signature::Purpose;
use outboard_provider_abi::{Error, ParamMut, ParamRef, Reason, Result};

use super::key::Key;
use crate::outboard::refuse;
use crate::signing::Algorithm;

/// ECDSA's signatures.
pub(crate) struct Ecdsa;

impl Algorithm for Ecdsa {
    type Key = Key;
    type Settings = ();
    const HASHES: bool = true;
    const GETTABLE: &'static [Param] = &[
        octets(c"algorithm-id"),
        unsigned(c"digest-size"),
        text(c"digest"),
        unsigned(c"nonce-type"),
        END,
    ];
    const SETTABLE: &'static [Param] = &[
        text(c"digest"),
        unsigned(c"digest-size"),
        text(c"properties"),
        unsigned(c"nonce-type"),
        END,
    ];

    fn settings(_key: &Key) {}

    fn set(_settings: &mut (), param: &ParamRef<'_>) -> Result<bool> {
        match param.key() {
            // An empty query asks for nothing.
            b"properties" => Ok(param.text()?.is_empty()),
            // The default: random nonces.
            b"nonce-type" => Ok(param.unsigned()? == 0),
            _ => Ok(false),
        }
    }

    fn get(_settings: &(), digest: Option<Digest>, param: &mut ParamMut<'_>) -> Result<bool> {
        match (param.key(), digest) {
            (b"digest-size", Some(digest)) => param.set_unsigned(digest.length() as u64)?,
            (b"digest", Some(digest)) => param.set_text(digest.name())?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn objection(_: &Key, _: &(), _: Option<Digest>, _: Purpose) -> Option<Why> {
        None
    }

    fn sign(
        key: &Key,
        _settings: &(),
        digest: Option<Digest>,
        data: &[u8],
        output: &mut [u8],
    ) -> Result<usize> {
        fits(digest, data)?;
        let key = key.native().ok_or(Reason::InvalidKey)?;
        key.sign(data, output).map_err(refuse)
    }

    fn request(key: &Key, _settings: &(), digest: Option<Digest>, data: &[u8]) -> Result<Request> {
        fits(digest, data)?;
        let key = key.native().ok_or(Reason::InvalidKey)?;
        Request::ecdsa(Arc::clone(key), data).map_err(refuse)
    }

    fn verify(
        key: &Key,
        _settings: &(),
        digest: Option<Digest>,
        data: &[u8],
        signature: &[u8],
    ) -> Result<bool> {
        fits(digest, data)?;
        let key = key.native().ok_or(Reason::InvalidKey)?;
        Ok(key.verify(data, signature))
    }
}

/// Whether the data is as long as the digest that was named.
fn fits(digest: Option<Digest>, data: &[u8]) -> Result<()> {
    match digest {
        Some(digest) if digest.length() != data.len() => Err(Error::new(
            Reason::InvalidLength,
            "not as long as the digest",
        )),
        _ => Ok(()),
    }
}
