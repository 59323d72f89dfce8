//! Bytes that are wiped when they are dropped, and that no message of an error shows.

use std::fmt;

use base64ct::{Base64, Encoding};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};
use zeroize::Zeroizing;

/// Secret bytes: base64 in a message.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub Zeroizing<Vec<u8>>);

impl Secret {
    /// A copy of those bytes.
    pub fn new(bytes: &[u8]) -> Self {
        Self(Zeroizing::new(bytes.to_vec()))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Secret({} bytes)", self.0.len())
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = Zeroizing::new(vec![0; Base64::encoded_len(&self.0)]);
        let text = Base64::encode(&self.0, &mut text)
            .map_err(|_| serde::ser::Error::custom("too long"))?;
        serializer.serialize_str(text)
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Base64Text;
        impl Visitor<'_> for Base64Text {
            type Value = Secret;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("base64")
            }

            /// Base64 has nothing to escape, so the parser lends the line itself and copies no secret.
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Secret, E> {
                let mut bytes = Zeroizing::new(vec![0; text.len()]);
                let length = Base64::decode(text, &mut bytes)
                    .map_err(|_| E::custom("not base64"))?
                    .len();
                Ok(Secret::new(&bytes[..length]))
            }
        }
        deserializer.deserialize_str(Base64Text)
    }
}
