//! AES-GCM by AWS-LC.

use std::ffi::c_int;
use std::ptr;

use aws_lc_sys as lc;
use inout::InOutBuf;

use super::super::check;
use super::super::owned::Owned;
use super::{Block, TAG_LENGTH};
use crate::error::{Error, Result};
use crate::fork;

/// AWS-LC answers lengths as `int`: what is longer is fed in pieces of this many bytes.
const PIECE: usize = 1 << 30;

/// A cipher context with a key.
pub(super) struct Cipher {
    context: Owned<lc::EVP_CIPHER_CTX>,
    iv_length: usize,
}

impl Cipher {
    pub(super) fn new(key: &[u8], seal: bool) -> Result<Self> {
        fork::ready();
        // SAFETY: these functions answer static algorithms and have no preconditions.
        let cipher = unsafe {
            match key.len() {
                16 => lc::EVP_aes_128_gcm(),
                24 => lc::EVP_aes_192_gcm(),
                32 => lc::EVP_aes_256_gcm(),
                _ => return Err(Error::InvalidKey),
            }
        };
        // SAFETY: makes a new context.
        let context = unsafe { Owned::new(lc::EVP_CIPHER_CTX_new(), Error::Resource)? };
        let this = Self {
            context,
            iv_length: 12,
        };
        // SAFETY: the key is as long as the cipher asks.
        unsafe { this.init(cipher, key.as_ptr(), ptr::null(), seal) }
            .map_err(|_| Error::Resource)?;
        Ok(this)
    }

    pub(super) fn key_length(&self) -> usize {
        // SAFETY: a live context, which knows its key's length.
        let length = unsafe { lc::EVP_CIPHER_CTX_key_length(self.context.as_ptr()) };
        length as usize
    }

    /// Takes a key of that length.
    pub(super) fn set_key(&mut self, key: &[u8], seal: bool) -> Result<()> {
        // SAFETY: the key is as long as the cipher asks, by the caller's word.
        unsafe { self.init(ptr::null(), key.as_ptr(), ptr::null(), seal) }
    }

    pub(super) fn start(&mut self, iv: &[u8], seal: bool) -> Result<()> {
        if iv.len() != self.iv_length {
            let length = c_int::try_from(iv.len()).map_err(|_| Error::InvalidInput)?;
            self.control(lc::EVP_CTRL_AEAD_SET_IVLEN, length, ptr::null_mut())?;
            self.iv_length = iv.len();
        }
        // SAFETY: the vector is as long as the context was told.
        unsafe { self.init(ptr::null(), ptr::null(), iv.as_ptr(), seal) }
    }

    pub(super) fn turn(&mut self, seal: bool) -> Result<()> {
        // SAFETY: neither key nor vector.
        unsafe { self.init(ptr::null(), ptr::null(), ptr::null(), seal) }
    }

    pub(super) fn associate(&mut self, data: &[u8]) -> Result<()> {
        let (first, rest) = data.split_at(PIECE.min(data.len()));
        self.feed(ptr::null_mut(), first.as_ptr(), first.len())?;
        for piece in rest.chunks(PIECE) {
            self.feed(ptr::null_mut(), piece.as_ptr(), piece.len())?;
        }
        Ok(())
    }

    pub(super) fn update(&mut self, mut data: InOutBuf<'_, '_, u8>) -> Result<()> {
        loop {
            let length = PIECE.min(data.len());
            let (mut piece, rest) = data.split_at(length);
            let output = piece.get_out().as_mut_ptr();
            self.feed(output, piece.get_in().as_ptr(), piece.len())?;
            data = rest;
            if data.is_empty() {
                return Ok(());
            }
        }
    }

    pub(super) fn seal(&mut self, tag: &mut Block) -> Result<()> {
        self.finish()?;
        self.control(
            lc::EVP_CTRL_AEAD_GET_TAG,
            TAG_LENGTH as c_int,
            tag.as_mut_ptr(),
        )
    }

    /// Whether the tag, of up to 16 bytes, is the message's.
    pub(super) fn open(&mut self, tag: &[u8]) -> Result<bool> {
        fork::ready();
        // It is only read, whatever C's type says.
        let first = tag.as_ptr().cast_mut();
        self.control(lc::EVP_CTRL_AEAD_SET_TAG, tag.len() as c_int, first)?;
        Ok(self.finish().is_ok())
    }

    pub(super) fn try_clone(&self) -> Result<Self> {
        // SAFETY: makes a new context.
        let context = unsafe { Owned::new(lc::EVP_CIPHER_CTX_new(), Error::Resource)? };
        // SAFETY: both contexts are live.
        let answer = unsafe { lc::EVP_CIPHER_CTX_copy(context.as_ptr(), self.context.as_ptr()) };
        check(answer, Error::Resource)?;
        Ok(Self {
            context,
            iv_length: self.iv_length,
        })
    }

    /// Sets what is not null.
    ///
    /// # Safety
    /// The key is as long as the cipher asks, the vector as long as the context was told.
    unsafe fn init(
        &self,
        cipher: *const lc::EVP_CIPHER,
        key: *const u8,
        iv: *const u8,
        seal: bool,
    ) -> Result<()> {
        // SAFETY: a live context; the rest by the caller's word.
        let answer = unsafe {
            lc::EVP_CipherInit_ex(
                self.context.as_ptr(),
                cipher,
                ptr::null_mut(),
                key,
                iv,
                c_int::from(seal),
            )
        };
        check(answer, Error::Failed)
    }

    /// `EVP_Cipher`, not `EVP_CipherUpdate`: after that has failed once, a context is of no use any more.
    fn feed(&mut self, output: *mut u8, input: *const u8, length: usize) -> Result<()> {
        // SAFETY: a live context; the callers pass as many bytes of input as of output, the same or
        // apart, or no output for associated data, or neither to end the message.
        let answer = unsafe { lc::EVP_Cipher(self.context.as_ptr(), output, input, length) };
        check(c_int::from(answer >= 0), Error::Failed)
    }

    fn finish(&mut self) -> Result<()> {
        self.feed(ptr::null_mut(), ptr::null(), 0)
    }

    fn control(&mut self, command: c_int, argument: c_int, data: *mut u8) -> Result<()> {
        // SAFETY: a live context; each caller passes what its command asks.
        let answer = unsafe {
            lc::EVP_CIPHER_CTX_ctrl(self.context.as_ptr(), command, argument, data.cast())
        };
        check(answer, Error::Failed)
    }
}
