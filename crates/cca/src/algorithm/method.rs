//! How PINs, offsets and verification values are computed: IBM 3624, German bank pool, VISA PVV, Interbank.

use subtle::{ConditionallySelectable, ConstantTimeEq, ConstantTimeLess};
use zeroize::Zeroizing;

use super::des::Cipher;
use crate::answer::{Outcome, Refusal};
use crate::card::tables::Table;

/// The 16 digits of an encrypted block.
fn digits(cipher: &Cipher, block: [u8; 8]) -> Zeroizing<[u8; 16]> {
    let mut block = Zeroizing::new(block);
    cipher.encrypt(&mut block);
    let nibble = |at: usize| {
        if at.is_multiple_of(2) {
            block[at / 2] >> 4
        } else {
            block[at / 2] & 0xf
        }
    };
    Zeroizing::new(std::array::from_fn(nibble))
}

/// A block of 16 hexadecimal characters.
pub(crate) fn block(text: &[u8], refusal: Refusal) -> Outcome<[u8; 8]> {
    let text = std::str::from_utf8(text).map_err(|_| refusal)?;
    let bytes = crate::value::from_hex(text).ok_or(refusal)?;
    bytes[..].try_into().map_err(|_| refusal)
}

/// IBM 3624: the validation data, encrypted and decimalized. The leftmost digits are the PIN that the institution assigns.
pub(crate) fn intermediate(
    cipher: &Cipher,
    validation: [u8; 8],
    table: &Table,
) -> Zeroizing<[u8; 16]> {
    let encrypted = digits(cipher, validation);
    Zeroizing::new(encrypted.map(|digit| table.digit(digit)))
}

/// (one + other) mod 10, without a branch.
pub(crate) fn sum(one: u8, other: u8) -> u8 {
    let sum = one + other;
    u8::conditional_select(&(sum.wrapping_sub(10)), &sum, sum.ct_lt(&10))
}

/// (one − other) mod 10, without a branch.
pub(crate) fn difference(one: u8, other: u8) -> u8 {
    sum(one, 10 - other)
}

/// German bank pool: digits 3 to 6 of the intermediate PIN with an offset; a leading zero becomes a one.
pub(crate) fn bank_pool(intermediate: &[u8; 16], offset: &[u8; 4]) -> Zeroizing<[u8; 4]> {
    let mut pin = Zeroizing::new([0; 4]);
    for (at, digit) in pin.iter_mut().enumerate() {
        *digit = sum(intermediate[2 + at], offset[at]);
    }
    let is_zero = pin[0].ct_eq(&0);
    pin[0].conditional_assign(&1, is_zero);
    pin
}

/// The first four decimal digits of an encrypted block; then, if there are fewer, the others less ten.
fn scanned(cipher: &Cipher, block: [u8; 8]) -> Zeroizing<[u8; 4]> {
    let digits = digits(cipher, block);
    let mut found = Zeroizing::new([0; 4]);
    let mut count = 0_u8;
    for is_first in [true, false] {
        for digit in digits.iter() {
            let is_decimal = digit.ct_lt(&10);
            let is_taken = match is_first {
                true => is_decimal,
                false => !is_decimal,
            };
            let value = if is_first {
                *digit
            } else {
                digit.wrapping_sub(10)
            };
            for (place, to) in (0_u8..).zip(found.iter_mut()) {
                to.conditional_assign(&value, is_taken & count.ct_eq(&place));
            }
            count.conditional_assign(&(count + 1), is_taken);
        }
    }
    found
}

/// VISA: the PVV of 11 digits of the account, the key's index and the first four digits of the PIN.
pub(crate) fn pvv(cipher: &Cipher, eleven: &[u8], index: u8, pin: &[u8]) -> Zeroizing<[u8; 4]> {
    let mut nibbles = Zeroizing::new([0_u8; 16]);
    nibbles[..11].copy_from_slice(eleven);
    nibbles[11] = index;
    nibbles[12..].copy_from_slice(&pin[..4]);
    scanned(
        cipher,
        std::array::from_fn(|at| nibbles[2 * at] << 4 | nibbles[2 * at + 1]),
    )
}

/// Interbank: the PIN of a transaction security parameter. Four zeros become 0100.
pub(crate) fn interbank(cipher: &Cipher, parameter: [u8; 8]) -> Zeroizing<[u8; 4]> {
    let mut pin = scanned(cipher, parameter);
    let is_zero = pin
        .iter()
        .fold(1_u8.ct_eq(&1), |all, digit| all & digit.ct_eq(&0));
    pin[1].conditional_assign(&1, is_zero);
    pin
}

/// VISA's CVV, MasterCard's CVC: account, expiration date and service code, by one half of the key and at the end both.
pub(crate) fn cvv(
    a: &Cipher,
    b: &Cipher,
    account: &[u8],
    expiration: &[u8],
    service: &[u8],
) -> Zeroizing<Vec<u8>> {
    let mut nibbles = Zeroizing::new(Vec::with_capacity(32));
    for part in [account, expiration, service] {
        nibbles.extend_from_slice(part);
    }
    nibbles.resize(32, 0);
    let half = |from: usize| -> Zeroizing<[u8; 8]> {
        Zeroizing::new(std::array::from_fn(|at| {
            nibbles[from + 2 * at] << 4 | nibbles[from + 2 * at + 1]
        }))
    };
    let mut block = half(0);
    a.encrypt(&mut block);
    super::des::xor(&mut *block, &*half(16));
    a.encrypt(&mut block);
    b.decrypt(&mut block);
    a.encrypt(&mut block);
    // The decimal digits first, then the others less ten: all of them, as many as are asked for.
    let digit = |at: usize| {
        if at.is_multiple_of(2) {
            block[at / 2] >> 4
        } else {
            block[at / 2] & 0xf
        }
    };
    let all: Zeroizing<Vec<u8>> = Zeroizing::new((0..16).map(digit).collect());
    let mut value = Zeroizing::new(Vec::with_capacity(16));
    value.extend(all.iter().filter(|digit| **digit < 10));
    value.extend(
        all.iter()
            .filter(|digit| **digit > 9)
            .map(|digit| digit - 10),
    );
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cipher(key: &str) -> Cipher {
        Cipher::new(&crate::value::from_hex(key).unwrap()).unwrap()
    }

    #[test]
    fn sums_have_no_carry() {
        for one in 0..10 {
            for other in 0..10 {
                assert_eq!(sum(one, other), (one + other) % 10);
                assert_eq!(sum(difference(one, other), other), one);
            }
        }
    }

    /// VISA's published example: account 4123456789012345, 8701, 101 and key 0123456789ABCDEF FEDCBA9876543210 give 561.
    #[test]
    fn a_cvv_is_the_published_one() {
        let (a, b) = (cipher("0123456789ABCDEF"), cipher("FEDCBA9876543210"));
        let digits = |text: &str| text.bytes().map(|byte| byte - b'0').collect::<Vec<_>>();
        let value = cvv(
            &a,
            &b,
            &digits("4123456789012345"),
            &digits("8701"),
            &digits("101"),
        );
        assert_eq!(value[..3], [5, 6, 1]);
    }
}
