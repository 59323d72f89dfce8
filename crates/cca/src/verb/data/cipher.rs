//! CSNBENC, CSNBDEC, CSNBSAE and CSNBSAD: data encrypted and decrypted.

use inout::InOutBuf;
use outboard_engine::scalar::aes::{self, Mode};
use subtle::{ConditionallySelectable, ConstantTimeEq, ConstantTimeLess};

use super::MOST;
use crate::AccessPoint;
use crate::answer::{Outcome, Refusal};
use crate::card::Call;
use crate::request::*;
use crate::token::aes::{AesDecrypt, AesEncrypt};
use crate::token::uses::*;
use crate::value::{Bytes, Rules};
use crate::verb::Verb;

/// The initial vector: given, zeros, or what the last call ended with.
fn vector<const N: usize>(given: &[u8], chaining: &[u8], continues: bool) -> Outcome<[u8; N]> {
    let from = if continues { chaining } else { given };
    match from.get(..N).and_then(|vector| vector.try_into().ok()) {
        Some(vector) => Ok(vector),
        None if from.is_empty() && !continues => Ok([0; N]),
        None => Err(Refusal::Size),
    }
}

fn chaining<const N: usize>(last: &[u8], length: usize) -> Bytes {
    let mut chaining = last[..N].to_vec();
    chaining.resize(length, 0);
    chaining.into()
}

/// How CSNBENC and CSNBDEC go through the text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DesMode {
    Cbc,
    /// CBC; the last byte says how many were added.
    X923,
}

fn des_rules(rules: &Rules) -> Outcome<(DesMode, bool)> {
    let mut rules = rules.parse();
    let mode = rules
        .one(&[("CBC", DesMode::Cbc), ("X9.23", DesMode::X923)])?
        .unwrap_or(DesMode::Cbc);
    let continues = rules
        .one(&[("INITIAL", false), ("CONTINUE", true)])?
        .unwrap_or(false);
    rules.end()?;
    Ok((mode, continues))
}

impl Verb for Encipher {
    type Reply = Enciphered;

    fn run(&self, call: &Call<'_>) -> Outcome<Enciphered> {
        let (mode, continues) = des_rules(&self.rule_array)?;
        call.needs(AccessPoint::Encipher)?;
        let cipher = call.des_key::<Encrypt>(&self.key_identifier)?.cipher();
        let mut text = with_room(&self.plaintext);
        if mode == DesMode::X923 {
            let pad = u8::try_from(self.pad_character).map_err(|_| Refusal::PadDigit)?;
            let count = 8 - text.len() % 8;
            text.resize(text.len() + count, pad);
            if let Some(last) = text.last_mut() {
                *last = count as u8;
            }
        }
        check_length(&text, 8)?;
        let mut last = vector::<8>(
            &self.initialization_vector,
            &self.chaining_vector,
            continues,
        )?;
        cipher.encrypt_cbc(&mut last, &mut text);
        Ok(Enciphered {
            ciphertext: text.into(),
            chaining_vector: chaining::<8>(&last, 18),
        })
    }
}

impl Verb for Decipher {
    type Reply = Deciphered;

    fn run(&self, call: &Call<'_>) -> Outcome<Deciphered> {
        let (mode, continues) = des_rules(&self.rule_array)?;
        call.needs(AccessPoint::Decipher)?;
        let cipher = call.des_key::<Decrypt>(&self.key_identifier)?.cipher();
        let mut text = self.ciphertext.clone();
        check_length(&text, 8)?;
        let mut last = vector::<8>(
            &self.initialization_vector,
            &self.chaining_vector,
            continues,
        )?;
        cipher.decrypt_cbc(&mut last, &mut text);
        let mut plaintext = text.take();
        if mode == DesMode::X923 {
            let count = plaintext.last().copied().unwrap_or(0);
            if !(1..=8).contains(&count) {
                return Err(Refusal::TextLength);
            }
            plaintext.truncate(plaintext.len() - usize::from(count));
        }
        Ok(Deciphered {
            plaintext: plaintext.into(),
            chaining_vector: chaining::<8>(&last, 18),
        })
    }
}

/// A text with room for its padding: where it grew, it would leave a copy behind.
fn with_room(text: &[u8]) -> Vec<u8> {
    let mut copy = Vec::with_capacity(text.len() + 16);
    copy.extend_from_slice(text);
    copy
}

fn check_length(text: &[u8], unit: usize) -> Outcome<()> {
    match text.len() {
        length if length > MOST => Err(Refusal::TextTooLong),
        0 => Err(Refusal::TextLength),
        length if length % unit != 0 => Err(Refusal::TextLength),
        _ => Ok(()),
    }
}

