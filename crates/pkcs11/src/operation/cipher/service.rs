//! RSA decryption by the card service, which takes every padding off itself.

use std::sync::Arc;

use cryptoki_sys::*;
use outboard_wire::{Encryption, Operation, message};

use super::rsa::Oaep;
use super::{Answer, Cipher};
use crate::abi::Exchange;
use crate::coprocessor::{Kind, ServiceKey};
use crate::error::{Error, Result};
use crate::module::Module;
use crate::operation::computation::{Bytes, Computation, Manner};
use crate::operation::sign::asked;

/// What is decrypted.
pub(super) struct ByService {
    key: Arc<ServiceKey>,
    oaep: Option<Oaep>,
}

impl ByService {
    pub(super) fn new(key: &Arc<ServiceKey>, oaep: Option<Oaep>) -> Result<Self> {
        match key.kind {
            Kind::Rsa => Ok(Self {
                key: Arc::clone(key),
                oaep,
            }),
            _ => Err(CKR_KEY_TYPE_INCONSISTENT.into()),
        }
    }

    fn encryption(&self) -> Result<Encryption<'_>> {
        let Some(oaep) = &self.oaep else {
            return Ok(Encryption::Pkcs1);
        };
        let named = |digest| asked(digest).ok_or(Error::from(CKR_MECHANISM_PARAM_INVALID));
        Ok(Encryption::Oaep {
            digest: named(oaep.digests.0)?,
            mgf1: named(oaep.digests.1)?,
            label: &oaep.label,
        })
    }

    /// The message of a ciphertext.
    fn message(&self, ciphertext: &[u8], manner: Manner) -> Result<Computation<Bytes>> {
        let operation = Operation::Decrypt {
            encryption: self.encryption()?,
            ciphertext,
        };
        let answer = Module::get()?.ask(&self.key, operation, manner);
        Ok(answer.map(|answer| {
            let answer = answer.map_err(|error| match error.code() {
                CKR_DATA_INVALID | CKR_FUNCTION_FAILED => CKR_ENCRYPTED_DATA_INVALID.into(),
                _ => error,
            })?;
            let message = message::decode(&answer).map_err(|_| CKR_DEVICE_ERROR)?;
            Ok(Bytes::new(message.to_vec()))
        }))
    }
}

impl Cipher for ByService {
    fn whole(&mut self, exchange: &mut Exchange<'_>) -> Result<Answer> {
        if exchange.length() != self.key.length {
            return Err(CKR_ENCRYPTED_DATA_LEN_RANGE.into());
        }
        if exchange.output.is_question_for(self.key.length) {
            return Ok(Answer::Length);
        }
        let message = self.message(exchange.input(), Manner::Waits)?.wait()?;
        exchange.output.put(&message)?;
        Ok(Answer::Output)
    }

    fn leave(&mut self, exchange: &mut Exchange<'_>) -> Result<Option<Computation<Bytes>>> {
        let length = self.key.length;
        let can_be_left = exchange.length() == length && exchange.output.has_room(length);
        let message = can_be_left.then(|| self.message(exchange.input(), Manner::Returns));
        message.transpose()
    }
}
