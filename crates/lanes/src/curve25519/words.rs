//! Eight strings of 32 bytes, one per lane: what operations take and give.
//!
//! ```text
//!              instructions (none is a vpmadd52)      bounds
//! from_bytes   32 scalar loads                        any bytes
//! unpack       4 loads, 11                            digit 4 below 2^47; 0 to 3 have garbage above 2^52
//! pack         11, 4 stores                           takes digits 0 to 3 below 2^52, digit 4 below 2^48
//! equals       8 loads, 4 comparisons                 any words
//! halve        4 loads, 12, 4 stores                  any words
//! ```
//!
//! No shift loses a bit that counts and no two terms of an `or` overlap: a word is 64 bits of two or three digits whose
//! places are fixed. Constant time, each function: no branch, address or count depends on a word, only on the number of
//! lanes and, where a number is read out, on which lane.

use crate::LANES;
use crate::vector::{DIGIT, Digit, Mask, Vector};
use zeroize::Zeroize;

/// Eight little-endian numbers of 256 bits; lane `l` of word `i` is bits `64 i` to `64 i + 63` of
/// number `l`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Words(pub(crate) [Digit; 4]);

impl Words {
    pub(crate) const ZERO: Words = Words([Digit::ZERO; 4]);

    /// The first eight `numbers` in their lanes; zero in a lane without one.
    pub(crate) fn from_bytes<'a>(numbers: impl IntoIterator<Item = &'a [u8; 32]>) -> Words {
        let mut words = Words::ZERO;
        for (lane, number) in numbers.into_iter().take(LANES).enumerate() {
            for (word, bytes) in words.0.iter_mut().zip(number.as_chunks().0) {
                word.0[lane] = u64::from_le_bytes(*bytes);
            }
        }
        words
    }

    /// Fixes five bits of each number, as RFC 7748, section 5, and RFC 8032, section 5.1.5, do: a multiple of 8, in
    /// which bit 254 is the highest.
    pub(crate) fn clamp(&mut self) {
        for lane in 0..LANES {
            self.0[0].0[lane] &= !0b111;
            self.0[3].0[lane] = self.0[3].0[lane] & (u64::MAX >> 1) | 1 << 62;
        }
    }

    /// The same number in all lanes.
    pub(crate) fn splat(number: [u64; 4]) -> Words {
        Words(number.map(Digit::splat))
    }

    /// The number in one lane.
    pub(crate) fn bytes(&self, lane: usize) -> [u8; 32] {
        let mut bytes = [0; 32];
        for (word, bytes) in self.0.iter().zip(bytes.as_chunks_mut().0) {
            *bytes = word.0[lane].to_le_bytes();
        }
        bytes
    }

    /// The low 255 bits of each number in digits of 52 bits. Above those, digits 0 to 3 hold
    /// garbage.
    #[inline(always)]
    pub(crate) fn unpack<V: Vector>(&self) -> [V; 5] {
        let [w0, w1, w2, w3] = &self.0;
        unpack([V::load(w0), V::load(w1), V::load(w2), V::load(w3)])
    }

    /// From digits of 52 bits without garbage, the last below 2^48.
    #[inline(always)]
    pub(crate) fn pack<V: Vector>(digits: [V; 5]) -> Words {
        let [d0, d1, d2, d3, d4] = digits;
        let mut words = Words::ZERO;
        d0.or(d1.shl::<52>()).store(&mut words.0[0]);
        d1.shr::<12>().or(d2.shl::<40>()).store(&mut words.0[1]);
        d2.shr::<24>().or(d3.shl::<28>()).store(&mut words.0[2]);
        d3.shr::<36>().or(d4.shl::<16>()).store(&mut words.0[3]);
        words
    }

    /// The lanes where both have the same number.
    #[inline(always)]
    pub(crate) fn equals<V: Vector>(&self, other: &Words) -> Mask {
        let mut equal = Mask::MAX;
        for i in 0..4 {
            equal &= V::load(&self.0[i]).eq(V::load(&other.0[i]));
        }
        equal
    }

    /// Half of each number, rounded down.
    #[inline(always)]
    pub(crate) fn halve<V: Vector>(&self) -> Words {
        let mut half = Words::ZERO;
        let mut above = V::zero();
        for i in (0..4).rev() {
            let word = V::load(&self.0[i]);
            word.shr::<1>().or(above.shl::<63>()).store(&mut half.0[i]);
            above = word;
        }
        half
    }

    /// The number in one lane, as four words.
    pub(crate) fn lane(&self, lane: usize) -> [u64; 4] {
        self.0.map(|word| word.0[lane])
    }
}

/// As [`Words::unpack`], of words in registers.
#[inline(always)]
pub(crate) fn unpack<V: Vector>([w0, w1, w2, w3]: [V; 4]) -> [V; 5] {
    [
        w0,
        w0.shr::<52>().or(w1.shl::<12>()),
        w1.shr::<40>().or(w2.shl::<24>()),
        w2.shr::<28>().or(w3.shl::<36>()),
        w3.shr::<16>().and(V::splat(DIGIT >> 5)),
    ]
}

impl Zeroize for Words {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}
