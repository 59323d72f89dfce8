//! Ciphers, with and without authentication.

use std::ffi::{c_int, c_void};

use crate::context::{optional, pointer};
use crate::key::name;
use crate::provider::provider_name;
use crate::sys::{self, EVP_CIPHER, EVP_CIPHER_CTX};
use crate::{Context, Error, Functions, Result};

/// A fetched cipher (EVP_CIPHER_fetch(3)).
#[derive(Debug)]
pub struct Cipher {
    context: Context,
    raw: *mut EVP_CIPHER,
}

// SAFETY: OpenSSL counts references atomically; a fetched cipher is constant.
unsafe impl Send for Cipher {}
// SAFETY: as above.
unsafe impl Sync for Cipher {}

impl Cipher {
    /// Finds the cipher of that name and, if any, these properties.
    pub fn fetch(context: &Context, algorithm: &str, properties: Option<&str>) -> Result<Self> {
        let (algorithm, properties) = (name(algorithm)?, optional(properties)?);
        // SAFETY: a live context and terminated texts.
        let raw = unsafe {
            (context.functions().EVP_CIPHER_fetch)(
                context.as_ptr(),
                algorithm.as_ptr(),
                pointer(&properties),
            )
        };
        let raw = context
            .library()
            .check_pointer("cannot find the cipher", raw)?;
        Ok(Self {
            context: context.clone(),
            raw,
        })
    }

    /// Bytes of its key.
    pub fn key_length(&self) -> usize {
        // SAFETY: a live cipher.
        unsafe { (self.functions().EVP_CIPHER_get_key_length)(self.raw) }
            .try_into()
            .unwrap_or(0)
    }

    /// Bytes of its usual IV.
    pub fn iv_length(&self) -> usize {
        // SAFETY: a live cipher.
        unsafe { (self.functions().EVP_CIPHER_get_iv_length)(self.raw) }
            .try_into()
            .unwrap_or(0)
    }

    /// Bytes of its block; 1 for a stream.
    pub fn block_size(&self) -> usize {
        // SAFETY: a live cipher.
        unsafe { (self.functions().EVP_CIPHER_get_block_size)(self.raw) }
            .try_into()
            .unwrap_or(1)
    }

    /// The provider that implements it.
    pub fn provider_name(&self) -> Option<String> {
        // SAFETY: a live cipher, whose provider lives as long.
        unsafe {
            let provider = (self.functions().EVP_CIPHER_get0_provider)(self.raw);
            provider_name(&self.context, provider)
        }
    }

    fn functions(&self) -> &Functions {
        self.context.functions()
    }
}

impl Drop for Cipher {
    fn drop(&mut self) {
        // SAFETY: we own one reference.
        unsafe { (self.functions().EVP_CIPHER_free)(self.raw) }
    }
}

/// Which way a cipher goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Plaintext in, ciphertext out.
    Encrypt,
    /// Ciphertext in, plaintext out.
    Decrypt,
}

/// A cipher's state, to be used again and again (EVP_CIPHER_CTX_new(3)).
#[derive(Debug)]
pub struct CipherContext {
    context: Context,
    raw: *mut EVP_CIPHER_CTX,
    key_length: usize,
    iv_length: usize,
    block_size: usize,
}

// SAFETY: not tied to a thread; without `Sync`, only one thread uses it at a time.
unsafe impl Send for CipherContext {}

impl CipherContext {
    /// A state of `cipher`; the key follows with [`CipherContext::start`].
    pub fn new(cipher: &Cipher, direction: Direction) -> Result<Self> {
        let context = cipher.context.clone();
        // SAFETY: takes nothing.
        let raw = unsafe { (context.functions().EVP_CIPHER_CTX_new)() };
        let raw = context
            .library()
            .check_pointer("cannot make a cipher context", raw)?;
        let this = Self {
            context,
            raw,
            key_length: cipher.key_length(),
            iv_length: cipher.iv_length(),
            block_size: cipher.block_size(),
        };
        this.init(cipher.raw, None, None, direction.code())?;
        Ok(this)
    }

