//! The table, and the same as JSON.

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
    /// The side of the CPU time: "client", "server", "client + server".
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

    /// For people. Where lines have no room for all of it, a workload stands above its rows, and a proof below
    /// its own.
    pub(super) fn text(&self, room: usize) -> String {
        let columns = [
            ("workload", Align::Left),
            ("CPU time of", Align::Left),
            ("stock", Align::Right),
            (if self.null { "stock" } else { "Outboard" }, Align::Right),
            ("ratio", Align::Right),
            ("lowest to highest", Align::Left),
            ("proof from the ledger", Align::Left),
        ];
        let mut cells = Vec::new();
        let mut before: Vec<&Row> = Vec::new();
        for row in &self.rows {
            before.retain(|one| one.workload == row.workload);
            let proofs: Vec<&str> = before.iter().map(|one| one.proof.text.as_str()).collect();
            let compared = &row.compared;
            cells.push(vec![
                // A workload is named once, above the rows that belong to it.
                match before[..] {
                    [] => row.workload.clone(),
                    _ => String::new(),
                },
                row.subject.to_owned(),
                readable_time(compared.stock),
                readable_time(compared.outboard),
                format!("{:.2} ×", compared.ratio),
                format!("{:.2} to {:.2}", compared.low, compared.high),
                // The sum of two rows is proved by theirs.
                match proofs.len() > 1 && row.proof.text == proofs.join("; ") {
                    true => "both".to_owned(),
                    false => row.proof.text.clone(),
                },
            ]);
            before.push(row);
        }
        let mut text = table(&columns, &cells);
        if text.lines().any(|line| line.chars().count() > room) {
            text = narrow(&columns, &cells);
        }
        let by = match self.null {
            true => "stock: noise",
            false => "Outboard",
        };
        text += &format!(
            "\nCPU time (user and system) of one transfer, handshake or download: medians; the\n\
             ratio is stock / {by}, the median of neighbouring pairs.\n"
        );
        if self.pinned {
            text += "Server and clients were each bound to their own core.\n";
        }
        text
    }
}

/// The figures of all rows in columns, and the long texts in lines between them.
fn narrow(columns: &[(&str, Align)], cells: &[Vec<String>]) -> String {
    let last = columns.len() - 1;
    let figures: Vec<Vec<String>> = cells.iter().map(|row| row[1..last].to_vec()).collect();
    let figures = table(&columns[1..last], &figures);
    let mut lines = figures.lines();
    let mut text = format!("  {}\n", lines.next().unwrap_or_default());
    for (row, line) in cells.iter().zip(lines) {
        if !row[0].is_empty() {
            text += &format!("{}\n", row[0]);
        }
        text += &format!("  {line}\n    {}\n", row[last]);
    }
    text
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

    fn row(workload: &str, subject: &'static str, proof: &str) -> Row {
        Row {
            workload: workload.into(),
            subject,
            unit: "transfer",
            compared: Compared {
                stock: Duration::from_millis(554),
                outboard: Duration::from_millis(277),
                ratio: 2.0,
                low: 1.9,
                high: 2.1,
            },
            proof: Proof {
                valid: true,
                text: proof.into(),
            },
        }
    }

    #[test]
    fn a_narrow_terminal_has_room_for_all() {
        let report = Report {
            rows: vec![
                row(
                    "scp, sending 256 MiB",
                    "client",
                    "1536 MiB aes-256-gcm-seal",
                ),
                row(
                    "scp, sending 256 MiB",
                    "server",
                    "1536 MiB aes-256-gcm-open",
                ),
                row(
                    "scp, sending 256 MiB",
                    "client + server",
                    "1536 MiB aes-256-gcm-seal; 1536 MiB aes-256-gcm-open",
                ),
                row("nginx, TLS 1.3 handshake", "server", "5250 × rsa-2048-sign"),
            ],
            null: false,
            pinned: true,
        };
        let wide = report.text(usize::MAX);
        assert!(
            wide.contains("client + server  554 ms    277 ms  2.00 ×  1.90 to 2.10       both\n"),
            "{wide}"
        );
        assert_eq!(wide.matches("scp").count(), 1, "{wide}");
        let narrow = report.text(80);
        let lines: Vec<&str> = narrow.lines().collect();
        assert_eq!(
            lines[..4],
            [
                "  CPU time of       stock  Outboard   ratio  lowest to highest",
                "scp, sending 256 MiB",
                "  client           554 ms    277 ms  2.00 ×  1.90 to 2.10",
                "    1536 MiB aes-256-gcm-seal",
            ],
            "{narrow}"
        );
        assert!(
            lines.iter().all(|line| line.chars().count() <= 80),
            "{narrow}"
        );
    }

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
