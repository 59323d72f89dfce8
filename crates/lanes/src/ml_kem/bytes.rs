//! Polynomials from and to bytes (FIPS 203, section 4.2.1): 12 bits a coefficient, or compressed to 11, 10, 5, 4 or 1.
//!
//! From bytes: `vpermb` takes the two or three bytes that hold a coefficient's bits to its place, a shift moves them down. To bytes: each
//! 64-bit lane makes one number of its four coefficients with multiply-adds. `vpermb` puts these numbers side by side, or plain code if they
//! are no whole bytes.
//!
//! Constant time.

use super::ring::Polynomial;
use super::{BYTES, N, Q};
use crate::vector::shorts::{SHORTS, Shorts, digit};
use crate::vector::{Digit, Vector};

/// Where the bits of each of 32 numbers are.
struct Places {
    /// The bytes with the low bits.
    low: Digit,
    /// The bytes one further on.
    high: Digit,
    /// How far the low bits are to be moved down, and the high ones up.
    down: Digit,
    up: Digit,
}

/// Numbers of so many bits.
struct Bits<const BITS: usize>;

impl<const BITS: usize> Bits<BITS> {
    const PLACES: Places = {
        let (mut low, mut high) = ([0; SHORTS], [0; SHORTS]);
        let (mut down, mut up) = ([0; SHORTS], [0; SHORTS]);
        let mut i = 0;
        while i < SHORTS {
            let (byte, bit) = (BITS * i / 8, BITS * i % 8);
            low[i] = (byte | (byte + 1) << 8) as i16;
            high[i] = ((byte + 1) | (byte + 2) << 8) as i16;
            down[i] = bit as i16;
            up[i] = (8 - bit) as i16;
            i += 1;
        }
        Places {
            low: digit(low),
            high: digit(high),
            down: digit(down),
            up: digit(up),
        }
    };
    /// Whether a number may reach into a third byte.
    const LONG: bool = BITS > 9 && BITS % 2 == 1;
}

/// 32 numbers of so many bits, the lowest bits first.
#[inline(always)]
pub(super) fn unpack<const BITS: usize, S: Shorts>(bytes: &[u8; 64]) -> S {
    let places = &Bits::<BITS>::PLACES;
    let bytes = S::load_bytes(bytes);
    let low = bytes.permute_bytes(S::load(&places.low));
    let mut numbers = low.shr_by(S::load(&places.down));
    if Bits::<BITS>::LONG {
        let high = bytes.permute_bytes(S::load(&places.high));
        numbers = numbers.or(high.shl_by(S::load(&places.up)));
    }
    numbers.and(S::splat((1 << BITS) - 1))
}

/// The bytes of 32 numbers of so many bits, group `g` of them.
#[inline(always)]
pub(super) fn group<const BITS: usize>(bytes: &[u8], g: usize) -> [u8; 64] {
    let mut group = [0; 64];
    group[..4 * BITS].copy_from_slice(&bytes[4 * BITS * g..4 * BITS * (g + 1)]);
    group
}

/// ByteDecode with 12 bits. Whether all coefficients are below q.
#[inline(always)]
pub(super) fn decode<S: Shorts>(bytes: &[u8], to: &mut Polynomial) -> bool {
    let mut below = u32::MAX;
    for (g, to) in to.iter_mut().enumerate() {
        let numbers = unpack::<12, S>(&group::<12>(bytes, g));
        below &= numbers.below(S::splat(Q));
        numbers.store(to);
    }
    below == u32::MAX
}

/// Decompress of ByteDecode: coefficients from 0 to q - 1.
#[inline(always)]
pub(super) fn decompress<const BITS: usize, S: Shorts>(bytes: &[u8], to: &mut Polynomial) {
    for (g, to) in to.iter_mut().enumerate() {
        let numbers = unpack::<BITS, S>(&group::<BITS>(bytes, g));
        let scaled = numbers.shl_by(S::splat(15 - BITS as i16));
        scaled.mul_round(S::splat(Q)).store(to);
    }
}

/// The polynomial of a message: (q + 1) / 2 where a bit is set.
#[inline(always)]
pub(super) fn of_message<S: Shorts>(message: &[u8; BYTES], to: &mut Polynomial) {
    for (bits, to) in message.as_chunks::<4>().0.iter().zip(to) {
        let bits = u32::from_le_bytes(*bits);
        S::splat(0).blend(bits, S::splat((Q + 1) / 2)).store(to);
    }
}