    /// Starts a message with a new key, a new IV or both; what is `None` stays.
    ///
    /// # Errors
    /// [`Error::Length`] where one of them is not as long as the cipher asks.
    pub fn start(&mut self, key: Option<&[u8]>, iv: Option<&[u8]>) -> Result<()> {
        if let Some(key) = key {
            Error::check_length("key", self.key_length, key.len())?;
        }
        if let Some(iv) = iv {
            Error::check_length("IV", self.iv_length, iv.len())?;
        }
        self.init(std::ptr::null(), key, iv, -1)
    }

    /// Another length of the IV, before the IV is given.
    pub fn set_iv_length(&mut self, length: usize) -> Result<()> {
        let argument = c_int::try_from(length).map_err(|_| Error::TooLong(length))?;
        // SAFETY: this control takes no pointer.
        unsafe { self.control(sys::EVP_CTRL_AEAD_SET_IVLEN, argument, std::ptr::null_mut())? };
        self.iv_length = length;
        Ok(())
    }

    /// The tag that decryption has to find.
    pub fn set_tag(&mut self, tag: &[u8]) -> Result<()> {
        let length = c_int::try_from(tag.len()).map_err(|_| Error::TooLong(tag.len()))?;
        // SAFETY: the tag is only read, `length` bytes of it.
        unsafe {
            self.control(
                sys::EVP_CTRL_AEAD_SET_TAG,
                length,
                tag.as_ptr().cast_mut().cast(),
            )
        }
    }

    /// The tag that encryption made, as many bytes as `tag` has.
    pub fn tag(&mut self, tag: &mut [u8]) -> Result<()> {
        let length = c_int::try_from(tag.len()).map_err(|_| Error::TooLong(tag.len()))?;
        // SAFETY: the tag has room for `length` bytes.
        unsafe { self.control(sys::EVP_CTRL_AEAD_GET_TAG, length, tag.as_mut_ptr().cast()) }
    }

    /// Adds data that is authenticated but not encrypted.
    pub fn associate(&mut self, data: &[u8]) -> Result<()> {
        let length = c_int::try_from(data.len()).map_err(|_| Error::TooLong(data.len()))?;
        let mut written = 0;
        // SAFETY: a null output says that the input is associated data.
        let status = unsafe {
            (self.functions().EVP_CipherUpdate)(
                self.raw,
                std::ptr::null_mut(),
                &mut written,
                data.as_ptr(),
                length,
            )
        };
        self.context
            .library()
            .check("cannot take associated data", status)
    }

