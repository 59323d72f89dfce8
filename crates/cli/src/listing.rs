//! The counts of the ledger, as tables.

use crate::completion;
use crate::output::{To, remark};
use crate::table::{Align, Table};
use outboard_ledger::Queueing;
use outboard_ledger_report::{Error, Ledgers, Party, Which};
use outboard_operation::Path;
use outboard_wording::{bytes, count, time};
use std::path::PathBuf;

/// Selects the counters.
#[derive(clap::Args)]
pub(crate) struct WhichArguments {
    /// This process only; an error where it has counted nothing
    #[arg(long, value_name = "PID", add = completion::processes())]
    pid: Option<u32>,
    /// This program's processes only
    #[arg(long, value_name = "PROGRAM")]
    program: Option<String>,
    /// Every user's ledger that may be read
    #[arg(long, conflicts_with = "ledger")]
    all: bool,
    /// This ledger instead of your own
    #[arg(long, value_name = "FILE")]
    ledger: Option<PathBuf>,
}

impl From<&WhichArguments> for Which {
    fn from(arguments: &WhichArguments) -> Self {
        Self {
            pid: arguments.pid,
            program: arguments.program.clone(),
            all: arguments.all,
            ledger: arguments.ledger.clone(),
        }
    }
}

/// Reads the selected counters. A ledger that cannot be read, and that the user did not name, gets a remark.
///
/// # Errors
/// If a ledger that the user named cannot be read.
pub(crate) fn read(which: &Which) -> Result<Ledgers, Error> {
    which.read(|error| remark(&format!("outboard: note: {error}")))
}

/// The tables for people. Empty if no process counted an operation.
pub(crate) fn tables(parties: &[Party], to: To) -> String {
    let mut work = Table::new(&[
        ("program", Align::Left),
        ("process", Align::Right),
        ("operation", Align::Left),
        ("path", Align::Left),
        ("count", Align::Right),
        ("fill", Align::Right),
        ("bytes", Align::Right),
        ("elapsed", Align::Right),
        ("each", Align::Right),
    ]);
    let mut fallbacks = Table::new(&[
        ("program", Align::Left),
        ("process", Align::Right),
        ("ran elsewhere", Align::Left),
        ("count", Align::Right),
        ("because", Align::Left),
    ]);
    for party in parties {
        let who = || (party.program.clone(), party.process.clone());
        for row in party.counts.rows() {
            let (program, process) = who();
            let total = row.work.estimated_nanoseconds();
            work.row([
                program,
                process,
                row.operation.name().to_owned(),
                row.path.name().to_owned(),
                count(row.work.operations),
                // How full the lanes were. RSA signatures and decryptions of one length share them.
                if row.path == Path::Card {
                    let queueing = party.counts.queueing(row.operation);
                    let fill = queueing.and_then(Queueing::average_fill);
                    fill.map(|fill| format!("{fill:.1}")).unwrap_or_default()
                } else {
                    String::new()
                },
                if row.operation.is_bulk() {
                    bytes(row.work.bytes)
                } else {
                    String::new()
                },
                total.map(|total| time(float(total))).unwrap_or_default(),
                total
                    .map(|total| time(float(total) / float(row.work.operations)))
                    .unwrap_or_default(),
            ]);
        }
        for fallback in party.counts.fallback_rows() {
            let (program, process) = who();
            fallbacks.row([
                program,
                process,
                fallback.operation.name().to_owned(),
                count(fallback.count),
                fallback.reason.explanation().to_owned(),
            ]);
        }
    }
    let tables = [work, fallbacks]
        .into_iter()
        .filter(|table| !table.is_empty());
    tables
        .map(|table| table.render_to(to))
        .collect::<Vec<_>>()
        .join("\n")
}

/// A count as a number to divide by and to show three digits of.
#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn float(number: u64) -> f64 {
    number as f64
}
