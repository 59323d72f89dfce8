//! CSNBMGN2, CSNBMVR2, CSNBHMG and CSNBHMV: CMACs and HMACs, of a text as a whole or in parts.

use outboard_engine::scalar::digest::Digest;
use outboard_engine::scalar::key_wrap::{self, Padding};
use outboard_engine::scalar::mac::Mac as Code;
use zeroize::Zeroizing;

use super::mac::is_verified;
use super::{MOST, SEGMENTS, Segment};
use crate::AccessPoint;
use crate::algorithm::cmac::{self, Blocks, Cmac};
use crate::algorithm::hash::Algorithm;
use crate::algorithm::hmac::{self, Hmac as Under};
use crate::answer::{Outcome, Refusal};
use crate::card::Call;
use crate::card::master::Kind;
use crate::request::*;
use crate::token::aes::{AesMakeMac, AesUse, AesVerifyMac, HmacMake, HmacVerify as HmacVerifyUse};
use crate::token::uses::{MakeMac, Use, VerifyMac};
use crate::value::{Bytes, Rules};
use crate::verb::Verb;

/// Bytes of a chaining vector, as published.
const CHAINING: usize = 128;

/// Which part of which text, and what the last part ended with.
struct Part<'a> {
    segment: Segment,
    text: &'a [u8],
    chaining: &'a [u8],
}

/// A chaining vector, and the code once the text has ended.
type Made = (Bytes, Option<Vec<u8>>);

/// What hides the state between two parts: it belongs to the key and to the method. In the clear it would let its reader forge codes, and a
/// changed one would be a state that no text has.
struct Hiding(Zeroizing<Vec<u8>>);

impl Hiding {
    fn new(call: &Call<'_>, kind: Kind, method: u8, key: &[u8]) -> Outcome<Self> {
        let said = Zeroizing::new([b"parts".as_slice(), &[method], key].concat());
        let state = call.state();
        Ok(Self(state.masters.current(kind)?.derive(&said)?))
    }

    fn hide(&self, state: &[u8]) -> Outcome<Bytes> {
        let mut hidden = key_wrap::wrap(&self.0, state, Padding::Zeros)?;
        hidden.resize(CHAINING, 0);
        Ok(hidden.into())
    }

    fn show(&self, chaining: &[u8], length: usize) -> Outcome<Zeroizing<Vec<u8>>> {
        let hidden = key_wrap::wrapped_length(length, Padding::Zeros)?;
        let hidden = chaining.get(..hidden).ok_or(Refusal::Size)?;
        key_wrap::unwrap(&self.0, hidden, Padding::Zeros).map_err(|_| Refusal::Inconsistent)
    }
}

/// All parts but the last are whole blocks.
fn check(part: &Part<'_>, block: usize) -> Outcome<()> {
    match part.text.len() {
        length if length > MOST => Err(Refusal::TextTooLong),
        length if !part.segment.ends() && length % block != 0 => Err(Refusal::TextLength),
        _ => Ok(()),
    }
}

fn of_whole(mut code: Code, text: &[u8]) -> Outcome<Made> {
    code.update(text)?;
    Ok((Bytes::default(), Some(code.finish()?.to_vec())))
}

fn cmac(call: &Call<'_>, key: &[u8], is_aes: bool, part: &Part<'_>) -> Outcome<Made> {
    let cipher = || crate::algorithm::des::Cipher::new(key).ok_or(Refusal::KeyLength);
    let blocks = match is_aes {
        true => Blocks::Aes(Zeroizing::new(key.to_vec())),
        false => Blocks::TripleDes(Box::new(cipher()?)),
    };
    check(part, blocks.length())?;
    if part.segment == Segment::Only {
        let code = match is_aes {
            true => Code::cmac(key)?,
            false => Code::cmac_des3(key)?,
        };
        return of_whole(code, part.text);
    }
    let kind = if is_aes { Kind::Aes } else { Kind::Symmetric };
    let hiding = Hiding::new(call, kind, 0, key)?;
    let mut code = Cmac::new(blocks);
    if !part.segment.begins() {
        let state = hiding.show(part.chaining, cmac::STATE)?;
        code.resume(&state).ok_or(Refusal::Inconsistent)?;
    }
    code.update(part.text)?;
    match part.segment.ends() {
        true => Ok(([0; CHAINING].into(), Some(code.finish()?))),
        false => Ok((hiding.hide(&code.state())?, None)),
    }
}

fn hmac(call: &Call<'_>, key: &[u8], hash: (Digest, Algorithm), part: &Part<'_>) -> Outcome<Made> {
    check(part, hash.1.block())?;
    if part.segment == Segment::Only {
        return of_whole(Code::hmac(hash.0, key)?, part.text);
    }
    let hiding = Hiding::new(call, Kind::Aes, hash.1 as u8, key)?;
    let mut code = Under::new(hash.1, key);
    if !part.segment.begins() {
        let state = hiding.show(part.chaining, hmac::STATE)?;
        code.resume(&state).ok_or(Refusal::Inconsistent)?;
    }
    code.update(part.text);
    match part.segment.ends() {
        true => Ok(([0; CHAINING].into(), Some(code.finish()))),
        false => Ok((hiding.hide(&code.state())?, None)),
    }
}

