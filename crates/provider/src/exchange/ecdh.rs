//! ECDH.

use std::ffi::CStr;
use std::sync::Arc;

use outboard_engine::Operation;
use outboard_engine::card::Request;
use outboard_engine::scalar::ec::{self, Curve, Form};
use outboard_provider_abi::{Reason, Result};

use super::{Algorithm, MOST_POINT};
use crate::key::{Ec, EcNative};
use crate::outboard::refuse;

/// ECDH's exchanges. All cofactor modes agree on the engine's curves, whose cofactor is one.
pub(crate) struct Ecdh;

impl Algorithm for Ecdh {
    type Key = Ec;
    const NAME: &'static CStr = c"ECDH";

    fn operation(key: &EcNative) -> Option<(Operation, usize)> {
        let key = key.key().filter(|key| key.is_private())?;
        let operation = match key.curve() {
            Curve::P256 => Operation::P256Derive,
            Curve::P384 => Operation::P384Derive,
            Curve::P521 => Operation::P521Derive,
        };
        Some((operation, key.curve().field_length()))
    }

    fn fits(key: &EcNative, peer: &EcNative) -> bool {
        match (key.key(), peer.public()) {
            (Some(key), Some(peer)) => key.curve() == peer.curve(),
            _ => false,
        }
    }

    fn derive(key: &EcNative, peer: &EcNative, secret: &mut [u8]) -> Result<()> {
        let (key, peer) = both(key, peer)?;
        key.derive(peer, secret).map_err(refuse)
    }

    fn point<'a>(peer: &EcNative, room: &'a mut [u8; MOST_POINT]) -> Option<&'a [u8]> {
        let point = peer.public()?.point(Form::Uncompressed).ok()?;
        let room = room.get_mut(..point.len())?;
        room.copy_from_slice(&point);
        Some(room)
    }

    fn request(key: &EcNative, peer: &EcNative) -> Result<Request> {
        let (key, peer) = both(key, peer)?;
        Request::ecdh(Arc::clone(key), Arc::clone(peer)).map_err(refuse)
    }
}

fn both<'a>(key: &'a EcNative, peer: &'a EcNative) -> Result<(&'a Arc<ec::Key>, &'a Arc<ec::Key>)> {
    match (key.key(), peer.key()) {
        (Some(key), Some(peer)) => Ok((key, peer)),
        _ => Err(Reason::InvalidKey.into()),
    }
}
