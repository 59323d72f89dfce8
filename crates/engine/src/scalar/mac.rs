//! Message authentication codes: HMAC of any digest (RFC 2104), and CMAC of AES (SP 800-38B).

use std::ffi::c_uint;
use std::ptr;

use aws_lc_sys as lc;
use subtle::ConstantTimeEq;

use super::aes::{BLOCK, CBC, cipher};
use super::check;
use super::digest::{Digest, MAX_LENGTH, Value};
use super::owned::Owned;
use crate::error::{Error, Result};
use crate::fork;

/// A code under way.
pub struct Mac(Context);

enum Context {
    Hmac(Owned<lc::HMAC_CTX>, usize),
    Cmac(Owned<lc::CMAC_CTX>),
}

impl Mac {
    /// An HMAC with a key of any length.
    pub fn hmac(digest: Digest, key: &[u8]) -> Result<Self> {
        fork::ready();
        // SAFETY: makes a new context.
        let context = unsafe { Owned::new(lc::HMAC_CTX_new(), Error::Resource)? };
        // SAFETY: a live context and a static algorithm; reads as many bytes as there are.
        let answer = unsafe {
            lc::HMAC_Init_ex(
                context.as_ptr(),
                key.as_ptr().cast(),
                key.len(),
                digest.algorithm(),
                ptr::null_mut(),
            )
        };
        check(answer, Error::Resource)?;
        Ok(Self(Context::Hmac(context, digest.length())))
    }

    /// A CMAC with a key of AES.
    ///
    /// # Errors
    /// [`Error::InvalidKey`]: AES has no key of that length.
    pub fn cmac(key: &[u8]) -> Result<Self> {
        fork::ready();
        let cipher = cipher(CBC, key)?;
        // SAFETY: makes a new context.
        let context = unsafe { Owned::new(lc::CMAC_CTX_new(), Error::Resource)? };
        // SAFETY: a live context and a static cipher, whose keys are that long.
        let answer = unsafe {
            lc::CMAC_Init(
                context.as_ptr(),
                key.as_ptr().cast(),
                key.len(),
                cipher,
                ptr::null_mut(),
            )
        };
        check(answer, Error::Resource)?;
        Ok(Self(Context::Cmac(context)))
    }

    /// Takes more of the message.
    pub fn update(&mut self, data: &[u8]) -> Result<()> {
        // SAFETY: live contexts; read as many bytes as there are.
        let answer = unsafe {
            match &self.0 {
                Context::Hmac(context, _) => {
                    lc::HMAC_Update(context.as_ptr(), data.as_ptr(), data.len())
                }
                Context::Cmac(context) => {
                    lc::CMAC_Update(context.as_ptr(), data.as_ptr(), data.len())
                }
            }
        };
        check(answer, Error::Failed)
    }

    /// The code of what was taken.
    pub fn finish(self) -> Result<Value> {
        let mut bytes = [0; MAX_LENGTH];
        let answer = match &self.0 {
            Context::Hmac(context, _) => {
                let mut length: c_uint = 0;
                // SAFETY: a live context; no digest is longer than the room.
                unsafe { lc::HMAC_Final(context.as_ptr(), bytes.as_mut_ptr(), &raw mut length) }
            }
            Context::Cmac(context) => {
                let mut length = 0;
                // SAFETY: a live context; a block is shorter than the room.
                unsafe { lc::CMAC_Final(context.as_ptr(), bytes.as_mut_ptr(), &raw mut length) }
            }
        };
        check(answer, Error::Failed)?;
        Ok(Value::new(bytes, self.length()))
    }

    /// The length of a whole code, in bytes.
    pub fn length(&self) -> usize {
        match &self.0 {
            Context::Hmac(_, length) => *length,
            Context::Cmac(_) => BLOCK,
        }
    }
}

/// Whether two codes are the same, in a time that only their lengths decide.
pub fn equal(one: &[u8], other: &[u8]) -> bool {
    one.ct_eq(other).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 2202, 3, test case 2; RFC 4493, 4, example 2.
    #[test]
    fn codes_are_those_of_the_standards() {
        let mut hmac = Mac::hmac(Digest::Sha1, b"Jefe").unwrap();
        hmac.update(b"what do ya want ").unwrap();
        hmac.update(b"for nothing?").unwrap();
        let code = hmac.finish().unwrap();
        assert_eq!(code.len(), 20);
        assert_eq!(code[..4], [0xef, 0xfc, 0xdf, 0x6a]);

        let key = 0x2b7e_1516_28ae_d2a6_abf7_1588_09cf_4f3c_u128.to_be_bytes();
        let message = 0x6bc1_bee2_2e40_9f96_e93d_7e11_7393_172a_u128.to_be_bytes();
        let mut cmac = Mac::cmac(&key).unwrap();
        cmac.update(&message).unwrap();
        let code = 0x070a_16b4_6b4d_4144_f79b_dd9d_d04a_287c_u128.to_be_bytes();
        assert!(equal(&cmac.finish().unwrap(), &code));
        assert!(!equal(&code, &code[..15]));
        assert!(Mac::cmac(&key[..15]).is_err());
    }
}
