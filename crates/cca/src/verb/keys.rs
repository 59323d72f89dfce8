//! DES keys: generated, imported, exported, translated, combined of parts, tested, re-enciphered.

use outboard_engine::scalar::mac::{Mac, equal};
use zeroize::Zeroizing;

use super::Verb;
use crate::AccessPoint;
use crate::algorithm::des;
use crate::answer::{Outcome, Refusal};
use crate::card::Call;
use crate::card::master::{Kind, Register};
use crate::card::records::Store;
use crate::request::*;
use crate::token::aes::{Algorithm, Said, Type, VariableKey};
use crate::token::control_vector::{ControlVector, KeyType, Length, bit};
use crate::token::des::{INTERNAL, InternalKey, Parsed, TOKEN, vector_for};
use crate::token::external;
use crate::token::uses::*;
use crate::value::{Bytes, Identifier, Keyword};

impl Call<'_> {
    /// The token that an identifier names: itself, or that of a record.
    pub(crate) fn token(&self, store: Store, identifier: &[u8]) -> Outcome<Zeroizing<Vec<u8>>> {
        match Identifier::parse(identifier)? {
            Identifier::Token(token) => Ok(Zeroizing::new(token.to_vec())),
            Identifier::Label(label) => self.labelled(store, &label),
        }
    }

    /// The DES key that an identifier names.
    pub(crate) fn des(&self, identifier: &[u8]) -> Outcome<InternalKey> {
        let token = self.token(Store::Des, identifier)?;
        Ok(InternalKey::open(&self.state().masters, &token)?.0)
    }

    /// The DES key that an identifier names, for a use that it allows.
    pub(crate) fn des_key<U: Use>(&self, identifier: &[u8]) -> Outcome<Key<U>> {
        self.des(identifier)?.usable()
    }

    /// The internal token of a key.
    pub(crate) fn seal_des(&self, key: &InternalKey) -> Outcome<[u8; TOKEN]> {
        key.token(self.state().masters.current(Kind::Symmetric)?)
    }
}

pub(super) const LENGTHS: &[(&str, Option<Length>)] = &[
    ("", None),
    ("SINGLE", Some(Length::Single)),
    ("KEYLN8", Some(Length::Single)),
    ("DOUBLE", Some(Length::Double)),
    ("KEYLN16", Some(Length::Double)),
    ("DOUBLE-O", Some(Length::Double)),
    ("TRIPLE", Some(Length::Triple)),
    ("KEYLN24", Some(Length::Triple)),
];

/// How a form of a generated key leaves the verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Operational,
    Importable,
    Exportable,
}

use Form::*;

/// Whether one key may be made in those forms with those types: the publication's tables of key types and forms.
fn is_pair_allowed(one: KeyType, other: KeyType, forms: (Form, Form)) -> bool {
    use KeyType::*;
    let leaves = forms.0 == Exportable || forms.1 == Exportable;
    let is_either = |a, b| (one, other) == (a, b) || (one, other) == (b, a);
    if one == other {
        return matches!(
            one,
            Data | DataC | DataM | Cipher | Mac | KeyGenKy | DkyGenKy
        );
    }
    if is_either(Mac, MacVer) || is_either(DataM, DataMv) || is_either(Encipher, Decipher) {
        return true;
    }
    if is_either(Cipher, Encipher) || is_either(Cipher, Decipher) {
        return true;
    }
    // Both halves of these in one card would undo what each of them alone prevents. (An importable one is in it by CSNBKIM.)
    leaves
        && (is_either(PinGen, PinVer)
            || is_either(OpinEnc, IpinEnc)
            || is_either(Exporter, Importer)
            || is_either(Exporter, IkeyXlat)
            || is_either(Importer, OkeyXlat)
            || is_either(OkeyXlat, IkeyXlat))
}

impl Verb for KeyGenerate {
    type Reply = GeneratedKeys;

