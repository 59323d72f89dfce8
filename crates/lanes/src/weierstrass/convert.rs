//! Big-endian bytes to eight numbers side by side, and back. Constant time.

use crate::LANES;
use crate::digits;
use crate::vector::Digit;

/// Lane `lane`'s number, big-endian; it fits.
pub(crate) fn to_bytes<const N: usize>(number: &[Digit; N], lane: usize, bytes: &mut [u8]) {
    digits::to_bytes(number.iter().map(|digit| digit.0[lane]), bytes);
}

/// Up to eight numbers, each in its lane. Lanes that are left get `fill`.
pub(crate) fn gather<'a, const N: usize>(
    numbers: impl IntoIterator<Item = &'a [u8]>,
    fill: [u64; N],
) -> [Digit; N] {
    let mut out = fill.map(Digit::splat);
    for (lane, bytes) in numbers.into_iter().take(LANES).enumerate() {
        let mut number = [0; N];
        digits::from_bytes(bytes, &mut number);
        for (digit, value) in out.iter_mut().zip(number) {
            digit.0[lane] = value;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::DIGIT;

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
