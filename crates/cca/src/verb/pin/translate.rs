//! CSNBPTR and CSNBPTR2: a PIN under another key, or in another format.

use super::{
    Profile, cipher, derived, derived_cipher, extraction, opened, opened_format_4, sealed,
    sealed_format_4,
};
use crate::AccessPoint;
use crate::algorithm::des::Cipher;
use crate::algorithm::dukpt::{self, AES_SERIAL, Usage};
use crate::algorithm::pin::{Account, Digits, Format, Pair, Pin, extract};
use crate::answer::{Outcome, Refusal};
use crate::card::Call;
use crate::request::*;
use crate::token::aes::{AesDeriveUnique, AesOpenPin, AesSealPin};
use crate::token::uses::{OpenToReformat, OpenToTranslate, SealReformatted, SealTranslated};
use crate::verb::Verb;
use zeroize::Zeroizing;

#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Translate,
    Reformat,
}

const HOW: &[(&str, How)] = &[("TRANSLAT", How::Translate), ("REFORMAT", How::Reformat)];

/// The pair of formats, if it is allowed.
fn pair(call: &Call<'_>, how: How, from: Format, to: Format) -> Outcome<Pair> {
    call.needs(match how {
        How::Translate => AccessPoint::PinTranslate,
        How::Reformat => AccessPoint::PinReformat,
    })?;
    if how == How::Translate && from != to {
        return Err(Refusal::PinBlockFormat);
    }
    let others = call.state().points.is_on(AccessPoint::NonIsoPinBlocks);
    Pair::new(from, to, others)
}

impl Verb for EncryptedPinTranslate {
    type Reply = TranslatedPin;

    fn run(&self, call: &Call<'_>) -> Outcome<TranslatedPin> {
        let mut rules = self.rule_array.parse();
        let how = rules.required(HOW)?;
        let length = extraction(&mut rules)?;
        let is_derived = derived(&mut rules)?;
        rules.end()?;
        let from = Profile::parse(call, &self.input_pin_profile)?;
        let to = Profile::parse(call, &self.output_pin_profile)?;
        let pair = pair(call, how, from.format, to.format)?;
        let input = &self.input_pin_encrypting_key_identifier;
        let output = &self.output_pin_encrypting_key_identifier;
        let block = match how {
            How::Translate => {
                // What is in the block is not looked at.
                let open = cipher::<OpenToTranslate>(call, input, &from, is_derived.input)?;
                let seal = cipher::<SealTranslated>(call, output, &to, is_derived.output)?;
                let mut block = opened(&open, &self.pin_block_in)?;
                seal.encrypt(&mut block);
                *block
            }
            How::Reformat => {
                let open = cipher::<OpenToReformat>(call, input, &from, is_derived.input)?;
                let seal = cipher::<SealReformatted>(call, output, &to, is_derived.output)?;
                let account = account(&self.pan_data_in, from.format)?;
                let new = self::account(&self.pan_data_out, to.format)?;
                pair.account(&account, &new)?;
                let block = opened(&open, &self.pin_block_in)?;
                let pin = extract(
                    &block,
                    from.format,
                    &account,
                    from.filling(length),
                    Digits::Any,
                )?;
                sealed(&seal, &pin, &to, &new, self.sequence_number)?
            }
        };
        Ok(TranslatedPin {
            pin_block_out: block.into(),
        })
    }
}

/// An account number, which a format without one does not need.
pub(super) fn account(text: &[u8], format: Format) -> Outcome<Account> {
    match format.has_account() {
        true => Account::of_twelve(text),
        false => Account::of_twelve(text).or_else(|_| Account::of_twelve(&[b'0'; 12])),
    }
}

/// The key of one side of CSNBPTR2: AES for format 4, Triple DES for the others.
enum Side {
    Des(Box<Cipher>),
    Aes(Zeroizing<Vec<u8>>),
}

impl Side {
    fn aes_derived(call: &Call<'_>, identifier: &[u8], serial: &[u8]) -> Outcome<Self> {
        let base = call.aes_key::<AesDeriveUnique>(identifier)?;
        let serial: &[u8; AES_SERIAL] = serial.try_into().map_err(|_| Refusal::KeySerialNumber)?;
        let bits = 8 * base.bytes().len() as u16;
        Ok(Self::Aes(dukpt::aes_derive(
            base.bytes(),
            serial,
            Usage::PinEncryption,
            bits,
        )?))
    }

    fn input(call: &Call<'_>, identifier: &[u8], format: Format, serial: &[u8]) -> Outcome<Self> {
        match (format, serial.len()) {
            (Format::Iso4, 0) => Ok(Self::Aes(Zeroizing::new(
                call.aes_key::<AesOpenPin>(identifier)?.bytes().to_vec(),
            ))),
            (Format::Iso4, _) => Self::aes_derived(call, identifier, serial),
            (_, 0) => Ok(Self::Des(Box::new(
                call.des_key::<OpenToReformat>(identifier)?.cipher(),
            ))),
            _ => {
                let serial = serial.try_into().map_err(|_| Refusal::KeySerialNumber)?;
                Ok(Self::Des(Box::new(derived_cipher(
                    call, identifier, serial,
                )?)))
            }
        }
    }

    fn output(call: &Call<'_>, identifier: &[u8], format: Format, serial: &[u8]) -> Outcome<Self> {
        match (format, serial.len()) {
            (Format::Iso4, 0) => Ok(Self::Aes(Zeroizing::new(
                call.aes_key::<AesSealPin>(identifier)?.bytes().to_vec(),
            ))),
            (Format::Iso4, _) => Self::aes_derived(call, identifier, serial),
            (_, 0) => Ok(Self::Des(Box::new(
                call.des_key::<SealReformatted>(identifier)?.cipher(),
            ))),
            _ => {
                let serial = serial.try_into().map_err(|_| Refusal::KeySerialNumber)?;
                Ok(Self::Des(Box::new(derived_cipher(
                    call, identifier, serial,
                )?)))
            }
        }
    }
}

impl Verb for EncryptedPinTranslate2 {
    type Reply = TranslatedPin2;

    fn run(&self, call: &Call<'_>) -> Outcome<TranslatedPin2> {
        let mut rules = self.rule_array.parse();
        rules.required(&[("REFORMAT", ())])?;
        let length = extraction(&mut rules)?;
        rules.end()?;
        let from = Profile::parse(call, &self.input_pin_profile)?;
        let to = Profile::parse(call, &self.output_pin_profile)?;
        let pair = pair(call, How::Reformat, from.format, to.format)?;
        let account = Account::of_whole(&self.pan_data_in)?;
        let new = Account::of_whole(&self.pan_data_out)?;
        pair.account(&account, &new)?;
        let input = Side::input(
            call,
            &self.input_pin_key_identifier,
            from.format,
            &self.input_ksn,
        )?;
        let output = Side::output(
            call,
            &self.output_pin_key_identifier,
            to.format,
            &self.output_ksn,
        )?;
        let pin: Pin = match &input {
            Side::Aes(key) => opened_format_4(key, &self.pin_block_in, &account)?,
            Side::Des(cipher) => {
                let block = opened(cipher, &self.pin_block_in)?;
                extract(
                    &block,
                    from.format,
                    &account,
                    from.filling(length),
                    Digits::Any,
                )?
            }
        };
        let pin_block_out = match &output {
            Side::Aes(key) => sealed_format_4(key, &pin, &new)?.into(),
            Side::Des(cipher) => sealed(cipher, &pin, &to, &new, 0)?.into(),
        };
        Ok(TranslatedPin2 { pin_block_out })
    }
}
