//! CSNBPCU: the message that changes the PIN of a chip card.
//!
//! The PIN comes encrypted and leaves encrypted: under a key of the card's session, which no verb gives. But the message is always the same
//! for the same PINs and the same card. So the blocks are of one account, and the card is that account's: else the account numbers, which
//! are added to the PINs, would be tables in which a program finds any PIN.

use super::verify::bound;
use super::{Profile, opened};
use crate::AccessPoint;
use crate::algorithm::emv::{self, Session};
use crate::algorithm::pin::{Account, Digits, Pin, extract};
use crate::answer::{Outcome, Refusal};
use crate::card::Call;
use crate::request::*;
use crate::token::uses::{DeriveCardCode, DeriveCardPin, OpenToReformat};
use crate::verb::Verb;

/// An encrypted PIN, as the parameters of one name bring it.
struct Encrypted<'a> {
    key: &'a [u8],
    block: &'a [u8],
    profile: &'a [u8],
}

impl Encrypted<'_> {
    fn pin(&self, call: &Call<'_>, account: &Account) -> Outcome<Pin> {
        let profile = Profile::parse(call, self.profile)?;
        bound(call, profile.format)?;
        let open = call.des_key::<OpenToReformat>(self.key)?.cipher();
        let block = opened(&open, self.block)?;
        let filling = profile.filling(None);
        extract(&block, profile.format, account, filling, Digits::Any)
    }
}

/// The data that make the card's keys, its transaction counter, and the tree's initial value, which may be left out.
fn data(bytes: &[u8], how: Session) -> Outcome<(&[u8], [u8; 2], [u8; 16])> {
    let (length, has_first) = match bytes.len() {
        10 => (8, false),
        18 => (16, false),
        26 => (8, true),
        34 => (16, true),
        _ => return Err(Refusal::Size),
    };
    if has_first && how == Session::Xor {
        return Err(Refusal::Size);
    }
    let (data, rest) = bytes.split_at(length);
    let (counter, rest) = rest.split_at(2);
    let mut first = [0; 16];
    first[..rest.len()].copy_from_slice(rest);
    Ok((data, [counter[0], counter[1]], first))
}

/// Refuses a card that is not that account's. Its data are the last 16 digits of the account number and the card's sequence number (EMV
/// 2000, book 2, A1.4.1), so the account's twelve digits have one place. In any place, several accounts' would be in one card's data.
fn belongs(call: &Call<'_>, data: &[u8], account: &Account) -> Outcome<()> {
    let digits = (1..13).map(|at: usize| match at % 2 {
        0 => data[at / 2] >> 4,
        _ => data[at / 2] & 0xf,
    });
    let points = &call.state().points;
    match digits.eq(account.twelve().iter().copied())
        || points.is_on(AccessPoint::ForeignValidationData)
    {
        true => Ok(()),
        false => Err(Refusal::PanData),
    }
}

impl Verb for PinChangeUnblock {
    type Reply = PinMessage;

    fn run(&self, call: &Call<'_>) -> Outcome<PinMessage> {
        let mut rules = self.rule_array.parse();
        let how = rules
            .one(&[
                ("TDES-XOR", Session::Xor),
                ("TDESEMV2", Session::Tree(2)),
                ("TDESEMV4", Session::Tree(4)),
            ])?
            .unwrap_or(Session::Xor);
        let method = rules.required(&[("VISAPCU1", "VISAPCU1"), ("VISAPCU2", "VISAPCU2")])?;
        rules.end()?;
        call.needs(AccessPoint::PinChange)?;
        // The profile of the message says the method again.
        let said = self.output_pin_profile.get(..8).unwrap_or(&[]);
        if !self.output_pin_profile.is_empty() && said != method.as_bytes() {
            return Err(Refusal::PinBlockFormat);
        }
        let (data, counter, first) = data(&self.key_generation_data, how)?;
        let account = Account::of_twelve(&self.new_reference_pin_pan_data)?;
        belongs(call, data, &account)?;
        if method == "VISAPCU2"
            && Account::of_twelve(&self.current_reference_pin_pan_data)? != account
        {
            return Err(Refusal::PanData);
        }
        let issuer =
            call.des_key::<DeriveCardCode>(&self.authentication_issuer_master_key_identifier)?;
        let code = emv::diversified(&issuer.cipher(), data)?;
        let code = [code[4], code[5], code[6], code[7]];
        let issuer =
            call.des_key::<DeriveCardPin>(&self.encryption_issuer_master_key_identifier)?;
        let card = emv::diversified(&issuer.cipher(), data)?;
        let session = emv::session_key(how, &card, counter, &first)?;
        let new = Encrypted {
            key: &self.new_reference_pin_key_identifier,
            block: &self.new_reference_pin_block,
            profile: &self.new_reference_pin_profile,
        };
        let new = new.pin(call, &account)?;
        let current = Encrypted {
            key: &self.current_reference_pin_key_identifier,
            block: &self.current_reference_pin_block,
            profile: &self.current_reference_pin_profile,
        };
        let current = match method {
            "VISAPCU2" => Some(current.pin(call, &account)?),
            _ => None,
        };
        let block = emv::change_block(code, &new, current.as_ref());
        Ok(PinMessage {
            output_pin_message: emv::sealed(&session, &block)?.into(),
        })
    }
}
