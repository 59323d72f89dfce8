//! ECDH.

use std::sync::Arc;

use outboard_engine::card::Request;
use outboard_engine::scalar::ec::{Curve, MAX_FIELD_LENGTH};
use outboard_engine::{Operation, Path};
use outboard_provider_abi::params::{END, integer, octets, text, unsigned};
use outboard_provider_abi::raw::Param;
use outboard_provider_abi::{Error, KeyExchange, ParamList, Params, ParamsMut, Reason, Result};
use zeroize::Zeroizing;

use super::key::Key;
use crate::outboard::{Outboard, refuse};
use crate::signing::SigningKey;
use crate::stock;

/// An exchange.
pub(crate) struct Exchange {
    key: Option<Arc<Key>>,
    peer: Option<Arc<Key>>,
    recorded: ParamList,
    /// Whether something was set that the engine does not know, such as a key derivation.
    foreign: bool,
}

impl KeyExchange for Exchange {
    type Key = Key;
    const GETTABLE: &'static [Param] = &[
        integer(c"ecdh-cofactor-mode"),
        text(c"kdf-type"),
        text(c"kdf-digest"),
        unsigned(c"kdf-outlen"),
        octets(c"kdf-ukm"),
        END,
    ];
    const SETTABLE: &'static [Param] = &[
        integer(c"ecdh-cofactor-mode"),
        text(c"kdf-type"),
        text(c"kdf-digest"),
        text(c"kdf-digest-props"),
        unsigned(c"kdf-outlen"),
        octets(c"kdf-ukm"),
        END,
    ];

    fn new(_provider: &Outboard) -> Result<Self> {
        Ok(Self::blank())
    }

    fn duplicate(&self) -> Result<Self> {
        Ok(Self {
            key: self.key.clone(),
            peer: self.peer.clone(),
            recorded: self.recorded.clone(),
            foreign: self.foreign,
        })
    }

    fn init(&mut self, key: Arc<Key>) -> Result<()> {
        *self = Self {
            key: Some(key),
            ..Self::blank()
        };
        Ok(())
    }

    fn set_peer(&mut self, key: Arc<Key>) -> Result<()> {
        self.peer = Some(key);
        Ok(())
    }

    fn derive(&mut self, output: Option<&mut [u8]>) -> Result<usize> {
        let (Some(key), Some(peer)) = (&self.key, &self.peer) else {
            return Err(Error::new(Reason::OutOfOrder, "both keys must be set"));
        };
        let (Some(ours), Some(theirs), false) = (key.native(), peer.native(), self.foreign) else {
            return self.stock()?.derive(output);
        };
        let length = ours.curve().field_length();
        let Some(output) = output else {
            return Ok(length);
        };
        // Ours even where the profile prefers stock: both keys are, and to hand them back costs more than the
        // two differ by.
        let operation = derive(ours.curve());
        // A shorter buffer takes as much of it, as of OpenSSL's own.
        let wanted = length.min(output.len());
        if wanted == 0 {
            return Err(Error::from(Reason::BufferTooSmall));
        }
        let mut room = Zeroizing::new([0; MAX_FIELD_LENGTH]);
        let secret = &mut room[..length];
        if key.shared().path(operation) == Path::Card {
            // Owns nothing while the card works: see `Shared::run_on_card`.
            let request = Request::ecdh(Arc::clone(ours), Arc::clone(theirs)).map_err(refuse)?;
            secret.copy_from_slice(&key.shared().run_on_card(request)?);
        } else {
            key.shared().run(Some(operation), Path::Scalar, || {
                ours.derive(theirs, secret).map_err(refuse)
            })?;
        }
        output[..wanted].copy_from_slice(&secret[..wanted]);
        Ok(wanted)
    }

    fn set(&mut self, params: Params<'_>) -> Result<()> {
        self.recorded.record(params);
        for param in params {
            self.foreign |= match param.key() {
                // All modes agree where the cofactor is one, as on every curve of the engine.
                b"ecdh-cofactor-mode" => false,
                b"kdf-type" => !param.text()?.is_empty(),
                _ => true,
            };
        }
        Ok(())
    }

    fn get(&mut self, mut params: ParamsMut<'_>) -> Result<()> {
        self.stock_without_peer()?.get(params.as_mut_ptr())
    }
}

impl Exchange {
    fn blank() -> Self {
        Self {
            key: None,
            peer: None,
            recorded: ParamList::new(),
            foreign: false,
        }
    }

    /// The default provider's exchange with all that was set.
    fn stock(&self) -> Result<stock::Exchange> {
        let mut exchange = self.stock_without_peer()?;
        if let Some(peer) = &self.peer {
            exchange.set_peer(&*peer.stock()?)?;
        }
        Ok(exchange)
    }

    fn stock_without_peer(&self) -> Result<stock::Exchange> {
        let key = self.key.as_ref().ok_or(Error::from(Reason::OutOfOrder))?;
        stock::Exchange::new(key.stock()?, &self.recorded)
    }
}

/// How the ledger calls deriving a secret.
fn derive(curve: Curve) -> Operation {
    match curve {
        Curve::P256 => Operation::P256Derive,
        Curve::P384 => Operation::P384Derive,
        Curve::P521 => Operation::P521Derive,
    }
}
