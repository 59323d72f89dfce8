//! What Outboard did for programs: the share of their operations that it served, and the saved CPU time.

use outboard_ledger::{Counts, Queueing, Row};
use outboard_operation::Path;
use outboard_profile::{Measurement, Profile};
use serde::Serialize;

/// The operations that programs asked for, and those that Outboard served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Served {
    /// Operations that programs asked of Outboard.
    pub asked: u64,
    /// The operations that ran on Outboard's own paths, not on path stock.
    pub served: u64,
    /// The saved CPU time according to the profile. None if the profile has no measurement of a served operation.
    pub saved_cpu_seconds: Option<f64>,
}

impl Served {
    /// The counts, priced by a profile.
    pub fn of(counts: &Counts, profile: &Profile) -> Self {
        let left_to_stock = counts.fallback_rows();
        let left_to_stock = left_to_stock.filter(|fallback| fallback.reason.is_to_stock());
        let mut sum = Self {
            asked: left_to_stock.map(|fallback| fallback.count).sum(),
            ..Self::default()
        };
        for row in counts.rows() {
            let operations = row.work.operations;
            let is_served = row.path != Path::Stock;
            sum.add(Self {
                asked: operations,
                served: if is_served { operations } else { 0 },
                saved_cpu_seconds: match is_served {
                    true => saved(&row, counts.queueing(row.operation), profile),
                    false => None,
                },
            });
        }
        sum
    }

    /// Adds another's.
    pub fn add(&mut self, other: Self) {
        self.asked += other.asked;
        self.served += other.served;
        if let Some(saved) = other.saved_cpu_seconds {
            *self.saved_cpu_seconds.get_or_insert(0.0) += saved;
        }
    }

    /// The share of all operations that Outboard served, in percent.
    pub fn share(&self) -> Option<f64> {
        (self.asked > 0).then(|| 100.0 * float(self.served) / float(self.asked))
    }
}

/// The additional CPU seconds that OpenSSL would have needed, according to the measurement of the nearest size.
fn saved(row: &Row, queueing: Option<&Queueing>, profile: &Profile) -> Option<f64> {
    let operations = float(row.work.operations);
    let size = float(row.work.bytes) / operations.max(1.0);
    let distance = |one: &&Measurement| (float(one.size.max(1)) / size.max(1.0)).ln().abs();
    let measured = profile.measurements.iter();
    let nearest = measured
        .filter(|one| one.operation == row.operation)
        .min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    // A cost grows with the size from the nearest size that was measured.
    let scale = match nearest.size {
        0 => 1.0,
        measured => size / float(measured),
    };
    let ours = match row.path {
        Path::Card => {
            let lanes = profile
                .lanes
                .iter()
                .find(|one| one.operation == row.operation)?;
            let fill = queueing.and_then(Queueing::average_fill).unwrap_or(1.0);
            lanes.batch_ns? / fill.max(1.0)
        }
        Path::Wide => {
            let mut lanes = profile.lanes.iter();
            lanes.find(|one| one.operation == row.operation)?.wide_ns?
        }
        _ => nearest.scalar_ns,
    };
    Some(operations * scale * (nearest.stock_ns - ours) / 1e9)
}

#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn float(number: u64) -> f64 {
    number as f64
}

/// `12.3 s of CPU time`, for people.
pub fn seconds(seconds: f64) -> String {
    let sign = if seconds < 0.0 { "-" } else { "" };
    format!("{sign}{}", outboard_wording::time(seconds.abs() * 1e9))
}

#[cfg(test)]
mod tests {
    use super::*;
    use outboard_ledger::{Ledger, Reason, Snapshot};
    use outboard_operation::Operation;
    use outboard_profile::Machine;
    use std::time::Duration;

    #[test]
    fn what_was_left_to_stock_was_asked_too() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = directory.path().join("ledger");
        let ledger = Ledger::open(&file);
        for _ in 0..3 {
            ledger.record(
                Operation::P256Sign,
                Path::Scalar,
                0,
                Duration::from_micros(9),
            );
        }
        ledger.fall_back(Operation::P256Sign, Reason::Randomness);
        // Counted as what ran on another path of Outboard.
        ledger.fall_back(Operation::P256Sign, Reason::Alone);
        let counts = Snapshot::read(&file).expect("a ledger").total();
        let profile = Profile::measured(Machine::glance(), "3.0.0", Vec::new());
        let served = Served::of(&counts, &profile);
        assert_eq!((served.asked, served.served), (4, 3));
        assert_eq!(served.share(), Some(75.0));
    }

    #[test]
    fn sums_know_what_is_unknown() {
        let mut sum = Served::default();
        assert_eq!(sum.share(), None);
        sum.add(Served {
            asked: 3,
            served: 0,
            saved_cpu_seconds: None,
        });
        assert_eq!(sum.saved_cpu_seconds, None);
        sum.add(Served {
            asked: 1,
            served: 1,
            saved_cpu_seconds: Some(2.5),
        });
        assert_eq!(sum.share(), Some(25.0));
        assert_eq!(sum.saved_cpu_seconds, Some(2.5));
        assert_eq!(seconds(-0.0015), "-1.50 ms");
    }
}
