//! What the lanes are measured to gain, and when a card is therefore worth its queue.

use outboard_operation::card::DEPTH;
use outboard_operation::{Operation, Path};
use serde::{Deserialize, Serialize};

use super::break_even::NEVER;
use super::{BreakEven, Choices, Measurement, Verdict};

/// One operation on the scalar path and in the lanes, alternating in one process.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LanesMeasurement {
    /// What was measured.
    pub operation: Operation,
    /// Median nanoseconds of one on path `scalar`.
    pub scalar_ns: f64,
    /// Median nanoseconds of a batch with all eight lanes filled; with fewer it takes as long. Absent where the lanes do one
    /// at a time alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_ns: Option<f64>,
    /// Median nanoseconds of one across all eight lanes. Absent where the lanes don't do that, and in profiles of
    /// earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wide_ns: Option<f64>,
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
    /// Nanoseconds of processor time for each request of a batch of eight whose threads sleep until they are told. (Zero in
    /// profiles of earlier versions.)
    #[serde(default)]
    pub sleep_ns: f64,
}

/// A win must be as sure as this: batches are measured without what surrounds them.
const MARGIN: f64 = 1.03;
/// With so many requests together a card must pay: what needs more company is left where it is.
const COMPANY: u8 = 3;
/// With so many, where queueing in vain costs next to nothing. RSA needs five on processors that run 512 bits in two halves,
/// and six or seven beside one across the lanes (Zen 5, Zen 4).
const COMPANY_OF_LONG: u8 = DEPTH as u8 - 1;
/// That share of an operation is next to nothing: who queues in vain does so less and less often. (RSA-2048's queue in a
/// virtual machine: 2.3 % of the scalar path's time, and 7 % of that across the lanes.)
const NEXT_TO_NOTHING: f64 = 0.1;

/// One operation across the lanes must beat the scalar path by this: it heats more of the processor.
const WIDE_WINS: f64 = 1.1;

impl LanesMeasurement {
    /// Whether one alone is best spread across the lanes.
    pub fn is_wide(&self) -> bool {
        self.wide_ns
            .is_some_and(|wide| self.scalar_ns >= wide * WIDE_WINS)
    }

    /// Nanoseconds of one alone, on the scalar path or across the lanes.
    pub fn alone_ns(&self) -> f64 {
        self.wide_ns
            .filter(|_| self.is_wide())
            .unwrap_or(self.scalar_ns)
    }

    /// The fewest filled lanes that beat as many operations one by one; 9 where none do.
    pub fn break_even(&self) -> u8 {
        self.least(&Queueing::default())
    }

    /// The fewest that do so though they are queued; 9 where none do.
    fn least(&self, costs: &Queueing) -> u8 {
        let pays = |batch: f64, filled| {
            let alone = f64::from(filled) * self.alone_ns();
            alone >= batch * MARGIN + costs.of(filled)
        };
        let least = |batch| (1..NEVER).find(|&filled| pays(batch, filled));
        self.batch_ns.and_then(least).unwrap_or(NEVER)
    }
}

impl Queueing {
    /// What it costs to queue so many together.
    fn of(&self, filled: u8) -> f64 {
        let filled = f64::from(filled);
        filled * (self.queue_ns + self.pause_ns) + self.wake_ns * (1.0 - filled / DEPTH as f64)
    }

    /// The same for threads that sleep meanwhile, instead of jobs that pause.
    fn of_threads(self) -> Self {
        Self {
            queue_ns: self.queue_ns.max(self.sleep_ns),
            pause_ns: 0.0,
            ..self
        }
    }
}

/// When the lanes pay by what was measured; what was not measured keeps what is built in.
pub(super) fn break_even(measurements: &[LanesMeasurement], costs: &Queueing) -> BreakEven {
    let mut break_even = BreakEven::default();
    for one in measurements {
        let (queue, threads) = (one.least(costs), one.least(&costs.of_threads()));
        break_even.set(one.operation, one.break_even(), queue, threads);
        break_even.set_wide(one.operation, one.is_wide());
    }
    break_even
}

/// Puts on cards what they gain, and what alone does not lose: a request without company runs as it
/// would without cards, across the lanes, or in one of them. What gains across the lanes alone goes there.
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
            // Programs get these by another setting, and before OpenSSL 3.5 there is no stock to lose against.
            if one.operation.is_wide_alone() && one.is_wide() {
                choices.set(one.operation, Path::Wide);
            }
            continue;
        };
        let gains_alone = one.is_wide() || in_lanes == 1;
        let may_be_alone = choices.path(one.operation) != Path::Stock
            || Verdict::is_no_loss(one.operation, measurements)
            || gains_alone && beats_stock(one, measurements);
        let is_long = costs.queue_ns + costs.pause_ns <= one.alone_ns() * NEXT_TO_NOTHING;
        let company = if is_long { COMPANY_OF_LONG } else { COMPANY };
        if may_be_alone && (queued <= company || in_lanes == 1) {
            choices.set(one.operation, Path::Card);
        } else if may_be_alone && one.is_wide() {
            choices.set(one.operation, Path::Wide);
        }
    }
}

/// Whether one alone beats stock: across the lanes, or with one of them filled.
fn beats_stock(lanes: &LanesMeasurement, measurements: &[Measurement]) -> bool {
    let ours = lanes.batch_ns.unwrap_or(f64::MAX).min(lanes.alone_ns());
    measurements
        .iter()
        .find(|one| one.operation == lanes.operation)
        .is_some_and(|one| one.stock_ns >= ours * MARGIN)
}
