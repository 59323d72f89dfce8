//! A secret in shares: any m of them tell it, and m - 1 tell nothing (Shamir, "How to share a secret", 1979).
//!
//! Each byte of the secret is the value at 0 of a polynomial of degree m - 1 over GF(2^8), modulo x^8 + x^4 + x^3 + x + 1 (the field of AES).
//! A share has the values at the share's index. The time that this takes depends on no secret.

use std::hint::black_box;

use outboard_engine::scalar::randomise;
use zeroize::Zeroizing;

use crate::answer::Outcome;

/// The coefficients of a new set of shares of a secret of that length, of which `needed` tell it: all but the secret itself.
pub(crate) fn draw(length: usize, needed: u8) -> Outcome<Zeroizing<Vec<u8>>> {
    let mut coefficients = Zeroizing::new(vec![0; length * usize::from(needed - 1)]);
    randomise(&mut coefficients)?;
    Ok(coefficients)
}

/// The share of that index, which is not 0.
pub(crate) fn share(secret: &[u8], coefficients: &[u8], index: u8) -> Zeroizing<Vec<u8>> {
    let mut share = Zeroizing::new(vec![0; secret.len()]);
    // Horner's rule, from the highest coefficient.
    for part in coefficients.chunks(secret.len()).rev().chain([secret]) {
        for (sum, byte) in share.iter_mut().zip(part) {
            *sum = multiply(*sum, index) ^ byte;
        }
    }
    share
}

/// The secret of as many shares as are needed, whose indexes are not 0 and differ, and which are equally long.
pub(crate) fn combine(shares: &[(u8, &[u8])]) -> Zeroizing<Vec<u8>> {
    let length = shares.first().map_or(0, |(_, share)| share.len());
    let mut secret = Zeroizing::new(vec![0; length]);
    for (index, share) in shares {
        // Lagrange's polynomial of this share, at 0. Indexes are no secrets.
        let others = shares.iter().map(|(other, _)| other);
        let weight = others
            .filter(|other| *other != index)
            .fold(1, |weight, other| {
                multiply(weight, multiply(*other, inverse(other ^ index)))
            });
        for (sum, byte) in secret.iter_mut().zip(*share) {
            *sum ^= multiply(*byte, weight);
        }
    }
    secret
}

/// The product in the field. Both may be secret.
fn multiply(mut one: u8, other: u8) -> u8 {
    let mut product = 0;
    for bit in 0..8 {
        // Masks, which the compiler does not know to be all or nothing: so there is no branch.
        product ^= one & black_box(((other >> bit) & 1).wrapping_neg());
        one = (one << 1) ^ (0x1b & black_box((one >> 7).wrapping_neg()));
    }
    product
}

/// The inverse, as the 254th power.
fn inverse(number: u8) -> u8 {
    let (mut power, mut square) = (1, number);
    for _ in 0..7 {
        square = multiply(square, square);
        power = multiply(power, square);
    }
    power
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_field_is_that_of_aes() {
        // FIPS 197, sections 4.2 and 4.2.1.
        assert_eq!(multiply(0x57, 0x83), 0xc1);
        assert_eq!(multiply(0x57, 0x13), 0xfe);
        for number in 1..=255 {
            assert_eq!(multiply(number, inverse(number)), 1, "{number}");
        }
    }

    #[test]
    fn two_of_three_needed_shares_tell_nothing() {
        // Whatever the secret is, each pair of values comes from exactly one choice of coefficients.
        for secret in [0, 1, 0xa7] {
            let mut seen = vec![false; 1 << 16];
            for coefficients in 0..=u16::MAX {
                let value =
                    |index| share(&[secret], &coefficients.to_be_bytes(), index)[0] as usize;
                let pair = &mut seen[(value(3) << 8) | value(5)];
                assert!(!*pair);
                *pair = true;
            }
        }
    }

    proptest! {
        #[test]
        fn as_many_as_are_needed_tell_the_secret_and_fewer_another(
            secret in proptest::collection::vec(any::<u8>(), 16..=32),
            needed in 2_u8..=15,
            indexes in Just((1..=15).collect::<Vec<u8>>()).prop_shuffle(),
        ) {
            let coefficients = draw(secret.len(), needed).unwrap();
            let shares: Vec<_> = indexes
                .iter()
                .map(|index| (*index, share(&secret, &coefficients, *index)))
                .collect();
            let shares: Vec<_> = shares.iter().map(|(index, share)| (*index, &share[..])).collect();
            let needed = usize::from(needed);
            prop_assert_eq!(&**combine(&shares[..needed]), &secret[..]);
            prop_assert_eq!(&**combine(&shares), &secret[..], "all");
            // By chance they are equal once in 2^128.
            prop_assert_ne!(&**combine(&shares[..needed - 1]), &secret[..]);
        }

        #[test]
        fn a_share_of_another_set_spoils_the_secret(secret in proptest::collection::vec(any::<u8>(), 24)) {
            let sets = [draw(24, 3).unwrap(), draw(24, 3).unwrap()];
            let one = [1, 2].map(|index| share(&secret, &sets[0], index));
            let other = share(&secret, &sets[1], 3);
            let mixed = combine(&[(1, &one[0]), (2, &one[1]), (3, &other)]);
            prop_assert_ne!(&**mixed, &secret[..]);
        }
    }
}
