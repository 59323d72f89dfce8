//! DES control vectors: 64 bits for each half of a key that say what the key is and may do.
//!
//! Bits are numbered from the left, 0 to 63, as in the publication's appendix "Control vectors":
//! ```text
//! bits 8–14   type and subtype      bit 17    may be exported
//! bits 18–22  uses, by type         bit 30    always 1, bit 38 always 0: no half of a vector is the complement of another
//! bits 40–42  form: 000 single, 010 left half, 001 right half           bit 44   a part of a key
//! bits 56, 57 only the enhanced wrapping; no TR-31                      last bit of each byte: even parity
//! ```

use crate::answer::{Outcome, Refusal};
use crate::value::Keyword;

/// A half.
pub(crate) type Half = [u8; 8];

/// What a DES key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum KeyType {
    Data,
    DataC,
    DataM,
    DataMv,
    Cipher,
    Encipher,
    Decipher,
    Mac,
    MacVer,
    IpinEnc,
    OpinEnc,
    PinGen,
    PinVer,
    Exporter,
    Importer,
    IkeyXlat,
    OkeyXlat,
    KeyGenKy,
    DkyGenKy,
}

use KeyType::*;

/// Each type with its keyword, its second byte and its third as it is by default.
const TYPES: [(KeyType, &str, u8, u8); 19] = [
    (Data, "DATA", 0x00, 0x00),
    (DataC, "DATAC", 0x00, 0x71),
    (DataM, "DATAM", 0x00, 0x4d),
    (DataMv, "DATAMV", 0x00, 0x44),
    (Cipher, "CIPHER", 0x03, 0x71),
    (Encipher, "ENCIPHER", 0x03, 0x60),
    (Decipher, "DECIPHER", 0x03, 0x50),
    (Mac, "MAC", 0x05, 0x4d),
    (MacVer, "MACVER", 0x05, 0x44),
    (IpinEnc, "IPINENC", 0x21, 0x5f),
    (OpinEnc, "OPINENC", 0x24, 0x77),
    (PinGen, "PINGEN", 0x22, 0x7e),
    (PinVer, "PINVER", 0x22, 0x42),
    (Exporter, "EXPORTER", 0x41, 0x7d),
    (Importer, "IMPORTER", 0x42, 0x7d),
    (IkeyXlat, "IKEYXLAT", 0x42, 0x42),
    (OkeyXlat, "OKEYXLAT", 0x41, 0x42),
    (KeyGenKy, "KEYGENKY", 0x53, 0x50),
    (DkyGenKy, "DKYGENKY", 0x71, 0x44),
];

impl KeyType {
    pub(crate) fn of_keyword(keyword: Keyword) -> Outcome<Self> {
        let found = TYPES.iter().find(|(_, name, ..)| *name == keyword.text());
        found.map(|&(of, ..)| of).ok_or(Refusal::KeyType)
    }

    pub(crate) fn keyword(self) -> &'static str {
        self.row().1
    }

    fn row(self) -> &'static (KeyType, &'static str, u8, u8) {
        // INVARIANT: the table has the types in their order; a test compares.
        &TYPES[self as usize]
    }

    /// Whether a key of one part, 56 bits, may be of this type.
    pub(crate) fn may_be_single(self) -> bool {
        matches!(self, Data | Cipher | Encipher | Decipher | Mac | MacVer)
    }
}

/// How many parts of eight bytes a key has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    Single = 1,
    Double = 2,
    Triple = 3,
}

impl Length {
    pub(crate) fn bytes(self) -> usize {
        self as usize * 8
    }

    pub(crate) fn of_bytes(bytes: usize) -> Outcome<Self> {
        match bytes {
            8 => Ok(Self::Single),
            16 => Ok(Self::Double),
            24 => Ok(Self::Triple),
            _ => Err(Refusal::KeyLength),
        }
    }
}

/// A control vector that says something sensible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ControlVector {
    left: Half,
    right: Half,
    of: KeyType,
}

/// Bits of the third byte and on that have names.
pub(crate) mod bit {
    pub(crate) const EXPORT_OK: u32 = 17;
    pub(crate) const KEY_PART: u32 = 44;
    pub(crate) const ENH_ONLY: u32 = 56;
    pub(crate) const NO_TR31: u32 = 57;

