//! ECB and CBC: whole blocks, or a padding that makes them whole (PKCS #7, 10.3).

use std::sync::Arc;

use cryptoki_sys::*;
use inout::InOutBuf;
use outboard_engine::scalar::aes::{self, Mode};
use outboard_engine::scalar::block_cipher::BlockCipher;
use outboard_engine::scalar::des3;
use zeroize::Zeroizing;

use super::{Answer, Cipher, Direction};
use crate::abi::{Exchange, Output};
use crate::error::{Error, Result};
use crate::mechanism;
use crate::object::Object;

/// The types of keys of Triple DES.
pub(in crate::operation) const DES3: [CK_KEY_TYPE; 2] = [CKK_DES2, CKK_DES3];

/// Blocks under way.
pub(super) struct Blocks {
    cipher: BlockCipher,
    /// How many bytes a block has.
    block: usize,
    direction: Direction,
    is_padded: bool,
    /// What has come of the next block. Of a padded message that is decrypted, the last block, too: it may be padding.
    waiting: Zeroizing<Vec<u8>>,
}

impl Blocks {
    pub(super) fn new(
        key: &Arc<Object>,
        direction: Direction,
        cipher: &mechanism::Cipher<'_>,
    ) -> Result<Self> {
        use mechanism::Cipher::{Cbc, CbcPadded, Des3Cbc, Des3CbcPadded, Des3Ecb};
        let seals = direction.is_encrypt();
        let aes = |mode| {
            let cipher = aes::begin(key.bytes(&[CKK_AES])?, mode, seals)?;
            Ok::<_, Error>((cipher, aes::BLOCK))
        };
        let des3 = |iv| {
            let cipher = des3::begin(key.bytes(&DES3)?, iv, seals)?;
            Ok::<_, Error>((cipher, des3::BLOCK))
        };
        let (cipher_and_block, is_padded) = match cipher {
            Cbc(iv) => (aes(Mode::Cbc(iv)), false),
            CbcPadded(iv) => (aes(Mode::Cbc(iv)), true),
            Des3Ecb => (des3(None), false),
            Des3Cbc(iv) => (des3(Some(iv)), false),
            Des3CbcPadded(iv) => (des3(Some(iv)), true),
            _ => (aes(Mode::Ecb), false),
        };
        let (cipher, block) = cipher_and_block?;
        Ok(Self {
            cipher,
            block,
            direction,
            is_padded,
            waiting: Zeroizing::new(Vec::with_capacity(block)),
        })
    }

    /// How many bytes come out of so many more.
    fn length_of(&self, more: usize) -> usize {
        let all = self.waiting.len() + more;
        let whole = match self.is_padded && !self.direction.is_encrypt() {
            true => all.saturating_sub(1),
            false => all,
        };
        whole / self.block * self.block
    }

    /// One block more.
    fn last(&mut self, mut block: Zeroizing<Vec<u8>>) -> Result<Zeroizing<Vec<u8>>> {
        self.cipher.update(InOutBuf::from(&mut block[..]))?;
        Ok(block)
    }

    /// Decrypts all, in a place of its own, and takes the padding off; then this is as before.
    fn peek(&self, all: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        let mut all = Zeroizing::new(all.to_vec());
        self.cipher
            .try_clone()?
            .update(InOutBuf::from(&mut all[..]))?;
        let front = all.len().checked_sub(self.block);
        let front = front.ok_or(CKR_GENERAL_ERROR)?;
        let length = front + unpadded(&all[front..])?;
        all.truncate(length);
        Ok(all)
    }
}

