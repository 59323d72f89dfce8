//! CTR.

use std::sync::Arc;

use cryptoki_sys::CKK_AES;
use outboard_engine::scalar::aes::{Block, Counter};

use super::{Answer, Cipher, Direction};
use crate::abi::{Exchange, Output};
use crate::error::Result;
use crate::object::Object;

/// A stream under way.
pub(super) struct Stream {
    counter: Counter,
    direction: Direction,
}

impl Stream {
    pub(super) fn new(
        key: &Arc<Object>,
        direction: Direction,
        first: &Block,
        bits: u32,
    ) -> Result<Self> {
        let counter = Counter::new(key.bytes(&[CKK_AES])?, first, bits)?;
        Ok(Self { counter, direction })
    }
}

impl Cipher for Stream {
    fn whole(&mut self, exchange: &mut Exchange<'_>) -> Result<Answer> {
        self.update(exchange)
    }

    fn update(&mut self, exchange: &mut Exchange<'_>) -> Result<Answer> {
        let length = exchange.length();
        if exchange.output.is_question(length)? {
            return Ok(Answer::Length);
        }
        let done = self.counter.update(exchange.both(length));
        done.map_err(|_| self.direction.length_error())?;
        Ok(Answer::Output)
    }

    fn finish(&mut self, output: &mut Output<'_>) -> Result<Answer> {
        Ok(match output.is_question(0)? {
            true => Answer::Length,
            false => Answer::Output,
        })
    }
}
