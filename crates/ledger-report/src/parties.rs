//! The counts of the ledger: for each process, program, user or operation; and as documents.

use outboard_ledger::{Counts, Fallback, Queueing, Row, Snapshot};
use outboard_operation::Operation;
use serde::Serialize;

/// One program's or process's counters, in a document.
#[derive(Serialize)]
pub struct Counted {
    /// What ran, and where.
    work: Vec<Worked>,
    /// Operations that ran on another path than the chosen one, and why.
    fallbacks: Vec<Fallback>,
    /// The requests that cards accepted, by the operations that can share the lanes.
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
    /// The time of all operations, estimated from the timed ones.
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

/// The meaning of a line of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// All processes of one program.
    #[default]
    Program,
    /// All processes of one user.
    User,
    /// One kind of operation, of every process.
    Operation,
    /// One process.
    Process,
}

/// The order of lines: among running programs, and then among ended ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// The longest time.
    #[default]
    Elapsed,
    /// The most operations.
    Count,
    /// The first in the alphabet.
    Name,
}

impl Sort {
    /// The next one, for a key that goes through all.
    pub fn next(self) -> Self {
        match self {
            Self::Elapsed => Self::Count,
            Self::Count => Self::Name,
            Self::Name => Self::Elapsed,
        }
    }

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Elapsed => "elapsed",
            Self::Count => "count",
            Self::Name => "name",
        }
    }
}

/// Processes that counted, as a line of a table names them.
#[derive(Clone)]
pub struct Party {
    /// The program's name, or the user's.
    pub program: String,
    /// The process, or how many there are.
    pub process: String,
    /// How many of its processes run.
    pub running: usize,
    /// How many of them ended.
    pub ended: u64,
    /// The user that its processes opened the ledger as; none where it is not known.
    uid: Option<u32>,
    /// What was counted.
    pub counts: Counts,
}

impl Party {
    fn time(&self) -> u64 {
        let rows = self.counts.rows();
        rows.filter_map(|row| row.work.estimated_nanoseconds())
            .sum()
    }

    fn operations(&self) -> u64 {
        self.counts.rows().map(|row| row.work.operations).sum()
    }

    /// `2 running, 13 ended`.
    fn state(&self) -> String {
        match (self.running, self.ended) {
            (running, 0) => format!("{running} running"),
            (0, ended) => format!("{ended} ended"),
            (running, ended) => format!("{running} running, {ended} ended"),
        }
    }
}

/// Every process that has an entry in the ledger, then the programs that ended.
pub fn parties(snapshot: &Snapshot) -> Vec<Party> {
    let processes = snapshot.processes.iter().map(|process| Party {
        program: process.program.clone(),
        process: match process.alive {
            true => process.pid.to_string(),
            false => format!("{} ended", process.pid),
        },
        running: usize::from(process.alive),
        ended: u64::from(!process.alive),
        uid: Some(process.uid),
        counts: process.counts.clone(),
    });
    // A ledger is one user's.
    let uid = snapshot.processes.first().map(|process| process.uid);
    let programs = snapshot.programs.iter().map(|program| Party {
        program: program.program.clone(),
        process: format!("{} ended", program.processes),
        running: 0,
        ended: program.processes,
        uid,
        counts: program.counts.clone(),
    });
    processes.chain(programs).collect()
}

/// One party for each program, whatever became of its processes.
pub fn by_program(snapshot: &Snapshot) -> Vec<Party> {
    let mut programs = folded(parties(snapshot), By::Program, Sort::Elapsed);
    for program in &mut programs {
        program.process = String::new();
    }
    programs
}

/// One party for each line of a table: first those with running processes, in that order.
pub fn folded(parties: Vec<Party>, by: By, sort: Sort) -> Vec<Party> {
    let mut folded: Vec<Party> = Vec::new();
    for party in parties {
        let name = match by {
            By::Process | By::Program => party.program.clone(),
            By::User => user(party.uid),
            By::Operation => String::new(),
        };
        let known = folded.iter_mut().find(|known| known.program == name);
        match known.filter(|_| by != By::Process) {
            Some(known) => {
                known.counts.add(&party.counts);
                known.running += party.running;
                known.ended = known.ended.saturating_add(party.ended);
            }
            None => folded.push(Party {
                program: name,
                ..party
            }),
        }
    }
    for party in &mut folded {
        match by {
            By::Process => {}
            By::Operation => party.process = String::new(),
            By::Program | By::User => party.process = party.state(),
        }
    }
    folded.sort_by(|a, b| {
        let live_first = (a.running == 0).cmp(&(b.running == 0));
        live_first
            .then_with(|| match sort {
                Sort::Elapsed => b.time().cmp(&a.time()),
                Sort::Count => b.operations().cmp(&a.operations()),
                Sort::Name => std::cmp::Ordering::Equal,
            })
            .then_with(|| a.program.cmp(&b.program))
    });
    folded
}

/// A user's name, or the number where it has none.
fn user(uid: Option<u32>) -> String {
    let Some(uid) = uid else {
        return "(not known)".to_owned();
    };
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = |line: &str| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(uid)).then(|| name.to_owned())
    };
    users
        .lines()
        .find_map(name)
        .unwrap_or_else(|| uid.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn party(program: &str, uid: u32, running: usize) -> Party {
        Party {
            program: program.to_owned(),
            process: "1".to_owned(),
            running,
            ended: u64::from(running == 0),
            uid: Some(uid),
            counts: Counts::default(),
        }
    }

    #[test]
    fn processes_are_folded_and_those_that_run_come_first() {
        let parties = vec![
            party("curl", 0, 0),
            party("nginx", 4_000_000_000, 1),
            party("nginx", 4_000_000_000, 0),
            party("nginx", 4_000_000_000, 1),
        ];
        let lines = |by| -> Vec<(String, String)> {
            let folded = folded(parties.clone(), by, Sort::Name);
            folded
                .into_iter()
                .map(|party| (party.program, party.process))
                .collect()
        };
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(
            lines(By::Program),
            [pair("nginx", "2 running, 1 ended"), pair("curl", "1 ended")]
        );
        assert_eq!(
            lines(By::User),
            [
                pair("4000000000", "2 running, 1 ended"),
                pair("root", "1 ended")
            ]
        );
        assert_eq!(lines(By::Operation), [pair("", "")]);
        assert_eq!(lines(By::Process).len(), 4);
    }
}
