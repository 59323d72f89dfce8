//! Data: encrypted, decrypted, authenticated, hashed; random numbers.

use inout::InOutBuf;
use outboard_engine::scalar::aes::{self, Mode};
use outboard_engine::scalar::des3::set_odd_parity;
use outboard_engine::scalar::digest::Digest;
use outboard_engine::scalar::mac::{Mac as Code, equal};
use outboard_engine::scalar::randomise;
use subtle::{ConditionallySelectable, ConstantTimeEq, ConstantTimeLess};

use super::Verb;
use crate::AccessPoint;
use crate::algorithm::hash::{self, Hash};
use crate::algorithm::mac::{CbcMac, Method};
use crate::answer::{Outcome, Refusal};
use crate::card::Call;
use crate::card::master::Kind;
use crate::request::*;
use crate::token::aes::{
    AesDecrypt, AesEncrypt, AesMakeMac, AesVerifyMac, HmacMake, HmacVerify as HmacVerifyUse,
};
use crate::token::uses::*;
use crate::value::{Bytes, Keyword, Rules};

/// The longest text of one call.
const MOST: usize = 32 << 20;

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
        let chaining_vector = chaining::<16>(&text[text.len() - 16..], 32);
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
        let chaining_vector = chaining::<16>(&text[text.len() - 16..], 32);
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

/// Which part of a longer text this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Segment {
    Only,
    First,
    Middle,
    Last,
}

const SEGMENTS: &[(&str, Segment)] = &[
    ("ONLY", Segment::Only),
    ("FIRST", Segment::First),
    ("MIDDLE", Segment::Middle),
    ("LAST", Segment::Last),
];

impl Segment {
    fn begins(self) -> bool {
        matches!(self, Self::Only | Self::First)
    }

    fn ends(self) -> bool {
        matches!(self, Self::Only | Self::Last)
    }
}

struct MacRules {
    method: Option<Method>,
    segment: Segment,
    length: usize,
    /// As digits: none, without a blank, with one after the fourth.
    digits: Option<bool>,
}

fn mac_rules(rules: &Rules) -> Outcome<MacRules> {
    let mut rules = rules.parse();
    let method = rules.one(&[
        ("X9.9-1", Method::X99),
        ("X9.19OPT", Method::X919),
        ("EMVMAC", Method::Emv),
        ("EMVMACD", Method::EmvDouble),
        ("TDES-MAC", Method::TripleDes),
    ])?;
    let segment = rules.one(SEGMENTS)?.unwrap_or(Segment::Only);
    let (length, digits) = rules
        .one(&[
            ("MACLEN4", (4, None)),
            ("MACLEN6", (6, None)),
            ("MACLEN8", (8, None)),
            ("HEX-8", (4, Some(false))),
            ("HEX-9", (4, Some(true))),
        ])?
        .unwrap_or((4, None));
    rules.end()?;
    Ok(MacRules {
        method,
        segment,
        length,
        digits,
    })
}

/// Goes on with a text. The chaining vector is encrypted: the chain inside would let its reader forge codes.
fn mac<U>(
    call: &Call<'_>,
    key: &Key<U>,
    rules: &MacRules,
    text: &[u8],
    chaining: &[u8],
) -> Outcome<(Bytes, Option<[u8; 8]>)> {
    if text.len() > MOST {
        return Err(Refusal::TextTooLong);
    }
    let method = rules.method.unwrap_or(match key.bytes().len() {
        8 => Method::X99,
        16 => Method::X919,
        _ => Method::TripleDes,
    });
    let mut code = CbcMac::new(method, key.bytes()).ok_or(Refusal::KeyLength)?;
    // Belongs to this key and this method.
    let said = [b"chain".as_slice(), &[method as u8], key.bytes()].concat();
    let hiding = call
        .state()
        .masters
        .current(Kind::Symmetric)?
        .derive(&zeroize::Zeroizing::new(said))?;
    let hide = |state: &mut [u8; 16], is_hidden: bool| {
        aes::begin(&hiding, Mode::Ecb, is_hidden)?.update(InOutBuf::from(&mut state[..]))
    };
    if !rules.segment.begins() {
        let mut state: [u8; 16] = chaining
            .get(..16)
            .and_then(|state| state.try_into().ok())
            .ok_or(Refusal::Size)?;
        hide(&mut state, false)?;
        code.resume(&state).ok_or(Refusal::Inconsistent)?;
    }
    code.update(text);
    if rules.segment.ends() {
        return Ok(([0; 18].into(), Some(*code.finish())));
    }
    let mut state = code.state();
    hide(&mut state, true)?;
    let mut chaining = state.to_vec();
    chaining.resize(18, 0);
    Ok((chaining.into(), None))
}

