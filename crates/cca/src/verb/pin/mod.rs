//! PINs: made, encrypted, translated, verified.
//!
//! A clear PIN leaves in one verb, CSNBPGN, and comes in by one, CSNBCPE. Both are off by default. All that can be wrong with
//! an encrypted block is one answer.

mod card_values;
mod change;
mod derive;
mod generate;
mod translate;
mod translate2;
mod verify;

use inout::InOutBuf;
use outboard_engine::scalar::aes::{self, Mode};
use zeroize::Zeroizing;

use crate::AccessPoint;
use crate::algorithm::des::Cipher;
use crate::algorithm::dukpt::{self, AES_SERIAL, Purpose, SERIAL};
use crate::algorithm::pin::{self, Account, Filling, Format, Pin};
use crate::answer::{Outcome, Refusal};
use crate::card::Call;
use crate::token::uses::{DeriveUnique, Use};
use crate::value::Parser;

/// A PIN profile: format, format control, pad digit, and with DUKPT the key serial number.
pub(super) struct Profile {
    pub(super) format: Format,
    pub(super) pad: Option<u8>,
    serial: Option<[u8; SERIAL]>,
    aes_serial: Option<[u8; AES_SERIAL]>,
}

impl Profile {
    /// Of 24 characters, or of 48 with a key serial number.
    pub(super) fn parse(call: &Call<'_>, bytes: &[u8]) -> Outcome<Self> {
        let field = |number: usize| bytes.get(8 * number..8 * number + 8);
        let text = |number: usize| {
            let text = std::str::from_utf8(field(number)?).ok()?;
            Some(text.trim_end())
        };
        let name = text(0).ok_or(Refusal::PinBlockFormat)?;
        let format = Format::KEYWORDS.iter().find(|(known, _)| *known == name);
        let &(_, format) = format.ok_or(Refusal::PinBlockFormat)?;
        if text(1) != Some("NONE") {
            return Err(Refusal::FormatControl);
        }
        if !format.is_iso() {
            call.needs(AccessPoint::NonIsoPinBlocks)?;
        }
        let pad = match text(2).ok_or(Refusal::PadDigit)?.trim() {
            "" => None,
            digit if digit.len() == 1 => {
                let digit = digit
                    .chars()
                    .next()
                    .filter(|digit| !digit.is_ascii_lowercase());
                Some(
                    digit
                        .and_then(|digit| digit.to_digit(16))
                        .ok_or(Refusal::PadDigit)? as u8,
                )
            }
            _ => return Err(Refusal::PadDigit),
        };
        // A key serial number stands in 20 digits, or in 24 with AES.
        let digits = |count: usize| {
            let digits = std::str::from_utf8(bytes.get(24..24 + count)?).ok()?;
            crate::value::from_hex(digits)
        };
        Ok(Self {
            format,
            pad,
            serial: digits(20).and_then(|serial| serial[..].try_into().ok()),
            aes_serial: digits(24).and_then(|serial| serial[..].try_into().ok()),
        })
    }

    pub(super) fn filling(&self, length: Option<usize>) -> Filling {
        Filling {
            pad: self.pad,
            sequence: 0,
            length,
        }
    }
}

/// Whether the keys of a call are derived (DUKPT).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Derived {
    pub(super) input: bool,
    pub(super) output: bool,
}

/// The keywords of Triple DES DUKPT. The older ones name keys of one part in the publication; here both name Triple DES.
pub(super) fn derived(rules: &mut Parser<'_>) -> Outcome<Derived> {
    let (input, output) = rules
        .one(&[
            ("UKPTIPIN", (true, false)),
            ("UKPTOPIN", (false, true)),
            ("UKPTBOTH", (true, true)),
            ("DUKPT-IP", (true, false)),
            ("DUKPT-OP", (false, true)),
            ("DUKPT-BH", (true, true)),
        ])?
        .unwrap_or((false, false));
    Ok(Derived { input, output })
}

