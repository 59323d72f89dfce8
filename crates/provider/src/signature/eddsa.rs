//! Ed25519.

use std::ffi::CStr;
use std::sync::Arc;

use outboard_engine::Operation;
use outboard_engine::card::{self, Request};
use outboard_engine::ledger::Reason as Why;
use outboard_engine::scalar::digest::Digest;
use outboard_engine::scalar::ed25519;
use outboard_provider_abi::{ParamRef, Reason, Result};
use outboard_wire::Operation as Asked;

use super::{Algorithm, Native};
use crate::key::{Ed25519, Key, KeyType, Service};
use crate::outboard::refuse;

/// Ed25519's signatures.
pub(crate) struct Eddsa;

impl Algorithm for Eddsa {
    type Key = Ed25519;
    type Settings = ();
    const NAME: &'static CStr = c"ED25519";
    const HASHES: bool = false;

    fn operation(key: &Native<Self>, signing: bool) -> Option<Operation> {
        match signing {
            true => key.private().map(|_| Operation::Ed25519Sign),
            false => key.public().map(|_| Operation::Ed25519Verify),
        }
    }

    fn most(_: &Native<Self>) -> usize {
        ed25519::SIGNATURE_LENGTH
    }

    fn settings(_: &Key<Ed25519>) {}

    fn is_certain(key: &Key<Ed25519>) -> bool {
        key.native().is_some_and(|native| native.public().is_some())
    }

    // Variants with a context or a prehash are stock's, where it has them.
    fn take(_: &mut (), _: Option<Digest>, _: &ParamRef<'_>) -> bool {
        false
    }

    fn objection(_: &(), _: Option<Digest>) -> Option<Why> {
        None
    }

    fn sign(
        key: &Native<Self>,
        _: &(),
        _: Option<Digest>,
        data: &[u8],
        output: &mut [u8],
    ) -> Result<usize> {
        let signature = output.first_chunk_mut().ok_or(Reason::BufferTooSmall)?;
        let private = private(key)?;
        private.sign(data, signature).map_err(refuse)?;
        Ok(ed25519::SIGNATURE_LENGTH)
    }

    fn request(key: &Native<Self>, _: &(), _: Option<Digest>, data: &[u8]) -> Result<Request> {
        let prepared = key.prepared(|private, public| {
            let private = ed25519::Private::of_halves(private, public);
            Arc::new(card::ed25519::Key::new(private))
        });
        let prepared = prepared.ok_or(Reason::InvalidKey)?;
        Request::ed25519(Arc::clone(prepared), data).map_err(refuse)
    }

    fn asked<'a>(_: &Service, _: &(), _: Option<Digest>, message: &'a [u8]) -> Result<Asked<'a>> {
        Ok(Asked::Ed25519 { message })
    }

    fn verify(
        key: &Native<Self>,
        _: &(),
        _: Option<Digest>,
        data: &[u8],
        signature: &[u8],
    ) -> Result<bool> {
        let public = key.public().ok_or(Reason::InvalidKey)?;
        Ok(ed25519::verify(public, data, signature))
    }
}

fn private(key: &<Ed25519 as KeyType>::Native) -> Result<ed25519::Private> {
    match (key.private(), key.public()) {
        (Some(private), Some(public)) => Ok(ed25519::Private::of_halves(private, public)),
        _ => Err(Reason::InvalidKey.into()),
    }
}
