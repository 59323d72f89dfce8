//! AES-GCM (SP 800-38D) for processors that have VAES and VPCLMULQDQ, and no AVX-512: AMD's Zen 3, Intel's since Alder Lake, and virtual
//! machines that hide AVX-512. AWS-LC and OpenSSL (up to 4.0, at least) use these instructions for AES-GCM on 512-bit vectors alone;
//! elsewhere each of their instructions has one block.
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
use kernel::{Key, wipe};

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

/// A key, and a message that is fed in pieces.
pub struct AesGcm {
    state: Box<State>,
    seals: bool,
}

/// All that is secret: on the heap, where moving it leaves no copy behind. Wiped when dropped.
struct State {
    key: Key,
    message: Message,
}

#[derive(Clone, Copy, Default)]
struct Message {
    /// It has begun, and has not ended.
    is_on: bool,
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
    /// Before any data: the first stream, which was encrypted beside the mask.
    first: Block,
    has_first: bool,
}

impl Clone for AesGcm {
    fn clone(&self) -> Self {
        let mut state = State::empty();
        self.state.key.copy_to(&mut state.key);
        state.message = self.state.message;
        let seals = self.seals;
        Self { state, seals }
    }
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
        let mut state = State::empty();
        state.key.set(key).ok_or(Refusal::Length)?;
        Ok(Self { state, seals })
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
        self.state.key.length()
    }

    /// Begins a message with that initialisation vector.
    ///
    /// # Errors
    /// [`Refusal::Length`].
    pub fn start(&mut self, iv: &[u8], seals: bool) -> Result<()> {
        if iv.is_empty() {
            return Err(Refusal::Length);
        }
        let State { key, message } = &mut *self.state;
        *message = Message::default();
        let counter = &mut message.counter;
        if iv.len() == 12 {
            counter[..12].copy_from_slice(iv);
            counter[15] = 1;
        } else {
            for block in iv.chunks(BLOCK) {
                mix(counter, block);
                key.multiply(counter);
            }
            mix(counter, &lengths(0, iv.len() as u64));
            key.multiply(counter);
        }
        key.encrypt_two(counter, [&mut message.mask, &mut message.first]);
        message.has_first = true;
        message.is_on = true;
        self.seals = seals;
        Ok(())
    }

    /// Goes on in the other direction, in mid-message.
    pub fn turn(&mut self, seals: bool) {
        self.seals = seals;
    }

    /// Takes additional authenticated data.
    ///
    /// # Errors
    /// [`Refusal::Order`].
    pub fn associate(&mut self, mut data: &[u8]) -> Result<()> {
        let State { key, message } = self.state.in_message()?;
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
            key.multiply(&mut message.hash);
            data = others;
        }
        let (blocks, rest) = data.as_chunks();
        key.hash(&mut message.hash, blocks);
        mix(&mut message.hash, rest);
        message.used_by_associated = rest.len();
        Ok(())
    }

    /// Encrypts or decrypts. No data ends a block of associated data that is not full.
    ///
    /// # Errors
    /// [`Refusal::Order`].
    pub fn update(&mut self, data: InOutBuf<'_, '_, u8>) -> Result<()> {
        let seals = self.seals;
        let State { key, message } = self.state.in_message()?;
        let sum = message.length.checked_add(data.len() as u64);
        message.length = sum.filter(|sum| *sum <= MOST_DATA).ok_or(Refusal::Order)?;
        if message.used_by_associated > 0 {
            key.multiply(&mut message.hash);
            message.used_by_associated = 0;
        }
        let rest = (BLOCK - message.used) % BLOCK;
        let rest = rest.min(data.len());
        let (begun, others) = data.split_at(rest);
        message.bytes(begun, seals);
        if rest > 0 && message.used == 0 {
            key.multiply(&mut message.hash);
        }
        if others.is_empty() {
            return Ok(());
        }
        if others.len() <= BLOCK && message.take_first() {
            if others.len() == BLOCK {
                message.block(others, seals);
                key.multiply(&mut message.hash);
            } else {
                message.bytes(others, seals);
            }
            return Ok(());
        }
        if message.has_first {
            message.forget_first();
        }
        let whole = others.len() / BLOCK * BLOCK;
        let (blocks, last) = others.split_at(whole);
        key.crypt(&mut message.counter, &mut message.hash, blocks, seals);
        if !last.is_empty() {
            key.encrypt_counter(&mut message.counter, &mut message.stream);
            message.bytes(last, seals);
        }
        Ok(())
    }

    /// Ends a message that is sealed: writes its tag.
    ///
    /// # Errors
    /// [`Refusal::Order`].
    pub fn seal(&mut self, tag: &mut Block) -> Result<()> {
        if !self.seals {
            return Err(Refusal::Order);
        }
        let State { key, message } = self.state.in_message()?;
        message.make_tag(key);
        *tag = message.hash;
        message.end();
        Ok(())
    }

    /// Ends a message that is opened, if the tag of up to 16 bytes is its own. If not, it goes on, as OpenSSL's does: with the same
    /// stream, and with the right tag in the place of what was hashed.
    ///
    /// # Errors
    /// [`Refusal::Order`]; [`Refusal::Length`] if the tag has no byte or too many.
    pub fn open(&mut self, tag: &[u8]) -> Result<bool> {
        if self.seals {
            return Err(Refusal::Order);
        }
        let State { key, message } = self.state.in_message()?;
        if !matches!(tag.len(), 1..=BLOCK) {
            return Err(Refusal::Length);
        }
        message.make_tag(key);
        // One comparison, of all bits that differ: it takes as long wherever they are.
        let differs = message
            .hash
            .iter()
            .zip(tag)
            .fold(0, |all, (a, b)| all | (a ^ b));
        let is_right = core::hint::black_box(differs) == 0;
        if is_right {
            message.end();
        }
        Ok(is_right)
    }
}

