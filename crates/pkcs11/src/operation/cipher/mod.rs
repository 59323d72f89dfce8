//! Encryption and decryption.

mod blocks;
mod ccm;
mod gcm;
mod key_wrap;
mod rsa;
mod rsa_raw;
mod service;
mod stream;

pub(super) use blocks::DES3;

use std::sync::Arc;

use cryptoki_sys::*;

use super::computation::{Bytes, Computation, Function, Manner};
use crate::abi::{Exchange, Output};
use crate::error::{Error, Result};
use crate::mechanism::{self, CipherMechanism};
use crate::module::Module;
use crate::object::Object;
use crate::session::Session;

/// What is done with a cipher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Encrypt,
    Decrypt,
}

impl Direction {
    /// Where a session has what is under way.
    pub(crate) fn place(self) -> fn(&mut Session) -> &mut Option<Ciphering> {
        match self {
            Self::Encrypt => |session| &mut session.encrypting,
            Self::Decrypt => |session| &mut session.decrypting,
        }
    }

    /// The attribute of keys that may be used for it.
    pub(super) fn usage(self) -> CK_ATTRIBUTE_TYPE {
        match self {
            Self::Encrypt => CKA_ENCRYPT,
            Self::Decrypt => CKA_DECRYPT,
        }
    }

    /// What `C_SessionCancel` calls it.
    pub(crate) fn flag(self) -> CK_FLAGS {
        match self {
            Self::Encrypt => CKF_ENCRYPT,
            Self::Decrypt => CKF_DECRYPT,
        }
    }

    pub(super) fn is_encrypt(self) -> bool {
        self == Self::Encrypt
    }

    /// The input has a length that cannot be.
    pub(super) fn length_error(self) -> Error {
        match self {
            Self::Encrypt => CKR_DATA_LEN_RANGE.into(),
            Self::Decrypt => CKR_ENCRYPTED_DATA_LEN_RANGE.into(),
        }
    }
}

/// What a cipher answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// Its output.
    Output,
    /// Only how long the output is, or may be.
    Length,
}

/// A cipher under way, in one direction. A call that only asks for the length, or gives too little room, changes nothing.
pub(super) trait Cipher: Send {
    /// All in one call.
    fn whole(&mut self, exchange: &mut Exchange<'_>) -> Result<Answer>;

    /// Lets somebody else compute all of it meanwhile, where the output has room for whatever comes out. Else none, and nothing
    /// is done.
    fn leave(&mut self, _exchange: &mut Exchange<'_>) -> Result<Option<Computation<Bytes>>> {
        Ok(None)
    }

    /// A part of the message.
    fn update(&mut self, _exchange: &mut Exchange<'_>) -> Result<Answer> {
        Err(CKR_FUNCTION_NOT_SUPPORTED.into())
    }

    /// What comes after the last part.
    fn finish(&mut self, _output: &mut Output<'_>) -> Result<Answer> {
        Err(CKR_FUNCTION_NOT_SUPPORTED.into())
    }
}

/// An encryption or decryption under way.
pub(crate) struct Ciphering {
    cipher: Box<dyn Cipher>,
    /// Whether a part of the message was there already.
    has_begun: bool,
    manner: Manner,
}

/// Begins a cipher with a key.
pub(super) fn begin(
    key: &Arc<Object>,
    direction: Direction,
    cipher: &mechanism::Cipher<'_>,
) -> Result<Box<dyn Cipher>> {
    use mechanism::Cipher::*;
    Ok(match *cipher {
        Ecb | Cbc(_) | CbcPadded(_) | Des3Ecb | Des3Cbc(_) | Des3CbcPadded(_) => {
            Box::new(blocks::Blocks::new(key, direction, cipher)?)
        }
        Ctr(first, bits) => Box::new(stream::Stream::new(key, direction, &first, bits)?),
        Gcm {
            iv,
            associated,
            tag,
        } => Box::new(gcm::Gcm::new(key, direction, (iv, associated), tag)?),
        Ccm {
            length,
            nonce,
            associated,
            tag,
        } => Box::new(ccm::Ccm::new(
            key,
            direction,
            (nonce, associated),
            (length, tag),
        )?),
        KeyWrap(padding) => Box::new(key_wrap::KeyWrap::new(key, direction, padding)?),
        RsaRaw => rsa_raw::begin(key, direction)?,
        RsaPkcs1 => rsa::begin(key, direction, None)?,
        RsaOaep {
            digest,
            mgf1,
            label,
        } => {
            let oaep = rsa::Oaep::new(digest, mgf1, label);
            rsa::begin(key, direction, Some(oaep))?
        }
    })
}

impl Module {
    /// `C_EncryptInit`, `C_DecryptInit`
    pub(crate) fn cipher_init(
        &self,
        session: CK_SESSION_HANDLE,
        direction: Direction,
        mechanism: &CipherMechanism<'_>,
        key: CK_OBJECT_HANDLE,
    ) -> Result<()> {
        let manner = self.manner(session, direction.flag())?;
        let key = self.key(session, key)?;
        let cipher = begin(&key, direction, &mechanism.cipher)?;
        key.admit(direction.usage(), mechanism.kind)?;
        let ciphering = Ciphering {
            cipher,
            has_begun: false,
            manner,
        };
        self.begin(session, direction.place(), ciphering)
    }

