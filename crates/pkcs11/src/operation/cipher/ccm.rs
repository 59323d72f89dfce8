//! CCM, with the tag behind the ciphertext. What comes in parts is worked on when all of it is there.

use std::sync::Arc;

use cryptoki_sys::*;
use inout::InOutBuf;
use outboard_engine::scalar::aes_ccm::{Frame, open, seal};

use super::{Answer, Cipher, Direction, Gathered};
use crate::abi::{Exchange, Output};
use crate::error::Result;
use crate::object::Object;

/// The longest tag.
const MOST_TAG: usize = 16;

/// A message under way.
pub(super) struct Ccm {
    key: Arc<Object>,
    direction: Direction,
    nonce: Vec<u8>,
    associated: Vec<u8>,
    /// The message's.
    length: usize,
    tag: usize,
    gathered: Gathered,
}

impl Ccm {
    pub(super) fn new(
        key: &Arc<Object>,
        direction: Direction,
        (nonce, associated): (&[u8], &[u8]),
        (length, tag): (usize, usize),
    ) -> Result<Self> {
        key.bytes(&[CKK_AES])?;
        Ok(Self {
            key: Arc::clone(key),
            direction,
            nonce: nonce.to_vec(),
            associated: associated.to_vec(),
            length,
            tag,
            gathered: Gathered::default(),
        })
    }

    /// The lengths of the input and of the output.
    fn lengths(&self) -> (usize, usize) {
        let with_tag = self.length + self.tag;
        match self.direction {
            Direction::Encrypt => (self.length, with_tag),
            Direction::Decrypt => (with_tag, self.length),
        }
    }

    fn frame(&self) -> Frame<'_> {
        Frame {
            nonce: &self.nonce,
            associated: &self.associated,
        }
    }

    /// Encrypts, and gives the tag; or decrypts, and checks the tag that it is given.
    fn run(&self, message: InOutBuf<'_, '_, u8>, tag: &mut [u8]) -> Result<()> {
        let key = self.key.bytes(&[CKK_AES])?;
        match self.direction {
            Direction::Encrypt => Ok(seal(key, self.frame(), message, tag)?),
            Direction::Decrypt => match open(key, self.frame(), message, tag)? {
                true => Ok(()),
                false => Err(CKR_ENCRYPTED_DATA_INVALID.into()),
            },
        }
    }
}

impl Cipher for Ccm {
    fn whole(&mut self, exchange: &mut Exchange<'_>) -> Result<Answer> {
        let (input, output) = self.lengths();
        if exchange.length() != input {
            return Err(self.direction.length_error());
        }
        if exchange.output.is_question(output)? {
            return Ok(Answer::Length);
        }
        let mut tag = [0; MOST_TAG];
        let tag = &mut tag[..self.tag];
        if self.direction.is_encrypt() {
            self.run(exchange.both(self.length), tag)?;
            exchange.output.append(self.length, tag);
        } else {
            tag.copy_from_slice(&exchange.input()[self.length..]);
            self.run(exchange.both(self.length), tag)?;
        }
        Ok(Answer::Output)
    }

    fn update(&mut self, exchange: &mut Exchange<'_>) -> Result<Answer> {
        let left = self.lengths().0 - self.gathered.0.len();
        if exchange.length() > left {
            return Err(self.direction.length_error());
        }
        if exchange.output.is_question(0)? {
            return Ok(Answer::Length);
        }
        self.gathered.add(exchange.input())?;
        Ok(Answer::Output)
    }

    fn finish(&mut self, output: &mut Output<'_>) -> Result<Answer> {
        let (input, length) = self.lengths();
        if self.gathered.0.len() != input {
            return Err(self.direction.length_error());
        }
        if output.is_question(length)? {
            return Ok(Answer::Length);
        }
        self.gathered.0.resize(self.length + self.tag, 0);
        let mut all = std::mem::take(&mut self.gathered.0);
        let (message, tag) = all.split_at_mut(self.length);
        self.run(InOutBuf::from(message), tag)?;
        output.put(&all[..length])?;
        Ok(Answer::Output)
    }
}
