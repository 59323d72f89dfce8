//! The master key, its parts, its registers.
//!
//! A master key has 32 bytes. Two keys are derived from it, and alone used: one wraps, one authenticates the audit log.
//! ```text
//! wrapping key       = HMAC-SHA-256(master key, "outboard vault wrapping 1")
//! authenticating key = HMAC-SHA-256(master key, "outboard vault authentication 1")
//! verification pattern  = the first 8 bytes of SHA-256("outboard vault master key 1" ‖ 00 ‖ master key)
//! a part's check value  = the first 8 bytes of SHA-256("outboard vault part 1" ‖ 00 ‖ part)
//! ```
//! A pattern is no secret. It does tell a guess of the key, or of a part, from the right one: so both must be random.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;
use zeroize::{Zeroize, Zeroizing};

use crate::cipher::{self, NONCE};
use crate::error::{Error, Result};
use crate::secret::{Page, Protection};

/// Bytes of a master key, and of each part of one.
pub const LENGTH: usize = 32;
/// The most parts of a master key.
pub const MAX_PARTS: usize = 16;

/// A verification pattern of a master key, or the check value of a part: tells which key it is, and nothing of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pattern(pub [u8; 8]);

/// Where a master key is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Register {
    /// The key that a roll goes to.
    New,
    /// The key that keys are wrapped under.
    Current,
    /// The key that a roll came from.
    Old,
}

impl Pattern {
    /// The verification pattern of a master key.
    pub fn of_key(key: &[u8; LENGTH]) -> Self {
        Self::of("outboard vault master key 1", key)
    }

    /// The check value of a part.
    pub fn of_part(part: &[u8; LENGTH]) -> Self {
        Self::of("outboard vault part 1", part)
    }

    fn of(label: &str, secret: &[u8; LENGTH]) -> Self {
        let mut input = Zeroizing::new(Vec::with_capacity(label.len() + 1 + LENGTH));
        input.extend(label.as_bytes());
        input.push(0);
        input.extend(secret);
        let digest = cipher::sha256(&input);
        let mut pattern = [0; 8];
        pattern.copy_from_slice(&digest[..8]);
        Self(pattern)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pattern({self})")
    }
}

impl FromStr for Pattern {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let digits = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        match u64::from_str_radix(text, 16) {
            Ok(number) if digits => Ok(Self(number.to_be_bytes())),
            _ => Err(Error::Invalid {
                what: "the verification pattern",
                value: text.chars().take(80).collect(),
                reason: "a pattern has 16 hexadecimal digits",
            }),
        }
    }
}

impl Serialize for Pattern {
    fn serialize<S: serde::Serializer>(
        &self,
        serializer: S,
    ) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::New => "new",
            Self::Current => "current",
            Self::Old => "old",
        })
    }
}

/// 32 random bytes, fit for a master key or a part.
///
/// # Errors
/// [`Error::Resource`].
pub fn random_part() -> Result<Zeroizing<[u8; LENGTH]>> {
    cipher::random().map(Zeroizing::new)
}

/// A master key that was entered. Its page has the derived keys; the key itself is forgotten.
pub(crate) struct MasterKey {
    page: Page,
    pattern: Pattern,
}

/// A wrapped key, or what else is sealed.
pub(crate) struct Sealed {
    pub(crate) nonce: Vec<u8>,
    pub(crate) sealed: Vec<u8>,
}

impl Sealed {
    /// Seals a message.
    pub(crate) fn new(key: &[u8], message: &[u8], authenticated: &[u8]) -> Result<Self> {
        let nonce = cipher::random::<NONCE>()?;
        Ok(Self {
            sealed: cipher::seal(key, &nonce, message, authenticated)?,
            nonce: nonce.to_vec(),
        })
    }

    /// `None`: it is damaged.
    pub(crate) fn open(
        &self,
        key: &[u8],
        authenticated: &[u8],
    ) -> Result<Option<Zeroizing<Vec<u8>>>> {
        cipher::open(key, &self.nonce, &self.sealed, authenticated)
    }
}

impl MasterKey {
    pub(crate) fn new(key: &[u8; LENGTH]) -> Result<Self> {
        if *key == [0; LENGTH] {
            return Err(Error::Refused {
                what: "the master key",
                reason: "all its bytes are zero (enter parts that differ)",
            });
        }
        let mut page = page()?;
        let (wrapping, rest) = page.bytes_mut().split_at_mut(LENGTH);
        wrapping.copy_from_slice(&*cipher::hmac(key, b"outboard vault wrapping 1")?);
        let code = cipher::hmac(key, b"outboard vault authentication 1")?;
        rest[..LENGTH].copy_from_slice(&*code);
        Ok(Self {
            page,
            pattern: Pattern::of_key(key),
        })
    }

