//! What measurements say of an operation.

use outboard_operation::Operation;

use super::Measurement;

/// An operation loses if at any size it has less than this ratio: the measurements of a draw lie
/// within two percent of one.
const LOSS: f64 = 0.98;
/// An operation wins if nowhere it loses and at some size it has at least this ratio.
const WIN: f64 = 1.03;
/// A short operation whose keys come anyway draws if nowhere it has less than this ratio.
const DRAW: f64 = 0.97;
/// What it costs to hand an operation back whose key came to us because another of its family wins:
/// libcrypto exports the key to us, and we decline it or pass it on, each time.
const HANDING_BACK_NS: f64 = 4_000.0;

/// What measurements say of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing was measured.
    Unmeasured,
    /// Nowhere slower, and somewhere surely faster: it is ours.
    Wins,
    /// No difference that counts; but it is short, and its keys come to us because another of its
    /// family wins, or it is one direction of a cipher whose other one wins: it is ours.
    DrawsWithItsFamily,
    /// Faster, but one direction of a cipher whose other one is slower.
    WinsOneWay,
    /// No difference that counts.
    Draws,
    /// Somewhere slower.
    Loses,
}

impl Verdict {
    /// What the measurements say of that operation.
    pub fn of(operation: Operation, measurements: &[Measurement]) -> Self {
        let sizes = sizes(operation, measurements);
        if sizes.clone().next().is_none() {
            return Self::Unmeasured;
        }
        let nowhere_slower = is_nowhere_slower(operation, measurements);
        if let Some(other) = operation.counterpart() {
            return match (wins(operation, measurements), nowhere_slower) {
                (true, _) if is_nowhere_slower(other, measurements) => Self::Wins,
                (true, _) => Self::WinsOneWay,
                (false, true) if wins(other, measurements) => Self::DrawsWithItsFamily,
                (false, true) => Self::Draws,
                (false, false) => Self::Loses,
            };
        }
        if wins(operation, measurements) {
            return Self::Wins;
        }
        let short_draw =
            |one: &Measurement| one.ratio >= DRAW && one.stock_ns * (1.0 - DRAW) < HANDING_BACK_NS;
        if sizes.clone().all(short_draw) && family_wins(operation, measurements) {
            return Self::DrawsWithItsFamily;
        }
        if nowhere_slower {
            Self::Draws
        } else {
            Self::Loses
        }
    }

    /// Whether the operation was measured on path `scalar`, and was nowhere slower than a draw may be.
    pub(super) fn is_no_loss(operation: Operation, measurements: &[Measurement]) -> bool {
        let mut sizes = sizes(operation, measurements).peekable();
        sizes.peek().is_some() && sizes.all(|one| one.ratio >= DRAW)
    }

    /// Whether Outboard should therefore do the operation.
    pub const fn is_ours(self) -> bool {
        matches!(self, Self::Wins | Self::DrawsWithItsFamily)
    }
}

fn sizes(
    operation: Operation,
    measurements: &[Measurement],
) -> impl Iterator<Item = &Measurement> + Clone {
    measurements
        .iter()
        .filter(move |one| one.operation == operation)
}

fn wins(operation: Operation, measurements: &[Measurement]) -> bool {
    let surely = |one: &Measurement| one.ratio >= WIN && one.low >= 1.0;
    sizes(operation, measurements).any(surely) && is_nowhere_slower(operation, measurements)
}

/// Whether it was measured, and at no size slower: a ratio that is no number is slower.
fn is_nowhere_slower(operation: Operation, measurements: &[Measurement]) -> bool {
    let mut sizes = sizes(operation, measurements).peekable();
    sizes.peek().is_some() && sizes.all(|one| one.ratio >= LOSS)
}

fn family_wins(operation: Operation, measurements: &[Measurement]) -> bool {
    let family = operation.family();
    family.is_some()
        && Operation::ALL
            .iter()
            .any(|&other| other.family() == family && wins(other, measurements))
}
