//! A key's attributes, and what of them is authenticated. A token has them, too: see [`Token`](crate::Token).

use std::fmt;
use std::str::FromStr;

use outboard_wire::{KeyId, KeyType, is_name};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::encoding::Writer;
use crate::error::{Error, Result};
use crate::grants::Grants;
use crate::master::Pattern;
use crate::policy::Policy;

/// The most bytes of a key's certificates.
pub(crate) const MAX_CERTIFICATES: usize = 32 * 1024;
/// The most bytes of a public half: RSA-4096 has 550.
pub const MAX_PUBLIC: usize = 4096;
/// The most bytes of a private half: RSA-4096 has about 2,400.
pub const MAX_PRIVATE: usize = 16_384;

/// A key's name: `[a-z0-9][a-z0-9._-]{0,63}`. No two keys of a store have one name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(String);

/// A key's attributes: all but its private half.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// What names it for good.
    pub id: KeyId,
    /// Its name now.
    pub name: Name,
    pub(crate) kind: Kind,
    /// The public half: SubjectPublicKeyInfo (RFC 5280), DER. A token has none.
    pub public: Vec<u8>,
    /// Whether it may leave the vault.
    pub exportable: bool,
    /// When it was inserted, in seconds since 1970.
    pub created: u64,
    /// The entry of the audit log that tells its latest change.
    pub revision: u64,
    /// What it may be used for.
    pub policy: Policy,
    /// Who may use or administer it.
    pub grants: Grants,
    /// Its certificate, and those that issued it, in DER, one after the other; may be empty. The vault believes the caller
    /// that they are the key's.
    pub certificates: Vec<u8>,
}

/// What a row of the store is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A key of that type.
    Key(KeyType),
    /// A token: its private half is the secret that its keys are derived from.
    Token,
    /// The coprocessor, likewise.
    Coprocessor,
}

/// How a token's type is written.
pub(crate) const TOKEN: &str = "token";
/// How the coprocessor's type is written.
pub(crate) const COPROCESSOR: &str = "coprocessor";

/// A key to insert.
pub struct NewKey {
    /// Its name.
    pub name: Name,
    /// Its type. The vault believes the caller that both halves are of this type, and belong together.
    pub key_type: KeyType,
    /// The public half: SubjectPublicKeyInfo, DER.
    pub public: Vec<u8>,
    /// The private half: PKCS #8 (RFC 5208), DER.
    pub private: Zeroizing<Vec<u8>>,
    /// Whether it may leave the vault.
    pub exportable: bool,
    /// What it may be used for.
    pub policy: Policy,
    /// Who may use or administer it.
    pub grants: Grants,
}

/// A key with its private half, both authenticated.
pub struct Unwrapped {
    /// Its attributes.
    pub record: Record,
    /// The private half: PKCS #8, DER.
    pub private: Zeroizing<Vec<u8>>,
}

/// What a caller names a key by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which<'a> {
    /// Its id.
    Id(KeyId),
    /// Its name.
    Name(&'a Name),
}

impl Which<'_> {
    /// Whether it names that key.
    pub(crate) fn is(&self, record: &Record) -> bool {
        match self {
            Self::Id(id) => record.id == *id,
            Self::Name(name) => record.name == **name,
        }
    }
}

impl From<KeyId> for Which<'_> {
    fn from(id: KeyId) -> Self {
        Self::Id(id)
    }
}

impl<'a> From<&'a Name> for Which<'a> {
    fn from(name: &'a Name) -> Self {
        Self::Name(name)
    }
}

impl fmt::Display for Which<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Name(name) => name.fmt(f),
        }
    }
}

impl Name {
    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Name {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match is_name(name) {
            true => Ok(Self(name.to_owned())),
            false => Err(Error::Invalid {
                what: "the name",
                value: name.chars().take(80).collect(),
                reason: "a name has 1 to 64 characters of a-z, 0-9, '.', '_' and '-', and begins with a letter or a digit",
            }),
        }
    }
}

impl TryFrom<String> for Name {
    type Error = Error;

