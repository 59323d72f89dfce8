//! Messages of any lengths as SHA-512's blocks (FIPS 180-4, sections 5.1.2 and 5.2.2), one message a lane.
//!
//! The length in bits is reckoned in 128 bits, as it is written. Constant time in what messages hold: all branches and
//! addresses depend on the lengths of the parts. Lengths are public, and so is how many blocks each message has.

use crate::LANES;
use crate::vector::{Digit, Mask};
use zeroize::Zeroize;

/// Bytes of a block.
const BLOCK: usize = 128;

/// What follows a message.
const END_MARK: [u8; 1] = [0x80];

/// A message: its parts, one after the other.
pub(crate) type Message<'a> = [&'a [u8]; 3];

/// The empty message.
pub(crate) const NOTHING: Message<'static> = [&[]; 3];

/// Blocks of a padded message: a one bit and the length follow it.
pub(crate) fn blocks(message: &Message<'_>) -> usize {
    (length(message) + 1 + 16).div_ceil(BLOCK)
}

fn length(message: &Message<'_>) -> usize {
    message.iter().map(|part| part.len()).sum()
}

/// Takes block `index` of each message; which lanes have one.
pub(crate) fn fill(block: &mut [Digit; 16], messages: &[Message<'_>], index: usize) -> Mask {
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
