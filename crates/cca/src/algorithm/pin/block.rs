//! How a PIN is written into a block, and how it comes out.

use outboard_engine::scalar::randomise;
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq, ConstantTimeLess};
use zeroize::Zeroizing;

use super::{Account, LENGTHS, Pin};
use crate::answer::{Outcome, Refusal};

/// How a PIN is written into a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Format {
    Iso0,
    Iso1,
    Iso2,
    Iso3,
    Iso4,
    Visa2,
    Visa3,
    Visa4,
    Eci2,
    Eci3,
    Ibm3621,
    Ibm3624,
}

use Format::*;

impl Format {
    pub(crate) const KEYWORDS: &[(&str, Self)] = &[
        ("ISO-0", Iso0),
        ("ISO-1", Iso1),
        ("ISO-2", Iso2),
        ("ISO-3", Iso3),
        ("ISO-4", Iso4),
        ("VISA-2", Visa2),
        ("VISA-3", Visa3),
        ("VISA-4", Visa4),
        ("ECI-2", Eci2),
        ("ECI-3", Eci3),
        ("3621", Ibm3621),
        ("3624", Ibm3624),
    ];

    /// Whether ISO 9564 has it.
    pub(crate) fn is_iso(self) -> bool {
        matches!(self, Iso0 | Iso1 | Iso2 | Iso3 | Iso4)
    }

    /// Whether the account number is in the block.
    pub(crate) fn has_account(self) -> bool {
        matches!(self, Iso0 | Iso3 | Iso4 | Visa4)
    }
}

/// A clear PIN block of eight bytes.
pub(crate) type Block = Zeroizing<[u8; 8]>;

/// What else a format needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filling {
    /// The pad digit.
    pub(crate) pad: Option<u8>,
    /// The first four digits of format 3621.
    pub(crate) sequence: u16,
    /// How long the PIN is where the block does not say it.
    pub(crate) length: Option<usize>,
}

fn drawn(digits: &mut [u8], below: u8, add: u8) -> Outcome<()> {
    let mut at = 0;
    while at < digits.len() {
        let mut byte = [0];
        randomise(&mut byte)?;
        let most = u8::MAX / below * below;
        if byte[0] < most {
            digits[at] = byte[0] % below + add;
            at += 1;
        }
    }
    Ok(())
}

/// Writes a PIN into a block of eight bytes.
pub(crate) fn format(
    pin: &Pin,
    format: Format,
    account: &Account,
    filling: Filling,
) -> Outcome<Block> {
    let mut nibbles = Zeroizing::new([0_u8; 16]);
    let digits = pin.digits();
    let length = digits.len();
    let pad = || filling.pad.ok_or(Refusal::PadDigit);
    let with_length = |nibbles: &mut [u8; 16], control: u8| {
        nibbles[0] = control;
        nibbles[1] = length as u8;
        nibbles[2..2 + length].copy_from_slice(digits);
    };
    match format {
        Iso0 | Visa4 => {
            nibbles.fill(0xf);
            with_length(&mut nibbles, 0);
        }
        Iso1 => {
            drawn(&mut nibbles[..], 16, 0)?;
            with_length(&mut nibbles, 1);
        }
        Iso2 => {
            nibbles.fill(0xf);
            with_length(&mut nibbles, 2);
        }
        Iso3 => {
            drawn(&mut nibbles[..], 6, 10)?;
            with_length(&mut nibbles, 3);
        }
        Iso4 => return Err(Refusal::PinBlockFormat),
        Visa2 | Eci3 => {
            if length > 6 {
                return Err(Refusal::PinLength);
            }
            match format {
                Visa2 => nibbles.fill(pad()?),
                _ => drawn(&mut nibbles[..], 10, 0)?,
            }
            nibbles[0] = length as u8;
            nibbles[1..7].fill(0);
            nibbles[1..1 + length].copy_from_slice(digits);
        }
        Visa3 => {
            nibbles.fill(pad()?);
            nibbles[..length].copy_from_slice(digits);
            nibbles[length] = 0xf;
        }
        Eci2 => {
            if length != 4 {
                return Err(Refusal::PinLength);
            }
            drawn(&mut nibbles[..], 10, 0)?;
            nibbles[..4].copy_from_slice(digits);
        }
        Ibm3624 => {
            nibbles.fill(is_no_digit(pad()?)?);
            nibbles[..length].copy_from_slice(digits);
        }
        Ibm3621 => {
            nibbles.fill(is_no_digit(pad()?)?);
            for (at, digit) in nibbles[..4].iter_mut().enumerate() {
                *digit = (filling.sequence >> (12 - 4 * at)) as u8 & 0xf;
            }
            nibbles[4..4 + length].copy_from_slice(digits);
        }
    }
    if format.has_account() {
        nibbles
            .iter_mut()
            .zip(account.field())
            .for_each(|(nibble, digit)| *nibble ^= digit);
    }
    Ok(Zeroizing::new(std::array::from_fn(|at| {
        nibbles[2 * at] << 4 | nibbles[2 * at + 1]
    })))
}