    /// `C_Encrypt`, `C_Decrypt`
    pub(crate) fn cipher(
        &self,
        session: CK_SESSION_HANDLE,
        direction: Direction,
        mut exchange: Exchange<'_>,
    ) -> Result<()> {
        let mut ciphering = self.take(session, direction.place())?;
        if ciphering.has_begun {
            return Err(CKR_OPERATION_ACTIVE.into());
        }
        if !direction.is_encrypt()
            && ciphering.manner == Manner::Returns
            && let Some(message) = ciphering.cipher.leave(&mut exchange)?
        {
            return self.give(session, Function::Decrypt, message, exchange.output);
        }
        let answer = ciphering.cipher.whole(&mut exchange);
        self.end(session, direction, ciphering, answer)
    }

    /// `C_EncryptUpdate`, `C_DecryptUpdate`
    pub(crate) fn cipher_update(
        &self,
        session: CK_SESSION_HANDLE,
        direction: Direction,
        exchange: &mut Exchange<'_>,
    ) -> Result<()> {
        let mut ciphering = self.take(session, direction.place())?;
        let answer = ciphering.cipher.update(exchange);
        if answer == Ok(Answer::Output) {
            ciphering.has_begun = true;
            self.put_back(session, direction.place(), ciphering);
            return Ok(());
        }
        self.end(session, direction, ciphering, answer)
    }

    /// `C_EncryptFinal`, `C_DecryptFinal`
    pub(crate) fn cipher_final(
        &self,
        session: CK_SESSION_HANDLE,
        direction: Direction,
        output: &mut Output<'_>,
    ) -> Result<()> {
        let mut ciphering = self.take(session, direction.place())?;
        let answer = ciphering.cipher.finish(output);
        self.end(session, direction, ciphering, answer)
    }

    /// Ends what is under way, but where the program may still call again with more room.
    fn end(
        &self,
        session: CK_SESSION_HANDLE,
        direction: Direction,
        ciphering: Ciphering,
        answer: Result<Answer>,
    ) -> Result<()> {
        let too_small = Error::from(CKR_BUFFER_TOO_SMALL);
        if answer == Ok(Answer::Length) || answer == Err(too_small) {
            self.put_back(session, direction.place(), ciphering);
        }
        answer.map(drop)
    }
}

/// Ciphertext or plaintext that waits until all of it is there.
#[derive(Default)]
pub(super) struct Gathered(pub(super) zeroize::Zeroizing<Vec<u8>>);

impl Gathered {
    pub(super) fn add(&mut self, part: &[u8]) -> Result<()> {
        let (all, length) = (&mut self.0, part.len());
        if all.capacity() - all.len() < length {
            // What grows is copied here, so that nothing stays behind.
            let mut more = zeroize::Zeroizing::new(Vec::new());
            let room = (all.len() + length).max(2 * all.len());
            more.try_reserve_exact(room).map_err(|_| CKR_HOST_MEMORY)?;
            more.extend_from_slice(all);
            *all = more;
        }
        all.extend_from_slice(part);
        Ok(())
    }
}
