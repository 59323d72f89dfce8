//! Encoders: a key of ours is written by stock's encoder of stock's form of it.

use std::ffi::{CStr, c_int};
use std::ptr;
use std::sync::Arc;

use outboard_provider_abi::encoder::{self, Writing};
use outboard_provider_abi::offer::Offer;
use outboard_provider_abi::raw::Param;
use outboard_provider_abi::{Encoder, Params, Result, Selection};

use crate::key::{Ec, Ed25519, Key, KeyType, X25519};
use crate::outboard::Outboard;
use crate::stock::Encoding;

/// The functions of each of a key type's encoders.
pub(crate) fn offer(name: &CStr) -> Option<fn(usize, i32) -> Offer> {
    match name.to_bytes() {
        b"EC" => Some(encoder::offer::<Context<Ec>>),
        b"X25519" => Some(encoder::offer::<Context<X25519>>),
        b"ED25519" => Some(encoder::offer::<Context<Ed25519>>),
        _ => None,
    }
}

/// An encoder's context.
pub(crate) struct Context<T: KeyType> {
    stock: Encoding,
    keys: std::marker::PhantomData<T>,
}

impl<T: KeyType> Encoder for Context<T> {
    type Key = Key<T>;

    fn new(provider: &Outboard, number: usize) -> Result<Option<Self>> {
        let stock = Encoding::new(&provider.shared(), T::NAMES[0], number)?;
        Ok(stock.map(|stock| Self {
            stock,
            keys: std::marker::PhantomData,
        }))
    }

    fn does(provider: &Outboard, number: usize, selection: Selection) -> c_int {
        provider.stock().map_or(0, |stock| {
            stock.encoder_does(T::NAMES[0], number, selection)
        })
    }

    fn settable(provider: &Outboard, number: usize) -> *const Param {
        provider.stock().map_or(ptr::null(), |stock| {
            stock.settable_of_encoder(T::NAMES[0], number)
        })
    }

    fn set(&mut self, params: Params<'_>) -> Result<c_int> {
        Ok(self.stock.set(params))
    }

    fn encode(&mut self, key: Option<Arc<Key<T>>>, what: &Writing) -> Result<c_int> {
        let key = key.as_ref().map(|key| key.stock()).transpose()?;
        Ok(self.stock.encode(key.map(Arc::as_ref), what))
    }
}

/// The properties of an encoder of ours: stock's, but for whose it is.
pub(crate) fn properties(theirs: &str) -> String {
    let kept = theirs
        .split(',')
        .filter(|property| property.starts_with("output=") || property.starts_with("structure="));
    let ours = ["provider=outboard", "outboard.module=yes"];
    ours.into_iter().chain(kept).collect::<Vec<_>>().join(",")
}
