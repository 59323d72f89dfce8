//! ECB and CBC: whole blocks, or a padding that makes them whole (PKCS #7, 10.3).

use std::sync::Arc;

use cryptoki_sys::*;
use inout::InOutBuf;
use outboard_engine::scalar::aes::{Aes, BLOCK, Block, Mode};
use zeroize::Zeroizing;

use super::{Answer, Cipher, Direction};
use crate::abi::{Exchange, Output};
use crate::error::{Error, Result};
use crate::mechanism;
use crate::object::Object;

/// Blocks under way.
pub(super) struct Blocks {
    aes: Aes,
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
        let (mode, is_padded) = match cipher {
            mechanism::Cipher::Cbc(iv) => (Mode::Cbc(iv), false),
            mechanism::Cipher::CbcPadded(iv) => (Mode::Cbc(iv), true),
            _ => (Mode::Ecb, false),
        };
        Ok(Self {
            aes: Aes::new(key.bytes(&[CKK_AES])?, mode, direction.is_encrypt())?,
            direction,
            is_padded,
            waiting: Zeroizing::new(Vec::with_capacity(BLOCK)),
        })
    }

    /// How many bytes come out of so many more.
    fn length_of(&self, more: usize) -> usize {
        let all = self.waiting.len() + more;
        let whole = match self.is_padded && !self.direction.is_encrypt() {
            true => all.saturating_sub(1),
            false => all,
        };
        whole / BLOCK * BLOCK
    }

    /// One block more.
    fn last(&mut self, mut block: Zeroizing<Block>) -> Result<Zeroizing<Block>> {
        self.aes.update(InOutBuf::from(&mut block[..]))?;
        Ok(block)
    }

    /// Decrypts all, in a place of its own, and takes the padding off; then this is as before.
    fn peek(&self, all: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        let mut all = Zeroizing::new(all.to_vec());
        self.aes.try_clone()?.update(InOutBuf::from(&mut all[..]))?;
        let (front, last) = all.split_last_chunk().ok_or(CKR_GENERAL_ERROR)?;
        let length = front.len() + unpadded(last)?;
        all.truncate(length);
        Ok(all)
    }
}

impl Cipher for Blocks {
    fn whole(&mut self, exchange: &mut Exchange<'_>) -> Result<Answer> {
        let length = exchange.length();
        let (front, tail) = exchange.input().split_at(length / BLOCK * BLOCK);
        if !self.is_padded {
            if !tail.is_empty() {
                return Err(self.direction.length_error());
            }
            return self.update(exchange);
        }
        if self.direction.is_encrypt() {
            let (front, last) = (front.len(), padded(tail));
            if exchange.output.is_question(front + BLOCK)? {
                return Ok(Answer::Length);
            }
            self.aes.update(exchange.both(front))?;
            let last = self.last(last)?;
            exchange.output.append(front, &*last);
            return Ok(Answer::Output);
        }
        let Some((front, &last)) = front.split_last_chunk().filter(|_| tail.is_empty()) else {
            return Err(self.direction.length_error());
        };
        let front = front.len();
        let most = length - 1;
        if exchange.output.is_question_for(most) {
            return Ok(Answer::Length);
        }
        if !exchange.output.has_room(most) {
            let message = self.peek(exchange.input())?;
            exchange.output.put(&message)?;
            return Ok(Answer::Output);
        }
        self.aes.update(exchange.both(front))?;
        let last = self.last(Zeroizing::new(last))?;
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
            self.aes.update(exchange.both(length))?;
            self.waiting.extend_from_slice(&exchange.input()[length..]);
        } else {
            let (input, output) = exchange.apart(length);
            let (missing, input) = input.split_at(BLOCK - self.waiting.len());
            self.waiting.extend_from_slice(missing);
            let (first, output) = output.split_at_mut(BLOCK);
            let (middle, rest) = input.split_at(output.len());
            // INVARIANT: the lengths are the same.
            let pair = |input, output| InOutBuf::new(input, output).map_err(|_| CKR_GENERAL_ERROR);
            self.aes.update(pair(&self.waiting, first)?)?;
            self.aes.update(pair(middle, output)?)?;
            self.waiting.clear();
            self.waiting.extend_from_slice(rest);
        }
        Ok(Answer::Output)
    }

    fn finish(&mut self, output: &mut Output<'_>) -> Result<Answer> {
        let waiting = self.waiting.len();
        let (is_question, last) = match (self.is_padded, self.direction) {
            (false, _) if waiting > 0 => return Err(self.direction.length_error()),
            (true, Direction::Decrypt) if waiting != BLOCK => {
                return Err(self.direction.length_error());
            }
            (false, _) => (output.is_question(0)?, Zeroizing::default()),
            (true, Direction::Encrypt) => match output.is_question(BLOCK)? {
                true => (true, Zeroizing::default()),
                false => {
                    let last = self.last(padded(&self.waiting))?;
                    (false, Zeroizing::new(last.to_vec()))
                }
            },
            (true, Direction::Decrypt) => match output.is_question_for(BLOCK - 1) {
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
fn padded(tail: &[u8]) -> Zeroizing<Block> {
    let mut block = Zeroizing::new([(BLOCK - tail.len()) as u8; BLOCK]);
    block[..tail.len()].copy_from_slice(tail);
    block
}

/// How many bytes of a last block are the message's. No byte of it decides how long this takes.
fn unpadded(block: &Block) -> Result<usize> {
    let count = block[BLOCK - 1];
    let is_fill = |place: usize| usize::from(count) >= BLOCK - place;
    let wrong = block.iter().enumerate().fold(0, |wrong, (place, byte)| {
        wrong | (byte ^ count) & 0_u8.wrapping_sub(is_fill(place).into())
    });
    match wrong == 0 && (1..=BLOCK).contains(&count.into()) {
        true => Ok(BLOCK - usize::from(count)),
        false => Err(Error::from(CKR_ENCRYPTED_DATA_INVALID)),
    }
}
