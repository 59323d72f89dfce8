//! Numbers of one key, outside the lanes, and the constants made once per key.
//!
//! A number is a slice of 52-bit digits, the lowest first. Everything here is constant time in the
//! numbers' values: lengths and moduli's sizes are public, and so is whether a number is what it should be.

use crate::digits::{self, borrow, negative_inverse};
use crate::vector::{DIGIT, opaque, told};
use zeroize::Zeroizing;

/// Digits of a key. Wiped when dropped.
pub(super) type Number = Zeroizing<Vec<u64>>;

/// Big-endian bytes to `n` digits. `None` if the number is not below 2^(52n).
pub(super) fn from_bytes(bytes: &[u8], n: usize) -> Option<Number> {
    let mut number = Zeroizing::new(vec![0; n]);
    let excess = digits::from_bytes(bytes, &mut number);
    told(excess == 0).then_some(number)
}

/// Whether the number is `bits` long. Constant time but for the answer.
pub(super) fn has_length(digits: &[u64], bits: usize) -> bool {
    let (top, shift) = ((bits - 1) / 52, (bits - 1) % 52);
    let others = digits[top + 1..].iter().fold(0, |any, digit| any | digit);
    told((digits[top] >> shift ^ 1) | others == 0)
}

/// The length in bits. Not constant time: for what is public.
pub(super) fn bit_length(digits: &[u64]) -> usize {
    let top = digits.iter().rposition(|&digit| digit != 0);
    top.map_or(0, |i| 52 * i + 64 - digits[i].leading_zeros() as usize)
}

/// Bits `at` to `at + count − 1` (count ≤ 8); beyond the top they are 0.
pub(super) fn bits(digits: &[u64], at: usize, count: usize) -> u64 {
    let digit = |i: usize| digits.get(i).copied().unwrap_or(0);
    let (i, shift) = (at / 52, at % 52);
    (digit(i) >> shift | digit(i + 1) << (52 - shift)) & ((1 << count) - 1)
}

/// Whether `a·b = n`.
pub(super) fn is_product(a: &[u64], b: &[u64], n: &[u64]) -> bool {
    let mut product = Zeroizing::new(vec![0; a.len() + b.len()]);
    for (i, &x) in a.iter().enumerate() {
        let mut carry = 0;
        for (j, &y) in b.iter().enumerate() {
            let sum = u128::from(x) * u128::from(y) + u128::from(product[i + j]) + carry;
            product[i + j] = sum as u64 & DIGIT;
            carry = sum >> 52;
        }
        product[i + b.len()] = carry as u64;
    }
    let difference = product
        .iter()
        .zip(n)
        .fold(0, |difference, (a, b)| difference | (a ^ b));
    told(difference == 0)
}

/// An odd modulus m whose highest bit is bit `bits − 1`, with what Montgomery arithmetic needs of it.
pub(super) struct Constants {
    pub(super) m: Number,
    /// −1/m mod 2^52: one digit.
    pub(super) k: Number,
    /// R mod m.
    pub(super) one: Number,
    /// R² mod m.
    pub(super) r2: Number,
}

impl Constants {
    pub(super) fn new(m: Number, bits: usize) -> Self {
        let n = m.len();
        let k = Number::new(vec![negative_inverse(m[0]) & DIGIT]);
        // 2^(bits − 1) is below m; double it until it is R = 2^(52n).
        let mut one = Zeroizing::new(vec![0; n]);
        one[(bits - 1) / 52] = 1 << ((bits - 1) % 52);
        for _ in bits - 1..52 * n {
            double(&mut one, &m);
        }
        // 2^(52n) in Montgomery form is R²: square and double, from 2^1, the bits of 52n downwards.
        let mut r2 = one.clone();
        for bit in (0..usize::BITS - (52 * n).leading_zeros()).rev() {
            r2 = multiply(&r2, &r2, &m, k[0]);
            if (52 * n) >> bit & 1 == 1 {
                double(&mut r2, &m);
            }
        }
        Self { m, k, one, r2 }
    }

    /// `a·b/R mod m`, for a·b < R·m.
    pub(super) fn multiply(&self, a: &[u64], b: &[u64]) -> Number {
        multiply(a, b, &self.m, self.k[0])
    }
}

/// `x = 2x mod m` for x < m.
fn double(x: &mut [u64], m: &[u64]) {
    let mut carry = 0;
    for digit in x.iter_mut() {
        let doubled = *digit << 1 | carry;
        carry = doubled >> 52;
        *digit = doubled & DIGIT;
    }
    subtract_once(x, m, carry);
}

/// `x = x mod m` for x + top·2^(52n) < 2m.
fn subtract_once(x: &mut [u64], m: &[u64], top: u64) {
    // All ones or nothing: the compiler must not know, or it makes two loops and branches to one of them.
    let keep = opaque((borrow(x, m) & !top & 1).wrapping_neg());
    let mut borrow = 0;
    for (digit, m) in x.iter_mut().zip(m) {
        let difference = digit.wrapping_sub(m & !keep).wrapping_sub(borrow);
        borrow = difference >> 63;
        *digit = difference & DIGIT;
    }
}

fn multiply(a: &[u64], b: &[u64], m: &[u64], k: u64) -> Number {
    let n = m.len();
    let mut sum = Zeroizing::new(vec![0_u64; n + 1]);
    for &x in a {
        let low = sum[0].wrapping_add(x.wrapping_mul(b[0]));
        let q = low.wrapping_mul(k) & DIGIT;
        let mut carry = 0;
        for j in 0..n {
            let column = u128::from(x) * u128::from(b[j])
                + u128::from(q) * u128::from(m[j])
                + u128::from(sum[j])
                + carry;
            if j > 0 {
                sum[j - 1] = column as u64 & DIGIT;
            }
            carry = column >> 52;
        }
        let top = carry as u64 + sum[n];
        sum[n - 1] = top & DIGIT;
        sum[n] = top >> 52;
    }
    let top = sum[n];
    sum.truncate(n);
    subtract_once(&mut sum, m, top);
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_digits() {
        let bytes: Vec<u8> = (1..=14).collect();
        let digits = from_bytes(&bytes, 3).unwrap();
        let value = bytes
            .iter()
            .fold(0_u128, |value, &byte| value << 8 | u128::from(byte));
        assert_eq!(
            digits[0] as u128 | (digits[1] as u128) << 52 | (digits[2] as u128) << 104,
            value
        );
        assert_eq!(bit_length(&digits), 105);
        assert_eq!(bits(&digits, 48, 8), (value >> 48) as u64 & 255);
        assert!(from_bytes(&[16, 0, 0, 0, 0, 0, 0], 1).is_none());
        assert!(from_bytes(&[0, 15, 255, 255, 255, 255, 255, 255], 1).is_some());
    }

    #[test]
    fn constants() {
        // A modulus of 64 bits in two digits: R = 2^104.
        let m = u64::MAX - 58;
        let constants = Constants::new(Zeroizing::new(vec![m & DIGIT, m >> 52]), 64);
        let value = |x: &Number| u128::from(x[0]) | u128::from(x[1]) << 52;
        let r = (1_u128 << 104) % u128::from(m);
        assert_eq!(value(&constants.one), r);
        assert_eq!(value(&constants.r2), r * r % u128::from(m));
        assert_eq!(constants.k[0].wrapping_mul(m) & DIGIT, DIGIT);
        let product = constants.multiply(&constants.r2, &constants.one);
        assert_eq!(value(&product), r * r % u128::from(m));
    }
}
