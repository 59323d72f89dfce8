//! Return codes and reason codes, as published for CCA.
//!
//! A return code tells how bad it is (0 done, 4 a verification failed, 8 the request is wrong, 12 the card cannot), a reason
//! code tells why. The numbers are those of the publication's appendix "Return codes and reason codes".

use serde::{Deserialize, Serialize};

use crate::Reply;

/// What a verb answers.
#[derive(Debug, Serialize, Deserialize)]
pub struct Answer {
    /// 0, 4, 8, 12 or 16.
    pub return_code: u32,
    /// Why.
    pub reason_code: u32,
    /// What the verb makes. None unless the return code is 0.
    pub reply: Option<Reply>,
}

impl Answer {
    pub(crate) fn of(outcome: Outcome<Reply>) -> Self {
        match outcome {
            Ok(reply) => Self {
                return_code: 0,
                reason_code: 0,
                reply: Some(reply),
            },
            Err(refusal) => Self {
                return_code: refusal.codes().0,
                reason_code: refusal.codes().1,
                reply: None,
            },
        }
    }

    /// The answer as bytes.
    ///
    /// # Errors
    /// There is no memory.
    pub fn encode(&self) -> Result<crate::Bytes, crate::Malformed> {
        crate::encoded(self).map(crate::Bytes::from)
    }

    /// The answer of which these are the bytes.
    ///
    /// # Errors
    /// They are none.
    pub fn decode(bytes: &[u8]) -> Result<Self, crate::Malformed> {
        crate::whole(postcard::take_from_bytes(bytes))
    }
}

/// What a verb's own code returns.
pub(crate) type Outcome<T> = std::result::Result<T, Refusal>;

