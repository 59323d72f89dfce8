//! The initialisation vector: what it is, and where it stands.

use outboard_engine::scalar::aes_gcm::{AesGcm, MAX_IV_LENGTH};
use outboard_provider_abi::{Error, Reason, Result};

use crate::outboard::{Shared, refuse};

/// The usual length.
pub(super) const DEFAULT_LENGTH: usize = 12;
/// The part that a TLS record carries.
pub(super) const EXPLICIT_LENGTH: usize = 8;
/// The part that stays for a TLS connection.
const FIXED_LENGTH: usize = 4;

/// Where a message's vector stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// None was given.
    Missing,
    /// It was given, and the cipher not yet started with it.
    Given,
    /// The cipher runs with it.
    Running,
    /// Its message is ended: it must not be used again.
    Finished,
}

/// An initialisation vector.
#[derive(Clone, Copy)]
pub(super) struct Iv {
    bytes: [u8; MAX_IV_LENGTH],
    length: usize,
    pub(super) state: State,
    /// Whether it is of a fixed and a counted part.
    counts: bool,
    /// Whether it was drawn at random, in part at least.
    pub(super) is_random: bool,
}

impl Default for Iv {
    fn default() -> Self {
        Self {
            bytes: [0; MAX_IV_LENGTH],
            length: DEFAULT_LENGTH,
            state: State::Missing,
            counts: false,
            is_random: false,
        }
    }
}

impl Iv {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Takes another vector.
    pub(super) fn set(&mut self, iv: &[u8]) -> Result<()> {
        if iv.is_empty() || iv.len() > MAX_IV_LENGTH {
            return Err(Error::from(Reason::InvalidIv));
        }
        self.bytes[..iv.len()].copy_from_slice(iv);
        self.length = iv.len();
        self.state = State::Given;
        Ok(())
    }

    pub(super) fn set_length(&mut self, length: usize) -> Result<()> {
        if length == 0 || length > MAX_IV_LENGTH {
            return Err(Error::from(Reason::InvalidIv));
        }
        if length != self.length {
            // A vector of another length that was set or made before is no longer one.
            if self.state != State::Missing {
                self.state = State::Finished;
            }
            self.length = length;
        }
        Ok(())
    }

    /// Draws all of it.
    pub(super) fn draw_whole(&mut self, shared: &Shared) -> Result<()> {
        if self.length < DEFAULT_LENGTH {
            return Err(Error::silent());
        }
        shared.randomise(&mut self.bytes[..self.length])?;
        self.state = State::Given;
        self.is_random = true;
        Ok(())
    }

    /// Starts the cipher with it.
    pub(super) fn start(&mut self, cipher: &mut AesGcm, seals: bool) -> Result<()> {
        cipher.start(self.bytes(), seals).map_err(refuse)?;
        self.state = State::Running;
        Ok(())
    }

    /// Takes all of it, to be counted up from there.
    pub(super) fn set_counting(&mut self, iv: &[u8]) {
        self.bytes[..iv.len()].copy_from_slice(iv);
        self.counts = true;
        self.state = State::Given;
    }

    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// Takes the fixed part. The counted part is drawn for a program that seals.
    pub(super) fn set_fixed(&mut self, fixed: &[u8], draws: Option<&Shared>) -> Result<()> {
        // Stock takes a fixed part that is longer than the vector where it then draws nothing.
        let counted = self.length.checked_sub(fixed.len());
        if fixed.len() < FIXED_LENGTH
            || fixed.len() > MAX_IV_LENGTH
            || counted.map_or(draws.is_some(), |counted| counted < EXPLICIT_LENGTH)
        {
            return Err(Error::from(Reason::FailedToGetParameter));
        }
        self.bytes[..fixed.len()].copy_from_slice(fixed);
        if let Some(shared) = draws {
            shared.randomise(&mut self.bytes[fixed.len()..self.length])?;
            self.is_random |= shared.libcrypto_is_at_least(3, 4);
        }
        self.counts = true;
        self.state = State::Given;
        Ok(())
    }

    /// Starts a message to open with that counted part.
    pub(super) fn set_counted(
        &mut self,
        counted: &[u8],
        cipher: Option<&mut AesGcm>,
    ) -> Result<()> {
        let start = self.length.checked_sub(counted.len());
        let (Some(cipher), Some(start), true) = (cipher, start, self.counts) else {
            return Err(Error::silent());
        };
        self.bytes[start..self.length].copy_from_slice(counted);
        self.start(cipher, false)
    }

    /// Starts a message with it, and counts it up for the next one. What it was goes to `tell`.
    pub(super) fn count_up(
        &mut self,
        cipher: Option<&mut AesGcm>,
        seals: bool,
        tell: impl FnOnce(&[u8]),
    ) -> Result<()> {
        let (Some(cipher), true) = (cipher, self.counts) else {
            return Err(Error::silent());
        };
        self.start(cipher, seals)?;
        tell(self.bytes());
        // The counted part has at least eight bytes, so eight are enough to never wrap.
        let first = self.length.saturating_sub(EXPLICIT_LENGTH);
        for byte in self.bytes[first..self.length].iter_mut().rev() {
            *byte = byte.wrapping_add(1);
            if *byte != 0 {
                break;
            }
        }
        Ok(())
    }
}
