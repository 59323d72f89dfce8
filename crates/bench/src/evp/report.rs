//! The results, for people and for programs.

use std::fs;
use std::path::Path;

use outboard_measure::{Library, Outcome, Workload};
use serde::Serialize;

use super::Group;
use super::target::{Verdict, target};
use crate::table::{Align, table};

/// One workload's result.
#[derive(Debug, Serialize)]
pub(super) struct Measured {
    #[serde(skip)]
    group: Group,
    /// The operation's or the workload's name.
    operation: String,
    /// Bytes of input; 0 where that means nothing.
    size: usize,
    /// Median CPU time of one operation, in nanoseconds.
    stock_ns: f64,
    outboard_ns: f64,
    /// Median of the paired ratios stock / outboard, and its quartiles.
    ratio: f64,
    low: f64,
    high: f64,
    /// The ratio asked for.
    target: f64,
    verdict: Verdict,
    /// Whether Outboard's implementation served it, if OpenSSL reports it.
    offered: Option<bool>,
}

impl Measured {
    pub(super) fn new(
        group: Group,
        workload: &Workload,
        served_by: Option<&str>,
        outcome: &Outcome,
    ) -> Self {
        let [stock, outboard] = &outcome.scores[..] else {
            unreachable!("a duel has two scores");
        };
        let target = target(&workload.name, workload.size);
        // The control asks whether the method is true, not whether stock is faster than itself.
        let target = if group == Group::Control {
            super::target::CONTROL
        } else {
            target
        };
        Self {
            group,
            operation: workload.name.clone(),
            size: workload.size,
            stock_ns: stock.nanoseconds,
            outboard_ns: outboard.nanoseconds,
            ratio: outboard.ratio,
            low: outboard.low,
            high: outboard.high,
            target,
            verdict: Verdict::new(outboard.ratio, outboard.confidence, target),
            offered: served_by.map(|provider| provider == "outboard"),
        }
    }
}

/// All of it.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    schema: &'static str,
    version: u32,
    libcrypto: String,
    module: String,
    offer: &'static str,
    /// Two stock contexts: how far from 1 the method strays.
    control: Vec<Measured>,
    measurements: Vec<Measured>,
}

impl Report {
    pub(super) fn new(
        library: &Library,
        module: &Path,
        all: bool,
        measured: Vec<Measured>,
    ) -> Self {
        let (control, measurements) = measured
            .into_iter()
            .partition(|measured| measured.group == Group::Control);
        Self {
            schema: "outboard-bench-evp",
            version: 1,
            libcrypto: library.version(),
            module: module.display().to_string(),
            offer: if all { "all" } else { "profile" },
            control,
            measurements,
        }
    }

    pub(super) fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self)
    }

    pub(super) fn save(&self, path: &Path) -> Result<(), Box<dyn std::error::Error>> {
        let explain = |error| format!("cannot write {}: {error}", path.display());
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory).map_err(explain)?;
        }
        fs::write(path, self.json()? + "\n").map_err(explain)?;
        Ok(())
    }

    pub(super) fn misses(&self) -> usize {
        self.measurements
            .iter()
            .filter(|measured| measured.verdict == Verdict::Missed)
            .count()
    }

    pub(super) fn table(&self) -> String {
        let columns = [
            ("operation", Align::Left),
            ("bytes", Align::Right),
            ("stock", Align::Right),
            ("outboard", Align::Right),
            ("ratio", Align::Right),
            ("quartiles", Align::Left),
            ("target", Align::Right),
            ("verdict", Align::Left),
            ("served by", Align::Left),
        ];
        let mut rows = Vec::new();
        for group in Group::ALL {
            let members = self.control.iter().chain(&self.measurements);
            let mut members = members
                .filter(|measured| measured.group == group)
                .peekable();
            if members.peek().is_none() {
                continue;
            }
            let mut title = vec![format!("-- {}", group.title())];
            title.resize(columns.len(), String::new());
            rows.push(title);
            rows.extend(members.map(row));
        }
        format!(
            "OpenSSL {}, offer = {}; CPU time of one operation, ratio stock / outboard\n\n{}\n{}\n",
            self.libcrypto,
            self.offer,
            table(&columns, &rows),
            self.summary(),
        )
    }

    fn summary(&self) -> String {
        let count = |verdict| {
            self.measurements
                .iter()
                .filter(|measured| measured.verdict == verdict)
                .count()
        };
        format!(
            "{} of {} targets met, {} unclear, {} missed",
            count(Verdict::Met),
            self.measurements.len(),
            count(Verdict::Unclear),
            count(Verdict::Missed),
        )
    }
}

fn row(measured: &Measured) -> Vec<String> {
    vec![
        measured.operation.clone(),
        if measured.size == 0 {
            String::new()
        } else {
            measured.size.to_string()
        },
        duration(measured.stock_ns),
        duration(measured.outboard_ns),
        format!("{:.2}", measured.ratio),
        format!("{:.2}-{:.2}", measured.low, measured.high),
        format!("{:.2}", measured.target),
        measured.verdict.name().into(),
        match measured.offered {
            Some(true) => "outboard".into(),
            Some(false) => "stock".into(),
            None => String::new(),
        },
    ]
}

/// Three digits that count, in the unit that suits.
fn duration(nanoseconds: f64) -> String {
    let (value, unit) = match nanoseconds {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (ns / 1e3, "µs"),
        ns => (ns / 1e6, "ms"),
    };
    let decimals = if value < 10.0 {
        2
    } else {
        usize::from(value < 100.0)
    };
    format!("{value:.decimals$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_names_every_field() {
        let report = Report {
            schema: "outboard-bench-evp",
            version: 1,
            libcrypto: "3.0.22".into(),
            module: "/m.so".into(),
            offer: "all",
            control: Vec::new(),
            measurements: vec![measured(Verdict::Met), measured(Verdict::Missed)],
        };
        let json: serde_json::Value =
            serde_json::from_str(&report.json().expect("it serialises")).expect("it is JSON");
        let first = &json["measurements"][0];
        for field in [
            "operation",
            "size",
            "stock_ns",
            "outboard_ns",
            "ratio",
            "low",
            "high",
        ] {
            assert!(!first[field].is_null(), "{field}");
        }
        assert_eq!(
            (&first["verdict"], &first["offered"]),
            (&"met".into(), &true.into())
        );
        assert_eq!(report.misses(), 1);
        assert!(
            report
                .table()
                .contains("1 of 2 targets met, 0 unclear, 1 missed")
        );
    }

    fn measured(verdict: Verdict) -> Measured {
        Measured {
            group: Group::Operations,
            operation: "p384-sign".into(),
            size: 0,
            stock_ns: 800_000.0,
            outboard_ns: 95_000.0,
            ratio: 8.4,
            low: 8.2,
            high: 8.6,
            target: 8.0,
            verdict,
            offered: Some(true),
        }
    }

    #[test]
    fn durations_have_three_digits_that_count() {
        assert_eq!(duration(812.4), "812 ns");
        assert_eq!(duration(23_440.0), "23.4 µs");
        assert_eq!(duration(4_651_000.0), "4.65 ms");
    }
}
