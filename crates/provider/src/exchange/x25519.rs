//! X25519.

use std::ffi::CStr;

use outboard_engine::Operation;
use outboard_engine::card::Request;
use outboard_engine::scalar::x25519;
use outboard_provider_abi::{Reason, Result};

use super::Algorithm;
use crate::key::{self, KeyType, LENGTH};
use crate::outboard::refuse;

/// X25519's exchanges.
pub(crate) struct X25519;

type Native = <key::X25519 as KeyType>::Native;

impl Algorithm for X25519 {
    type Key = key::X25519;
    const NAME: &'static CStr = c"X25519";

    fn operation(key: &Native) -> Option<(Operation, usize)> {
        key.private().map(|_| (Operation::X25519Derive, LENGTH))
    }

    fn fits(_: &Native, peer: &Native) -> bool {
        peer.public().is_some()
    }

    fn derive(key: &Native, peer: &Native, secret: &mut [u8]) -> Result<()> {
        let (key, peer) = both(key, peer)?;
        let secret = secret.try_into().map_err(|_| Reason::Internal)?;
        x25519::derive(key, peer, secret).map_err(refuse)
    }

    fn request(key: &Native, peer: &Native) -> Result<Request> {
        let (key, peer) = both(key, peer)?;
        Ok(Request::x25519(key, peer))
    }
}

fn both<'a>(key: &'a Native, peer: &'a Native) -> Result<(&'a [u8; 32], &'a [u8; 32])> {
    match (key.private(), peer.public()) {
        (Some(key), Some(peer)) => Ok((key, peer)),
        _ => Err(Reason::InvalidKey.into()),
    }
}
