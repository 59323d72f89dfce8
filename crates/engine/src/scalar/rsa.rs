//! RSA: signatures by PKCS #1 v1.5 and PSS (RFC 8017), and the paddings of encryption.

mod decryption;
mod encryption;

pub use decryption::{Message, PREMASTER, Rejection, Versions, oaep};

use std::ffi::{c_int, c_uint};
use std::{ptr, slice};

use aws_lc_sys as lc;
use zeroize::Zeroizing;

use super::digest::Digest;
use super::owned::Owned;
use super::per_process::PerProcess;
use super::randomness::drawing;
use super::{big_number, check, private_key};
use crate::error::{Error, Result};
use crate::fork;

/// The longest modulus the engine takes, in bytes.
pub const MAX_LENGTH: usize = 512;

/// The numbers of a key (RFC 8017, A.1), most significant byte first.
pub struct Numbers<'a> {
    /// The modulus.
    pub n: &'a [u8],
    /// The public exponent.
    pub e: &'a [u8],
    /// The private half.
    pub private: Option<PrivateNumbers<'a>>,
}

/// The numbers of a private key.
pub struct PrivateNumbers<'a> {
    /// The private exponent.
    pub d: &'a [u8],
    /// The first prime.
    pub p: &'a [u8],
    /// The second prime.
    pub q: &'a [u8],
    /// d mod (p − 1).
    pub dp: &'a [u8],
    /// d mod (q − 1).
    pub dq: &'a [u8],
    /// q⁻¹ mod p.
    pub qinv: &'a [u8],
}

/// How the salt of a PSS signature is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaltLength {
    /// That many bytes.
    Bytes(usize),
    /// As long as the digest.
    Digest,
    /// As long as fits; when verifying, whatever is found.
    Auto,
}

impl SaltLength {
    fn code(self) -> Result<i32> {
        match self {
            Self::Bytes(bytes) => i32::try_from(bytes).map_err(|_| Error::InvalidInput),
            Self::Digest => Ok(lc::RSA_PSS_SALTLEN_DIGEST),
            Self::Auto => Ok(lc::RSA_PSS_SALTLEN_AUTO),
        }
    }
}

/// What a signature is made of the digest by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// RSASSA-PKCS1-v1_5.
    Pkcs1,
    /// RSASSA-PSS.
    Pss {
        /// The mask generation function's digest.
        mgf1: Digest,
        /// The salt's length.
        salt: SaltLength,
    },
}

/// A key, public or private.
pub struct Key {
    rsa: PerProcess,
    length: usize,
    bits: usize,
    private: bool,
}

impl Key {
    /// Makes a key of the numbers, if AWS-LC can compute with them. Whether all of a private key's belong
    /// together is not asked, which takes as long as half a signature: each result is verified with the
    /// public key, and none comes of numbers that don't.
    pub fn new(numbers: &Numbers<'_>) -> Result<Self> {
        fork::ready();
        let n = big_number::from_bytes(numbers.n)?;
        let e = big_number::from_bytes(numbers.e)?;
        let rsa = match &numbers.private {
            // SAFETY: live numbers, which are copied.
            None => unsafe {
                Owned::new(
                    lc::RSA_new_public_key(n.as_ptr(), e.as_ptr()),
                    Error::InvalidKey,
                )?
            },
            Some(private) => checked(n, e, private)?,
        };
        // SAFETY: a live key.
        let (length, bits) = unsafe {
            (
                lc::RSA_size(rsa.as_ptr()) as usize,
                lc::RSA_bits(rsa.as_ptr()) as usize,
            )
        };
        if length > MAX_LENGTH {
            return Err(Error::InvalidKey);
        }
        Ok(Self {
            rsa: PerProcess::new(rsa),
            length,
            bits,
            private: numbers.private.is_some(),
        })
    }

    /// A copy of AWS-LC's private key.
    ///
    /// # Safety
    /// `key` is null or live.
    pub(super) unsafe fn copy_of(key: *const lc::RSA) -> Result<Self> {
        if key.is_null() {
            return Err(Error::InvalidKey);
        }
        // SAFETY: live, by the caller's word; its numbers never change.
        let numbers = unsafe { components_of(key) }.ok_or(Error::NoPrivateKey)?;
        // SAFETY: as above.
        let d = unsafe { bytes_of(lc::RSA_get0_d(key)) }.ok_or(Error::NoPrivateKey)?;
        let [n, e, p, q, dp, dq, qinv] = &numbers.0;
        Self::new(&Numbers {
            n,
            e,
            private: Some(PrivateNumbers {
                d: &d,
                p,
                q,
                dp,
                dq,
                qinv,
            }),
        })
    }

