//! AES-GCM by VAES, where the processor has it: on vectors of 512 bits, and of 256, which AWS-LC does not use.

use inout::InOutBuf;
use outboard_aes_gcm::{AesGcm, Refusal};

use super::Block;
use crate::error::{Error, Result};

/// A cipher with a key.
pub(super) struct Cipher(AesGcm);

fn error(refusal: Refusal) -> Error {
    match refusal {
        Refusal::Length => Error::InvalidKey,
        Refusal::Order => Error::Failed,
    }
}

impl Cipher {
    pub(super) fn new(key: &[u8], seal: bool) -> Result<Self> {
        AesGcm::new(key, seal).map(Self).map_err(error)
    }

    pub(super) fn key_length(&self) -> usize {
        self.0.key_length()
    }

    pub(super) fn set_key(&mut self, key: &[u8], seal: bool) -> Result<()> {
        self.0.set_key(key, seal).map_err(error)
    }

    #[inline]
    pub(super) fn start(&mut self, iv: &[u8], seal: bool) -> Result<()> {
        self.0.start(iv, seal).map_err(error)
    }

    pub(super) fn turn(&mut self, seal: bool) -> Result<()> {
        self.0.turn(seal);
        Ok(())
    }

    #[inline]
    pub(super) fn associate(&mut self, data: &[u8]) -> Result<()> {
        self.0.associate(data).map_err(error)
    }

    #[inline]
    pub(super) fn update(&mut self, data: InOutBuf<'_, '_, u8>) -> Result<()> {
        self.0.update(data).map_err(error)
    }

    #[inline]
    pub(super) fn seal(&mut self, tag: &mut Block) -> Result<()> {
        self.0.seal(tag).map_err(error)
    }

    /// Whether the tag, of up to 16 bytes, is the message's, which ends only if it is.
    #[inline]
    pub(super) fn open(&mut self, tag: &[u8]) -> Result<bool> {
        self.0.open(tag).map_err(error)
    }

    pub(super) fn try_clone(&self) -> Result<Self> {
        Ok(Self(self.0.clone()))
    }
}
