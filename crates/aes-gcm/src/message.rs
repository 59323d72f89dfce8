//! A message in pieces: counters, what is hashed, and what of a block is not full.
//!
//! In a short message every step waits for the one before. So each block is loaded and stored at once, the first streams are encrypted
//! beside the mask, and the last block's product is made together with that of the lengths.

use crate::block::{BLOCK, Block};
use crate::clean::{Plain, wipe};
use crate::kernel::Key;
use inout::InOutBuf;

/// The most bytes of a message (SP 800-38D, 5.2.1.1), and of its associated data.
const MOST_DATA: u64 = (1 << 36) - 32;
const MOST_ASSOCIATED: u64 = 1 << 61;

/// How many streams are made before there is data: with the mask, four pairs.
const AHEAD: usize = 7;

/// A message under way.
#[derive(Clone, Copy)]
pub(crate) struct Message {
    /// It has begun, and has not ended.
    pub(crate) is_on: bool,
    /// What the tag is hidden by.
    mask: Block,
    /// The next counter block, with its bytes in reverse order.
    counter: Block,
    hash: Block,
    /// Bytes that were added to the hash since its last product.
    hashed: usize,
    associated: u64,
    length: u64,
    /// The counter block, encrypted, that the next byte takes; if `used` is not 0.
    stream: Block,
    /// Bytes of data in a block that is not full.
    used: usize,
    /// Before any data: the first streams.
    ahead: [Block; AHEAD],
    is_ahead: bool,
}

// SAFETY: blocks, numbers and flags, of which 0 is a value.
unsafe impl Plain for Message {}

impl Message {
    /// Begins one with that initialisation vector.
    #[target_feature(enable = "vaes,vpclmulqdq,aes,pclmulqdq,avx2")]
    pub(crate) fn begin(&mut self, key: &Key, iv: &[u8]) {
        if self.is_on {
            self.end();
        }
        let counter =
            if let (12, Some(first), Some(last)) = (iv.len(), iv.first_chunk(), iv.last_chunk()) {
                let [first, last] = [u64::from_be_bytes(*first), u32::from_be_bytes(*last).into()];
                Block::from_integer(u128::from(first) << 64 | u128::from(last << 32 | 1))
            } else {
                let mut counter = Block::zero();
                for block in iv.chunks(BLOCK) {
                    counter = key.product(counter ^ Block::part(block));
                }
                key.product(counter ^ lengths(0, iv.len() as u64))
                    .reversed()
            };
        let [[mask, a], [b, c], [d, e], [f, g]] = key.encrypt_counters(counter);
        (self.mask, self.ahead) = (mask, [a, b, c, d, e, f, g]);
        self.counter = counter.counted(1);
        self.is_ahead = true;
        self.is_on = true;
    }

    /// Takes associated data; false, and nothing, if it comes too late or is too much.
    #[target_feature(enable = "vaes,vpclmulqdq,aes,pclmulqdq,avx2")]
    pub(crate) fn associate(&mut self, key: &mut Key, data: &[u8]) -> bool {
        let sum = self.associated.checked_add(data.len() as u64);
        let Some(sum) = sum.filter(|sum| *sum <= MOST_ASSOCIATED && self.length == 0) else {
            return false;
        };
        self.associated = sum;
        let rest = (BLOCK - self.hashed) % BLOCK;
        let (begun, others) = data.split_at(rest.min(data.len()));
        for (to, from) in self.hash.bytes()[self.hashed % BLOCK..]
            .iter_mut()
            .zip(begun)
        {
            *to ^= from;
        }
        self.hashed += begun.len();
        if others.is_empty() {
            return true;
        }
        self.settle(key);
        let (blocks, rest) = others.as_chunks();
        if !blocks.is_empty() {
            key.hash(&mut self.hash, blocks);
        }
        self.hash ^= Block::part(rest);
        self.hashed = rest.len();
        true
    }

    /// Whether associated data may have been multiplied: the first block alone is not.
    #[inline]
    pub(crate) fn has_product(&self) -> bool {
        self.associated > BLOCK as u64
    }

