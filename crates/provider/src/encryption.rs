//! RSA encryption: the card service decrypts with its keys, stock does everything else.
//!
//! libcrypto comes here only with keys of the service, whose private halves no other provider can have. Stock's context
//! takes every setting, and tells what was set.

use std::ffi::{CStr, c_int, c_uint};
use std::num::NonZeroU16;
use std::sync::Arc;

use outboard_engine::scalar::digest::Digest;
use outboard_engine::scalar::rsa::PREMASTER;
use outboard_provider_abi::asymmetric_cipher::{AsymmetricCipher, Way};
use outboard_provider_abi::raw::Param;
use outboard_provider_abi::{Input, Output, Params, ParamsMut, Reason, Result};
use outboard_wire::{Encryption as Padding, Operation as Asked, message};

use crate::key::{Key, Rsa, Service};
use crate::outboard::{Outboard, Shared};
use crate::signature;
use crate::stock::{self, Settings};

/// The algorithm's name.
const NAME: &CStr = c"RSA";

/// A context that encrypts or decrypts.
pub(crate) struct Context {
    shared: Arc<Shared>,
    key: Option<Arc<Key<Rsa>>>,
    stock: stock::Encryption,
}

impl AsymmetricCipher for Context {
    type Key = Key<Rsa>;

    fn new(provider: &Outboard) -> Result<Option<Self>> {
        let shared = provider.shared();
        Ok(Some(Self {
            stock: stock::Encryption::new(&shared, NAME)?,
            key: None,
            shared,
        }))
    }

    fn duplicate(&mut self) -> Result<Option<Self>> {
        Ok(Some(Self {
            shared: Arc::clone(&self.shared),
            key: self.key.clone(),
            stock: self.stock.duplicate()?,
        }))
    }

    fn init(&mut self, way: Way, key: Option<Arc<Key<Rsa>>>, params: Params<'_>) -> Result<c_int> {
        let stocks = key.as_ref().map(|key| key.stock()).transpose()?;
        let answer = self.stock.init(way, stocks.map(Arc::as_ref), params);
        self.key = key.filter(|_| answer == 1);
        Ok(answer)
    }

    fn run(&mut self, way: Way, input: Input<'_>, mut output: Output<'_>) -> Result<c_int> {
        let service = self.key.as_ref().and_then(|key| key.service());
        match service.filter(|_| way == Way::Decrypt && !output.is_query()) {
            Some(service) => decrypt(service, &self.shared, &mut self.stock, input, &mut output),
            None => Ok(self.stock.run(way, input, output)),
        }
    }

    fn set(&mut self, params: Params<'_>) -> Result<c_int> {
        Ok(self.stock.set(params))
    }

    fn get(&mut self, params: ParamsMut<'_>) -> Result<c_int> {
        Ok(self.stock.get(params))
    }

    fn settable(context: Option<&mut Self>, provider: &Outboard) -> *const Param {
        let context = context.map(|context| &context.stock);
        provider.stock().map_or(std::ptr::null(), |stock| {
            stock.settable_of_encryption(NAME, context)
        })
    }

    fn gettable(context: Option<&mut Self>, provider: &Outboard) -> *const Param {
        let context = context.map(|context| &context.stock);
        provider.stock().map_or(std::ptr::null(), |stock| {
            stock.gettable_of_encryption(NAME, context)
        })
    }
}

/// Decrypts by the card service. Owns nothing while the service works: see [`Shared::run_on_card`].
fn decrypt(
    service: &Service,
    shared: &Shared,
    stock: &mut stock::Encryption,
    input: Input<'_>,
    output: &mut Output<'_>,
) -> Result<c_int> {
    let settings = stock.settings();
    let padding = settings.as_ref().and_then(padding);
    let (Some(encryption), Some(ciphertext)) = (padding, input.bytes()) else {
        return Err(service.unsupported());
    };
    let is_premaster = matches!(encryption, Padding::Premaster { .. });
    let most = match is_premaster {
        true => PREMASTER,
        false => service.bits().div_ceil(8),
    };
    // Before the question: what is refused must not depend on the message.
    if output.room() < most {
        return Err(service.error(Reason::BufferTooSmall, "no room for the longest message"));
    }
    let operation = Asked::Decrypt {
        encryption,
        ciphertext,
    };
    let answer = service.ask(shared, operation)?;
    let message = match is_premaster {
        true => Some(&answer[..]).filter(|secret| secret.len() == PREMASTER),
        false => message::decode(&answer).ok(),
    };
    match message.is_some_and(|message| output.put(message)) {
        true => Ok(1),
        false => Err(service.error(
            Reason::OperationFailed,
            "the card service's answer is malformed",
        )),
    }
}

/// How the message was padded, for the card service; none where it does not know that.
fn padding<'a>(settings: &Settings<'a>) -> Option<Padding<'a>> {
    /// `RSA_PKCS1_PADDING`.
    const PKCS1: c_int = 1;
    /// `RSA_PKCS1_OAEP_PADDING`.
    const OAEP: c_int = 4;
    /// `RSA_PKCS1_WITH_TLS_PADDING`.
    const TLS: c_int = 7;
    let version = |version: c_uint| u16::try_from(version).ok().map(NonZeroU16::new);
    let digest = |name: &str| signature::asked(Digest::from_name(name)?);
    match settings.padding {
        PKCS1 => Some(Padding::Pkcs1),
        OAEP => {
            let named = match settings.digest.text()? {
                "" => "SHA1",
                name => name,
            };
            let of_masks = match settings.mgf1.text()? {
                "" => named,
                name => name,
            };
            Some(Padding::Oaep {
                digest: digest(named)?,
                mgf1: digest(of_masks)?,
                label: settings.label,
            })
        }
        TLS => Some(Padding::Premaster {
            offered: version(settings.offered)??.get(),
            negotiated: version(settings.negotiated)?,
        }),
        _ => None,
    }
}
