//! CSNBPGN, CSNBCPE, CSNBCPA, CSNBEPG: PINs, offsets and verification values that are made.

use outboard_engine::scalar::mac::equal;
use zeroize::Zeroizing;

use super::translate::account;
use super::verify::bound;
use super::verify::{Method, belongs, method_key, security_parameter};
use super::{Profile, cipher, derived, element, extraction, opened, sealed};
use crate::AccessPoint;
use crate::algorithm::des::Cipher;
use crate::algorithm::method;
use crate::algorithm::pin::{Digits, LENGTHS, Pin, extract, numbers};
use crate::answer::{Outcome, Refusal};
use crate::card::Call;
use crate::request::*;
use crate::token::uses::{
    MakeAlternate, MakeClearPin, MakeEncryptedPin, OpenToAlternate, SealClear, SealGenerated,
};
use crate::value::Bytes;
use crate::verb::Verb;

/// The PIN that the institution assigns.
fn assigned(
    call: &Call<'_>,
    cipher: &Cipher,
    method: Method,
    length: u32,
    data_array: &[u8],
) -> Outcome<Pin> {
    let length = length as usize;
    let four = || match length {
        0 | 4 => Ok(()),
        _ => Err(Refusal::PinLength),
    };
    match method {
        Method::IbmPin | Method::IbmPinOffset | Method::BankPool => {
            let table = call.state().tables.find(element(data_array, 0)?)?;
            let validation = method::block(element(data_array, 1)?, Refusal::ValidationData)?;
            let intermediate = method::intermediate(cipher, validation, &table);
            if method == Method::BankPool {
                four()?;
                return Pin::new(&method::bank_pool(&intermediate, &[0; 4])[..]);
            }
            match LENGTHS.contains(&length) {
                true => Pin::new(&intermediate[..length]),
                false => Err(Refusal::PinLength),
            }
        }
        Method::Interbank => {
            four()?;
            let parameter = method::block(
                element(data_array, 0)?,
                Refusal::TransactionSecurityParameter,
            )?;
            Pin::new(&method::interbank(cipher, parameter)[..])
        }
        Method::VisaPvv => Err(Refusal::Keyword),
    }
}

/// Digits as characters, filled up with blanks to 16.
fn text(digits: &[u8]) -> Bytes {
    let mut text = vec![b' '; 16];
    text.iter_mut()
        .zip(digits)
        .for_each(|(to, digit)| *to = b'0' + digit);
    text.into()
}

/// The rightmost digits that an IBM offset has: how the customer's PIN differs from the assigned one.
fn offset(assigned: &[u8], chosen: &[u8], check: u32) -> Outcome<Zeroizing<Vec<u8>>> {
    let check = check as usize;
    if !(4..=chosen.len()).contains(&check) {
        return Err(Refusal::PinCheckLength);
    }
    let pairs = chosen
        .iter()
        .zip(assigned)
        // A digit of `Digits::Any` is less than ten first.
        .map(|(chosen, assigned)| method::difference(method::sum(*chosen, 0), *assigned));
    let all: Zeroizing<Vec<u8>> = Zeroizing::new(pairs.collect());
    Ok(Zeroizing::new(all[chosen.len() - check..].to_vec()))
}

impl Verb for ClearPinGenerate {
    type Reply = ClearPin;

    fn run(&self, call: &Call<'_>) -> Outcome<ClearPin> {
        let mut rules = self.rule_array.parse();
        let method = rules.required(Method::KEYWORDS)?;
        rules.end()?;
        call.needs(AccessPoint::ClearPinGenerate)?;
        let cipher =
            method_key::<MakeClearPin>(call, &self.pin_generating_key_identifier, method)?.cipher();
        let returned_result = match method {
            Method::VisaPvv => {
                let parameter = numbers(element(&self.data_array, 0)?)
                    .ok_or(Refusal::TransactionSecurityParameter)?;
                text(&method::pvv(&cipher, &parameter[..11], parameter[11], &parameter[12..])[..])
            }
            Method::IbmPinOffset => {
                let chosen = Pin::of_text(element(&self.data_array, 2)?)
                    .map_err(|_| Refusal::CustomerPin)?;
                let length = chosen.digits().len();
                if self.pin_length as usize != length {
                    return Err(Refusal::CustomerPin);
                }
                let pin = assigned(call, &cipher, method, self.pin_length, &self.data_array)?;
                text(&offset(
                    pin.digits(),
                    chosen.digits(),
                    self.pin_check_length,
                )?)
            }
            _ => {
                let pin = assigned(call, &cipher, method, self.pin_length, &self.data_array)?;
                pin.text().to_vec().into()
            }
        };
        Ok(ClearPin { returned_result })
    }
}