/// How a PIN is taken out of a 3624 or 3621 block: by the pad digit, or by a length.
pub(super) fn extraction(rules: &mut Parser<'_>) -> Outcome<Option<usize>> {
    let by = [
        ("PADDIGIT", None),
        ("PINLEN04", Some(4)),
        ("PINLEN05", Some(5)),
        ("PINLEN06", Some(6)),
        ("PINLEN07", Some(7)),
        ("PINLEN08", Some(8)),
        ("PINLEN09", Some(9)),
        ("PINLEN10", Some(10)),
        ("PINLEN11", Some(11)),
        ("PINLEN12", Some(12)),
        // The block says it.
        ("PINBLOCK", None),
    ];
    Ok(rules.one(&by)?.flatten())
}

/// The cipher of PIN blocks: the key's own, or that of a transaction.
pub(super) fn cipher<U: Use>(
    call: &Call<'_>,
    identifier: &[u8],
    profile: &Profile,
    is_derived: bool,
) -> Outcome<Cipher> {
    if !is_derived {
        return Ok(call.des_key::<U>(identifier)?.cipher());
    }
    let serial = profile.serial.ok_or(Refusal::KeySerialNumber)?;
    derived_cipher(call, identifier, &serial)
}

pub(super) fn derived_cipher(
    call: &Call<'_>,
    identifier: &[u8],
    serial: &[u8; SERIAL],
) -> Outcome<Cipher> {
    let base = call.des_key::<DeriveUnique>(identifier)?;
    let base = base.bytes().try_into().map_err(|_| Refusal::KeyLength)?;
    let key = dukpt::derive(base, serial, Purpose::Pin)?;
    Cipher::new(&*key).ok_or(Refusal::KeyLength)
}

/// An encrypted block of eight bytes, decrypted.
pub(super) fn opened(cipher: &Cipher, block: &[u8]) -> Outcome<pin::Block> {
    let block = block
        .get(..8)
        .and_then(|block| block.try_into().ok())
        .ok_or(Refusal::Size)?;
    let mut block = Zeroizing::new(block);
    cipher.decrypt(&mut block);
    Ok(block)
}

/// A PIN, written and encrypted.
pub(super) fn sealed(
    cipher: &Cipher,
    pin: &Pin,
    profile: &Profile,
    account: &Account,
    sequence: u32,
) -> Outcome<[u8; 8]> {
    let mut filling = profile.filling(None);
    if profile.format == Format::Ibm3621 {
        filling.sequence = u16::try_from(sequence).map_err(|_| Refusal::SequenceNumber)?;
    }
    let mut block = pin::format(pin, profile.format, account, filling)?;
    cipher.encrypt(&mut block);
    Ok(*block)
}

/// A field of format 4, encrypted for an account (ISO 9564-1, 9.4.2).
pub(super) fn sealed_format_4(
    key: &[u8],
    mut field: Zeroizing<[u8; 16]>,
    account: &Account,
) -> Outcome<[u8; 16]> {
    let encrypt = |block: &mut [u8; 16]| {
        aes::begin(key, Mode::Ecb, true)?.update(InOutBuf::from(&mut block[..]))
    };
    encrypt(&mut field)?;
    crate::algorithm::des::xor(&mut *field, &account.field_of_format_4()?);
    encrypt(&mut field)?;
    Ok(*field)
}

/// The field of an encrypted block in format 4, whatever is in it.
pub(super) fn opened_format_4(
    key: &[u8],
    block: &[u8],
    account: &Account,
) -> Outcome<Zeroizing<[u8; 16]>> {
    let mut block = Zeroizing::new(<[u8; 16]>::try_from(block).map_err(|_| Refusal::Size)?);
    let decrypt = |block: &mut [u8; 16]| {
        aes::begin(key, Mode::Ecb, false)?.update(InOutBuf::from(&mut block[..]))
    };
    decrypt(&mut block)?;
    crate::algorithm::des::xor(&mut *block, &account.field_of_format_4()?);
    decrypt(&mut block)?;
    Ok(block)
}

/// One of the three elements of a data array: 16 characters each.
pub(super) fn element(data_array: &[u8], number: usize) -> Outcome<&[u8]> {
    data_array
        .get(16 * number..16 * (number + 1))
        .ok_or(Refusal::Size)
}
