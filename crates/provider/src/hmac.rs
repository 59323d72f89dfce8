//! HMAC: the engine computes what is plain, stock does everything else.
//!
//! ```text
//! digest, key ──▶ keyed state, noted    what stock would have to hear
//!                     └─ begin ──▶ message ── update ──▶ finish
//! anything else ──▶ stock hears what was noted, and goes on
//! ```
//!
//! What is set in the midst of a message stock hears at once, but not the message so far. Of all that can be set, a key
//! begins a new message, and the length of a TLS record has stock start over with the next data (OpenSSL's hmac_prov.c):
//! then stock goes on alone. With everything else both go on with the same data: stock says whether that can be done, the
//! engine has the code.

use std::ffi::{CStr, c_int};
use std::sync::Arc;

use outboard_engine::ledger;
use outboard_engine::scalar::hmac::{Key, MAX_LENGTH, Message};
use outboard_engine::{Operation, Path};
use outboard_provider_abi::raw::{PARAM_OCTET_STRING, PARAM_UTF8_STRING, Param};
use outboard_provider_abi::{Input, Mac, Output, Params, ParamsMut, Result};

use crate::hashes::Algorithm;
use crate::outboard::{Outboard, Shared};
use crate::owed::Owed;
use crate::stock;

const NAME: &CStr = c"HMAC";

/// How the ledger calls it.
fn operation(hash: Algorithm) -> Operation {
    match hash {
        Algorithm::Sha256 => Operation::HmacSha256,
        Algorithm::Sha384 => Operation::HmacSha384,
    }
}

/// Whether such parameters end the message under way.
fn ends_message(params: Params<'_>) -> bool {
    let mut params = params;
    params.any(|param| match param.key() {
        b"key" => true,
        b"tls-data-size" => param.unsigned().is_ok_and(|size| size != 0),
        _ => false,
    })
}

/// An HMAC context.
pub(crate) struct Hmac {
    shared: Arc<Shared>,
    hash: Option<Algorithm>,
    key: Option<Key>,
    message: Option<Message>,
    /// The message before has ended, and no other one has begun.
    finished: bool,
    /// The digest and the key, for stock.
    owed: Owed,
    /// Stock's context, from when it is first needed.
    stock: Option<stock::Authentication>,
}

impl Hmac {
    /// The one digest that the parameters set, where they set nothing else.
    fn digest(&self, params: Params<'_>) -> Option<Algorithm> {
        let param = params.only().filter(|param| param.is(c"digest"))?;
        let hash = Algorithm::from_name(param.text().ok()?)?;
        self.shared.offers(operation(hash)).then_some(hash)
    }

    fn note_digest(&mut self, hash: Algorithm) -> bool {
        let name = hash.name().as_bytes();
        self.owed.note_value(c"digest", PARAM_UTF8_STRING, name)
    }

    /// Begins with a key by the engine; false where stock has to.
    fn begin(&mut self, key: &[u8], params: Params<'_>) -> bool {
        let hash = match params.is_empty() {
            true => self.hash,
            false => self.digest(params),
        };
        let Some(hash) = hash.filter(|_| self.stock.is_none()) else {
            return false;
        };
        self.owed.forget();
        let noted = self.note_digest(hash) && self.owed.note_value(c"key", PARAM_OCTET_STRING, key);
        if !noted {
            return false;
        }
        let key = Key::new(self.shared.hashes().hash(hash), key);
        self.message = Some(key.begin());
        self.finished = false;
        (self.hash, self.key) = (Some(hash), Some(key));
        true
    }

    /// Stock's context, which has heard all but the message under way.
    fn stock(&mut self) -> Result<&mut stock::Authentication> {
        if self.stock.is_none() {
            let mut stock = stock::Authentication::new(&self.shared, NAME)?;
            if !self.owed.is_empty() {
                self.owed.tell(|params| stock.set(params));
            }
            if self.finished {
                finish_for_nothing(&mut stock);
            }
            return Ok(self.stock.insert(stock));
        }
        self.stock.as_mut().ok_or_else(stock::unreachable)
    }
}

