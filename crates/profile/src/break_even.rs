//! When the lanes pay.

use outboard_operation::Operation;
use outboard_operation::card::Kind;

/// The fewest filled lanes that pay, for each operation that the lanes do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakEven {
    lanes: [u8; Kind::COUNT],
    queue: [u8; Kind::COUNT],
}

impl BreakEven {
    /// Sets it for an operation: `lanes` filled lanes beat as many operations one by one; `queue` of
    /// them do so though they had to be queued. 9 says never. An operation that the lanes don't do is
    /// passed over.
    pub fn set(&mut self, operation: Operation, lanes: u8, queue: u8) {
        if let Some(kind) = Kind::of(operation) {
            self.lanes[kind as usize] = lanes.clamp(1, 9);
            self.queue[kind as usize] = queue.clamp(1, 9);
        }
    }

    /// The fewest filled lanes that beat as many operations one by one, then the fewest that do so though
    /// they had to be queued; `None` for an operation that the lanes don't do.
    pub fn get(&self, operation: Operation) -> Option<(u8, u8)> {
        let kind = Kind::of(operation)?;
        Some((self.lanes[kind as usize], self.queue[kind as usize]))
    }

    /// The fewest filled lanes that beat as many requests one by one.
    pub fn of_lanes(&self, kind: Kind) -> usize {
        usize::from(self.lanes[kind as usize])
    }

    /// The fewest requests that beat as many one by one though they had to be queued.
    pub fn of_queue(&self, kind: Kind) -> usize {
        usize::from(self.queue[kind as usize])
    }
}

impl Default for BreakEven {
    /// What was measured for `docs/lanes.md`.
    fn default() -> Self {
        Self {
            lanes: Kind::ALL.map(|kind| usual(kind).0),
            queue: Kind::ALL.map(|kind| usual(kind).1),
        }
    }
}

/// The fewest filled lanes that beat the scalar path, and that do so though they had to be queued:
/// what is taken for granted (`docs/lanes.md`, `docs/cards.md`) where `outboard calibrate` did not
/// measure.
const fn usual(kind: Kind) -> (u8, u8) {
    match kind {
        // From 3 on Intel and Zen 5; from so many on Zen 4, which must not lose.
        Kind::Rsa2048 | Kind::Rsa3072 => (4, 4),
        Kind::Rsa4096 => (5, 5),
        Kind::P256Sign => (1, 3),
        Kind::P384Sign | Kind::P384Generate => (1, 2),
        Kind::P256Derive | Kind::P384Derive => (2, 2),
        Kind::X25519Derive => (2, 3),
        Kind::P256Generate => (2, 4),
        Kind::X25519Generate | Kind::Ed25519Sign => (2, 9),
    }
}
