//! Digests, for signatures that hash and sign in one.

use std::ffi::c_uint;

use aws_lc_sys as lc;

use super::check;
use super::owned::Owned;
use crate::error::{Error, Result};
use crate::fork;

/// The most bytes that any digest here has.
pub const MAX_LENGTH: usize = 64;

/// A digest algorithm that the engine computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digest {
    /// MD5 and SHA-1 side by side, as TLS 1.0 and 1.1 sign.
    Md5Sha1,
    /// SHA-1.
    Sha1,
    /// SHA-224.
    Sha224,
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
    /// SHA-512/256.
    Sha512_256,
    /// SHA3-256.
    Sha3_256,
    /// SHA3-384.
    Sha3_384,
    /// SHA3-512.
    Sha3_512,
}

impl Digest {
    /// The digest of one of the names that OpenSSL knows it by.
    pub fn from_name(name: &str) -> Option<Self> {
        const NAMES: &[(Digest, &[&str])] = &[
            (
                Digest::Sha256,
                &["SHA256", "SHA2-256", "SHA-256", "2.16.840.1.101.3.4.2.1"],
            ),
            (
                Digest::Sha384,
                &["SHA384", "SHA2-384", "SHA-384", "2.16.840.1.101.3.4.2.2"],
            ),
            (
                Digest::Sha512,
                &["SHA512", "SHA2-512", "SHA-512", "2.16.840.1.101.3.4.2.3"],
            ),
            (
                Digest::Sha1,
                &["SHA1", "SHA-1", "SSL3-SHA1", "1.3.14.3.2.26"],
            ),
            (
                Digest::Sha224,
                &["SHA224", "SHA2-224", "SHA-224", "2.16.840.1.101.3.4.2.4"],
            ),
            (
                Digest::Sha512_256,
                &[
                    "SHA512-256",
                    "SHA2-512/256",
                    "SHA-512/256",
                    "2.16.840.1.101.3.4.2.6",
                ],
            ),
            (Digest::Sha3_256, &["SHA3-256", "2.16.840.1.101.3.4.2.8"]),
            (Digest::Sha3_384, &["SHA3-384", "2.16.840.1.101.3.4.2.9"]),
            (Digest::Sha3_512, &["SHA3-512", "2.16.840.1.101.3.4.2.10"]),
            (Digest::Md5Sha1, &["MD5-SHA1"]),
        ];
        NAMES
            .iter()
            .find(|(_, names)| names.iter().any(|known| known.eq_ignore_ascii_case(name)))
            .map(|&(digest, _)| digest)
    }

    /// The name that OpenSSL prefers.
    pub const fn name(self) -> &'static std::ffi::CStr {
        match self {
            Self::Md5Sha1 => c"MD5-SHA1",
            Self::Sha1 => c"SHA1",
            Self::Sha224 => c"SHA224",
            Self::Sha256 => c"SHA256",
            Self::Sha384 => c"SHA384",
            Self::Sha512 => c"SHA512",
            Self::Sha512_256 => c"SHA512-256",
            Self::Sha3_256 => c"SHA3-256",
            Self::Sha3_384 => c"SHA3-384",
            Self::Sha3_512 => c"SHA3-512",
        }
    }

    /// How many bytes it has.
    pub const fn length(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha224 => 28,
            Self::Sha256 | Self::Sha512_256 | Self::Sha3_256 => 32,
            Self::Md5Sha1 => 36,
            Self::Sha384 | Self::Sha3_384 => 48,
            Self::Sha512 | Self::Sha3_512 => 64,
        }
    }

    /// AWS-LC's number for it.
    pub(super) fn nid(self) -> i32 {
        // SAFETY: the algorithm is static.
        unsafe { lc::EVP_MD_type(self.algorithm()) }
    }

    pub(super) fn algorithm(self) -> *const lc::EVP_MD {
        // SAFETY: these functions answer static algorithms and have no preconditions.
        unsafe {
            match self {
                Self::Md5Sha1 => lc::EVP_md5_sha1(),
                Self::Sha1 => lc::EVP_sha1(),
                Self::Sha224 => lc::EVP_sha224(),
                Self::Sha256 => lc::EVP_sha256(),
                Self::Sha384 => lc::EVP_sha384(),
                Self::Sha512 => lc::EVP_sha512(),
                Self::Sha512_256 => lc::EVP_sha512_256(),
                Self::Sha3_256 => lc::EVP_sha3_256(),
                Self::Sha3_384 => lc::EVP_sha3_384(),
                Self::Sha3_512 => lc::EVP_sha3_512(),
            }
        }
    }
}

