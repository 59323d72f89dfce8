//! What a row is about: one kind of work.

use outboard_shared_memory::process::steers;
use serde::Serialize;

macro_rules! operations {
    ($($variant:ident = $code:literal, $name:literal, $doc:literal;)*) => {
        /// What was done.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
        #[repr(u8)]
        pub enum Operation {
            $(#[doc = $doc] #[serde(rename = $name)] $variant = $code,)*
        }

        impl Operation {
            /// Every operation.
            pub const ALL: &[Operation] = &[$(Operation::$variant,)*];

            /// The stable name, used in `--json` and in tables.
            pub const fn name(self) -> &'static str {
                match self { $(Operation::$variant => $name,)* }
            }

            pub(crate) const fn from_code(code: u8) -> Option<Self> {
                match code {
                    $($code => Some(Operation::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

operations! {
    Digest = 1, "digest", "A message was hashed.";
    Seal = 2, "encrypt", "Data was encrypted with a symmetric cipher.";
    Open = 3, "decrypt", "Data was decrypted with a symmetric cipher.";
    Mac = 4, "mac", "A message was authenticated with a symmetric key.";
    Kdf = 5, "kdf", "A key was derived from a secret or a password.";
    Generate = 6, "generate", "A key, or key parameters, were generated.";
    Derive = 7, "agree", "A secret was agreed on from a private and a peer's public key.";
    Sign = 8, "sign", "A signature was made.";
    Verify = 9, "verify", "A signature was verified.";
    KeyEncrypt = 10, "wrap", "Data was encrypted with a public key.";
    KeyDecrypt = 11, "unwrap", "Data was decrypted with a private key.";
    Encapsulate = 12, "encapsulate", "A secret was made for the owner of a public key.";
    Decapsulate = 13, "decapsulate", "A secret was opened with a private key.";
}

const WORDS: usize = 14;
const BYTES: usize = WORDS * 8;
/// The first of them are the details.
const DETAIL_WORDS: usize = 7;
const DETAIL_BYTES: usize = DETAIL_WORDS * 8;

/// Where each part lies in the bytes of an identity.
mod part {
    use std::ops::Range;
    pub(super) const OPERATION: usize = 0;
    pub(super) const LANE: usize = 1;
    pub(super) const MODE: Range<usize> = 2..10;
    pub(super) const KEY: Range<usize> = 10..34;
    pub(super) const DIGEST: Range<usize> = 34..super::DETAIL_BYTES;
    pub(super) const IMPLEMENTATION: Range<usize> = super::DETAIL_BYTES..72;
    pub(super) const ALGORITHM: Range<usize> = 72..super::BYTES;
}

/// What an algorithm is used for, as far as it differs from use to use: the operation; key, digest and
/// mode where the work has them. Texts that are too long are cut.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Details {
    bytes: [u8; DETAIL_BYTES],
}

impl Details {
    /// An operation of which nothing more is known.
    pub fn new(operation: Operation) -> Self {
        let mut details = Self {
            bytes: [0; DETAIL_BYTES],
        };
        details.set_operation(operation);
        details
    }

    /// What was done; none for a code of no meaning.
    #[inline]
    pub fn operation(&self) -> Option<Operation> {
        Operation::from_code(self.bytes[part::OPERATION])
    }

    /// Says which operation.
    #[inline]
    pub fn set_operation(&mut self, operation: Operation) {
        self.bytes[part::OPERATION] = operation as u8;
    }

    /// Says which key: its length in bits, or its curve or group.
    pub fn set_key(&mut self, key: &[u8]) {
        set(&mut self.bytes[part::KEY], key);
    }

    /// Says which digest is used within.
    pub fn set_digest(&mut self, digest: &[u8]) {
        set(&mut self.bytes[part::DIGEST], digest);
    }

    /// Says which padding or mode.
    pub fn set_mode(&mut self, mode: &[u8]) {
        set(&mut self.bytes[part::MODE], mode);
    }

    /// A short summary (FNV-1a over words), to find rows by.
    #[inline]
    pub fn hash(&self) -> u64 {
        let (words, _) = self.bytes.as_chunks();
        hash(words.iter().map(|&word| u64::from_ne_bytes(word)))
    }
}

/// One kind of work: whose implementation of which algorithm, and what it is used for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    bytes: [u8; BYTES],
}

impl Identity {
    /// What an implementation does with an algorithm.
    pub fn new(implementation: &str, algorithm: &str, details: &Details) -> Self {
        let mut identity = Self { bytes: [0; BYTES] };
        set(
            &mut identity.bytes[part::IMPLEMENTATION],
            implementation.as_bytes(),
        );
        set(&mut identity.bytes[part::ALGORITHM], algorithm.as_bytes());
        identity.with(details)
    }

    /// The same implementation of the same algorithm, used for something else.
    pub fn with(mut self, details: &Details) -> Self {
        self.bytes[..DETAIL_BYTES].copy_from_slice(&details.bytes);
        self
    }

    /// Which of a process's rows of the same identity: threads count in rows of their own.
    pub(crate) fn set_lane(&mut self, lane: u8) {
        self.bytes[part::LANE] = lane;
    }

    /// What was done; none for a code of no meaning.
    pub fn operation(&self) -> Option<Operation> {
        Operation::from_code(self.bytes[part::OPERATION])
    }

    /// Who did it.
    pub fn implementation(&self) -> String {
        self.text(part::IMPLEMENTATION)
    }

    /// The algorithm's name as the provider gives it.
    pub fn algorithm(&self) -> String {
        self.text(part::ALGORITHM)
    }

    /// The key's length in bits, or its curve or group; empty where that has no meaning.
    pub fn key(&self) -> String {
        self.text(part::KEY)
    }

    /// The digest used within; empty where there is none.
    pub fn digest(&self) -> String {
        self.text(part::DIGEST)
    }

    /// The padding or mode; empty where there is none.
    pub fn mode(&self) -> String {
        self.text(part::MODE)
    }

    /// A short summary, to find rows by.
    pub fn hash(&self) -> u64 {
        hash(self.words().into_iter())
    }

    #[inline]
    pub(crate) fn words(&self) -> [u64; WORDS] {
        let (words, _) = self.bytes.as_chunks();
        std::array::from_fn(|index| u64::from_ne_bytes(words[index]))
    }

    pub(crate) fn from_words(words: [u64; WORDS]) -> Self {
        let mut bytes = [0; BYTES];
        for (bytes, word) in bytes.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_ne_bytes());
        }
        Self { bytes }
    }

    /// A text that can be shown on a terminal, whatever a file holds.
    fn text(&self, range: std::ops::Range<usize>) -> String {
        let bytes = &self.bytes[range];
        let length = bytes.iter().position(|&byte| byte == 0);
        String::from_utf8_lossy(&bytes[..length.unwrap_or(bytes.len())])
            .chars()
            .map(|c| if steers(c) { '\u{fffd}' } else { c })
            .collect()
    }
}

/// Puts a text into a room, as much of it as the room holds.
fn set(room: &mut [u8], text: &[u8]) {
    let length = text.len().min(room.len());
    room[..length].copy_from_slice(&text[..length]);
    room[length..].fill(0);
}

/// FNV-1a over words.
#[inline]
fn hash(words: impl Iterator<Item = u64>) -> u64 {
    words.fold(0xcbf2_9ce4_8422_2325, |hash, word| {
        let mixed = (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        mixed ^ mixed >> 32
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_others_wrote_steers_nothing() {
        let mut details = Details::new(Operation::Sign);
        details.set_digest("SHA\u{202e}1\x1b[".as_bytes());
        let identity = Identity::new("default", "RSA\u{2066}-\n", &details);
        assert_eq!(identity.algorithm(), "RSA\u{fffd}-\u{fffd}");
        assert_eq!(identity.digest(), "SHA\u{fffd}1\u{fffd}[");
    }

    #[test]
    fn parts_do_not_overlap_and_lead_back() {
        let mut details = Details::new(Operation::Sign);
        details.set_key(b"brainpoolP512r1");
        details.set_digest(b"SHA2-512/256");
        details.set_mode(b"pss");
        let identity = Identity::new("default", &"x".repeat(60), &details);
        let same = Identity::from_words(identity.words());
        assert!(same == identity && same.hash() == identity.hash());
        assert_eq!(same.operation(), Some(Operation::Sign));
        assert_eq!(same.implementation(), "default");
        assert_eq!(same.algorithm(), "x".repeat(40));
        assert_eq!(
            (same.key(), same.digest(), same.mode()),
            (
                "brainpoolP512r1".into(),
                "SHA2-512/256".into(),
                "pss".into()
            )
        );
        let before = details.hash();
        details.set_key(b"P-256");
        let other = identity.with(&details);
        assert_eq!(other.key(), "P-256");
        assert!(other.hash() != same.hash() && details.hash() != before);
    }
}