/// A code as the rules say: bytes or digits.
fn written(code: &[u8; 8], rules: &MacRules) -> Vec<u8> {
    let code = &code[..rules.length];
    let Some(has_blank) = rules.digits else {
        return code.to_vec();
    };
    let mut text: String = code.iter().map(|byte| format!("{byte:02X}")).collect();
    if has_blank {
        text.insert(4, ' ');
    }
    text.into_bytes()
}

impl Verb for MacGenerate {
    type Reply = Mac;

    fn run(&self, call: &Call<'_>) -> Outcome<Mac> {
        let rules = mac_rules(&self.rule_array)?;
        call.needs(AccessPoint::MacGenerate)?;
        let key = call.des_key::<MakeMac>(&self.key_identifier)?;
        let (chaining_vector, code) = mac(call, &key, &rules, &self.text, &self.chaining_vector)?;
        let mac = code.map_or(Bytes::default(), |code| written(&code, &rules).into());
        Ok(Mac {
            chaining_vector,
            mac,
        })
    }
}

impl Verb for MacVerify {
    type Reply = MacVerified;

    fn run(&self, call: &Call<'_>) -> Outcome<MacVerified> {
        let rules = mac_rules(&self.rule_array)?;
        call.needs(AccessPoint::MacVerify)?;
        let key = call.des_key::<VerifyMac>(&self.key_identifier)?;
        let (chaining_vector, code) = mac(call, &key, &rules, &self.text, &self.chaining_vector)?;
        if let Some(code) = code {
            let wanted = written(&code, &rules);
            let given = self.mac.get(..wanted.len()).ok_or(Refusal::Size)?;
            is_verified(&wanted, given)?;
        }
        Ok(MacVerified { chaining_vector })
    }
}

fn is_verified(wanted: &[u8], given: &[u8]) -> Outcome<()> {
    match equal(wanted, given) {
        true => Ok(()),
        false => Err(Refusal::TestFailed),
    }
}

/// The rules of CSNBMGN2 and CSNBMVR2. The text comes as a whole.
fn cmac_rules(rules: &Rules) -> Outcome<bool> {
    let mut rules = rules.parse();
    let is_aes = rules.required(&[("AES", true), ("TDES", false)])?;
    rules.one(&[("CMAC", ())])?;
    rules.one(&[("ONLY", ())])?;
    rules.end()?;
    Ok(is_aes)
}

fn code(mut code: Code, text: &[u8]) -> Outcome<Vec<u8>> {
    if text.len() > MOST {
        return Err(Refusal::TextTooLong);
    }
    code.update(text)?;
    Ok(code.finish()?.to_vec())
}

impl Verb for MacGenerate2 {
    type Reply = Mac2;

    fn run(&self, call: &Call<'_>) -> Outcome<Mac2> {
        let is_aes = cmac_rules(&self.rule_array)?;
        call.needs(AccessPoint::MacGenerate)?;
        let by = match is_aes {
            true => Code::cmac(call.aes_key::<AesMakeMac>(&self.key_identifier)?.bytes())?,
            false => Code::cmac_des3(call.des_key::<MakeMac>(&self.key_identifier)?.bytes())?,
        };
        Ok(Mac2 {
            chaining_vector: Bytes::default(),
            mac_text: code(by, &self.message_text)?.into(),
        })
    }
}

impl Verb for MacVerify2 {
    type Reply = MacVerified2;

    fn run(&self, call: &Call<'_>) -> Outcome<MacVerified2> {
        let is_aes = cmac_rules(&self.rule_array)?;
        call.needs(AccessPoint::MacVerify)?;
        let by = match is_aes {
            true => Code::cmac(call.aes_key::<AesVerifyMac>(&self.key_identifier)?.bytes())?,
            false => Code::cmac_des3(call.des_key::<VerifyMac>(&self.key_identifier)?.bytes())?,
        };
        is_whole_code(&code(by, &self.message_text)?, &self.mac_text, 4)?;
        Ok(MacVerified2::default())
    }
}

/// A code may be cut, but not below so many bytes.
fn is_whole_code(wanted: &[u8], given: &[u8], least: usize) -> Outcome<()> {
    match (least..=wanted.len()).contains(&given.len()) {
        true => is_verified(&wanted[..given.len()], given),
        false => Err(Refusal::Size),
    }
}

const DIGESTS: &[(&str, Digest)] = &[
    ("SHA-1", Digest::Sha1),
    ("SHA-224", Digest::Sha224),
    ("SHA-256", Digest::Sha256),
    ("SHA-384", Digest::Sha384),
    ("SHA-512", Digest::Sha512),
];

