//! The result of a workload, as one JSON file. Reports and comparisons read only these files.
//!
//! ```text
//! ResultFile            one workload, one run: machine, versions, commands, noise, failure
//!   └─ Table            "scp, 200 MB": the columns that distinguish its rows
//!        └─ Row         labels × measure × setup: median, spread, ratio to the baseline, proof
//! ```
//!
//! A row is one figure of one setup. Rows that differ only in their setup belong together. One of them is the baseline's.
//! The [`Ratio`] of each other row says how many times as good it is.

mod file;
mod machine;
mod noise;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub(crate) use file::tame;
pub use file::{ReadError, read, read_all};
pub use machine::Machine;
pub use noise::{Noise, Watch};

/// What [`ResultFile::schema`] says.
pub const SCHEMA: &str = "outboard-bench-result";

/// What [`ResultFile::version`] says. A field that is added does not change it; one that changes its
/// meaning does.
pub const VERSION: u32 = 1;

/// The least number of pairs whose ratios can contain the median with 95 % confidence: all n lie on one side of the median
/// with a probability of 2^(1-n). The interval of fewer pairs is their range, which says less.
pub const ENOUGH: u64 = 6;

/// The least difference that so many pairs can show, as a part of one. From [`ENOUGH`] on their interval alone
/// decides. Of fewer it says too little: half, divided by their number, is more than the machines that this was
/// tried on scatter.
pub fn least_difference(pairs: u64) -> f64 {
    if pairs < ENOUGH {
        0.5 / pairs.max(1) as f64
    } else {
        0.0
    }
}

/// What one run of one workload found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResultFile {
    /// [`SCHEMA`].
    pub schema: String,
    /// [`VERSION`].
    pub version: u32,
    /// The workload's name: "tls".
    pub workload: String,
    /// What it does, in a sentence.
    pub summary: String,
    /// Outboard's version.
    pub outboard: String,
    /// How much of the workload was run.
    pub extent: Extent,
    /// When it began, in seconds since 1970-01-01 00:00 UTC.
    pub began: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Whether it ran to its end: false while it runs, and for ever if it was interrupted.
    pub complete: bool,
    /// Why it ended early, if it failed by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Where it ran.
    pub machine: Machine,
    /// What else the machine did meanwhile.
    pub noise: Noise,
    /// Versions of the programs that took part, by name.
    #[serde(default)]
    pub versions: BTreeMap<String, String>,
    /// The command that repeats it, then those that it ran, as one could type them.
    #[serde(default)]
    pub commands: Vec<String>,
    /// Notes that a reader needs besides the figures: how something was measured, what is missing.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The figures.
    #[serde(default)]
    pub tables: Vec<Table>,
}

/// How much of a workload was run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Extent {
    /// All of it.
    Full,
    /// Fewer and smaller runs (`--quick`).
    Quick,
    /// The smallest that shows that it works: for tests; its figures say nothing.
    Tiny,
}

/// Figures of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Its name, unique in the file and stable over time: "scp".
    pub name: String,
    /// For people: "scp of 200 MB, by cipher and MAC".
    pub title: String,
    /// The names of the rows' labels, in the order in which to show them: "cipher", "mac".
    pub columns: Vec<String>,
    /// In the order in which they were measured.
    pub rows: Vec<Row>,
}

/// One figure of one setup.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// What was measured, by the table's columns: exactly one value for each.
    pub labels: BTreeMap<String, String>,
    /// What the figure is: "client CPU", "handshakes".
    pub measure: String,
    /// Its unit: "s", "ns", "1/s", "B/s", "B"; "1" of counts, "" of shares. No prefixes but n (for ns): readers choose theirs.
    pub unit: String,
    /// Which way is good.
    pub better: Better,
    /// What it was measured with: "stock", "outboard", "client", "kernel", …
    pub setup: String,
    /// How many measurements there were.
    pub samples: u64,
    /// Their median.
    pub median: f64,
    /// Their first quartile.
    pub low: f64,
    /// Their third quartile.
    pub high: f64,
    /// Against the baseline; none for the baseline itself, and where nothing is better or worse.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Ratio>,
    /// What the ledger says about it, for people: "4,000 × rsa-2048-sign".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<String>,
    /// Why the figure must not be believed: the ledger does not bear it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invalid: Option<String>,
}

/// How many times as good as the baseline: above 1 is better, whichever way is good.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// The setup that it is compared with.
    pub baseline: String,
    /// The median of the ratios of neighbours in time.
    pub median: f64,
    /// With `high`: the interval that holds that median with 95 % confidence (bootstrap); of fewer than
    /// [`ENOUGH`] samples it is no more than their range.
    pub low: f64,
    /// See `low`.
    pub high: f64,
}

/// Which way is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Times, costs.
    Lower,
    /// Rates.
    Higher,
    /// Shares, counts: neither.
    Neither,
}

impl ResultFile {
    /// The table of that name.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }

    /// Every row, with its table.
    pub fn rows(&self) -> impl Iterator<Item = (&Table, &Row)> {
        self.tables
            .iter()
            .flat_map(|table| table.rows.iter().map(move |row| (table, row)))
    }

    /// Whether it ran to its end and nothing in it is invalid.
    pub fn is_valid(&self) -> bool {
        self.complete && self.failure.is_none() && self.rows().all(|(_, row)| row.invalid.is_none())
    }
}

impl Row {
    /// The label of that name; empty if there is none.
    pub fn label(&self, name: &str) -> &str {
        self.labels.get(name).map_or("", String::as_str)
    }

    /// Whether both say the same of the same, but for the setup and the figure.
    pub fn belongs_with(&self, other: &Self) -> bool {
        self.labels == other.labels && self.measure == other.measure
    }
}
