//! The same 512 bits as 16 numbers of 32 bits: what ML-DSA's polynomials are made of.
//!
//! A kernel that needs them implements [`WordKernel`]; [`run_words`] executes it. The processor must have what a
//! [`ShortKernel`](super::shorts::ShortKernel) needs: Ice Lake, Zen 4 and later.
//!
//! In memory a vector is a [`Digit`]: number `i` is bits `32 (i mod 2)` and up of word `i / 2`, which is the order of
//! the bytes of a little-endian array. Numbers `2 i` and `2 i + 1` are *pair* `i`: 64 bits that can hold one product.

use super::{Digit, Vector};
use crate::Error;

/// Numbers in a register.
pub(crate) const WORDS: usize = 16;

/// A set of numbers: bit `i` stands for number `i`.
pub(crate) type WordMask = u16;

/// 16 numbers of 32 bits in a register. All arithmetic is modulo 2^32, number by number, and constant time.
pub(crate) trait Words: Copy {
    fn splat(value: i32) -> Self;
    fn load(from: &Digit) -> Self;
    fn store(self, to: &mut Digit);
    /// 64 bytes at any address.
    fn load_bytes(from: &[u8; 64]) -> Self;
    /// To vectors in memory, from number `at` on, at most their last; what does not fit is dropped.
    fn store_at(self, to: &mut [Digit], at: usize);

    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn and(self, other: Self) -> Self;
    /// The low 32 bits of the product (`vpmulld`): slow where it is not needed.
    fn mul_low(self, other: Self) -> Self;
    /// Shift right by `BITS < 32`, zeros come in.
    fn shr<const BITS: u32>(self) -> Self;
    /// Shift right by `BITS < 32`, copies of the sign come in.
    fn sar<const BITS: u32>(self) -> Self;
    /// Shift left by `BITS < 32`.
    fn shl<const BITS: u32>(self) -> Self;
    /// Shift right by the count in the same place, at most 31; zeros come in.
    fn shr_by(self, counts: Self) -> Self;

    /// Pair by pair, the signed 64-bit product of the even numbers (`vpmuldq`).
    fn mul_even(self, other: Self) -> Self;
    /// Each odd number in both places of its pair.
    fn odd(self) -> Self;
    /// As 8 numbers of 64 bits: the sum.
    fn add_pairs(self, other: Self) -> Self;
    /// As 8 numbers of 64 bits: the difference.
    fn sub_pairs(self, other: Self) -> Self;
    /// The upper halves of the 64-bit numbers of `even` in the even places, those of `odd` in the odd places.
    fn merge_high(even: Self, odd: Self) -> Self;

    /// The numbers that are below `other`, unsigned.
    fn below(self, other: Self) -> WordMask;
    /// `self` where the bit is clear, `other` where it is set.
    fn blend(self, mask: WordMask, other: Self) -> Self;
    /// One of the 32 numbers of `low` and `high`: the one that the low five bits of `self` name (`vpermt2d`).
    fn pick(self, low: Self, high: Self) -> Self;
    /// Byte by byte, the byte of `self` that the low six bits of `from` name (`vpermb`).
    fn permute_bytes(self, from: Self) -> Self;
    /// The numbers of the mask side by side, then zeros (`vpcompressd`).
    fn compress(self, mask: WordMask) -> Self;

    /// Runs a kernel as a function of its own, not inlined, from inside another one.
    fn call<K: WordKernel>(kernel: K) -> K::Output;
}

/// A piece of arithmetic on 16 numbers, and on eight lanes.
pub(crate) trait WordKernel {
    type Output;

    /// The arithmetic. Every implementation is `#[inline(always)]`.
    fn run<V: Vector, W: Words>(self) -> Self::Output;
}

/// Whether the processor has all that a [`WordKernel`] needs.
pub(crate) fn available() -> bool {
    super::shorts::available()
}

/// Runs a kernel on the processor's registers.
///
/// # Errors
/// [`Error::Unavailable`] on a processor that lacks an instruction. This crate's tests run on the emulation there,
/// and everywhere with the feature `emulation`.
#[inline]
pub(crate) fn run_words<K: WordKernel>(kernel: K) -> Result<K::Output, Error> {
    #[cfg(all(target_arch = "x86_64", not(feature = "emulation")))]
    if super::ifma::shorts_available() {
        return Ok(super::ifma::run_words(kernel));
    }
    #[cfg(any(test, feature = "emulation"))]
    return Ok(super::emulated::run_words(kernel));
    #[cfg(not(any(test, feature = "emulation")))]
    {
        drop(kernel);
        Err(Error::Unavailable)
    }
}

/// Runs a kernel on intervals: for all operands at once (`vector/interval/words.rs`).
#[cfg(test)]
pub(crate) fn run_words_for_all<K: WordKernel>(kernel: K) -> K::Output {
    super::interval::run_words(kernel)
}

/// 16 numbers as they stand in memory.
pub(crate) const fn digit(words: [i32; WORDS]) -> Digit {
    let mut pairs = [0; 8];
    let mut i = 0;
    while i < WORDS {
        pairs[i / 2] |= (words[i].cast_unsigned() as u64) << (32 * (i % 2));
        i += 1;
    }
    Digit(pairs)
}

/// The 16 numbers of a vector in memory.
#[cfg(any(test, feature = "emulation", not(target_arch = "x86_64")))]
pub(crate) fn words(digit: &Digit) -> [i32; WORDS] {
    core::array::from_fn(|i| ((digit.0[i / 2] >> (32 * (i % 2))) as u32).cast_signed())
}

#[cfg(test)]
mod tests;
