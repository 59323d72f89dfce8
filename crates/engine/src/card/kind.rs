//! What can share the lanes.

use crate::Operation;

/// Requests of one kind can run in the lanes together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Kind {
    Rsa2048,
    Rsa3072,
    Rsa4096,
    P256Sign,
    P256Derive,
    P256Generate,
    P384Sign,
    P384Derive,
    P384Generate,
    X25519Derive,
    X25519Generate,
    Ed25519Sign,
}

impl Kind {
    pub(crate) const ALL: [Self; 12] = [
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
    pub(crate) const COUNT: usize = Self::ALL.len();

    /// The kind of an operation, if the lanes do it.
    pub(crate) const fn of(operation: Operation) -> Option<Self> {
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
    pub(crate) const fn operation(self) -> Operation {
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

    /// The fewest filled lanes that beat the scalar path, and that do so though they had to be queued:
    /// what is taken for granted (`docs/lanes.md`, `docs/cards.md`) where `outboard calibrate` did not
    /// measure.
    pub(crate) const fn usual_break_even(self) -> (u8, u8) {
        match self {
            // From 3 on Intel and Zen 5; from so many on Zen 4, which must not lose.
            Self::Rsa2048 | Self::Rsa3072 => (4, 4),
            Self::Rsa4096 => (5, 5),
            Self::P256Sign => (1, 3),
            Self::P384Sign | Self::P384Generate => (1, 2),
            Self::P256Derive | Self::P384Derive => (2, 2),
            Self::X25519Derive => (2, 3),
            Self::P256Generate => (2, 4),
            Self::X25519Generate | Self::Ed25519Sign => (2, 9),
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