/// A code may be cut, but not below four bytes.
fn is_whole_code(wanted: &[u8], given: &[u8]) -> Outcome<()> {
    match (4..=wanted.len()).contains(&given.len()) {
        true => is_verified(&wanted[..given.len()], given),
        false => Err(Refusal::Size),
    }
}

/// The rules of CSNBMGN2 and CSNBMVR2.
fn cmac_rules(rules: &Rules) -> Outcome<(bool, Segment)> {
    let mut rules = rules.parse();
    let is_aes = rules.required(&[("AES", true), ("TDES", false)])?;
    rules.one(&[("CMAC", ())])?;
    let segment = rules.one(SEGMENTS)?.unwrap_or(Segment::Only);
    rules.end()?;
    Ok((is_aes, segment))
}

/// The key of a CMAC: AES, or Triple DES.
fn cmac_key<A: AesUse, D: Use>(
    call: &Call<'_>,
    is_aes: bool,
    identifier: &[u8],
) -> Outcome<Zeroizing<Vec<u8>>> {
    let bytes = match is_aes {
        true => call.aes_key::<A>(identifier)?.bytes().to_vec(),
        false => call.des_key::<D>(identifier)?.bytes().to_vec(),
    };
    Ok(Zeroizing::new(bytes))
}

impl Verb for MacGenerate2 {
    type Reply = Mac2;

    fn run(&self, call: &Call<'_>) -> Outcome<Mac2> {
        let (is_aes, segment) = cmac_rules(&self.rule_array)?;
        call.needs(AccessPoint::MacGenerate)?;
        let key = cmac_key::<AesMakeMac, MakeMac>(call, is_aes, &self.key_identifier)?;
        let part = Part {
            segment,
            text: &self.message_text,
            chaining: &self.chaining_vector,
        };
        let (chaining_vector, code) = cmac(call, &key, is_aes, &part)?;
        Ok(Mac2 {
            chaining_vector,
            mac_text: code.unwrap_or_default().into(),
        })
    }
}

impl Verb for MacVerify2 {
    type Reply = MacVerified2;

    fn run(&self, call: &Call<'_>) -> Outcome<MacVerified2> {
        let (is_aes, segment) = cmac_rules(&self.rule_array)?;
        call.needs(AccessPoint::MacVerify)?;
        let key = cmac_key::<AesVerifyMac, VerifyMac>(call, is_aes, &self.key_identifier)?;
        let part = Part {
            segment,
            text: &self.message_text,
            chaining: &self.chaining_vector,
        };
        let (chaining_vector, code) = cmac(call, &key, is_aes, &part)?;
        if let Some(code) = code {
            is_whole_code(&code, &self.mac_text)?;
        }
        Ok(MacVerified2 { chaining_vector })
    }
}

const DIGESTS: &[(&str, (Digest, Algorithm))] = &[
    ("SHA-1", (Digest::Sha1, Algorithm::Sha1)),
    ("SHA-224", (Digest::Sha224, Algorithm::Sha224)),
    ("SHA-256", (Digest::Sha256, Algorithm::Sha256)),
    ("SHA-384", (Digest::Sha384, Algorithm::Sha384)),
    ("SHA-512", (Digest::Sha512, Algorithm::Sha512)),
];

/// The rules of CSNBHMG and CSNBHMV.
fn hmac_rules(rules: &Rules) -> Outcome<((Digest, Algorithm), Segment)> {
    let mut rules = rules.parse();
    rules.one(&[("HMAC", ())])?;
    let digest = rules.required(DIGESTS)?;
    let segment = rules.one(SEGMENTS)?.unwrap_or(Segment::Only);
    rules.end()?;
    Ok((digest, segment))
}

impl Verb for HmacGenerate {
    type Reply = Hmac;

    fn run(&self, call: &Call<'_>) -> Outcome<Hmac> {
        let (hash, segment) = hmac_rules(&self.rule_array)?;
        call.needs(AccessPoint::MacGenerate)?;
        let key = call.aes_key::<HmacMake>(&self.key_identifier)?;
        let part = Part {
            segment,
            text: &self.message_text,
            chaining: &self.chaining_vector,
        };
        let (chaining_vector, code) = hmac(call, key.bytes(), hash, &part)?;
        Ok(Hmac {
            chaining_vector,
            mac_text: code.unwrap_or_default().into(),
        })
    }
}

impl Verb for HmacVerify {
    type Reply = HmacVerified;

    fn run(&self, call: &Call<'_>) -> Outcome<HmacVerified> {
        let (hash, segment) = hmac_rules(&self.rule_array)?;
        call.needs(AccessPoint::MacVerify)?;
        let key = call.aes_key::<HmacVerifyUse>(&self.key_identifier)?;
        let part = Part {
            segment,
            text: &self.message_text,
            chaining: &self.chaining_vector,
        };
        let (chaining_vector, code) = hmac(call, key.bytes(), hash, &part)?;
        if let Some(code) = code {
            is_whole_code(&code, &self.mac_text)?;
        }
        Ok(HmacVerified { chaining_vector })
    }
}
