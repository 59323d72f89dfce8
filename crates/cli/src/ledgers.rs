//! Which ledgers a command reads, and reading them.

use crate::Failure;
use crate::output::remark;
use outboard_ledger::{self as ledger, LedgerError, Snapshot};
use std::path::PathBuf;

/// Selects the counters.
#[derive(clap::Args)]
pub(crate) struct Which {
    /// This process only; an error where it has counted nothing
    #[arg(long, value_name = "PID")]
    pub(crate) pid: Option<u32>,
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

/// Ledgers and what they say.
pub(crate) type Ledgers = Vec<(PathBuf, Snapshot)>;

impl Which {
    /// Whether it is about a process, a program or a ledger that the user named.
    pub(crate) fn is_particular(&self) -> bool {
        self.pid.is_some() || self.program.is_some() || self.ledger.is_some()
    }

    /// Their files.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        if let Some(ledger) = &self.ledger {
            vec![ledger.clone()]
        } else if self.all || self.pid.is_some() {
            ledger::all_paths()
        } else {
            vec![ledger::default_path(rustix::process::geteuid().as_raw())]
        }
    }

    /// Whether an unreadable ledger is no error, because the user did not name it.
    pub(crate) fn tolerates(&self, error: &LedgerError) -> bool {
        self.ledger.is_none() && (self.all || self.pid.is_some() || error.is_missing())
    }

    /// Reads the selected counters.
    ///
    /// # Errors
    /// If a ledger that the user named cannot be read.
    pub(crate) fn read(&self) -> Result<Ledgers, Failure> {
        let mut ledgers = Vec::new();
        for path in self.paths() {
            match Snapshot::read(&path) {
                Ok(mut snapshot) => {
                    if let Some(pid) = self.pid {
                        snapshot.processes.retain(|process| process.pid == pid);
                        snapshot.programs.clear();
                    }
                    if let Some(name) = &self.program {
                        snapshot
                            .processes
                            .retain(|process| process.program == *name);
                        snapshot.programs.retain(|program| program.program == *name);
                    }
                    ledgers.push((path, snapshot));
                }
                Err(error) if self.tolerates(&error) => {
                    if !error.is_missing() {
                        remark(&format!("outboard: note: {error}"));
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
        let is_empty = |(_, snapshot): &(PathBuf, Snapshot)| snapshot.processes.is_empty();
        match self.pid.filter(|_| ledgers.iter().all(is_empty)) {
            Some(pid) => Err(self.unknown(pid)),
            None => Ok(ledgers),
        }
    }

    /// The error about a process that is in no ledger.
    pub(crate) fn unknown(&self, pid: u32) -> Failure {
        format!(
            "process {pid} has no entry in any ledger that you may read ('outboard doctor --pid {pid}' says \
             whether the process uses Outboard)"
        )
        .into()
    }
}

/// The counts between an earlier reading and now.
pub(crate) fn since(now: &Ledgers, earlier: &Ledgers) -> Ledgers {
    now.iter()
        .map(|(path, snapshot)| {
            let before = earlier.iter().find(|(known, _)| known == path);
            let difference = before.map(|(_, before)| snapshot.since(before));
            (path.clone(), difference.unwrap_or_else(|| snapshot.clone()))
        })
        .collect()
}
