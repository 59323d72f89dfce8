//! RSA without a padding: numbers as long as the modulus (RFC 8017, 5.1).

use std::sync::Arc;

use cryptoki_sys::*;
use outboard_engine::Operation::{Rsa2048Decrypt, Rsa3072Decrypt, Rsa4096Decrypt};
use outboard_engine::card::rsa::Key;
use zeroize::Zeroizing;

use super::{Answer, Cipher, Direction};
use crate::abi::Exchange;
use crate::error::{Error, Result};
use crate::module::Module;
use crate::object::{Material, Object};
use crate::operation::computation::{Bytes, Computation, Manner};
use crate::operation::rsa::power;

/// What is encrypted or decrypted.
struct Raw {
    key: Arc<Key>,
    direction: Direction,
}

/// Begins with a key of the program: the card service does nothing without a padding.
pub(super) fn begin(key: &Object, direction: Direction) -> Result<Box<dyn Cipher>> {
    match &key.material {
        Material::Rsa(key) if direction.is_encrypt() || key.is_private() => Ok(Box::new(Raw {
            key: Arc::clone(key),
            direction,
        })),
        Material::Service(_) => Err(CKR_MECHANISM_INVALID.into()),
        _ => Err(CKR_KEY_TYPE_INCONSISTENT.into()),
    }
}

impl Raw {
    /// Whether an input can be a number below the modulus: of a message, leading zeros may be missing.
    fn has_length(&self, length: usize) -> bool {
        match self.direction {
            Direction::Encrypt => (1..=self.key.length()).contains(&length),
            Direction::Decrypt => length == self.key.length(),
        }
    }

    fn power(&self, input: &[u8], manner: Manner) -> Result<Computation<Bytes>> {
        let not_below = match self.direction {
            Direction::Encrypt => CKR_DATA_INVALID,
            Direction::Decrypt => CKR_ENCRYPTED_DATA_INVALID,
        };
        let block = self.key.ciphertext(input);
        let block = block.map_err(|_| Error::from(not_below))?;
        if self.direction.is_encrypt() {
            let mut output = Zeroizing::new(vec![0; self.key.length()]);
            self.key.encrypt_unpadded(&block, &mut output)?;
            return Ok(Computation::Done(Ok(output)));
        }
        let operations = [Rsa2048Decrypt, Rsa3072Decrypt, Rsa4096Decrypt];
        Ok(power(Module::get()?, &self.key, block, operations, manner))
    }
}

impl Cipher for Raw {
    fn whole(&mut self, exchange: &mut Exchange<'_>) -> Result<Answer> {
        if !self.has_length(exchange.length()) {
            return Err(self.direction.length_error());
        }
        if exchange.output.is_question(self.key.length())? {
            return Ok(Answer::Length);
        }
        let number = self.power(exchange.input(), Manner::Waits)?.wait()?;
        exchange.output.put(&number)?;
        Ok(Answer::Output)
    }

    fn leave(&mut self, exchange: &mut Exchange<'_>) -> Result<Option<Computation<Bytes>>> {
        let can_be_left =
            self.has_length(exchange.length()) && exchange.output.has_room(self.key.length());
        let number = can_be_left.then(|| self.power(exchange.input(), Manner::Returns));
        number.transpose()
    }
}
