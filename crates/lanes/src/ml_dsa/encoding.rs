//! Keys, signatures and hints (FIPS 204, sections 7.1 and 7.2).

use super::bytes::{decode, encode, unpack, window};
use super::ring::{Polynomial, VECTORS, within};
use super::round::DROPPED;
use super::{BYTES, MOST_ROWS, MU, N, Set};
use crate::vector::words::{WORDS, WordMask, Words};
use crate::vector::{Vector, told};

/// The parts of a private key.
pub(super) struct Parts<'a> {
    /// ρ.
    pub(super) matrix_seed: &'a [u8; BYTES],
    /// K.
    pub(super) seed: &'a [u8; BYTES],
    /// s1, then s2.
    pub(super) secrets: &'a [u8],
    /// t0.
    pub(super) low: &'a [u8],
}

impl<'a> Parts<'a> {
    /// Of a key of the set's length.
    pub(super) fn of(set: Set, key: &'a [u8]) -> Option<Self> {
        let (matrix_seed, rest) = key.split_first_chunk()?;
        let (seed, rest) = rest.split_first_chunk()?;
        let (_hash, rest) = rest.split_at_checked(MU)?;
        let secrets = 32 * set.secret_bits() * (set.rows() + set.columns());
        let (secrets, low) = rest.split_at_checked(secrets)?;
        Some(Parts {
            matrix_seed,
            seed,
            secrets,
            low,
        })
    }
}

/// s1 and s2 of their bytes. Whether all coefficients are within ±η.
#[inline(always)]
pub(super) fn decode_secrets<W: Words>(set: Set, bytes: &[u8], to: &mut [Polynomial]) -> bool {
    if set.secret_bits() == 3 {
        secrets_of::<3, W>(set.width(), bytes, to)
    } else {
        secrets_of::<4, W>(set.width(), bytes, to)
    }
}

#[inline(always)]
fn secrets_of<const BITS: usize, W: Words>(
    width: i32,
    bytes: &[u8],
    to: &mut [Polynomial],
) -> bool {
    let mut below = WordMask::MAX;
    for (bytes, to) in bytes.chunks_exact(32 * BITS).zip(to) {
        for (g, to) in to.iter_mut().enumerate() {
            let numbers = unpack::<BITS, W>(&window(bytes, 2 * BITS * g));
            below &= numbers.below(W::splat(2 * width + 1));
            W::splat(width).sub(numbers).store(to);
        }
    }
    told(below) == WordMask::MAX
}

/// The bytes of a polynomial of s1 or s2.
#[inline(always)]
pub(super) fn encode_secret<V: Vector, W: Words>(set: Set, from: &Polynomial, bytes: &mut [u8]) {
    if set.secret_bits() == 3 {
        encode::<3, V, W>(from, Some(set.width()), bytes);
    } else {
        encode::<4, V, W>(from, Some(set.width()), bytes);
    }
}

/// The upper parts, t1.
#[inline(always)]
pub(super) fn encode_high<V: Vector, W: Words>(from: &Polynomial, bytes: &mut [u8]) {
    encode::<10, V, W>(from, None, bytes);
}

/// The upper parts, t1.
#[inline(always)]
pub(super) fn decode_high<W: Words>(bytes: &[u8], to: &mut Polynomial) {
    decode::<10, W>(bytes, None, to);
}

/// The lower parts, t0.
#[inline(always)]
pub(super) fn encode_low<V: Vector, W: Words>(from: &Polynomial, bytes: &mut [u8]) {
    encode::<13, V, W>(from, Some(1 << (DROPPED - 1)), bytes);
}

/// The lower parts, t0.
#[inline(always)]
pub(super) fn decode_low<W: Words>(bytes: &[u8], to: &mut Polynomial) {
    decode::<13, W>(bytes, Some(1 << (DROPPED - 1)), to);
}

/// w1Encode.
#[inline(always)]
pub(super) fn encode_commitment<V: Vector, W: Words>(
    set: Set,
    from: &Polynomial,
    bytes: &mut [u8],
) {
    if set.commitment_bits() == 6 {
        encode::<6, V, W>(from, None, bytes);
    } else {
        encode::<4, V, W>(from, None, bytes);
    }
}

/// The bytes of a polynomial of z, of which γ1 - z is given.
#[inline(always)]
pub(super) fn encode_response<V: Vector, W: Words>(set: Set, from: &Polynomial, bytes: &mut [u8]) {
    if set.mask_bits() == 18 {
        encode::<18, V, W>(from, None, bytes);
    } else {
        encode::<20, V, W>(from, None, bytes);
    }
}

/// A polynomial of z. Whether it is short enough.
#[inline(always)]
pub(super) fn decode_response<W: Words>(set: Set, bytes: &[u8], to: &mut Polynomial) -> bool {
    if set.mask_bits() == 18 {
        decode::<18, W>(bytes, Some(set.mask()), to);
    } else {
        decode::<20, W>(bytes, Some(set.mask()), to);
    }
    let mut short = WordMask::MAX;
    for to in to.iter() {
        short &= within(W::load(to), set.mask() - set.slack());
    }
    short == WordMask::MAX
}

/// Where hints are: one bit for each coefficient, for each polynomial.
pub(super) type Hints = [[WordMask; VECTORS]; MOST_ROWS];

/// How many there are.
pub(super) fn count(hints: &Hints) -> usize {
    let masks = hints.iter().flatten();
    masks.map(|mask| mask.count_ones() as usize).sum()
}

/// HintBitPack: of no more hints than the set has.
pub(super) fn encode_hints(set: Set, hints: &Hints, bytes: &mut [u8]) {
    let (places, ends) = bytes.split_at_mut(set.hints());
    places.fill(0);
    let mut found = 0;
    for (hints, end) in hints.iter().zip(ends) {
        let here = (0..N).filter(|place| hints[place / WORDS] >> (place % WORDS) & 1 == 1);
        for place in here {
            places[found] = place as u8;
            found += 1;
        }
        *end = found as u8;
    }
}

/// HintBitUnpack. None if it is not what [`encode_hints`] makes of any hints.
pub(super) fn decode_hints(set: Set, bytes: &[u8]) -> Option<Hints> {
    let (places, ends) = bytes.split_at_checked(set.hints())?;
    let mut hints = [[0; VECTORS]; MOST_ROWS];
    let mut found = 0;
    for (hints, &end) in hints.iter_mut().zip(ends) {
        let here = places.get(found..usize::from(end))?;
        if !here.is_sorted_by(|one, next| one < next) {
            return None;
        }
        for &place in here {
            hints[usize::from(place) / WORDS] |= 1 << (usize::from(place) % WORDS);
        }
        found = usize::from(end);
    }
    let rest = &places[found..];
    rest.iter().all(|&place| place == 0).then_some(hints)
}
