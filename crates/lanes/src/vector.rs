//! Eight 64-bit lanes: the few instructions that all arithmetic of this crate is made of.
//!
//! A *kernel* is a piece of arithmetic written once, generic over [`Vector`]. It is a struct that
//! holds its operands and implements [`Kernel`]; [`run`] executes it:
//!
//! ```text
//! run(kernel) ──▶ processor has IFMA ──▶ kernel.run::<Ifma>()      AVX-512 (vector/ifma.rs)
//!             └─▶ tests              ──▶ kernel.run::<Emulated>()  portable (vector/emulated.rs)
//! run_for_all(kernel) ─▶ tests       ──▶ kernel.run::<Interval>()  what lanes may hold (vector/interval.rs)
//! ```
//!
//! `Ifma` cannot be named outside this module: code that has a `V: Vector` in its hands was started
//! by [`run`], so the processor's features were checked. That is what makes its methods safe.
//!
//! # How to write a fast kernel
//! * Every function generic over `V` is `#[inline(always)]`. One that is not would be compiled
//!   without the AVX-512 target feature: slow, with each vector passed through memory. A closure is
//!   such a function, also one that `map`, `fold` or `from_fn` takes. (`tests/stack.rs` looks for them.)
//! * A function that must not be inlined (it is large and called from many places) is a [`Kernel`]
//!   of its own, called with [`Vector::call`]. Its operands are references to [`Digit`]s in memory.
//! * Vectors live in named locals or in small arrays with constant indices. `[V; N]` passed by
//!   reference, or indexed by a loop variable that is not unrolled, is memory and `memcpy`.
//! * 32 registers: what is live beyond that spills.
//! * Order matters where a chain of dependent instructions runs beside many independent ones: the
//!   processor prefers the older instruction, so the chain must come early in the program, and
//!   LLVM's scheduler puts it late. `madlo_in_order` and `madhi_in_order` stay where they are
//!   written, with all loads and stores around them. (RSA's squaring: 80 % of the bound becomes 87 %.)
//! * What a loop loads and never stores, LLVM loads once before the loop and spills to the stack,
//!   which is not aligned: each reload then crosses a cache line. [`reread`] hides from it that the
//!   memory is the same as before.
//!
//! A number in radix 2^52 is an array of [`Digit`]s, least significant first; one `Digit` holds that
//! digit of the eight numbers. `madlo` and `madhi` read the low 52 bits of their factors and ignore
//! those above, so a factor whose excess has been carried on (`x >> 52`) needs no mask.

use crate::Error;
use crate::LANES;
use zeroize::Zeroize;

#[cfg(any(test, feature = "emulation", not(target_arch = "x86_64")))]
mod emulated;
#[cfg(target_arch = "x86_64")]
#[cfg_attr(feature = "emulation", allow(dead_code))]
// Where all is emulated, it need not be compiled.
mod ifma;
#[cfg(test)]
mod interval;
pub(crate) mod shorts;
mod unroll;
pub(crate) mod words;

pub(crate) use unroll::unroll;

/// The low 52 bits: one digit.
pub(crate) const DIGIT: u64 = (1 << 52) - 1;

/// Eight words of one lane, as little-endian bytes.
pub(crate) type Row = [u8; 64];

/// A set of lanes: bit `i` stands for lane `i`.
pub(crate) type Mask = u8;

/// One digit of eight numbers, in memory; lane `i` is number `i`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(64))]
pub(crate) struct Digit(pub(crate) [u64; LANES]);

impl Digit {
    pub(crate) const ZERO: Digit = Digit([0; LANES]);

    /// The same value in every lane.
    pub(crate) const fn splat(value: u64) -> Digit {
        Digit([value; LANES])
    }
}

impl Zeroize for Digit {
    /// All 64 bytes at once: eight words one by one take 1 % of an RSA operation.
    fn zeroize(&mut self) {
        // SAFETY: a valid, aligned, exclusive reference to plain words.
        unsafe { core::ptr::write_volatile(self, Digit::ZERO) };
        core::sync::atomic::compiler_fence(core::sync::atomic::Ordering::SeqCst);
    }
}

/// Words of 64 bits in a register, as many as it holds: their bits, word by word.
pub(crate) trait Bits: Copy {
    /// The same value in every lane.
    fn splat(value: u64) -> Self;
    fn load(from: &Digit) -> Self;
    fn store(self, to: &mut Digit);

    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    /// `!self & other`.
    fn not_and(self, other: Self) -> Self;

    /// Shift left by `BITS < 64`.
    fn shl<const BITS: u32>(self) -> Self;
    /// Shift right by `BITS < 64`, zeros come in.
    fn shr<const BITS: u32>(self) -> Self;

    /// The lanes of the mask; 0 in the others.
    fn only(self, lanes: Mask) -> Self;

    /// Eight words for each lane, from the lane's own bytes: word i of row l becomes lane l of vector i.
    fn load_turned(rows: [&Row; LANES]) -> [Self; LANES];
    /// The way back: lane l of vector i becomes word i of row l, as far as there are lanes.
    fn store_turned(vectors: [Self; LANES], rows: [&mut Row; LANES]);
}

/// Eight 64-bit lanes in a register. All arithmetic is modulo 2^64, lane by lane, and constant time.
pub(crate) trait Vector: Bits {
    /// Lanes 0 to 3 of a [`Digit`], in a register half as wide. What it stores leaves the others alone, or not.
    type Half: Bits;

    /// Whether the processor works off a register's halves one after the other (Zen 4): then a half takes half the time.
    fn in_halves() -> bool;

    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn and(self, other: Self) -> Self;

