//! Setups that take turns, and what their measurements say of each other.

use crate::proof::Proof;
use crate::result::{Better, Row};
use crate::statistics::{quartiles, ratio, rounded};

/// What a figure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measure {
    /// Its name: "client CPU".
    pub name: &'static str,
    /// Its unit, without a prefix: "s", "1/s", "B/s", "B"; "ns" for short times; "1" for counts; "" for shares.
    pub unit: &'static str,
    /// Which way is good.
    pub better: Better,
}

impl Measure {
    /// A time or a cost.
    pub const fn lower(name: &'static str, unit: &'static str) -> Self {
        Self {
            name,
            unit,
            better: Better::Lower,
        }
    }

    /// A rate.
    pub const fn higher(name: &'static str, unit: &'static str) -> Self {
        Self {
            name,
            unit,
            better: Better::Higher,
        }
    }

    /// A share or a count that is neither good nor bad.
    pub const fn neither(name: &'static str, unit: &'static str) -> Self {
        Self {
            name,
            unit,
            better: Better::Neither,
        }
    }
}

/// How often every setup has its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rounds {
    /// Before anything counts.
    pub warm_up: u32,
    /// That count.
    pub measured: u32,
}

/// Measurements of several setups in rounds; the first setup is the baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    setups: Vec<String>,
    /// By round, setup and measure.
    rounds: Vec<Vec<Vec<f64>>>,
}

impl Comparison {
    /// Lets the setups take turns, forwards in one round and backwards in the next, so that a
    /// machine that slows down or speeds up favours no one. `measure` gets the setup's place in
    /// `setups` and answers one value for each measure.
    ///
    /// # Errors
    /// The first that `measure` gives.
    pub fn take_turns<E>(
        setups: &[&str],
        rounds: Rounds,
        mut measure: impl FnMut(usize) -> Result<Vec<f64>, E>,
        mut after_round: impl FnMut(f64),
    ) -> Result<Self, E> {
        let all = rounds.warm_up + rounds.measured;
        let mut measured = Vec::new();
        for round in 0..all {
            let mut order: Vec<usize> = (0..setups.len()).collect();
            if round % 2 == 1 {
                order.reverse();
            }
            let mut values = vec![Vec::new(); setups.len()];
            for setup in order {
                values[setup] = measure(setup)?;
            }
            if round >= rounds.warm_up {
                measured.push(values);
            }
            after_round(f64::from(round + 1) / f64::from(all));
        }
        Ok(Self {
            setups: setups.iter().map(|&setup| setup.to_owned()).collect(),
            rounds: measured,
        })
    }

    /// One setup's values of one measure, in the order of the rounds.
    pub fn values(&self, setup: usize, measure: usize) -> Vec<f64> {
        let rounds = self.rounds.iter();
        rounds.map(|round| round[setup][measure]).collect()
    }

    /// The same of some of the measures alone: for what was measured together and is shown apart.
    #[must_use]
    pub fn measures(&self, measures: std::ops::Range<usize>) -> Self {
        let part = |values: &Vec<f64>| values[measures.clone()].to_vec();
        Self {
            setups: self.setups.clone(),
            rounds: self
                .rounds
                .iter()
                .map(|round| round.iter().map(part).collect())
                .collect(),
        }
    }

    /// The same of some of the setups alone, the first of which becomes the baseline.
    #[must_use]
    pub fn setups(&self, setups: std::ops::Range<usize>) -> Self {
        let rounds = self.rounds.iter();
        Self {
            setups: self.setups[setups.clone()].to_vec(),
            rounds: rounds.map(|round| round[setups.clone()].to_vec()).collect(),
        }
    }

    /// How much more each setup's values are than the baseline's in the same round.
    #[must_use]
    pub fn beyond_the_baseline(&self) -> Self {
        let beyond = |round: &Vec<Vec<f64>>| {
            let others = round[1..].iter();
            let less = |values: &Vec<f64>| {
                let pairs = values.iter().zip(&round[0]);
                pairs.map(|(value, baseline)| value - baseline).collect()
            };
            others.map(less).collect()
        };
        Self {
            setups: self.setups[1..].to_vec(),
            rounds: self.rounds.iter().map(beyond).collect(),
        }
    }

