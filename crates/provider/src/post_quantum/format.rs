//! ML-KEM's and ML-DSA's keys in files (RFC 9935, RFC 9881): what is in a `SubjectPublicKeyInfo` and in a `PrivateKeyInfo`.
//!
//! A private key is written in one of three forms, and read in all: its seed, its expanded form, or both.
//!
//! ```text
//! seed [0] OCTET STRING   |   expandedKey OCTET STRING   |   both SEQUENCE { seed, expandedKey }
//! ```

use der::asn1::{AnyRef, BitStringRef, ObjectIdentifier, OctetStringRef};
use der::{Decode, Reader, SliceReader, Tag, TagNumber, Tagged};
use zeroize::Zeroizing;

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const OCTETS: u8 = 0x04;
const BITS: u8 = 0x03;
const OBJECT: u8 = 0x06;
/// The tag of the seed alone.
const SEED_TAG: u8 = 0x80;

/// The longest file that is read: ML-DSA-87's private key in both forms has some 5,000 bytes.
pub(super) const MOST: usize = 8 << 10;

/// The parts of a key that a file holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Parts<'a> {
    pub(super) public: Option<&'a [u8]>,
    pub(super) seed: Option<&'a [u8]>,
    pub(super) private: Option<&'a [u8]>,
}

/// The object identifier of a parameter set, 2.16.840.1.101.3.4.ARC.NUMBER (NIST's), as DER has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Object([u8; 9]);

impl Object {
    /// Both are below 128.
    pub(super) const fn new(arc: u8, number: u8) -> Self {
        Self([0x60, 0x86, 0x48, 1, 101, 3, 4, arc, number])
    }
}

/// Something with its tag and length.
fn tagged(tag: u8, parts: &[&[u8]]) -> Zeroizing<Vec<u8>> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    // All at once: a buffer that grows leaves copies behind.
    let mut out = Zeroizing::new(Vec::with_capacity(length + 4));
    out.push(tag);
    match length {
        0..0x80 => out.push(length as u8),
        0x80..0x100 => out.extend_from_slice(&[0x81, length as u8]),
        _ => out.extend_from_slice(&[0x82, (length >> 8) as u8, length as u8]),
    }
    parts.iter().for_each(|part| out.extend_from_slice(part));
    out
}

/// An `AlgorithmIdentifier`, without parameters.
pub(super) fn algorithm(object: Object) -> Zeroizing<Vec<u8>> {
    tagged(SEQUENCE, &[&tagged(OBJECT, &[&object.0])])
}

/// A `SubjectPublicKeyInfo`.
pub(super) fn public_info(object: Object, public: &[u8]) -> Vec<u8> {
    let bits = tagged(BITS, &[&[0], public]);
    tagged(SEQUENCE, &[&algorithm(object), &bits]).to_vec()
}

/// A `PrivateKeyInfo`: with the seed where it is known, and the expanded form beside it, as OpenSSL 3.5 writes it.
pub(super) fn private_info(
    object: Object,
    seed: Option<&[u8]>,
    private: &[u8],
) -> Zeroizing<Vec<u8>> {
    let expanded = tagged(OCTETS, &[private]);
    let choice = match seed {
        Some(seed) => tagged(SEQUENCE, &[&tagged(OCTETS, &[seed]), &expanded]),
        None => expanded,
    };
    let version = tagged(INTEGER, &[&[0]]);
    tagged(
        SEQUENCE,
        &[&version, &algorithm(object), &tagged(OCTETS, &[&choice])],
    )
}

/// Reads an `AlgorithmIdentifier`: whether it is the set's. There are no parameters (RFC 9935, 3; RFC 9881, 2).
fn is_of<'a>(object: Object, reader: &mut SliceReader<'a>) -> der::Result<bool> {
    let algorithm: AnyRef<'a> = reader.decode()?;
    algorithm.tag().assert_eq(Tag::Sequence)?;
    let mut inner = SliceReader::new(algorithm.value())?;
    let found: ObjectIdentifier = inner.decode()?;
    Ok(inner.is_finished() && found.as_bytes() == object.0)
}

/// What a `SubjectPublicKeyInfo` of that set holds; none where the bytes are something else.
pub(super) fn read_public(object: Object, bytes: &[u8]) -> Option<Parts<'_>> {
    let parts = || -> der::Result<Option<Parts<'_>>> {
        let mut reader = inside(bytes)?;
        if !is_of(object, &mut reader)? {
            return Ok(None);
        }
        let public: BitStringRef<'_> = reader.decode()?;
        Ok(public
            .as_bytes()
            .filter(|_| reader.is_finished())
            .map(|public| Parts {
                public: Some(public),
                ..Parts::default()
            }))
    };
    parts().ok().flatten()
}

