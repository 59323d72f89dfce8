//! Key exchange: the engine derives from plain keys, stock does everything else.
//!
//! Stock's context is made when it is first needed: a setting, a question, a key or a peer that the engine does
//! not hold, or that does not fit; or a secret that the engine does not derive.

mod ecdh;
mod x25519;

pub(crate) use ecdh::Ecdh;
pub(crate) use x25519::X25519;

use std::ffi::{CStr, c_int};
use std::sync::Arc;

use outboard_engine::card::Request;
use outboard_engine::{Operation, Path};
use outboard_provider_abi::raw::Param;
use outboard_provider_abi::{Error, KeyExchange, Output, Params, ParamsMut, Reason, Result};
use outboard_wire::Operation as Asked;
use zeroize::Zeroizing;

use crate::key::{Key, KeyType, Service};
use crate::outboard::{Outboard, Shared};
use crate::stock;

/// What differs between key exchanges.
pub(crate) trait Algorithm: Send + 'static {
    /// Its keys.
    type Key: KeyType;
    /// Its name.
    const NAME: &'static CStr;

    /// How the ledger calls deriving with a key, and how long the secret is; none where the engine does not.
    fn operation(key: &<Self::Key as KeyType>::Native) -> Option<(Operation, usize)>;
    /// Whether that is a peer of the key's kind.
    fn fits(key: &<Self::Key as KeyType>::Native, peer: &<Self::Key as KeyType>::Native) -> bool;
    /// Derives the secret into a buffer of its length.
    fn derive(
        key: &<Self::Key as KeyType>::Native,
        peer: &<Self::Key as KeyType>::Native,
        secret: &mut [u8],
    ) -> Result<()>;
    /// Writes a peer's point, not compressed, for the card service; none where that does not do the exchange.
    fn point<'a>(
        _: &<Self::Key as KeyType>::Native,
        _: &'a mut [u8; MOST_POINT],
    ) -> Option<&'a [u8]> {
        None
    }
    /// The same as a request to a card.
    fn request(
        key: &<Self::Key as KeyType>::Native,
        peer: &<Self::Key as KeyType>::Native,
    ) -> Result<Request>;
}

/// The longest secret of any algorithm.
const MOST: usize = 66;
/// The longest point of any curve, not compressed.
const MOST_POINT: usize = 1 + 2 * MOST;

/// A key exchange context.
pub(crate) struct Context<A: Algorithm> {
    shared: Arc<Shared>,
    key: Option<Arc<Key<A::Key>>>,
    peer: Option<Arc<Key<A::Key>>>,
    /// Whether the engine derives from the two.
    plain: bool,
    /// Whether a program has set anything.
    set: bool,
    /// Stock's context; none where it is certain what it would have answered so far.
    stock: Option<stock::Exchange>,
}

impl<A: Algorithm> KeyExchange for Context<A> {
    type Key = Key<A::Key>;

    fn new(provider: &Outboard) -> Result<Option<Self>> {
        Ok(Some(Self {
            shared: provider.shared(),
            key: None,
            peer: None,
            plain: false,
            set: false,
            stock: None,
        }))
    }

    fn duplicate(&mut self) -> Result<Option<Self>> {
        Ok(Some(Self {
            shared: Arc::clone(&self.shared),
            key: self.key.clone(),
            peer: self.peer.clone(),
            plain: self.plain,
            set: self.set,
            stock: self
                .stock
                .as_ref()
                .map(stock::Exchange::duplicate)
                .transpose()?,
        }))
    }

    fn init(&mut self, key: Option<Arc<Key<A::Key>>>, params: Params<'_>) -> Result<c_int> {
        let native = key.as_ref().and_then(|key| key.native());
        let plain = native.is_some_and(|native| A::operation(native).is_some());
        let fresh = self.key.is_none() && self.stock.is_none();
        let answer = match plain && fresh && params.is_empty() {
            true => 1,
            false => {
                let stocks = key.as_ref().map(|key| key.stock()).transpose()?;
                self.stock()?.init(stocks.map(Arc::as_ref), params)
            }
        };
        self.plain = plain && answer == 1 && params.is_empty();
        self.set = !params.is_empty();
        if answer == 1 {
            (self.key, self.peer) = (key, None);
        }
        Ok(answer)
    }

    fn set_peer(&mut self, peer: Option<Arc<Key<A::Key>>>) -> Result<c_int> {
        let fits = match (self.ours(), peer.as_ref().and_then(|peer| peer.native())) {
            (Some(key), Some(peer)) => A::fits(key, peer),
            _ => false,
        };
        let answer = match fits && self.stock.is_none() {
            true => 1,
            false => {
                let stocks = peer.as_ref().map(|peer| peer.stock()).transpose()?;
                self.stock()?.set_peer(stocks.map(Arc::as_ref))
            }
        };
        // Where stock refuses one it may have lost the other.
        self.plain &= fits && answer == 1;
        if answer == 1 {
            self.peer = peer;
        }
        Ok(answer)
    }

