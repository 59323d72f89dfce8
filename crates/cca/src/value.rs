//! What requests and replies are made of: bytes that are wiped, keywords, rule arrays, key identifiers.

use std::fmt;
use std::ops::{Deref, DerefMut};

use outboard_engine::scalar::wipe;
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::answer::{Outcome, Refusal};

/// Bytes of a request or a reply, wiped when dropped. In JSON they are hexadecimal digits.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Bytes(Vec<u8>);

impl Bytes {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The bytes, which are then the caller's to wipe.
    pub fn take(mut self) -> Vec<u8> {
        std::mem::take(&mut self.0)
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for Bytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl From<&[u8]> for Bytes {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }
}

impl<const N: usize> From<&[u8; N]> for Bytes {
    fn from(bytes: &[u8; N]) -> Self {
        Self(bytes.to_vec())
    }
}

impl<const N: usize> From<[u8; N]> for Bytes {
    fn from(bytes: [u8; N]) -> Self {
        Self(bytes.to_vec())
    }
}

impl From<&str> for Bytes {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

/// Never the content: it may be a secret.
impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return serializer.serialize_bytes(&self.0);
        }
        let digits: String = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
        serializer.serialize_str(&digits)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl Visitor<'_> for Read {
            type Value = Bytes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("hexadecimal digits")
            }

            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(bytes.into())
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Bytes, E> {
                from_hex(text)
                    .ok_or_else(|| E::custom("an even number of hexadecimal digits is needed"))
            }
        }
        match deserializer.is_human_readable() {
            true => deserializer.deserialize_str(Read),
            false => deserializer.deserialize_bytes(Read),
        }
    }
}

/// The bytes that hexadecimal digits stand for.
pub fn from_hex(text: &str) -> Option<Bytes> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pairs = text.as_bytes().chunks(2).map(|pair| match *pair {
        [high, low] => Some((digit(high)? << 4 | digit(low)?) as u8),
        _ => None,
    });
    pairs.collect::<Option<Vec<u8>>>().map(Bytes)
}

/// A keyword: at most eight characters, on the left of eight, filled up with blanks. In JSON it has no blanks.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Keyword(pub [u8; 8]);

impl Keyword {
    /// Of a text. What is longer than eight characters is cut.
    pub const fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut keyword = [b' '; 8];
        let mut at = 0;
        while at < bytes.len() && at < 8 {
            keyword[at] = bytes[at];
            at += 1;
        }
        Self(keyword)
    }

    /// Without blanks; empty if it is not printable.
    pub fn text(&self) -> &str {
        match std::str::from_utf8(&self.0) {
            Ok(text) if text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) => text.trim_end(),
            _ => "",
        }
    }
}

impl Default for Keyword {
    fn default() -> Self {
        Self([b' '; 8])
    }
}

impl From<&str> for Keyword {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl fmt::Debug for Keyword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl Serialize for Keyword {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match serializer.is_human_readable() {
            true => serializer.serialize_str(self.text()),
            false => self.0.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Keyword {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return <[u8; 8]>::deserialize(deserializer).map(Self);
        }
        let text = String::deserialize(deserializer)?;
        match text.len() <= 8 {
            true => Ok(Self::new(&text)),
            false => Err(de::Error::custom("a keyword has at most eight characters")),
        }
    }
}

/// A rule array.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rules(pub Vec<Keyword>);

impl Rules {
    /// Of texts.
    pub fn of(keywords: &[&str]) -> Self {
        Self(keywords.iter().map(|text| Keyword::new(text)).collect())
    }

    /// Begins to parse it. Every keyword must be taken before [`Parser::end`].
    pub(crate) fn parse(&self) -> Parser<'_> {
        Parser {
            left: self.0.iter().map(Some).collect(),
        }
    }
}

/// Takes keywords out of a rule array, group after group.
pub(crate) struct Parser<'a> {
    left: Vec<Option<&'a Keyword>>,
}

impl Parser<'_> {
    /// The one keyword of a group of which at most one may be there.
    pub(crate) fn one<T: Copy>(&mut self, group: &[(&str, T)]) -> Outcome<Option<T>> {
        let mut found = None;
        for place in &mut self.left {
            let Some(keyword) = place else { continue };
            let Some(&(_, value)) = group.iter().find(|(name, _)| *name == keyword.text()) else {
                continue;
            };
            if found.is_some() {
                return Err(Refusal::KeywordCombination);
            }
            (found, *place) = (Some(value), None);
        }
        Ok(found)
    }

    /// The one keyword of a group of which exactly one must be there.
    pub(crate) fn required<T: Copy>(&mut self, group: &[(&str, T)]) -> Outcome<T> {
        match self.one(group)? {
            Some(value) => Ok(value),
            // What stands in its place is no keyword of this verb's.
            None if self.left.iter().any(Option::is_some) => Err(Refusal::Keyword),
            None => Err(Refusal::KeywordMissing),
        }
    }

    /// Whether a keyword is there.
    pub(crate) fn has(&mut self, keyword: &str) -> Outcome<bool> {
        Ok(self.one(&[(keyword, ())])?.is_some())
    }

    /// All keywords of a group of which several may be there.
    pub(crate) fn all<T: Copy>(&mut self, group: &[(&str, T)]) -> Vec<T> {
        let mut found = Vec::new();
        for place in &mut self.left {
            let Some(keyword) = place else { continue };
            if let Some(&(_, value)) = group.iter().find(|(name, _)| *name == keyword.text()) {
                found.push(value);
                *place = None;
            }
        }
        found
    }

    /// Nothing may be left.
    pub(crate) fn end(self) -> Outcome<()> {
        match self.left.iter().any(Option::is_some) {
            true => Err(Refusal::Keyword),
            false => Ok(()),
        }
    }
}

