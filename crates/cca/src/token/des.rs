//! DES key tokens of 64 bytes under the master key.
//!
//! ```text
//!  0     01 internal, 02 external               32  control vector, left half
//!  4     version: 01 for a DATA key of two or   40  control vector, right half
//!        three parts without control vector     48  wrapped key, third part
//!  6     80 a key is there, 40 control vector   59  10 two parts, 20 three parts
//!  7     wrapping                               60  token-validation value: the sum of the words before it
//!  8     master-key verification pattern
//! 16     wrapped key, first and second part
//! ```
//! The fields are the publication's. The wrapping of internal tokens is not the original one, which lets halves of keys be
//! exchanged: it is that of `card::master`, and needs eight bytes more than the key. They are in the third part's place, or
//! for a key of three parts in bytes 1 to 3, 5 and 60 to 63, so that such a token has no token-validation value.

use outboard_engine::scalar::des3::{has_odd_parity, set_odd_parity};
use outboard_engine::scalar::key_wrap::Padding;
use outboard_engine::scalar::mac::equal;
use outboard_engine::scalar::randomise;
use zeroize::Zeroizing;

use super::control_vector::{ControlVector, KeyType, Length};
use super::uses::{Key, Use};
use crate::answer::{Outcome, Refusal};
use crate::card::master::{Kind, MasterKey, Masters, Pattern};

/// Bytes of a token.
pub(crate) const TOKEN: usize = 64;
/// Byte 7 of our own internal tokens: a method that the publication does not give a meaning.
const OUR_WRAPPING: u8 = 0xe0;

pub(crate) const INTERNAL: u8 = 1;
pub(crate) const EXTERNAL: u8 = 2;

/// A clear key with what it may do.
pub(crate) struct InternalKey {
    pub(crate) vector: ControlVector,
    bytes: Zeroizing<Vec<u8>>,
}

impl InternalKey {
    /// Of bytes that came from outside: their parities must be odd, and no two parts equal.
    pub(crate) fn new(vector: ControlVector, bytes: Zeroizing<Vec<u8>>) -> Outcome<Self> {
        let length = Length::of_bytes(bytes.len())?;
        if !vector.is_part() {
            if !has_odd_parity(&bytes) {
                return Err(Refusal::ControlVector);
            }
            if has_equal_parts(&bytes) {
                return Err(Refusal::WeakKey);
            }
        }
        // That the form fits the length is asked here again.
        ControlVector::parse(vector.left(), vector.right(), length)?;
        Ok(Self { vector, bytes })
    }

    /// A new key.
    pub(crate) fn random(vector: ControlVector, length: Length) -> Outcome<Self> {
        let mut bytes = Zeroizing::new(vec![0; length.bytes()]);
        loop {
            randomise(&mut bytes)?;
            set_odd_parity(&mut bytes);
            if !has_equal_parts(&bytes) {
                return Self::new(vector, bytes);
            }
        }
    }

    /// The same key with another control vector: for the second form of a generated key.
    pub(crate) fn as_other(&self, vector: ControlVector) -> Outcome<Self> {
        Self::new(vector, self.bytes.clone())
    }

    pub(crate) fn length(&self) -> Length {
        // INVARIANT: `new` has asked.
        Length::of_bytes(self.bytes.len()).unwrap_or(Length::Triple)
    }

    /// The key, for a use that its control vector allows.
    pub(crate) fn usable<U: Use>(self) -> Outcome<Key<U>> {
        match !self.vector.is_part() && U::is_allowed(&self.vector) {
            true => Ok(Key::new(self.bytes)),
            false => Err(Refusal::ControlVector),
        }
    }

    /// The key's own bytes, to wrap it for a transport that the caller has checked.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Its token under a master key.
    pub(crate) fn token(&self, master: &MasterKey) -> Outcome<[u8; TOKEN]> {
        let length = self.length();
        let mut token = skeleton(INTERNAL, &self.vector, length);
        token[6] = 0xc0;
        token[7] = OUR_WRAPPING;
        token[8..16].copy_from_slice(&master.pattern());
        let mut message = Zeroizing::new(self.bytes.to_vec());
        // Key wrap takes two halves of blocks at least.
        message.resize(self.bytes.len().max(16), 0);
        let wrapped = master.wrap(&said(&self.vector, length), &message, Padding::None)?;
        for (place, byte) in places(length).zip(&wrapped) {
            token[place] = *byte;
        }
        if length != Length::Triple {
            set_tvv(&mut token);
        }
        Ok(token)
    }

    /// The key of an internal token, and the master key that wraps it.
    pub(crate) fn open(masters: &Masters, token: &[u8]) -> Outcome<(Self, Pattern)> {
        let parsed = Parsed::new(token)?;
        if parsed.origin != INTERNAL || !parsed.has_key {
            return Err(Refusal::TokenVersion);
        }
        if parsed.wrapping != OUR_WRAPPING {
            return Err(Refusal::TokenVersion);
        }
        let master = masters.of_pattern(Kind::Symmetric, &parsed.pattern)?;
        let wrapped: Vec<u8> = places(parsed.length)
            .map(|place| parsed.bytes[place])
            .collect();
        let mut bytes = master.unwrap(
            &said(&parsed.vector, parsed.length),
            &wrapped,
            Padding::None,
        )?;
        bytes.truncate(parsed.length.bytes());
        Ok((
            Self {
                vector: parsed.vector,
                bytes,
            },
            master.pattern(),
        ))
    }
}

