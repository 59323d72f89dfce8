//! How many cards a process may have, and when they pay.

use super::kind::Kind;
use crate::Operation;

/// What a process lets its cards do.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The most cards; 0: none, all runs inline. `None`: as many as the processors that the process may
    /// run on. Never more than [`MOST`](super::MOST).
    pub limit: Option<usize>,
    /// When the lanes pay.
    pub break_even: BreakEven,
}

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

    pub(super) fn of_lanes(&self, kind: Kind) -> usize {
        usize::from(self.lanes[kind as usize])
    }

    pub(super) fn of_queue(&self, kind: Kind) -> usize {
        usize::from(self.queue[kind as usize])
    }
}

impl Default for BreakEven {
    /// What was measured for `docs/lanes.md`.
    fn default() -> Self {
        Self {
            lanes: Kind::ALL.map(|kind| kind.usual_break_even().0),
            queue: Kind::ALL.map(|kind| kind.usual_break_even().1),
        }
    }
}
