//! The answer to `List`: keys, by name, as many as fit a packet.
//!
//! ```text
//!  0            8      10                   2
//!  ┌────────────┬──────┬────────────────────┬──────┬──────────────────────────┬ ─ ─
//!  │ generation │length│ reference (DER)    │length│ certificates (DER)       │ …
//!  └────────────┴──────┴────────────────────┴──────┴──────────────────────────┴ ─ ─
//! ```

use der::{Decode as _, Header, Reader as _, SliceReader, Tag};

use crate::bytes::Reader;
use crate::reference::Reference;
use crate::{MOST_MESSAGE, Malformed};

/// The most bytes of a page; the rest of a packet is the answer's head.
const MOST_PAGE: usize = MOST_MESSAGE - 64;

/// Keys that follow each other by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// What is known of the keys is true as long as this stays the same.
    pub generation: u64,
    /// The keys: none after the last one, and none for who knows this generation already.
    pub keys: Vec<Listed>,
}

/// A key in a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The key.
    pub reference: Reference,
    /// Its certificate, and those that issued it, each in DER, one after the other; may be empty.
    pub certificates: Vec<u8>,
}

impl Page {
    /// The beginning of a page without a key.
    pub fn begin(generation: u64) -> Vec<u8> {
        generation.to_le_bytes().to_vec()
    }

    /// Adds a key to a page, where there is room; a page without a key takes any that a page can hold.
    pub fn add(page: &mut Vec<u8>, reference: &[u8], certificates: &[u8]) -> bool {
        let lengths = [reference, certificates].map(|part| u16::try_from(part.len()));
        let [Ok(first), Ok(second)] = lengths else {
            return false;
        };
        if page.len() + 4 + reference.len() + certificates.len() > MOST_PAGE {
            return false;
        }
        for (length, part) in [(first, reference), (second, certificates)] {
            page.extend_from_slice(&length.to_le_bytes());
            page.extend_from_slice(part);
        }
        true
    }

    /// Reads a page.
    ///
    /// # Errors
    /// The bytes are none.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader(bytes);
        let generation = u64::from_le_bytes(reader.array()?);
        let mut keys = Vec::new();
        while !reader.0.is_empty() {
            let mut part = || {
                let length = reader.u16()?;
                reader.take(length.into())
            };
            let (reference, certificates) = (part()?, part()?);
            let reference = Reference::from_der(reference).map_err(|_| Malformed::Name)?;
            let certificates = certificates.to_vec();
            keys.push(Listed {
                reference,
                certificates,
            });
        }
        Ok(Self { generation, keys })
    }
}

/// The certificates of a key, which follow each other in DER, one by one.
///
/// # Errors
/// The bytes are no sequences in DER.
pub fn certificates(chain: &[u8]) -> Result<Vec<&[u8]>, Malformed> {
    let mut certificates = Vec::new();
    let mut rest = chain;
    while !rest.is_empty() {
        let mut reader = SliceReader::new(rest).map_err(|_| Malformed::Long)?;
        let header = Header::decode(&mut reader).map_err(|_| Malformed::Short)?;
        let length = reader.position() + header.length();
        let length = length
            .and_then(usize::try_from)
            .map_err(|_| Malformed::Long)?;
        let (certificate, after) = rest.split_at_checked(length).ok_or(Malformed::Short)?;
        if header.tag() != Tag::Sequence {
            return Err(Malformed::Code(certificate[0]));
        }
        certificates.push(certificate);
        rest = after;
    }
    Ok(certificates)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KeyId;
    use proptest::prelude::*;

    fn reference(name: &str) -> Reference {
        Reference {
            id: KeyId([7; 16]),
            name: name.to_owned(),
            public: vec![0x30, 2, 5, 0],
        }
    }

    #[test]
    fn a_page_is_read_as_it_is_written_until_it_is_full() {
        let mut page = Page::begin(5);
        let certificates = vec![9; 10_000];
        let mut added = 0;
        while Page::add(
            &mut page,
            &reference("site").to_der().expect("it is one"),
            &certificates,
        ) {
            added += 1;
        }
        assert!(added == 6 && page.len() <= MOST_PAGE, "{added}");
        let read = Page::decode(&page).expect("it is one");
        assert_eq!((read.generation, read.keys.len()), (5, 6));
        assert_eq!(read.keys[5].reference, reference("site"));
        assert_eq!(read.keys[5].certificates, certificates);
        assert!(!Page::add(&mut Page::begin(1), &[], &vec![0; 1 << 16]));
    }

    #[test]
    fn certificates_are_told_apart() {
        let (one, other) = ([0x30, 2, 5, 0], [0x30, 0x81, 1, 7]);
        assert_eq!(certificates(&[]), Ok(vec![]));
        assert!(certificates(&other).is_err(), "no DER");
        let both = [&one[..], &[0x30, 0]].concat();
        assert_eq!(certificates(&both), Ok(vec![&one[..], &[0x30, 0]]));
        for wrong in [&both[..5], &[0x30, 3, 5, 0], &[4, 1, 0]] {
            assert!(certificates(wrong).is_err(), "{wrong:?}");
        }
    }

    proptest! {
        #[test]
        fn whatever_comes_is_a_page_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = (Page::decode(&bytes), certificates(&bytes));
        }
    }
}
