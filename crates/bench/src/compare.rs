//! `outboard-bench compare OLD NEW`: did something get worse?
//!
//! This compares each figure's ratio to its baseline, not the figure itself. The baseline took turns with the figure, so
//! the ratio is stable from one hour to the next. Absolute figures are not. On one quiet machine, `--absolute` also
//! compares the figures.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::Failure;
use crate::result::{Better, ResultFile, Row, Table, least_difference, read_all};
use crate::table::{Align, table};

/// The status if something got worse.
const REGRESSION: u8 = 1;

/// The status if there is nothing to compare: results that cannot be read or share no figure.
const INCOMPARABLE: u8 = 2;

/// Options of `outboard-bench compare`.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// The old results: a directory, or one file
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// The new results: a directory, or one file
    #[arg(value_name = "NEW")]
    new: PathBuf,
    /// How much worse a figure may be, in percent; with fewer than six pairs, 50 divided by their number
    #[arg(long, value_name = "PERCENT", default_value_t = 3.0, value_parser = percent)]
    tolerance: f64,
    /// Also compare the figures themselves; both results must come from the same quiet machine
    #[arg(long)]
    absolute: bool,
    /// Show every figure, not only changed ones
    #[arg(long)]
    all: bool,
}

/// From 0 to less than 100.
fn percent(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if (0.0..100.0).contains(&value) {
        Ok(value)
    } else {
        Err("give a number from 0 to less than 100".to_owned())
    }
}

/// Runs it: status 0 if nothing got worse, 1 if something did, 2 if there is nothing to compare.
///
/// # Errors
/// None today: results that cannot be compared give a message and status 2.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let (old, new) = match (read_all(&arguments.old), read_all(&arguments.new)) {
        (Ok(old), Ok(new)) => (old, new),
        (Err(error), _) | (_, Err(error)) => {
            eprintln!("outboard-bench: {error}");
            return Ok(ExitCode::from(INCOMPARABLE));
        }
    };
    let comparison = Comparison::new(&old, &new, arguments.absolute, arguments.tolerance / 100.0);
    if comparison.changes.is_empty() {
        eprintln!("outboard-bench: the results have no figure in common");
        return Ok(ExitCode::from(INCOMPARABLE));
    }
    print!("{}", comparison.text(arguments.all));
    Ok(if comparison.worse() > 0 {
        ExitCode::from(REGRESSION)
    } else {
        ExitCode::SUCCESS
    })
}

/// What became of one figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Where it is: "speed, operations".
    pub place: String,
    /// Which it is: "rsa-2048-sign, rate, outboard".
    pub figure: String,
    /// Times as good as the baseline, or the figure itself: before and now.
    pub old: f64,
    /// See `old`.
    pub new: f64,
    /// How many times as good it is now: median, and an interval of 95 % confidence.
    pub times: (f64, f64, f64),
    /// What that means.
    pub verdict: Verdict,
}

/// What a change means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Better, and surely so.
    Better,
    /// The difference is noise, or too small to matter.
    Same,
    /// Worse by more than is tolerated, and surely so.
    Worse,
    /// It was proved before and is not now.
    Invalid(String),
}

/// All changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Of every figure that both have.
    pub changes: Vec<Change>,
    /// Figures that only one of them has.
    pub missing: usize,
    /// Warnings for the reader: noise, interruptions, other machines.
    pub warnings: Vec<String>,
}

impl Comparison {
    /// Compares two runs. `tolerance` is a part of one: 0.03 is 3 %.
    pub fn new(old: &[ResultFile], new: &[ResultFile], absolute: bool, tolerance: f64) -> Self {
        let mut comparison = Self {
            changes: Vec::new(),
            missing: 0,
            warnings: Vec::new(),
        };
        for old in old {
            let Some(new) = new.iter().find(|new| new.workload == old.workload) else {
                comparison
                    .warnings
                    .push(format!("{} was not measured again", old.workload));
                continue;
            };
            comparison.warn(old, new);
            for (table, row) in old.rows() {
                let now = new.table(&table.name).and_then(|table| {
                    let mut rows = table.rows.iter();
                    rows.find(|now| now.belongs_with(row) && now.setup == row.setup)
                });
                match now {
                    Some(now) => comparison.add(old, table, row, now, absolute, tolerance),
                    None => comparison.missing += 1,
                }
            }
        }
        comparison
    }

    /// How many figures got worse.
    pub fn worse(&self) -> usize {
        let worse =
            |change: &&Change| matches!(change.verdict, Verdict::Worse | Verdict::Invalid(_));
        self.changes.iter().filter(worse).count()
    }

    fn warn(&mut self, old: &ResultFile, new: &ResultFile) {
        let name = &old.workload;
        if old.machine != new.machine {
            self.warnings
                .push(format!("{name}: the results come from different machines"));
        }
        if old.extent != new.extent {
            self.warnings
                .push(format!("{name}: one is a quick run, the other is not"));
        }
        for (when, result) in [("before", old), ("now", new)] {
            if !result.complete {
                self.warnings
                    .push(format!("{name}: did not run to its end {when}"));
            }
            for reason in &result.noise.reasons {
                self.warnings
                    .push(format!("{name}: noisy {when}: {reason}"));
            }
        }
    }