    /// The modulus's length in bytes, which is a signature's.
    pub fn length(&self) -> usize {
        self.length
    }

    /// The modulus's length in bits.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// Whether it can sign.
    pub fn is_private(&self) -> bool {
        self.private
    }

    /// Signs a digest; `output` holds at least [`Key::length`] bytes. The signature was verified with
    /// the public key before it is written.
    pub fn sign(
        &self,
        scheme: Scheme,
        digest: Digest,
        value: &[u8],
        output: &mut [u8],
    ) -> Result<usize> {
        if !self.private {
            return Err(Error::NoPrivateKey);
        }
        if value.len() != digest.length() || output.len() < self.length {
            return Err(Error::InvalidInput);
        }
        let _whole = drawing()?;
        match scheme {
            Scheme::Pkcs1 => {
                let mut written: c_uint = 0;
                // SAFETY: a live key; `output` has room for a signature, as just checked.
                let answer = unsafe {
                    lc::RSA_sign(
                        digest.nid(),
                        value.as_ptr(),
                        value.len(),
                        output.as_mut_ptr(),
                        &raw mut written,
                        self.rsa.as_ptr(),
                    )
                };
                check(answer, Error::Failed)?;
                Ok(written as usize)
            }
            Scheme::Pss { mgf1, salt } => {
                let mut written = 0;
                // SAFETY: a live key; writes at most `output.len()` bytes.
                let answer = unsafe {
                    lc::RSA_sign_pss_mgf1(
                        self.rsa.as_ptr(),
                        &raw mut written,
                        output.as_mut_ptr(),
                        output.len(),
                        value.as_ptr(),
                        value.len(),
                        digest.algorithm(),
                        mgf1.algorithm(),
                        salt.code()?,
                    )
                };
                check(answer, Error::Failed)?;
                Ok(written)
            }
        }
    }

    /// Whether that is a signature of the digest.
    pub fn verify(&self, scheme: Scheme, digest: Digest, value: &[u8], signature: &[u8]) -> bool {
        fork::ready();
        if value.len() != digest.length() {
            return false;
        }
        let answer = match scheme {
            // SAFETY: a live key; reads as many bytes as there are.
            Scheme::Pkcs1 => unsafe {
                lc::RSA_verify(
                    digest.nid(),
                    value.as_ptr(),
                    value.len(),
                    signature.as_ptr(),
                    signature.len(),
                    self.rsa.as_ptr(),
                )
            },
            Scheme::Pss { mgf1, salt } => {
                let Ok(salt) = salt.code() else { return false };
                // SAFETY: a live key; reads as many bytes as there are.
                unsafe {
                    lc::RSA_verify_pss_mgf1(
                        self.rsa.as_ptr(),
                        value.as_ptr(),
                        value.len(),
                        digest.algorithm(),
                        mgf1.algorithm(),
                        salt,
                        signature.as_ptr(),
                        signature.len(),
                    )
                }
            }
        };
        check(answer, Error::Failed).is_ok()
    }

    /// Pads data by PKCS #1 v1.5 as it is, without a digest's name, and signs it; `output` holds at
    /// least [`Key::length`] bytes.
    pub fn sign_unnamed(&self, data: &[u8], output: &mut [u8]) -> Result<usize> {
        self.sign_raw(lc::RSA_PKCS1_PADDING, data, output, Error::InvalidInput)
    }

    /// Raises the data, padded so, to the private exponent; the result was verified with the public
    /// key. `refusal` is what it means that AWS-LC refuses.
    fn sign_raw(
        &self,
        padding: c_int,
        data: &[u8],
        output: &mut [u8],
        refusal: Error,
    ) -> Result<usize> {
        if !self.private {
            return Err(Error::NoPrivateKey);
        }
        let mut written = 0;
        let _whole = drawing()?;
        // SAFETY: a live key; reads as many bytes as there are, writes at most `output.len()`.
        let answer = unsafe {
            lc::RSA_sign_raw(
                self.rsa.as_ptr(),
                &raw mut written,
                output.as_mut_ptr(),
                output.len(),
                data.as_ptr(),
                data.len(),
                padding,
            )
        };
        check(answer, refusal)?;
        Ok(written)
    }

    /// Whether that is a signature of the data by [`Key::sign_unnamed`].
    pub fn verify_unnamed(&self, data: &[u8], signature: &[u8]) -> bool {
        self.is_signed(lc::RSA_PKCS1_PADDING, data, signature)
    }

    /// Whether that is a number of [`Key::length`] bytes, raised by [`Key::power`].
    pub fn verify_power(&self, block: &[u8], signature: &[u8]) -> bool {
        self.is_signed(lc::RSA_NO_PADDING, block, signature)
    }

