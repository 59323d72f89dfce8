//! AES-GCM (SP 800-38D) for processors that have VAES and VPCLMULQDQ: four blocks in a register where they have AVX-512, and two where
//! they do not (AMD's Zen 3, Intel's since Alder Lake, and virtual machines that hide AVX-512). AWS-LC and OpenSSL (up to 4.0, at least)
//! use these instructions for AES-GCM on 512-bit vectors alone; elsewhere each of their instructions has one block.
//!
//! ```text
//! lib.rs        a key and a message, in the order that is allowed   AesGcm
//! message.rs    a message in pieces, as OpenSSL's programs feed it  Message
//! kernel.rs     a key, at work: which code takes which blocks       Key
//! steps.rs      sixteen blocks a step
//! rest.rs       fewer blocks
//! ghash.rs      products of blocks
//! vector.rs     two or four blocks in a register                    Vector
//! block.rs      a block in a register                               Block
//! expansion.rs  the round keys of a key
//! clean.rs      nothing secret stays behind
//! ```
//!
//! Everything is constant time in keys and data: no branch and no address depends on one.

#![cfg(target_arch = "x86_64")]

mod block;
mod clean;
mod expansion;
mod ghash;
mod kernel;
mod message;
mod rest;
mod steps;
mod vector;

use block::Block;
use inout::InOutBuf;
use kernel::Key;
use message::Message;

/// A block, and a tag's full length, in bytes.
pub const BLOCK: usize = block::BLOCK;

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

impl Clone for AesGcm {
    fn clone(&self) -> Self {
        let mut state = State::empty();
        self.state.key.copy_to(&mut state.key);
        state.message = self.state.message;
        let seals = self.seals;
        // The C library copies by any register that the processor has.
        clean::clear_registers();
        if kernel::has_upper_registers() {
            clean::clear_upper_registers();
        }
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
        self.state.key.set(key).ok_or(Refusal::Length)?;
        self.state.message.end();
        self.seals = seals;
        Ok(())
    }

    /// The key's length in bytes.
    #[inline]
    pub fn key_length(&self) -> usize {
        self.state.key.length()
    }

    /// Begins a message with that initialisation vector.
    ///
    /// # Errors
    /// [`Refusal::Length`].
    #[inline]
    pub fn start(&mut self, iv: &[u8], seals: bool) -> Result<()> {
        if iv.is_empty() {
            return Err(Refusal::Length);
        }
        let State { key, message } = &mut *self.state;
        // SAFETY: a key was made, so the processor has the features; here and below.
        unsafe { message.begin(key, iv) };
        clean::clear_registers();
        self.seals = seals;
        Ok(())
    }

    /// Goes on in the other direction, in mid-message.
    #[inline]
    pub fn turn(&mut self, seals: bool) {
        self.seals = seals;
    }

    /// Takes additional authenticated data.
    ///
    /// # Errors
    /// [`Refusal::Order`].
    #[inline]
    pub fn associate(&mut self, data: &[u8]) -> Result<()> {
        let State { key, message } = self.state.in_message()?;
        // SAFETY: see `start`.
        let taken = unsafe { message.associate(key, data) };
        if message.has_product() {
            clean::clear_registers();
        }
        taken.then_some(()).ok_or(Refusal::Order)
    }

    /// Encrypts or decrypts. No data ends a block of associated data that is not full.
    ///
    /// # Errors
    /// [`Refusal::Order`].
    #[inline]
    pub fn update(&mut self, data: InOutBuf<'_, '_, u8>) -> Result<()> {
        let seals = self.seals;
        let State { key, message } = self.state.in_message()?;
        // SAFETY: see `start`.
        let taken = unsafe { message.crypt(key, data, seals) };
        clean::clear_registers();
        taken.then_some(()).ok_or(Refusal::Order)
    }

    /// Ends a message that is sealed: writes its tag.
    ///
    /// # Errors
    /// [`Refusal::Order`].
    #[inline]
    pub fn seal(&mut self, tag: &mut [u8; BLOCK]) -> Result<()> {
        if !self.seals {
            return Err(Refusal::Order);
        }
        let State { key, message } = self.state.in_message()?;
        // SAFETY: see `start`.
        unsafe { message.tag(key) }.store(tag);
        message.end();
        clean::clear_registers();
        Ok(())
    }

    /// Ends a message that is opened, if the tag of up to 16 bytes is its own. If not, it goes on, as OpenSSL's does: with the same
    /// stream, and with the right tag in the place of what was hashed. (With part of a block pending, OpenSSL's next tag is another.)
    ///
    /// # Errors
    /// [`Refusal::Order`]; [`Refusal::Length`] if the tag has no byte or too many.
    #[inline]
    pub fn open(&mut self, tag: &[u8]) -> Result<bool> {
        if self.seals {
            return Err(Refusal::Order);
        }
        let State { key, message } = self.state.in_message()?;
        if !matches!(tag.len(), 1..=BLOCK) {
            return Err(Refusal::Length);
        }
        // SAFETY: see `start`.
        let made = unsafe { message.tag(key) };
        let is_right = (made.first(tag.len()) ^ Block::part(tag)).is_zero();
        clean::clear_registers();
        if is_right {
            message.end();
        }
        Ok(is_right)
    }
}

impl State {
    fn empty() -> Box<Self> {
        // SAFETY: all bytes 0 are a value: no key, and no message.
        let mut state: Box<Self> = unsafe { Box::new(core::mem::zeroed()) };
        state.key.choose(kernel::available_wide());
        state
    }

    #[inline]
    fn in_message(&mut self) -> Result<&mut Self> {
        self.message.is_on.then_some(self).ok_or(Refusal::Order)
    }
}

impl Drop for State {
    fn drop(&mut self) {
        clean::wipe(&mut self.message);
    }
}

#[cfg(test)]
mod tests;
