//! Message authentication codes, which programs ask for as signatures.

use cryptoki_sys::*;
use outboard_engine::scalar::aes_gcm::{AesGcm, TAG_LENGTH};
use outboard_engine::scalar::mac::{Mac, equal};

use super::cipher::DES3;
use crate::error::{Error, Result};
use crate::mechanism::Code;
use crate::object::Object;

/// What `C_Sign…` or `C_Verify…` has under way.
pub(crate) enum OrCode<T> {
    Signature(T),
    Code(Coding),
}

/// A code under way.
pub(crate) struct Coding {
    state: State,
    /// How many of its bytes count.
    length: usize,
    /// Whether a part of the message was there already.
    has_begun: bool,
}

enum State {
    Mac(Mac),
    /// Without a message, and the message as what belongs to it.
    Gmac(AesGcm),
}

impl Coding {
    /// Begins one.
    ///
    /// # Errors
    /// `CKR_KEY_TYPE_INCONSISTENT`
    pub(super) fn new(key: &Object, code: &Code, length: usize) -> Result<Self> {
        let state = match code {
            Code::Hmac(digest, key_type) => State::Mac(Mac::hmac(
                *digest,
                key.bytes(&[CKK_GENERIC_SECRET, *key_type])?,
            )?),
            Code::Cmac => State::Mac(Mac::cmac(key.bytes(&[CKK_AES])?)?),
            Code::Des3Cmac => State::Mac(Mac::cmac_des3(key.bytes(&DES3)?)?),
            Code::Gmac(iv) => {
                let mut cipher = AesGcm::new(key.bytes(&[CKK_AES])?, true)?;
                cipher.start(iv, true)?;
                State::Gmac(cipher)
            }
        };
        Ok(Self {
            state,
            length,
            has_begun: false,
        })
    }

    /// How many bytes the code has.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// A whole message, where no part of one was there already.
    pub(super) fn admit(&self, whole: Option<&[u8]>) -> Result<()> {
        match whole.is_some() && self.has_begun {
            true => Err(CKR_OPERATION_ACTIVE.into()),
            false => Ok(()),
        }
    }

    /// Takes more of the message.
    pub(super) fn update(&mut self, part: &[u8]) -> Result<()> {
        self.has_begun = true;
        match &mut self.state {
            State::Mac(mac) => Ok(mac.update(part)?),
            State::Gmac(cipher) => {
                let too_long = |_| Error::from(CKR_DATA_LEN_RANGE);
                cipher.associate(part).map_err(too_long)
            }
        }
    }

    /// The code, with the rest of the message.
    pub(super) fn finish(mut self, rest: Option<&[u8]>) -> Result<Vec<u8>> {
        if let Some(rest) = rest {
            self.update(rest)?;
        }
        let mut code = match self.state {
            State::Mac(mac) => mac.finish()?.to_vec(),
            State::Gmac(mut cipher) => {
                let mut tag = [0; TAG_LENGTH];
                cipher.seal(&mut tag)?;
                tag.to_vec()
            }
        };
        code.truncate(self.length);
        Ok(code)
    }

    /// Whether that is the code, with the rest of the message.
    ///
    /// # Errors
    /// `CKR_SIGNATURE_INVALID`, `CKR_SIGNATURE_LEN_RANGE`: it is not.
    pub(super) fn verify(self, rest: Option<&[u8]>, code: &[u8]) -> Result<()> {
        self.admit(rest)?;
        if code.len() != self.length {
            return Err(CKR_SIGNATURE_LEN_RANGE.into());
        }
        match equal(&self.finish(rest)?, code) {
            true => Ok(()),
            false => Err(CKR_SIGNATURE_INVALID.into()),
        }
    }
}
