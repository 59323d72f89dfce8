//! SHAKE256 (FIPS 202), of a text that comes in parts.

use std::ptr;

use aws_lc_sys as lc;

use super::check;
use super::owned::Owned;
use crate::error::{Error, Result};
use crate::fork;

/// A hash under way. Its state is wiped when dropped.
pub(super) struct Shake256(Owned<lc::EVP_MD_CTX>);

impl Shake256 {
    /// Of nothing yet.
    pub(super) fn new() -> Result<Self> {
        fork::ready();
        // SAFETY: a new context, which owns its state, and a static algorithm.
        unsafe {
            let context = Owned::new(lc::EVP_MD_CTX_new(), Error::Resource)?;
            let answer =
                lc::EVP_DigestInit_ex(context.as_ptr(), lc::EVP_shake256(), ptr::null_mut());
            check(answer, Error::Resource)?;
            Ok(Self(context))
        }
    }

    /// Another one in the same state.
    pub(super) fn duplicate(&self) -> Result<Self> {
        // SAFETY: live contexts.
        unsafe {
            let copy = Owned::new(lc::EVP_MD_CTX_new(), Error::Resource)?;
            let answer = lc::EVP_MD_CTX_copy_ex(copy.as_ptr(), self.0.as_ptr());
            check(answer, Error::Resource)?;
            Ok(Self(copy))
        }
    }

    /// Goes on with those bytes.
    pub(super) fn update(&mut self, bytes: &[u8]) -> Result<()> {
        // SAFETY: a live context; reads as many bytes as there are.
        let answer =
            unsafe { lc::EVP_DigestUpdate(self.0.as_ptr(), bytes.as_ptr().cast(), bytes.len()) };
        check(answer, Error::Failed)
    }

    /// Ends, and fills `output`.
    pub(super) fn finish(self, output: &mut [u8]) -> Result<()> {
        // SAFETY: a live context that is not used again; writes as many bytes as there are.
        let answer =
            unsafe { lc::EVP_DigestFinalXOF(self.0.as_ptr(), output.as_mut_ptr(), output.len()) };
        check(answer, Error::Failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NIST's example for the empty text, and the same text in other parts.
    #[test]
    fn hashes_as_fips_202() {
        let mut empty = [0; 8];
        Shake256::new().unwrap().finish(&mut empty).unwrap();
        assert_eq!(empty, [0x46, 0xb9, 0xdd, 0x2b, 0x0b, 0xa8, 0x8d, 0x13]);

        let text = [0x61; 300];
        let hash = |parts: &[&[u8]]| {
            let mut shake = Shake256::new().unwrap();
            for part in parts {
                shake.update(part).unwrap();
            }
            let (mut one, mut other) = ([0; 64], [0; 64]);
            shake.duplicate().unwrap().finish(&mut one).unwrap();
            shake.finish(&mut other).unwrap();
            assert_eq!(one, other);
            one
        };
        assert_eq!(hash(&[&text]), hash(&[&text[..136], &[], &text[136..]]));
        assert_ne!(hash(&[&text]), hash(&[&text[1..]]));
    }
}
