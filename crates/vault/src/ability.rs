//! What keys of a type can do. A policy restricts it, and cannot extend it.

use crate::KeyType;
use crate::policy::{Digest, Operation, Padding, Policy};

/// The digests that the card service can be told of.
const DIGESTS: &[Digest] = &[
    Digest::Unnamed,
    Digest::Md5Sha1,
    Digest::Sha1,
    Digest::Sha224,
    Digest::Sha256,
    Digest::Sha384,
    Digest::Sha512,
];

impl Policy {
    /// The widest policy of keys of that type: all that they can do, and nothing else.
    pub fn widest(key_type: KeyType) -> Self {
        use Operation::{Decrypt, Derive, Sign};
        let (operations, paddings, digests): (&[_], &[_], &[_]) = match key_type {
            KeyType::Rsa(_) => (&[Sign, Decrypt], Padding::ALL, DIGESTS),
            KeyType::P256 | KeyType::P384 | KeyType::P521 => (&[Sign, Derive], &[], DIGESTS),
            // It hashes inside.
            KeyType::Ed25519 => (&[Sign], &[], &[]),
        };
        Self {
            operations: operations.iter().copied().collect(),
            paddings: paddings.iter().copied().collect(),
            digests: digests.iter().copied().collect(),
            ..Self::default()
        }
    }

    /// What it allows a key of that type: of what the key can do, no operation without a padding, and no padding without an
    /// operation.
    pub fn narrowed(&self, key_type: KeyType) -> Self {
        let mut narrowed = self.clone();
        let widest = Self::widest(key_type);
        narrowed.digests.retain(|one| widest.digests.contains(one));
        let operations = &mut narrowed.operations;
        let paddings = &mut narrowed.paddings;
        operations.retain(|one| widest.operations.contains(one));
        paddings.retain(|padding| {
            widest.paddings.contains(padding) && operations.iter().any(|one| padding.serves(*one))
        });
        if let KeyType::Rsa(_) = key_type {
            operations.retain(|one| paddings.iter().any(|padding| padding.serves(*one)));
        }
        narrowed
    }
}

impl Padding {
    /// Whether the operation can have it.
    fn serves(self, operation: Operation) -> bool {
        match operation {
            Operation::Sign => self != Self::Oaep,
            Operation::Decrypt => self != Self::Pss,
            Operation::Derive => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_allows_no_more_than_the_type_can() {
        for key_type in KeyType::MADE {
            let narrowed = Policy::default().narrowed(key_type);
            assert_eq!(narrowed, Policy::widest(key_type));
            assert_eq!(narrowed.narrowed(key_type), narrowed);
        }
        let rsa = KeyType::Rsa(2048);
        let of = |paddings: &[Padding]| {
            let paddings = paddings.iter().copied().collect();
            let policy = Policy {
                paddings,
                ..Policy::default()
            };
            policy.narrowed(rsa).operations
        };
        assert_eq!(of(&[Padding::Pss]), [Operation::Sign].into());
        assert_eq!(of(&[Padding::Oaep]), [Operation::Decrypt].into());
        assert_eq!(of(&[Padding::Pkcs1]), Policy::widest(rsa).operations);
        let signs = Policy {
            operations: [Operation::Sign].into(),
            ..Policy::default()
        };
        assert!(!signs.narrowed(rsa).paddings.contains(&Padding::Oaep));
    }
}
