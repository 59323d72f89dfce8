//! Encryption with the public half: PKCS #1 v1.5 and OAEP (RFC 8017, 7).

use aws_lc_sys as lc;
use zeroize::Zeroizing;

use super::{Key, check, drawing};
use crate::error::{Error, Result};
use crate::scalar::digest::Digest;

/// How many bytes PKCS #1 v1.5 adds at least.
const PKCS1_OVERHEAD: usize = 11;

impl Key {
    /// The longest message that is encrypted, in bytes; none if there is room for none.
    pub fn longest_message(&self, oaep: Option<Digest>) -> Option<usize> {
        let overhead = oaep.map_or(PKCS1_OVERHEAD, |digest| 2 * digest.length() + 2);
        self.length.checked_sub(overhead)
    }

    /// Encrypts a message, padded by PKCS #1 v1.5; `output` holds [`Key::length`] bytes.
    ///
    /// # Errors
    /// [`Error::InvalidInput`]: the message is too long.
    pub fn encrypt(&self, message: &[u8], output: &mut [u8]) -> Result<()> {
        let fits = self
            .longest_message(None)
            .is_some_and(|most| message.len() <= most);
        match fits {
            true => self.raise(message, output, lc::RSA_PKCS1_PADDING),
            false => Err(Error::InvalidInput),
        }
    }

    /// Encrypts a message, padded by OAEP; `output` holds [`Key::length`] bytes.
    ///
    /// # Errors
    /// [`Error::InvalidInput`]: the message is too long.
    pub fn encrypt_oaep(
        &self,
        message: &[u8],
        (digest, mgf1): (Digest, Digest),
        label: &[u8],
        output: &mut [u8],
    ) -> Result<()> {
        let mut block = Zeroizing::new(vec![0; self.length]);
        {
            let _whole = drawing()?;
            // SAFETY: writes and reads as many bytes as there are, with static digests.
            let answer = unsafe {
                lc::RSA_padding_add_PKCS1_OAEP_mgf1(
                    block.as_mut_ptr(),
                    block.len(),
                    message.as_ptr(),
                    message.len(),
                    label.as_ptr(),
                    label.len(),
                    digest.algorithm(),
                    mgf1.algorithm(),
                )
            };
            check(answer, Error::InvalidInput)?;
        }
        self.raise(&block, output, lc::RSA_NO_PADDING)
    }

    /// Raises a number of [`Key::length`] bytes that is below the modulus; `output` holds as many.
    ///
    /// # Errors
    /// [`Error::InvalidInput`]: it is not.
    pub fn encrypt_unpadded(&self, number: &[u8], output: &mut [u8]) -> Result<()> {
        match number.len() == self.length {
            true => self.raise(number, output, lc::RSA_NO_PADDING),
            false => Err(Error::InvalidInput),
        }
    }

    /// Raises what is padded so to the public exponent.
    fn raise(&self, data: &[u8], output: &mut [u8], padding: i32) -> Result<()> {
        let mut length = 0;
        let _whole = drawing()?;
        // SAFETY: a live key; reads as many bytes as there are, writes at most as many as there is room for.
        let answer = unsafe {
            lc::RSA_encrypt(
                self.rsa.as_ptr(),
                &raw mut length,
                output.as_mut_ptr(),
                output.len(),
                data.as_ptr(),
                data.len(),
                padding,
            )
        };
        check(answer, Error::Failed)
    }
}
