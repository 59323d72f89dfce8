//! AES-CCM (SP 800-38C): whole messages.

use std::ffi::c_int;
use std::ptr;

use aws_lc_sys as lc;
use inout::InOutBuf;

use super::aes::{Ciphers, cipher};
use super::check;
use super::owned::Owned;
use crate::error::{Error, Result};
use crate::fork;

const CCM: Ciphers = [
    lc::EVP_aes_128_ccm,
    lc::EVP_aes_192_ccm,
    lc::EVP_aes_256_ccm,
];

/// The longest message, in bytes: AWS-LC answers lengths as `int`.
pub const MOST: usize = c_int::MAX as usize;

/// What belongs to a message, beside its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// 7 to 13 bytes.
    pub nonce: &'a [u8],
    /// Data that is authenticated with the message.
    pub associated: &'a [u8],
}

/// Whether a message may be that long with a nonce that long, and a tag that long. The nonce leaves room for the length.
pub fn fits(message: usize, nonce: usize, tag: usize) -> bool {
    let room = 8 * 15_usize.saturating_sub(nonce) as u32;
    matches!(nonce, 7..=13)
        && matches!(tag, 4 | 6 | 8 | 10 | 12 | 14 | 16)
        && message <= MOST
        && (message as u64)
            .checked_shr(room)
            .is_none_or(|over| over == 0)
}

/// Encrypts a message, and writes its tag.
///
/// # Errors
/// [`Error::InvalidKey`]: AES has no key of that length. [`Error::InvalidInput`]: the lengths do not fit.
pub fn seal(
    key: &[u8],
    frame: Frame<'_>,
    message: InOutBuf<'_, '_, u8>,
    tag: &mut [u8],
) -> Result<()> {
    let context = begin(key, frame, message.len(), Tag::Wanted(tag.len()))?;
    run(&context, message)?;
    control(
        &context,
        lc::EVP_CTRL_AEAD_GET_TAG,
        tag.len(),
        tag.as_mut_ptr(),
    )
}

/// Decrypts a message: whether its tag is right. If not, the output is zeros.
///
/// # Errors
/// [`Error::InvalidKey`]: AES has no key of that length. [`Error::InvalidInput`]: the lengths do not fit.
pub fn open(
    key: &[u8],
    frame: Frame<'_>,
    message: InOutBuf<'_, '_, u8>,
    tag: &[u8],
) -> Result<bool> {
    let context = begin(key, frame, message.len(), Tag::Given(tag))?;
    Ok(run(&context, message).is_ok())
}

enum Tag<'a> {
    Wanted(usize),
    Given(&'a [u8]),
}

type Context = Owned<lc::EVP_CIPHER_CTX>;

/// A context that waits for a message of that length.
fn begin(key: &[u8], frame: Frame<'_>, length: usize, tag: Tag<'_>) -> Result<Context> {
    fork::ready();
    let (tag_length, seal) = match &tag {
        Tag::Wanted(length) => (*length, true),
        Tag::Given(tag) => (tag.len(), false),
    };
    if !fits(length, frame.nonce.len(), tag_length) || frame.associated.len() > MOST {
        return Err(Error::InvalidInput);
    }
    let cipher = cipher(CCM, key)?;
    // SAFETY: makes a new context.
    let context = unsafe { Owned::new(lc::EVP_CIPHER_CTX_new(), Error::Resource)? };
    let init = |cipher, key, nonce| {
        let none = ptr::null_mut();
        // SAFETY: a live context; what is not null is as long as the context asks.
        let answer = unsafe {
            lc::EVP_CipherInit_ex(
                context.as_ptr(),
                cipher,
                none,
                key,
                nonce,
                c_int::from(seal),
            )
        };
        check(answer, Error::Resource)
    };
    init(cipher, ptr::null(), ptr::null())?;
    let nonce = frame.nonce;
    control(
        &context,
        lc::EVP_CTRL_AEAD_SET_IVLEN,
        nonce.len(),
        ptr::null_mut(),
    )?;
    let mut given = [0; 16];
    let given = match tag {
        Tag::Wanted(_) => ptr::null_mut(),
        Tag::Given(tag) => {
            given[..tag.len()].copy_from_slice(tag);
            given.as_mut_ptr()
        }
    };
    control(&context, lc::EVP_CTRL_AEAD_SET_TAG, tag_length, given)?;
    init(ptr::null(), key.as_ptr(), nonce.as_ptr())?;
    // The message's length comes first.
    feed(&context, ptr::null_mut(), ptr::null(), length)?;
    let associated = frame.associated;
    feed(
        &context,
        ptr::null_mut(),
        associated.as_ptr(),
        associated.len(),
    )?;
    Ok(context)
}

fn run(context: &Context, mut message: InOutBuf<'_, '_, u8>) -> Result<()> {
    let (output, length) = (message.get_out().as_mut_ptr(), message.len());
    feed(context, output, message.get_in().as_ptr(), length)
}

/// A step of AWS-LC's, which pointers that are null tell apart.
fn feed(context: &Context, output: *mut u8, input: *const u8, length: usize) -> Result<()> {
    // SAFETY: a live context; as many bytes of input as of output, the same or apart, where they are not null.
    let answer = unsafe { lc::EVP_Cipher(context.as_ptr(), output, input, length) };
    check(c_int::from(answer >= 0), Error::Failed)
}

fn control(context: &Context, command: c_int, length: usize, data: *mut u8) -> Result<()> {
    // SAFETY: a live context; as many bytes as it says, or null where the command takes none.
    let answer =
        unsafe { lc::EVP_CIPHER_CTX_ctrl(context.as_ptr(), command, length as c_int, data.cast()) };
    check(answer, Error::Failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SP 800-38C, appendix C, example 1.
    #[test]
    fn seals_and_opens_the_standards_first_example() {
        let key: Vec<u8> = (0x40..0x50).collect();
        let frame = Frame {
            nonce: &[0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16],
            associated: &[0, 1, 2, 3, 4, 5, 6, 7],
        };
        let mut data = [0x20, 0x21, 0x22, 0x23];
        let mut tag = [0; 4];
        seal(&key, frame, InOutBuf::from(&mut data[..]), &mut tag).unwrap();
        assert_eq!(
            (data, tag),
            ([0x71, 0x62, 0x01, 0x5b], [0x4d, 0xac, 0x25, 0x5d])
        );
        let mut opened = data;
        let right = open(&key, frame, InOutBuf::from(&mut opened[..]), &tag);
        assert_eq!((right, opened), (Ok(true), [0x20, 0x21, 0x22, 0x23]));
        tag[0] ^= 1;
        let wrong = open(&key, frame, InOutBuf::from(&mut data[..]), &tag);
        assert_eq!((wrong, data), (Ok(false), [0; 4]));
    }

    #[test]
    fn a_long_nonce_leaves_room_for_a_short_message() {
        assert!(fits(0xffff, 13, 16));
        assert!(!fits(0x1_0000, 13, 16));
        assert!(fits(MOST, 7, 4));
        for (nonce, tag) in [(6, 16), (14, 16), (12, 2), (12, 5), (12, 18)] {
            assert!(!fits(0, nonce, tag));
        }
    }
}