    /// Processes `input` into `output`; answers how many bytes that made.
    ///
    /// # Errors
    /// [`Error::Room`] where `output` has no room for the input and one block.
    pub fn update(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize> {
        let slack = if self.block_size > 1 {
            self.block_size
        } else {
            0
        };
        Error::check_room(input.len() + slack, output.len())?;
        let length = c_int::try_from(input.len()).map_err(|_| Error::TooLong(input.len()))?;
        let mut written = 0;
        // SAFETY: a live context; the output has room for the input and one block.
        let status = unsafe {
            (self.functions().EVP_CipherUpdate)(
                self.raw,
                output.as_mut_ptr(),
                &mut written,
                input.as_ptr(),
                length,
            )
        };
        self.context.library().check("cannot process", status)?;
        Ok(written.try_into().unwrap_or(0))
    }

    /// As [`CipherContext::update`], over the same bytes.
    pub fn update_in_place(&mut self, data: &mut [u8]) -> Result<usize> {
        if self.block_size > 1 {
            // Ciphertext of data with an incomplete block may be longer than the data.
            let blocks = data.len().next_multiple_of(self.block_size);
            Error::check_room(blocks, data.len())?;
        }
        let length = c_int::try_from(data.len()).map_err(|_| Error::TooLong(data.len()))?;
        let mut written = 0;
        // SAFETY: a live context; OpenSSL allows input and output to be the same.
        let status = unsafe {
            let pointer = data.as_mut_ptr();
            (self.functions().EVP_CipherUpdate)(self.raw, pointer, &mut written, pointer, length)
        };
        self.context.library().check("cannot process", status)?;
        Ok(written.try_into().unwrap_or(0))
    }

    /// Ends the message: the last block or, for authenticated decryption, the tag's check.
    pub fn finish(&mut self, output: &mut [u8]) -> Result<usize> {
        if self.block_size > 1 {
            Error::check_room(self.block_size, output.len())?;
        }
        // A stream ends with nothing, but OpenSSL asks for an address.
        let mut spare = [0; 32];
        let room = if output.is_empty() {
            &mut spare[..]
        } else {
            output
        };
        let mut written = 0;
        // SAFETY: a live context; there is room for a block.
        let status = unsafe {
            (self.functions().EVP_CipherFinal_ex)(self.raw, room.as_mut_ptr(), &mut written)
        };
        self.context.library().check("cannot finish", status)?;
        Ok(written.try_into().unwrap_or(0))
    }

    /// TLS 1.2's way (`ssl/record`): announces a record by its 13 bytes of associated data; answers
    /// the bytes by which a sealed record is longer.
    pub fn tls_record(&mut self, associated: &mut [u8; 13]) -> Result<usize> {
        // SAFETY: the control reads 13 bytes and, as OpenSSL's own, may write them.
        let status = unsafe {
            (self.functions().EVP_CIPHER_CTX_ctrl)(
                self.raw,
                sys::EVP_CTRL_AEAD_TLS1_AAD,
                13,
                associated.as_mut_ptr().cast(),
            )
        };
        self.context
            .library()
            .check("cannot announce a TLS record", status)?;
        Ok(status.try_into().unwrap_or(0))
    }

    /// `EVP_Cipher` in place: how TLS 1.2 seals or opens an announced record (explicit nonce, data,
    /// tag) and OpenSSH processes a packet. Answers how many bytes that made.
    pub fn cipher_in_place(&mut self, data: &mut [u8]) -> Result<usize> {
        let pointer = data.as_mut_ptr();
        // SAFETY: in place, so there is room for as much as goes in.
        unsafe { self.cipher(pointer, pointer, data.len()) }
    }

    /// `EVP_Cipher` with associated data, as OpenSSH calls it.
    pub fn cipher_associate(&mut self, data: &[u8]) -> Result<()> {
        // SAFETY: a null output says that the input is associated data.
        unsafe { self.cipher(std::ptr::null_mut(), data.as_ptr(), data.len())? };
        Ok(())
    }

    /// `EVP_Cipher` without data, which ends a message, as OpenSSH calls it.
    pub fn cipher_finish(&mut self) -> Result<()> {
        // SAFETY: neither input nor output.
        unsafe { self.cipher(std::ptr::null_mut(), std::ptr::null(), 0)? };
        Ok(())
    }

    /// TLS's and OpenSSH's fixed part of the IV; `whole` says that all of it is given.
    pub fn set_fixed_iv(&mut self, iv: &[u8], whole: bool) -> Result<()> {
        let length = c_int::try_from(iv.len()).map_err(|_| Error::TooLong(iv.len()))?;
        if whole {
            Error::check_length("IV", self.iv_length, iv.len())?;
        }
        let argument = if whole { -1 } else { length };
        // SAFETY: OpenSSL reads `length` bytes, or with -1 all of the IV, just checked.
        unsafe {
            self.control(
                sys::EVP_CTRL_AEAD_SET_IV_FIXED,
                argument,
                iv.as_ptr().cast_mut().cast(),
            )
        }
    }

    /// OpenSSH's way: takes the next IV and answers its last bytes.
    pub fn generate_iv(&mut self, last: &mut [u8]) -> Result<()> {
        let length = c_int::try_from(last.len()).map_err(|_| Error::TooLong(last.len()))?;
        // SAFETY: OpenSSL writes at most `length` bytes.
        unsafe { self.control(sys::EVP_CTRL_GCM_IV_GEN, length, last.as_mut_ptr().cast()) }
    }

    /// Whether the last block is padded; on unless switched off.
    pub fn set_padding(&mut self, padding: bool) -> Result<()> {
        // SAFETY: a live context.
        let status = unsafe {
            (self.functions().EVP_CIPHER_CTX_set_padding)(self.raw, c_int::from(padding))
        };
        self.context
            .library()
            .check("cannot set the padding", status)
    }

    /// A deep copy, in mid-message.
    pub fn duplicate(&self) -> Result<Self> {
        // SAFETY: takes nothing.
        let raw = unsafe { (self.functions().EVP_CIPHER_CTX_new)() };
        let raw = self
            .context
            .library()
            .check_pointer("cannot make a cipher context", raw)?;
        let this = Self {
            context: self.context.clone(),
            raw,
            ..*self
        };
        // SAFETY: two live contexts.
        let status = unsafe { (self.functions().EVP_CIPHER_CTX_copy)(this.raw, self.raw) };
        this.context
            .library()
            .check("cannot copy the cipher context", status)?;
        Ok(this)
    }

    /// Any of OpenSSL's controls (EVP_EncryptInit(3)).
    ///
    /// # Safety
    /// `argument` and `pointer` are what the control asks for.
    pub unsafe fn control(
        &mut self,
        control: c_int,
        argument: c_int,
        pointer: *mut c_void,
    ) -> Result<()> {
        // SAFETY: a live context; the caller vouches for the rest.
        let status =
            unsafe { (self.functions().EVP_CIPHER_CTX_ctrl)(self.raw, control, argument, pointer) };
        self.context
            .library()
            .check("the cipher refuses a control", status)
    }

    /// OpenSSL's pointer; it lives as long as `self`.
    pub fn as_ptr(&self) -> *mut EVP_CIPHER_CTX {
        self.raw
    }

    /// # Safety
    /// `input` is null or has `length` bytes; `output` is null or has room for as many.
    unsafe fn cipher(&mut self, output: *mut u8, input: *const u8, length: usize) -> Result<usize> {
        let short = u32::try_from(length).map_err(|_| Error::TooLong(length))?;
        // SAFETY: a live context; the caller vouches for the rest.
        let status = unsafe { (self.functions().EVP_Cipher)(self.raw, output, input, short) };
        // Unlike its siblings, this call answers a length, which may be 0.
        usize::try_from(status).map_err(|_| self.context.library().error("cannot process"))
    }

    /// The lengths of key and IV are the caller's care.
    fn init(
        &self,
        cipher: *const EVP_CIPHER,
        key: Option<&[u8]>,
        iv: Option<&[u8]>,
        direction: c_int,
    ) -> Result<()> {
        let pointer = |bytes: Option<&[u8]>| bytes.map_or(std::ptr::null(), <[u8]>::as_ptr);
        // SAFETY: live objects; every caller saw to the lengths of key and IV.
        let status = unsafe {
            (self.functions().EVP_CipherInit_ex2)(
                self.raw,
                cipher,
                pointer(key),
                pointer(iv),
                direction,
                std::ptr::null(),
            )
        };
        self.context
            .library()
            .check("cannot start the cipher", status)
    }

    fn functions(&self) -> &Functions {
        self.context.functions()
    }
}

impl Drop for CipherContext {
    fn drop(&mut self) {
        // SAFETY: made by `new` and owned.
        unsafe { (self.functions().EVP_CIPHER_CTX_free)(self.raw) }
    }
}

impl Direction {
    fn code(self) -> c_int {
        match self {
            Self::Encrypt => 1,
            Self::Decrypt => 0,
        }
    }
}