/// Ends a message of stock's that lacks what came before; whether it could.
fn finish_for_nothing(stock: &mut stock::Authentication) -> c_int {
    let (mut code, mut length) = ([0; MAX_LENGTH], 0);
    stock.finish(Output::of(&mut code, &mut length))
}

impl Mac for Hmac {
    type Provider = Outboard;

    fn new(provider: &Outboard) -> Result<Option<Self>> {
        Ok(Some(Self {
            shared: provider.shared(),
            hash: None,
            key: None,
            message: None,
            finished: false,
            owed: Owed::NOTHING,
            stock: None,
        }))
    }

    fn duplicate(&mut self) -> Result<Option<Self>> {
        let stock = self.stock.as_ref().map(stock::Authentication::duplicate);
        Ok(Some(Self {
            shared: Arc::clone(&self.shared),
            hash: self.hash,
            key: self.key.clone(),
            message: self.message.clone(),
            finished: self.finished,
            owed: self.owed.clone(),
            stock: stock.transpose()?,
        }))
    }

    fn init(&mut self, key: Input<'_>, params: Params<'_>) -> Result<c_int> {
        if let Some(bytes) = key.bytes()
            && self.begin(bytes, params)
        {
            return Ok(1);
        }
        // With the key before.
        if let (None, Some(before), true) = (&self.stock, &self.key, params.is_empty())
            && key.as_ptr().is_null()
        {
            self.message = Some(before.begin());
            self.finished = false;
            return Ok(1);
        }
        self.message = None;
        Ok(self.stock()?.init(key, params))
    }

    fn update(&mut self, data: Input<'_>) -> Result<c_int> {
        let Some(message) = &mut self.message else {
            return Ok(self.stock()?.update(data));
        };
        let answer = match &mut self.stock {
            Some(stock) => stock.update(data),
            None => (data.bytes().is_some() || data.length() == 0).into(),
        };
        if let (1, Some(bytes)) = (answer, data.bytes()) {
            message.update(bytes);
        }
        Ok(answer)
    }

    fn finish(&mut self, mut output: Output<'_>) -> Result<c_int> {
        let Some((key, message)) = self.key.as_ref().zip(self.message.take()) else {
            return Ok(self.stock()?.finish(output));
        };
        self.finished = true;
        let answer = self.stock.as_mut().map_or(1, finish_for_nothing);
        if answer != 1 || !output.put(&key.finish(message)) {
            return Ok(0);
        }
        if let Some(hash) = self.hash {
            ledger::count(operation(hash), Path::Scalar);
        }
        Ok(1)
    }

    fn set(&mut self, params: Params<'_>) -> Result<c_int> {
        if params.is_empty() {
            return Ok(1);
        }
        if let (None, None, Some(hash)) = (&self.stock, &self.key, self.digest(params)) {
            self.owed.forget();
            self.hash = Some(hash);
            if self.note_digest(hash) {
                return Ok(1);
            }
        }
        let answer = self.stock()?.set(params);
        if answer == 1 && ends_message(params) {
            self.message = None;
        }
        Ok(answer)
    }

    fn get(&mut self, params: ParamsMut<'_>) -> Result<c_int> {
        let mut params = params;
        if let (None, Some(key)) = (&self.stock, &self.key) {
            let length = key.hash().length() as u64;
            let answered = params.answer(|param| {
                let is_size = param.key() == b"size";
                if is_size {
                    param.set_unsigned(length)?;
                }
                Ok(is_size)
            });
            if answered.unwrap_or(false) {
                return Ok(1);
            }
        }
        Ok(self.stock()?.get(params))
    }

    fn settable(context: Option<&mut Self>, provider: &Outboard) -> *const Param {
        let context = context.and_then(|context| context.stock().ok());
        provider.stock().map_or(std::ptr::null(), |stock| {
            stock.settable_of_mac(NAME, context.as_deref())
        })
    }

    fn gettable(context: Option<&mut Self>, provider: &Outboard) -> *const Param {
        let context = context.and_then(|context| context.stock().ok());
        provider.stock().map_or(std::ptr::null(), |stock| {
            stock.gettable_of_mac(NAME, context.as_deref())
        })
    }
}
