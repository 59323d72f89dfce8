//! What a key may be used for.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::encoding::{Reader, Writer};
use crate::error::{Error, Result};

/// The most administrators that a key's [`Approvals`] name.
pub const MAX_ADMINISTRATORS: usize = 32;

/// What a key may be used for. The default allows every use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Policy {
    /// The operations.
    pub operations: BTreeSet<Operation>,
    /// The paddings of RSA. A key that has none is not restricted by them.
    pub paddings: BTreeSet<Padding>,
    /// The digests of what is signed, and of OAEP.
    pub digests: BTreeSet<Digest>,
    /// The most operations in each second. The service counts them.
    pub rate: Option<u32>,
    /// The first second of its use, in seconds since 1970.
    pub valid_from: Option<u64>,
    /// The first second after its use, in seconds since 1970.
    pub valid_to: Option<u64>,
    /// Who must agree to export and deletion.
    pub approvals: Option<Approvals>,
}

/// Administrators who must agree, before the key is exported or deleted, or these approvals are changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approvals {
    /// How many of them; at least 1.
    pub needed: u8,
    /// Their uids; at least as many as are needed.
    pub administrators: BTreeSet<u32>,
}

macro_rules! members {
    ($(#[$attribute:meta])* $name:ident {
        $($(#[$of_member:meta])* $member:ident = $number:literal, $word:literal;)*
    }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name { $($(#[$of_member])* #[serde(rename = $word)] $member = $number,)* }

        /// As an administrator types it.
        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(match self { $(Self::$member => $word,)* })
            }
        }

        impl $name {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$member,)*];

            fn mask(members: &BTreeSet<Self>) -> u16 {
                members.iter().fold(0, |mask, &member| mask | 1 << member as u16)
            }

            fn members(mask: u16) -> Option<BTreeSet<Self>> {
                let members = Self::ALL.iter().copied().filter(|&member| mask >> member as u16 & 1 == 1);
                let members: BTreeSet<_> = members.collect();
                (Self::mask(&members) == mask).then_some(members)
            }
        }
    };
}

members! {
    /// What a private key does.
    Operation {
        /// Signs.
        Sign = 0, "sign";
        /// Decrypts.
        Decrypt = 1, "decrypt";
        /// Derives a shared secret.
        Derive = 2, "derive";
    }
}

members! {
    /// A padding of RSA.
    Padding {
        /// PKCS #1 v1.5, of signatures and encryption.
        Pkcs1 = 0, "pkcs1";
        /// RSASSA-PSS.
        Pss = 1, "pss";
        /// RSAES-OAEP.
        Oaep = 2, "oaep";
    }
}

members! {
    /// A digest.
    Digest {
        /// Bytes that are signed with no digest named; Ed25519, which hashes inside, is not restricted by this.
        Unnamed = 0, "unnamed";
        /// MD5 and SHA-1 side by side, of TLS 1.0 and 1.1.
        Md5Sha1 = 1, "md5-sha1";
        /// SHA-1.
        Sha1 = 2, "sha1";
        /// SHA-224.
        Sha224 = 3, "sha224";
        /// SHA-256.
        Sha256 = 4, "sha256";
        /// SHA-384.
        Sha384 = 5, "sha384";
        /// SHA-512.
        Sha512 = 6, "sha512";
        /// SHA-512/256.
        Sha512_256 = 7, "sha512-256";
        /// SHA3-256.
        Sha3_256 = 8, "sha3-256";
        /// SHA3-384.
        Sha3_384 = 9, "sha3-384";
        /// SHA3-512.
        Sha3_512 = 10, "sha3-512";
    }
}

/// A use of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The operation.
    pub operation: Operation,
    /// RSA's padding; `None` where there is none: on curves.
    pub padding: Option<Padding>,
    /// The digest; `None` where none takes part: Ed25519, derivation, PKCS #1 decryption.
    pub digest: Option<Digest>,
}

/// Why a policy refuses a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The operation.
    #[error("the key's policy does not allow operation {0}")]
    Operation(Operation),
    /// The padding.
    #[error("the key's policy does not allow padding {0}")]
    Padding(Padding),
    /// The digest.
    #[error("the key's policy does not allow digest {0}")]
    Digest(Digest),
    /// The time has not come.
    #[error("the key is valid only from second {0} since 1970 on")]
    TooEarly(u64),
    /// The time is over.
    #[error("the key was valid only before second {0} since 1970")]
    TooLate(u64),
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            operations: Operation::ALL.iter().copied().collect(),
            paddings: Padding::ALL.iter().copied().collect(),
            digests: Digest::ALL.iter().copied().collect(),
            rate: None,
            valid_from: None,
            valid_to: None,
            approvals: None,
        }
    }
}

