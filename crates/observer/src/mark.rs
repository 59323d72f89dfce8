//! What an algorithm is used for, in one word: contexts come and go by the dozen in a handshake, and
//! each says anew with which digest.

use std::ptr;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{AcqRel, Acquire};

use outboard_observation::{Details, Operation};

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
        self.with(MODE, number_of(mode))
    }

    pub(crate) fn with_digest(self, digest: &[u8]) -> Self {
        self.with(DIGEST, number_of(digest))
    }

    pub(crate) fn with_key(self, key: &[u8]) -> Self {
        self.with(KEY, number_of(key))
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
        let text = |part: u32| text_of((self.0 >> part) as u8);
        details.set_mode(text(MODE));
        details.set_digest(text(DIGEST));
        details.set_key(text(KEY));
        Some(details)
    }
}

/// As much of a text as a record keeps of any.
const LENGTH: usize = 24;

struct Text {
    length: usize,
    bytes: [u8; LENGTH],
}

/// The texts of this process; the first place stays empty, and is that of no text. Never freed.
static TEXTS: [AtomicPtr<Text>; 256] = [const { AtomicPtr::new(ptr::null_mut()) }; 256];

/// The number of a text; 0, as if it were not known, where there are too many.
fn number_of(text: &[u8]) -> u8 {
    let text = &text[..text.len().min(LENGTH)];
    if text.is_empty() {
        return 0;
    }
    let hash = text.iter().fold(text.len() as u32, |hash, &byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    let mut number = (hash >> 24 ^ hash >> 12) as u8;
    let mut own: *mut Text = ptr::null_mut();
    let mut found = 0;
    for _ in 0..TEXTS.len() {
        number = number.wrapping_add(u8::from(number == 0));
        let place = &TEXTS[usize::from(number)];
        let mut known = place.load(Acquire);
        if known.is_null() {
            if own.is_null() {
                let mut bytes = [0; LENGTH];
                bytes[..text.len()].copy_from_slice(text);
                let length = text.len();
                own = Box::into_raw(Box::new(Text { length, bytes }));
            }
            match place.compare_exchange(known, own, AcqRel, Acquire) {
                Ok(_) => return number,
                Err(theirs) => known = theirs,
            }
        }
        // SAFETY: not null, so from `Box::into_raw` above, and never freed.
        let known = unsafe { &*known };
        if known.bytes[..known.length] == *text {
            found = number;
            break;
        }
        number = number.wrapping_add(1);
    }
    if !own.is_null() {
        // SAFETY: shared with nobody.
        drop(unsafe { Box::from_raw(own) });
    }
    found
}

fn text_of(number: u8) -> &'static [u8] {
    // SAFETY: null, or from `Box::into_raw` above, and never freed.
    let text = unsafe { TEXTS[usize::from(number)].load(Acquire).as_ref() };
    text.map_or(&[], |text| &text.bytes[..text.length])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_lead_back() {
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
    }

    #[test]
    fn too_many_texts_are_none() {
        let numbers: Vec<u8> = (1000..1400_u32)
            .map(|bits| number_of(bits.to_string().as_bytes()))
            .collect();
        assert_eq!(numbers.last(), Some(&0));
        for (bits, &number) in (1000_u32..)
            .zip(&numbers)
            .filter(|(_, number)| **number != 0)
        {
            assert_eq!(text_of(number), bits.to_string().as_bytes());
        }
    }
}