fn hmac_rules(rules: &Rules) -> Outcome<Digest> {
    let mut rules = rules.parse();
    rules.one(&[("HMAC", ())])?;
    let digest = rules.required(DIGESTS)?;
    rules.one(&[("ONLY", ())])?;
    rules.end()?;
    Ok(digest)
}

impl Verb for HmacGenerate {
    type Reply = Hmac;

    fn run(&self, call: &Call<'_>) -> Outcome<Hmac> {
        let digest = hmac_rules(&self.rule_array)?;
        call.needs(AccessPoint::MacGenerate)?;
        let key = call.aes_key::<HmacMake>(&self.key_identifier)?;
        let mac_text = code(Code::hmac(digest, key.bytes())?, &self.message_text)?.into();
        Ok(Hmac {
            chaining_vector: Bytes::default(),
            mac_text,
        })
    }
}

impl Verb for HmacVerify {
    type Reply = HmacVerified;

    fn run(&self, call: &Call<'_>) -> Outcome<HmacVerified> {
        let digest = hmac_rules(&self.rule_array)?;
        call.needs(AccessPoint::MacVerify)?;
        let key = call.aes_key::<HmacVerifyUse>(&self.key_identifier)?;
        let wanted = code(Code::hmac(digest, key.bytes())?, &self.message_text)?;
        is_whole_code(&wanted, &self.mac_text, 4)?;
        Ok(HmacVerified::default())
    }
}

impl Verb for OneWayHash {
    type Reply = Hashed;

    fn run(&self, _: &Call<'_>) -> Outcome<Hashed> {
        let mut rules = self.rule_array.parse();
        let algorithm = rules.required(&[
            ("SHA-1", hash::Algorithm::Sha1),
            ("SHA-224", hash::Algorithm::Sha224),
            ("SHA-256", hash::Algorithm::Sha256),
            ("SHA-384", hash::Algorithm::Sha384),
            ("SHA-512", hash::Algorithm::Sha512),
        ])?;
        let segment = rules.one(SEGMENTS)?.unwrap_or(Segment::Only);
        rules.end()?;
        if self.text.len() > MOST {
            return Err(Refusal::TextTooLong);
        }
        let mut hash = match segment.begins() {
            true => Hash::new(algorithm),
            false => Hash::resume(algorithm, &self.chaining_vector).ok_or(Refusal::Inconsistent)?,
        };
        if !segment.ends() && !self.text.len().is_multiple_of(algorithm.block()) {
            return Err(Refusal::TextLength);
        }
        hash.update(&self.text);
        Ok(match segment.ends() {
            true => Hashed {
                chaining_vector: [0; hash::STATE].into(),
                hash: hash.finish().into(),
            },
            false => Hashed {
                chaining_vector: hash.state().into(),
                hash: Bytes::default(),
            },
        })
    }
}

/// Which parity each byte of a random number has.
#[derive(Clone, Copy)]
enum Parity {
    Any,
    Odd,
    Even,
}

const PARITIES: &[(&str, Parity)] = &[
    ("RANDOM", Parity::Any),
    ("ODD", Parity::Odd),
    ("EVEN", Parity::Even),
];

fn random(length: usize, parity: Parity) -> Outcome<Bytes> {
    let mut number = vec![0; length];
    randomise(&mut number)?;
    match parity {
        Parity::Any => {}
        Parity::Odd => set_odd_parity(&mut number),
        Parity::Even => {
            set_odd_parity(&mut number);
            number.iter_mut().for_each(|byte| *byte ^= 1);
        }
    }
    Ok(number.into())
}

impl Verb for RandomNumberGenerate {
    type Reply = RandomNumber;

    fn run(&self, _: &Call<'_>) -> Outcome<RandomNumber> {
        let rules = Rules(vec![Keyword(self.form.0)]);
        let parity = rules.parse().required(PARITIES)?;
        Ok(RandomNumber {
            random_number: random(8, parity)?,
        })
    }
}

impl Verb for RandomNumberGenerateLong {
    type Reply = RandomNumberLong;

    fn run(&self, _: &Call<'_>) -> Outcome<RandomNumberLong> {
        let mut rules = self.rule_array.parse();
        let parity = rules.required(PARITIES)?;
        rules.end()?;
        match self.random_number_length {
            1..=8192 => Ok(RandomNumberLong {
                random_number: random(self.random_number_length as usize, parity)?,
            }),
            _ => Err(Refusal::Size),
        }
    }
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
