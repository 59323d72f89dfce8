//! How a key is called, and what it is.

use std::fmt;
use std::str::FromStr;

/// A key's name among programs: drawn at random when the key is made or imported, never changed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId(pub [u8; 16]);

impl fmt::Display for KeyId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "KeyId({self})")
    }
}

/// 32 hexadecimal digits, as they are written: one id has one form.
impl FromStr for KeyId {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let mut id = [0; 16];
        if text.len() != 32
            || !text
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        {
            return Err(NotAnId);
        }
        for (byte, digits) in id.iter_mut().zip(text.as_bytes().chunks(2)) {
            let digits = std::str::from_utf8(digits).map_err(|_| NotAnId)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| NotAnId)?;
        }
        Ok(Self(id))
    }
}

/// A text is no [`KeyId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAnId;

impl fmt::Display for NotAnId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key's id has 32 hexadecimal digits")
    }
}

impl std::error::Error for NotAnId {}

/// What a key's name is: 1 to 64 characters of `a-z`, `0-9`, `.`, `_` and `-`; the first is a letter or a digit.
pub fn is_name(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    text.len() <= 64
        && text.bytes().next().is_some_and(plain)
        && text
            .bytes()
            .all(|byte| plain(byte) || b"._-".contains(&byte))
}

/// What a key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyType {
    /// RSA, of that many bits.
    Rsa(u16),
    /// NIST's curve P-256.
    P256,
    /// NIST's curve P-384.
    P384,
    /// NIST's curve P-521.
    P521,
    /// Ed25519 (RFC 8032).
    Ed25519,
}

impl KeyType {
    /// The types that a service makes.
    pub const MADE: [Self; 7] = [
        Self::Rsa(2048),
        Self::Rsa(3072),
        Self::Rsa(4096),
        Self::P256,
        Self::P384,
        Self::P521,
        Self::Ed25519,
    ];
}

impl fmt::Display for KeyType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rsa(bits) => write!(formatter, "rsa-{bits}"),
            Self::P256 => formatter.write_str("p256"),
            Self::P384 => formatter.write_str("p384"),
            Self::P521 => formatter.write_str("p521"),
            Self::Ed25519 => formatter.write_str("ed25519"),
        }
    }
}

/// As a user types it: `rsa-3072`, `p256`, `ed25519`.
impl FromStr for KeyType {
    type Err = NotAType;

    fn from_str(text: &str) -> Result<Self, NotAType> {
        match text {
            "p256" => Ok(Self::P256),
            "p384" => Ok(Self::P384),
            "p521" => Ok(Self::P521),
            "ed25519" => Ok(Self::Ed25519),
            _ => text
                .strip_prefix("rsa-")
                .and_then(|bits| bits.parse().ok())
                .filter(|bits| (2048..=4096).contains(bits))
                .map(Self::Rsa)
                // No leading zero or sign: one type has one form.
                .filter(|kind| kind.to_string() == text)
                .ok_or(NotAType),
        }
    }
}

/// A text is no [`KeyType`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAType;

impl fmt::Display for NotAType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .write_str("a key's type is rsa-2048, rsa-3072, rsa-4096, p256, p384, p521 or ed25519")
    }
}

impl std::error::Error for NotAType {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_as_it_is_written() {
        let id = KeyId(*b"0123456789\xff\0\x10\x20\x30\x40");
        assert_eq!(id.to_string().parse(), Ok(id));
        for text in [
            "",
            "00",
            "zz",
            "+0000000000000000000000000000000",
            &"0".repeat(33),
            &"A".repeat(32),
        ] {
            assert_eq!(text.parse::<KeyId>(), Err(NotAnId), "{text}");
        }
    }

    #[test]
    fn a_name_is_short_and_plain() {
        for name in ["site", "0", "a.b_c-d", &"a".repeat(64)] {
            assert!(is_name(name), "{name}");
        }
        for text in [
            "",
            "-site",
            ".site",
            "Site",
            "a b",
            "a/b",
            "a\0",
            "ä",
            &"a".repeat(65),
        ] {
            assert!(!is_name(text), "{text}");
        }
    }

    #[test]
    fn a_type_is_read_as_it_is_written() {
        for kind in KeyType::MADE {
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
        for text in [
            "rsa",
            "rsa-1024",
            "rsa-8192",
            "rsa-99999999",
            "rsa-02048",
            "rsa-+2048",
            "p255",
            "P256",
        ] {
            assert_eq!(text.parse::<KeyType>(), Err(NotAType), "{text}");
        }
    }
}
