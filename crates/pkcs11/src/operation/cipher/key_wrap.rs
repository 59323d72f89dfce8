//! AES key wrap: of messages in one call, and of keys.

use std::sync::Arc;

use cryptoki_sys::*;
use outboard_engine::Error as Engine;
use outboard_engine::scalar::key_wrap::{Padding, unwrap, wrap, wrapped_length};

use super::{Answer, Cipher, Direction};
use crate::abi::Exchange;
use crate::error::{Error, Result};
use crate::object::Object;

/// What is wrapped or unwrapped.
pub(super) struct KeyWrap {
    key: Arc<Object>,
    direction: Direction,
    padding: Padding,
}

impl KeyWrap {
    pub(super) fn new(key: &Arc<Object>, direction: Direction, padding: Padding) -> Result<Self> {
        key.bytes(&[CKK_AES])?;
        Ok(Self {
            key: Arc::clone(key),
            direction,
            padding,
        })
    }
}

impl Cipher for KeyWrap {
    fn whole(&mut self, exchange: &mut Exchange<'_>) -> Result<Answer> {
        let key = self.key.bytes(&[CKK_AES])?;
        let length = exchange.length();
        if self.direction.is_encrypt() {
            let wrapped = wrapped_length(length, self.padding);
            let wrapped = wrapped.map_err(|_| self.direction.length_error())?;
            if exchange.output.is_question(wrapped)? {
                return Ok(Answer::Length);
            }
            let wrapped = wrap(key, exchange.input(), self.padding)?;
            exchange.output.put(&wrapped)?;
        } else {
            if exchange.output.is_question_for(length.saturating_sub(8)) {
                return Ok(Answer::Length);
            }
            let message = unwrap(key, exchange.input(), self.padding);
            let message = message.map_err(|error| match error {
                Engine::InvalidInput => self.direction.length_error(),
                _ => Error::from(CKR_ENCRYPTED_DATA_INVALID),
            })?;
            exchange.output.put(&message)?;
        }
        Ok(Answer::Output)
    }
}
