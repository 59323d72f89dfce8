//! The canonical encoding of what is authenticated: one value has one encoding, and one encoding is of one value.
//!
//! Numbers are big-endian; bytes and text follow their length (four bytes).

/// Writes an encoding.
#[derive(Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    /// Of what a label names: two kinds of values never have one encoding.
    pub(crate) fn labelled(label: &str) -> Self {
        let mut writer = Self::default();
        writer.bytes(label.as_bytes());
        writer
    }

    /// Of a secret: with room for so many bytes beside the label, no part of it is left behind where the encoding grew.
    pub(crate) fn secret(label: &str, room: usize) -> Self {
        let mut writer = Self(Vec::with_capacity(4 + label.len() + room));
        writer.bytes(label.as_bytes());
        writer
    }

    pub(crate) fn u8(&mut self, value: u8) -> &mut Self {
        self.0.push(value);
        self
    }

    pub(crate) fn u16(&mut self, value: u16) -> &mut Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    pub(crate) fn u32(&mut self, value: u32) -> &mut Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    pub(crate) fn u64(&mut self, value: u64) -> &mut Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    pub(crate) fn bytes(&mut self, value: &[u8]) -> &mut Self {
        // INVARIANT: whatever is encoded was bounded before, far below 4 GiB.
        self.u32(value.len() as u32);
        self.0.extend(value);
        self
    }

    pub(crate) fn optional(&mut self, value: Option<u64>) -> &mut Self {
        match value {
            None => self.u8(0),
            Some(value) => self.u8(1).u64(value),
        }
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// Reads an encoding; `None` is one that no writer writes.
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn new(encoding: &'a [u8]) -> Self {
        Self(encoding)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.u32()? as usize;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    pub(crate) fn optional(&mut self) -> Option<Option<u64>> {
        match self.u8()? {
            0 => Some(None),
            1 => self.u64().map(Some),
            _ => None,
        }
    }

    /// That nothing follows.
    pub(crate) fn finish(self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}