/// A pad that is a decimal digit would hide where the PIN ends.
fn is_no_digit(pad: u8) -> Outcome<u8> {
    match pad > 9 {
        true => Ok(pad),
        false => Err(Refusal::PadDigit),
    }
}

/// Which digits of a PIN a block may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Digits {
    /// A block with others is wrong.
    Decimal,
    /// Any, in a block that is bound to an account. There, the account's digits are added to the third digit of the PIN and on. A
    /// caller who names another account would learn these digits by which block is refused (Clulow, "On the security of PIN
    /// processing devices", 2003). So a verb that does not count its failures refuses none.
    Any,
}

impl Digits {
    /// What a digit must be less than.
    fn below(self, format: Format) -> u8 {
        match self {
            Self::Any if format.has_account() => 16,
            _ => 10,
        }
    }
}

/// Takes the PIN out of a clear block. What is wrong with it is one error: see `PinBlockInconsistent`.
pub(crate) fn extract(
    block: &[u8; 8],
    format: Format,
    account: &Account,
    filling: Filling,
    digits: Digits,
) -> Outcome<Pin> {
    let below = digits.below(format);
    let mut nibbles = Zeroizing::new([0_u8; 16]);
    for (at, byte) in block.iter().enumerate() {
        nibbles[2 * at] = byte >> 4;
        nibbles[2 * at + 1] = byte & 0xf;
    }
    if format.has_account() {
        nibbles
            .iter_mut()
            .zip(account.field())
            .for_each(|(nibble, digit)| *nibble ^= digit);
    }
    let (good, start, length) = match format {
        Iso0 | Visa4 => framed(&nibbles, 0, below, |fill| fill.ct_eq(&0xf)),
        Iso1 => framed(&nibbles, 1, below, |_| Choice::from(1)),
        Iso2 => framed(&nibbles, 2, below, |fill| fill.ct_eq(&0xf)),
        Iso3 => framed(&nibbles, 3, below, |fill| !fill.ct_lt(&10)),
        Iso4 => return Err(Refusal::PinBlockFormat),
        Visa2 | Eci3 => {
            let length = nibbles[0];
            let good = !length.ct_lt(&4) & length.ct_lt(&7);
            (good, 1, u8::conditional_select(&4, &length, good))
        }
        Visa3 => delimited(&nibbles[..], 0, 0xf),
        Eci2 => (Choice::from(1), 0, 4),
        Ibm3624 | Ibm3621 => {
            let start = if format == Ibm3621 { 4 } else { 0 };
            match (filling.length, filling.pad) {
                (Some(length), _) => {
                    let length = u8::try_from(length).map_err(|_| Refusal::PinLength)?;
                    (
                        Choice::from(u8::from(LENGTHS.contains(&usize::from(length)))),
                        start,
                        length.clamp(4, 12),
                    )
                }
                (None, Some(pad)) => delimited(&nibbles[..], usize::from(start), is_no_digit(pad)?),
                (None, None) => return Err(Refusal::PadDigit),
            }
        }
    };
    // INVARIANT: `start` and `length` are within the block.
    let digits = &nibbles[usize::from(start)..][..usize::from(length)];
    let good = digits
        .iter()
        .fold(good, |good, digit| good & digit.ct_lt(&below));
    match bool::from(good) {
        true => Pin::of_any(digits).map_err(|_| Refusal::PinBlockInconsistent),
        false => Err(Refusal::PinBlockInconsistent),
    }
}

/// A block with a control digit, a length, the PIN and a filling: whether it is right, where the PIN is, its length.
fn framed(
    nibbles: &[u8; 16],
    control: u8,
    below: u8,
    is_filling: impl Fn(&u8) -> Choice,
) -> (Choice, u8, u8) {
    let length = nibbles[1];
    let mut good = nibbles[0].ct_eq(&control) & !length.ct_lt(&4) & length.ct_lt(&13);
    for (place, nibble) in (0_u8..).zip(&nibbles[2..]) {
        let is_in_pin = place.ct_lt(&length);
        good &= (is_in_pin & nibble.ct_lt(&below)) | (!is_in_pin & is_filling(nibble));
    }
    // A wrong length is not used.
    (good, 2, u8::conditional_select(&4, &length, good))
}

/// A block whose PIN ends before the first delimiter.
fn delimited(nibbles: &[u8], start: usize, delimiter: u8) -> (Choice, u8, u8) {
    let (mut length, mut is_over) = (0_u8, Choice::from(0));
    for nibble in &nibbles[start..] {
        is_over |= nibble.ct_eq(&delimiter);
        length.conditional_assign(&(length + 1), !is_over);
    }
    // A PIN of twelve digits may fill what is left of a block of format 3621.
    let good = !length.ct_lt(&4) & length.ct_lt(&13);
    (good, start as u8, u8::conditional_select(&4, &length, good))
}