/// The message of a polynomial whose coefficients are from 0 to q - 1: Compress to 1 bit.
#[inline(always)]
pub(super) fn to_message<S: Shorts>(from: &Polynomial, message: &mut [u8; BYTES]) {
    for (bits, from) in message.as_chunks_mut::<4>().0.iter_mut().zip(from) {
        // From 833 to 2496 rounds to 1.
        let above = S::load(from).sub(S::splat(833));
        *bits = above.below(S::splat(2496 - 833 + 1)).to_le_bytes();
    }
}

/// ByteEncode with 12 bits of coefficients from 0 to q - 1.
#[inline(always)]
pub(super) fn encode<V: Vector, S: Shorts>(from: &Polynomial, bytes: &mut [u8]) {
    pack::<12, V, S>(from, bytes);
}

/// ByteEncode of Compress to 11, 10, 5 or 4 bits of coefficients from 0 to q - 1.
#[inline(always)]
pub(super) fn compress<const BITS: usize, V: Vector, S: Shorts>(
    from: &Polynomial,
    bytes: &mut [u8],
) {
    pack::<BITS, V, S>(from, bytes);
}

/// Each lane's number from 0 to q - 1, compressed to so many bits; 12 are all.
///
/// (2^d x + q / 2) / q, with the division as a multiplication by 2^n / q and a shift: the test tries every x.
#[inline(always)]
fn compressed<const BITS: usize, V: Vector>(number: V) -> V {
    let (rounding, factor, shift) = const {
        match BITS {
            4 => (1665, 80_635, 28),
            5 => (1664, 40_318, 27),
            10 => (1665, 1_290_167, 32),
            11 => (1664, 645_084, 31),
            12 => (0, 0, 0),
            _ => panic!("ML-KEM compresses to 4, 5, 10 or 11 bits"),
        }
    };
    if BITS == 12 {
        return number;
    }
    let scaled = V::splat(rounding).madlo(number, V::splat(1 << BITS));
    let quotient = V::zero().madlo(scaled, V::splat(factor));
    let quotient = quotient.shr_by(V::splat(shift));
    quotient.and(V::splat((1 << BITS) - 1))
}

/// Each lane's two numbers, compressed, side by side.
#[inline(always)]
fn two<const BITS: usize, V: Vector>(low: V, high: V) -> V {
    compressed::<BITS, V>(low).madlo(compressed::<BITS, V>(high), V::splat(1 << BITS))
}

/// Where the bytes of 32 numbers of so many bits are, if four of them in a word are whole bytes.
struct Order<const BITS: usize>;

impl<const BITS: usize> Order<BITS> {
    const BYTES: Digit = {
        let (mut words, mut i) = ([0; 8], 0);
        while i < 4 * BITS {
            let byte = i / (BITS / 2) * 8 + i % (BITS / 2);
            words[i / 8] |= (byte as u64) << (8 * (i % 8));
            i += 1;
        }
        Digit(words)
    };
}

/// The coefficients, compressed, side by side.
#[inline(always)]
fn pack<const BITS: usize, V: Vector, S: Shorts>(from: &Polynomial, bytes: &mut [u8]) {
    debug_assert_eq!(bytes.len(), N / 8 * BITS);
    for (from, bytes) in from.iter().zip(bytes.chunks_exact_mut(4 * BITS)) {
        let from = V::load(from);
        let number = V::splat(0xffff);
        let low = two::<BITS, V>(from.and(number), from.shr::<16>().and(number));
        let high = two::<BITS, V>(from.shr::<32>().and(number), from.shr::<48>());
        let mut fours = Digit::ZERO;
        low.madlo(high, V::splat(1 << (2 * BITS))).store(&mut fours);
        if BITS.is_multiple_of(2) {
            let ordered = S::load(&fours).permute_bytes(S::load(&Order::<BITS>::BYTES));
            let mut packed = [0; 64];
            ordered.store_bytes(&mut packed);
            bytes.copy_from_slice(&packed[..4 * BITS]);
            continue;
        }
        let (fours, _) = fours.0.as_chunks::<2>();
        for ([low, high], bytes) in fours.iter().zip(bytes.as_chunks_mut::<BITS>().0) {
            let eight = u128::from(*low) | u128::from(*high) << (4 * BITS);
            bytes.copy_from_slice(&eight.to_le_bytes()[..BITS]);
        }
    }
}
