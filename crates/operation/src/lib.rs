//! What Outboard decides about and counts: operations, and the paths they take. The rows of the profile and of the
//! ledger, and what the engine is asked for.

pub mod card;

use serde::{Deserialize, Serialize};

macro_rules! operations {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// One kind of work with one kind of key. The profile decides its path; the ledger counts it.
        ///
        /// The order is part of the ledger's layout: append, never reorder. The layout has room
        /// for 64.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[repr(u8)]
        pub enum Operation {
            $(#[doc = concat!("`", $name, "`")] $(#[$doc])* #[serde(rename = $name)] $variant,)*
        }

        impl Operation {
            /// Every operation, in the ledger's order.
            pub const ALL: &[Operation] = &[$(Operation::$variant,)*];

            /// The stable name, used in the profile, in `--json` and in tables.
            pub const fn name(self) -> &'static str {
                match self { $(Operation::$variant => $name,)* }
            }
        }
    };
}

operations! {
    Rsa2048Sign = "rsa-2048-sign",
    Rsa2048Verify = "rsa-2048-verify",
    Rsa2048Decrypt = "rsa-2048-decrypt",
    Rsa3072Sign = "rsa-3072-sign",
    Rsa3072Verify = "rsa-3072-verify",
    Rsa3072Decrypt = "rsa-3072-decrypt",
    Rsa4096Sign = "rsa-4096-sign",
    Rsa4096Verify = "rsa-4096-verify",
    Rsa4096Decrypt = "rsa-4096-decrypt",
    P256Keygen = "p256-keygen",
    P256Sign = "p256-sign",
    P256Verify = "p256-verify",
    P256Derive = "p256-derive",
    P384Keygen = "p384-keygen",
    P384Sign = "p384-sign",
    P384Verify = "p384-verify",
    P384Derive = "p384-derive",
    P521Keygen = "p521-keygen",
    P521Sign = "p521-sign",
    P521Verify = "p521-verify",
    P521Derive = "p521-derive",
    X25519Keygen = "x25519-keygen",
    X25519Derive = "x25519-derive",
    Ed25519Keygen = "ed25519-keygen",
    Ed25519Sign = "ed25519-sign",
    Ed25519Verify = "ed25519-verify",
    Aes128GcmSeal = "aes-128-gcm-seal",
    Aes128GcmOpen = "aes-128-gcm-open",
    Aes192GcmSeal = "aes-192-gcm-seal",
    Aes192GcmOpen = "aes-192-gcm-open",
    Aes256GcmSeal = "aes-256-gcm-seal",
    Aes256GcmOpen = "aes-256-gcm-open",
    Tls13KdfSha256 = "tls13-kdf-sha256",
    Tls13KdfSha384 = "tls13-kdf-sha384",
    Tls1PrfSha256 = "tls1-prf-sha256",
    Tls1PrfSha384 = "tls1-prf-sha384",
    HkdfSha256 = "hkdf-sha256",
    HkdfSha384 = "hkdf-sha384",
    MlKem512Keygen = "ml-kem-512-keygen",
    MlKem512Encapsulate = "ml-kem-512-encapsulate",
    MlKem512Decapsulate = "ml-kem-512-decapsulate",
    MlKem768Keygen = "ml-kem-768-keygen",
    MlKem768Encapsulate = "ml-kem-768-encapsulate",
    MlKem768Decapsulate = "ml-kem-768-decapsulate",
    MlKem1024Keygen = "ml-kem-1024-keygen",
    MlKem1024Encapsulate = "ml-kem-1024-encapsulate",
    MlKem1024Decapsulate = "ml-kem-1024-decapsulate",
    MlDsa44Keygen = "ml-dsa-44-keygen",
    MlDsa44Sign = "ml-dsa-44-sign",
    MlDsa44Verify = "ml-dsa-44-verify",
    MlDsa65Keygen = "ml-dsa-65-keygen",
    MlDsa65Sign = "ml-dsa-65-sign",
    MlDsa65Verify = "ml-dsa-65-verify",
    MlDsa87Keygen = "ml-dsa-87-keygen",
    MlDsa87Sign = "ml-dsa-87-sign",
    MlDsa87Verify = "ml-dsa-87-verify",
}

impl Operation {
    /// How many operations there are.
    pub const COUNT: usize = Self::ALL.len();