macro_rules! refusals {
    ($($(#[doc = $doc:literal])+ $name:ident = $code:literal / $reason:literal,)*) => {
        /// Why a verb is not carried out.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Refusal {
            $($(#[doc = $doc])+ $name,)*
        }

        impl Refusal {
            /// The return code and the reason code.
            pub fn codes(self) -> (u32, u32) {
                match self { $(Self::$name => ($code, $reason),)* }
            }

            /// The reason in words, for a person.
            pub fn describe(return_code: u32, reason_code: u32) -> Option<&'static str> {
                match (return_code, reason_code) {
                    $(($code, $reason) => Some(concat!($($doc),+).trim_ascii()),)*
                    _ => None,
                }
            }
        }
    };
}

refusals! {
    /// The verification test failed.
    TestFailed = 4 / 1,
    /// The PIN is not verified.
    PinNotVerified = 4 / 19,
    /// The PIN block does not have the format that the profile says.
    PinBlockInconsistent = 4 / 287,
    /// The digital signature is not verified.
    SignatureNotVerified = 4 / 429,
    /// There are enough shares: the master key is in the new register.
    MasterKeyWhole = 4 / 1024,
    /// The token-validation value of an external key token is not valid.
    ExternalTvv = 8 / 12,
    /// The master-key verification pattern is that of no master key here.
    UnknownMasterKey = 8 / 24,
    /// The length of the text is not valid.
    TextLength = 8 / 25,
    /// The value of the PIN is not valid.
    PinValue = 8 / 26,
    /// The token-validation value of an internal key token is not valid, or the token was changed.
    InternalTvv = 8 / 29,
    /// Key storage has no record of that label.
    NoSuchLabel = 8 / 30,
    /// The control vector does not specify a DATA key.
    NotDataKey = 8 / 31,
    /// The format of the key label is not valid.
    LabelFormat = 8 / 32,
    /// A keyword is not valid.
    Keyword = 8 / 33,
    /// The combination of keywords is not valid.
    KeywordCombination = 8 / 34,
    /// The number of keywords is not valid.
    KeywordCount = 8 / 35,
    /// The control vector, or the usage of the key, does not allow this (control-vector violation).
    ControlVector = 8 / 39,
    /// The service code is not numeric.
    ServiceCode = 8 / 40,
    /// The key form is not valid.
    KeyForm = 8 / 41,
    /// The expiration date is not numeric.
    ExpirationDate = 8 / 42,
    /// The key length is not valid for this key.
    KeyLength = 8 / 43,
    /// The record exists already.
    RecordExists = 8 / 44,
    /// The label has a character that is not allowed.
    LabelCharacter = 8 / 45,
    /// A key token has a version or a format that is not supported.
    TokenVersion = 8 / 49,
    /// The key type is not valid here.
    KeyType = 8 / 57,
    /// A length is too small, too large or not a multiple that is allowed.
    Size = 8 / 72,
    /// The access-control system does not allow this: an access-control point is off, only an administrator may do it, or the label is another user's.
    AccessDenied = 8 / 90,
    /// The length of the PIN is not valid.
    PinLength = 8 / 100,
    /// The length to check of the PIN is not valid.
    PinCheckLength = 8 / 101,
    /// The decimalization table is not valid, or not one that is stored.
    DecimalizationTable = 8 / 102,
    /// The validation data are not valid.
    ValidationData = 8 / 103,
    /// The customer-selected PIN is not valid.
    CustomerPin = 8 / 104,
    /// The transaction security parameter is not valid.
    TransactionSecurityParameter = 8 / 105,
    /// The PIN-block format is not valid, or not allowed here.
    PinBlockFormat = 8 / 106,
    /// The format control is not valid.
    FormatControl = 8 / 107,
    /// The pad digit is not valid.
    PadDigit = 8 / 108,
    /// The extraction method is not valid for this format.
    ExtractionMethod = 8 / 109,
    /// The PAN data are not numeric, or differ where they must not.
    PanData = 8 / 110,
    /// The sequence number is not valid.
    SequenceNumber = 8 / 111,
    /// The PIN offset is not valid.
    PinOffset = 8 / 112,
    /// The PVV is not valid.
    Pvv = 8 / 114,
    /// The clear PIN is not numeric.
    ClearPin = 8 / 116,
    /// The current key serial number is not valid.
    KeySerialNumber = 8 / 120,
    /// A required keyword is missing.
    KeywordMissing = 8 / 129,
    /// Both halves of the key are equal, or it is otherwise too weak.
    WeakKey = 8 / 148,
    /// The text is longer than the verb takes.
    TextTooLong = 8 / 153,
    /// The parameters do not fit each other.
    Inconsistent = 8 / 159,
    /// The key may not be exported, or not in this way.
    NotExportable = 8 / 181,
    /// The key has no public or private half that this verb needs.
    NoPrivateKey = 8 / 182,
    /// The key block (TR-31) is damaged, or was wrapped by another key.
    KeyBlock = 8 / 2046,
    /// The header of the key block (TR-31) is not valid, or names a usage that no key here can have.
    KeyBlockHeader = 8 / 2047,
    /// A wrapping key is weaker than the key that it would wrap.
    WeakWrapping = 8 / 2149,
    /// The type of the elliptic curve is not valid, or not supported.
    CurveType = 8 / 6015,
    /// The size of the elliptic curve is not valid, or not supported.
    CurveSize = 8 / 6017,
    /// The size of the RSA key, or the curve, is not supported.
    KeySize = 8 / 11000,
    /// The message does not decrypt under this key.
    Decryption = 8 / 66,
    /// There is a key, or a hash, of that name.
    NameExists = 8 / 1025,
    /// There is no key of that name that is kept inside.
    NoSuchName = 8 / 1026,
    /// The environment identifier is set already.
    EnvironmentSet = 8 / 1027,
    /// The share of a master key is not valid, or the number of shares is not.
    MasterKeyShare = 8 / 1030,
    /// The key of that name is not one for cloning.
    NotForCloning = 8 / 1031,
    /// There is no hash of that name.
    HashNotRegistered = 8 / 1033,
    /// There is no public key of that name.
    KeyNotRegistered = 8 / 1034,
    /// The certificate is not signed by that key.
    CertificateNotVerified = 8 / 1035,
    /// The share of a master key does not go with the shares that are there, or with the card's number of shares, or it is there already.
    ShareDistribution = 8 / 1037,
    /// The hash is not marked for cloning.
    HashNotForCloning = 8 / 1038,
    /// The certificate does not have the hash of that name.
    HashMismatch = 8 / 1039,
    /// The key of a share does not decrypt, or it is of another share.
    ShareKey = 8 / 1040,
    /// The output is longer than the room that the caller has.
    Room = 8 / 1106,
    /// There is no user-defined extension of that name that the caller may call.
    NoSuchExtension = 8 / 20001,
    /// The user-defined extension is not valid: no module that imports from "outboard" alone, or it or what is said of it is too long.
    ExtensionInvalid = 8 / 20002,
    /// The user-defined extension failed: it ran too long, it used what is not its own, or it stopped by itself.
    ExtensionFailed = 8 / 20003,
    /// The new master-key register is in a state that does not allow this.
    RegisterState = 8 / 703,
    /// A master key whose parts are equal, or that is weak otherwise.
    WeakMasterKey = 8 / 704,
    /// The verb is known, but not built.
    NotSupported = 12 / 93,
    /// The card cannot write its storage, or it has as much as it keeps (of a user: 1,000 labels in each key storage).
    Storage = 12 / 197,
    /// The master key is not loaded.
    NoMasterKey = 12 / 764,
    /// The card cannot compute: no memory, or no random numbers.
    Resource = 12 / 338,
    /// The verb ended the process that carries verbs out, by an error of its own program.
    Ended = 16 / 336,
}

impl From<outboard_engine::Error> for Refusal {
    fn from(error: outboard_engine::Error) -> Self {
        use outboard_engine::Error;
        match error {
            Error::InvalidKey => Self::KeyLength,
            Error::NoPrivateKey => Self::NoPrivateKey,
            Error::InvalidInput => Self::Size,
            Error::Failed => Self::Decryption,
            Error::Resource | Error::Randomness => Self::Resource,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_has_its_words() {
        assert_eq!(Refusal::PinNotVerified.codes(), (4, 19));
        assert_eq!(Refusal::describe(4, 19), Some("The PIN is not verified."));
        assert_eq!(Refusal::describe(8, 9999), None);
    }
}