    fn add(
        &mut self,
        result: &ResultFile,
        table: &Table,
        old: &Row,
        new: &Row,
        absolute: bool,
        tolerance: f64,
    ) {
        let labels = table.columns.iter().map(|column| old.label(column));
        let figure: Vec<&str> = labels.chain([&*old.measure, &*old.setup]).collect();
        let figure = figure.join(", ");
        let tolerance = tolerance.max(least_difference(old.samples.min(new.samples)));
        let mut add = |figure: String, values: (f64, f64), times| {
            let verdict = match (&old.invalid, &new.invalid) {
                (None, Some(reason)) => Verdict::Invalid(reason.clone()),
                _ => Verdict::new(times, tolerance),
            };
            self.changes.push(Change {
                place: format!("{}, {}", result.workload, table.name),
                figure,
                old: values.0,
                new: values.1,
                times,
                verdict,
            });
        };
        if let (Some(before), Some(now)) = (&old.ratio, &new.ratio)
            && before.baseline == now.baseline
        {
            let baseline = &before.baseline;
            let before = (before.low, before.median, before.high);
            let now = (now.low, now.median, now.high);
            let figure = format!("{figure} against {baseline}");
            add(figure, (before.1, now.1), quotient(now, before));
        }
        let positive = |row: &Row| row.low > 0.0;
        if absolute && old.better != Better::Neither && positive(old) && positive(new) {
            let before = (old.low, old.median, old.high);
            let now = (new.low, new.median, new.high);
            let times = match old.better {
                Better::Lower => quotient(before, now),
                _ => quotient(now, before),
            };
            add(figure, (old.median, new.median), times);
        }
    }

    /// For people.
    pub fn text(&self, all: bool) -> String {
        let columns = [
            ("where", Align::Left),
            ("figure", Align::Left),
            ("old", Align::Right),
            ("new", Align::Right),
            ("new / old", Align::Right),
            ("95 % between", Align::Left),
            ("verdict", Align::Left),
        ];
        let rows: Vec<Vec<String>> = self
            .changes
            .iter()
            .filter(|change| all || change.verdict != Verdict::Same)
            .map(|change| {
                let (low, median, high) = change.times;
                vec![
                    change.place.clone(),
                    change.figure.clone(),
                    format!("{:.3}", change.old),
                    format!("{:.3}", change.new),
                    format!("{median:.3}"),
                    format!("{low:.3} and {high:.3}"),
                    match &change.verdict {
                        Verdict::Better => "better".to_owned(),
                        Verdict::Same => "same".to_owned(),
                        Verdict::Worse => "WORSE".to_owned(),
                        Verdict::Invalid(reason) => format!("INVALID: {reason}"),
                    },
                ]
            })
            .collect();
        let mut text = String::new();
        if !rows.is_empty() {
            text += &table(&columns, &rows);
            text.push('\n');
        }
        for warning in &self.warnings {
            text += &format!("{warning}\n");
        }
        if self.missing > 0 {
            text += &format!(
                "the new results lack {} figures of the old ones\n",
                self.missing
            );
        }
        let better = self.changes.iter();
        let better = better.filter(|change| change.verdict == Verdict::Better);
        text += &format!(
            "{} figures compared: {} better, {} worse\n",
            self.changes.len(),
            better.count(),
            self.worse()
        );
        text
    }
}

impl Verdict {
    fn new((low, _, high): (f64, f64, f64), tolerance: f64) -> Self {
        if high < 1.0 - tolerance {
            Self::Worse
        } else if low > 1.0 + tolerance {
            Self::Better
        } else {
            Self::Same
        }
    }
}

/// The quotient of two independent positive figures with their intervals (low, median, high). On a
/// logarithmic scale the distances of independent ends from their medians add up as squares.
fn quotient(a: (f64, f64, f64), b: (f64, f64, f64)) -> (f64, f64, f64) {
    let distance = |from: f64, to: f64| (to / from).ln().abs();
    // (f64::hypot would need glibc 2.35.)
    let together = |x: f64, y: f64| (x * x + y * y).sqrt();
    let down = together(distance(a.0, a.1), distance(b.1, b.2));
    let up = together(distance(a.1, a.2), distance(b.0, b.1));
    let median = a.1 / b.1;
    (median * (-down).exp(), median, median * up.exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_of_independent_figures_add_up_as_squares() {
        let exact = (2.0, 2.0, 2.0);
        assert_eq!(quotient(exact, exact), (1.0, 1.0, 1.0));
        let (low, median, high) = quotient((1.8, 2.0, 2.2), (0.9, 1.0, 1.1));
        assert!((median - 2.0).abs() < 1e-9);
        assert!(1.6 < low && low < 1.8, "{low}");
        assert!(2.2 < high && high < 2.4, "{high}");
    }

    #[test]
    fn only_what_is_sure_and_matters_is_a_verdict() {
        let verdict = |low, high| Verdict::new((low, 1.0, high), 0.03);
        assert_eq!(verdict(0.5, 0.96), Verdict::Worse);
        assert_eq!(verdict(0.5, 0.98), Verdict::Same);
        assert_eq!(verdict(1.02, 2.0), Verdict::Same);
        assert_eq!(verdict(1.04, 2.0), Verdict::Better);
    }
}