impl Cipher for Blocks {
    fn whole(&mut self, exchange: &mut Exchange<'_>) -> Result<Answer> {
        let length = exchange.length();
        let (front, tail) = exchange.input().split_at(length / self.block * self.block);
        if !self.is_padded {
            if !tail.is_empty() {
                return Err(self.direction.length_error());
            }
            return self.update(exchange);
        }
        if self.direction.is_encrypt() {
            let (front, last) = (front.len(), padded(tail, self.block));
            if exchange.output.is_question(front + self.block)? {
                return Ok(Answer::Length);
            }
            self.cipher.update(exchange.both(front))?;
            let last = self.last(last)?;
            exchange.output.append(front, &last);
            return Ok(Answer::Output);
        }
        let Some(before) = front
            .len()
            .checked_sub(self.block)
            .filter(|_| tail.is_empty())
        else {
            return Err(self.direction.length_error());
        };
        let last = Zeroizing::new(front[before..].to_vec());
        let front = before;
        let most = length - 1;
        if exchange.output.is_question_for(most) {
            return Ok(Answer::Length);
        }
        if !exchange.output.has_room(most) {
            let message = self.peek(exchange.input())?;
            exchange.output.put(&message)?;
            return Ok(Answer::Output);
        }
        self.cipher.update(exchange.both(front))?;
        let last = self.last(last)?;
        exchange.output.append(front, &last[..unpadded(&last)?]);
        Ok(Answer::Output)
    }

    fn update(&mut self, exchange: &mut Exchange<'_>) -> Result<Answer> {
        let length = self.length_of(exchange.length());
        if exchange.output.is_question(length)? {
            return Ok(Answer::Length);
        }
        if length == 0 {
            self.waiting.extend_from_slice(exchange.input());
        } else if self.waiting.is_empty() {
            self.cipher.update(exchange.both(length))?;
            self.waiting.extend_from_slice(&exchange.input()[length..]);
        } else {
            let (input, output) = exchange.apart(length);
            let (missing, input) = input.split_at(self.block - self.waiting.len());
            self.waiting.extend_from_slice(missing);
            let (first, output) = output.split_at_mut(self.block);
            let (middle, rest) = input.split_at(output.len());
            // INVARIANT: the lengths are the same.
            let pair = |input, output| InOutBuf::new(input, output).map_err(|_| CKR_GENERAL_ERROR);
            self.cipher.update(pair(&self.waiting, first)?)?;
            self.cipher.update(pair(middle, output)?)?;
            self.waiting.clear();
            self.waiting.extend_from_slice(rest);
        }
        Ok(Answer::Output)
    }

    fn finish(&mut self, output: &mut Output<'_>) -> Result<Answer> {
        let waiting = self.waiting.len();
        let (is_question, last) = match (self.is_padded, self.direction) {
            (false, _) if waiting > 0 => return Err(self.direction.length_error()),
            (true, Direction::Decrypt) if waiting != self.block => {
                return Err(self.direction.length_error());
            }
            (false, _) => (output.is_question(0)?, Zeroizing::default()),
            (true, Direction::Encrypt) => match output.is_question(self.block)? {
                true => (true, Zeroizing::default()),
                false => {
                    let last = padded(&self.waiting, self.block);
                    (false, self.last(last)?)
                }
            },
            (true, Direction::Decrypt) => match output.is_question_for(self.block - 1) {
                true => (true, Zeroizing::default()),
                false => (false, self.peek(&self.waiting)?),
            },
        };
        if is_question {
            return Ok(Answer::Length);
        }
        output.put(&last)?;
        Ok(Answer::Output)
    }
}

/// A last block, filled up.
fn padded(tail: &[u8], block: usize) -> Zeroizing<Vec<u8>> {
    let mut last = Zeroizing::new(vec![(block - tail.len()) as u8; block]);
    last[..tail.len()].copy_from_slice(tail);
    last
}

/// How many bytes of a last block are the message's. No byte of it decides how long this takes.
fn unpadded(block: &[u8]) -> Result<usize> {
    let length = block.len();
    let count = block.last().copied().unwrap_or_default();
    let is_fill = |place: usize| usize::from(count) >= length - place;
    let wrong = block.iter().enumerate().fold(0, |wrong, (place, byte)| {
        wrong | (byte ^ count) & 0_u8.wrapping_sub(is_fill(place).into())
    });
    match wrong == 0 && (1..=length).contains(&count.into()) {
        true => Ok(length - usize::from(count)),
        false => Err(Error::from(CKR_ENCRYPTED_DATA_INVALID)),
    }
}
