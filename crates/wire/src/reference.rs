//! What stands in the file of a key that the service has: its name and its public half, no secret.
//!
//! ```text
//! -----BEGIN OUTBOARD KEY-----
//! OutboardKey ::= SEQUENCE {
//!     version    INTEGER (1),
//!     id         OCTET STRING (SIZE (16)),
//!     name       UTF8String,
//!     publicKey  SubjectPublicKeyInfo }
//! -----END OUTBOARD KEY-----
//! ```
//!
//! The id decides which key it is. The name is for people: it is what it was when the reference was written.

use der::asn1::{AnyRef, OctetStringRef, Utf8StringRef};
use der::pem::LineEnding;
use der::{Decode, Encode, Sequence};

use crate::KeyId;

/// The label of the PEM block.
pub const LABEL: &str = "OUTBOARD KEY";

/// The first line of the PEM block.
pub const FIRST_LINE: &str = "-----BEGIN OUTBOARD KEY-----";

/// The most bytes of a reference as PEM that is read.
pub const MOST_PEM: usize = 8 * 1024;

/// A reference to a key of the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Which key it is.
    pub id: KeyId,
    /// Its name when the reference was written.
    pub name: String,
    /// Its public half: a SubjectPublicKeyInfo (RFC 5280, 4.1) in DER.
    pub public: Vec<u8>,
}

/// A text is no reference to a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAReference(der::Error);

impl std::fmt::Display for NotAReference {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            formatter,
            "the block OUTBOARD KEY is damaged ({}); write it again with 'outboard keys reference'",
            self.0
        )
    }
}

impl std::error::Error for NotAReference {}

#[derive(Sequence)]
struct Asn1<'a> {
    version: u8,
    id: &'a OctetStringRef,
    name: Utf8StringRef<'a>,
    public: AnyRef<'a>,
}

impl Reference {
    /// Reads the PEM block.
    ///
    /// # Errors
    /// The text is another block, or damaged.
    pub fn from_pem(pem: &[u8]) -> Result<Self, NotAReference> {
        if pem.len() > MOST_PEM {
            return Err(NotAReference(der::ErrorKind::Overflow.into()));
        }
        let (label, der) =
            der::pem::decode_vec(pem).map_err(|error| NotAReference(error.into()))?;
        if label != LABEL {
            let error = der::pem::Error::Label;
            return Err(NotAReference(error.into()));
        }
        Self::from_der(&der)
    }

    /// Writes the PEM block.
    ///
    /// # Errors
    /// The name or the public half is too long, or the public half is no DER.
    pub fn to_pem(&self) -> Result<String, NotAReference> {
        let der = self.to_der()?;
        let pem = der::pem::encode_string(LABEL, LineEnding::LF, &der)
            .map_err(|error| NotAReference(error.into()))?;
        match pem.len() {
            ..=MOST_PEM => Ok(pem),
            _ => Err(NotAReference(der::ErrorKind::Overflow.into())),
        }
    }

    /// Reads what is inside the PEM block.
    ///
    /// # Errors
    /// The bytes are no reference.
    pub fn from_der(bytes: &[u8]) -> Result<Self, NotAReference> {
        let parsed = Asn1::from_der(bytes).map_err(NotAReference)?;
        let id = <[u8; 16]>::try_from(parsed.id.as_bytes());
        let (1, Ok(id)) = (parsed.version, id) else {
            let error = der::Error::from(der::ErrorKind::Failed);
            return Err(NotAReference(error));
        };
        Ok(Self {
            id: KeyId(id),
            name: parsed.name.as_str().to_owned(),
            public: parsed.public.to_der().map_err(NotAReference)?,
        })
    }

    /// Writes what is inside the PEM block.
    ///
    /// # Errors
    /// The name is too long, or the public half is no DER.
    pub fn to_der(&self) -> Result<Vec<u8>, NotAReference> {
        let write = || {
            Asn1 {
                version: 1,
                id: OctetStringRef::new(&self.id.0)?,
                name: Utf8StringRef::new(&self.name)?,
                public: AnyRef::from_der(&self.public)?,
            }
            .to_der()
        };
        write().map_err(NotAReference)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn reference() -> Reference {
        Reference {
            id: KeyId(*b"sixteen bytes ok"),
            name: "site".into(),
            public: vec![0x30, 0x03, 0x02, 0x01, 0x07],
        }
    }

    #[test]
    fn a_reference_is_read_as_it_is_written() {
        let pem = reference().to_pem().unwrap();
        assert!(pem.starts_with(FIRST_LINE), "{pem}");
        assert_eq!(Reference::from_pem(pem.as_bytes()), Ok(reference()));
    }

    #[test]
    fn what_is_damaged_is_refused() {
        let pem = reference().to_pem().unwrap();
        for length in 0..pem.trim_end().len() {
            assert!(Reference::from_pem(&pem.as_bytes()[..length]).is_err());
        }
        let other = pem.replace(LABEL, "PRIVATE KEY");
        assert!(Reference::from_pem(other.as_bytes()).is_err());
        let long = format!("{pem}{}", " ".repeat(MOST_PEM));
        assert!(Reference::from_pem(long.as_bytes()).is_err());
    }

    proptest! {
        #[test]
        fn nothing_makes_reading_panic(der in proptest::collection::vec(any::<u8>(), 0..100)) {
            if let Ok(reference) = Reference::from_der(&der) {
                prop_assert_eq!(reference.to_der().ok(), Some(der));
            }
        }
    }
}
