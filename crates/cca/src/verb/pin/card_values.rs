//! CSNBCSG and CSNBCSV: card verification values (CVV, CVC).

use zeroize::Zeroizing;

use super::generate::is_value;
use crate::AccessPoint;
use crate::algorithm::des::Cipher;
use crate::algorithm::method;
use crate::algorithm::pin::numbers;
use crate::answer::{Outcome, Refusal};
use crate::card::Call;
use crate::request::*;
use crate::token::uses::{Key, MakeCvvA, MakeCvvB, Use, VerifyCvvA, VerifyCvvB};
use crate::value::Rules;
use crate::verb::Verb;

/// How many digits the account and the value have.
fn lengths(rules: &Rules) -> Outcome<(usize, usize)> {
    let mut rules = rules.parse();
    let account = rules
        .one(&[
            ("PAN-13", 13),
            ("PAN-14", 14),
            ("PAN-15", 15),
            ("PAN-16", 16),
            ("PAN-17", 17),
            ("PAN-18", 18),
            ("PAN-19", 19),
        ])?
        .unwrap_or(13);
    let value = rules
        .one(&[
            ("CVV-1", 1),
            ("CVV-2", 2),
            ("CVV-3", 3),
            ("CVV-4", 4),
            ("CVV-5", 5),
        ])?
        .unwrap_or(1);
    rules.end()?;
    Ok((account, value))
}

/// Two keys of one part, or one of two parts.
fn ciphers<A: Use, B: Use>(call: &Call<'_>, a: &[u8], b: &[u8]) -> Outcome<[Cipher; 2]> {
    let a: Key<A> = call.des_key(a)?;
    let halves = match a.bytes().len() {
        16 => {
            if b.iter().any(|byte| *byte != 0 && *byte != b' ') {
                return Err(Refusal::Inconsistent);
            }
            (Cipher::new(&a.bytes()[..8]), Cipher::new(&a.bytes()[8..]))
        }
        8 => {
            let b: Key<B> = call.des_key(b)?;
            match b.bytes().len() {
                8 => (Cipher::new(a.bytes()), Cipher::new(b.bytes())),
                _ => return Err(Refusal::KeyLength),
            }
        }
        _ => return Err(Refusal::KeyLength),
    };
    match halves {
        (Some(a), Some(b)) => Ok([a, b]),
        _ => Err(Refusal::KeyLength),
    }
}

fn value(
    [a, b]: &[Cipher; 2],
    account: &[u8],
    expiration: &[u8],
    service: &[u8],
) -> Outcome<Zeroizing<Vec<u8>>> {
    let expiration = expiration
        .get(..4)
        .and_then(numbers)
        .ok_or(Refusal::ExpirationDate)?;
    let service = service
        .get(..3)
        .and_then(numbers)
        .ok_or(Refusal::ServiceCode)?;
    let account = numbers(account).ok_or(Refusal::PanData)?;
    let mut value = method::cvv(a, b, &account, &expiration, &service);
    value.iter_mut().for_each(|digit| *digit += b'0');
    Ok(value)
}

impl Verb for CvvGenerate {
    type Reply = Cvv;

    fn run(&self, call: &Call<'_>) -> Outcome<Cvv> {
        let (account, length) = lengths(&self.rule_array)?;
        call.needs(AccessPoint::CvvGenerate)?;
        let account = self.pan_data.get(..account).ok_or(Refusal::PanData)?;
        let keys = ciphers::<MakeCvvA, MakeCvvB>(
            call,
            &self.cvv_key_a_identifier,
            &self.cvv_key_b_identifier,
        )?;
        let value = value(&keys, account, &self.expiration_date, &self.service_code)?;
        let mut cvv_value = value[..length].to_vec();
        cvv_value.resize(5, b' ');
        Ok(Cvv {
            cvv_value: cvv_value.into(),
        })
    }
}

impl Verb for CvvVerify {
    type Reply = Done;

    fn run(&self, call: &Call<'_>) -> Outcome<Done> {
        let (account, length) = lengths(&self.rule_array)?;
        call.needs(AccessPoint::CvvVerify)?;
        let account = self.pan_data.get(..account).ok_or(Refusal::PanData)?;
        let keys = ciphers::<VerifyCvvA, VerifyCvvB>(
            call,
            &self.cvv_key_a_identifier,
            &self.cvv_key_b_identifier,
        )?;
        let wanted = value(&keys, account, &self.expiration_date, &self.service_code)?;
        let given = self.cvv_value.get(..length).ok_or(Refusal::Size)?;
        match is_value(&wanted[..length], given) {
            true => Ok(Done {}),
            false => Err(Refusal::TestFailed),
        }
    }
}
