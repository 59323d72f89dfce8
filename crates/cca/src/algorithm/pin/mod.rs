//! PINs, account numbers, and PIN blocks (ISO 9564-1; the older ones of IBM, VISA and Eurocheque).
//!
//! Whether the digits and the filling of a block are right is decided without a branch on them. How long a PIN is shows in
//! time, its digits do not.

mod account;
mod block;
mod pair;

use outboard_engine::scalar::randomise;
use outboard_engine::scalar::wipe;
use subtle::{Choice, ConstantTimeLess};
use zeroize::Zeroizing;

use crate::answer::{Outcome, Refusal};

pub(crate) use account::Account;
pub(crate) use block::{
    Block, Digits, Filling, Format, extract, extract_format_4, field_of_format_4, format,
};
pub(crate) use pair::Pair;

/// The shortest and the longest PIN.
pub(crate) const LENGTHS: std::ops::RangeInclusive<usize> = 4..=12;

/// A PIN. Its digits are wiped.
#[derive(Clone)]
pub(crate) struct Pin {
    digits: [u8; 16],
    length: usize,
}

impl Drop for Pin {
    fn drop(&mut self) {
        wipe(&mut self.digits);
    }
}

impl Pin {
    /// Of 4 to 12 digits, as numbers.
    pub(crate) fn new(digits: &[u8]) -> Outcome<Self> {
        let is_decimal = digits
            .iter()
            .fold(Choice::from(1), |good, digit| good & digit.ct_lt(&10));
        match bool::from(is_decimal) {
            true => Self::of_any(digits),
            false => Err(Refusal::ClearPin),
        }
    }

    /// Of 4 to 12 digits, decimal or not: see [`Digits::Any`].
    pub(super) fn of_any(digits: &[u8]) -> Outcome<Self> {
        if !LENGTHS.contains(&digits.len()) {
            return Err(Refusal::PinLength);
        }
        let mut pin = Self {
            digits: [0; 16],
            length: digits.len(),
        };
        pin.digits[..digits.len()].copy_from_slice(digits);
        Ok(pin)
    }

    /// Of characters, filled up with blanks.
    pub(crate) fn of_text(text: &[u8]) -> Outcome<Self> {
        Self::new(&numbers(text.trim_ascii_end()).ok_or(Refusal::ClearPin)?)
    }

    /// Drawn: of so many digits.
    pub(crate) fn random(length: usize) -> Outcome<Self> {
        if !LENGTHS.contains(&length) {
            return Err(Refusal::PinLength);
        }
        let mut digits = Zeroizing::new(Vec::with_capacity(length));
        while digits.len() < length {
            let mut byte = Zeroizing::new([0]);
            randomise(&mut *byte)?;
            // 250 is the largest multiple of ten.
            if byte[0] < 250 {
                digits.push(byte[0] % 10);
            }
        }
        Self::new(&digits)
    }

    pub(crate) fn digits(&self) -> &[u8] {
        &self.digits[..self.length]
    }

    /// As characters, filled up with blanks to 16.
    pub(crate) fn text(&self) -> Zeroizing<Vec<u8>> {
        let mut text = Zeroizing::new(vec![b' '; 16]);
        text.iter_mut()
            .zip(self.digits())
            .for_each(|(to, digit)| *to = b'0' + digit);
        text
    }
}

/// The numbers that decimal characters stand for. None if one is no digit.
pub(crate) fn numbers(text: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let good = text.iter().fold(Choice::from(1), |good, byte| {
        good & byte.wrapping_sub(b'0').ct_lt(&10)
    });
    let numbers = Zeroizing::new(text.iter().map(|byte| byte.wrapping_sub(b'0')).collect());
    bool::from(good).then_some(numbers)
}