    /// Shift left by one; the top bit of `other` comes in.
    fn shl_in(self, other: Self) -> Self;
    /// Shift right by `BITS < 64`, copies of the sign come in.
    fn sar<const BITS: u32>(self) -> Self;
    /// Shift each lane right by the count in the same lane of `counts`; 64 and more give 0.
    fn shr_by(self, counts: Self) -> Self;

    /// `self + (a * b mod 2^52)`, where only the low 52 bits of `a` and of `b` count (`vpmadd52luq`).
    fn madlo(self, a: Self, b: Self) -> Self;
    /// `self + (a * b >> 52)`, where only the low 52 bits of `a` and of `b` count (`vpmadd52huq`).
    fn madhi(self, a: Self, b: Self) -> Self;

    /// As `madlo`, kept where the source has it: see the header on order.
    fn madlo_in_order(self, a: Self, b: Self) -> Self;
    /// As `madhi`, kept where the source has it: see the header on order.
    fn madhi_in_order(self, a: Self, b: Self) -> Self;

    /// The lanes where both are equal.
    fn eq(self, other: Self) -> Mask;
    /// The lanes where `self < other`, unsigned.
    fn lt(self, other: Self) -> Mask;
    /// The lanes where `self & other` is not zero.
    fn test(self, other: Self) -> Mask;
    /// Lane by lane: `self` where the bit is clear, `other` where it is set.
    fn blend(self, mask: Mask, other: Self) -> Self;

    /// Lane by lane, one of the sixteen lanes of `low` (0 to 7) and `high` (8 to 15): the one that
    /// the low four bits of `self` name. A table lookup without an address (`vpermt2q`).
    fn pick(self, low: Self, high: Self) -> Self;

    /// Lane by lane, the lane of `self` that the low three bits of `from` name (`vpermq` by a vector): no address
    /// depends on them.
    fn permute(self, from: Self) -> Self;
    /// In each half of four lanes, lane `i` becomes the half's lane that bits `2i` and `2i + 1` of `FROM` name
    /// (`vpermq` by a constant).
    fn permute_halves<const FROM: i32>(self) -> Self;
    /// The low 64 bits of the product (`vpmullq`): slow where it is not needed.
    fn mul_low(self, other: Self) -> Self;

    /// Runs a kernel as a function of its own, not inlined, from inside another one.
    fn call<K: Kernel>(kernel: K) -> K::Output;

    /// Zero in every lane.
    #[inline(always)]
    fn zero() -> Self {
        Self::splat(0)
    }
}

/// A piece of arithmetic on eight lanes: a struct of its operands.
pub(crate) trait Kernel {
    type Output;

    /// The arithmetic. Every implementation is `#[inline(always)]`.
    fn run<V: Vector>(self) -> Self::Output;
}

/// Whether the processor has what `Ifma` needs. The standard library asks `cpuid` once.
pub(crate) fn available() -> bool {
    #[cfg(target_arch = "x86_64")]
    let answer = ifma::available();
    #[cfg(not(target_arch = "x86_64"))]
    let answer = false;
    answer
}

/// The same reference, of which the compiler may assume nothing that it has read before.
#[inline(always)]
pub(crate) fn reread<T>(from: &T) -> &T {
    #[cfg(target_arch = "x86_64")]
    let from = ifma::reread(from);
    from
}

/// The same word, of which the compiler knows nothing: a mask that it knows to be all ones or zero becomes a
/// branch.
#[inline(always)]
pub(crate) fn opaque(word: u64) -> u64 {
    #[cfg(target_arch = "x86_64")]
    let word = ifma::opaque(word);
    #[cfg(not(target_arch = "x86_64"))]
    let word = core::hint::black_box(word);
    word
}

/// The same mask, of which the compiler knows nothing: it does not become a part of what it was made of.
#[inline(always)]
pub(crate) fn opaque_mask(mask: Mask) -> Mask {
    opaque(u64::from(mask)) as Mask
}

/// Asks for four cache lines ahead of their use. Reveals their addresses, as a load does.
#[inline(always)]
pub(crate) fn prefetch(lines: &[Digit; 4]) {
    #[cfg(target_arch = "x86_64")]
    ifma::prefetch(lines);
    #[cfg(not(target_arch = "x86_64"))]
    let _ = lines;
}

/// What follows from a secret, but is told to the caller, or always the same but for a fault: code may branch
/// on it. Does nothing, but for the test that looks for branches on secrets (`src/secrets.rs`).
#[inline(always)]
pub(crate) fn told<T: Copy>(value: T) -> T {
    #[cfg(all(test, feature = "emulation"))]
    let value = outboard_valgrind::tell(value);
    value
}

/// Runs a kernel on the processor's lanes.
///
/// # Errors
/// [`Error::Unavailable`] on a processor without IFMA. This crate's tests run on the emulation
/// there, and everywhere with the feature `emulation`.
#[inline]
pub(crate) fn run<K: Kernel>(kernel: K) -> Result<K::Output, Error> {
    #[cfg(all(target_arch = "x86_64", not(feature = "emulation")))]
    if ifma::available() {
        return Ok(ifma::run(kernel));
    }
    #[cfg(any(test, feature = "emulation"))]
    return Ok(emulated::run(kernel));
    #[cfg(not(any(test, feature = "emulation")))]
    {
        drop(kernel);
        Err(Error::Unavailable)
    }
}

/// Runs a kernel on intervals: for all operands at once (`vector/interval.rs`).
#[cfg(test)]
pub(crate) fn run_for_all<K: Kernel>(kernel: K) -> K::Output {
    interval::run(kernel)
}

#[cfg(test)]
mod tests;
