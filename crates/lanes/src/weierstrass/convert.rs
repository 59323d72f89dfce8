//! Big-endian bytes to digits and back, a number at a time. Constant time.

use crate::LANES;
use crate::vector::{DIGIT, Digit};

/// A big-endian number of at most 52 N bits.
pub(crate) fn from_bytes<const N: usize>(bytes: &[u8]) -> [u64; N] {
    let mut out = [0; N];
    let mut digit = 0;
    let mut pending = 0_u128;
    let mut bits = 0;
    for chunk in bytes.rchunks(4) {
        let word = chunk
            .iter()
            .fold(0, |word, &byte| word << 8 | u128::from(byte));
        pending |= word << bits;
        bits += 32;
        if bits >= 52 && digit < N {
            out[digit] = pending as u64 & DIGIT;
            digit += 1;
            pending >>= 52;
            bits -= 52;
        }
    }
    if digit < N {
        out[digit] = pending as u64;
    }
    out
}

/// Lane `lane`'s number, big-endian; it fits.
pub(crate) fn to_bytes<const N: usize>(digits: &[Digit; N], lane: usize, bytes: &mut [u8]) {
    let mut pending = 0_u128;
    let mut bits = 0;
    let mut digit = 0;
    for chunk in bytes.rchunks_mut(4) {
        if bits < 32 && digit < N {
            pending |= u128::from(digits[digit].0[lane]) << bits;
            digit += 1;
            bits += 52;
        }
        let word = (pending as u32).to_be_bytes();
        let start = 4 - chunk.len();
        chunk.copy_from_slice(&word[start..]);
        pending >>= 32;
        bits -= 32;
    }
}

/// Up to eight numbers, each in its lane. Lanes that are left get `fill`.
pub(crate) fn gather<'a, const N: usize>(
    numbers: impl IntoIterator<Item = &'a [u8]>,
    fill: [u64; N],
) -> [Digit; N] {
    let mut out = fill.map(Digit::splat);
    for (lane, bytes) in numbers.into_iter().take(LANES).enumerate() {
        for (digit, value) in out.iter_mut().zip(from_bytes::<N>(bytes)) {
            digit.0[lane] = value;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        for length in [32, 48] {
            let bytes: Vec<u8> = (0..length).map(|i| 0x91_u8.wrapping_mul(i + 1)).collect();
            let digits = gather::<8>([&bytes[..], &bytes[..]], [0; 8]);
            let mut back = vec![0; usize::from(length)];
            to_bytes(&digits, 1, &mut back);
            assert_eq!(back, bytes);
            assert_eq!(
                digits[0].0[0],
                u64::from_be_bytes(bytes[bytes.len() - 8..].try_into().expect("8 bytes")) & DIGIT
            );
        }
    }
}