impl Policy {
    /// Whether it allows that use at that time (seconds since 1970).
    ///
    /// # Errors
    /// What forbids it.
    pub fn allows(&self, request: &Request, now: u64) -> std::result::Result<(), Refusal> {
        if !self.operations.contains(&request.operation) {
            return Err(Refusal::Operation(request.operation));
        }
        if let Some(padding) = request.padding
            && !self.paddings.contains(&padding)
        {
            return Err(Refusal::Padding(padding));
        }
        if let Some(digest) = request.digest
            && !self.digests.contains(&digest)
        {
            return Err(Refusal::Digest(digest));
        }
        if let Some(from) = self.valid_from
            && now < from
        {
            return Err(Refusal::TooEarly(from));
        }
        match self.valid_to {
            Some(to) if now >= to => Err(Refusal::TooLate(to)),
            _ => Ok(()),
        }
    }

    /// That it makes sense: a rate above 0, a period that is not empty, approvals that can be given.
    ///
    /// # Errors
    /// [`Error::Invalid`].
    pub fn validate(&self) -> Result<()> {
        let invalid = |value: String, reason| {
            Err(Error::Invalid {
                what: "the policy's value",
                value,
                reason,
            })
        };
        if self.rate == Some(0) {
            return invalid("rate 0".into(), "a rate is at least 1 a second");
        }
        if let (Some(from), Some(to)) = (self.valid_from, self.valid_to)
            && from >= to
        {
            let period = format!("{from} to {to}");
            return invalid(period, "a validity period ends after it begins");
        }
        if let Some(approvals) = &self.approvals {
            let count = approvals.administrators.len();
            if approvals.needed == 0 || usize::from(approvals.needed) > count {
                let value = format!("{} of {count}", approvals.needed);
                return invalid(
                    value,
                    "at least 1 and at most all administrators must agree",
                );
            }
            if count > MAX_ADMINISTRATORS {
                return invalid(count.to_string(), "at most 32 administrators are named");
            }
        }
        Ok(())
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer
            .u16(Operation::mask(&self.operations))
            .u16(Padding::mask(&self.paddings))
            .u16(Digest::mask(&self.digests))
            .optional(self.rate.map(u64::from))
            .optional(self.valid_from)
            .optional(self.valid_to);
        match &self.approvals {
            None => {
                writer.u8(0);
            }
            Some(approvals) => {
                // INVARIANT: validated before it is stored.
                let count = approvals.administrators.len() as u32;
                writer.u8(approvals.needed).u32(count);
                for &uid in &approvals.administrators {
                    writer.u32(uid);
                }
            }
        }
        writer.finish()
    }

    pub(crate) fn decode(encoding: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(encoding);
        let policy = Self {
            operations: Operation::members(reader.u16()?)?,
            paddings: Padding::members(reader.u16()?)?,
            digests: Digest::members(reader.u16()?)?,
            rate: match reader.optional()? {
                None => None,
                Some(rate) => Some(rate.try_into().ok()?),
            },
            valid_from: reader.optional()?,
            valid_to: reader.optional()?,
            approvals: match reader.u8()? {
                0 => None,
                needed => {
                    let count = reader.u32()?;
                    let administrators: Option<BTreeSet<_>> =
                        (0..count.min(1024)).map(|_| reader.u32()).collect();
                    Some(Approvals {
                        needed,
                        administrators: administrators?,
                    })
                }
            },
        };
        reader.finish()?;
        (policy.validate().is_ok() && policy.encode() == encoding).then_some(policy)
    }
}

impl Approvals {
    /// Whether enough of the administrators are among those who agree.
    pub fn met_by(&self, agreeing: &BTreeSet<u32>) -> bool {
        self.given_by(agreeing) >= self.needed
    }

