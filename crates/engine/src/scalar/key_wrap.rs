//! AES key wrap, with and without padding (SP 800-38F; RFC 3394, RFC 5649).

use std::ffi::c_int;
use std::ptr;

use aws_lc_sys as lc;
use zeroize::Zeroizing;

use super::aes::Schedule;
use super::check;
use crate::error::{Error, Result};

/// The most bytes that are wrapped: AWS-LC copies them, and a key is never longer.
pub const MOST: usize = 1 << 20;

/// How much longer than its message a wrapped one is, in bytes, before padding.
const OVERHEAD: usize = 8;

/// Which messages are wrapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding {
    /// KW: whole halves of blocks, at least two.
    None,
    /// KWP: any.
    Zeros,
}

/// The length of a wrapped message.
///
/// # Errors
/// [`Error::InvalidInput`]: a message that long is not wrapped.
pub fn wrapped_length(message: usize, padding: Padding) -> Result<usize> {
    let fits = match padding {
        Padding::None => message >= 16 && message.is_multiple_of(8),
        Padding::Zeros => message > 0,
    };
    match fits && message <= MOST {
        true => Ok(message.next_multiple_of(8) + OVERHEAD),
        false => Err(Error::InvalidInput),
    }
}

/// Wraps a message.
///
/// # Errors
/// [`Error::InvalidKey`]: AES has no key of that length. [`Error::InvalidInput`]: a message that long is not wrapped.
pub fn wrap(key: &[u8], message: &[u8], padding: Padding) -> Result<Vec<u8>> {
    let schedule = Schedule::new(key, true)?;
    let mut wrapped = vec![0; wrapped_length(message.len(), padding)?];
    let mut length = 0;
    // SAFETY: a live schedule; room for the message, what is added and what fills it up; reads as many bytes as there are.
    let answer = unsafe {
        match padding {
            Padding::None => c_int::from(
                lc::AES_wrap_key(
                    schedule.as_ptr(),
                    ptr::null(),
                    wrapped.as_mut_ptr(),
                    message.as_ptr(),
                    message.len(),
                ) > 0,
            ),
            Padding::Zeros => lc::AES_wrap_key_padded(
                schedule.as_ptr(),
                wrapped.as_mut_ptr(),
                &raw mut length,
                wrapped.len(),
                message.as_ptr(),
                message.len(),
            ),
        }
    };
    check(answer, Error::Failed)?;
    Ok(wrapped)
}

/// Unwraps a message.
///
/// # Errors
/// [`Error::InvalidKey`]: AES has no key of that length. [`Error::InvalidInput`]: no wrapped message is that long.
/// [`Error::Failed`]: it was not wrapped with this key.
pub fn unwrap(key: &[u8], wrapped: &[u8], padding: Padding) -> Result<Zeroizing<Vec<u8>>> {
    let schedule = Schedule::new(key, false)?;
    let least = match padding {
        Padding::None => 24,
        Padding::Zeros => 16,
    };
    if wrapped.len() < least || !wrapped.len().is_multiple_of(8) || wrapped.len() > MOST + OVERHEAD
    {
        return Err(Error::InvalidInput);
    }
    let mut message = Zeroizing::new(vec![0; wrapped.len() - OVERHEAD]);
    let mut length = message.len();
    // SAFETY: a live schedule; room for all but what was added; reads as many bytes as there are.
    let answer = unsafe {
        match padding {
            Padding::None => c_int::from(
                lc::AES_unwrap_key(
                    schedule.as_ptr(),
                    ptr::null(),
                    message.as_mut_ptr(),
                    wrapped.as_ptr(),
                    wrapped.len(),
                ) > 0,
            ),
            Padding::Zeros => lc::AES_unwrap_key_padded(
                schedule.as_ptr(),
                message.as_mut_ptr(),
                &raw mut length,
                message.len(),
                wrapped.as_ptr(),
                wrapped.len(),
            ),
        }
    };
    check(answer, Error::Failed)?;
    message.truncate(length);
    Ok(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 3394, 4.1; RFC 5649, 6.
    #[test]
    fn keys_are_wrapped_as_the_standards_say() {
        let key: Vec<u8> = (0..16).collect();
        let message = 0x0011_2233_4455_6677_8899_aabb_ccdd_eeff_u128.to_be_bytes();
        let wrapped = wrap(&key, &message, Padding::None).unwrap();
        assert_eq!(wrapped[..4], [0x1f, 0xa6, 0x8b, 0x0a]);
        assert_eq!(*unwrap(&key, &wrapped, Padding::None).unwrap(), message);

        let key = 0x5840_df6e_29b0_2af1_ab49_3b70_5bf1_6ea1_u128.to_be_bytes();
        let key = [&key[..], &0xae83_38f4_dcc1_76a8_u64.to_be_bytes()].concat();
        let wrapped = wrap(&key, b"\x46\x6f\x72\x50\x61\x73\x69", Padding::Zeros).unwrap();
        assert_eq!(wrapped[..4], [0xaf, 0xbe, 0xb0, 0xf0]);
        assert_eq!(
            **unwrap(&key, &wrapped, Padding::Zeros).unwrap(),
            *b"ForPasi"
        );
        let refused = unwrap(&key, &wrapped, Padding::None).err();
        assert_eq!(refused, Some(Error::InvalidInput));
    }

    #[test]
    fn what_was_changed_is_refused() {
        for padding in [Padding::None, Padding::Zeros] {
            let mut wrapped = wrap(&[1; 32], &[2; 24], padding).unwrap();
            for place in 0..wrapped.len() {
                wrapped[place] ^= 0x80;
                assert_eq!(
                    unwrap(&[1; 32], &wrapped, padding).err(),
                    Some(Error::Failed)
                );
                wrapped[place] ^= 0x80;
            }
        }
    }
}
