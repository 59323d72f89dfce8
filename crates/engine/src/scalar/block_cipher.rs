//! Ciphers of blocks, in modes that only encrypt (SP 800-38A).

use std::ffi::c_int;
use std::ptr;

use aws_lc_sys as lc;
use inout::InOutBuf;

use super::check;
use super::owned::Owned;
use crate::error::{Error, Result};
use crate::fork;

/// A key and a mode, with what came last.
pub struct BlockCipher {
    context: Owned<lc::EVP_CIPHER_CTX>,
    seal: bool,
    /// It takes so many bytes, or a multiple of them.
    unit: usize,
}

impl BlockCipher {
    /// Begins with a key and a vector, which may be null.
    ///
    /// # Safety
    /// The key is as long as the cipher asks, the vector a block.
    pub(super) unsafe fn new(
        cipher: *const lc::EVP_CIPHER,
        (key, iv): (*const u8, *const u8),
        seal: bool,
        unit: usize,
    ) -> Result<Self> {
        fork::ready();
        // SAFETY: makes a new context.
        let context = unsafe { Owned::new(lc::EVP_CIPHER_CTX_new(), Error::Resource)? };
        let this = Self {
            context,
            seal,
            unit,
        };
        // SAFETY: by the caller's word.
        unsafe { this.init(cipher, key, iv)? };
        Ok(this)
    }

    /// Encrypts or decrypts: whole blocks, but with CTR.
    ///
    /// # Errors
    /// [`Error::InvalidInput`]: the last block is not whole.
    pub fn update(&mut self, mut data: InOutBuf<'_, '_, u8>) -> Result<()> {
        if !data.len().is_multiple_of(self.unit) {
            return Err(Error::InvalidInput);
        }
        if data.is_empty() {
            return Ok(());
        }
        let (output, length) = (data.get_out().as_mut_ptr(), data.len());
        let input = data.get_in().as_ptr();
        // SAFETY: a live context; as many bytes of input as of output, the same or apart.
        let answer = unsafe { lc::EVP_Cipher(self.context.as_ptr(), output, input, length) };
        check(answer, Error::Failed)
    }

    /// The same, in the same state.
    pub fn try_clone(&self) -> Result<Self> {
        // SAFETY: makes a new context.
        let context = unsafe { Owned::new(lc::EVP_CIPHER_CTX_new(), Error::Resource)? };
        // SAFETY: both contexts are live.
        let answer = unsafe { lc::EVP_CIPHER_CTX_copy(context.as_ptr(), self.context.as_ptr()) };
        check(answer, Error::Resource)?;
        Ok(Self { context, ..*self })
    }

    /// Sets what is not null.
    ///
    /// # Safety
    /// The key is as long as the cipher asks, the vector a block.
    pub(super) unsafe fn init(
        &self,
        cipher: *const lc::EVP_CIPHER,
        key: *const u8,
        iv: *const u8,
    ) -> Result<()> {
        // SAFETY: a live context; the rest by the caller's word.
        let answer = unsafe {
            lc::EVP_CipherInit_ex(
                self.context.as_ptr(),
                cipher,
                ptr::null_mut(),
                key,
                iv,
                c_int::from(self.seal),
            )
        };
        check(answer, Error::Resource)
    }
}
