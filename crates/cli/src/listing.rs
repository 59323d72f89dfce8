//! What the ledger counted, as tables and as documents.

use crate::output::To;
use crate::table::{Align, Table, bytes, count, time};
use outboard_ledger::{Counts, Fallback, Queueing, Row, Snapshot};
use outboard_operation::{Operation, Path};
use serde::Serialize;

/// One program's or process's counters, in a document.
#[derive(Serialize)]
pub(crate) struct Counted {
    /// What ran, and where.
    work: Vec<Worked>,
    /// What ran elsewhere than it might have, and why.
    fallbacks: Vec<Fallback>,
    /// What cards took on, by the operations that can share the lanes.
    cards: Vec<Carded>,
}

#[derive(Serialize)]
struct Carded {
    operation: Operation,
    average_fill: Option<f64>,
    share_in_lanes: Option<f64>,
    #[serde(flatten)]
    work: Queueing,
}

#[derive(Serialize)]
struct Worked {
    #[serde(flatten)]
    row: Row,
    /// The time of all operations, inferred from those that were timed.
    estimated_nanoseconds: Option<u64>,
}

impl From<&Counts> for Counted {
    fn from(counts: &Counts) -> Self {
        let worked = |row: Row| Worked {
            estimated_nanoseconds: row.work.estimated_nanoseconds(),
            row,
        };
        Self {
            work: counts.rows().map(worked).collect(),
            fallbacks: counts.fallback_rows().collect(),
            cards: counts
                .queueing_rows()
                .map(|(operation, work)| Carded {
                    operation,
                    average_fill: work.average_fill(),
                    share_in_lanes: work.share_in_lanes(),
                    work: work.clone(),
                })
                .collect(),
        }
    }
}

/// Someone who counted, as a line of a table names it.
pub(crate) struct Party<'a> {
    /// The program's name.
    pub(crate) program: &'a str,
    /// The process, or how many of them ended.
    pub(crate) process: String,
    /// What was counted.
    pub(crate) counts: Counts,
}

/// Every process that has an entry in the ledger, then the programs that ended.
pub(crate) fn parties(snapshot: &Snapshot) -> Vec<Party<'_>> {
    let processes = snapshot.processes.iter().map(|process| Party {
        program: &process.program,
        process: match process.alive {
            true => process.pid.to_string(),
            false => format!("{} ended", process.pid),
        },
        counts: process.counts.clone(),
    });
    let programs = snapshot.programs.iter().map(|program| Party {
        program: &program.program,
        process: format!("{} ended", program.processes),
        counts: program.counts.clone(),
    });
    processes.chain(programs).collect()
}

/// One party for each program, whatever became of its processes.
pub(crate) fn by_program(snapshot: &Snapshot) -> Vec<Party<'_>> {
    let mut programs: Vec<Party<'_>> = Vec::new();
    for party in parties(snapshot) {
        match programs
            .iter_mut()
            .find(|known| known.program == party.program)
        {
            Some(known) => known.counts.add(&party.counts),
            None => programs.push(Party {
                process: String::new(),
                ..party
            }),
        }
    }
    programs
}

/// The tables for people; empty if nobody counted anything.
pub(crate) fn tables(parties: &[Party<'_>], to: To) -> String {
    let mut work = Table::new(&[
        ("program", Align::Left),
        ("process", Align::Right),
        ("operation", Align::Left),
        ("path", Align::Left),
        ("count", Align::Right),
        ("fill", Align::Right),
        ("bytes", Align::Right),
        ("time", Align::Right),
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
        let who = || (party.program.to_owned(), party.process.clone());
        for row in party.counts.rows() {
            let (program, process) = who();
            let total = row.work.estimated_nanoseconds();
            work.row([
                program,
                process,
                row.operation.name().to_owned(),
                row.path.name().to_owned(),
                count(row.work.operations),
                // How full the lanes were; RSA's signatures and decryptions of one length share them.
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