    pub(crate) fn pattern(&self) -> Pattern {
        self.pattern
    }

    pub(crate) fn protection(&self) -> Protection {
        self.page.protection()
    }

    pub(crate) fn wrap(&self, private: &[u8], authenticated: &[u8]) -> Result<Sealed> {
        Sealed::new(self.wrapping(), private, authenticated)
    }

    /// `None`: it is damaged.
    pub(crate) fn unwrap(
        &self,
        wrapped: &Sealed,
        authenticated: &[u8],
    ) -> Result<Option<Zeroizing<Vec<u8>>>> {
        wrapped.open(self.wrapping(), authenticated)
    }

    /// Authenticates what is no key.
    pub(crate) fn code(&self, message: &[u8]) -> Result<[u8; 32]> {
        Ok(*cipher::hmac(
            &self.page.bytes()[LENGTH..2 * LENGTH],
            message,
        )?)
    }

    fn wrapping(&self) -> &[u8] {
        &self.page.bytes()[..LENGTH]
    }
}

/// A master key of which some parts are entered.
pub(crate) struct Parts {
    /// The sum (XOR) of the parts.
    page: Page,
    pub(crate) count: usize,
}

impl Parts {
    pub(crate) fn new() -> Result<Self> {
        Ok(Self {
            page: page()?,
            count: 0,
        })
    }

    /// Whether that part may be added.
    pub(crate) fn check(&self, part: &[u8; LENGTH]) -> Result<()> {
        let refuse = |reason| {
            Err(Error::Refused {
                what: "the part",
                reason,
            })
        };
        if *part == [0; LENGTH] {
            return refuse("all its bytes are zero (enter a random part)");
        }
        if self.count == MAX_PARTS {
            return refuse("16 parts are entered already (complete the key, or discard the parts)");
        }
        Ok(())
    }

    /// Adds a part that was checked.
    pub(crate) fn add(&mut self, part: &[u8; LENGTH]) {
        let sum = &mut self.page.bytes_mut()[..LENGTH];
        sum.iter_mut()
            .zip(part)
            .for_each(|(sum, byte)| *sum ^= byte);
        self.count += 1;
    }

    /// The key of all parts.
    pub(crate) fn combined(&self) -> Result<MasterKey> {
        if self.count < 2 {
            return Err(Error::Refused {
                what: "the master key",
                reason: "it needs two parts at least (let another person enter one)",
            });
        }
        let mut key = [0; LENGTH];
        key.copy_from_slice(&self.page.bytes()[..LENGTH]);
        let combined = MasterKey::new(&key);
        key.zeroize();
        combined
    }
}

fn page() -> Result<Page> {
    Page::new().map_err(|_| Error::Resource {
        action: "make a page for a master key",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_parts_is_their_sum_in_any_order() {
        let parts = [[1; LENGTH], [2; LENGTH], [7; LENGTH]];
        let pattern_of = |parts: &[[u8; LENGTH]]| {
            let mut entered = Parts::new().expect("memory");
            for part in parts {
                entered.check(part).expect("a part");
                entered.add(part);
            }
            entered.combined().map(|key| key.pattern())
        };
        let whole = Pattern::of_key(&[1 ^ 2 ^ 7; LENGTH]);
        assert_eq!(pattern_of(&parts).expect("a key"), whole);
        assert_eq!(
            pattern_of(&[parts[2], parts[0], parts[1]]).expect("a key"),
            whole
        );
        assert!(pattern_of(&parts[..1]).is_err(), "one part is no key");
        assert!(pattern_of(&[parts[0], parts[0]]).is_err(), "zero is no key");
    }

    #[test]
    fn patterns_are_what_the_header_says() {
        let mut input = b"outboard vault master key 1\0".to_vec();
        input.extend([5; LENGTH]);
        let pattern = Pattern::of_key(&[5; LENGTH]);
        assert_eq!(pattern.0, cipher::sha256(&input)[..8]);
        assert_ne!(pattern, Pattern::of_part(&[5; LENGTH]));
        assert_eq!(
            pattern.to_string().parse::<Pattern>().expect("ours"),
            pattern
        );
        assert!("+123456789012345".parse::<Pattern>().is_err());
    }

    #[test]
    fn what_one_key_wraps_another_does_not_unwrap() {
        let one = MasterKey::new(&[1; LENGTH]).expect("a key");
        let two = MasterKey::new(&[2; LENGTH]).expect("a key");
        let wrapped = one.wrap(b"private", b"row").expect("memory");
        let unwrapped = one.unwrap(&wrapped, b"row").expect("memory");
        assert_eq!(unwrapped.expect("ours")[..], *b"private");
        assert!(one.unwrap(&wrapped, b"raw").expect("memory").is_none());
        assert!(two.unwrap(&wrapped, b"row").expect("memory").is_none());
    }
}