    /// The rows of a table: every measure of every setup. There is one proof for each setup, or none
    /// at all where nothing is to be proved.
    ///
    /// # Panics
    /// If there was no round, or there is another number of measures or proofs: mistakes of ours.
    pub fn rows(
        &self,
        labels: &[(&str, &str)],
        measures: &[Measure],
        proofs: &[Proof],
    ) -> Vec<Row> {
        assert!(!self.rounds.is_empty(), "a comparison needs a round");
        assert!(
            proofs.is_empty() || proofs.len() == self.setups.len(),
            "one proof for each setup"
        );
        let mut rows = Vec::new();
        for (index, measure) in measures.iter().enumerate() {
            let baseline = self.values(0, index);
            for (setup, name) in self.setups.iter().enumerate() {
                let values = self.values(setup, index);
                let (low, median, high) = quartiles(&values);
                let pairs: Vec<_> = baseline.iter().copied().zip(values).collect();
                let ratio = (setup > 0).then(|| ratio(&self.setups[0], measure.better, &pairs));
                let proof = proofs.get(setup);
                rows.push(Row {
                    labels: labels
                        .iter()
                        .map(|&(name, value)| (name.to_owned(), value.to_owned()))
                        .collect(),
                    measure: measure.name.to_owned(),
                    unit: measure.unit.to_owned(),
                    better: measure.better,
                    setup: name.clone(),
                    samples: pairs.len() as u64,
                    median: rounded(median),
                    low: rounded(low),
                    high: rounded(high),
                    ratio: ratio.flatten().map(|ratio| crate::result::Ratio {
                        median: rounded(ratio.median),
                        low: rounded(ratio.low),
                        high: rounded(ratio.high),
                        ..ratio
                    }),
                    proof: proof.map(|proof| proof.text.clone()),
                    invalid: proof.and_then(Proof::reason_against),
                });
            }
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns() -> (Comparison, Vec<usize>) {
        let mut order = Vec::new();
        let rounds = Rounds {
            warm_up: 1,
            measured: 2,
        };
        let measure = |setup: usize| {
            order.push(setup);
            let value = if setup == 0 { 8.0 } else { 2.0 };
            Ok::<_, std::convert::Infallible>(vec![value, 1.0 / value])
        };
        let comparison =
            Comparison::take_turns(&["stock", "outboard"], rounds, measure, |_| {}).unwrap();
        (comparison, order)
    }

    #[test]
    fn setups_alternate_and_the_warm_up_does_not_count() {
        let (comparison, order) = turns();
        assert_eq!(order, [0, 1, 1, 0, 0, 1]);
        assert_eq!(comparison.values(1, 0), [2.0, 2.0]);
    }

    #[test]
    fn rows_say_how_many_times_as_good() {
        let (comparison, _) = turns();
        let measures = [Measure::lower("CPU", "s"), Measure::higher("rate", "1/s")];
        let rows = comparison.rows(&[("cipher", "aes")], &measures, &[]);
        assert_eq!(rows.len(), 4);
        assert_eq!((rows[0].setup.as_str(), &rows[0].ratio), ("stock", &None));
        for row in [&rows[1], &rows[3]] {
            let ratio = row.ratio.as_ref().unwrap();
            assert_eq!((ratio.median, row.samples), (4.0, 2));
        }
        assert_eq!(rows[3].label("cipher"), "aes");
    }

    #[test]
    fn some_setups_have_a_baseline_of_their_own() {
        let measure =
            |setup: usize| Ok::<_, std::convert::Infallible>(vec![[8.0, 2.0, 3.0][setup]]);
        let rounds = Rounds {
            warm_up: 0,
            measured: 2,
        };
        let setups = ["stock", "outboard", "service"];
        let all = Comparison::take_turns(&setups, rounds, measure, |_| {}).unwrap();
        let some = all.setups(1..3);
        let rows = some.rows(&[], &[Measure::higher("rate", "1/s")], &[]);
        let ratio = rows[1].ratio.as_ref().unwrap();
        assert_eq!((ratio.baseline.as_str(), ratio.median), ("outboard", 1.5));
        let beyond = some.beyond_the_baseline();
        let rows = beyond.rows(&[], &[Measure::lower("added", "s")], &[]);
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].setup.as_str(), rows[0].median), ("service", 1.0));
        assert_eq!(rows[0].ratio, None);
    }

    #[test]
    fn what_is_not_proved_is_invalid() {
        let (comparison, _) = turns();
        let unproved = Proof {
            valid: false,
            text: "no rsa-2048-sign counted".into(),
        };
        let proofs = [Proof::not_needed(), unproved];
        let rows = comparison.rows(&[], &[Measure::lower("CPU", "s")], &proofs);
        assert_eq!(rows[0].invalid, None);
        assert!(rows[1].invalid.as_ref().unwrap().contains("rsa-2048-sign"));
    }
}
