//! X25519: its keys and its exchange.

use std::ffi::CStr;
use std::sync::Arc;

use outboard_engine::card::Request;
use outboard_engine::scalar::x25519;
use outboard_engine::{Operation, Path, scalar};
use outboard_provider_abi::params::{END, octets};
use outboard_provider_abi::raw::Param;
use outboard_provider_abi::{Error, KeyExchange, Params, ParamsMut, Reason, Result, descriptors};
use zeroize::Zeroizing;

use crate::octet_key::{COMMON, LENGTH, OctetAlgorithm, OctetKey};
use crate::outboard::{Outboard, refuse};

/// X25519's keys.
pub(crate) struct X25519;

impl OctetAlgorithm for X25519 {
    const NAME: &'static CStr = c"X25519";
    const BITS: u64 = 253;
    const OUTPUT_LENGTH: u64 = 32;
    const KEYGEN: Operation = Operation::X25519Keygen;
    const EXCHANGES: bool = true;
    const GETTABLE: &'static [Param] = descriptors!(COMMON, [octets(c"encoded-pub-key")]);
    const SETTABLE: &'static [Param] = &[octets(c"encoded-pub-key"), END];

    type Prepared = ();

    fn generate() -> scalar::Result<Zeroizing<[u8; LENGTH]>> {
        x25519::generate()
    }

    fn generation() -> Option<Request> {
        Some(Request::x25519_generate())
    }

    fn public_of(private: &[u8; LENGTH]) -> [u8; LENGTH] {
        x25519::public_of(private)
    }
}

/// An exchange.
pub(crate) struct Exchange {
    key: Option<Arc<OctetKey<X25519>>>,
    peer: Option<Arc<OctetKey<X25519>>>,
}

impl KeyExchange for Exchange {
    type Key = OctetKey<X25519>;
    const GETTABLE: &'static [Param] = &[END];
    const SETTABLE: &'static [Param] = &[END];

    fn new(_provider: &Outboard) -> Result<Self> {
        Ok(Self {
            key: None,
            peer: None,
        })
    }

    fn duplicate(&self) -> Result<Self> {
        Ok(Self {
            key: self.key.clone(),
            peer: self.peer.clone(),
        })
    }

    fn init(&mut self, key: Arc<Self::Key>) -> Result<()> {
        self.peer = None;
        self.key = Some(key);
        Ok(())
    }

    fn set_peer(&mut self, key: Arc<Self::Key>) -> Result<()> {
        self.peer = Some(key);
        Ok(())
    }

    fn derive(&mut self, output: Option<&mut [u8]>) -> Result<usize> {
        let (Some(key), Some(peer)) = (&self.key, &self.peer) else {
            return Err(Error::new(Reason::OutOfOrder, "both keys must be set"));
        };
        let Some(output) = output else {
            return Ok(LENGTH);
        };
        let secret = output
            .first_chunk_mut()
            .ok_or(Error::from(Reason::BufferTooSmall))?;
        if key.shared().path(Operation::X25519Derive) == Path::Card {
            // Owns nothing while the card works: see `Shared::run_on_card`.
            let request = Request::x25519(key.private()?, peer.public()?);
            secret.copy_from_slice(&key.shared().run_on_card(request)?);
        } else {
            key.shared()
                .run(Some(Operation::X25519Derive), Path::Scalar, || {
                    x25519::derive(key.private()?, peer.public()?, secret).map_err(refuse)
                })?;
        }
        Ok(LENGTH)
    }

    fn set(&mut self, _params: Params<'_>) -> Result<()> {
        Ok(())
    }

    fn get(&mut self, _params: ParamsMut<'_>) -> Result<()> {
        Ok(())
    }
}
