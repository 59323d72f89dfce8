//! When the lanes pay.

use outboard_operation::card::{DEPTH, Kind};
use outboard_operation::{Operation, Path};

use crate::{Choices, Machine, TakesLanes};

/// No number of lanes.
pub(crate) const NEVER: u8 = DEPTH as u8 + 1;

/// For each operation that the lanes do: the fewest filled lanes that pay, and whether one alone is spread across them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakEven {
    lanes: [u8; Kind::COUNT],
    queue: [u8; Kind::COUNT],
    threads: [u8; Kind::COUNT],
    wide: [bool; Kind::COUNT],
}

impl BreakEven {
    /// Sets it for an operation: `lanes` filled lanes beat as many operations one by one; `queue` of
    /// them do so though they had to be queued; `threads` of them do so though the thread of each slept meanwhile. 9 says
    /// never. An operation that the lanes don't do is passed over.
    pub fn set(&mut self, operation: Operation, lanes: u8, queue: u8, threads: u8) {
        if let Some(kind) = Kind::of(operation) {
            self.lanes[kind as usize] = lanes.clamp(1, NEVER);
            self.queue[kind as usize] = queue.clamp(1, NEVER);
            self.threads[kind as usize] = threads.clamp(1, NEVER);
        }
    }

    /// The same, but that nothing is queued which the choices keep off cards.
    #[must_use]
    pub(crate) fn as_chosen(mut self, choices: &Choices) -> Self {
        for kind in Kind::ALL {
            if choices.path(kind.operation()) == Path::Wide {
                self.queue[kind as usize] = NEVER;
                self.threads[kind as usize] = NEVER;
            }
        }
        self
    }

    /// Sets whether one alone goes across the lanes.
    pub fn set_wide(&mut self, operation: Operation, wide: bool) {
        if let Some(kind) = Kind::of(operation) {
            self.wide[kind as usize] = wide;
        }
    }

    /// Whether one alone goes across the lanes.
    pub fn is_wide(&self, kind: Kind) -> bool {
        self.wide[kind as usize]
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

    /// The fewest requests that beat as many one by one though they had to be queued; more than there are lanes: never.
    pub fn of_queue(&self, kind: Kind) -> usize {
        usize::from(self.queue[kind as usize])
    }

    /// The same where the thread of each request sleeps until it is done.
    pub fn of_threads(&self, kind: Kind) -> usize {
        usize::from(self.threads[kind as usize])
    }
}

impl BreakEven {
    /// What is taken for granted of a processor (`docs/lanes.md`, `docs/cards.md`) where `outboard calibrate` did not
    /// measure.
    pub fn built_in(machine: &Machine) -> Self {
        let Some(takes) = machine.takes_lanes() else {
            return Self::default();
        };
        let beside_wide = |kind| match takes {
            TakesLanes::AtOnce => beside_wide(kind),
            TakesLanes::InHalves => beside_wide_in_halves(kind),
        };
        Self {
            lanes: Kind::ALL.map(|kind| beside_wide(kind).0),
            queue: Kind::ALL.map(|kind| beside_wide(kind).1),
            threads: Kind::ALL.map(|kind| match sleeps_longer(kind) {
                true => NEVER,
                false => beside_wide(kind).1,
            }),
            wide: [true; Kind::COUNT],
        }
    }
}

impl Default for BreakEven {
    /// What holds on every processor that has lanes.
    fn default() -> Self {
        Self {
            lanes: Kind::ALL.map(|kind| usual(kind).0),
            queue: Kind::ALL.map(|kind| usual(kind).1),
            threads: Kind::ALL.map(|kind| usual(kind).1),
            wide: [false; Kind::COUNT],
        }
    }
}

/// The fewest filled lanes that beat the scalar path, and that do so though they had to be queued.
const fn usual(kind: Kind) -> (u8, u8) {
    match kind {
        // From 3 on Intel; from so many where 512 bits run in two halves, which must not lose.
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

/// The same where one alone goes across the lanes, as all do.
const fn beside_wide(kind: Kind) -> (u8, u8) {
    match kind {
        Kind::Rsa2048 | Kind::Rsa3072 | Kind::Rsa4096 => (6, 6),
        Kind::P256Sign | Kind::P384Sign | Kind::P256Generate => (3, 5),
        Kind::P384Generate => (4, 6),
        Kind::P256Derive | Kind::X25519Derive => (3, 4),
        Kind::P384Derive => (4, 5),
        Kind::X25519Generate | Kind::Ed25519Sign => (4, 9),
    }
}

/// The same where the processor takes the lanes in two halves.
const fn beside_wide_in_halves(kind: Kind) -> (u8, u8) {
    match kind {
        Kind::Rsa2048 | Kind::Rsa3072 | Kind::Rsa4096 => (7, 7),
        Kind::X25519Generate => (5, 9),
        _ => beside_wide(kind),
    }
}

/// Whether a thread that waits for a batch sleeps longer than one takes across the lanes: that is not worth it.
const fn sleeps_longer(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::P256Sign
            | Kind::P384Sign
            | Kind::P256Generate
            | Kind::P384Generate
            | Kind::X25519Derive
    )
}