    fn try_from(name: String) -> Result<Self> {
        name.parse()
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key_type) => key_type.fmt(f),
            Self::Token => f.write_str(TOKEN),
            Self::Coprocessor => f.write_str(COPROCESSOR),
        }
    }
}

impl Kind {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            TOKEN => Some(Self::Token),
            COPROCESSOR => Some(Self::Coprocessor),
            _ => text.parse().ok().map(Self::Key),
        }
    }
}

impl Record {
    /// The key's type; none of a token, nor of the coprocessor.
    pub fn key_type(&self) -> Option<KeyType> {
        match self.kind {
            Kind::Key(key_type) => Some(key_type),
            Kind::Token | Kind::Coprocessor => None,
        }
    }

    /// Whether it is the coprocessor's.
    pub fn is_coprocessor(&self) -> bool {
        self.kind == Kind::Coprocessor
    }

    /// What is authenticated with the private half that is wrapped under the master key with that pattern: everything.
    pub(crate) fn authenticated(&self, master: Pattern) -> Vec<u8> {
        let mut writer = Writer::labelled("outboard vault key 1");
        writer
            .bytes(&self.id.0)
            .bytes(self.name.0.as_bytes())
            .bytes(self.kind.to_string().as_bytes())
            .bytes(&self.public)
            .u8(self.exportable.into())
            .u64(self.created)
            .u64(self.revision)
            .bytes(&self.policy.encode())
            .bytes(&self.grants.encode())
            .bytes(&master.0);
        // Keys without one are wrapped as they were before there were any.
        if !self.certificates.is_empty() {
            writer.bytes(&self.certificates);
        }
        writer.finish()
    }

    /// Name and id, for an error.
    pub(crate) fn described(&self) -> String {
        format!("{} ({})", self.name, self.id)
    }
}

impl NewKey {
    /// That it can be stored.
    pub(crate) fn validate(&self) -> Result<()> {
        self.policy.validate()?;
        self.grants.validate()?;
        let invalid = |what, length: usize, reason| {
            let value = format!("{length} bytes");
            Err(Error::Invalid {
                what,
                value,
                reason,
            })
        };
        if !(1..=MAX_PUBLIC).contains(&self.public.len()) {
            let reason = "a public half has 1 to 4096 bytes";
            return invalid("the public half", self.public.len(), reason);
        }
        if !(1..=MAX_PRIVATE).contains(&self.private.len()) {
            let reason = "a private half has 1 to 16384 bytes";
            return invalid("the private half", self.private.len(), reason);
        }
        match self.key_type {
            KeyType::Rsa(bits) if !(2048..=4096).contains(&bits) => invalid(
                "the modulus",
                usize::from(bits) / 8,
                "RSA has 2048 to 4096 bits",
            ),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_what_is_none() {
        for name in ["a", "0", "site.example_1-x", &"a".repeat(64)] {
            assert_eq!(name.parse::<Name>().expect("a name").as_str(), name);
        }
        for name in ["", ".a", "-a", "A", "a b", "ä", "a/b", &"a".repeat(65)] {
            assert!(name.parse::<Name>().is_err(), "{name}");
        }
    }

    #[test]
    fn ids_and_types_are_read_as_they_are_written() {
        let id = KeyId([0xa5; 16]);
        assert_eq!(id.to_string().parse::<KeyId>().expect("an id"), id);
        for text in [
            "",
            "a5",
            &"A5".repeat(16),
            &"a5".repeat(17),
            &"é".repeat(16),
        ] {
            assert!(text.parse::<KeyId>().is_err(), "{text}");
        }
        for key_type in [KeyType::Rsa(2048), KeyType::P256, KeyType::Ed25519] {
            let text = key_type.to_string();
            assert_eq!(text.parse::<KeyType>().expect("a type"), key_type);
        }
        for text in [
            "rsa-1024",
            "rsa-+2048",
            "rsa-02048",
            "rsa",
            "p-256",
            "RSA-2048",
        ] {
            assert!(text.parse::<KeyType>().is_err(), "{text}");
        }
    }
}