    fn derive(&mut self, mut secret: Output<'_>) -> Result<c_int> {
        if !secret.is_query()
            && let Some(service) = self.key.as_ref().and_then(|key| key.service())
        {
            return self.derive_by_service(service, &mut secret);
        }
        if self.derive_plain(&mut secret)? {
            return Ok(1);
        }
        Ok(self.stock()?.derive(secret))
    }

    fn set(&mut self, params: Params<'_>) -> Result<c_int> {
        self.plain &= params.is_empty();
        self.set |= !params.is_empty();
        Ok(self.stock()?.set(params))
    }

    fn get(&mut self, params: ParamsMut<'_>) -> Result<c_int> {
        Ok(self.stock()?.get(params))
    }

    fn settable(context: Option<&mut Self>, provider: &Outboard) -> *const Param {
        let context = context.and_then(|context| context.stock().ok());
        provider.stock().map_or(std::ptr::null(), |stock| {
            stock.settable_of_exchange(A::NAME, context.as_deref())
        })
    }

    fn gettable(context: Option<&mut Self>, provider: &Outboard) -> *const Param {
        let context = context.and_then(|context| context.stock().ok());
        provider.stock().map_or(std::ptr::null(), |stock| {
            stock.gettable_of_exchange(A::NAME, context.as_deref())
        })
    }
}

impl<A: Algorithm> Context<A> {
    /// The key, where the engine derives with it.
    fn ours(&self) -> Option<&<A::Key as KeyType>::Native> {
        self.key.as_ref().filter(|_| self.plain)?.native()
    }

    /// Derives by the engine; false where stock has to. Ours even where the profile prefers stock: both keys are,
    /// and to hand them over costs more than the two differ by.
    fn derive_plain(&self, secret: &mut Output<'_>) -> Result<bool> {
        let peer = self.peer.as_ref().and_then(|peer| peer.native());
        let (Some(key), Some(peer)) = (self.ours(), peer) else {
            return Ok(false);
        };
        let Some((operation, length)) = A::operation(key) else {
            return Ok(false);
        };
        if secret.is_query() {
            secret.tell(length);
            return Ok(true);
        }
        if secret.room() < length {
            return Ok(false);
        }
        let derived = match self.shared.path(operation) {
            path if path.has_lanes() => self.derive_on_card(secret),
            _ => self.shared.run(Some(operation), Path::Scalar, || {
                let mut room = Zeroizing::new([0; MOST]);
                A::derive(key, peer, &mut room[..length])?;
                Ok(secret.put(&room[..length]))
            }),
        };
        // What the engine refuses, stock refuses in its own words; or it knows a way.
        Ok(derived.unwrap_or(false))
    }

    /// Derives by the card service. Owns nothing while the service works: see [`Shared::run_on_card`].
    fn derive_by_service(&self, service: &Service, secret: &mut Output<'_>) -> Result<c_int> {
        let peer = self.peer.as_ref().and_then(|peer| peer.native());
        let mut room = [0; MOST_POINT];
        let point = peer.filter(|_| !self.set);
        let point = point.and_then(|peer| A::point(peer, &mut room));
        let point = point.ok_or_else(|| service.unsupported())?;
        let derived = service.ask(&self.shared, Asked::Ecdh { point })?;
        match secret.put(&derived) {
            true => Ok(1),
            false => Err(service.error(Reason::BufferTooSmall, "no room for the secret")),
        }
    }

    /// Owns nothing while the card works: see [`Shared::run_on_card`].
    fn derive_on_card(&self, secret: &mut Output<'_>) -> Result<bool> {
        let peer = self.peer.as_ref().and_then(|peer| peer.native());
        let (Some(key), Some(peer)) = (self.ours(), peer) else {
            return Ok(false);
        };
        let derived = self.shared.run_on_card(A::request(key, peer)?)?;
        Ok(secret.put(&derived))
    }

    /// Stock's context, which has heard all.
    fn stock(&mut self) -> Result<&mut stock::Exchange> {
        if self.stock.is_none() {
            let mut stock = stock::Exchange::new(&self.shared, A::NAME)?;
            if let Some(key) = &self.key
                && stock.init(Some(key.stock()?), Params::EMPTY) != 1
            {
                return Err(Error::silent());
            }
            if let Some(peer) = &self.peer
                && stock.set_peer(Some(peer.stock()?)) != 1
            {
                return Err(Error::silent());
            }
            return Ok(self.stock.insert(stock));
        }
        self.stock.as_mut().ok_or_else(stock::unreachable)
    }
}
