//! What an algorithm is used for, in one word: contexts come and go by the dozen in a handshake, and
//! each says anew with which digest.

use outboard_observation::{Details, Operation};

use crate::numbered::Numbered;

/// Operation, mode, digest and key, as far as they are known. Texts are the numbers of those that this
/// process has met.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark(u32);

const MODE: u32 = 8;
const DIGEST: u32 = 16;
const KEY: u32 = 24;

impl Mark {
    pub(crate) fn new(operation: Operation) -> Self {
        Self(operation as u32)
    }

    #[inline]
    pub(crate) fn number(self) -> u32 {
        self.0
    }

    #[inline]
    pub(crate) fn is(self, operation: Operation) -> bool {
        self.0 as u8 == operation as u8
    }

    #[inline]
    pub(crate) fn with_operation(self, operation: Operation) -> Self {
        self.with(0, operation as u8)
    }

    pub(crate) fn with_mode(self, mode: &[u8]) -> Self {
        self.with(MODE, NAMES.number_of(mode))
    }

    pub(crate) fn with_digest(self, digest: &[u8]) -> Self {
        self.with(DIGEST, NAMES.number_of(digest))
    }

    pub(crate) fn with_key(self, key: &[u8]) -> Self {
        self.with(KEY, KEYS.number_of(key))
    }

    #[inline]
    fn with(self, part: u32, number: u8) -> Self {
        Self(self.0 & !(0xff << part) | u32::from(number) << part)
    }

    /// The same in full. `operation` is what it was made with.
    pub(crate) fn details(self) -> Option<Details> {
        let code = self.0 as u8;
        let operation = Operation::ALL.iter().find(|&&known| known as u8 == code)?;
        let mut details = Details::new(*operation);
        let number = |part: u32| (self.0 >> part) as u8;
        details.set_mode(&NAMES.text_of(number(MODE)));
        details.set_digest(&NAMES.text_of(number(DIGEST)));
        details.set_key(&KEYS.text_of(number(KEY)));
        Some(details)
    }
}

/// Gives texts of TLS handshakes their places: a server's children then find them there, where each would copy pages
/// to write them.
pub(crate) fn prepare_for_tls() {
    for digest in ["SHA256", "SHA2-256", "SHA384", "SHA2-384"] {
        NAMES.number_of(digest.as_bytes());
    }
    NAMES.number_of(b"pss");
    for key in ["prime256v1", "secp384r1", "2048", "3072", "4096"] {
        KEYS.number_of(key.as_bytes());
    }
}

/// As much of a text as a record keeps of any: up to 24 bytes, then zeros.
type Text = [u64; 3];

/// A text up to the zero that may end it.
#[inline]
fn text(bytes: &[u8]) -> Text {
    let mut text = [0; 3];
    for (index, &byte) in bytes.iter().enumerate().take(size_of::<Text>()) {
        if byte == 0 {
            break;
        }
        text[index / 8] |= u64::from(byte) << (index % 8 * 8);
    }
    text
}

/// Texts of this process, each by the number before its own: 0 is that of no text.
struct Texts(Numbered<Text, 255>);

/// What keys are. A peer may show keys of as many lengths as it likes, so that these fill no other's place.
static KEYS: Texts = Texts::none();

/// What digests and modes are called.
static NAMES: Texts = Texts::none();

impl Texts {
    const fn none() -> Self {
        Self(Numbered::new())
    }

    /// The number of a text; 0, as if it were not known, where there are too many.
    #[inline]
    fn number_of(&self, bytes: &[u8]) -> u8 {
        let text = text(bytes);
        let [first, second, third] = text;
        if first == 0 {
            return 0;
        }
        let mixed = (first ^ second.rotate_left(17) ^ third.rotate_left(34))
            .wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let place = (mixed >> 56) as usize % 255;
        match self.0.get(place) {
            Some(known) if *known == text => place as u8 + 1,
            _ => self.find(text, place),
        }
    }

    /// The same, sought from a place on.
    #[cold]
    #[inline(never)]
    fn find(&self, text: Text, first: usize) -> u8 {
        let place = self.0.enter(first, text, Text::eq, |_, _| ());
        place.map_or(0, |place| place as u8 + 1)
    }

    fn text_of(&self, number: u8) -> Vec<u8> {
        let text = usize::from(number).checked_sub(1);
        let text = text.and_then(|place| self.0.get(place)).copied();
        let bytes = text.unwrap_or_default().map(u64::to_le_bytes);
        bytes
            .into_iter()
            .flatten()
            .take_while(|&byte| byte != 0)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test, for the texts are the process's.
    #[test]
    fn texts_lead_back_and_too_many_are_none() {
        let sign = Mark::new(Operation::Sign);
        let one = sign.with_digest(b"SHA2-256").with_key(b"prime256v1");
        assert!(one.with_mode(b"pss").with_mode(b"") == one);
        assert!(sign.with_key(b"prime256v1").with_digest(b"SHA2-256") == one);
        assert!(one.is(Operation::Sign) && !one.is(Operation::Verify));
        let mut details = Details::new(Operation::Verify);
        details.set_digest(b"SHA2-256");
        details.set_key(b"prime256v1");
        details.set_mode(b"pss");
        let verify = one.with_operation(Operation::Verify).with_mode(b"pss");
        assert!(verify.details() == Some(details));
        assert_eq!(
            NAMES.number_of(b"SHA2-256\0 whatever"),
            NAMES.number_of(b"SHA2-256")
        );

        let numbers: Vec<u8> = (1000..1400_u32)
            .map(|bits| KEYS.number_of(bits.to_string().as_bytes()))
            .collect();
        assert_ne!(NAMES.number_of(b"SHA2-384"), 0);
        assert_eq!(numbers.last(), Some(&0));
        for (bits, &number) in (1000_u32..)
            .zip(&numbers)
            .filter(|(_, number)| **number != 0)
        {
            assert_eq!(KEYS.text_of(number), bits.to_string().as_bytes());
        }
    }
}
