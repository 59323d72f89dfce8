//! TLS 1.2's records: sealed and opened in one call, in place (RFC 5288).

use inout::InOutBuf;
use outboard_engine::scalar::aes_gcm::TAG_LENGTH;
use outboard_provider_abi::cipher::Piece;
use outboard_provider_abi::{Direction, Error, Reason, Result};
use zeroize::Zeroize;

use super::iv::{self, EXPLICIT_LENGTH};
use super::{Context, KeySize};

/// What TLS authenticates beside a record (RFC 5246, 6.2.3.3).
pub(super) const HEADER_LENGTH: usize = 13;

/// What a context knows of records.
#[derive(Clone, Copy, Default)]
pub(super) struct State {
    is_announced: bool,
    /// By how much a sealed record is longer; 0 before the first was announced.
    pub(super) padding: usize,
    /// How many were sealed with this key.
    sealed: u64,
}

impl State {
    /// Whether a record comes next, whose header is in the context's buffer.
    pub(super) fn is_announced(&self) -> bool {
        self.is_announced
    }

    /// Begins to count anew: for a new key.
    pub(super) fn forget_count(&mut self) {
        self.sealed = 0;
    }
}

impl<S: KeySize> Context<S> {
    /// Takes a record's header; its length field counts what libssl puts around.
    pub(super) fn announce(&mut self, header: &[u8]) -> Result<()> {
        let invalid = || Error::from(Reason::InvalidAad);
        if header.len() != HEADER_LENGTH {
            return Err(invalid());
        }
        self.buffer[..HEADER_LENGTH].copy_from_slice(header);
        // Even where its length is wrong.
        self.record.is_announced = true;
        let length = u16::from_be_bytes([header[11], header[12]]);
        let around = match self.direction {
            Direction::Encrypt => EXPLICIT_LENGTH,
            Direction::Decrypt => EXPLICIT_LENGTH + TAG_LENGTH,
        };
        let payload = length.checked_sub(around as u16).ok_or_else(invalid)?;
        self.buffer[11..HEADER_LENGTH].copy_from_slice(&payload.to_be_bytes());
        self.record.padding = TAG_LENGTH;
        Ok(())
    }

    /// Seals or opens the record that was announced: explicit vector, payload, tag.
    pub(super) fn record(&mut self, input: Piece<'_>) -> Result<usize> {
        self.record.is_announced = false;
        let done = match input {
            Piece::Text(data) => self.record_in_place(data),
            Piece::Associated(_) | Piece::End => Err(Error::silent()),
        };
        self.iv.state = iv::State::Finished;
        done
    }

    fn record_in_place(&mut self, mut data: InOutBuf<'_, '_, u8>) -> Result<usize> {
        let length = data.len();
        let in_place = std::ptr::eq(data.get_in().as_ptr(), data.get_out().as_ptr());
        if self.cipher.is_none() || !in_place || length < EXPLICIT_LENGTH + TAG_LENGTH {
            return Err(Error::silent());
        }
        if self.seals() {
            self.record.sealed = self.record.sealed.wrapping_add(1);
            if self.record.sealed == 0 {
                return Err(Error::silent().caused_by(Reason::TooManyRecords));
            }
        }
        let (explicit, rest) = data.get_out().split_at_mut(EXPLICIT_LENGTH);
        let (payload, tag) = rest.split_at_mut(rest.len() - TAG_LENGTH);
        let right = self.timed(|context| context.run_record(explicit, payload, tag))?;
        if !right {
            payload.zeroize();
            return Err(Error::silent());
        }
        self.message.bytes = payload.len() as u64;
        self.count();
        Ok(match self.direction {
            Direction::Encrypt => length,
            Direction::Decrypt => payload.len(),
        })
    }

    /// Whether the record is its own, if it was opened.
    fn run_record(
        &mut self,
        explicit: &mut [u8],
        payload: &mut [u8],
        tag: &mut [u8],
    ) -> Result<bool> {
        let seals = self.seals();
        match self.direction {
            Direction::Encrypt => self.iv.count_up(self.cipher.as_mut(), true, |iv| {
                let told = explicit.len().min(iv.len());
                explicit[..told].copy_from_slice(&iv[iv.len() - told..]);
            })?,
            Direction::Decrypt => self.iv.set_counted(explicit, self.cipher.as_mut())?,
        }
        let Some(cipher) = &mut self.cipher else {
            return Err(Error::from(Reason::Internal));
        };
        let silent = |_| Error::silent();
        cipher
            .associate(&self.buffer[..HEADER_LENGTH])
            .map_err(silent)?;
        cipher
            .update(InOutBuf::from(&mut *payload))
            .map_err(silent)?;
        self.tag_length = Some(TAG_LENGTH);
        if seals {
            let tag = tag.first_chunk_mut().ok_or(Reason::Internal)?;
            cipher.seal(tag).map_err(silent)?;
            Ok(true)
        } else {
            cipher.open(tag).map_err(silent)
        }
    }
}
