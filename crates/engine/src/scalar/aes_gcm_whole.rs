//! AES-GCM (SP 800-38D), a whole message in one call, as TLS has its records.
//!
//! A server that resumes a session has two new keys and five short messages for each connection, and between them
//! the kernel and the rest of the server use up the processor's caches. What counts there is how much code and memory a
//! message touches, more than how many instructions it takes: so this is one call instead of the five of
//! [`AesGcm`](super::aes_gcm::AesGcm), and one piece of memory.

use std::ptr;

use aws_lc_sys as lc;

use super::aes_gcm::TAG_LENGTH;
use super::check;
use crate::error::{Error, Result};
use crate::fork;

/// A key, expanded: for both directions.
pub struct WholeAesGcm {
    /// Holds no pointer to itself and owns nothing.
    context: Box<lc::EVP_AEAD_CTX>,
}

// SAFETY: the pointer in it leads to a static table, and sealing and opening read the context alone.
unsafe impl Send for WholeAesGcm {}

impl WholeAesGcm {
    /// A key of 16, 24 or 32 bytes.
    ///
    /// # Errors
    /// [`Error::InvalidKey`], [`Error::Resource`].
    pub fn new(key: &[u8]) -> Result<Self> {
        fork::ready();
        // SAFETY: these functions answer static tables and have no preconditions.
        let cipher = unsafe {
            match key.len() {
                16 => lc::EVP_aead_aes_128_gcm(),
                24 => lc::EVP_aead_aes_192_gcm(),
                32 => lc::EVP_aead_aes_256_gcm(),
                _ => return Err(Error::InvalidKey),
            }
        };
        let mut context = Box::new(lc::EVP_AEAD_CTX {
            aead: ptr::null(),
            state: lc::evp_aead_ctx_st_state { opaque: [0; _] },
            state_offset: 0,
            tag_len: 0,
        });
        // SAFETY: a context of zeros; the key is as long as the cipher asks.
        let answer = unsafe {
            lc::EVP_AEAD_CTX_init(
                &raw mut *context,
                cipher,
                key.as_ptr(),
                key.len(),
                TAG_LENGTH,
                ptr::null_mut(),
            )
        };
        check(answer, Error::Resource)?;
        Ok(Self { context })
    }

    /// Encrypts `text` in place, and answers its tag. The initialisation vector must never have been used with this key.
    ///
    /// # Errors
    /// [`Error::Failed`]: no vector, or a text that is too long; then the text is zeros.
    pub fn seal(&self, iv: &[u8], associated: &[u8], text: &mut [u8]) -> Result<[u8; TAG_LENGTH]> {
        let mut tag = [0; TAG_LENGTH];
        let mut tag_length = 0;
        let text_start = text.as_mut_ptr();
        // SAFETY: a context with a key; each pointer leads to as many bytes as said, the text's input and output are the
        // same, and nothing else overlaps.
        let answer = unsafe {
            lc::EVP_AEAD_CTX_seal_scatter(
                &raw const *self.context,
                text_start,
                tag.as_mut_ptr(),
                &raw mut tag_length,
                tag.len(),
                iv.as_ptr(),
                iv.len(),
                text_start,
                text.len(),
                ptr::null(),
                0,
                associated.as_ptr(),
                associated.len(),
            )
        };
        check(answer, Error::Failed)?;
        Ok(tag)
    }

    /// Decrypts `text` in place; false, and zeros in its place, where the tag is not its own.
    pub fn open(&self, iv: &[u8], associated: &[u8], text: &mut [u8], tag: &[u8]) -> bool {
        fork::ready();
        let text_start = text.as_mut_ptr();
        // SAFETY: as above.
        let answer = unsafe {
            lc::EVP_AEAD_CTX_open_gather(
                &raw const *self.context,
                text_start,
                iv.as_ptr(),
                iv.len(),
                text_start,
                text.len(),
                tag.as_ptr(),
                tag.len(),
                associated.as_ptr(),
                associated.len(),
            )
        };
        check(answer, Error::Failed).is_ok()
    }
}

impl Drop for WholeAesGcm {
    fn drop(&mut self) {
        // SAFETY: a whole object of ours, not read again; the compiler cannot leave the call out. (Byte by byte, as
        // `zeroize` does it, this takes as long as sealing a record.)
        unsafe {
            lc::OPENSSL_cleanse(
                (&raw mut *self.context).cast(),
                size_of::<lc::EVP_AEAD_CTX>(),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::aes_gcm::AesGcm;
    use super::*;

    #[test]
    fn agrees_with_what_is_fed_in_pieces() {
        for (key_length, length) in [(16, 0), (16, 16), (24, 1000), (32, 40), (32, 16384)] {
            let bytes = |from: usize| (from..).map(|byte| byte as u8);
            let key: Vec<u8> = bytes(3).take(key_length).collect();
            let iv: Vec<u8> = bytes(50).take(12).collect();
            let associated: Vec<u8> = bytes(7).take(13).collect();
            let plain: Vec<u8> = bytes(1).take(length).collect();

            let mut pieces = AesGcm::new(&key, true).expect("a cipher");
            let mut expected = plain.clone();
            let mut expected_tag = [0; TAG_LENGTH];
            pieces.start(&iv, true).expect("start");
            pieces.associate(&associated).expect("associate");
            pieces
                .update(expected.as_mut_slice().into())
                .expect("update");
            pieces.seal(&mut expected_tag).expect("seal");

            let whole = WholeAesGcm::new(&key).expect("a key");
            let mut text = plain.clone();
            let tag = whole.seal(&iv, &associated, &mut text).expect("seal");
            assert_eq!((&text, tag), (&expected, expected_tag));
            assert!(whole.open(&iv, &associated, &mut text, &tag));
            assert_eq!(text, plain);
        }
    }

    #[test]
    fn gives_out_nothing_that_is_not_authentic() {
        let whole = WholeAesGcm::new(&[7; 16]).expect("a key");
        let mut text = [1; 40];
        let tag = whole.seal(&[2; 12], b"header", &mut text).expect("seal");
        let mut wrong = [(tag, *b"header", text); 3];
        wrong[0].0[15] ^= 1;
        wrong[1].1[0] ^= 1;
        wrong[2].2[39] ^= 1;
        for (tag, associated, mut text) in wrong {
            assert!(!whole.open(&[2; 12], &associated, &mut text, &tag));
            assert_eq!(text, [0; 40]);
        }
        assert!(!whole.open(&[3; 12], b"header", &mut text.clone(), &tag));
        assert!(!whole.open(&[2; 12], b"header", &mut text.clone(), &tag[..15]));
        assert!(whole.open(&[2; 12], b"header", &mut text, &tag));
    }

    #[test]
    fn refuses_keys_and_vectors_of_no_length() {
        assert!(matches!(WholeAesGcm::new(&[0; 17]), Err(Error::InvalidKey)));
        let whole = WholeAesGcm::new(&[7; 16]).expect("a key");
        assert!(whole.seal(&[], b"", &mut [1; 16]).is_err());
    }
}
