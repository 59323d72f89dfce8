//! Every operation on both paths, for the profile.

use std::path::Path;
use std::time::Duration;

use outboard_libcrypto::Library;
use outboard_operation::Operation;
use outboard_profile::{LanesMeasurement, Measurement, Queueing};

use crate::{Error, Keys, Offer, Outcome, Plan, Result, Sides, Workload, duel, lanes, validate};

/// How far a calibration has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// What is measured now.
    pub operation: Operation,
    /// At how many bytes; 0 where that means nothing.
    pub size: usize,
    /// How many measurements are done.
    pub done: usize,
    /// How many there will be.
    pub total: usize,
}

/// What a calibration found.
#[derive(Debug)]
pub struct Calibration {
    /// The version of the libcrypto that was measured against.
    pub libcrypto: String,
    /// One for each operation and size.
    pub measurements: Vec<Measurement>,
    /// What the lanes gain; empty where there are none.
    pub lanes: Vec<LanesMeasurement>,
    /// What a card costs.
    pub queueing: Queueing,
    /// The operations that could not be measured, which stay with stock, and why.
    pub left_out: Vec<LeftOut>,
}

/// An operation that could not be measured.
#[derive(Debug)]
pub struct LeftOut {
    /// The operation.
    pub operation: Operation,
    /// Why.
    pub reason: Reason,
}

/// Why an operation could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum Reason {
    /// Outboard does not do it.
    #[error("Outboard does not do it")]
    NotOffered,
    /// It failed, or the sides disagreed: a bug that deserves a report.
    #[error(transparent)]
    Failed(#[from] Error),
}

/// The time that a calibration takes unless told otherwise. With making keys, and with looking longer
/// where it is near a draw, it stays below a minute.
pub const USUAL_TIME: Duration = Duration::from_secs(36);

/// Measures every operation in `library`, stock against the provider at `module`, then what the lanes
/// gain and what a card costs, in about `time`; beside that, making keys takes a few seconds. `progress` is told before each.
///
/// # Errors
/// Where the provider cannot be loaded. What goes wrong with one operation only leaves that out.
pub fn calibrate(
    library: &Library,
    module: &Path,
    time: Duration,
    progress: &mut dyn FnMut(Progress),
) -> Result<Calibration> {
    let sides = Sides::new(library, module, &Offer::Scalar)?;
    let keys = Keys::new(&sides.stock);
    let workloads: Vec<(Operation, Vec<Workload>)> = Operation::compared()
        .map(|operation| (operation, Workload::of(operation)))
        .collect();
    let total = workloads.iter().map(|(_, workloads)| workloads.len()).sum();
    let plan = Plan {
        budget: time * 5 / 6 / u32::try_from(total).unwrap_or(u32::MAX).max(1),
        ..Plan::default()
    };

    let mut done = 0;
    let mut measurements = Vec::with_capacity(total);
    let mut left_out = Vec::new();
    for (operation, workloads) in &workloads {
        let operation = *operation;
        let before = done;
        let mut measure = || -> std::result::Result<Vec<Measurement>, Reason> {
            progress(Progress {
                operation,
                size: workloads[0].size,
                done,
                total,
            });
            validate(&sides, &keys, operation)?;
            workloads
                .iter()
                .map(|workload| {
                    progress(Progress {
                        operation,
                        size: workload.size,
                        done,
                        total,
                    });
                    done += 1;
                    measure(&sides, &keys, workload, &plan)
                        .map(|outcome| measurement(operation, workload.size, &outcome))
                })
                .collect()
        };
        match measure() {
            Ok(found) => measurements.extend(found),
            Err(reason) => left_out.push(LeftOut { operation, reason }),
        }
        done = before + workloads.len();
    }
    let lanes = lanes::measure(&sides.stock, &keys, time / 6)?;
    let queueing = if lanes.is_empty() {
        Queueing::default()
    } else {
        lanes::queueing(library)?
    };
    Ok(Calibration {
        libcrypto: library.version(),
        measurements,
        lanes,
        queueing,
        left_out,
    })
}

fn measure(
    sides: &Sides,
    keys: &Keys,
    workload: &Workload,
    plan: &Plan,
) -> std::result::Result<Outcome, Reason> {
    let look = |budget| -> std::result::Result<_, Reason> {
        let mut stock = workload.prepare(&sides.stock, keys)?;
        let mut outboard = workload.prepare(&sides.outboard, keys)?;
        if outboard.served_by.as_deref() != Some("outboard") {
            return Err(Reason::NotOffered);
        }
        let plan = Plan { budget, ..*plan };
        let outcome = duel(stock.contender(), outboard.contender(), &plan)?;
        Ok((outcome, (stock, outboard)))
    };
    let (outcome, _first) = look(plan.budget)?;
    if wins_surely(&outcome) {
        return Ok(outcome);
    }
    // Who wins is decided within a few percent, and as much may depend on where in memory the contexts
    // happen to lie: look longer, at others (those before live on, so that they lie elsewhere). A loss at one size leaves all of
    // the operation to stock, so no single look decides it, however clear: on a busy machine one in a thousand shows any ratio.
    let (second, _second) = look(plan.budget * 3 / 2)?;
    let (third, _third) = look(plan.budget * 3 / 2)?;
    Ok(middle([outcome, second, third]))
}

/// The outcome with the middle ratio.
fn middle(mut outcomes: [Outcome; 3]) -> Outcome {
    outcomes.sort_by(|a, b| a.scores[1].ratio.total_cmp(&b.scores[1].ratio));
    let [_, middle, _] = outcomes;
    middle
}

/// Whether more looks would say the same: that Outboard wins.
fn wins_surely(outcome: &Outcome) -> bool {
    outcome.scores[1].confidence.0 >= 1.05
}

fn measurement(operation: Operation, size: usize, outcome: &Outcome) -> Measurement {
    let [stock, scalar] = &outcome.scores[..] else {
        unreachable!("a duel has two scores");
    };
    Measurement {
        operation,
        size: size as u64,
        stock_ns: stock.nanoseconds,
        scalar_ns: scalar.nanoseconds,
        ratio: scalar.ratio,
        low: scalar.low,
        high: scalar.high,
    }
}