/// What a token says, before its key is unwrapped. All of it may be wrong.
pub(crate) struct Parsed {
    pub(crate) origin: u8,
    pub(crate) has_key: bool,
    pub(crate) wrapping: u8,
    pub(crate) pattern: Pattern,
    pub(crate) vector: ControlVector,
    pub(crate) length: Length,
    bytes: [u8; TOKEN],
}

impl Parsed {
    pub(crate) fn new(token: &[u8]) -> Outcome<Self> {
        let bytes: [u8; TOKEN] = token
            .get(..TOKEN)
            .and_then(|token| token.try_into().ok())
            .ok_or(Refusal::Size)?;
        let origin = bytes[0];
        if !matches!(origin, INTERNAL | EXTERNAL) || bytes[4] > 1 {
            return Err(Refusal::TokenVersion);
        }
        let length = match bytes[59] & 0x30 {
            // Tokens of others leave it out.
            0x00 if bytes[40..48] != [0; 8] => Length::Double,
            0x00 => Length::Single,
            0x10 => Length::Double,
            0x20 => Length::Triple,
            _ => return Err(Refusal::TokenVersion),
        };
        let has_key = bytes[6] & 0x80 != 0;
        let is_ours = origin == INTERNAL && bytes[7] == OUR_WRAPPING;
        if !(is_ours && has_key && length == Length::Triple) && bytes[60..] != tvv(&bytes) {
            return Err(match origin {
                INTERNAL => Refusal::InternalTvv,
                _ => Refusal::ExternalTvv,
            });
        }
        let vector = ControlVector::parse(&bytes[32..40], &bytes[40..48], length)?;
        let mut pattern = [0; 8];
        pattern.copy_from_slice(&bytes[8..16]);
        Ok(Self {
            origin,
            has_key,
            wrapping: bytes[7],
            pattern,
            vector,
            length,
            bytes,
        })
    }

    /// The wrapped parts of an external key.
    pub(crate) fn wrapped(&self) -> Vec<u8> {
        let mut wrapped = self.bytes[16..32].to_vec();
        wrapped.extend_from_slice(&self.bytes[48..56]);
        wrapped.truncate(self.length.bytes());
        wrapped
    }

    pub(crate) fn has_wrapping(&self, method: u8) -> bool {
        self.wrapping & 0xe0 == method
    }
}

/// A token without a key.
pub(crate) fn skeleton(origin: u8, vector: &ControlVector, length: Length) -> [u8; TOKEN] {
    let mut token = [0; TOKEN];
    token[0] = origin;
    token[4] = u8::from(vector.is_zero() && length != Length::Single);
    token[6] = 0x40;
    token[32..40].copy_from_slice(vector.left());
    token[40..48].copy_from_slice(vector.right());
    token[59] = (length as u8 - 1) << 4;
    set_tvv(&mut token);
    token
}

pub(crate) fn set_tvv(token: &mut [u8; TOKEN]) {
    let sum = tvv(token);
    token[60..].copy_from_slice(&sum);
}

/// The sum of the first 15 words, without what does not fit.
fn tvv(token: &[u8; TOKEN]) -> [u8; 4] {
    let words = token[..60]
        .as_chunks::<4>()
        .0
        .iter()
        .map(|word| u32::from_be_bytes(*word));
    words.fold(0, u32::wrapping_add).to_be_bytes()
}

/// Where the wrapped bytes of a key of that length are.
fn places(length: Length) -> impl Iterator<Item = usize> {
    let spare = match length {
        Length::Triple => [1, 2, 3, 5, 60, 61, 62, 63].as_slice(),
        _ => &[],
    };
    (16..32).chain(48..56).chain(spare.iter().copied())
}

/// What the wrapping binds to the key.
fn said(vector: &ControlVector, length: Length) -> Vec<u8> {
    [b"DES".as_slice(), &[length as u8], &vector.bytes()].concat()
}

/// Whether a part is there twice: the key is then not as strong as it is long.
fn has_equal_parts(key: &[u8]) -> bool {
    let parts: Vec<_> = key.chunks(8).collect();
    // The first and the third of a key of three parts may be equal: it is one of two.
    parts
        .windows(2)
        .fold(false, |found, pair| found | equal(pair[0], pair[1]))
}

/// The control vector for a new token: the type's own, or that of a skeleton which the caller gives as the target.
pub(crate) fn vector_for(
    keyword: crate::value::Keyword,
    target: &[u8],
    length: Option<Length>,
) -> Outcome<(ControlVector, Length)> {
    let is_skeleton = target.first().is_some_and(|first| *first != 0);
    if !is_skeleton {
        let of = KeyType::of_keyword(keyword)?;
        let length = length.unwrap_or(match of.may_be_single() {
            true => Length::Single,
            false => Length::Double,
        });
        return Ok((ControlVector::default_of(of, length)?, length));
    }
    let parsed = Parsed::new(target)?;
    if parsed.vector.is_part() {
        return Err(Refusal::ControlVector);
    }
    if keyword.text() != "TOKEN" && KeyType::of_keyword(keyword)? != parsed.vector.key_type() {
        return Err(Refusal::ControlVector);
    }
    match length.is_none_or(|length| length == parsed.length) {
        true => Ok((parsed.vector, parsed.length)),
        false => Err(Refusal::KeyLength),
    }
}
