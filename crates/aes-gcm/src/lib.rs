//! AES-GCM (SP 800-38D) for processors that have VAES and VPCLMULQDQ, and no AVX-512: AMD's Zen 3, Intel's since Alder Lake, and virtual
//! machines that hide AVX-512. AWS-LC and OpenSSL before 4.0 use these instructions on 512-bit vectors alone, and do one block at a time
//! elsewhere.
//!
//! ```text
//! lib.rs      a message in pieces, as OpenSSL's programs feed it     AesGcm
//! kernel.rs   key expansion, counters, GHASH: sixteen blocks a step  Key
//! ```
//!
//! Everything is constant time in keys and data: no branch and no address depends on one.

#![cfg(target_arch = "x86_64")]

mod kernel;

use inout::InOutBuf;
use kernel::Key;

/// A block, and a tag's full length, in bytes.
pub const BLOCK: usize = 16;

type Block = [u8; BLOCK];

/// The most bytes of a message (SP 800-38D, 5.2.1.1), and of its associated data.
const MOST_DATA: u64 = (1 << 36) - 32;
const MOST_ASSOCIATED: u64 = 1 << 61;

/// Why nothing was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The key is not 16, 24 or 32 bytes long, or the initialisation vector is empty.
    Length,
    /// No message has begun, or it is over; associated data comes after the message's own; or there is too much.
    Order,
}

/// What is refused leaves the state as it was.
type Result<T> = std::result::Result<T, Refusal>;

/// Whether the processor has what this needs.
pub fn available() -> bool {
    kernel::available()
}

/// A key, and a message that is fed in pieces. Wiped when dropped.
pub struct AesGcm {
    key: Box<Key>,
    seals: bool,
    message: Option<Message>,
}

impl Clone for AesGcm {
    fn clone(&self) -> Self {
        Self {
            key: self.key.copy(),
            seals: self.seals,
            message: self.message.clone(),
        }
    }
}

/// A message in its middle.
#[derive(Clone)]
struct Message {
    /// What the tag is hidden by.
    mask: Block,
    /// The next counter block.
    counter: Block,
    hash: Block,
    associated: u64,
    length: u64,
    /// The counter block, encrypted, that the next byte takes; if `used` is not 0.
    stream: Block,
    /// Bytes of a block that is not full: of data.
    used: usize,
    /// The same of associated data.
    used_by_associated: usize,
}

impl AesGcm {
    /// With that key of 16, 24 or 32 bytes, to seal or to open.
    ///
    /// # Errors
    /// [`Refusal::Length`].
    ///
    /// # Panics
    /// If this is not [`available`].
    pub fn new(key: &[u8], seals: bool) -> Result<Self> {
        Ok(Self {
            key: Key::new(key).ok_or(Refusal::Length)?,
            seals,
            message: None,
        })
    }

    /// Takes another key. It begins no message.
    ///
    /// # Errors
    /// [`Refusal::Length`].
    pub fn set_key(&mut self, key: &[u8], seals: bool) -> Result<()> {
        *self = Self::new(key, seals)?;
        Ok(())
    }

    /// The key's length in bytes.
    pub fn key_length(&self) -> usize {
        self.key.length()
    }

    /// Begins a message with that initialisation vector.
    ///
    /// # Errors
    /// [`Refusal::Length`].
    pub fn start(&mut self, iv: &[u8], seals: bool) -> Result<()> {
        let mut first = [0; BLOCK];
        match iv.len() {
            0 => return Err(Refusal::Length),
            12 => {
                first[..12].copy_from_slice(iv);
                first[15] = 1;
            }
            length => {
                for block in iv.chunks(BLOCK) {
                    mix(&mut first, block);
                    self.key.multiply(&mut first);
                }
                mix(&mut first, &lengths(0, length as u64));
                self.key.multiply(&mut first);
            }
        }
        let mut counter = first;
        let mask = self.key.encrypt_counter(&mut counter);
        self.seals = seals;
        self.message = Some(Message {
            mask,
            counter,
            hash: [0; BLOCK],
            associated: 0,
            length: 0,
            stream: [0; BLOCK],
            used: 0,
            used_by_associated: 0,
        });
        Ok(())
    }

    /// Goes on in the other direction, in mid-message.
    pub fn turn(&mut self, seals: bool) {
        self.seals = seals;
    }