/// How CSNBSAE and CSNBSAD go through the text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AesMode {
    Cbc,
    Ecb,
    /// CBC, padded by PKCS #7.
    Pkcs,
}

fn aes_rules(rules: &Rules) -> Outcome<(AesMode, bool)> {
    let mut rules = rules.parse();
    rules.required(&[("AES", ())])?;
    let modes = [
        ("CBC", AesMode::Cbc),
        ("ECB", AesMode::Ecb),
        ("PKCS-PAD", AesMode::Pkcs),
    ];
    let mode = rules.one(&modes)?.unwrap_or(AesMode::Cbc);
    // A clear key would be no key of the card.
    rules.one(&[("KEYIDENT", ())])?;
    let continues = rules
        .one(&[("INITIAL", false), ("CONTINUE", true)])?
        .unwrap_or(false);
    rules.end()?;
    Ok((mode, continues))
}

impl Verb for SymmetricEncipher {
    type Reply = SymmetricCiphertext;

    fn run(&self, call: &Call<'_>) -> Outcome<SymmetricCiphertext> {
        let (mode, continues) = aes_rules(&self.rule_array)?;
        call.needs(AccessPoint::SymmetricEncipher)?;
        let key = call.aes_key::<AesEncrypt>(&self.key_identifier)?;
        let mut text = with_room(&self.cleartext);
        if mode == AesMode::Pkcs {
            let count = 16 - text.len() % 16;
            text.resize(text.len() + count, count as u8);
        }
        check_length(&text, 16)?;
        let first = vector::<16>(
            &self.initialization_vector,
            &self.chaining_vector,
            continues,
        )?;
        let by = match mode {
            AesMode::Ecb => Mode::Ecb,
            _ => Mode::Cbc(&first),
        };
        aes::begin(key.bytes(), by, true)?.update(InOutBuf::from(&mut text[..]))?;
        let chaining_vector = after(mode, &text);
        Ok(SymmetricCiphertext {
            ciphertext: text.into(),
            chaining_vector,
            key_parms: Bytes::default(),
        })
    }
}

impl Verb for SymmetricDecipher {
    type Reply = SymmetricCleartext;

    fn run(&self, call: &Call<'_>) -> Outcome<SymmetricCleartext> {
        let (mode, continues) = aes_rules(&self.rule_array)?;
        call.needs(AccessPoint::SymmetricDecipher)?;
        let key = call.aes_key::<AesDecrypt>(&self.key_identifier)?;
        let mut text = self.ciphertext.clone();
        check_length(&text, 16)?;
        let chaining_vector = after(mode, &text);
        let first = vector::<16>(
            &self.initialization_vector,
            &self.chaining_vector,
            continues,
        )?;
        let by = match mode {
            AesMode::Ecb => Mode::Ecb,
            _ => Mode::Cbc(&first),
        };
        aes::begin(key.bytes(), by, false)?.update(InOutBuf::from(&mut text[..]))?;
        let mut cleartext = text.take();
        if mode == AesMode::Pkcs {
            let count = padding(&cleartext).ok_or(Refusal::TextLength)?;
            cleartext.truncate(cleartext.len() - count);
        }
        Ok(SymmetricCleartext {
            cleartext: cleartext.into(),
            chaining_vector,
        })
    }
}

/// What a later part of a text begins with: in ECB mode nothing.
fn after(mode: AesMode, ciphertext: &[u8]) -> Bytes {
    match mode {
        AesMode::Ecb => Bytes::default(),
        _ => chaining::<16>(&ciphertext[ciphertext.len() - 16..], 32),
    }
}

/// How many bytes PKCS #7 added. Only whether they are right decides a branch.
fn padding(text: &[u8]) -> Option<usize> {
    let (_, block) = text.split_at(text.len().checked_sub(16)?);
    let count = block[15];
    let mut is_good = !count.ct_eq(&0) & count.ct_lt(&17);
    for (place, byte) in (1_u8..).zip(block.iter().rev()) {
        let is_padding = !count.ct_lt(&place);
        is_good &= !is_padding | byte.ct_eq(&count);
    }
    let count = u8::conditional_select(&0, &count, is_good);
    bool::from(is_good).then_some(usize::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_padding_is_right_or_wrong() {
        let text = |last: &[u8]| [vec![9; 32 - last.len()], last.to_vec()].concat();
        assert_eq!(padding(&text(&[1])), Some(1));
        assert_eq!(padding(&text(&[4; 4])), Some(4));
        assert_eq!(padding(&text(&[16; 16])), Some(16));
        for wrong in [&[0][..], &[17], &[3, 4, 4, 4], &[2], &[255]] {
            assert_eq!(padding(&text(wrong)), None, "{wrong:?}");
        }
    }
}
