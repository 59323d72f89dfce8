//! GCM, with the tag behind the ciphertext. What is decrypted in parts comes when the tag was checked, all at once.

use std::sync::Arc;

use cryptoki_sys::*;
use inout::InOutBuf;
use outboard_engine::scalar::aes_gcm::{AesGcm, TAG_LENGTH};

use super::{Answer, Cipher, Direction, Gathered};
use crate::abi::{Exchange, Output};
use crate::error::Result;
use crate::object::Object;

/// A message under way.
pub(super) struct Gcm {
    cipher: AesGcm,
    direction: Direction,
    tag: usize,
    gathered: Gathered,
}

impl Gcm {
    pub(super) fn new(
        key: &Arc<Object>,
        direction: Direction,
        (iv, associated): (&[u8], &[u8]),
        tag: usize,
    ) -> Result<Self> {
        let seal = direction.is_encrypt();
        let mut cipher = AesGcm::new(key.bytes(&[CKK_AES])?, seal)?;
        cipher.start(iv, seal)?;
        cipher.associate(associated)?;
        Ok(Self {
            cipher,
            direction,
            tag,
            gathered: Gathered::default(),
        })
    }

    /// Encrypts or decrypts a part. It fails if the message is too long (SP 800-38D, 5.2.1.1).
    fn run(&mut self, data: InOutBuf<'_, '_, u8>) -> Result<()> {
        let done = self.cipher.update(data);
        done.map_err(|_| self.direction.length_error())
    }

    /// The length of a message that came with its tag.
    fn length_without_tag(&self, length: usize) -> Result<usize> {
        let length = length.checked_sub(self.tag);
        length.ok_or(self.direction.length_error())
    }
}

impl Cipher for Gcm {
    fn whole(&mut self, exchange: &mut Exchange<'_>) -> Result<Answer> {
        let length = exchange.length();
        if self.direction.is_encrypt() {
            if exchange.output.is_question(length + self.tag)? {
                return Ok(Answer::Length);
            }
            self.run(exchange.both(length))?;
            let mut tag = [0; TAG_LENGTH];
            self.cipher.seal(&mut tag)?;
            exchange.output.append(length, &tag[..self.tag]);
            return Ok(Answer::Output);
        }
        let length = self.length_without_tag(length)?;
        if exchange.output.is_question(length)? {
            return Ok(Answer::Length);
        }
        let mut tag = [0; TAG_LENGTH];
        let tag = &mut tag[..self.tag];
        tag.copy_from_slice(&exchange.input()[length..]);
        self.run(exchange.both(length))?;
        if !self.cipher.open(tag)? {
            exchange.output.wipe(length);
            return Err(CKR_ENCRYPTED_DATA_INVALID.into());
        }
        Ok(Answer::Output)
    }

    fn update(&mut self, exchange: &mut Exchange<'_>) -> Result<Answer> {
        let length = match self.direction {
            Direction::Encrypt => exchange.length(),
            Direction::Decrypt => 0,
        };
        if exchange.output.is_question(length)? {
            return Ok(Answer::Length);
        }
        match self.direction {
            Direction::Encrypt => self.run(exchange.both(length))?,
            Direction::Decrypt => self.gathered.add(exchange.input())?,
        }
        Ok(Answer::Output)
    }

    fn finish(&mut self, output: &mut Output<'_>) -> Result<Answer> {
        let length = match self.direction {
            Direction::Encrypt => self.tag,
            Direction::Decrypt => self.length_without_tag(self.gathered.0.len())?,
        };
        if output.is_question(length)? {
            return Ok(Answer::Length);
        }
        if self.direction.is_encrypt() {
            let mut tag = [0; TAG_LENGTH];
            self.cipher.seal(&mut tag)?;
            output.put(&tag[..length])?;
            return Ok(Answer::Output);
        }
        let mut gathered = std::mem::take(&mut self.gathered.0);
        let (message, tag) = gathered.split_at_mut(length);
        self.run(InOutBuf::from(&mut *message))?;
        match self.cipher.open(tag)? {
            true => output.put(message)?,
            false => return Err(CKR_ENCRYPTED_DATA_INVALID.into()),
        }
        Ok(Answer::Output)
    }
}