    fn run(&self, call: &Call<'_>) -> Outcome<GeneratedKeys> {
        if matches!(self.key_type_1.text(), "AESTOKEN" | "AESDATA") {
            return self.aes(call);
        }
        let (first, second) = match self.key_form.text() {
            "OP" => (Operational, None),
            "IM" => (Importable, None),
            "EX" => (Exportable, None),
            "OPOP" => (Operational, Some(Operational)),
            "OPIM" => (Operational, Some(Importable)),
            "OPEX" => (Operational, Some(Exportable)),
            "IMIM" => (Importable, Some(Importable)),
            "IMEX" => (Importable, Some(Exportable)),
            "EXEX" => (Exportable, Some(Exportable)),
            _ => return Err(Refusal::KeyForm),
        };
        let asked = LENGTHS
            .iter()
            .find(|(name, _)| *name == self.key_length.text());
        let &(_, asked) = asked.ok_or(Refusal::KeyLength)?;
        call.needs(match second {
            None => AccessPoint::KeyGenerateSingle,
            Some(_) => AccessPoint::KeyGeneratePairs,
        })?;
        let (vector, length) =
            vector_for(self.key_type_1, &self.generated_key_identifier_1, asked)?;
        use KeyType::*;
        let other = match second {
            None => {
                let of = vector.key_type();
                if !matches!(
                    of,
                    Data | DataC | DataM | Cipher | Mac | PinGen | KeyGenKy | DkyGenKy
                ) {
                    return Err(Refusal::KeyType);
                }
                None
            }
            Some(form) => {
                let (other, _) = vector_for(
                    self.key_type_2,
                    &self.generated_key_identifier_2,
                    Some(length),
                )?;
                if !is_pair_allowed(vector.key_type(), other.key_type(), (first, form)) {
                    return Err(Refusal::KeyType);
                }
                Some((other, form))
            }
        };
        let key = InternalKey::random(vector, length)?;
        let keks = [&self.kek_key_identifier_1, &self.kek_key_identifier_2];
        let pair = (first, second);
        Ok(GeneratedKeys {
            generated_key_identifier_1: form(call, &key, (first, keks[0]), pair)?,
            generated_key_identifier_2: match other {
                Some((vector, of)) => form(call, &key.as_other(vector)?, (of, keks[1]), pair)?,
                None => Bytes::default(),
            },
        })
    }
}

impl KeyGenerate {
    /// An AES DATA key, which has but one form here. A skeleton may say its length.
    fn aes(&self, call: &Call<'_>) -> Outcome<GeneratedKeys> {
        call.needs(AccessPoint::KeyGenerateSingle)?;
        if self.key_form.text() != "OP" {
            return Err(Refusal::KeyForm);
        }
        let bits = match self.key_length.text() {
            "KEYLN16" => 128,
            "KEYLN24" => 192,
            "KEYLN32" => 256,
            "" => {
                let token = self.generated_key_identifier_1.get(..64);
                let bits = token
                    .filter(|token| token[4] == 4)
                    .map(|token| &token[56..58]);
                bits.map_or(0, |bits| u16::from_be_bytes([bits[0], bits[1]]))
            }
            _ => 0,
        };
        let key = VariableKey::random(Said::new(Algorithm::Aes, Type::Data, bits))?;
        Ok(GeneratedKeys {
            generated_key_identifier_1: call.seal_variable(&key)?.into(),
            generated_key_identifier_2: Bytes::default(),
        })
    }
}

/// A key in the form that is asked for, under the key-encrypting key of its side.
fn form(
    call: &Call<'_>,
    key: &InternalKey,
    (form, kek): (Form, &Bytes),
    pair: (Form, Option<Form>),
) -> Outcome<Bytes> {
    fn sealed<U: Use>(call: &Call<'_>, key: &InternalKey, kek: &Bytes) -> Outcome<Bytes> {
        Ok(external::seal(call, &call.des_key::<U>(kek)?, key)?.into())
    }
    match (form, pair) {
        (Operational, _) => Ok(call.seal_des(key)?.into()),
        (Importable, (_, None)) => sealed::<ImportKeys>(call, key, kek),
        (Exportable, (_, None)) => sealed::<ExportKeys>(call, key, kek),
        (Importable, (Operational, _)) => sealed::<GenerateOpim>(call, key, kek),
        (Exportable, (Operational, _)) => sealed::<GenerateOpex>(call, key, kek),
        (Importable, (_, Some(Exportable))) => sealed::<GenerateImexIm>(call, key, kek),
        (Exportable, (Importable, _)) => sealed::<GenerateImexEx>(call, key, kek),
        (Importable, _) => sealed::<GenerateImim>(call, key, kek),
        (Exportable, _) => sealed::<GenerateExex>(call, key, kek),
    }
}

/// Refuses a key whose type is not the one that the caller names.
pub(super) fn is_of_type(keyword: Keyword, vector: &ControlVector) -> Outcome<()> {
    match keyword.text() {
        "TOKEN" | "" => Ok(()),
        _ if KeyType::of_keyword(keyword)? == vector.key_type() => Ok(()),
        _ => Err(Refusal::ControlVector),
    }
}