/// The first block of format 4 (ISO 9564-1, 9.4.2): control digit, length, PIN, `A`, random digits.
pub(crate) fn field_of_format_4(pin: &Pin) -> Outcome<Zeroizing<[u8; 16]>> {
    let mut nibbles = Zeroizing::new([0xa_u8; 32]);
    let digits = pin.digits();
    (nibbles[0], nibbles[1]) = (4, digits.len() as u8);
    nibbles[2..2 + digits.len()].copy_from_slice(digits);
    drawn(&mut nibbles[16..], 16, 0)?;
    Ok(Zeroizing::new(std::array::from_fn(|at| {
        nibbles[2 * at] << 4 | nibbles[2 * at + 1]
    })))
}

/// The PIN in the first block of format 4, of any digits: see [`Digits::Any`].
pub(crate) fn extract_format_4(field: &[u8; 16]) -> Outcome<Pin> {
    let mut nibbles = Zeroizing::new([0_u8; 16]);
    for (at, byte) in field[..8].iter().enumerate() {
        nibbles[2 * at] = byte >> 4;
        nibbles[2 * at + 1] = byte & 0xf;
    }
    let below = Digits::Any.below(Iso4);
    let (good, start, length) = framed(&nibbles, 4, below, |fill| fill.ct_eq(&0xa));
    match bool::from(good) {
        true => Pin::of_any(&nibbles[usize::from(start)..][..usize::from(length)]),
        false => Err(Refusal::PinBlockInconsistent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILLING: Filling = Filling {
        pad: Some(0xf),
        sequence: 0x1234,
        length: None,
    };

    fn clear(format_: Format, pin: &str, account: &str) -> String {
        let pin = Pin::of_text(pin.as_bytes()).unwrap();
        let account = Account::of_whole(account.as_bytes()).unwrap();
        let block = format(&pin, format_, &account, FILLING).unwrap();
        block.iter().map(|byte| format!("{byte:02X}")).collect()
    }

    /// X9.24-1's example; ISO 9564's fields; the publication's appendix "PIN formats".
    #[test]
    fn blocks_are_those_of_the_standards() {
        assert_eq!(clear(Iso0, "1234", "4012345678909"), "041274EDCBA9876F");
        assert_eq!(clear(Iso2, "1234", "4012345678909"), "241234FFFFFFFFFF");
        assert_eq!(clear(Ibm3624, "1234", "4012345678909"), "1234FFFFFFFFFFFF");
        assert_eq!(clear(Ibm3621, "12345", "4012345678909"), "123412345FFFFFFF");
        assert_eq!(clear(Visa2, "12345", "4012345678909"), "5123450FFFFFFFFF");
        assert_eq!(clear(Visa3, "12345", "4012345678909"), "12345FFFFFFFFFFF");
        assert!(clear(Iso1, "1234", "4012345678909").starts_with("141234"));
        assert!(clear(Iso3, "1234", "4012345678909").starts_with("341274"));
        let account = Account::of_whole(b"4012345678909").unwrap();
        let field: String = account
            .field_of_format_4()
            .unwrap()
            .iter()
            .map(|byte| format!("{byte:02X}"))
            .collect();
        assert_eq!(field, "14012345678909000000000000000000");
    }

    #[test]
    fn a_pin_comes_out_of_its_block_and_of_no_other() {
        let account = Account::of_twelve(b"123456789012").unwrap();
        for (name, of) in Format::KEYWORDS {
            if *of == Iso4 {
                continue;
            }
            for pin in ["1234", "99999", "000000", "123456789012"] {
                let pin = Pin::of_text(pin.as_bytes()).unwrap();
                let Ok(block) = format(&pin, *of, &account, FILLING) else {
                    assert!(matches!(of, Visa2 | Eci2 | Eci3), "{name}");
                    continue;
                };
                assert_eq!(
                    extract(&block, *of, &account, FILLING, Digits::Decimal)
                        .unwrap()
                        .digits(),
                    pin.digits(),
                    "{name}"
                );
                // One other digit of the account: seen, but for the two digits that lie over the PIN's end.
                if of.has_account() && *of != Visa4 && pin.digits().len() == 4 {
                    let other = Account::of_twelve(b"123456789013").unwrap();
                    assert!(
                        extract(&block, *of, &other, FILLING, Digits::Decimal).is_err()
                            || *of == Iso3,
                        "{name}"
                    );
                }
            }
        }
        for wrong in [
            "031274EDCBA9876F",
            "0D1274EDCBA9876F",
            "041A74EDCBA9876F",
            "041274EDCBA98760",
        ] {
            let block: [u8; 8] = crate::value::from_hex(wrong).unwrap()[..]
                .try_into()
                .unwrap();
            let account = Account::of_whole(b"4012345678909").unwrap();
            assert_eq!(
                extract(&block, Iso0, &account, FILLING, Digits::Decimal).err(),
                Some(Refusal::PinBlockInconsistent),
                "{wrong}"
            );
        }
    }

    #[test]
    fn format_4_goes_both_ways() {
        for length in LENGTHS {
            let pin = Pin::random(length).unwrap();
            let field = field_of_format_4(&pin).unwrap();
            assert_eq!(extract_format_4(&field).unwrap().digits(), pin.digits());
        }
        assert!(extract_format_4(&[0; 16]).is_err());
    }
}