/// A digest under way.
pub struct Hasher {
    digest: Digest,
    context: Owned<lc::EVP_MD_CTX>,
}

impl Hasher {
    /// A digest of nothing yet.
    pub fn new(digest: Digest) -> Result<Self> {
        fork::ready();
        // SAFETY: makes a new context.
        let context = unsafe { Owned::new(lc::EVP_MD_CTX_new(), Error::Resource)? };
        // SAFETY: a live context and a static algorithm.
        let answer = unsafe {
            lc::EVP_DigestInit_ex(context.as_ptr(), digest.algorithm(), std::ptr::null_mut())
        };
        check(answer, Error::Resource)?;
        Ok(Self { digest, context })
    }

    /// The algorithm.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Takes more of the message.
    pub fn update(&mut self, data: &[u8]) -> Result<()> {
        // SAFETY: a live context; reads as many bytes as there are.
        let answer = unsafe {
            lc::EVP_DigestUpdate(self.context.as_ptr(), data.as_ptr().cast(), data.len())
        };
        check(answer, Error::Failed)
    }

    /// The digest of what was taken; the hasher goes on as it was.
    pub fn finish(&self) -> Result<Value> {
        let mut last = self.try_clone()?;
        last.finish_in_place()
    }

    /// The digest of what was taken, and the end.
    pub fn end(mut self) -> Result<Value> {
        self.finish_in_place()
    }

    /// The digest of what was taken, and a hasher of nothing again.
    pub fn finish_and_reset(&mut self) -> Result<Value> {
        let value = self.finish_in_place()?;
        *self = Self::new(self.digest)?;
        Ok(value)
    }

    /// A hasher in the same state.
    pub fn try_clone(&self) -> Result<Self> {
        // SAFETY: makes a new context.
        let context = unsafe { Owned::new(lc::EVP_MD_CTX_new(), Error::Resource)? };
        // SAFETY: both contexts are live.
        let answer = unsafe { lc::EVP_MD_CTX_copy_ex(context.as_ptr(), self.context.as_ptr()) };
        check(answer, Error::Resource)?;
        Ok(Self {
            digest: self.digest,
            context,
        })
    }

    /// The digest of what was taken; the hasher is of no more use.
    pub(super) fn finish_in_place(&mut self) -> Result<Value> {
        let mut value = Value {
            bytes: [0; MAX_LENGTH],
            length: self.digest.length(),
        };
        let mut length: c_uint = 0;
        // SAFETY: a live context; no digest of ours is longer than the room.
        let answer = unsafe {
            lc::EVP_DigestFinal_ex(
                self.context.as_ptr(),
                value.bytes.as_mut_ptr(),
                &raw mut length,
            )
        };
        check(answer, Error::Failed)?;
        Ok(value)
    }
}

/// A digest's value.
#[derive(Clone, Copy)]
pub struct Value {
    bytes: [u8; MAX_LENGTH],
    length: usize,
}

impl Value {
    /// The first so many of those bytes.
    pub(super) fn new(bytes: [u8; MAX_LENGTH], length: usize) -> Self {
        Self { bytes, length }
    }
}

impl std::ops::Deref for Value {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sha256_of_abc_is_what_fips_180_says() {
        let mut hasher = Hasher::new(Digest::Sha256).expect("a hasher");
        hasher.update(b"a").expect("update");
        hasher.update(b"bc").expect("update");
        let value = hasher.finish_and_reset().expect("finish");
        assert_eq!(value[..4], [0xba, 0x78, 0x16, 0xbf]);
        assert_eq!(
            hasher.finish().expect("finish")[..4],
            [0xe3, 0xb0, 0xc4, 0x42]
        );
    }

    #[test]
    fn every_digest_has_the_length_it_says_and_is_found_by_its_name() {
        for digest in [
            Digest::Md5Sha1,
            Digest::Sha1,
            Digest::Sha224,
            Digest::Sha256,
            Digest::Sha384,
            Digest::Sha512,
            Digest::Sha512_256,
            Digest::Sha3_256,
            Digest::Sha3_384,
            Digest::Sha3_512,
        ] {
            // SAFETY: a static algorithm.
            let length = unsafe { lc::EVP_MD_size(digest.algorithm()) };
            assert_eq!(length, digest.length());
            let name = digest.name().to_str().expect("ASCII");
            assert_eq!(Digest::from_name(&name.to_lowercase()), Some(digest));
        }
    }
}