impl Verb for KeyImport {
    type Reply = ImportedKey;

    fn run(&self, call: &Call<'_>) -> Outcome<ImportedKey> {
        call.needs(AccessPoint::KeyImport)?;
        let kek = call.des_key::<ImportKeys>(&self.importer_key_identifier)?;
        let key = external::open(call, &kek, &call.token(Store::Des, &self.source_key_token)?)?;
        is_of_type(self.key_type, &key.vector)?;
        Ok(ImportedKey {
            target_key_identifier: call.seal_des(&key)?.into(),
        })
    }
}

impl Verb for KeyExport {
    type Reply = ExportedKey;

    fn run(&self, call: &Call<'_>) -> Outcome<ExportedKey> {
        call.needs(AccessPoint::KeyExport)?;
        let key = call.des(&self.source_key_identifier)?;
        is_of_type(self.key_type, &key.vector)?;
        if !key.vector.is_exportable() || key.vector.is_part() {
            return Err(Refusal::NotExportable);
        }
        let kek = call.des_key::<ExportKeys>(&self.exporter_key_identifier)?;
        Ok(ExportedKey {
            target_key_token: external::seal(call, &kek, &key)?.into(),
        })
    }
}

impl Verb for KeyTranslate {
    type Reply = TranslatedKey;

    fn run(&self, call: &Call<'_>) -> Outcome<TranslatedKey> {
        call.needs(AccessPoint::KeyTranslate)?;
        let from = call.des_key::<TranslateIn>(&self.input_kek_key_identifier)?;
        let to = call.des_key::<TranslateOut>(&self.output_kek_key_identifier)?;
        let key = external::open(call, &from, &call.token(Store::Des, &self.input_key_token)?)?;
        if !key.vector.is_exportable() {
            return Err(Refusal::NotExportable);
        }
        Ok(TranslatedKey {
            output_key_token: external::seal(call, &to, &key)?.into(),
        })
    }
}

impl Verb for KeyPartImport {
    type Reply = CombinedKey;

    /// The key is the sum (XOR) of its parts. After the last one, each byte gets an odd parity.
    fn run(&self, call: &Call<'_>) -> Outcome<CombinedKey> {
        #[derive(Clone, Copy, PartialEq, Eq)]
        enum Part {
            First,
            Add,
            Last,
            Complete,
        }
        let mut rules = self.rule_array.parse();
        let parts = [
            ("FIRST", Part::First),
            ("ADD-PART", Part::Add),
            ("MIDDLE", Part::Add),
            ("LAST", Part::Last),
            ("COMPLETE", Part::Complete),
        ];
        let part = rules.required(&parts)?;
        rules.end()?;
        call.needs(match part {
            Part::First => AccessPoint::KeyPartImportFirst,
            _ => AccessPoint::KeyPartImportNext,
        })?;
        let token = call.token(Store::Des, &self.key_identifier)?;
        let (vector, mut sum) = match part {
            Part::First => {
                let parsed = Parsed::new(&token)?;
                if parsed.has_key || parsed.origin != INTERNAL {
                    return Err(Refusal::TokenVersion);
                }
                (
                    parsed.vector,
                    Zeroizing::new(vec![0; parsed.length.bytes()]),
                )
            }
            _ => {
                let key = InternalKey::open(&call.state().masters, &token)?.0;
                (key.vector, Zeroizing::new(key.bytes().to_vec()))
            }
        };
        if !vector.is_part() {
            return Err(Refusal::ControlVector);
        }
        if part != Part::Complete {
            let bytes = self.key_part.get(..sum.len()).ok_or(Refusal::Size)?;
            des::xor(&mut sum, bytes);
        }
        let length = Length::of_bytes(sum.len())?;
        let vector = match part {
            Part::Last | Part::Complete => {
                outboard_engine::scalar::des3::set_odd_parity(&mut sum);
                vector.with(bit::KEY_PART, false, length)
            }
            _ => vector,
        };
        let key = InternalKey::new(vector, sum)?;
        Ok(CombinedKey {
            key_identifier: call.seal_des(&key)?.into(),
        })
    }
}

impl Verb for ClearKeyImport {
    type Reply = ClearKey;

    fn run(&self, call: &Call<'_>) -> Outcome<ClearKey> {
        call.needs(AccessPoint::ClearKeyImport)?;
        if self.clear_key.len() != 8 {
            return Err(Refusal::KeyLength);
        }
        let key = clear_data_key(&self.clear_key)?;
        Ok(ClearKey {
            target_key_identifier: call.seal_des(&key)?.into(),
        })
    }
}

