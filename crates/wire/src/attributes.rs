//! The attributes of a token's object: what the PKCS #11 module and `outboard token` write and read, and the service keeps.
//!
//! ```text
//!  0           8       12
//!  ┌───────────┬───────┬────────────────────────┬─── and so on, the types ascending
//!  │ type      │length │ value                  │
//!  └───────────┴───────┴────────────────────────┴───
//! ```
//!
//! Integers are little-endian. Each type occurs once, so the same attributes are always the same bytes. The types and values are
//! those of PKCS #11.

use std::collections::BTreeMap;

use crate::Malformed;
use crate::bytes::Reader;

/// Attributes that have been read: the form of all of them is right.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Attributes<'a>(&'a [u8]);

impl<'a> Attributes<'a> {
    /// Reads attributes.
    ///
    /// # Errors
    /// If an attribute ends too early, or its type is not greater than the one before.
    pub fn read(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader(bytes);
        let mut last = None;
        while !reader.0.is_empty() {
            let (of, _) = attribute(&mut reader)?;
            if last.is_some_and(|last| of <= last) {
                return Err(Malformed::Order);
            }
            last = Some(of);
        }
        Ok(Self(bytes))
    }

    /// The types with their values, in the order of the types.
    pub fn iter(self) -> impl Iterator<Item = (u64, &'a [u8])> {
        let mut reader = Reader(self.0);
        std::iter::from_fn(move || attribute(&mut reader).ok())
    }

    /// The value of a type.
    pub fn find(self, of: u64) -> Option<&'a [u8]> {
        self.iter()
            .find_map(|(other, value)| (other == of).then_some(value))
    }
}

/// Tells none of the values: some are secret.
impl std::fmt::Debug for Attributes<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_list()
            .entries(self.iter().map(|(of, _)| of))
            .finish()
    }
}

/// The bytes of attributes. They are allocated once: if a value is secret, the caller zeroizes these bytes, and there is no other copy.
///
/// # Panics
/// If a value has 4 GiB or more.
pub fn write(attributes: &BTreeMap<u64, impl AsRef<[u8]>>) -> Vec<u8> {
    let length = |value: &[u8]| u32::try_from(value.len()).expect("a value has less than 4 GiB");
    let values = attributes.values().map(|value| value.as_ref().len());
    let mut bytes = Vec::with_capacity(values.map(|value| HEAD + value).sum());
    for (of, value) in attributes {
        let value = value.as_ref();
        bytes.extend_from_slice(&of.to_le_bytes());
        bytes.extend_from_slice(&length(value).to_le_bytes());
        bytes.extend_from_slice(value);
    }
    bytes
}

/// The bytes of attributes of which some are changed, or added. They are allocated once, as [`write`] does.
pub fn changed(before: Attributes<'_>, changes: Attributes<'_>) -> Vec<u8> {
    let all: BTreeMap<u64, &[u8]> = before.iter().chain(changes.iter()).collect();
    write(&all)
}

/// The bytes of a type and a length.
const HEAD: usize = 12;

fn attribute<'a>(reader: &mut Reader<'a>) -> Result<(u64, &'a [u8]), Malformed> {
    let of = u64::from_le_bytes(reader.array()?);
    let length = reader.u32()?;
    let value = reader.take(usize::try_from(length).map_err(|_| Malformed::Short)?)?;
    Ok((of, value))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn attributes_are_read_as_they_are_written(
            attributes in proptest::collection::btree_map(any::<u64>(), proptest::collection::vec(any::<u8>(), 0..40), 0..20),
        ) {
            let bytes = write(&attributes);
            prop_assert_eq!(bytes.capacity(), bytes.len());
            let read = Attributes::read(&bytes).unwrap();
            let again: BTreeMap<_, _> = read.iter().map(|(of, value)| (of, value.to_vec())).collect();
            prop_assert_eq!(&again, &attributes);
            for (of, value) in &attributes {
                prop_assert_eq!(read.find(*of), Some(&value[..]));
            }
        }

        #[test]
        fn what_is_read_is_written_the_same(
            attributes in proptest::collection::vec((0..9_u64, 0..6_u32, any::<u32>()), 0..4),
        ) {
            // Lengths that are right by chance, and types in any order.
            let attributes = attributes.iter().flat_map(|(of, length, value)| {
                [&of.to_le_bytes()[..], &length.to_le_bytes(), &value.to_le_bytes()].concat()
            });
            let bytes: Vec<u8> = attributes.collect();
            if let Ok(read) = Attributes::read(&bytes) {
                let read: BTreeMap<_, _> = read.iter().collect();
                prop_assert_eq!(write(&read), bytes);
            }
        }
    }

    #[test]
    fn a_type_occurs_once_and_in_order() {
        let attribute = |of: u64| write(&BTreeMap::from([(of, "value")]));
        let read = |types: [u64; 2]| {
            let bytes = types.map(attribute).concat();
            Attributes::read(&bytes).map(|read| read.iter().count())
        };
        assert_eq!(read([1, 2]), Ok(2));
        assert_eq!(read([2, 1]), Err(Malformed::Order));
        assert_eq!(read([2, 2]), Err(Malformed::Order));
    }

    #[test]
    fn what_is_not_changed_stays() {
        let before = write(&BTreeMap::from([(1, "one"), (3, "three")]));
        let changes = write(&BTreeMap::from([(2, "two"), (3, "")]));
        let [before, changes] = [&before, &changes].map(|bytes| Attributes::read(bytes).unwrap());
        let after = BTreeMap::from([(1, "one"), (2, "two"), (3, "")]);
        assert_eq!(changed(before, changes), write(&after));
    }

    #[test]
    fn a_length_longer_than_the_bytes_is_refused() {
        let mut bytes = write(&BTreeMap::from([(7, "value")]));
        bytes[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(Attributes::read(&bytes), Err(Malformed::Short));
    }

    #[test]
    fn no_value_is_told() {
        let bytes = write(&BTreeMap::from([(17, "secret")]));
        let read = Attributes::read(&bytes).unwrap();
        assert_eq!(format!("{read:?}"), "[17]");
    }
}
