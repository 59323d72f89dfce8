//! HKDF of any digest (RFC 5869). The key schedule of TLS has one of its own.

use aws_lc_sys as lc;
use zeroize::Zeroizing;

use super::check;
use super::digest::{Digest, MAX_LENGTH};
use crate::error::{Error, Result};
use crate::fork;

/// HKDF-Extract. An empty salt is as good as one of zeros.
pub fn extract(digest: Digest, salt: &[u8], secret: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
    fork::ready();
    let mut key = Zeroizing::new(vec![0; MAX_LENGTH]);
    let mut length = 0;
    // SAFETY: room for any digest; reads as many bytes as there are.
    let answer = unsafe {
        lc::HKDF_extract(
            key.as_mut_ptr(),
            &raw mut length,
            digest.algorithm(),
            secret.as_ptr(),
            secret.len(),
            salt.as_ptr(),
            salt.len(),
        )
    };
    check(answer, Error::Failed)?;
    key.truncate(length);
    Ok(key)
}

/// HKDF-Expand.
///
/// # Errors
/// [`Error::InvalidInput`]: more is asked for than 255 digests.
pub fn expand(digest: Digest, key: &[u8], info: &[u8], output: &mut [u8]) -> Result<()> {
    fork::ready();
    if output.len() > 255 * digest.length() {
        return Err(Error::InvalidInput);
    }
    // SAFETY: writes and reads as many bytes as there are.
    let answer = unsafe {
        lc::HKDF_expand(
            output.as_mut_ptr(),
            output.len(),
            digest.algorithm(),
            key.as_ptr(),
            key.len(),
            info.as_ptr(),
            info.len(),
        )
    };
    check(answer, Error::Failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 5869, A.4.
    #[test]
    fn what_is_extracted_and_expanded_is_what_rfc_5869_says() {
        let salt: Vec<u8> = (0..13).collect();
        let info: Vec<u8> = (0xf0..0xfa).collect();
        let key = extract(Digest::Sha1, &salt, &[0x0b; 11]).unwrap();
        assert_eq!((key.len(), &key[..4]), (20, &[0x9b, 0x6c, 0x18, 0xc4][..]));
        let mut output = [0; 42];
        expand(Digest::Sha1, &key, &info, &mut output).unwrap();
        assert_eq!(output[..4], [0x08, 0x5a, 0x01, 0xea]);
        let mut most = vec![0; 255 * 20 + 1];
        let refused = expand(Digest::Sha1, &key, &info, &mut most);
        assert_eq!(refused, Err(Error::InvalidInput));
    }
}
