//! Account numbers, as far as PIN blocks have them.

use super::numbers;
use crate::answer::{Outcome, Refusal};

/// An account number, as far as a PIN block has it.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    /// The 12 digits right of which only the check digit is.
    twelve: [u8; 12],
    /// All digits, with the check digit: only format 4 has them.
    whole: Option<Vec<u8>>,
}

/// The same account, as far as both say it.
impl PartialEq for Account {
    fn eq(&self, other: &Self) -> bool {
        let is_whole_same = match (&self.whole, &other.whole) {
            (Some(one), Some(other)) => one == other,
            _ => true,
        };
        self.twelve == other.twelve && is_whole_same
    }
}

impl Account {
    /// Of the 12 characters that most verbs take.
    pub(crate) fn of_twelve(text: &[u8]) -> Outcome<Self> {
        let digits = numbers(text).ok_or(Refusal::PanData)?;
        match <[u8; 12]>::try_from(&digits[..]) {
            Ok(twelve) => Ok(Self {
                twelve,
                whole: None,
            }),
            Err(_) => Err(Refusal::PanData),
        }
    }

    /// Of a whole number, 10 to 19 characters, the last of which is the check digit.
    pub(crate) fn of_whole(text: &[u8]) -> Outcome<Self> {
        let text = text.trim_ascii_end();
        let digits = numbers(text).ok_or(Refusal::PanData)?;
        if !(10..=19).contains(&digits.len()) {
            return Err(Refusal::PanData);
        }
        let mut twelve = [0; 12];
        let before_check = &digits[..digits.len() - 1];
        let taken = before_check.len().min(12);
        twelve[12 - taken..].copy_from_slice(&before_check[before_check.len() - taken..]);
        Ok(Self {
            twelve,
            whole: Some(digits.to_vec()),
        })
    }

    pub(crate) fn twelve(&self) -> &[u8; 12] {
        &self.twelve
    }

    /// Four zeros and the 12 digits, as nibbles: what formats 0 and 3 add.
    pub(super) fn field(&self) -> [u8; 16] {
        let mut field = [0; 16];
        field[4..].copy_from_slice(&self.twelve);
        field
    }

    /// The second block of format 4: how many digits there are above 12, the digits, zeros.
    pub(crate) fn field_of_format_4(&self) -> Outcome<[u8; 16]> {
        let whole = self.whole.as_ref().ok_or(Refusal::PanData)?;
        let mut nibbles = [0; 32];
        let start = 12_usize.saturating_sub(whole.len());
        nibbles[0] = whole.len().saturating_sub(12) as u8;
        nibbles[1 + start..1 + start + whole.len()].copy_from_slice(whole);
        Ok(std::array::from_fn(|at| {
            nibbles[2 * at] << 4 | nibbles[2 * at + 1]
        }))
    }
}
