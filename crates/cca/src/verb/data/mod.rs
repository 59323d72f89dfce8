//! Data: encrypted, decrypted, authenticated, hashed; random numbers.

mod cipher;
mod code;
mod hash;
mod mac;

/// The longest text of one call.
const MOST: usize = 32 << 20;

/// Which part of a longer text this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Segment {
    Only,
    First,
    Middle,
    Last,
}

const SEGMENTS: &[(&str, Segment)] = &[
    ("ONLY", Segment::Only),
    ("FIRST", Segment::First),
    ("MIDDLE", Segment::Middle),
    ("LAST", Segment::Last),
];

impl Segment {
    fn begins(self) -> bool {
        matches!(self, Self::Only | Self::First)
    }

    fn ends(self) -> bool {
        matches!(self, Self::Only | Self::Last)
    }
}
