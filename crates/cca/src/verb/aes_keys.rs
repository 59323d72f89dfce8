//! AES and HMAC keys: generated, imported in the clear, combined of parts, tested, re-enciphered.

use outboard_engine::scalar::aes::encrypt_block;
use outboard_engine::scalar::digest::{Digest, Hasher};
use outboard_engine::scalar::mac::{Mac, equal};
use zeroize::Zeroizing;

use super::Verb;
use super::keys::{REGISTERS, clear_data_key};
use crate::AccessPoint;
use crate::answer::{Outcome, Refusal};
use crate::card::Call;
use crate::card::master::{Kind, Register};
use crate::card::records::Store;
use crate::request::*;
use crate::token::aes::{
    AesExportKeys, AesImportKeys, AesKey, AesUse, Algorithm, Parsed, Said, State, Type,
    VariableKey, bit, variable_skeleton,
};
use crate::token::des::{EXTERNAL, INTERNAL};
use crate::value::{Bytes, Keyword, Parser};

impl Call<'_> {
    /// The AES or HMAC key that an identifier names.
    pub(crate) fn variable(&self, identifier: &[u8]) -> Outcome<VariableKey> {
        let token = self.token(Store::Aes, identifier)?;
        VariableKey::open(&self.state().masters, &token)
    }

    /// The AES or HMAC key that an identifier names, for a use that it allows.
    pub(crate) fn aes_key<U: AesUse>(&self, identifier: &[u8]) -> Outcome<AesKey<U>> {
        self.variable(identifier)?.usable()
    }

    /// The internal token of a key.
    pub(crate) fn seal_variable(&self, key: &VariableKey) -> Outcome<Vec<u8>> {
        key.token(self.state().masters.current(Kind::Aes)?)
    }
}

pub(super) const ALGORITHMS: &[(&str, Algorithm)] =
    &[("AES", Algorithm::Aes), ("HMAC", Algorithm::Hmac)];

impl Verb for KeyGenerate2 {
    type Reply = GeneratedKeys2;

    fn run(&self, call: &Call<'_>) -> Outcome<GeneratedKeys2> {
        let mut rules = self.rule_array.parse();
        let algorithm = rules.required(ALGORITHMS)?;
        let forms =
            ["OP", "IM", "EX", "OPOP", "OPIM", "OPEX", "IMEX", "EXEX"].map(|form| (form, form));
        let form = rules.required(&forms)?;
        rules.end()?;
        call.needs(match form.len() {
            2 => AccessPoint::KeyGenerateSingle,
            _ => AccessPoint::KeyGeneratePairs,
        })?;
        let bits = u16::try_from(self.clear_key_bit_length).map_err(|_| Refusal::KeyLength)?;
        let mut said = words_for(
            algorithm,
            self.key_type_1,
            &self.generated_key_identifier_1,
            bits,
        )?;
        if !self.key_name_1.is_empty() {
            said.name = name(&self.key_name_1)?;
        }
        let key = VariableKey::random(said)?;
        let (first, second) = form.split_at(2);
        let generated_key_identifier_2 = match second {
            "" => Bytes::default(),
            _ => {
                let bits = key.said.bits;
                let mut other = words_for(
                    algorithm,
                    self.key_type_2,
                    &self.generated_key_identifier_2,
                    bits,
                )?;
                if !self.key_name_2.is_empty() {
                    other.name = name(&self.key_name_2)?;
                }
                if !is_pair_allowed(&key.said, &other, form) {
                    return Err(Refusal::KeyType);
                }
                let other = key.as_other(other)?;
                in_form(call, &other, second, &self.key_encrypting_key_identifier_2)?
            }
        };
        Ok(GeneratedKeys2 {
            generated_key_identifier_1: in_form(
                call,
                &key,
                first,
                &self.key_encrypting_key_identifier_1,
            )?,
            generated_key_identifier_2,
        })
    }
}