impl State {
    fn empty() -> Box<Self> {
        Box::new(Self {
            key: Key::empty(),
            message: Message::default(),
        })
    }

    fn in_message(&mut self) -> Result<&mut Self> {
        self.message.is_on.then_some(self).ok_or(Refusal::Order)
    }
}

impl Drop for State {
    fn drop(&mut self) {
        wipe(&mut self.message);
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

    /// A whole block, with the stream.
    fn block(&mut self, mut data: InOutBuf<'_, '_, u8>, seals: bool) {
        let mut before = [0; BLOCK];
        before.copy_from_slice(data.get_in());
        let mut after = before;
        mix(&mut after, &self.stream);
        mix(&mut self.hash, if seals { &after } else { &before });
        data.get_out().copy_from_slice(&after);
    }

    /// The stream is the one that was encrypted beside the mask, if no data was there yet.
    fn take_first(&mut self) -> bool {
        let is_there = self.has_first;
        if is_there {
            self.stream = self.first;
            kernel::count(&mut self.counter);
            self.forget_first();
        }
        is_there
    }

    fn forget_first(&mut self) {
        wipe(&mut self.first);
        self.has_first = false;
    }

    /// The tag, in the place of the hash.
    fn make_tag(&mut self, key: &Key) {
        if self.used > 0 || self.used_by_associated > 0 {
            key.multiply(&mut self.hash);
        }
        mix(&mut self.hash, &lengths(self.associated, self.length));
        key.multiply(&mut self.hash);
        mix(&mut self.hash, &self.mask);
    }

    fn end(&mut self) {
        wipe(self);
    }
}

// SAFETY: bytes, numbers and flags, of which 0 is a value.
unsafe impl kernel::Plain for Message {}

/// `to ^= from`, of as many bytes as `from` has.
fn mix(to: &mut [u8], from: &[u8]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to ^= from;
    }
}

/// The last block that is hashed: both lengths, in bits.
fn lengths(associated: u64, data: u64) -> Block {
    (u128::from(associated) << 67 | u128::from(data) << 3).to_be_bytes()
}

#[cfg(test)]
mod tests;
