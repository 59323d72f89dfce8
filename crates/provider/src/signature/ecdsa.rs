//! ECDSA.

use std::ffi::CStr;
use std::sync::Arc;

use outboard_engine::Operation;
use outboard_engine::card::Request;
use outboard_engine::ledger::Reason as Why;
use outboard_engine::scalar::digest::Digest;
use outboard_engine::scalar::ec::{self, Curve};
use outboard_provider_abi::{ParamRef, Reason, Result};
use outboard_wire::Operation as Asked;

use super::Algorithm;
use crate::key::{Ec, EcNative, Key, Service};
use crate::outboard::refuse;

/// ECDSA's signatures.
pub(crate) struct Ecdsa;

impl Algorithm for Ecdsa {
    type Key = Ec;
    type Settings = ();
    const NAME: &'static CStr = c"ECDSA";
    const HASHES: bool = true;

    fn operation(key: &EcNative, signing: bool) -> Option<Operation> {
        let key = match signing {
            true => key.key().filter(|key| key.is_private())?,
            false => key.public()?,
        };
        Some(match (key.curve(), signing) {
            (Curve::P256, true) => Operation::P256Sign,
            (Curve::P256, false) => Operation::P256Verify,
            (Curve::P384, true) => Operation::P384Sign,
            (Curve::P384, false) => Operation::P384Verify,
            (Curve::P521, true) => Operation::P521Sign,
            (Curve::P521, false) => Operation::P521Verify,
        })
    }

    /// Stock tells it of a curve alone, too.
    fn most(key: &EcNative) -> usize {
        key.curve().max_signature_length()
    }

    fn settings(_: &Key<Ec>) {}

    fn is_certain(key: &Key<Ec>) -> bool {
        key.native().is_some_and(|native| native.key().is_some())
    }

    fn take(_: &mut (), _: Option<Digest>, param: &ParamRef<'_>) -> bool {
        // The default: random nonces.
        param.key() == b"nonce-type" && param.unsigned().is_ok_and(|kind| kind == 0)
    }

    fn objection(_: &(), _: Option<Digest>) -> Option<Why> {
        None
    }

    fn sign(
        key: &EcNative,
        _: &(),
        digest: Option<Digest>,
        data: &[u8],
        output: &mut [u8],
    ) -> Result<usize> {
        whole(key, digest, data)?.sign(data, output).map_err(refuse)
    }

    fn request(key: &EcNative, _: &(), digest: Option<Digest>, data: &[u8]) -> Result<Request> {
        let key = whole(key, digest, data)?;
        Request::ecdsa(Arc::clone(key), data).map_err(refuse)
    }

    fn asked<'a>(
        key: &Service,
        _: &(),
        digest: Option<Digest>,
        value: &'a [u8],
    ) -> Result<Asked<'a>> {
        if digest.is_some_and(|digest| digest.length() != value.len()) {
            return Err(key.error(Reason::InvalidLength, "the digest has another length"));
        }
        let digest = digest.and_then(super::rsa::asked);
        Ok(Asked::Ecdsa { digest, value })
    }

    fn verify(
        key: &EcNative,
        _: &(),
        digest: Option<Digest>,
        data: &[u8],
        signature: &[u8],
    ) -> Result<bool> {
        Ok(whole(key, digest, data)?.verify(data, signature))
    }
}

/// The key, where the data is as long as the digest that was named.
fn whole<'a>(key: &'a EcNative, digest: Option<Digest>, data: &[u8]) -> Result<&'a Arc<ec::Key>> {
    if digest.is_some_and(|digest| digest.length() != data.len()) {
        return Err(Reason::InvalidLength.into());
    }
    key.key().ok_or(Reason::InvalidKey.into())
}
