//! The same 512 bits as 32 numbers of 16 bits: what ML-KEM's polynomials are made of.
//!
//! A kernel that needs them implements [`ShortKernel`]; [`run_shorts`] executes it. The processor must have VBMI, VBMI2 and
//! VNNI beside what the 64-bit lanes need: Ice Lake, Zen 4 and later.
//!
//! In memory a vector is a [`Digit`]: number `i` is bits `16 (i mod 4)` and up of word `i / 4`, which is the order of
//! the bytes of a little-endian array.

use super::{Digit, Vector};
use crate::Error;

/// Numbers in a register.
pub(crate) const SHORTS: usize = 32;

/// A set of numbers: bit `i` stands for number `i`.
pub(crate) type ShortMask = u32;

/// 32 numbers of 16 bits in a register. All arithmetic is modulo 2^16, number by number, and constant time.
pub(crate) trait Shorts: Copy {
    fn splat(value: i16) -> Self;
    fn load(from: &Digit) -> Self;
    fn store(self, to: &mut Digit);
    /// 64 bytes at any address.
    fn load_bytes(from: &[u8; 64]) -> Self;
    /// 64 bytes to any address.
    fn store_bytes(self, to: &mut [u8; 64]);
    /// To vectors in memory, from number `at` on, at most their last; what does not fit is dropped.
    fn store_at(self, to: &mut [Digit], at: usize);

    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    /// The low 16 bits of the product (`vpmullw`).
    fn mul_low(self, other: Self) -> Self;
    /// The high 16 bits of the signed product (`vpmulhw`).
    fn mul_high(self, other: Self) -> Self;
    /// The signed product over 2^15, rounded (`vpmulhrsw`).
    fn mul_round(self, other: Self) -> Self;
    /// All ones where the number is negative, else zero.
    fn sign(self) -> Self;
    /// Shift right by the count in the same place, at most 15; zeros come in.
    fn shr_by(self, counts: Self) -> Self;
    /// Shift left by the count in the same place; 16 and more give 0.
    fn shl_by(self, counts: Self) -> Self;

    /// The numbers that are below `other`, unsigned.
    fn below(self, other: Self) -> ShortMask;
    /// `self` where the bit is clear, `other` where it is set.
    fn blend(self, mask: ShortMask, other: Self) -> Self;
    /// One of the 64 numbers of `low` and `high`: the one that the low six bits of `self` name (`vpermt2w`).
    fn pick(self, low: Self, high: Self) -> Self;
    /// Byte by byte, the byte of `self` that the low six bits of `from` name (`vpermb`).
    fn permute_bytes(self, from: Self) -> Self;
    /// The numbers of the mask side by side, then zeros (`vpcompressw`).
    fn compress(self, mask: ShortMask) -> Self;

    /// As 16 numbers of 32 bits: adds the two products of each pair's signed numbers (`vpdpwssd`).
    fn add_dot(self, a: Self, b: Self) -> Self;
    /// As 16 numbers of 32 bits: the difference.
    fn sub_pairs(self, other: Self) -> Self;
    /// As 16 numbers of 32 bits: shift right by 16.
    fn shr_pairs(self) -> Self;
    /// Each pair's numbers change places.
    fn swap_pairs(self) -> Self;

    /// Runs a kernel as a function of its own, not inlined, from inside another one.
    fn call<K: ShortKernel>(kernel: K) -> K::Output;
}

/// A piece of arithmetic on 32 short numbers, and on eight lanes.
pub(crate) trait ShortKernel {
    type Output;

    /// The arithmetic. Every implementation is `#[inline(always)]`.
    fn run<V: Vector, S: Shorts>(self) -> Self::Output;
}

/// Whether the processor has all that a [`ShortKernel`] needs.
pub(crate) fn available() -> bool {
    #[cfg(target_arch = "x86_64")]
    let answer = super::ifma::shorts_available();
    #[cfg(not(target_arch = "x86_64"))]
    let answer = false;
    answer
}

/// Runs a kernel on the processor's registers.
///
/// # Errors
/// [`Error::Unavailable`] on a processor that lacks an instruction. This crate's tests run on the emulation there,
/// and everywhere with the feature `emulation`.
#[inline]
pub(crate) fn run_shorts<K: ShortKernel>(kernel: K) -> Result<K::Output, Error> {
    #[cfg(all(target_arch = "x86_64", not(feature = "emulation")))]
    if super::ifma::shorts_available() {
        return Ok(super::ifma::run_shorts(kernel));
    }
    #[cfg(any(test, feature = "emulation"))]
    return Ok(super::emulated::run_shorts(kernel));
    #[cfg(not(any(test, feature = "emulation")))]
    {
        drop(kernel);
        Err(Error::Unavailable)
    }
}

/// 32 numbers as they stand in memory.
pub(crate) const fn digit(shorts: [i16; SHORTS]) -> Digit {
    let mut words = [0; 8];
    let mut i = 0;
    while i < SHORTS {
        words[i / 4] |= (shorts[i].cast_unsigned() as u64) << (16 * (i % 4));
        i += 1;
    }
    Digit(words)
}

/// The 32 numbers of a vector in memory.
#[cfg(any(test, feature = "emulation", not(target_arch = "x86_64")))]
pub(crate) fn shorts(digit: &Digit) -> [u16; SHORTS] {
    core::array::from_fn(|i| (digit.0[i / 4] >> (16 * (i % 4))) as u16)
}
