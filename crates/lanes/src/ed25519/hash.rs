//! SHA-512 of eight messages of any lengths, one per lane.
//!
//! Vector instructions: those of `compress` for each block of the longest message, and 8 blends of states; no
//! `vpmadd52`. Bounds: words are of 64 bits, and sums are modulo 2^64 as FIPS 180-4 has them.
//!
//! Constant time in what messages hold, as `sha512/padding.rs` is. `equal` gives the lanes as a mask, without a branch.

use crate::sha512::padding::{Message, blocks, fill};
use crate::sha512::{INITIAL, compress};
use crate::vector::{Digit, Kernel, Mask, Vector};
use zeroize::Zeroizing;

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
