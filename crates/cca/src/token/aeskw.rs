//! AESKW (ANSI X9.102), as the publication describes it: an AES or HMAC key under a key-encrypting key, with the hash of what
//! is bound to it. It was not compared with a card's.

use aws_lc_sys as lc;
use outboard_engine::scalar::digest::{Digest, Hasher};
use outboard_engine::scalar::{mac, wipe};
use zeroize::Zeroizing;

use crate::answer::{Outcome, Refusal};

/// The payload of a key under a key-encrypting key: `A6` six times, bits of padding, bytes of the hash; options, the hash of
/// what is bound, the key, padding. The first eight bytes are the key wrap's initial value.
pub(super) fn wrap(kek: &[u8], bound: &[u8], key: &[u8]) -> Outcome<Vec<u8>> {
    let (initial, mut message) = message_of(bound, key.len())?;
    message[36..36 + key.len()].copy_from_slice(key);
    let mut wrapped = vec![0; message.len() + 8];
    let schedule = Schedule::new(kek, true)?;
    // SAFETY: a live schedule; reads the message and eight bytes, and writes as many and eight more.
    let written = unsafe {
        lc::AES_wrap_key(
            &raw const schedule.0,
            initial.as_ptr(),
            wrapped.as_mut_ptr(),
            message.as_ptr(),
            message.len(),
        )
    };
    match written > 0 {
        true => Ok(wrapped),
        false => Err(Refusal::Resource),
    }
}

/// The key of so many bytes in a payload, if that key-encrypting key wrapped it and nothing that is bound was changed.
pub(super) fn unwrap(
    kek: &[u8],
    bound: &[u8],
    length: usize,
    payload: &[u8],
) -> Outcome<Zeroizing<Vec<u8>>> {
    let (initial, wanted) = message_of(bound, length)?;
    if payload.len() != wanted.len() + 8 {
        return Err(Refusal::TokenVersion);
    }
    let mut message = Zeroizing::new(vec![0; wanted.len()]);
    let schedule = Schedule::new(kek, false)?;
    // SAFETY: a live schedule; reads the payload and eight bytes, and writes eight less than the payload has.
    let written = unsafe {
        lc::AES_unwrap_key(
            &raw const schedule.0,
            initial.as_ptr(),
            message.as_mut_ptr(),
            payload.as_ptr(),
            payload.len(),
        )
    };
    let is_bound = mac::equal(&message[..36], &wanted[..36])
        & mac::equal(&message[36 + length..], &wanted[36 + length..]);
    match written > 0 && is_bound {
        true => Ok(Zeroizing::new(message[36..36 + length].to_vec())),
        false => Err(Refusal::Decryption),
    }
}

/// The initial value, and the message with zeros in the key's place.
fn message_of(bound: &[u8], key: usize) -> Outcome<([u8; 8], Zeroizing<Vec<u8>>)> {
    let mut hasher = Hasher::new(Digest::Sha256)?;
    hasher.update(bound)?;
    let mut message = Zeroizing::new(vec![0; 4]);
    message.extend_from_slice(&hasher.end()?);
    let unpadded = message.len() + key;
    message.resize(unpadded.next_multiple_of(8), 0);
    let padding = 8 * (message.len() - unpadded) as u8;
    Ok(([0xa6, 0xa6, 0xa6, 0xa6, 0xa6, 0xa6, padding, 36], message))
}

struct Schedule(lc::AES_KEY);

impl Schedule {
    fn new(key: &[u8], is_encrypt: bool) -> Outcome<Self> {
        let mut schedule = std::mem::MaybeUninit::uninit();
        let set = match is_encrypt {
            true => lc::AES_set_encrypt_key,
            false => lc::AES_set_decrypt_key,
        };
        if !matches!(key.len(), 16 | 24 | 32) {
            return Err(Refusal::KeyLength);
        }
        // SAFETY: reads a key of that many bits, and fills the schedule.
        let answer = unsafe { set(key.as_ptr(), 8 * key.len() as u32, schedule.as_mut_ptr()) };
        match answer {
            // SAFETY: filled, as AWS-LC says.
            0 => Ok(Self(unsafe { schedule.assume_init() })),
            _ => Err(Refusal::KeyLength),
        }
    }
}

impl Drop for Schedule {
    fn drop(&mut self) {
        let start = (&raw mut self.0).cast::<u8>();
        // SAFETY: the schedule's own bytes; any bytes are valid in it.
        wipe(unsafe { std::slice::from_raw_parts_mut(start, size_of::<lc::AES_KEY>()) });
    }
}
