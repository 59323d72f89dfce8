//! CSNBPTR2: as CSNBPTR, with whole account numbers, format 4 and AES DUKPT.

use zeroize::Zeroizing;

use super::translate::{HOW, How, pair};
use super::{
    Profile, derived_cipher, extraction, opened, opened_format_4, sealed, sealed_format_4,
};
use crate::algorithm::des::Cipher;
use crate::algorithm::dukpt::{self, Usage};
use crate::algorithm::pin::{
    Account, Digits, Format, Pin, extract, extract_format_4, field_of_format_4,
};
use crate::answer::{Outcome, Refusal};
use crate::card::Call;
use crate::request::*;
use crate::token::aes::{AesDeriveUnique, AesOpenPin, AesSealPin, AesUse};
use crate::token::uses::{OpenToReformat, OpenToTranslate, SealReformatted, SealTranslated, Use};
use crate::value::Parser;
use crate::verb::Verb;

/// Where the key of a side comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Own,
    Unique,
    AesUnique,
}

/// Those of input and output, by the keywords of DUKPT, of which each side may have one.
fn sources(rules: &mut Parser<'_>) -> Outcome<[Source; 2]> {
    const IN: &[usize] = &[0];
    const OUT: &[usize] = &[1];
    const BOTH: &[usize] = &[0, 1];
    let mut sources = [Source::Own; 2];
    for (sides, source) in rules.all(&[
        ("UKPTIPIN", (IN, Source::Unique)),
        ("UKPTOPIN", (OUT, Source::Unique)),
        ("UKPTBOTH", (BOTH, Source::Unique)),
        ("DUKPT-IP", (IN, Source::Unique)),
        ("DUKPT-OP", (OUT, Source::Unique)),
        ("DUKPT-BH", (BOTH, Source::Unique)),
        ("ADUKPTIP", (IN, Source::AesUnique)),
        ("ADUKPTOP", (OUT, Source::AesUnique)),
        ("ADUKPTBH", (BOTH, Source::AesUnique)),
    ]) {
        for side in sides {
            if sources[*side] != Source::Own {
                return Err(Refusal::KeywordCombination);
            }
            sources[*side] = source;
        }
    }
    Ok(sources)
}

/// The key of a side: AES for format 4, Triple DES for the others.
enum Side {
    Des(Box<Cipher>),
    Aes(Zeroizing<Vec<u8>>),
}

impl Side {
    fn new<D: Use, A: AesUse>(
        call: &Call<'_>,
        identifier: &[u8],
        profile: &Profile,
        source: Source,
    ) -> Outcome<Self> {
        match (profile.format, source) {
            (Format::Iso4, Source::Own) => {
                let key = call.aes_key::<A>(identifier)?;
                Ok(Self::Aes(Zeroizing::new(key.bytes().to_vec())))
            }
            (Format::Iso4, Source::AesUnique) => {
                let base = call.aes_key::<AesDeriveUnique>(identifier)?;
                let serial = profile.aes_serial.ok_or(Refusal::KeySerialNumber)?;
                let bits = 8 * base.bytes().len() as u16;
                let usage = Usage::PinEncryption;
                let key = dukpt::aes_derive(base.bytes(), &serial, usage, bits)?;
                Ok(Self::Aes(key))
            }
            (Format::Iso4, Source::Unique) | (_, Source::AesUnique) => {
                Err(Refusal::KeywordCombination)
            }
            (_, Source::Own) => {
                let key = call.des_key::<D>(identifier)?;
                Ok(Self::Des(Box::new(key.cipher())))
            }
            (_, Source::Unique) => {
                let serial = profile.serial.ok_or(Refusal::KeySerialNumber)?;
                let cipher = derived_cipher(call, identifier, &serial)?;
                Ok(Self::Des(Box::new(cipher)))
            }
        }
    }
}

/// An account number: its 12 digits right of which the check digit is, or for format 4, and if there are more, all.
fn account(text: &[u8], format: Format) -> Outcome<Account> {
    match (format, text.len()) {
        (Format::Iso4, _) => Account::of_whole(text),
        (_, 12) => Account::of_twelve(text),
        _ => Account::of_whole(text),
    }
}

impl EncryptedPinTranslate2 {
    /// Under another key, unseen.
    fn translated(&self, open: &Side, seal: &Side, account: &Account) -> Outcome<Vec<u8>> {
        match (open, seal) {
            (Side::Des(open), Side::Des(seal)) => {
                let mut block = opened(open, &self.input_pin_block)?;
                seal.encrypt(&mut block);
                Ok(block.to_vec())
            }
            (Side::Aes(open), Side::Aes(seal)) => {
                let field = opened_format_4(open, &self.input_pin_block, account)?;
                Ok(sealed_format_4(seal, field, account)?.to_vec())
            }
            // Both have one format.
            _ => Err(Refusal::PinBlockFormat),
        }
    }

    fn pin(
        &self,
        open: &Side,
        from: &Profile,
        account: &Account,
        length: Option<usize>,
    ) -> Outcome<Pin> {
        match open {
            Side::Aes(key) => {
                extract_format_4(&*opened_format_4(key, &self.input_pin_block, account)?)
            }
            Side::Des(cipher) => {
                let block = opened(cipher, &self.input_pin_block)?;
                let filling = from.filling(length);
                extract(&block, from.format, account, filling, Digits::Any)
            }
        }
    }
}

impl Verb for EncryptedPinTranslate2 {
    type Reply = TranslatedPin2;

    fn run(&self, call: &Call<'_>) -> Outcome<TranslatedPin2> {
        let mut rules = self.rule_array.parse();
        let how = rules.required(HOW)?;
        let length = extraction(&mut rules)?;
        let [input, output] = sources(&mut rules)?;
        // PAN-CHG, by which a block gets another account's number, is not offered.
        rules.end()?;
        let from = Profile::parse(call, &self.input_pin_profile)?;
        let to = Profile::parse(call, &self.output_pin_profile)?;
        let pair = pair(call, how, from.format, to.format)?;
        let whose = account(&self.input_pan_data, from.format)?;
        let new = account(&self.output_pan_data, to.format)?;
        pair.account(&whose, &new)?;
        let keys = (
            &self.input_pin_encrypting_key_identifier,
            &self.output_pin_encrypting_key_identifier,
        );
        let (open, seal) = match how {
            How::Translate => (
                Side::new::<OpenToTranslate, AesOpenPin>(call, keys.0, &from, input)?,
                Side::new::<SealTranslated, AesSealPin>(call, keys.1, &to, output)?,
            ),
            How::Reformat => (
                Side::new::<OpenToReformat, AesOpenPin>(call, keys.0, &from, input)?,
                Side::new::<SealReformatted, AesSealPin>(call, keys.1, &to, output)?,
            ),
        };
        let block = match (how, &seal) {
            (How::Translate, seal) => self.translated(&open, seal, &whose)?,
            (How::Reformat, Side::Aes(key)) => {
                let pin = self.pin(&open, &from, &whose, length)?;
                sealed_format_4(key, field_of_format_4(&pin)?, &new)?.to_vec()
            }
            (How::Reformat, Side::Des(cipher)) => {
                let pin = self.pin(&open, &from, &whose, length)?;
                sealed(cipher, &pin, &to, &new, 0)?.to_vec()
            }
        };
        Ok(TranslatedPin2 {
            output_pin_block: block.into(),
        })
    }
}
