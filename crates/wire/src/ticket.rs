//! What a login to a token gives: whoever has it may use the token's keys.

use std::fmt;

/// The bytes of a ticket, wherever they are. They are as secret as the PIN that they were given for.
#[derive(Clone, Copy)]
pub struct Ticket<'a>(pub &'a [u8; Ticket::LENGTH]);

impl Ticket<'_> {
    /// How many they are.
    pub const LENGTH: usize = 32;
}

/// Compares in constant time.
impl PartialEq for Ticket<'_> {
    fn eq(&self, other: &Self) -> bool {
        let differences = self.0.iter().zip(other.0).map(|(one, other)| one ^ other);
        std::hint::black_box(differences.fold(0, |all, one| all | one)) == 0
    }
}

impl Eq for Ticket<'_> {}

impl fmt::Debug for Ticket<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Ticket")
    }
}
