//! Key expansion (FIPS 197, 5.2), four words at once.

use core::arch::x86_64::*;

use crate::block::{BLOCK, Block};
use crate::kernel::MOST_KEYS;

/// Expands a key of 16, 24 or 32 bytes: how many rounds follow the first addition. Each turn makes as many words as the key has, which are
/// four and perhaps more.
#[target_feature(enable = "aes,avx2")]
pub(crate) fn expand(key: &[u8], out: &mut [Block; MOST_KEYS]) -> usize {
    let words = key.len() / 4;
    let keys = words + 7;
    // SAFETY: the same bytes: a block is nothing else.
    let out: &mut [u8; BLOCK * MOST_KEYS] = unsafe { &mut *out.as_mut_ptr().cast() };
    let (mut four, mut more) = (Block::part(&key[..BLOCK]), Block::part(&key[BLOCK..]));
    let mut constant = 1;
    for word in (0..4 * keys).step_by(words) {
        for (word, block) in [(word, four), (word + 4, more)] {
            if let Some(bytes) = out[4 * word..].first_chunk_mut() {
                block.store(bytes);
            }
        }
        let last = match words {
            4 => everywhere::<3>(four),
            6 => everywhere::<1>(more),
            _ => everywhere::<3>(more),
        };
        four = summed(four) ^ substituted(rotated(last), constant);
        constant = (constant << 1) ^ (0x11b * (constant >> 7));
        more = match words {
            4 => more,
            6 => summed(more) ^ everywhere::<3>(four),
            _ => summed(more) ^ substituted(everywhere::<3>(four), 0),
        };
    }
    keys - 1
}

/// That word of four, in all places.
#[inline]
#[target_feature(enable = "sse2")]
fn everywhere<const WORD: i32>(words: Block) -> Block {
    Block(match WORD {
        1 => _mm_shuffle_epi32::<0b01_01_01_01>(words.0),
        _ => _mm_shuffle_epi32::<0b11_11_11_11>(words.0),
    })
}

/// Each word's bytes, one place on.
#[inline]
#[target_feature(enable = "sse2")]
fn rotated(words: Block) -> Block {
    Block(_mm_or_si128(
        _mm_srli_epi32::<8>(words.0),
        _mm_slli_epi32::<24>(words.0),
    ))
}

/// AES's S-box on each byte, and a constant in each word: the last round does so, without a table, and a word in all columns makes
/// its other step nothing.
#[inline]
#[target_feature(enable = "aes")]
fn substituted(column: Block, constant: i32) -> Block {
    Block(_mm_aesenclast_si128(column.0, _mm_set1_epi32(constant)))
}

/// Each word, and the sum of all before it.
#[inline]
#[target_feature(enable = "sse2")]
fn summed(words: Block) -> Block {
    let pairs = words ^ Block(_mm_slli_si128::<4>(words.0));
    pairs ^ Block(_mm_slli_si128::<8>(pairs.0))
}
