//! Many messages with one key, by AES-GCM. What is decrypted in parts comes when the tag was checked, all at once.

use cryptoki_sys::*;
use inout::InOutBuf;
use outboard_engine::scalar::aes_gcm::{AesGcm, MAX_IV_LENGTH, TAG_LENGTH};
use outboard_engine::scalar::randomise;

use super::Direction;
use super::cipher::{Answer, Gathered};
use crate::abi::Exchange;
use crate::error::{Error, Result};
use crate::module::Module;

/// What belongs to a message, in the program's memory.
pub(crate) struct Message<'a> {
    pub(crate) iv: Iv<'a>,
    /// Written when a message is encrypted, read when one is decrypted.
    pub(crate) tag: &'a mut [u8],
}

/// An initialisation vector.
pub(crate) enum Iv<'a> {
    /// The program chose it.
    Given(&'a [u8]),
    /// The last of these bytes are drawn when a message is encrypted, from that place on.
    Drawn(&'a mut [u8], usize),
}

/// The fewest bytes that are drawn (SP 800-38D, 8.2.2).
const LEAST_DRAWN: usize = 12;

impl<'a> Iv<'a> {
    /// One whose first bits are the program's, which are whole bytes; none if too few would be drawn.
    pub(crate) fn drawn(iv: &'a mut [u8], fixed_bits: usize) -> Option<Self> {
        let fixed = fixed_bits / 8;
        let drawn = iv.len().checked_sub(fixed)?;
        (fixed_bits.is_multiple_of(8) && drawn >= LEAST_DRAWN).then_some(Self::Drawn(iv, fixed))
    }
}

/// A key that waits for messages.
pub(crate) struct Messages {
    cipher: AesGcm,
    /// A message that comes in parts, and what has come of one that is decrypted.
    parts: Option<Gathered>,
}

impl Direction {
    fn messages(self) -> fn(&mut crate::session::Session) -> &mut Option<Messages> {
        match self {
            Self::Encrypt => |session| &mut session.sealing,
            Self::Decrypt => |session| &mut session.opening,
        }
    }
}

impl Messages {
    fn start(&mut self, direction: Direction, iv: &mut Iv<'_>, associated: &[u8]) -> Result<()> {
        let seal = direction.is_encrypt();
        let iv: &[u8] = match iv {
            Iv::Given(iv) => iv,
            Iv::Drawn(iv, fixed) => {
                if seal {
                    randomise(&mut iv[*fixed..])?;
                }
                iv
            }
        };
        if !(1..=MAX_IV_LENGTH).contains(&iv.len()) {
            return Err(CKR_MECHANISM_PARAM_INVALID.into());
        }
        self.cipher.start(iv, seal)?;
        Ok(self.cipher.associate(associated)?)
    }

    fn run(&mut self, direction: Direction, data: InOutBuf<'_, '_, u8>) -> Result<()> {
        let done = self.cipher.update(data);
        done.map_err(|_| direction.length_error())
    }

    fn seal(&mut self, tag: &mut [u8]) -> Result<()> {
        let mut whole = [0; TAG_LENGTH];
        self.cipher.seal(&mut whole)?;
        tag.copy_from_slice(&whole[..tag.len()]);
        Ok(())
    }

    fn open(&mut self, tag: &[u8]) -> Result<()> {
        match self.cipher.open(tag)? {
            true => Ok(()),
            false => Err(CKR_AEAD_DECRYPT_FAILED.into()),
        }
    }

    fn whole(
        &mut self,
        direction: Direction,
        message: &mut Message<'_>,
        associated: &[u8],
        exchange: &mut Exchange<'_>,
    ) -> Result<()> {
        let length = exchange.length();
        if self.parts.is_some() {
            return Err(CKR_OPERATION_ACTIVE.into());
        }
        if exchange.output.is_question(length)? {
            return Ok(());
        }
        self.start(direction, &mut message.iv, associated)?;
        self.run(direction, exchange.both(length))?;
        match direction {
            Direction::Encrypt => self.seal(message.tag),
            Direction::Decrypt => {
                let opened = self.open(message.tag);
                if opened.is_err() {
                    exchange.output.wipe(length);
                }
                opened
            }
        }
    }

    /// A part, which is the last one where there is a tag.
    fn next(
        &mut self,
        direction: Direction,
        tag: Option<&mut [u8]>,
        exchange: &mut Exchange<'_>,
    ) -> Result<Answer> {
        let Some(gathered) = self.parts.as_mut() else {
            return Err(CKR_OPERATION_NOT_INITIALIZED.into());
        };
        let length = match (direction, &tag) {
            (Direction::Encrypt, _) => exchange.length(),
            (Direction::Decrypt, None) => 0,
            (Direction::Decrypt, Some(_)) => gathered.0.len() + exchange.length(),
        };
        if exchange.output.is_question(length)? {
            return Ok(Answer::Length);
        }
        if direction.is_encrypt() {
            self.run(direction, exchange.both(length))?;
            if let Some(tag) = tag {
                self.seal(tag)?;
                self.parts = None;
            }
            return Ok(Answer::Output);
        }
        gathered.add(exchange.input())?;
        if let Some(tag) = tag {
            let mut all = self.parts.take().unwrap_or_default().0;
            self.run(direction, InOutBuf::from(&mut all[..]))?;
            self.open(tag)?;
            exchange.output.put(&all)?;
        }
        Ok(Answer::Output)
    }
}

impl Module {
    /// `C_MessageEncryptInit`, `C_MessageDecryptInit`
    pub(crate) fn messages_init(
        &self,
        session: CK_SESSION_HANDLE,
        direction: Direction,
        key: CK_OBJECT_HANDLE,
    ) -> Result<()> {
        let key = self.object(session, key, CKR_KEY_HANDLE_INVALID)?;
        let cipher = AesGcm::new(key.bytes(&[CKK_AES])?, direction.is_encrypt())?;
        key.admit(direction.usage(), CKM_AES_GCM)?;
        let messages = Messages {
            cipher,
            parts: None,
        };
        self.begin(session, direction.messages(), messages)
    }

    /// `C_EncryptMessage`, `C_DecryptMessage`
    pub(crate) fn message(
        &self,
        session: CK_SESSION_HANDLE,
        direction: Direction,
        message: &mut Message<'_>,
        associated: &[u8],
        exchange: &mut Exchange<'_>,
    ) -> Result<()> {
        self.with_messages(session, direction, |messages| {
            messages.whole(direction, message, associated, exchange)
        })
    }

    /// `C_EncryptMessageBegin`, `C_DecryptMessageBegin`
    pub(crate) fn message_begin(
        &self,
        session: CK_SESSION_HANDLE,
        direction: Direction,
        message: &mut Message<'_>,
        associated: &[u8],
    ) -> Result<()> {
        self.with_messages(session, direction, |messages| {
            if messages.parts.is_some() {
                return Err(CKR_OPERATION_ACTIVE.into());
            }
            messages.start(direction, &mut message.iv, associated)?;
            messages.parts = Some(Gathered::default());
            Ok(())
        })
    }

    /// `C_EncryptMessageNext`, `C_DecryptMessageNext`; the last part comes with a tag.
    pub(crate) fn message_next(
        &self,
        session: CK_SESSION_HANDLE,
        direction: Direction,
        tag: Option<&mut [u8]>,
        exchange: &mut Exchange<'_>,
    ) -> Result<()> {
        self.with_messages(session, direction, |messages| {
            let answer = messages.next(direction, tag, exchange);
            // An error ends the message, but not the key's use.
            if answer.is_err_and(|error| error != Error::from(CKR_BUFFER_TOO_SMALL)) {
                messages.parts = None;
            }
            answer.map(drop)
        })
    }

    /// `C_MessageEncryptFinal`, `C_MessageDecryptFinal`
    pub(crate) fn messages_final(
        &self,
        session: CK_SESSION_HANDLE,
        direction: Direction,
    ) -> Result<()> {
        self.take(session, direction.messages()).map(drop)
    }

    fn with_messages(
        &self,
        session: CK_SESSION_HANDLE,
        direction: Direction,
        work: impl FnOnce(&mut Messages) -> Result<()>,
    ) -> Result<()> {
        let mut messages = self.take(session, direction.messages())?;
        let answer = work(&mut messages);
        self.put_back(session, direction.messages(), messages);
        answer
    }
}
