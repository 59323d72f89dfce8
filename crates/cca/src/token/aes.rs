//! AES and HMAC key tokens: 64 bytes for AES DATA keys (version 04), and of variable length (version 05) for all others.
//!
//! ```text
//! version 04                                  version 05
//!  0  01                                       0  01 internal, 02 external        38  bits of the key, or of what wraps it
//!  4  04                                       2  length                          41  02 AES, 03 HMAC
//!  6  80 a key is there                        4  05                              42  type
//!  8  verification pattern                     8  00 none, 02, 03 wrapped         44  fields of usage: their number, they
//! 16  wrapped key: 24, 32 or 40 bytes          9  02 pattern of a master key      …   fields of management: likewise
//! 56  bits of the key                         10  verification pattern            …   name (64 bytes), user's data
//! 58  bytes of the wrapped key                26  wrapping 02, hash 02            …   payload: the wrapped key
//! 60  token-validation value                  30  01: what is bound begins here
//! ```
//! The fields are the publication's. The wrapping under a master key is that of `card::master`. A key under a key-encrypting
//! key is wrapped as the publication describes AESKW (X9.102): it was not compared with a card's.

use outboard_engine::scalar::key_wrap::Padding;
use outboard_engine::scalar::randomise;
use std::marker::PhantomData;
use zeroize::Zeroizing;

use super::aeskw;
use super::des::{INTERNAL, set_tvv};
use crate::answer::{Outcome, Refusal};
use crate::card::master::{Kind, MasterKey, Masters, Pattern};

/// Where what is bound begins.
const BOUND: usize = 30;

/// Which algorithm a key is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Algorithm {
    Aes = 2,
    Hmac = 3,
}

/// What a key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    /// AES DATA, the only one of version 04.
    Data = 0,
    Cipher = 1,
    Mac = 2,
    Exporter = 3,
    Importer = 4,
    PinProt = 5,
    DkyGenKy = 9,
}

impl Type {
    pub(crate) const KEYWORDS: &[(&str, Self)] = &[
        ("CIPHER", Self::Cipher),
        ("MAC", Self::Mac),
        ("EXPORTER", Self::Exporter),
        ("IMPORTER", Self::Importer),
        ("PINPROT", Self::PinProt),
        ("DKYGENKY", Self::DkyGenKy),
    ];
}

/// Bits of the first field of usage.
pub(crate) mod bit {
    /// Encrypts, or makes MACs.
    pub(crate) const ENCRYPT: u16 = 0x8000;
    /// Decrypts, or verifies MACs.
    pub(crate) const DECRYPT: u16 = 0x4000;
    /// Base derivation key of AES DUKPT.
    pub(crate) const DUKPT: u16 = 0x0080;
    /// Wraps or unwraps keys in TR-31 blocks and tokens.
    pub(crate) const TRANSPORT: u16 = 0x4000;
    /// Bit of the first field of management: may be exported.
    pub(crate) const EXPORT_OK: u16 = 0x8000;
    /// Bit of the second field of management: a part of a key.
    pub(crate) const KEY_PART: u16 = 0x8000;
}

/// What a token says of its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) algorithm: Algorithm,
    pub(crate) of: Type,
    /// Usage: the first field. The second has the mode or the method.
    pub(crate) usage: u16,
    pub(crate) mode: u16,
    /// Management: the first two fields.
    pub(crate) management: [u16; 2],
    pub(crate) name: Vec<u8>,
    pub(crate) user_data: Vec<u8>,
    pub(crate) bits: u16,
}

impl Said {
    /// What a key of that type may do if nobody asks for less.
    pub(crate) fn new(algorithm: Algorithm, of: Type, bits: u16) -> Self {
        let usage = match of {
            Type::Data | Type::Cipher | Type::Mac => bit::ENCRYPT | bit::DECRYPT,
            Type::Exporter | Type::Importer => bit::TRANSPORT,
            // Only one direction: who asks chooses.
            Type::PinProt => bit::DECRYPT,
            Type::DkyGenKy => bit::DUKPT,
        };
        let mode = match (algorithm, of) {
            (_, Type::Mac) => 0x0100,
            _ => 0,
        };
        Self {
            algorithm,
            of,
            usage,
            mode,
            management: [bit::EXPORT_OK, 0],
            name: Vec::new(),
            user_data: Vec::new(),
            bits,
        }
    }

    pub(crate) fn is_exportable(&self) -> bool {
        self.management[0] & bit::EXPORT_OK != 0
    }

    pub(crate) fn is_part(&self) -> bool {
        self.management[1] & bit::KEY_PART != 0
    }

    pub(crate) fn allows(&self, bits: u16) -> bool {
        self.usage & bits == bits
    }

