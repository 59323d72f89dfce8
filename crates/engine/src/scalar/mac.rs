//! Message authentication codes: HMAC of any digest (RFC 2104), and CMAC of AES and Triple DES (SP 800-38B).

use std::ffi::c_uint;
use std::ptr;

use aws_lc_sys as lc;
use subtle::ConstantTimeEq;

use super::aes::{BLOCK, CBC, cipher};
use super::check;
use super::des3;
use super::digest::{Digest, MAX_LENGTH, Value};
use super::owned::Owned;
use crate::error::{Error, Result};
use crate::fork;

/// A code under way.
pub struct Mac(Context);

enum Context {
    Hmac(Owned<lc::HMAC_CTX>, usize),
    Cmac(Owned<lc::CMAC_CTX>, usize),
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
        // SAFETY: a static cipher, whose keys are that long.
        unsafe { Self::cmac_of(cipher(CBC, key)?, key, BLOCK) }
    }

    /// A CMAC with a key of Triple DES, of 16 or 24 bytes.
    ///
    /// # Errors
    /// [`Error::InvalidKey`]: Triple DES has no key of that length.
    pub fn cmac_des3(key: &[u8]) -> Result<Self> {
        let key = des3::whole(key)?;
        // SAFETY: a static cipher, whose keys are that long.
        unsafe { Self::cmac_of(lc::EVP_des_ede3_cbc(), &key[..], des3::BLOCK) }
    }

    /// # Safety
    /// The key is as long as the cipher asks.
    unsafe fn cmac_of(cipher: *const lc::EVP_CIPHER, key: &[u8], block: usize) -> Result<Self> {
        fork::ready();
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
        Ok(Self(Context::Cmac(context, block)))
    }

    /// Takes more of the message.
    pub fn update(&mut self, data: &[u8]) -> Result<()> {
        // SAFETY: live contexts; read as many bytes as there are.
        let answer = unsafe {
            match &self.0 {
                Context::Hmac(context, _) => {
                    lc::HMAC_Update(context.as_ptr(), data.as_ptr(), data.len())
                }
                Context::Cmac(context, _) => {
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
            Context::Cmac(context, _) => {
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
            Context::Cmac(_, block) => *block,
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

    /// NIST's examples of CMAC with Triple DES (SP 800-38B, appendix D.4 and D.5 of its first edition).
    #[test]
    fn codes_of_triple_des_are_those_of_sp_800_38b() {
        let message = [
            0x6bc1_bee2_2e40_9f96_u64,
            0xe93d_7e11_7393_172a,
            0xae2d_8a57_1e03_ac9c,
            0x9eb7_6fac_45af_8e51,
        ];
        let message = message.map(u64::to_be_bytes).concat();
        let three = [
            0x8aa8_3bf8_cbda_1062_u64,
            0x0bc1_bf19_fbb6_cd58,
            0xbc31_3d4a_371c_a8b5,
        ];
        let two = [0x4cf1_5134_a285_0dd5_u64, 0x8a3d_10ba_8057_0d38];
        let of_three = [
            0xb7a6_88e1_22ff_af95_u64,
            0x8e8f_2931_3628_3797,
            0x743d_dbe0_ce2d_c2ed,
            0x33e6_b109_2400_eae5,
        ];
        let of_two = [
            0xbd2e_bf9a_3ba0_0361_u64,
            0x4ff2_ab81_3c53_ce83,
            0x62dd_1b47_1902_bd4e,
            0x31b1_e431_dabc_4eb8,
        ];
        for (key, codes) in [(&three[..], of_three), (&two[..], of_two)] {
            let key: Vec<u8> = key.iter().flat_map(|part| part.to_be_bytes()).collect();
            for (length, code) in [0, 8, 20, 32].into_iter().zip(codes) {
                let mut cmac = Mac::cmac_des3(&key).unwrap();
                cmac.update(&message[..length]).unwrap();
                let computed = cmac.finish().unwrap();
                assert!(equal(&computed, &code.to_be_bytes()), "{length}");
            }
        }
    }
}