impl Verb for ClearPinEncrypt {
    type Reply = EncryptedPin;

    fn run(&self, call: &Call<'_>) -> Outcome<EncryptedPin> {
        let mut rules = self.rule_array.parse();
        let is_random = rules
            .one(&[("ENCRYPT", false), ("RANDOM", true)])?
            .unwrap_or(false);
        rules.end()?;
        call.needs(AccessPoint::ClearPinEncrypt)?;
        let profile = Profile::parse(call, &self.pin_profile)?;
        let pin = match is_random {
            false => Pin::of_text(&self.clear_pin)?,
            // As many digits as the zeros that are given.
            true => Pin::random(self.clear_pin.trim_ascii_end().len())?,
        };
        let seal = call
            .des_key::<SealClear>(&self.pin_encrypting_key_identifier)?
            .cipher();
        let whose = account(&self.pan_data, profile.format)?;
        Ok(EncryptedPin {
            encrypted_pin_block: sealed(&seal, &pin, &profile, &whose, self.sequence_number)?
                .into(),
        })
    }
}

impl Verb for ClearPinGenerateAlternate {
    type Reply = AlternatePin;

    fn run(&self, call: &Call<'_>) -> Outcome<AlternatePin> {
        let mut rules = self.rule_array.parse();
        let method = rules.required(&[
            ("IBM-PINO", Method::IbmPinOffset),
            ("VISA-PVV", Method::VisaPvv),
        ])?;
        let length = extraction(&mut rules)?;
        let is_derived = derived(&mut rules)?;
        rules.end()?;
        call.needs(match method {
            Method::VisaPvv => AccessPoint::AlternatePvv,
            _ => AccessPoint::AlternateOffset,
        })?;
        let profile = Profile::parse(call, &self.pin_profile)?;
        bound(call, profile.format)?;
        let whose = account(&self.pan_data, profile.format)?;
        let key = method_key::<MakeAlternate>(call, &self.pin_generation_key_identifier, method)?
            .cipher();
        let open = cipher::<OpenToAlternate>(
            call,
            &self.pin_encryption_key_identifier,
            &profile,
            is_derived.input,
        )?;
        let block = opened(&open, &self.encrypted_pin_block)?;
        let returned_result = match method {
            Method::VisaPvv => {
                let (eleven, index) = security_parameter(element(&self.data_array, 0)?, &whose)?;
                let pin = extract(
                    &block,
                    profile.format,
                    &whose,
                    profile.filling(length),
                    Digits::Any,
                )?;
                text(&method::pvv(&key, &eleven, index, pin.digits())[..])
            }
            _ => {
                belongs(call, element(&self.data_array, 1)?, &whose)?;
                let pin = extract(
                    &block,
                    profile.format,
                    &whose,
                    profile.filling(length),
                    Digits::Any,
                )?;
                let length = pin.digits().len() as u32;
                let assigned = assigned(call, &key, method, length, &self.data_array)?;
                text(&offset(
                    assigned.digits(),
                    pin.digits(),
                    self.pin_check_length,
                )?)
            }
        };
        Ok(AlternatePin { returned_result })
    }
}

impl Verb for EncryptedPinGenerate {
    type Reply = GeneratedPin;

    fn run(&self, call: &Call<'_>) -> Outcome<GeneratedPin> {
        let mut rules = self.rule_array.parse();
        let methods = [
            ("IBM-PIN", Method::IbmPin),
            ("GBP-PIN", Method::BankPool),
            ("INBK-PIN", Method::Interbank),
        ];
        let method = rules.required(&methods)?;
        rules.end()?;
        call.needs(AccessPoint::EncryptedPinGenerate)?;
        let profile = Profile::parse(call, &self.pin_profile)?;
        let key =
            method_key::<MakeEncryptedPin>(call, &self.pin_generating_key_identifier, method)?
                .cipher();
        let seal = call
            .des_key::<SealGenerated>(&self.outbound_pin_encrypting_key_identifier)?
            .cipher();
        let whose = account(&self.pan_data, profile.format)?;
        // Another account's PIN in a block of this account would be compared with this account's.
        match method {
            Method::Interbank => {
                security_parameter(element(&self.data_array, 0)?, &whose)?;
            }
            _ => belongs(call, element(&self.data_array, 1)?, &whose)?,
        }
        let pin = assigned(call, &key, method, self.pin_length, &self.data_array)?;
        Ok(GeneratedPin {
            encrypted_pin_block: sealed(&seal, &pin, &profile, &whose, self.sequence_number)?
                .into(),
        })
    }
}

/// Whether two texts of digits are equal. (For verification values, which are short.)
pub(super) fn is_value(wanted: &[u8], given: &[u8]) -> bool {
    equal(wanted, given)
}
