//! What a card is: how many there may be, how much each holds, and what can share the lanes.

use crate::Operation;

/// How many requests of one kind wait in a card at most.
pub const DEPTH: usize = 8;
/// The most cards of a process.
pub const MOST: usize = 16;

/// Requests of one kind can run in the lanes together.
///
/// The order is part of the ledger's layout: append, never reorder. The layout has room for sixteen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Kind {
    /// RSA-2048, signing and decrypting.
    Rsa2048,
    /// RSA-3072, signing and decrypting.
    Rsa3072,
    /// RSA-4096, signing and decrypting.
    Rsa4096,
    /// ECDSA with P-256.
    P256Sign,
    /// ECDH with P-256.
    P256Derive,
    /// Keys of P-256.
    P256Generate,
    /// ECDSA with P-384.
    P384Sign,
    /// ECDH with P-384.
    P384Derive,
    /// Keys of P-384.
    P384Generate,
    /// X25519.
    X25519Derive,
    /// Keys of X25519.
    X25519Generate,
    /// Ed25519.
    Ed25519Sign,
}

impl Kind {
    /// Every kind, in the ledger's order.
    pub const ALL: [Self; 12] = [
        Self::Rsa2048,
        Self::Rsa3072,
        Self::Rsa4096,
        Self::P256Sign,
        Self::P256Derive,
        Self::P256Generate,
        Self::P384Sign,
        Self::P384Derive,
        Self::P384Generate,
        Self::X25519Derive,
        Self::X25519Generate,
        Self::Ed25519Sign,
    ];

    /// How many there are.
    pub const COUNT: usize = Self::ALL.len();

    /// The kind of an operation, if the lanes do it.
    pub const fn of(operation: Operation) -> Option<Self> {
        Some(match operation {
            Operation::Rsa2048Sign | Operation::Rsa2048Decrypt => Self::Rsa2048,
            Operation::Rsa3072Sign | Operation::Rsa3072Decrypt => Self::Rsa3072,
            Operation::Rsa4096Sign | Operation::Rsa4096Decrypt => Self::Rsa4096,
            Operation::P256Sign => Self::P256Sign,
            Operation::P256Derive => Self::P256Derive,
            Operation::P256Keygen => Self::P256Generate,
            Operation::P384Sign => Self::P384Sign,
            Operation::P384Derive => Self::P384Derive,
            Operation::P384Keygen => Self::P384Generate,
            Operation::X25519Derive => Self::X25519Derive,
            Operation::X25519Keygen => Self::X25519Generate,
            Operation::Ed25519Sign => Self::Ed25519Sign,
            _ => return None,
        })
    }

    /// The operation that it is called by.
    pub const fn operation(self) -> Operation {
        match self {
            Self::Rsa2048 => Operation::Rsa2048Sign,
            Self::Rsa3072 => Operation::Rsa3072Sign,
            Self::Rsa4096 => Operation::Rsa4096Sign,
            Self::P256Sign => Operation::P256Sign,
            Self::P256Derive => Operation::P256Derive,
            Self::P256Generate => Operation::P256Keygen,
            Self::P384Sign => Operation::P384Sign,
            Self::P384Derive => Operation::P384Derive,
            Self::P384Generate => Operation::P384Keygen,
            Self::X25519Derive => Operation::X25519Derive,
            Self::X25519Generate => Operation::X25519Keygen,
            Self::Ed25519Sign => Operation::Ed25519Sign,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_count_up_and_lead_back() {
        for (index, kind) in Kind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, index);
            assert_eq!(Kind::of(kind.operation()), Some(kind));
        }
    }
}