/// A label of a record in key storage: 1 to 64 characters. The first is a letter or `#`, `$`, `@`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Label(String);

impl Label {
    pub(crate) fn parse(bytes: &[u8]) -> Outcome<Self> {
        let end = bytes.iter().rposition(|&byte| byte != b' ' && byte != 0);
        let text = end.map_or(&[][..], |end| &bytes[..=end]);
        if text.is_empty() || text.len() > 64 {
            return Err(Refusal::LabelFormat);
        }
        let special = |byte| matches!(byte, b'#' | b'$' | b'@');
        if !text[0].is_ascii_alphabetic() && !special(text[0]) {
            return Err(Refusal::LabelFormat);
        }
        let allowed = |&byte: &u8| {
            byte.is_ascii_alphanumeric() || special(byte) || matches!(byte, b'.' | b'-' | b'_')
        };
        match text.iter().all(allowed) {
            // Labels do not tell small letters from capital ones.
            true => Ok(Self(
                text.iter()
                    .map(|byte| char::from(byte.to_ascii_uppercase()))
                    .collect(),
            )),
            false => Err(Refusal::LabelCharacter),
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// As C callers have it: 64 characters.
    pub(crate) fn padded(&self) -> [u8; 64] {
        let mut padded = [b' '; 64];
        padded[..self.0.len()].copy_from_slice(self.0.as_bytes());
        padded
    }
}

/// What names a key in a request: a token, or the label of one in key storage.
pub(crate) enum Identifier<'a> {
    Token(&'a [u8]),
    Label(Label),
}

impl<'a> Identifier<'a> {
    /// Tokens begin with a byte below a blank.
    pub(crate) fn parse(bytes: &'a [u8]) -> Outcome<Self> {
        match bytes.first() {
            Some(first) if *first > b' ' => {
                Label::parse(bytes.get(..64).unwrap_or(bytes)).map(Self::Label)
            }
            _ => Ok(Self::Token(bytes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_taken_group_by_group() {
        let rules = Rules::of(&["CBC", "INITIAL"]);
        let mut parser = rules.parse();
        assert_eq!(parser.one(&[("CBC", 1), ("CUSP", 2)]), Ok(Some(1)));
        assert_eq!(parser.required(&[("INITIAL", 3)]), Ok(3));
        assert_eq!(parser.end(), Ok(()));
        let twice = Rules::of(&["CBC", "CUSP"]);
        assert_eq!(
            twice.parse().one(&[("CBC", 1), ("CUSP", 2)]),
            Err(Refusal::KeywordCombination)
        );
        assert_eq!(
            Rules::of(&["NONE"]).parse().required(&[("CBC", 1)]),
            Err(Refusal::Keyword)
        );
        assert_eq!(
            Rules::default().parse().required(&[("CBC", 1)]),
            Err(Refusal::KeywordMissing)
        );
        assert_eq!(Rules::of(&["NONE"]).parse().end(), Err(Refusal::Keyword));
    }

    #[test]
    fn labels_are_checked() {
        assert_eq!(Label::parse(b"Shop.Key1   ").unwrap().text(), "SHOP.KEY1");
        assert_eq!(Label::parse(b"").err(), Some(Refusal::LabelFormat));
        assert_eq!(Label::parse(b"1KEY").err(), Some(Refusal::LabelFormat));
        assert_eq!(Label::parse(b"KEY/1").err(), Some(Refusal::LabelCharacter));
        assert!(matches!(
            Identifier::parse(&[1, 0]),
            Ok(Identifier::Token(_))
        ));
        assert!(matches!(
            Identifier::parse(b"KEY"),
            Ok(Identifier::Label(_))
        ));
    }

    #[test]
    fn json_has_digits_and_words() {
        let json = serde_json::to_string(&(Bytes::from(&[1, 0xab]), Keyword::new("CBC"))).unwrap();
        assert_eq!(json, r#"["01ab","CBC"]"#);
        let (bytes, keyword): (Bytes, Keyword) = serde_json::from_str(&json).unwrap();
        assert_eq!((&*bytes, keyword.text()), (&[1, 0xab][..], "CBC"));
        assert!(serde_json::from_str::<Bytes>(r#""1""#).is_err());
        assert!(serde_json::from_str::<Bytes>(r#""+1""#).is_err());
    }
}