    /// Whether the data, padded so, is what the signature raised to the public exponent is.
    fn is_signed(&self, padding: c_int, data: &[u8], signature: &[u8]) -> bool {
        fork::ready();
        let mut signed = [0; MAX_LENGTH];
        let mut length = 0;
        // SAFETY: a live key; writes at most as many bytes as there are.
        let answer = unsafe {
            lc::RSA_verify_raw(
                self.rsa.as_ptr(),
                &raw mut length,
                signed.as_mut_ptr(),
                signed.len(),
                signature.as_ptr(),
                signature.len(),
                padding,
            )
        };
        check(answer, Error::Failed).is_ok() && signed.get(..length) == Some(data)
    }

    /// Encodes a digest as that scheme signs it, in [`Key::length`] bytes: what [`Key::power`] then
    /// raises. [`Key::sign`] in two steps.
    pub fn encode(&self, scheme: Scheme, digest: Digest, value: &[u8]) -> Result<Vec<u8>> {
        fork::ready();
        if value.len() != digest.length() {
            return Err(Error::InvalidInput);
        }
        match scheme {
            Scheme::Pkcs1 => {
                let mut named = ptr::null_mut();
                let mut length = 0;
                let mut is_allocated = 0;
                // SAFETY: reads as many bytes as there are; makes a message, or points to the value.
                let answer = unsafe {
                    lc::RSA_add_pkcs1_prefix(
                        &raw mut named,
                        &raw mut length,
                        &raw mut is_allocated,
                        digest.nid(),
                        value.as_ptr(),
                        value.len(),
                    )
                };
                check(answer, Error::InvalidInput)?;
                // SAFETY: the message of that length, live until it is freed below.
                let block = self.encode_unnamed(unsafe { slice::from_raw_parts(named, length) });
                if is_allocated == 1 {
                    // SAFETY: made above, and not used again.
                    unsafe { lc::OPENSSL_free(named.cast()) };
                }
                block
            }
            Scheme::Pss { mgf1, salt } => {
                let mut block = vec![0; self.length];
                let _whole = drawing()?;
                // SAFETY: a live key; `block` has room for as many bytes as its modulus has; the value
                // is as long as its digest.
                let answer = unsafe {
                    lc::RSA_padding_add_PKCS1_PSS_mgf1(
                        self.rsa.as_ptr(),
                        block.as_mut_ptr(),
                        value.as_ptr(),
                        digest.algorithm(),
                        mgf1.algorithm(),
                        salt.code()?,
                    )
                };
                check(answer, Error::InvalidInput)?;
                Ok(block)
            }
        }
    }

    /// Pads data by PKCS #1 v1.5 as it is: [`Key::sign_unnamed`]'s first step (RFC 8017, 9.2).
    pub fn encode_unnamed(&self, data: &[u8]) -> Result<Vec<u8>> {
        // 00 01, at least eight times ff, 00.
        if data.len() + 11 > self.length {
            return Err(Error::InvalidInput);
        }
        let mut block = vec![0xff; self.length];
        block[..2].copy_from_slice(&[0, 1]);
        let (padding, message) = block.split_at_mut(self.length - data.len());
        padding[padding.len() - 1] = 0;
        message.copy_from_slice(data);
        Ok(block)
    }

    /// The bare private operation (RFC 8017, 5.2.1) on a number of [`Key::length`] bytes that is below
    /// the modulus; `output` holds at least as many. The result was verified with the public key.
    pub fn power(&self, block: &[u8], output: &mut [u8]) -> Result<usize> {
        if block.len() != self.length {
            return Err(Error::InvalidInput);
        }
        if self.keeps(block) {
            let output = output.get_mut(..self.length).ok_or(Error::InvalidInput)?;
            output.copy_from_slice(block);
            return Ok(self.length);
        }
        self.sign_raw(lc::RSA_NO_PADDING, block, output, Error::Failed)
    }

    /// Whether a number is 0, 1 or one below the modulus: every key's private operation leaves these as they are. AWS-LC refuses them
    /// (SP 800-56B, 7.1.2.1), and the lanes do not: whoever asks must not learn which of them computed.
    fn keeps(&self, block: &[u8]) -> bool {
        let Some((&last, before)) = block.split_last() else {
            return false;
        };
        if before.iter().all(|&byte| byte == 0) {
            return last < 2;
        }
        // SAFETY: a live key, whose modulus never changes.
        let modulus = unsafe { bytes_of_length(lc::RSA_get0_n(self.rsa.as_ptr()), self.length) };
        // A modulus is odd.
        modulus.is_some_and(|modulus| {
            modulus.ends_with(&[last | 1]) && modulus.starts_with(before) && last & 1 == 0
        })
    }

