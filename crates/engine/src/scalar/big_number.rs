//! Numbers for AWS-LC.

use aws_lc_sys::{BIGNUM, BN_bin2bn, BN_bn2bin_padded};

use super::check;
use super::owned::Owned;
use crate::error::{Error, Result};

/// The number of those bytes, most significant first.
pub(super) fn from_bytes(bytes: &[u8]) -> Result<Owned<BIGNUM>> {
    // SAFETY: reads as many bytes as there are; makes a new number.
    unsafe {
        Owned::new(
            BN_bin2bn(bytes.as_ptr(), bytes.len(), std::ptr::null_mut()),
            Error::Resource,
        )
    }
}

/// Writes the number into all of `output`, most significant byte first.
///
/// # Safety
/// `number` is live.
pub(super) unsafe fn to_bytes(number: *const BIGNUM, output: &mut [u8]) -> Result<()> {
    // SAFETY: writes as many bytes as there are, or fails.
    let answer = unsafe { BN_bn2bin_padded(output.as_mut_ptr(), output.len(), number) };
    check(answer, Error::InvalidKey)
}
