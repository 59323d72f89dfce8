//! DES tokens without a key, and what tokens say: built, and read.

use super::Verb;
use super::keys::{LENGTHS, is_of_type};
use crate::answer::{Outcome, Refusal};
use crate::card::Call;
use crate::request::*;
use crate::token::control_vector::{ControlVector, Derives, KeyType, Length, MacUse, bit};
use crate::token::des::{EXTERNAL, INTERNAL, Parsed, skeleton};
use crate::value::{Keyword, Parser, Rules};

/// The bits that a keyword sets, by the type of the key.
fn usage_bits(of: KeyType) -> &'static [(&'static str, u32)] {
    use KeyType::*;
    match of {
        IpinEnc => &[
            ("EPINVER", bit::IPIN_VERIFY),
            ("CPINGENA", bit::IPIN_ALTERNATE),
            ("TRANSLAT", bit::PIN_TRANSLATE),
            ("REFORMAT", bit::PIN_REFORMAT),
        ],
        OpinEnc => &[
            ("CPINENC", bit::CPIN_ENCRYPT),
            ("EPINGEN", bit::OPIN_GENERATE),
            ("TRANSLAT", bit::PIN_TRANSLATE),
            ("REFORMAT", bit::PIN_REFORMAT),
        ],
        PinGen => &[
            ("CPINGEN", bit::CPIN_GENERATE),
            ("EPINGENA", 19),
            ("EPINGEN", bit::EPIN_GENERATE),
            ("CPINGENA", bit::CPIN_ALTERNATE),
            ("EPINVER", bit::PIN_VERIFY),
        ],
        Exporter => &[
            ("OPEX", 18),
            ("IMEX", 19),
            ("EXEX", 20),
            ("EXPORT", 21),
            ("XLATE", 22),
        ],
        Importer => &[
            ("OPIM", 18),
            ("IMEX", 19),
            ("IMIM", 20),
            ("IMPORT", 21),
            ("XLATE", 22),
        ],
        KeyGenKy => &[("UKPT", bit::UKPT), ("CLR8-ENC", 19)],
        _ => &[],
    }
}

/// The control vector that a type and the keywords left in a rule array say.
fn vector_of(of: KeyType, length: Length, rules: &mut Parser<'_>) -> Outcome<ControlVector> {
    let mut vector = ControlVector::default_of(of, length)?;
    if of == KeyType::Data {
        return Ok(vector);
    }
    let bits = rules.all(usage_bits(of));
    if !bits.is_empty() {
        // The keywords say all that it may do. One is set before others are cleared, so that the type stays.
        for (_, bit) in usage_bits(of) {
            if bits.contains(bit) {
                vector = vector.with(*bit, true, length);
            }
        }
        for (_, bit) in usage_bits(of) {
            vector = vector.with(*bit, bits.contains(bit), length);
        }
    }
    if let Some(is_exportable) = rules.one(&[("XPORT-OK", true), ("NO-XPORT", false)])? {
        vector = vector.with(bit::EXPORT_OK, is_exportable, length);
    }
    if rules.has("KEY-PART")? {
        vector = vector.with(bit::KEY_PART, true, length);
    }
    if rules.has("ENH-ONLY")? {
        vector = vector.with(bit::ENH_ONLY, true, length);
    }
    if let Some(is_prohibited) = rules.one(&[("NOT31XPT", true), ("T31XPTOK", false)])? {
        vector = vector.with(bit::NO_TR31, is_prohibited, length);
    }
    let restriction = match of {
        KeyType::Mac | KeyType::MacVer => rules.one(&[
            ("ANY-MAC", MacUse::Any as u8),
            ("ANSIX9.9", MacUse::X99 as u8),
            ("CVVKEY-A", MacUse::CvvA as u8),
            ("CVVKEY-B", MacUse::CvvB as u8),
            ("AMEX-CSC", MacUse::AmexCsc as u8),
        ])?,
        KeyType::PinGen | KeyType::PinVer => rules.one(&[
            ("NO-SPEC", 0),
            ("IBM-PIN", 1),
            ("IBM-PINO", 1),
            ("VISA-PVV", 2),
            ("INBK-PIN", 3),
            ("GBP-PIN", 4),
        ])?,
        _ => None,
    };
    if let Some(restriction) = restriction {
        vector = vector.restricted(restriction, length);
    }
    if of == KeyType::DkyGenKy {
        // Keys of the last level alone: they derive what is used.
        rules.has("DKYL0")?;
        let derives = rules.one(&[
            ("DDATA", Derives::Data),
            ("DMAC", Derives::Mac),
            ("DMV", Derives::MacVer),
            ("DMPIN", Derives::Pin),
        ])?;
        if let Some(derives) = derives {
            vector = vector.deriving(derives, length);
        }
    }
    // What the keywords made must be what a token may say.
    let made = ControlVector::parse(vector.left(), vector.right(), length)?;
    match made.key_type() == of {
        true => Ok(made),
        false => Err(Refusal::KeywordCombination),
    }
}