    /// Whether a key of so many bits can be of this kind.
    fn check(&self) -> Outcome<()> {
        let is_length = match self.algorithm {
            Algorithm::Aes => matches!(self.bits, 128 | 192 | 256),
            Algorithm::Hmac => (80..=2048).contains(&self.bits) && self.bits.is_multiple_of(8),
        };
        let is_type = match self.algorithm {
            Algorithm::Aes => true,
            Algorithm::Hmac => self.of == Type::Mac,
        };
        match (is_length, is_type) {
            (false, _) => Err(Refusal::KeyLength),
            (_, false) => Err(Refusal::KeyType),
            _ => Ok(()),
        }
    }

    /// As it is bound to the key, from byte 30 of a token on.
    fn bound(&self) -> Vec<u8> {
        let mut bound = vec![1, 0, 0, 0];
        bound.push(self.name.len() as u8);
        bound.push(0);
        bound.push(self.user_data.len() as u8);
        bound.push(0);
        bound.extend_from_slice(&self.bits.to_be_bytes());
        bound.push(0);
        bound.push(self.algorithm as u8);
        bound.extend_from_slice(&(self.of as u16).to_be_bytes());
        bound.push(2);
        bound.extend_from_slice(&self.usage.to_be_bytes());
        bound.extend_from_slice(&self.mode.to_be_bytes());
        bound.push(2);
        self.management
            .iter()
            .for_each(|field| bound.extend_from_slice(&field.to_be_bytes()));
        bound.extend_from_slice(&self.name);
        bound.extend_from_slice(&self.user_data);
        let length = (bound.len() as u16).to_be_bytes();
        bound[2..4].copy_from_slice(&length);
        bound
    }

    /// As [`Said::bound`] wrote it, and where it ends.
    fn read(token: &[u8]) -> Option<(Self, usize)> {
        let mut reader = Reader(token.get(BOUND..)?);
        let [1, 0] = *reader.take(2)? else {
            return None;
        };
        let length = reader.number()?;
        let [name, 0, user_data, 0] = *reader.take(4)? else {
            return None;
        };
        let bits = reader.number()?;
        let [0, algorithm] = *reader.take(2)? else {
            return None;
        };
        let of = reader.number()?;
        let [2] = *reader.take(1)? else { return None };
        let (usage, mode) = (reader.number()?, reader.number()?);
        let [2] = *reader.take(1)? else { return None };
        let management = [reader.number()?, reader.number()?];
        let this = Self {
            algorithm: match algorithm {
                2 => Algorithm::Aes,
                3 => Algorithm::Hmac,
                _ => return None,
            },
            of: Type::KEYWORDS
                .iter()
                .map(|(_, of)| *of)
                .find(|known| *known as u16 == of)?,
            usage,
            mode,
            management,
            name: reader.take(usize::from(name))?.to_vec(),
            user_data: reader.take(usize::from(user_data))?.to_vec(),
            bits,
        };
        this.check().ok()?;
        (usize::from(length) == this.bound().len()).then_some((this, BOUND + usize::from(length)))
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, left) = self.0.split_at_checked(length)?;
        self.0 = left;
        Some(taken)
    }

    fn number(&mut self) -> Option<u16> {
        self.take(2)
            .and_then(|bytes| Some(u16::from_be_bytes(bytes.try_into().ok()?)))
    }
}

/// What an AES or HMAC key is used for, as types. See `uses`.
pub(crate) trait AesUse {
    fn is_allowed(said: &Said) -> bool;
}

/// A key for one use.
pub(crate) struct AesKey<U> {
    bytes: Zeroizing<Vec<u8>>,
    of: PhantomData<U>,
}