    /// The numbers that the lanes make their form of the key from; none of a key without two primes.
    pub(crate) fn components(&self) -> Option<Components> {
        // SAFETY: a live key, whose numbers never change.
        unsafe { components_of(self.rsa.as_ptr()) }
    }
}

/// The numbers of a key.
///
/// # Safety
/// `key` is live.
unsafe fn components_of(key: *const lc::RSA) -> Option<Components> {
    // SAFETY: a live key.
    let numbers = unsafe {
        [
            lc::RSA_get0_n(key),
            lc::RSA_get0_e(key),
            lc::RSA_get0_p(key),
            lc::RSA_get0_q(key),
            lc::RSA_get0_dmp1(key),
            lc::RSA_get0_dmq1(key),
            lc::RSA_get0_iqmp(key),
        ]
    };
    let mut components = Components(Default::default());
    for (bytes, number) in components.0.iter_mut().zip(numbers) {
        // SAFETY: null, or a live number.
        *bytes = unsafe { bytes_of(number) }?;
    }
    Some(components)
}

/// A number's bytes, most significant first; none of null.
///
/// # Safety
/// `number` is null or live.
unsafe fn bytes_of(number: *const lc::BIGNUM) -> Option<Zeroizing<Vec<u8>>> {
    if number.is_null() {
        return None;
    }
    // SAFETY: a live number.
    unsafe { bytes_of_length(number, lc::BN_num_bytes(number) as usize) }
}

/// A number's bytes, that many, most significant first; none of null, or of a number that is longer.
///
/// # Safety
/// `number` is null or live.
unsafe fn bytes_of_length(number: *const lc::BIGNUM, length: usize) -> Option<Zeroizing<Vec<u8>>> {
    if number.is_null() {
        return None;
    }
    let mut bytes = Zeroizing::new(vec![0; length]);
    // SAFETY: a live number.
    unsafe { big_number::to_bytes(number, &mut bytes).ok()? };
    Some(bytes)
}

/// A private key of those numbers, if AWS-LC can compute with them.
fn checked(
    n: Owned<lc::BIGNUM>,
    e: Owned<lc::BIGNUM>,
    private: &PrivateNumbers<'_>,
) -> Result<Owned<lc::RSA>> {
    let numbers = private_key::Numbers {
        n,
        e,
        d: big_number::from_bytes(private.d)?,
        p: big_number::from_bytes(private.p)?,
        q: big_number::from_bytes(private.q)?,
        dp: big_number::from_bytes(private.dp)?,
        dq: big_number::from_bytes(private.dq)?,
        qinv: big_number::from_bytes(private.qinv)?,
    };
    // SAFETY: live numbers.
    let in_range = unsafe {
        let below = |a: &Owned<_>, b: &Owned<_>| lc::BN_ucmp(a.as_ptr(), b.as_ptr()) < 0;
        [
            below(&numbers.p, &numbers.n),
            below(&numbers.q, &numbers.n),
            below(&numbers.dp, &numbers.p),
            below(&numbers.dq, &numbers.q),
            below(&numbers.qinv, &numbers.p),
            // A private exponent that was not reduced is right, too; but AWS-LC would find it too long
            // at the first signature.
            lc::BN_num_bits(numbers.d.as_ptr()) <= lc::BN_num_bits(numbers.n.as_ptr()),
        ]
    };
    if in_range.contains(&false) || !are_factors(&numbers.p, &numbers.q, &numbers.n)? {
        return Err(Error::InvalidKey);
    }
    private_key::assemble(numbers)
}

/// Whether p · q = n.
fn are_factors(
    p: &Owned<lc::BIGNUM>,
    q: &Owned<lc::BIGNUM>,
    n: &Owned<lc::BIGNUM>,
) -> Result<bool> {
    // SAFETY: live numbers, and room for the product.
    unsafe {
        let product = Owned::new(lc::BN_new(), Error::Resource)?;
        let scratch = Owned::new(lc::BN_CTX_new(), Error::Resource)?;
        let answer = lc::BN_mul(product.as_ptr(), p.as_ptr(), q.as_ptr(), scratch.as_ptr());
        check(answer, Error::Resource)?;
        Ok(lc::BN_ucmp(product.as_ptr(), n.as_ptr()) == 0)
    }
}

/// A private key's n, e, p, q, dp, dq and qinv, most significant byte first. Wiped when dropped.
pub(crate) struct Components(pub(crate) [Zeroizing<Vec<u8>>; 7]);