    /// How many of the administrators are among those who agree.
    pub fn given_by(&self, agreeing: &BTreeSet<u32>) -> u8 {
        let given = self.administrators.intersection(agreeing).count();
        given.min(usize::from(u8::MAX)) as u8
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    pub(crate) fn any_policy() -> impl Strategy<Value = Policy> {
        let approvals = (1_u8..4, prop::collection::btree_set(any::<u32>(), 4..8));
        (
            (0_u16..8, 0_u16..8, 0_u16..2048),
            prop::option::of(1_u32..),
            prop::option::of(0_u64..1000),
            prop::option::of(1000_u64..2000),
            prop::option::of(approvals),
        )
            .prop_map(
                |((operations, paddings, digests), rate, valid_from, valid_to, approvals)| Policy {
                    operations: Operation::members(operations).expect("three bits"),
                    paddings: Padding::members(paddings).expect("three bits"),
                    digests: Digest::members(digests).expect("eleven bits"),
                    rate,
                    valid_from,
                    valid_to,
                    approvals: approvals.map(|(needed, administrators)| Approvals {
                        needed,
                        administrators,
                    }),
                },
            )
    }

    fn any_request() -> impl Strategy<Value = Request> {
        (
            prop::sample::select(Operation::ALL),
            prop::option::of(prop::sample::select(Padding::ALL)),
            prop::option::of(prop::sample::select(Digest::ALL)),
        )
            .prop_map(|(operation, padding, digest)| Request {
                operation,
                padding,
                digest,
            })
    }

    proptest! {
        #[test]
        fn the_default_allows_everything(request in any_request(), now: u64) {
            prop_assert_eq!(Policy::default().allows(&request, now), Ok(()));
        }

        #[test]
        fn a_use_is_allowed_only_if_each_part_of_it_is(
            policy in any_policy(), request in any_request(), now in 0_u64..2500,
        ) {
            let allowed = policy.operations.contains(&request.operation)
                && request.padding.is_none_or(|padding| policy.paddings.contains(&padding))
                && request.digest.is_none_or(|digest| policy.digests.contains(&digest))
                && policy.valid_from.is_none_or(|from| from <= now)
                && policy.valid_to.is_none_or(|to| now < to);
            prop_assert_eq!(policy.allows(&request, now).is_ok(), allowed);
        }

        #[test]
        fn less_in_a_policy_allows_no_more(
            policy in any_policy(), request in any_request(), now in 0_u64..2500,
        ) {
            let mut narrower = policy.clone();
            narrower.operations.pop_first();
            narrower.digests.pop_last();
            narrower.valid_to = narrower.valid_to.or(Some(1500));
            if narrower.allows(&request, now).is_ok() {
                prop_assert!(policy.allows(&request, now).is_ok());
            }
        }

        #[test]
        fn what_is_encoded_is_decoded(policy in any_policy()) {
            prop_assert_eq!(Policy::decode(&policy.encode()), Some(policy.clone()));
            let json = serde_json::to_string(&policy).expect("JSON");
            prop_assert_eq!(serde_json::from_str::<Policy>(&json).expect("JSON"), policy);
        }

        #[test]
        fn bytes_that_are_decoded_are_what_would_be_encoded(
            mut encoding in any_policy().prop_map(|policy| policy.encode()), at: prop::sample::Index, bit in 0..8,
        ) {
            let at = at.index(encoding.len());
            encoding[at] ^= 1_u8 << bit;
            if let Some(policy) = Policy::decode(&encoding) {
                prop_assert_eq!(policy.encode(), encoding);
            }
        }

        #[test]
        fn only_administrators_count_and_one_counts_once(
            administrators in prop::collection::btree_set(0_u32..20, 1..8), agreeing in prop::collection::btree_set(0_u32..20, 0..20),
            needed in 1_u8..8,
        ) {
            let approvals = Approvals { needed, administrators: administrators.clone() };
            let given = agreeing.iter().filter(|&uid| administrators.contains(uid)).count();
            prop_assert_eq!(approvals.met_by(&agreeing), given >= usize::from(needed));
        }
    }

    #[test]
    fn a_policy_that_makes_no_sense_is_refused() {
        let policy = |change: fn(&mut Policy)| {
            let mut policy = Policy::default();
            change(&mut policy);
            policy.validate()
        };
        assert!(policy(|_| ()).is_ok());
        assert!(policy(|policy| policy.rate = Some(0)).is_err());
        assert!(
            policy(|policy| (policy.valid_from, policy.valid_to) = (Some(2), Some(2))).is_err()
        );
        assert!(
            policy(|policy| policy.approvals = Some(Approvals {
                needed: 2,
                administrators: [1].into(),
            }))
            .is_err()
        );
    }
}