    /// The operation of that stable name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|operation| operation.name() == name)
    }

    /// The family it belongs to; none for what is decided on its own.
    pub const fn family(self) -> Option<Family> {
        match self {
            Self::Rsa2048Sign
            | Self::Rsa2048Verify
            | Self::Rsa3072Sign
            | Self::Rsa3072Verify
            | Self::Rsa4096Sign
            | Self::Rsa4096Verify => Some(Family::Rsa),
            Self::P256Keygen
            | Self::P256Sign
            | Self::P256Verify
            | Self::P256Derive
            | Self::P384Keygen
            | Self::P384Sign
            | Self::P384Verify
            | Self::P384Derive
            | Self::P521Keygen
            | Self::P521Sign
            | Self::P521Verify
            | Self::P521Derive => Some(Family::Ec),
            Self::X25519Keygen | Self::X25519Derive => Some(Family::X25519),
            Self::Ed25519Keygen | Self::Ed25519Sign | Self::Ed25519Verify => Some(Family::Ed25519),
            _ => None,
        }
    }

    /// The other half of the same algorithm, without which it cannot be offered: the other direction of a cipher, the
    /// other hash of a key derivation.
    pub const fn counterpart(self) -> Option<Operation> {
        match self {
            Self::Aes128GcmSeal => Some(Self::Aes128GcmOpen),
            Self::Aes128GcmOpen => Some(Self::Aes128GcmSeal),
            Self::Aes192GcmSeal => Some(Self::Aes192GcmOpen),
            Self::Aes192GcmOpen => Some(Self::Aes192GcmSeal),
            Self::Aes256GcmSeal => Some(Self::Aes256GcmOpen),
            Self::Aes256GcmOpen => Some(Self::Aes256GcmSeal),
            Self::Tls13KdfSha256 => Some(Self::Tls13KdfSha384),
            Self::Tls13KdfSha384 => Some(Self::Tls13KdfSha256),
            Self::Tls1PrfSha256 => Some(Self::Tls1PrfSha384),
            Self::Tls1PrfSha384 => Some(Self::Tls1PrfSha256),
            Self::HkdfSha256 => Some(Self::HkdfSha384),
            Self::HkdfSha384 => Some(Self::HkdfSha256),
            _ => None,
        }
    }

    /// Whether a card can run it in lanes.
    pub const fn has_lanes(self) -> bool {
        matches!(
            self,
            Self::Rsa2048Sign
                | Self::Rsa3072Sign
                | Self::Rsa4096Sign
                | Self::P256Keygen
                | Self::P256Sign
                | Self::P256Derive
                | Self::P384Keygen
                | Self::P384Sign
                | Self::P384Derive
                | Self::X25519Keygen
                | Self::X25519Derive
                | Self::Ed25519Sign
        )
    }

    /// Whether it can run across the lanes, on path `wide`, but not on a card: ML-KEM's and ML-DSA's do.
    pub const fn is_wide_alone(self) -> bool {
        matches!(
            self,
            Self::MlKem512Keygen
                | Self::MlKem512Encapsulate
                | Self::MlKem512Decapsulate
                | Self::MlKem768Keygen
                | Self::MlKem768Encapsulate
                | Self::MlKem768Decapsulate
                | Self::MlKem1024Keygen
                | Self::MlKem1024Encapsulate
                | Self::MlKem1024Decapsulate
                | Self::MlDsa44Keygen
                | Self::MlDsa44Sign
                | Self::MlDsa44Verify
                | Self::MlDsa65Keygen
                | Self::MlDsa65Sign
                | Self::MlDsa65Verify
                | Self::MlDsa87Keygen
                | Self::MlDsa87Sign
                | Self::MlDsa87Verify
        )
    }

    /// Whether it is a post-quantum operation. Programs get these only where the setting `post-quantum` asks for them,
    /// and OpenSSL before 3.5 has nothing that they could be measured against.
    pub const fn is_post_quantum(self) -> bool {
        self.is_wide_alone()
    }

    /// The operations that every OpenSSL has, so that Outboard's can be measured against them.
    pub fn compared() -> impl Iterator<Item = Self> {
        let all = Self::ALL.iter().copied();
        all.filter(|operation| !operation.is_post_quantum())
    }

    /// Whether its cost grows with the input, so that it is measured at several sizes.
    pub const fn is_bulk(self) -> bool {
        matches!(
            self,
            Self::Aes128GcmSeal
                | Self::Aes128GcmOpen
                | Self::Aes192GcmSeal
                | Self::Aes192GcmOpen
                | Self::Aes256GcmSeal
                | Self::Aes256GcmOpen
        )
    }
}

/// Operations on keys of one type. Where one of them wins, keys of the type come to us, and handing a
/// short operation back costs more than doing it no faster than stock would.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// RSA signatures.
    Rsa,
    /// ECDSA and ECDH.
    Ec,
    /// X25519.
    X25519,
    /// Ed25519.
    Ed25519,
}

/// Where an operation runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Path {
    /// The program's own libcrypto.
    Stock,
    /// AWS-LC on the caller's thread.
    Scalar,
    /// One operation across all eight lanes, on the caller's thread.
    Wide,
    /// Queued, batched, run in lanes.
    Card,
}

impl Path {
    /// Every path, in the ledger's order.
    pub const ALL: &[Path] = &[Path::Stock, Path::Scalar, Path::Wide, Path::Card];

    /// The stable name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stock => "stock",
            Self::Scalar => "scalar",
            Self::Wide => "wide",
            Self::Card => "card",
        }
    }

    /// Whether the lanes run it: one operation across them, or one in each.
    pub const fn has_lanes(self) -> bool {
        matches!(self, Self::Wide | Self::Card)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_lead_back() {
        for &operation in Operation::ALL {
            assert_eq!(Operation::from_name(operation.name()), Some(operation));
            let json = serde_json::to_string(&operation).expect("a unit variant serialises");
            assert_eq!(json, format!("\"{}\"", operation.name()));
        }
        assert_eq!(Operation::from_name("des-sign"), None);
    }

    #[test]
    fn discriminants_count_up() {
        for (index, &operation) in Operation::ALL.iter().enumerate() {
            assert_eq!(operation as usize, index);
        }
    }
}
