//! The table, and the same as JSON.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use super::Setting;
use super::statistics::Compared;
use crate::Failure;
use crate::proof::Proof;
use crate::table::{Align, table};

/// One comparison.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// What was done: "scp, sending 256 MiB, aes128-gcm".
    pub(super) workload: String,
    /// Whose CPU time: "client", "server", "client + server".
    pub(super) subject: &'static str,
    /// What the CPU time is for: one "transfer", "handshake", "download".
    pub(super) unit: &'static str,
    /// CPU time for one of it.
    pub(super) compared: Compared,
    /// Why it can be believed.
    pub(super) proof: Proof,
}

/// All rows, and how they came to be.
pub(super) struct Report {
    rows: Vec<Row>,
    null: bool,
    pinned: bool,
}

/// The JSON's outermost object.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    version: u32,
    outboard: &'static str,
    null: bool,
    rows: Vec<RowDocument<'a>>,
}

#[derive(Serialize)]
struct RowDocument<'a> {
    workload: &'a str,
    subject: &'a str,
    unit: &'a str,
    stock_ns: u128,
    outboard_ns: u128,
    ratio: f64,
    low: f64,
    high: f64,
    proof: &'a Proof,
}

impl Report {
    pub(super) fn new(setting: &Setting, rows: Vec<Row>) -> Self {
        Self {
            rows,
            null: setting.is_null(),
            pinned: setting.cores.server.is_some(),
        }
    }

    /// Whether every row has its proof.
    pub(super) fn is_valid(&self) -> bool {
        self.rows.iter().all(|row| row.proof.valid)
    }

    /// One JSON object, schema `outboard-first-light`.
    pub(super) fn json(&self) -> Result<String, Failure> {
        let rows = self.rows.iter().map(|row| RowDocument {
            workload: &row.workload,
            subject: row.subject,
            unit: row.unit,
            stock_ns: row.compared.stock.as_nanos(),
            outboard_ns: row.compared.outboard.as_nanos(),
            ratio: row.compared.ratio,
            low: row.compared.low,
            high: row.compared.high,
            proof: &row.proof,
        });
        let document = Document {
            schema: "outboard-first-light",
            version: 1,
            outboard: env!("CARGO_PKG_VERSION"),
            null: self.null,
            rows: rows.collect(),
        };
        Ok(serde_json::to_string_pretty(&document)?)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = [
            ("workload", Align::Left),
            ("CPU time of", Align::Left),
            ("stock", Align::Right),
            (if self.null { "stock" } else { "Outboard" }, Align::Right),
            ("ratio", Align::Right),
            ("lowest to highest", Align::Left),
            ("proof from the ledger", Align::Left),
        ];
        let mut last = "";
        let mut cells = Vec::new();
        for row in &self.rows {
            // A workload is named once, above the rows that belong to it.
            let workload = if row.workload == last {
                ""
            } else {
                &row.workload
            };
            last = &row.workload;
            let compared = &row.compared;
            cells.push(vec![
                workload.to_owned(),
                row.subject.to_owned(),
                readable_time(compared.stock),
                readable_time(compared.outboard),
                format!("{:.2} ×", compared.ratio),
                format!("{:.2} to {:.2}", compared.low, compared.high),
                row.proof.text.clone(),
            ]);
        }
        write!(formatter, "{}", table(&columns, &cells))?;
        writeln!(
            formatter,
            "\nCPU time (user and system) of one transfer, handshake or download: medians; the ratio \
             is stock / {},\nthe median of neighbouring pairs.{}",
            if self.null {
                "stock: noise"
            } else {
                "Outboard"
            },
            if self.pinned {
                " Servers and clients were held to a core of their own each."
            } else {
                ""
            },
        )
    }
}

/// Three significant digits or so: `353 µs`, `2.54 ms`, `512 ms`.
fn readable_time(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    match micros {
        ..10.0 => format!("{micros:.2} µs"),
        10.0..1e3 => format!("{micros:.0} µs"),
        1e3..1e4 => format!("{:.2} ms", micros / 1e3),
        1e4..1e6 => format!("{:.0} ms", micros / 1e3),
        _ => format!("{:.2} s", micros / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_readable() {
        let readable = |nanos| readable_time(Duration::from_nanos(nanos));
        assert_eq!(readable(9_100), "9.10 µs");
        assert_eq!(readable(353_400), "353 µs");
        assert_eq!(readable(2_543_000), "2.54 ms");
        assert_eq!(readable(512_000_000), "512 ms");
        assert_eq!(readable(1_500_000_000), "1.50 s");
    }
}