    pub(crate) const ENCIPHER: u32 = 18;
    pub(crate) const DECIPHER: u32 = 19;
    pub(crate) const MAC_GENERATE: u32 = 20;
    pub(crate) const MAC_VERIFY: u32 = 21;

    pub(crate) const IPIN_VERIFY: u32 = 19;
    pub(crate) const IPIN_ALTERNATE: u32 = 20;
    pub(crate) const CPIN_ENCRYPT: u32 = 18;
    pub(crate) const OPIN_GENERATE: u32 = 19;
    pub(crate) const PIN_TRANSLATE: u32 = 21;
    pub(crate) const PIN_REFORMAT: u32 = 22;

    pub(crate) const CPIN_GENERATE: u32 = 18;
    pub(crate) const EPIN_GENERATE: u32 = 20;
    pub(crate) const CPIN_ALTERNATE: u32 = 21;
    pub(crate) const PIN_VERIFY: u32 = 22;

    /// OPIM of an importer, OPEX of an exporter.
    pub(crate) const PAIR_WITH_OPERATIONAL: u32 = 18;
    /// IMEX.
    pub(crate) const PAIR_IMPORT_EXPORT: u32 = 19;
    /// IMIM of an importer, EXEX of an exporter.
    pub(crate) const PAIR_OF_SAME: u32 = 20;
    /// IMPORT of an importer, EXPORT of an exporter.
    pub(crate) const TRANSPORT: u32 = 21;
    pub(crate) const XLATE: u32 = 22;

    pub(crate) const UKPT: u32 = 18;
}

/// What the first four bits of a MAC key restrict it to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MacUse {
    Any = 0,
    X99 = 1,
    CvvA = 2,
    CvvB = 3,
    AmexCsc = 4,
}

/// What the first four bits of a PIN-generating or PIN-verifying key restrict it to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PinUse {
    Any = 0,
    Ibm = 1,
    VisaPvv = 2,
    Interbank = 3,
    Gbp = 4,
}

/// What a key that derives keys (DKYGENKY) derives: bits 19 to 22.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Derives {
    Data = 1,
    Mac = 2,
    MacVer = 3,
    Pin = 9,
}

impl ControlVector {
    /// What a key of that type has if nobody asks for less or more.
    pub(crate) fn default_of(of: KeyType, length: Length) -> Outcome<Self> {
        if length == Length::Single && !of.may_be_single() {
            return Err(Refusal::KeyLength);
        }
        let (_, _, second, third) = *of.row();
        if of == Data {
            return Ok(Self {
                left: [0; 8],
                right: [0; 8],
                of,
            });
        }
        let left = [0, second, third, 0, 3, 0, 0, 0];
        Ok(Self {
            left,
            right: left,
            of,
        }
        .in_form(length))
    }

    /// Of the two halves in a token. The second half of a key of one part is zero.
    pub(crate) fn parse(left: &[u8], right: &[u8], length: Length) -> Outcome<Self> {
        let half = |bytes: &[u8]| Half::try_from(bytes).map_err(|_| Refusal::ControlVector);
        let (left, right) = (half(left)?, half(right)?);
        if left == [0; 8] && right == [0; 8] {
            return Ok(Self {
                left,
                right,
                of: Data,
            });
        }
        let of = type_of(&left).ok_or(Refusal::ControlVector)?;
        if length == Length::Single && !of.may_be_single() {
            return Err(Refusal::ControlVector);
        }
        let this = Self { left, right, of };
        // What is left has one form alone for each type and length; parities and anti-variant bits are in it.
        match this == this.in_form(length)
            && this.left[3] == 0
            && this.left[4] == 3
            && this.left[6] == 0
            && this.left[7] & 0x3e == 0
        {
            true => Ok(this),
            false => Err(Refusal::ControlVector),
        }
    }

    /// With form bits and parities for a key of that length. (A triple-length key has those of a double-length one.)
    fn in_form(mut self, length: Length) -> Self {
        if self.left == [0; 8] {
            return self;
        }
        let base = self.left[5] & 0x08;
        self.right = self.left;
        (self.left[5], self.right[5]) = match length {
            Length::Single => (base, base),
            _ => (base | 0x40, base | 0x20),
        };
        for half in [&mut self.left, &mut self.right] {
            half.iter_mut()
                .for_each(|byte| *byte = with_even_parity(*byte));
        }
        if length == Length::Single {
            self.right = [0; 8];
        }
        self
    }