/// What a `PrivateKeyInfo` of that set holds; none where the bytes are something else. Attributes and a public half, which may
/// follow the key, are passed over.
pub(super) fn read_private(object: Object, bytes: &[u8]) -> Option<Parts<'_>> {
    let parts = || -> der::Result<Option<Parts<'_>>> {
        let mut reader = inside(bytes)?;
        let version: u8 = reader.decode()?;
        if version > 1 || !is_of(object, &mut reader)? {
            return Ok(None);
        }
        let key: &OctetStringRef = reader.decode()?;
        for number in 0..2 {
            if reader
                .peek_byte()
                .is_some_and(|tag| tag & 0x9f == 0x80 | number)
            {
                AnyRef::decode(&mut reader)?;
            }
        }
        match reader.is_finished() {
            true => choice(key.as_bytes()),
            false => Ok(None),
        }
    };
    parts().ok().flatten()
}

/// One of the three forms.
fn choice(bytes: &[u8]) -> der::Result<Option<Parts<'_>>> {
    let outer = AnyRef::from_der(bytes)?;
    let is_seed = outer.tag()
        == Tag::ContextSpecific {
            constructed: false,
            number: TagNumber(0),
        };
    debug_assert!(!is_seed || bytes[0] == SEED_TAG);
    Ok(match outer.tag() {
        _ if is_seed => Some(Parts {
            seed: Some(outer.value()),
            ..Parts::default()
        }),
        Tag::OctetString => Some(Parts {
            private: Some(outer.value()),
            ..Parts::default()
        }),
        Tag::Sequence => {
            let mut inner = SliceReader::new(outer.value())?;
            let seed: &OctetStringRef = inner.decode()?;
            let private: &OctetStringRef = inner.decode()?;
            inner.is_finished().then(|| Parts {
                seed: Some(seed.as_bytes()),
                private: Some(private.as_bytes()),
                public: None,
            })
        }
        _ => None,
    })
}

/// The inside of a sequence that is all there is.
fn inside(bytes: &[u8]) -> der::Result<SliceReader<'_>> {
    let outer = AnyRef::from_der(bytes)?;
    outer.tag().assert_eq(Tag::Sequence)?;
    SliceReader::new(outer.value())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEED: usize = 64;
    const FIRST: Object = Object::new(4, 1);
    const SECOND: Object = Object::new(4, 2);

    #[test]
    fn each_form_is_read() {
        let (seed, private) = ([7; SEED], [9; 1632]);
        let both = private_info(FIRST, Some(&seed), &private);
        let parts = Parts {
            public: None,
            seed: Some(&seed),
            private: Some(&private),
        };
        assert_eq!(read_private(FIRST, &both), Some(parts));
        let expanded = private_info(FIRST, None, &private);
        let parts = Parts {
            private: Some(&private),
            ..Parts::default()
        };
        assert_eq!(read_private(FIRST, &expanded), Some(parts));
        let info = |choice: &[u8]| {
            let version = tagged(INTEGER, &[&[0]]);
            let octets = tagged(OCTETS, &[choice]);
            tagged(SEQUENCE, &[&version, &algorithm(SECOND), &octets])
        };
        let alone = info(&tagged(SEED_TAG, &[&seed]));
        let parts = read_private(SECOND, &alone);
        assert_eq!(parts.and_then(|parts| parts.seed), Some(&seed[..]));
        let another = info(&tagged(0x81, &[&seed]));
        assert_eq!(read_private(SECOND, &another), None);
    }

    #[test]
    fn another_set_and_damaged_bytes_are_none_of_ours() {
        let public = public_info(FIRST, &[5; 800]);
        assert!(read_public(FIRST, &public).is_some());
        assert_eq!(read_public(SECOND, &public), None);
        for length in 0..public.len() {
            assert_eq!(read_public(FIRST, &public[..length]), None);
        }
        let private = private_info(FIRST, Some(&[7; SEED]), &[9; 1632]);
        for length in 0..private.len() {
            assert_eq!(read_private(FIRST, &private[..length]), None);
        }
        for at in 0..40 {
            let mut changed = private.to_vec();
            changed[at] ^= 0x41;
            // Only that it ends is asked: a changed version is a version.
            let _ = read_private(FIRST, &changed);
        }
    }
}