fn in_form(call: &Call<'_>, key: &VariableKey, form: &str, kek: &Bytes) -> Outcome<Bytes> {
    Ok(match form {
        "OP" => call.seal_variable(key)?.into(),
        "IM" => key
            .importable_token(&call.aes_key::<AesImportKeys>(kek)?)?
            .into(),
        _ => key
            .external_token(&call.aes_key::<AesExportKeys>(kek)?)?
            .into(),
    })
}

/// Whether one key may be made with those two usages. Both ends of a PIN's way, or of a key's, are never in one card.
fn is_pair_allowed(one: &Said, other: &Said, form: &str) -> bool {
    let types = (one.of, other.of);
    match types {
        (Type::Cipher, Type::Cipher) | (Type::Mac, Type::Mac) | (Type::Data, Type::Data) => true,
        (Type::DkyGenKy, Type::DkyGenKy) => true,
        (Type::PinProt, Type::PinProt)
        | (Type::Exporter, Type::Importer)
        | (Type::Importer, Type::Exporter) => form.contains("EX"),
        _ => false,
    }
}

/// What is said of a new key: by a type's keyword, or by a skeleton (`TOKEN`).
fn words_for(algorithm: Algorithm, keyword: Keyword, target: &[u8], bits: u16) -> Outcome<Said> {
    match keyword.text() {
        "AESDATA" if algorithm == Algorithm::Aes => Ok(Said::new(algorithm, Type::Data, bits)),
        "TOKEN" => match Parsed::new(target)? {
            Parsed::Variable {
                mut said,
                state: State::None,
                ..
            } if said.algorithm == algorithm && !said.is_part() => {
                if bits != 0 {
                    said.bits = bits;
                }
                Ok(said)
            }
            Parsed::Data { bits: None, .. } if algorithm == Algorithm::Aes => {
                Ok(Said::new(algorithm, Type::Data, bits))
            }
            _ => Err(Refusal::TokenVersion),
        },
        text => {
            let of = Type::KEYWORDS.iter().find(|(name, _)| *name == text);
            let &(_, of) = of.ok_or(Refusal::KeyType)?;
            Ok(Said::new(algorithm, of, bits))
        }
    }
}

fn name(name: &[u8]) -> Outcome<Vec<u8>> {
    Ok(crate::value::Label::parse(name)?.padded().to_vec())
}

/// The usage that the keywords in a rule array say, beside what the type has.
fn usage(said: &mut Said, rules: &mut Parser<'_>) -> Outcome<()> {
    let bits = rules.all(&[
        ("ENCRYPT", bit::ENCRYPT),
        ("DECRYPT", bit::DECRYPT),
        ("GENERATE", bit::ENCRYPT | bit::DECRYPT),
        ("GENONLY", bit::ENCRYPT),
        ("VERIFY", bit::DECRYPT),
    ]);
    if !bits.is_empty() {
        if matches!(said.of, Type::Exporter | Type::Importer | Type::DkyGenKy) {
            return Err(Refusal::KeywordCombination);
        }
        said.usage = bits.into_iter().fold(0, |usage, bit| usage | bit);
    }
    if said.of == Type::PinProt && said.allows(bit::ENCRYPT | bit::DECRYPT) {
        // A key that does both would translate in both directions.
        return Err(Refusal::KeywordCombination);
    }
    // How a key is used is asked at each use: the mode is noted.
    if let Some(mode) = rules.one(&[
        ("CBC", 0),
        ("ECB", 0x0100),
        ("ANY-MODE", 0xff00),
        ("CMAC", 0x0100),
    ])? {
        said.mode = mode;
    }
    rules.all(&[
        ("SHA-1", ()),
        ("SHA-224", ()),
        ("SHA-256", ()),
        ("SHA-384", ()),
        ("SHA-512", ()),
        ("DUKPT", ()),
        ("ISO-4", ()),
    ]);
    if let Some(is_exportable) = rules.one(&[("XPRT-SYM", true), ("NOEX-SYM", false)])? {
        match is_exportable {
            true => said.management[0] |= bit::EXPORT_OK,
            false => said.management[0] &= !bit::EXPORT_OK,
        }
    }
    if rules.has("KEY-PART")? {
        said.management[1] |= bit::KEY_PART;
    }
    Ok(())
}

