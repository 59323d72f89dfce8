//! Polynomials from and to bytes (FIPS 204, section 7.1): so many bits a coefficient, the lowest bits first.
//!
//! From bytes: `vpermb` takes the four bytes that hold a coefficient's bits to its place, and a shift moves them down. To bytes: two
//! coefficients make a number of a 64-bit lane. Two of these lanes make four coefficients, and `vpermb` puts their bytes side by
//! side. Where four coefficients end within a byte, plain code puts eight of them side by side.
//!
//! Constant time.

use super::N;
use super::ring::Polynomial;
use crate::vector::words::{WORDS, Words, digit};
use crate::vector::{Digit, Mask, Vector};

/// Where the bits of each of 16 numbers are.
struct Places {
    /// The four bytes from the one with the lowest bits on.
    bytes: Digit,
    /// How far the bits are to be moved down.
    down: Digit,
    /// Where [`pack`] finds the bytes of its result.
    packed: Digit,
}

/// Numbers of so many bits.
struct Bits<const BITS: usize>;

impl<const BITS: usize> Bits<BITS> {
    const PLACES: Places = {
        let (mut bytes, mut down) = ([0; WORDS], [0; WORDS]);
        let mut i = 0;
        while i < WORDS {
            let byte = (BITS * i / 8) as i32;
            bytes[i] = byte * 0x0101_0101 + 0x0302_0100;
            down[i] = (BITS * i % 8) as i32;
            i += 1;
        }
        // Four numbers are in 16 bytes, from the first on.
        let mut packed = [0; WORDS];
        let mut i = 0;
        while i < 2 * BITS {
            let (four, byte) = (i / Self::FOUR, i % Self::FOUR);
            packed[i / 4] |= (16 * four as i32 + byte as i32) << (8 * (i % 4));
            i += 1;
        }
        Places {
            bytes: digit(bytes),
            down: digit(down),
            packed: digit(packed),
        }
    };
    /// Whole bytes of four numbers.
    const FOUR: usize = if BITS > 1 { BITS / 2 } else { 1 };
    /// All ones.
    const MASK: i32 = (1 << BITS) - 1;
}

/// 16 numbers of so many bits: at most 25, or 24 if they are whole bytes.
#[inline(always)]
pub(super) fn unpack<const BITS: usize, W: Words>(bytes: &[u8; 64]) -> W {
    const { assert!(BITS <= 25 && 2 * BITS + 3 <= 64) }
    let places = &Bits::<BITS>::PLACES;
    let numbers = W::load_bytes(bytes).permute_bytes(W::load(&places.bytes));
    let numbers = if BITS.is_multiple_of(8) {
        numbers
    } else {
        numbers.shr_by(W::load(&places.down))
    };
    numbers.and(W::splat(Bits::<BITS>::MASK))
}

/// 64 bytes from there on; what is missing, zeros.
#[inline(always)]
pub(super) fn window(bytes: &[u8], at: usize) -> [u8; 64] {
    if let Some(whole) = bytes[at..].first_chunk() {
        return *whole;
    }
    let (mut window, rest) = ([0; 64], &bytes[at..]);
    window[..rest.len()].copy_from_slice(rest);
    window
}

/// The numbers of a polynomial, each of so many bits; or what `from` says less each of them.
#[inline(always)]
pub(super) fn decode<const BITS: usize, W: Words>(
    bytes: &[u8],
    from: Option<i32>,
    to: &mut Polynomial,
) {
    for (g, to) in to.iter_mut().enumerate() {
        let numbers = unpack::<BITS, W>(&window(bytes, 2 * BITS * g));
        let numbers = match from {
            Some(from) => W::splat(from).sub(numbers),
            None => numbers,
        };
        numbers.store(to);
    }
}

/// The numbers of a polynomial, each of so many bits and not negative; or what `from` says less each of them.
#[inline(always)]
pub(super) fn encode<const BITS: usize, V: Vector, W: Words>(
    polynomial: &Polynomial,
    from: Option<i32>,
    bytes: &mut [u8],
) {
    debug_assert_eq!(bytes.len(), N / 8 * BITS);
    for (numbers, bytes) in polynomial.iter().zip(bytes.chunks_exact_mut(2 * BITS)) {
        let mut number = *numbers;
        if let Some(from) = from {
            W::splat(from).sub(W::load(numbers)).store(&mut number);
        }
        pack::<BITS, V, W>(&number, bytes);
    }
}

/// 16 numbers of so many bits, side by side.
#[inline(always)]
pub(super) fn pack<const BITS: usize, V: Vector, W: Words>(numbers: &Digit, bytes: &mut [u8]) {
    // Two numbers in each lane.
    let numbers = V::load(numbers);
    let low = numbers.and(V::splat(0xffff_ffff));
    let two = low.or(shl::<BITS, V>(numbers.shr::<32>()));
    let mut fours = Digit::ZERO;
    if BITS % 2 == 1 {
        two.store(&mut fours);
        let (fours, _) = fours.0.as_chunks::<4>();
        for (fours, bytes) in fours.iter().zip(bytes.chunks_exact_mut(BITS)) {
            let eight = fours
                .iter()
                .rev()
                .fold(0, |eight: u128, two| eight << (2 * BITS) | u128::from(*two));
            bytes.copy_from_slice(&eight.to_le_bytes()[..BITS]);
        }
        return;
    }
    // Four in each even lane, and what is beyond 64 bits in the odd one.
    const SWAP: i32 = 0b10_11_00_01;
    const ODD: Mask = 0b1010_1010;
    let second = two.permute_halves::<SWAP>();
    let even = two.or(shl2::<BITS, V>(second));
    let odd = beyond::<BITS, V>(two);
    even.blend(ODD, odd).store(&mut fours);
    let places = W::load(&Bits::<BITS>::PLACES.packed);
    W::load(&fours).permute_bytes(places).store(&mut fours);
    let (words, rest) = bytes.as_chunks_mut::<8>();
    for (to, from) in words.iter_mut().zip(fours.0) {
        *to = from.to_le_bytes();
    }
    if !rest.is_empty() {
        let last = fours.0[2 * BITS / 8].to_le_bytes();
        rest.copy_from_slice(&last[..2 * BITS % 8]);
    }
}

macro_rules! shift {
    ($bits:expr, $x:ident.$shift:ident: $($count:literal)*) => {
        match $bits {
            $($count => $x.$shift::<$count>(),)*
            _ => unreachable!("a number of bits that nothing has"),
        }
    };
}

/// Shift left by the bits of a number.
#[inline(always)]
fn shl<const BITS: usize, V: Vector>(x: V) -> V {
    shift!(BITS, x.shl: 3 4 6 10 13 18 20)
}

/// Shift left by the bits of two numbers.
#[inline(always)]
fn shl2<const BITS: usize, V: Vector>(x: V) -> V {
    shift!(2 * BITS, x.shl: 8 12 20 36 40)
}

/// What of the second two of four numbers is beyond 64 bits.
#[inline(always)]
fn beyond<const BITS: usize, V: Vector>(x: V) -> V {
    if 4 * BITS <= 64 {
        return V::zero();
    }
    shift!(64 - 2 * BITS, x.shr: 28 24)
}