/// A DATA key of bytes that the caller knows. Their parity is set.
pub(super) fn clear_data_key(clear: &[u8]) -> Outcome<InternalKey> {
    let mut bytes = Zeroizing::new(clear.to_vec());
    outboard_engine::scalar::des3::set_odd_parity(&mut bytes);
    let length = Length::of_bytes(bytes.len())?;
    InternalKey::new(ControlVector::default_of(KeyType::Data, length)?, bytes)
}

impl Verb for ProhibitExport {
    type Reply = Prohibited;

    fn run(&self, call: &Call<'_>) -> Outcome<Prohibited> {
        call.needs(AccessPoint::ProhibitExport)?;
        let key = call.des(&self.key_identifier)?;
        if key.vector.is_zero() || key.vector.is_part() {
            return Err(Refusal::ControlVector);
        }
        let vector = key.vector.with(bit::EXPORT_OK, false, key.length());
        Ok(Prohibited {
            key_identifier: call.seal_des(&key.as_other(vector)?)?.into(),
        })
    }
}

/// How a pattern that tells a key from others is made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Method {
    /// Zeros encrypted: four bytes.
    EncZero,
    /// The CMAC of nothing but a block of zeros: five bytes.
    CmacZero,
}

/// The pattern of a DES key, as long as the method says.
fn pattern(key: &InternalKey, method: Method) -> Outcome<Vec<u8>> {
    match method {
        Method::EncZero => {
            let block = des::encrypted(key.bytes(), &[0; 8]).ok_or(Refusal::KeyLength)?;
            Ok(block[..4].to_vec())
        }
        Method::CmacZero => {
            let mut mac = Mac::cmac_des3(key.bytes())?;
            mac.update(&[0; 8])?;
            Ok(mac.finish()?[..5].to_vec())
        }
    }
}

impl Verb for KeyTest {
    type Reply = KeyPattern;

    fn run(&self, call: &Call<'_>) -> Outcome<KeyPattern> {
        let mut rules = self.rule_array.parse();
        rules.required(&[("KEY-ENC", ()), ("KEY-ENCD", ()), ("TOKEN", ())])?;
        let generates = rules.required(&[("GENERATE", true), ("VERIFY", false)])?;
        let method = rules.required(&[
            ("ENC-ZERO", Method::EncZero),
            ("CMACZERO", Method::CmacZero),
        ])?;
        rules.end()?;
        call.needs(AccessPoint::KeyTest)?;
        let pattern = pattern(&call.des(&self.key_identifier)?, method)?;
        if generates {
            let mut verification_pattern = pattern;
            verification_pattern.resize(8, 0);
            return Ok(KeyPattern {
                random_number: [0; 8].into(),
                verification_pattern: verification_pattern.into(),
            });
        }
        match self.verification_pattern.get(..pattern.len()) {
            Some(given) if equal(given, &pattern) => Ok(KeyPattern {
                random_number: self.random_number.clone(),
                verification_pattern: self.verification_pattern.clone(),
            }),
            _ => Err(Refusal::TestFailed),
        }
    }
}

/// Which register a token is re-enciphered to.
pub(super) const REGISTERS: &[(&str, Register)] =
    &[("RTCMK", Register::Current), ("RTNMK", Register::New)];

impl Verb for KeyTokenChange {
    type Reply = ChangedToken;

    fn run(&self, call: &Call<'_>) -> Outcome<ChangedToken> {
        let mut rules = self.rule_array.parse();
        let register = rules.required(REGISTERS)?;
        let kind = rules
            .one(&[("DES", Kind::Symmetric), ("AES", Kind::Aes)])?
            .unwrap_or(Kind::Symmetric);
        rules.end()?;
        call.needs(AccessPoint::TokenChange)?;
        if kind == Kind::Aes {
            return Ok(ChangedToken {
                key_identifier: super::aes_keys::changed(call, &self.key_identifier, register)?,
            });
        }
        let token = call.token(Store::Des, &self.key_identifier)?;
        let changed = {
            let masters = &call.state().masters;
            let key = InternalKey::open(masters, &token)?.0;
            key.token(&masters.in_register(Kind::Symmetric, register)?)?
        };
        let place = (Store::Des, &self.key_identifier[..]);
        call.keep_changed(place, register, (&token, &changed))?;
        Ok(ChangedToken {
            key_identifier: changed.into(),
        })
    }
}