impl<U> AesKey<U> {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

macro_rules! uses {
    ($($(#[doc = $doc:literal])+ $name:ident = |$said:ident| $allowed:expr;)*) => {$(
        $(#[doc = $doc])+
        pub(crate) enum $name {}

        impl AesUse for $name {
            fn is_allowed($said: &Said) -> bool {
                $allowed
            }
        }
    )*};
}

uses! {
    /// Encrypts data.
    AesEncrypt = |said| matches!(said.of, Type::Data | Type::Cipher) && said.allows(bit::ENCRYPT);
    /// Decrypts data.
    AesDecrypt = |said| matches!(said.of, Type::Data | Type::Cipher) && said.allows(bit::DECRYPT);
    /// Makes CMACs.
    AesMakeMac = |said| said.algorithm == Algorithm::Aes && said.of == Type::Mac && said.allows(bit::ENCRYPT);
    /// Verifies CMACs.
    AesVerifyMac = |said| said.algorithm == Algorithm::Aes && said.of == Type::Mac && said.allows(bit::DECRYPT);
    /// Makes HMACs.
    HmacMake = |said| said.algorithm == Algorithm::Hmac && said.allows(bit::ENCRYPT);
    /// Verifies HMACs.
    HmacVerify = |said| said.algorithm == Algorithm::Hmac && said.allows(bit::DECRYPT);
    /// Seals PIN blocks of format 4.
    AesSealPin = |said| said.of == Type::PinProt && said.allows(bit::ENCRYPT);
    /// Opens PIN blocks of format 4.
    AesOpenPin = |said| said.of == Type::PinProt && said.allows(bit::DECRYPT) && !said.allows(bit::ENCRYPT);
    /// Derives keys by AES DUKPT.
    AesDeriveUnique = |said| said.of == Type::DkyGenKy && said.allows(bit::DUKPT);
    /// Wraps keys that go out.
    AesExportKeys = |said| said.of == Type::Exporter && said.allows(bit::TRANSPORT);
    /// Unwraps keys that come in.
    AesImportKeys = |said| said.of == Type::Importer && said.allows(bit::TRANSPORT);
}

/// A clear key with what it may do.
pub(crate) struct VariableKey {
    pub(crate) said: Said,
    bytes: Zeroizing<Vec<u8>>,
}

impl VariableKey {
    pub(crate) fn new(said: Said, bytes: Zeroizing<Vec<u8>>) -> Outcome<Self> {
        said.check()?;
        match bytes.len() * 8 == usize::from(said.bits) {
            true => Ok(Self { said, bytes }),
            false => Err(Refusal::KeyLength),
        }
    }

    pub(crate) fn random(said: Said) -> Outcome<Self> {
        let mut bytes = Zeroizing::new(vec![0; usize::from(said.bits / 8)]);
        randomise(&mut bytes)?;
        Self::new(said, bytes)
    }

    /// The same key with other words: for the second form of a generated key.
    pub(crate) fn as_other(&self, said: Said) -> Outcome<Self> {
        Self::new(said, self.bytes.clone())
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn usable<U: AesUse>(self) -> Outcome<AesKey<U>> {
        match !self.said.is_part() && U::is_allowed(&self.said) {
            true => Ok(AesKey {
                bytes: self.bytes,
                of: PhantomData,
            }),
            false => Err(Refusal::ControlVector),
        }
    }

    /// Its token under a master key.
    pub(crate) fn token(&self, master: &MasterKey) -> Outcome<Vec<u8>> {
        if self.said.of == Type::Data {
            return self.data_token(master);
        }
        let mut bound = self.said.bound();
        let wrapped = master.wrap(&bound, &self.bytes, Padding::Zeros)?;
        let mut token = header(INTERNAL, 3, Some(master.pattern()));
        token.append(&mut bound);
        token.extend_from_slice(&wrapped);
        set_length(&mut token);
        Ok(token)
    }

    fn data_token(&self, master: &MasterKey) -> Outcome<Vec<u8>> {
        let wrapped = master.wrap(&data_said(self.said.bits), &self.bytes, Padding::None)?;
        let mut token = data_skeleton(self.said.bits);
        token[6] = 0xc0;
        token[8..16].copy_from_slice(&master.pattern());
        token[16..16 + wrapped.len()].copy_from_slice(&wrapped);
        token[58..60].copy_from_slice(&(wrapped.len() as u16).to_be_bytes());
        set_tvv(&mut token);
        Ok(token.to_vec())
    }

    /// The key of an internal token.
    pub(crate) fn open(masters: &Masters, token: &[u8]) -> Outcome<Self> {
        match Parsed::new(token)? {
            Parsed::Data {
                bits: Some(bits),
                pattern,
                wrapped,
            } => {
                let master = masters.of_pattern(Kind::Aes, &pattern)?;
                let bytes = master.unwrap(&data_said(bits), &wrapped, Padding::None)?;
                Self::new(Said::new(Algorithm::Aes, Type::Data, bits), bytes)
            }
            Parsed::Variable {
                said,
                state: State::Internal(pattern),
                payload,
            } => {
                let master = masters.of_pattern(Kind::Aes, &pattern)?;
                let bytes = master.unwrap(&said.bound(), &payload, Padding::Zeros)?;
                Self::new(said, bytes)
            }
            _ => Err(Refusal::TokenVersion),
        }
    }

    /// Its token under a key-encrypting key, which must be as strong.
    pub(crate) fn external_token(&self, kek: &AesKey<AesExportKeys>) -> Outcome<Vec<u8>> {
        self.token_under(kek.bytes())
    }

    /// The same, for the importable form of a generated key.
    pub(crate) fn importable_token(&self, kek: &AesKey<AesImportKeys>) -> Outcome<Vec<u8>> {
        self.token_under(kek.bytes())
    }

    fn token_under(&self, kek: &[u8]) -> Outcome<Vec<u8>> {
        if self.said.algorithm == Algorithm::Aes && kek.len() < self.bytes.len() {
            return Err(Refusal::WeakWrapping);
        }
        if self.said.of == Type::Data {
            // It has no token of variable length.
            return Err(Refusal::KeyType);
        }
        let mut bound = self.said.bound();
        let payload = aeskw::wrap(kek, &bound, &self.bytes)?;
        let mut token = header(super::des::EXTERNAL, 2, None);
        token.append(&mut bound);
        token.extend_from_slice(&payload);
        set_length(&mut token);
        Ok(token)
    }

    /// The key of an external token.
    pub(crate) fn open_external(kek: &AesKey<AesImportKeys>, token: &[u8]) -> Outcome<Self> {
        let Parsed::Variable {
            said,
            state: State::External,
            payload,
        } = Parsed::new(token)?
        else {
            return Err(Refusal::TokenVersion);
        };
        let bytes = aeskw::unwrap(
            kek.bytes(),
            &said.bound(),
            usize::from(said.bits / 8),
            &payload,
        )?;
        Self::new(said, bytes)
    }
}

fn data_said(bits: u16) -> Vec<u8> {
    [b"AES DATA".as_slice(), &bits.to_be_bytes()].concat()
}

/// A token of 64 bytes without a key.
pub(crate) fn data_skeleton(bits: u16) -> [u8; 64] {
    let mut token = [0; 64];
    (token[0], token[4], token[6]) = (INTERNAL, 4, 0x40);
    token[56..58].copy_from_slice(&bits.to_be_bytes());
    set_tvv(&mut token);
    token
}

/// A token of variable length without a key.
pub(crate) fn variable_skeleton(origin: u8, said: &Said) -> Vec<u8> {
    let mut token = header(origin, 0, None);
    token.append(&mut said.bound());
    set_length(&mut token);
    token
}

fn header(origin: u8, state: u8, pattern: Option<Pattern>) -> Vec<u8> {
    let mut header = vec![0; BOUND];
    (header[0], header[4], header[8]) = (origin, 5, state);
    if state != 0 {
        (header[26], header[27]) = (2, 2);
    }
    if let Some(pattern) = pattern {
        header[9] = 2;
        header[10..18].copy_from_slice(&pattern);
    }
    header
}

fn set_length(token: &mut [u8]) {
    let length = (token.len() as u16).to_be_bytes();
    token[2..4].copy_from_slice(&length);
}

/// How a key is there in a token of variable length.
pub(crate) enum State {
    None,
    External,
    Internal(Pattern),
}

/// What a token says, before its key is unwrapped. All of it may be wrong.
pub(crate) enum Parsed {
    Data {
        bits: Option<u16>,
        pattern: Pattern,
        wrapped: Vec<u8>,
    },
    Variable {
        said: Said,
        state: State,
        payload: Vec<u8>,
    },
}

impl Parsed {
    pub(crate) fn new(token: &[u8]) -> Outcome<Self> {
        match token.get(4) {
            Some(4) => Self::data(token),
            Some(5) if token.len() <= 64 * 1024 => {
                Self::variable(token).ok_or(Refusal::TokenVersion)
            }
            _ => Err(Refusal::TokenVersion),
        }
    }

    fn data(token: &[u8]) -> Outcome<Self> {
        let bytes: [u8; 64] = token
            .get(..64)
            .and_then(|token| token.try_into().ok())
            .ok_or(Refusal::Size)?;
        let mut checked = bytes;
        set_tvv(&mut checked);
        if checked != bytes {
            return Err(Refusal::InternalTvv);
        }
        if bytes[0] != INTERNAL {
            return Err(Refusal::TokenVersion);
        }
        let bits = u16::from_be_bytes([bytes[56], bytes[57]]);
        if !matches!(bits, 128 | 192 | 256) {
            return Err(Refusal::KeyLength);
        }
        let mut pattern = [0; 8];
        pattern.copy_from_slice(&bytes[8..16]);
        let has_key = bytes[6] & 0x80 != 0;
        Ok(Self::Data {
            bits: Some(bits).filter(|_| has_key),
            pattern,
            wrapped: bytes[16..16 + usize::from(bits / 8) + 8].to_vec(),
        })
    }

    fn variable(token: &[u8]) -> Option<Self> {
        let length = usize::from(u16::from_be_bytes(token.get(2..4)?.try_into().ok()?));
        let token = token.get(..length)?;
        let (said, end) = Said::read(token)?;
        let payload = token.get(end..)?.to_vec();
        let state = match (token[0], token[8]) {
            (1 | 2, 0) if payload.is_empty() => State::None,
            (2, 2) => State::External,
            (1, 3) if token[9] == 2 => State::Internal(token[10..18].try_into().ok()?),
            _ => return None,
        };
        Some(Self::Variable {
            said,
            state,
            payload,
        })
    }
}