impl Verb for KeyTokenBuild2 {
    type Reply = BuiltToken2;

    /// Builds skeletons: tokens without a key.
    fn run(&self, _: &Call<'_>) -> Outcome<BuiltToken2> {
        let mut rules = self.rule_array.parse();
        let origin = rules.required(&[("INTERNAL", INTERNAL), ("EXTERNAL", EXTERNAL)])?;
        let algorithm = rules.required(ALGORITHMS)?;
        let of = rules.required(Type::KEYWORDS)?;
        rules.has("NO-KEY")?;
        let bits = u16::try_from(self.clear_key_bit_length).map_err(|_| Refusal::KeyLength)?;
        let mut said = Said::new(algorithm, of, if bits == 0 { 256 } else { bits });
        usage(&mut said, &mut rules)?;
        rules.end()?;
        if !self.key_name.is_empty() {
            said.name = name(&self.key_name)?;
        }
        if self.user_associated_data.len() > 255 {
            return Err(Refusal::Size);
        }
        said.user_data = self.user_associated_data.to_vec();
        Ok(BuiltToken2 {
            target_key_token: variable_skeleton(origin, &said).into(),
        })
    }
}

impl Verb for KeyPartImport2 {
    type Reply = CombinedKey2;

    fn run(&self, call: &Call<'_>) -> Outcome<CombinedKey2> {
        #[derive(Clone, Copy, PartialEq, Eq)]
        enum Part {
            First,
            Add,
            Complete,
        }
        let mut rules = self.rule_array.parse();
        let algorithm = rules.required(ALGORITHMS)?;
        let part = rules.required(&[
            ("FIRST", Part::First),
            ("ADD-PART", Part::Add),
            ("COMPLETE", Part::Complete),
        ])?;
        rules.one(&[("MIN3PART", ()), ("MIN2PART", ()), ("MIN1PART", ())])?;
        rules.end()?;
        call.needs(match part {
            Part::First => AccessPoint::KeyPartImportFirst,
            _ => AccessPoint::KeyPartImportNext,
        })?;
        let token = call.token(Store::Aes, &self.key_identifier)?;
        let (mut said, mut sum) = match part {
            Part::First => match Parsed::new(&token)? {
                Parsed::Variable {
                    said,
                    state: State::None,
                    ..
                } => {
                    let sum = vec![0; self.clear_key_part.len()];
                    (said, Zeroizing::new(sum))
                }
                _ => return Err(Refusal::TokenVersion),
            },
            _ => {
                let key = VariableKey::open(&call.state().masters, &token)?;
                (key.said.clone(), Zeroizing::new(key.bytes().to_vec()))
            }
        };
        // The first part makes a part of a key of each skeleton.
        if part == Part::First {
            said.management[1] |= bit::KEY_PART;
        }
        if said.algorithm != algorithm || !said.is_part() {
            return Err(Refusal::ControlVector);
        }
        if part != Part::Complete {
            if self.clear_key_part.len() != sum.len() {
                return Err(Refusal::KeyLength);
            }
            crate::algorithm::des::xor(&mut sum, &self.clear_key_part);
            said.bits = u16::try_from(8 * sum.len()).map_err(|_| Refusal::KeyLength)?;
        } else {
            said.management[1] &= !bit::KEY_PART;
        }
        let key = VariableKey::new(said, sum)?;
        Ok(CombinedKey2 {
            key_identifier: call.seal_variable(&key)?.into(),
        })
    }
}

impl Verb for MultipleClearKeyImport {
    type Reply = ClearKeys;

