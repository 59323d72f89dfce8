//! SHA-512 of eight messages of any lengths, one per lane.
//!
//! Vector instructions: those of `compress` for each block of the longest message, and 8 blends of states; no
//! `vpmadd52`. Bounds: words are of 64 bits, and sums are modulo 2^64 as FIPS 180-4 has them; the length in bits is
//! reckoned in 128 bits, as it is written.
//!
//! Constant time in what messages hold: all branches and addresses, those of `blocks`, `length`, `fill` and `copy` too,
//! depend on the lengths of the parts. Lengths are public, and so is how many blocks each message has.
//! `equal` gives the lanes as a mask, without a branch.

use crate::LANES;
use crate::sha512::{INITIAL, compress};
use crate::vector::{Digit, Kernel, Mask, Vector};
use zeroize::{Zeroize, Zeroizing};

/// Bytes of a block.
const BLOCK: usize = 128;

/// What follows a message.
const END_MARK: [u8; 1] = [0x80];

/// A message: its parts, one after the other.
pub(super) type Message<'a> = [&'a [u8]; 3];

/// The empty message.
pub(super) const NOTHING: Message<'static> = [&[]; 3];

/// The digest of up to eight messages, each as a little-endian number of 512 bits.
#[inline(always)]
pub(super) fn sha512<V: Vector>(messages: &[Message<'_>]) -> Zeroizing<[Digit; 8]> {
    V::call(Sha512 { messages })
}

struct Sha512<'a> {
    messages: &'a [Message<'a>],
}

impl Kernel for Sha512<'_> {
    type Output = Zeroizing<[Digit; 8]>;

    #[inline(always)]
    fn run<V: Vector>(self) -> Self::Output {
        let mut state = Zeroizing::new([Digit::ZERO; 8]);
        for (word, initial) in state.iter_mut().zip(INITIAL) {
            *word = Digit::splat(initial);
        }
        let mut next = Zeroizing::new([Digit::ZERO; 8]);
        let mut block = Zeroizing::new([Digit::ZERO; 16]);
        let blocks = self.messages.iter().map(blocks).max().unwrap_or(0);
        for index in 0..blocks {
            let hashing = fill(&mut block, self.messages, index);
            *next = *state;
            compress::<V>(&mut next, &block);
            for (word, next) in state.iter_mut().zip(next.iter()) {
                V::load(word).blend(hashing, V::load(next)).store(word);
            }
        }
        for lane in state.iter_mut().flat_map(|word| &mut word.0) {
            *lane = lane.swap_bytes();
        }
        state
    }
}

/// The lanes where both digests are the same.
#[inline(always)]
pub(super) fn equal<V: Vector>(a: &[Digit; 8], b: &[Digit; 8]) -> Mask {
    let mut equal = Mask::MAX;
    for i in 0..8 {
        equal &= V::load(&a[i]).eq(V::load(&b[i]));
    }
    equal
}

/// Blocks of a padded message: a one bit and the length follow it.
fn blocks(message: &Message<'_>) -> usize {
    (length(message) + 1 + 16).div_ceil(BLOCK)
}

fn length(message: &Message<'_>) -> usize {
    message.iter().map(|part| part.len()).sum()
}

/// Takes block `index` of each message; which lanes have one.
fn fill(block: &mut [Digit; 16], messages: &[Message<'_>], index: usize) -> Mask {
    let mut lanes = 0;
    let mut bytes = [0; BLOCK];
    for (lane, message) in messages.iter().enumerate().take(LANES) {
        let blocks = blocks(message);
        if index >= blocks {
            continue;
        }
        lanes |= 1 << lane;
        copy(&mut bytes, message, index * BLOCK);
        if index == blocks - 1 {
            let bits = 8 * length(message) as u128;
            bytes[BLOCK - 16..].copy_from_slice(&bits.to_be_bytes());
        }
        for (word, bytes) in block.iter_mut().zip(bytes.as_chunks().0) {
            word.0[lane] = u64::from_be_bytes(*bytes);
        }
    }
    bytes.zeroize();
    lanes
}

/// Copies from `start` of the message, then its end mark, then zeros.
fn copy(to: &mut [u8; BLOCK], message: &Message<'_>, start: usize) {
    let mut skip = start;
    let mut filled = 0;
    for part in message.iter().chain(&[&END_MARK[..]]) {
        let from = &part[skip.min(part.len())..];
        skip -= part.len() - from.len();
        let count = from.len().min(BLOCK - filled);
        to[filled..filled + count].copy_from_slice(&from[..count]);
        filled += count;
    }
    to[filled..].fill(0);
}
