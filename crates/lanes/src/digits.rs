//! Numbers in digits of 52 bits, the lowest first, outside the lanes: what RSA and the curves share.
//!
//! Constant time in the numbers: branches and addresses depend on lengths alone.

use crate::vector::{DIGIT, told};

/// Big-endian bytes to digits. Returns what does not fit into them: 0 of a number that does.
#[inline]
pub(crate) fn from_bytes(bytes: &[u8], digits: &mut [u64]) -> u64 {
    let mut excess = 0;
    let mut digits = digits.iter_mut();
    let mut take = |digit| match digits.next() {
        Some(to) => *to = digit,
        None => excess |= digit,
    };
    let mut pending = 0_u128;
    let mut bits = 0;
    for chunk in bytes.rchunks(4) {
        let word = chunk
            .iter()
            .fold(0, |word, &byte| word << 8 | u128::from(byte));
        pending |= word << bits;
        bits += 32;
        if bits >= 52 {
            take(pending as u64 & DIGIT);
            pending >>= 52;
            bits -= 52;
        }
    }
    take(pending as u64);
    digits.for_each(|digit| *digit = 0);
    excess
}

/// Digits to big-endian bytes; the number fits.
#[inline]
pub(crate) fn to_bytes(digits: impl IntoIterator<Item = u64>, bytes: &mut [u8]) {
    let mut digits = digits.into_iter();
    let mut pending = 0_u128;
    let mut bits = 0;
    for chunk in bytes.rchunks_mut(4) {
        if bits < 32 {
            pending |= u128::from(digits.next().unwrap_or(0)) << bits;
            bits += 52;
        }
        let word = (pending as u32).to_be_bytes();
        let start = 4 - chunk.len();
        chunk.copy_from_slice(&word[start..]);
        pending >>= 32;
        bits -= 32;
    }
}

/// Words of 64 bits, the highest first, to digits; digits above the highest word are 0.
pub(crate) const fn from_words<const WORDS: usize, const N: usize>(
    words: [u64; WORDS],
) -> [u64; N] {
    let mut out = [0; N];
    let mut i = 0;
    while i < N {
        let (word, shift) = (52 * i / 64, 52 * i % 64);
        if word < WORDS {
            out[i] = words[WORDS - 1 - word] >> shift;
            if shift > 12 && word + 1 < WORDS {
                out[i] |= words[WORDS - 2 - word] << (64 - shift);
            }
        }
        out[i] &= DIGIT;
        i += 1;
    }
    out
}

/// Whether `a < b`, which is all that is told.
#[inline]
pub(crate) fn is_below(a: &[u64], b: &[u64]) -> bool {
    told(borrow(a, b) == 1)
}

/// The borrow of `a − b`: 1 if a < b.
#[inline]
pub(crate) fn borrow(a: &[u64], b: &[u64]) -> u64 {
    a.iter().zip(b).fold(0, |borrow, (a, b)| {
        a.wrapping_sub(*b).wrapping_sub(borrow) >> 63
    })
}

/// −1/m mod 2^64 for odd m: Newton's iteration, which doubles the correct bits, from 5.
pub(crate) const fn negative_inverse(m: u64) -> u64 {
    let mut x = m.wrapping_mul(3) ^ 2;
    let mut step = 0;
    while step < 4 {
        x = x.wrapping_mul(2_u64.wrapping_sub(m.wrapping_mul(x)));
        step += 1;
    }
    x.wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_there_and_back() {
        for length in [0, 1, 13, 14, 32, 48, 256] {
            let byte = |i: usize| (0x91 * (i + 1)) as u8;
            let bytes: Vec<u8> = (0..length).map(byte).collect();
            let mut digits = vec![7; 8 * length / 52 + 2];
            assert_eq!(from_bytes(&bytes, &mut digits), 0);
            assert!(digits.iter().all(|digit| *digit <= DIGIT));
            let mut back = vec![3; length + 2];
            to_bytes(digits.iter().copied(), &mut back);
            assert_eq!(back[..2], [0; 2]);
            assert_eq!(back[2..], bytes);
        }
    }

    #[test]
    fn what_does_not_fit() {
        let mut digit = [0];
        assert_eq!(
            from_bytes(&[0, 15, 255, 255, 255, 255, 255, 255], &mut digit),
            0
        );
        assert_eq!(digit, [DIGIT]);
        assert_ne!(from_bytes(&[16, 0, 0, 0, 0, 0, 0], &mut digit), 0);
        assert_ne!(
            from_bytes(&[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], &mut digit),
            0
        );
    }

    #[test]
    fn words() {
        let digits = from_words([0xfedc_ba98_7654_3210, 0x0123_4567_89ab_cdef]);
        assert_eq!(digits, [0x3456789abcdef, 0x9876543210012, 0xfedcba, 0x0]);
    }

    #[test]
    fn order() {
        assert!(is_below(&[DIGIT, 1], &[0, 2]));
        assert!(!is_below(&[0, 2], &[0, 2]));
        assert!(!is_below(&[1, 2], &[0, 2]));
    }

    #[test]
    fn inverses() {
        for m in [1, 3, 19, 0x9e37_79b9_7f4a_7c15, u64::MAX] {
            assert_eq!(negative_inverse(m).wrapping_mul(m), u64::MAX);
        }
    }
}