    /// Encrypts or decrypts; false, and nothing, if it is too much. No data ends a block of associated data that is not full.
    #[target_feature(enable = "vaes,vpclmulqdq,aes,pclmulqdq,avx2")]
    pub(crate) fn crypt(&mut self, key: &mut Key, data: InOutBuf<'_, '_, u8>, seals: bool) -> bool {
        let sum = self.length.checked_add(data.len() as u64);
        let Some(sum) = sum.filter(|sum| *sum <= MOST_DATA) else {
            return false;
        };
        self.length = sum;
        let mut others = data;
        if self.used > 0 {
            let rest = (BLOCK - self.used).min(others.len());
            let (begun, after) = others.split_at(rest);
            self.bytes(begun, seals);
            others = after;
        }
        if self.used == 0 {
            self.settle(key);
        }
        if others.is_empty() {
            return true;
        }
        if self.is_ahead {
            if others.len() <= AHEAD * BLOCK {
                self.few(key, others, seals);
                self.forget_ahead();
                return true;
            }
            self.forget_ahead();
        }
        let whole = others.len() / BLOCK * BLOCK;
        let (blocks, last) = others.split_at(whole);
        key.crypt(&mut self.counter, &mut self.hash, blocks, seals);
        if !last.is_empty() {
            self.stream = key.encrypt(self.counter.reversed());
            self.counter = self.counter.counted(1);
            self.block(last, seals);
        }
        true
    }

    /// The first data, if it is no longer than what was made ahead.
    #[target_feature(enable = "vaes,vpclmulqdq,aes,pclmulqdq,avx2")]
    fn few(&mut self, key: &mut Key, data: InOutBuf<'_, '_, u8>, seals: bool) {
        let whole = (data.len() - 1) / BLOCK;
        let mut rest = data;
        let mut ciphertext = [Block::zero(); AHEAD];
        for (stream, hashed) in self.ahead.iter().zip(&mut ciphertext[..whole]) {
            let (mut data, others) = rest.split_at(BLOCK);
            let before = Block::part(data.get_in());
            let after = before ^ *stream;
            after.write(data.get_out());
            *hashed = if seals { after } else { before };
            rest = others;
        }
        if whole > 0 {
            key.know(whole);
            self.hash = key.products(self.hash, &ciphertext[..whole]);
        }
        self.stream = self.ahead[whole];
        self.counter = self.counter.counted(whole as i32 + 1);
        self.block(rest, seals);
    }

    /// A block with a new stream, or less: what is hashed is the ciphertext.
    #[target_feature(enable = "vaes,vpclmulqdq,aes,pclmulqdq,avx2")]
    fn block(&mut self, mut data: InOutBuf<'_, '_, u8>, seals: bool) {
        let length = data.len();
        let before = Block::part(data.get_in());
        let after = before ^ self.stream;
        after.write(data.get_out());
        self.hash ^= if seals { after.first(length) } else { before };
        (self.hashed, self.used) = (length, length % BLOCK);
    }

    /// More of a block that has begun, and is not full.
    fn bytes(&mut self, data: InOutBuf<'_, '_, u8>, seals: bool) {
        for mut byte in data {
            let before = *byte.get_in();
            let after = before ^ self.stream.bytes()[self.used];
            self.hash.bytes()[self.used] ^= if seals { after } else { before };
            *byte.get_out() = after;
            self.hashed = self.used + 1;
            self.used = self.hashed % BLOCK;
        }
    }

    /// The hash of what was added to it.
    #[target_feature(enable = "vaes,vpclmulqdq,aes,pclmulqdq,avx2")]
    fn settle(&mut self, key: &Key) {
        if self.hashed > 0 {
            self.hash = key.product(self.hash);
            self.hashed = 0;
        }
    }

    fn forget_ahead(&mut self) {
        wipe(&mut self.ahead);
        self.is_ahead = false;
    }

    /// Makes the tag, in the place of the hash.
    #[target_feature(enable = "vaes,vpclmulqdq,aes,pclmulqdq,avx2")]
    pub(crate) fn tag(&mut self, key: &Key) -> Block {
        let lengths = lengths(self.associated, self.length);
        let hash = if self.hashed > 0 {
            key.two_products(self.hash, lengths)
        } else {
            key.product(self.hash ^ lengths)
        };
        self.hash = hash ^ self.mask;
        self.hashed %= BLOCK;
        self.hash
    }

    pub(crate) fn end(&mut self) {
        wipe(self);
    }

    /// What the tag is hidden by.
    #[cfg(test)]
    pub(crate) fn mask(mut self) -> [u8; BLOCK] {
        *self.mask.bytes()
    }

    /// As if this message's first data came with that count, and after `length` bytes.
    #[cfg(test)]
    pub(crate) fn go_on_from(&mut self, count: u32, length: u64) {
        self.counter.bytes()[..4].copy_from_slice(&count.to_le_bytes());
        self.is_ahead = false;
        self.length = length;
    }
}

/// The last block that is hashed: both lengths, in bits.
#[target_feature(enable = "ssse3")]
fn lengths(associated: u64, data: u64) -> Block {
    Block::from_integer(u128::from(associated) << 67 | u128::from(data) << 3).reversed()
}