    fn run(&self, call: &Call<'_>) -> Outcome<ClearKeys> {
        let mut rules = self.rule_array.parse();
        let is_aes = rules
            .one(&[("DES", false), ("AES", true)])?
            .unwrap_or(false);
        rules.end()?;
        call.needs(AccessPoint::ClearKeyImport)?;
        let target_key_identifier = match is_aes {
            false => call.seal_des(&clear_data_key(&self.clear_key)?)?.into(),
            true => {
                let bits =
                    u16::try_from(8 * self.clear_key.len()).map_err(|_| Refusal::KeyLength)?;
                let said = Said::new(Algorithm::Aes, Type::Data, bits);
                let key = VariableKey::new(said, Zeroizing::new(self.clear_key.to_vec()))?;
                call.seal_variable(&key)?.into()
            }
        };
        Ok(ClearKeys {
            target_key_identifier,
        })
    }
}

/// A token under another register's master key.
pub(super) fn changed(call: &Call<'_>, identifier: &[u8], register: Register) -> Outcome<Bytes> {
    let token = call.token(Store::Aes, identifier)?;
    let changed = {
        let masters = &call.state().masters;
        let key = VariableKey::open(masters, &token)?;
        key.token(&masters.in_register(Kind::Aes, register)?)?
    };
    call.keep_changed((Store::Aes, identifier), register, (&token, &changed))?;
    Ok(changed.into())
}

impl Verb for KeyTokenChange2 {
    type Reply = ChangedToken2;

    fn run(&self, call: &Call<'_>) -> Outcome<ChangedToken2> {
        let mut rules = self.rule_array.parse();
        let register = rules.required(REGISTERS)?;
        rules.one(ALGORITHMS)?;
        rules.end()?;
        call.needs(AccessPoint::TokenChange)?;
        Ok(ChangedToken2 {
            key_identifier: changed(call, &self.key_identifier, register)?,
        })
    }
}

impl Verb for KeyTest2 {
    type Reply = KeyPattern2;

    fn run(&self, call: &Call<'_>) -> Outcome<KeyPattern2> {
        #[derive(Clone, Copy)]
        enum Method {
            Sha256,
            EncZero,
            CmacZero,
        }
        let mut rules = self.rule_array.parse();
        let kind = rules.required(&[
            ("DES", None),
            ("AES", Some(Algorithm::Aes)),
            ("HMAC", Some(Algorithm::Hmac)),
        ])?;
        let generates = rules.required(&[("GENERATE", true), ("VERIFY", false)])?;
        let methods = [
            ("SHA-256", Method::Sha256),
            ("ENC-ZERO", Method::EncZero),
            ("CMACZERO", Method::CmacZero),
        ];
        let method = rules.one(&methods)?;
        rules.one(&[("TOKEN", ())])?;
        rules.end()?;
        call.needs(AccessPoint::KeyTest)?;
        let pattern = match kind {
            None => {
                let key = call.des(&self.key_identifier)?;
                let block = crate::algorithm::des::encrypted(key.bytes(), &[0; 8])
                    .ok_or(Refusal::KeyLength)?;
                block[..4].to_vec()
            }
            Some(algorithm) => {
                let key = call.variable(&self.key_identifier)?;
                if key.said.algorithm != algorithm {
                    return Err(Refusal::KeyType);
                }
                match (method.unwrap_or(Method::Sha256), algorithm) {
                    (Method::EncZero, Algorithm::Aes) => {
                        encrypt_block(key.bytes(), &[0; 16])?[..4].to_vec()
                    }
                    (Method::CmacZero, Algorithm::Aes) => {
                        let mut mac = Mac::cmac(key.bytes())?;
                        mac.update(&[0; 16])?;
                        mac.finish()?[..5].to_vec()
                    }
                    (Method::Sha256, _) => {
                        let mut hasher = Hasher::new(Digest::Sha256)?;
                        hasher.update(key.bytes())?;
                        hasher.end()?[..8].to_vec()
                    }
                    _ => return Err(Refusal::KeywordCombination),
                }
            }
        };
        match generates {
            true => Ok(KeyPattern2 {
                verification_pattern: pattern.into(),
            }),
            false
                if self
                    .verification_pattern
                    .get(..pattern.len())
                    .is_some_and(|given| equal(given, &pattern)) =>
            {
                Ok(KeyPattern2 {
                    verification_pattern: self.verification_pattern.clone(),
                })
            }
            false => Err(Refusal::TestFailed),
        }
    }
}
