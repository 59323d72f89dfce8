//! RSA with PKCS #1 v1.5 and OAEP (RFC 8017, 7), in one call.
//!
//! No answer tells that a padding of PKCS #1 v1.5 is wrong: the message is then another one (implicit rejection).

use std::sync::Arc;

use cryptoki_sys::*;
use outboard_engine::Operation::{Rsa2048Decrypt, Rsa3072Decrypt, Rsa4096Decrypt};
use outboard_engine::card::rsa::Key;
use outboard_engine::scalar::digest::Digest;
use outboard_engine::scalar::rsa::{MAX_LENGTH, Message, oaep};

use super::service::ByService;
use super::{Answer, Cipher, Direction};
use crate::abi::Exchange;
use crate::error::{Error, Result};
use crate::module::Module;
use crate::object::{Material, Object};
use crate::operation::computation::{Bytes, Computation, Manner};
use crate::operation::rsa::power;

/// The parameters of OAEP.
pub(super) struct Oaep {
    pub(super) digests: (Digest, Digest),
    pub(super) label: Vec<u8>,
}

impl Oaep {
    pub(super) fn new(digest: Digest, mgf1: Digest, label: &[u8]) -> Self {
        Self {
            digests: (digest, mgf1),
            label: label.to_vec(),
        }
    }
}

/// What is encrypted or decrypted.
struct Rsa {
    key: Arc<Key>,
    direction: Direction,
    oaep: Option<Oaep>,
}

/// Begins with a key of the program, or of the card service.
pub(super) fn begin(
    key: &Object,
    direction: Direction,
    oaep: Option<Oaep>,
) -> Result<Box<dyn Cipher>> {
    match &key.material {
        Material::Rsa(key) if direction.is_encrypt() || key.is_private() => Ok(Box::new(Rsa {
            key: Arc::clone(key),
            direction,
            oaep,
        })),
        Material::Service(key) if !direction.is_encrypt() => {
            Ok(Box::new(ByService::new(key, oaep)?))
        }
        _ => Err(CKR_KEY_TYPE_INCONSISTENT.into()),
    }
}

impl Rsa {
    /// The longest message.
    fn most(&self) -> Result<usize> {
        let digest = self.oaep.as_ref().map(|oaep| oaep.digests.0);
        let most = self.key.longest_message(digest);
        most.ok_or(CKR_KEY_SIZE_RANGE.into())
    }

    fn encrypt(&self, exchange: &mut Exchange<'_>) -> Result<Answer> {
        let length = self.key.length();
        if exchange.length() > self.most()? {
            return Err(self.direction.length_error());
        }
        if exchange.output.is_question(length)? {
            return Ok(Answer::Length);
        }
        let mut output = [0; MAX_LENGTH];
        let output = &mut output[..length];
        let message = exchange.input();
        match &self.oaep {
            Some(oaep) => self
                .key
                .encrypt_oaep(message, oaep.digests, &oaep.label, output)?,
            None => self.key.encrypt(message, output)?,
        }
        exchange.output.put(output)?;
        Ok(Answer::Output)
    }

    fn decrypt(&self, exchange: &mut Exchange<'_>) -> Result<Answer> {
        if exchange.length() != self.key.length() {
            return Err(self.direction.length_error());
        }
        if exchange.output.is_question_for(self.most()?) {
            return Ok(Answer::Length);
        }
        let message = self.message(exchange.input(), Manner::Waits)?.wait()?;
        exchange.output.put(&message)?;
        Ok(Answer::Output)
    }

    /// The message of a ciphertext.
    fn message(&self, ciphertext: &[u8], manner: Manner) -> Result<Computation<Bytes>> {
        let invalid = |_| Error::from(CKR_ENCRYPTED_DATA_INVALID);
        let ciphertext = self.key.ciphertext(ciphertext).map_err(invalid)?;
        let module = Module::get()?;
        let operations = [Rsa2048Decrypt, Rsa3072Decrypt, Rsa4096Decrypt];
        let bytes = |message: Message| {
            let start = message.room.len() - message.length as usize;
            Bytes::new(message.room[start..].to_vec())
        };
        Ok(match &self.oaep {
            Some(parameters) => {
                let (digest, mgf1) = parameters.digests;
                let label = parameters.label.clone();
                let block = power(module, &self.key, ciphertext, operations, manner);
                block.map(move |block| {
                    let message = oaep(&block?, digest, mgf1, &label);
                    message.map(bytes).map_err(invalid)
                })
            }
            None => {
                let rejection = self.key.rejection(&ciphertext)?;
                let block = power(module, &self.key, ciphertext, operations, manner);
                block.map(move |block| Ok(bytes(rejection.message(&block?))))
            }
        })
    }
}

impl Cipher for Rsa {
    fn whole(&mut self, exchange: &mut Exchange<'_>) -> Result<Answer> {
        match self.direction {
            Direction::Encrypt => self.encrypt(exchange),
            Direction::Decrypt => self.decrypt(exchange),
        }
    }

    fn leave(&mut self, exchange: &mut Exchange<'_>) -> Result<Option<Computation<Bytes>>> {
        let can_be_left = self.direction == Direction::Decrypt
            && exchange.length() == self.key.length()
            && exchange.output.has_room(self.most()?);
        let message = can_be_left.then(|| self.message(exchange.input(), Manner::Returns));
        message.transpose()
    }
}