    pub(crate) fn key_type(&self) -> KeyType {
        self.of
    }

    pub(crate) fn left(&self) -> &Half {
        &self.left
    }

    pub(crate) fn right(&self) -> &Half {
        &self.right
    }

    /// Both halves.
    pub(crate) fn bytes(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.left);
        bytes[8..].copy_from_slice(&self.right);
        bytes
    }

    /// Whether it is the zero of a DATA key.
    pub(crate) fn is_zero(&self) -> bool {
        self.left == [0; 8]
    }

    pub(crate) fn has(&self, bit: u32) -> bool {
        self.left[(bit / 8) as usize] & (0x80 >> (bit % 8)) != 0
    }

    /// With a bit set or cleared.
    pub(crate) fn with(mut self, bit: u32, is_set: bool, length: Length) -> Self {
        let mask = 0x80 >> (bit % 8);
        match is_set {
            true => self.left[(bit / 8) as usize] |= mask,
            false => self.left[(bit / 8) as usize] &= !mask,
        }
        self.of = type_of(&self.left).unwrap_or(self.of);
        self.in_form(length)
    }

    /// With the first four bits: what a MAC key or a PIN key is restricted to.
    pub(crate) fn restricted(mut self, first: u8, length: Length) -> Self {
        self.left[0] = first << 4;
        self.in_form(length)
    }

    /// With what a key that derives keys derives.
    pub(crate) fn deriving(mut self, what: Derives, length: Length) -> Self {
        self.left[2] = self.left[2] & 0xe1 | (what as u8) << 1;
        self.in_form(length)
    }

    /// What a key that derives keys derives.
    pub(crate) fn derives(&self) -> u8 {
        self.left[2] >> 1 & 0x0f
    }

    /// The first four bits.
    pub(crate) fn restriction(&self) -> u8 {
        self.left[0] >> 4
    }

    /// Whether a key may leave the card at all. A DATA key without a control vector may.
    pub(crate) fn is_exportable(&self) -> bool {
        self.is_zero() || self.has(bit::EXPORT_OK)
    }

    /// Whether it is a part of a key, which nothing can be done with.
    pub(crate) fn is_part(&self) -> bool {
        self.has(bit::KEY_PART)
    }
}

/// The type that a left half says, whatever its form.
fn type_of(left: &Half) -> Option<KeyType> {
    let has = |bit: u32| left[(bit / 8) as usize] & (0x80 >> (bit % 8)) != 0;
    let any = |bits: std::ops::RangeInclusive<u32>| bits.clone().any(has);
    let restriction = left[0] >> 4;
    let (of, restrictions) = match left[1] {
        0x00 if has(18) && has(19) && !any(20..=22) => (DataC, 0),
        0x00 if !any(18..=19) && has(20) && has(21) => (DataM, 0),
        0x00 if !any(18..=20) && has(21) => (DataMv, 0),
        0x03 if any(20..=22) => return None,
        0x03 => match (has(18), has(19)) {
            (true, true) => (Cipher, 0),
            (true, false) => (Encipher, 0),
            (false, true) => (Decipher, 0),
            (false, false) => return None,
        },
        0x05 if any(18..=19) || has(22) => return None,
        0x05 => match (has(20), has(21)) {
            (true, true) => (Mac, 4),
            (false, true) => (MacVer, 4),
            _ => return None,
        },
        0x21 if !has(18) && any(19..=22) => (IpinEnc, 0),
        0x24 if !has(20) && any(18..=22) => (OpinEnc, 0),
        0x22 if any(18..=21) => (PinGen, 4),
        0x22 if has(22) => (PinVer, 4),
        0x41 if any(18..=21) => (Exporter, 0),
        0x41 if has(22) => (OkeyXlat, 0),
        0x42 if any(18..=21) => (Importer, 0),
        0x42 if has(22) => (IkeyXlat, 0),
        0x53 if any(18..=19) && !any(20..=22) => (KeyGenKy, 0),
        0x71 => (DkyGenKy, 0),
        _ => return None,
    };
    (restriction <= restrictions && left[0] & 0x0e == 0 && !has(16)).then_some(of)
}