/// The keyword of a length in a rule array.
fn length_in(rules: &mut Parser<'_>) -> Outcome<Option<Length>> {
    Ok(rules.one(&LENGTHS[1..])?.flatten())
}

fn default_length(of: KeyType) -> Length {
    match of.may_be_single() {
        true => Length::Single,
        false => Length::Double,
    }
}

impl Verb for ControlVectorGenerate {
    type Reply = MadeControlVector;

    fn run(&self, _: &Call<'_>) -> Outcome<MadeControlVector> {
        let of = KeyType::of_keyword(self.key_type)?;
        let mut rules = self.rule_array.parse();
        let length = length_in(&mut rules)?.unwrap_or(default_length(of));
        let vector = vector_of(of, length, &mut rules)?;
        rules.end()?;
        Ok(MadeControlVector {
            control_vector: vector.bytes().into(),
        })
    }
}

impl Verb for KeyTokenBuild {
    type Reply = BuiltToken;

    /// Builds skeletons: tokens without a key. A key in the clear, or one that another card wrapped, has no way in here.
    fn run(&self, _: &Call<'_>) -> Outcome<BuiltToken> {
        let mut rules = self.rule_array.parse();
        let origin = rules.required(&[("INTERNAL", INTERNAL), ("EXTERNAL", EXTERNAL)])?;
        if rules.has("AES")? {
            rules.has("NO-KEY")?;
            let bits = rules.required(&[("KEYLN16", 128), ("KEYLN24", 192), ("KEYLN32", 256)])?;
            rules.end()?;
            return match (self.key_type.text(), origin) {
                ("DATA", INTERNAL) => Ok(BuiltToken {
                    key_token: crate::token::aes::data_skeleton(bits).into(),
                }),
                _ => Err(Refusal::KeyType),
            };
        }
        rules.has("DES")?;
        rules.has("NO-KEY")?;
        let length = length_in(&mut rules)?;
        let (vector, length) = match rules.has("CV")? || self.key_type.text() == "USE-CV" {
            true => {
                let length = length.unwrap_or(match self.control_vector.get(8..16) {
                    Some(right) if *right != [0; 8] => Length::Double,
                    _ => Length::Single,
                });
                let (left, right) = self
                    .control_vector
                    .get(..16)
                    .ok_or(Refusal::Size)?
                    .split_at(8);
                let vector = ControlVector::parse(left, right, length)?;
                if self.key_type.text() != "USE-CV" {
                    is_of_type(self.key_type, &vector)?;
                }
                (vector, length)
            }
            false => {
                let of = KeyType::of_keyword(self.key_type)?;
                let length = length.unwrap_or(default_length(of));
                (vector_of(of, length, &mut rules)?, length)
            }
        };
        rules.end()?;
        Ok(BuiltToken {
            key_token: skeleton(origin, &vector, length).into(),
        })
    }
}

impl Verb for KeyTokenParse {
    type Reply = ParsedToken;

    fn run(&self, _: &Call<'_>) -> Outcome<ParsedToken> {
        let parsed = Parsed::new(&self.key_token)?;
        let vector = parsed.vector;
        let mut rules = vec![if parsed.origin == INTERNAL {
            "INTERNAL"
        } else {
            "EXTERNAL"
        }];
        rules.push(if parsed.has_key { "KEY" } else { "NO-KEY" });
        rules.push("CV");
        rules.push(match parsed.length {
            Length::Single => "SINGLE",
            Length::Double => "DOUBLE",
            Length::Triple => "TRIPLE",
        });
        rules.push(if vector.is_exportable() {
            "XPORT-OK"
        } else {
            "NO-XPORT"
        });
        if vector.is_part() {
            rules.push("KEY-PART");
        }
        let bits = usage_bits(vector.key_type()).iter();
        rules.extend(
            bits.filter(|(_, bit)| vector.has(*bit))
                .map(|(name, _)| *name),
        );
        Ok(ParsedToken {
            key_type: Keyword::new(vector.key_type().keyword()),
            rule_array: Rules::of(&rules),
            key_value: parsed.wrapped().into(),
            control_vector: vector.bytes().into(),
            master_key_verification_pattern: parsed.pattern.into(),
        })
    }
}
