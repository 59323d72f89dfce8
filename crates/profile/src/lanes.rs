//! What the lanes are measured to gain, and when a card is therefore worth its queue.

use outboard_operation::card::DEPTH;
use outboard_operation::{Operation, Path};
use serde::{Deserialize, Serialize};

use super::{BreakEven, Choices, Measurement, Verdict};

/// One operation on the scalar path and in the lanes, alternating in one process.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LanesMeasurement {
    /// What was measured.
    pub operation: Operation,
    /// Median nanoseconds of one on path `scalar`.
    pub scalar_ns: f64,
    /// Median nanoseconds of a batch with all eight lanes filled; with fewer it takes as long.
    pub batch_ns: f64,
}

/// What it costs to have a request done by a card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Queueing {
    /// Nanoseconds of processor time for each request of a batch of eight, to queue it and to be told, beside its
    /// share of the batch.
    pub queue_ns: f64,
    /// Of these, what a batch costs however many it holds: to wake who runs it, and who waits for it. (An eighth of it
    /// is in `queue_ns`. Zero in profiles of earlier versions.)
    #[serde(default)]
    pub wake_ns: f64,
    /// Nanoseconds to pause a job of OpenSSL's and to resume it.
    pub pause_ns: f64,
}

/// A win must be as sure as this: batches are measured without what surrounds them.
const MARGIN: f64 = 1.03;
/// With so many requests together a card must pay: what needs more company is left where it is.
const COMPANY: u8 = 3;
/// With so many, where queueing in vain costs next to nothing. Processors that run 512 bits in two halves (Zen 4)
/// need five for RSA, and must not fall off this edge because a measurement was disturbed.
const COMPANY_OF_LONG: u8 = DEPTH as u8 * 3 / 4;
/// That share of an operation is next to nothing. (RSA-2048's queue in a virtual machine: 2.3 %.)
const NEXT_TO_NOTHING: f64 = 0.03;
/// No number of lanes.
const NEVER: u8 = DEPTH as u8 + 1;

impl LanesMeasurement {
    /// The fewest filled lanes that beat as many operations one by one; 9 where none do.
    pub fn break_even(&self) -> u8 {
        self.least(&Queueing::default())
    }

    /// The fewest that do so though they are queued; 9 where none do.
    fn least(&self, costs: &Queueing) -> u8 {
        (1..NEVER)
            .find(|&filled| {
                let alone = f64::from(filled) * self.scalar_ns;
                alone >= self.batch_ns * MARGIN + costs.of(filled)
            })
            .unwrap_or(NEVER)
    }
}

impl Queueing {
    /// What it costs to queue so many together.
    fn of(&self, filled: u8) -> f64 {
        let filled = f64::from(filled);
        filled * (self.queue_ns + self.pause_ns) + self.wake_ns * (1.0 - filled / DEPTH as f64)
    }
}

/// When the lanes pay by what was measured; what was not measured keeps what is built in.
pub(super) fn break_even(measurements: &[LanesMeasurement], costs: &Queueing) -> BreakEven {
    let mut break_even = BreakEven::default();
    for one in measurements {
        let queue = one.least(costs);
        break_even.set(one.operation, one.break_even(), queue);
    }
    break_even
}

/// Puts on cards what they gain, and what alone does not lose: a request without company runs as it
/// would without cards, or in one lane.
pub(super) fn choose(
    choices: &mut Choices,
    measurements: &[Measurement],
    lanes: &[LanesMeasurement],
    costs: &Queueing,
) {
    // Where there is company, whoever runs batches sleeps little: waking decides when to queue, not whether ever.
    let busy = Queueing {
        wake_ns: 0.0,
        ..*costs
    };
    let break_even = break_even(lanes, &busy);
    for one in lanes {
        let Some((in_lanes, queued)) = break_even.get(one.operation) else {
            continue;
        };
        let may_be_alone = choices.path(one.operation) != Path::Stock
            || Verdict::is_no_loss(one.operation, measurements)
            || in_lanes == 1 && beats_stock(one, measurements);
        let is_long = costs.queue_ns + costs.pause_ns <= one.scalar_ns * NEXT_TO_NOTHING;
        let company = if is_long { COMPANY_OF_LONG } else { COMPANY };
        if may_be_alone && (queued <= company || in_lanes == 1) {
            choices.set(one.operation, Path::Card);
        }
    }
}

/// Whether one filled lane beats stock.
fn beats_stock(lanes: &LanesMeasurement, measurements: &[Measurement]) -> bool {
    measurements
        .iter()
        .find(|one| one.operation == lanes.operation)
        .is_some_and(|one| one.stock_ns >= lanes.batch_ns * MARGIN)
}