/// The last bit of a byte of a control vector makes the number of ones even.
fn with_even_parity(byte: u8) -> u8 {
    let bits = byte & 0xfe;
    bits | (bits.count_ones() % 2) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(of: KeyType) -> u64 {
        u64::from_be_bytes(
            *ControlVector::default_of(of, Length::Double)
                .unwrap()
                .left(),
        )
    }

    /// The publication's table "Default control vectors".
    #[test]
    fn default_vectors_are_the_published_ones() {
        for (of, wanted) in [
            (Data, 0),
            (DataM, 0x0000_4d00_0341_0000),
            (DataMv, 0x0000_4400_0341_0000),
            (Cipher, 0x0003_7100_0341_0000),
            (Encipher, 0x0003_6000_0341_0000),
            (Decipher, 0x0003_5000_0341_0000),
            (Mac, 0x0005_4d00_0341_0000),
            (MacVer, 0x0005_4400_0341_0000),
            (IpinEnc, 0x0021_5f00_0341_0000),
            (OpinEnc, 0x0024_7700_0341_0000),
            (PinGen, 0x0022_7e00_0341_0000),
            (PinVer, 0x0022_4200_0341_0000),
            (Exporter, 0x0041_7d00_0341_0000),
            (Importer, 0x0042_7d00_0341_0000),
            (IkeyXlat, 0x0042_4200_0341_0000),
            (OkeyXlat, 0x0041_4200_0341_0000_u64),
        ] {
            assert_eq!(left(of), wanted, "{of:?}");
        }
        let vector = ControlVector::default_of(Importer, Length::Double).unwrap();
        assert_eq!(u64::from_be_bytes(*vector.right()), 0x0042_7d00_0321_0000);
        let single = ControlVector::default_of(Mac, Length::Single).unwrap();
        assert_eq!(u64::from_be_bytes(*single.left()), 0x0005_4d00_0300_0000);
        assert_eq!(*single.right(), [0; 8]);
        assert!(ControlVector::default_of(PinGen, Length::Single).is_err());
    }

    #[test]
    fn a_default_vector_is_read_as_its_type() {
        for (place, (of, name, ..)) in TYPES.iter().enumerate() {
            assert_eq!(
                (*of as usize, KeyType::of_keyword(Keyword::new(name))),
                (place, Ok(*of))
            );
            let vector = ControlVector::default_of(*of, Length::Double).unwrap();
            assert_eq!(
                ControlVector::parse(vector.left(), vector.right(), Length::Double),
                Ok(vector)
            );
        }
    }

    /// Any single bit that changes makes another vector that is refused, or that says another thing: never the same.
    #[test]
    fn a_changed_bit_is_refused_or_seen() {
        for (of, ..) in TYPES {
            let vector = ControlVector::default_of(of, Length::Double).unwrap();
            for place in 0..128 {
                let mut bytes = vector.bytes();
                bytes[place / 8] ^= 0x80 >> (place % 8);
                let (left, right) = bytes.split_at(8);
                assert!(
                    ControlVector::parse(left, right, Length::Double).is_err(),
                    "{of:?} {place}"
                );
            }
        }
    }

    #[test]
    fn uses_are_bits() {
        let vector = ControlVector::default_of(IpinEnc, Length::Double).unwrap();
        assert!(vector.has(bit::PIN_TRANSLATE) && vector.is_exportable() && !vector.is_part());
        let less = vector.with(bit::PIN_TRANSLATE, false, Length::Double).with(
            bit::EXPORT_OK,
            false,
            Length::Double,
        );
        assert!(!less.has(bit::PIN_TRANSLATE) && !less.is_exportable());
        assert_eq!(
            ControlVector::parse(less.left(), less.right(), Length::Double),
            Ok(less)
        );
        let part = vector.with(bit::KEY_PART, true, Length::Double);
        assert_eq!(
            u64::from_be_bytes(*part.left()),
            0x0021_5f00_0348_0000,
            "published with KEY-PART"
        );
    }
}
