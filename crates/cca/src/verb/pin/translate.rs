//! CSNBPTR: a PIN under another key, or in another format.

use super::{Profile, cipher, derived, extraction, opened, sealed};
use crate::AccessPoint;
use crate::algorithm::pin::{Account, Digits, Format, Pair, extract};
use crate::answer::{Outcome, Refusal};
use crate::card::Call;
use crate::request::*;
use crate::token::uses::{OpenToReformat, OpenToTranslate, SealReformatted, SealTranslated};
use crate::verb::Verb;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    Translate,
    Reformat,
}

pub(super) const HOW: &[(&str, How)] = &[("TRANSLAT", How::Translate), ("REFORMAT", How::Reformat)];

/// The pair of formats, if it is allowed.
pub(super) fn pair(call: &Call<'_>, how: How, from: Format, to: Format) -> Outcome<Pair> {
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
