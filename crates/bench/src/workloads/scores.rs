//! The result of a contest in this process, as rows.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use outboard_measure::{Outcome, Score, Sides};

use crate::Failure;
use crate::proof::{Expected, Proof};
use crate::result::{Better, Ratio, Row};
use crate::statistics::rounded;
use crate::suite::Session;

/// What Outboard's side has done in this process so far, by operation. The ledger is the process's, for
/// all its workloads: so is this.
static DONE: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());

/// Whether the ledger has so many operations more than before. What did them has to be dropped by then:
/// a cipher's context counts for itself and adds it to the ledger from time to time, and at its end.
pub(super) fn prove(
    session: &Session<'_>,
    sides: &Sides,
    operation: &str,
    times: u64,
) -> Result<Proof, Failure> {
    let all = {
        // A panic between two additions leaves sums.
        let mut done = DONE.lock().unwrap_or_else(PoisonError::into_inner);
        let all = done.entry(operation.to_owned()).or_insert(0);
        *all += times;
        *all
    };
    let expected = Expected::operations(operation, all);
    let ledger = sides.configurations().ledger();
    session.installation.proofs.find_in(&ledger, &[expected])
}

/// How the time of one call is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Figure {
    /// Operations per second of one core, so many at a time.
    Rate(usize),
    /// Bytes per second of one core, so many for an operation.
    Throughput(usize),
}

impl Figure {
    fn name(self) -> (&'static str, &'static str) {
        match self {
            Self::Rate(_) => ("rate", "1/s"),
            Self::Throughput(_) => ("throughput", "B/s"),
        }
    }

    /// From the nanoseconds of one call.
    fn of(self, nanoseconds: f64) -> f64 {
        let amount = match self {
            Self::Rate(amount) | Self::Throughput(amount) => amount as f64,
        };
        rounded(amount * 1e9 / nanoseconds)
    }
}

/// The rows of one figure. The setups are in the contest's order, the first is the baseline; those
/// that have to be proved come with their proof.
pub(super) fn rows(
    labels: &[(&str, &str)],
    figure: Figure,
    setups: &[(&str, Option<&Proof>)],
    outcome: &Outcome,
) -> Vec<Row> {
    let (measure, unit) = figure.name();
    let row = |(index, (&(setup, proof), score)): (usize, (&(&str, Option<&Proof>), &Score))| Row {
        labels: labels
            .iter()
            .map(|&(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        measure: measure.to_owned(),
        unit: unit.to_owned(),
        better: Better::Higher,
        setup: setup.to_owned(),
        samples: outcome.rounds as u64,
        median: figure.of(score.nanoseconds),
        low: figure.of(score.quartiles.1),
        high: figure.of(score.quartiles.0),
        ratio: (index > 0).then(|| Ratio {
            baseline: setups[0].0.to_owned(),
            median: rounded(score.ratio),
            low: rounded(score.confidence.0),
            high: rounded(score.confidence.1),
        }),
        proof: proof.map(|proof| proof.text.clone()),
        invalid: proof.and_then(Proof::reason_against),
    };
    setups
        .iter()
        .zip(&outcome.scores)
        .enumerate()
        .map(row)
        .collect()
}
