//! AES-GCM (SP 800-38D), fed in pieces as OpenSSL's programs do it.

mod rekeyed;

use std::ffi::c_int;
use std::ptr;

use aws_lc_sys as lc;
use inout::InOutBuf;

use zeroize::Zeroizing;

use super::check;
use super::owned::Owned;
use crate::error::{Error, Result};
use crate::fork;

pub use rekeyed::Counter;

/// The tag's full length, in bytes.
pub const TAG_LENGTH: usize = 16;
/// The longest initialisation vector that OpenSSL's interface allows, in bytes.
pub const MAX_IV_LENGTH: usize = 128;

type Block = [u8; TAG_LENGTH];

/// AWS-LC answers lengths as `int`: what is longer is fed in pieces of this many bytes.
const PIECE: usize = 1 << 30;

/// A cipher context with a key.
pub struct AesGcm {
    context: Owned<lc::EVP_CIPHER_CTX>,
    iv_length: usize,
    /// What this message's tags differ by from GCM's: of a message whose key was set in its middle.
    mask: Option<Zeroizing<Block>>,
}

impl AesGcm {
    /// A context with that key of 16, 24 or 32 bytes, to seal or to open.
    pub fn new(key: &[u8], seal: bool) -> Result<Self> {
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
            mask: None,
        };
        // SAFETY: the key is as long as the cipher asks.
        unsafe { this.init(cipher, key.as_ptr(), ptr::null(), seal) }
            .map_err(|_| Error::Resource)?;
        Ok(this)
    }

    /// Takes another key of the same length. It begins no message.
    pub fn set_key(&mut self, key: &[u8], seal: bool) -> Result<()> {
        // SAFETY: a live context, which knows its key's length.
        let length = unsafe { lc::EVP_CIPHER_CTX_key_length(self.context.as_ptr()) };
        if usize::try_from(length) != Ok(key.len()) {
            return Err(Error::InvalidKey);
        }
        // SAFETY: the key is as long as the cipher asks.
        unsafe { self.init(ptr::null(), key.as_ptr(), ptr::null(), seal) }
    }

    /// Begins a message with that initialisation vector of 1 to [`MAX_IV_LENGTH`] bytes.
    pub fn start(&mut self, iv: &[u8], seal: bool) -> Result<()> {
        if iv.len() != self.iv_length {
            let length = match c_int::try_from(iv.len()) {
                Ok(length @ 1..=128) => length,
                _ => return Err(Error::InvalidInput),
            };
            self.control(lc::EVP_CTRL_AEAD_SET_IVLEN, length, ptr::null_mut())?;
            self.iv_length = iv.len();
        }
        self.mask = None;
        // SAFETY: the vector is as long as the context was told.
        unsafe { self.init(ptr::null(), ptr::null(), iv.as_ptr(), seal) }
    }

    /// Takes another key in mid-message. What that means GCM does not say; OpenSSL goes on with a state of zeros:
    /// no data yet, nothing that hides the tag, and a counter that begins as `counter` says.
    pub fn set_key_in_message(&mut self, key: &[u8], seal: bool, counter: Counter) -> Result<()> {
        self.set_key(key, seal)?;
        let (iv, mask) = rekeyed::start(key, counter)?;
        self.start(&*iv, seal)?;
        self.mask = Some(mask);
        Ok(())
    }

    fn unmask(&self, tag: &mut Block) {
        if let Some(mask) = &self.mask {
            for (byte, mask) in tag.iter_mut().zip(mask.iter()) {
                *byte ^= mask;
            }
        }
    }

    /// Goes on in the other direction, in mid-message.
    pub fn turn(&mut self, seal: bool) -> Result<()> {
        // SAFETY: neither key nor vector.
        unsafe { self.init(ptr::null(), ptr::null(), ptr::null(), seal) }
    }

    /// Takes additional authenticated data; [`Error::Failed`] once a message has begun.
    pub fn associate(&mut self, data: &[u8]) -> Result<()> {
        let (first, rest) = data.split_at(PIECE.min(data.len()));
        self.feed(ptr::null_mut(), first.as_ptr(), first.len())?;
        for piece in rest.chunks(PIECE) {
            self.feed(ptr::null_mut(), piece.as_ptr(), piece.len())?;
        }
        Ok(())
    }

    /// Encrypts or decrypts. No data ends a block of associated data that is not full.
    pub fn update(&mut self, mut data: InOutBuf<'_, '_, u8>) -> Result<()> {
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

    /// Ends a sealed message: writes its tag.
    pub fn seal(&mut self, tag: &mut [u8; TAG_LENGTH]) -> Result<()> {
        self.finish()?;
        self.control(
            lc::EVP_CTRL_AEAD_GET_TAG,
            TAG_LENGTH as c_int,
            tag.as_mut_ptr(),
        )?;
        self.unmask(tag);
        Ok(())
    }

    /// Ends an opened message: whether the tag, of up to 16 bytes, is its own.
    pub fn open(&mut self, tag: &[u8]) -> Result<bool> {
        fork::ready();
        let mut expected = [0; TAG_LENGTH];
        if tag.is_empty() || tag.len() > TAG_LENGTH {
            return Err(Error::InvalidInput);
        }
        expected[..tag.len()].copy_from_slice(tag);
        self.unmask(&mut expected);
        let length = tag.len() as c_int;
        self.control(lc::EVP_CTRL_AEAD_SET_TAG, length, expected.as_mut_ptr())?;
        Ok(self.finish().is_ok())
    }

    /// A context in the same state.
    pub fn try_clone(&self) -> Result<Self> {
        // SAFETY: makes a new context.
        let context = unsafe { Owned::new(lc::EVP_CIPHER_CTX_new(), Error::Resource)? };
        // SAFETY: both contexts are live.
        let answer = unsafe { lc::EVP_CIPHER_CTX_copy(context.as_ptr(), self.context.as_ptr()) };
        check(answer, Error::Resource)?;
        Ok(Self {
            context,
            iv_length: self.iv_length,
            mask: self.mask.clone(),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Test case 4 of the GCM specification (McGrew and Viega), with associated data.
    #[test]
    fn seals_and_opens_the_specifications_fourth_case() {
        let key = hex("feffe9928665731c6d6a8f9467308308");
        let iv = hex("cafebabefacedbaddecaf888");
        let associated = hex("feedfacedeadbeeffeedfacedeadbeefabaddad2");
        let plain = hex(
            "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72\
                         1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
        );
        let mut sealed = vec![0; plain.len()];
        let mut tag = [0; TAG_LENGTH];
        let mut cipher = AesGcm::new(&key, true).expect("a cipher");
        cipher.start(&iv, true).expect("start");
        cipher.associate(&associated).expect("associate");
        cipher
            .update(InOutBuf::new(&plain, &mut sealed).expect("equal lengths"))
            .expect("update");
        cipher.seal(&mut tag).expect("seal");
        assert_eq!(tag[..], hex("5bc94fbc3221a5db94fae95ae7121a47"));

        let mut opened = AesGcm::new(&key, false).expect("a cipher");
        for (bit, right) in [(0, true), (1, false)] {
            let mut data = sealed.clone();
            tag[15] ^= bit;
            opened.start(&iv, false).expect("start");
            opened.associate(&associated).expect("associate");
            opened
                .update(InOutBuf::from(&mut data[..]))
                .expect("update");
            assert_eq!(opened.open(&tag).expect("open"), right);
            assert_eq!(data, plain);
        }
    }

    fn hex(text: &str) -> Vec<u8> {
        (0..text.len() / 2)
            .map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).expect("hexadecimal"))
            .collect()
    }
}