    /// Whether it seals.
    pub fn seals(&self) -> bool {
        self.seals
    }

    /// Takes additional authenticated data.
    ///
    /// # Errors
    /// [`Refusal::Order`].
    pub fn associate(&mut self, mut data: &[u8]) -> Result<()> {
        let message = self.message.as_mut().ok_or(Refusal::Order)?;
        let sum = message.associated.checked_add(data.len() as u64);
        let associated = sum.filter(|sum| *sum <= MOST_ASSOCIATED && message.length == 0);
        message.associated = associated.ok_or(Refusal::Order)?;
        if message.used_by_associated > 0 {
            let rest = BLOCK - message.used_by_associated;
            let (first, others) = data.split_at(rest.min(data.len()));
            mix(&mut message.hash[message.used_by_associated..], first);
            message.used_by_associated = (message.used_by_associated + first.len()) % BLOCK;
            if message.used_by_associated > 0 {
                return Ok(());
            }
            self.key.multiply(&mut message.hash);
            data = others;
        }
        let (blocks, rest) = data.as_chunks();
        self.key.hash(&mut message.hash, blocks);
        mix(&mut message.hash, rest);
        message.used_by_associated = rest.len();
        Ok(())
    }

    /// Encrypts or decrypts. No data ends a block of associated data that is not full.
    ///
    /// # Errors
    /// [`Refusal::Order`].
    pub fn update(&mut self, data: InOutBuf<'_, '_, u8>) -> Result<()> {
        let (key, seals) = (&self.key, self.seals);
        let message = self.message.as_mut().ok_or(Refusal::Order)?;
        let sum = message.length.checked_add(data.len() as u64);
        message.length = sum.filter(|sum| *sum <= MOST_DATA).ok_or(Refusal::Order)?;
        if message.used_by_associated > 0 {
            key.multiply(&mut message.hash);
            message.used_by_associated = 0;
        }
        let rest = (BLOCK - message.used) % BLOCK;
        let rest = rest.min(data.len());
        let (first, others) = data.split_at(rest);
        message.bytes(first, seals);
        if rest > 0 && message.used == 0 {
            key.multiply(&mut message.hash);
        }
        if others.is_empty() {
            return Ok(());
        }
        let whole = others.len() / BLOCK * BLOCK;
        let (blocks, last) = others.split_at(whole);
        key.crypt(&mut message.counter, &mut message.hash, blocks, seals);
        if !last.is_empty() {
            message.stream = key.encrypt_counter(&mut message.counter);
            message.bytes(last, seals);
        }
        Ok(())
    }

    /// The message's tag. It goes on until [`AesGcm::end`], as OpenSSL's does after a tag that was wrong: with the same stream, and with
    /// the tag in the place of what was hashed.
    ///
    /// # Errors
    /// [`Refusal::Order`].
    pub fn tag(&mut self) -> Result<Block> {
        let message = self.message.as_mut().ok_or(Refusal::Order)?;
        if message.used > 0 || message.used_by_associated > 0 {
            self.key.multiply(&mut message.hash);
        }
        let lengths = lengths(message.associated, message.length);
        mix(&mut message.hash, &lengths);
        self.key.multiply(&mut message.hash);
        mix(&mut message.hash, &message.mask);
        Ok(message.hash)
    }

    /// Ends the message.
    pub fn end(&mut self) {
        // Where it is, so that it is wiped there.
        self.message = None;
    }
}

impl Message {
    /// Less than a block, with what the stream has.
    fn bytes(&mut self, data: InOutBuf<'_, '_, u8>, seals: bool) {
        for mut byte in data {
            let before = *byte.get_in();
            let after = before ^ self.stream[self.used];
            self.hash[self.used] ^= if seals { after } else { before };
            *byte.get_out() = after;
            self.used = (self.used + 1) % BLOCK;
        }
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        for block in [
            &mut self.mask,
            &mut self.counter,
            &mut self.hash,
            &mut self.stream,
        ] {
            kernel::wipe(block);
        }
    }
}

/// `to ^= from`, of as many bytes as `from` has.
fn mix(to: &mut [u8], from: &[u8]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to ^= from;
    }
}

/// The last block that is hashed: both lengths, in bits.
fn lengths(associated: u64, data: u64) -> Block {
    (u128::from(associated * 8) << 64 | u128::from(data * 8)).to_be_bytes()
}

#[cfg(test)]
mod tests;
