//! Which ledgers a command reads, and reading them.

use outboard_ledger::{self as ledger, LedgerError, Snapshot};
use std::path::PathBuf;

/// Selects the counters.
#[derive(Clone, Debug, Default)]
pub struct Which {
    /// This process only; an error where it has counted nothing.
    pub pid: Option<u32>,
    /// This program's processes only.
    pub program: Option<String>,
    /// Every user's ledger that may be read.
    pub all: bool,
    /// This ledger instead of the user's own.
    pub ledger: Option<PathBuf>,
}

/// Why the selected counters cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A ledger that the user named.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The process is in no ledger.
    #[error(
        "process {0} has no entry in any ledger that you may read ('outboard doctor --pid {0}' says \
         whether the process uses Outboard)"
    )]
    UnknownProcess(u32),
}

/// Ledgers and what they say.
pub type Ledgers = Vec<(PathBuf, Snapshot)>;

impl Which {
    /// Whether it is about a process, a program or a ledger that the user named.
    pub fn is_particular(&self) -> bool {
        self.pid.is_some() || self.program.is_some() || self.ledger.is_some()
    }

    /// Their files.
    pub fn paths(&self) -> Vec<PathBuf> {
        if let Some(ledger) = &self.ledger {
            vec![ledger.clone()]
        } else if self.all || self.pid.is_some() {
            ledger::all_paths()
        } else {
            vec![ledger::default_path(rustix::process::geteuid().as_raw())]
        }
    }

    /// Whether an unreadable ledger is no error, because the user did not name it.
    pub fn tolerates(&self, error: &LedgerError) -> bool {
        self.ledger.is_none() && (self.all || self.pid.is_some() || error.is_missing())
    }

    /// Reads the selected counters. `remark` is told of each ledger that cannot be read and was not named.
    ///
    /// # Errors
    /// If a ledger that the user named cannot be read.
    pub fn read(&self, mut remark: impl FnMut(&LedgerError)) -> Result<Ledgers, Error> {
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
                            .retain(|process| is_named(&process.program, name));
                        snapshot
                            .programs
                            .retain(|program| is_named(&program.program, name));
                    }
                    ledgers.push((path, snapshot));
                }
                Err(error) if self.tolerates(&error) => {
                    if !error.is_missing() {
                        remark(&error);
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
        let is_empty = |(_, snapshot): &(PathBuf, Snapshot)| snapshot.processes.is_empty();
        match self.pid.filter(|_| ledgers.iter().all(is_empty)) {
            Some(pid) => Err(Error::UnknownProcess(pid)),
            None => Ok(ledgers),
        }
    }
}

/// The counts between an earlier reading and now.
pub fn since(now: &Ledgers, earlier: &Ledgers) -> Ledgers {
    now.iter()
        .map(|(path, snapshot)| {
            let before = earlier.iter().find(|(known, _)| known == path);
            let difference = before.map(|(_, before)| snapshot.since(before));
            (path.clone(), difference.unwrap_or_else(|| snapshot.clone()))
        })
        .collect()
}

/// Whether a program of that whole name is counted by this one: the kernel keeps the first 15 bytes of a name.
fn is_named(counted: &str, whole: &str) -> bool {
    const KEPT: usize = 15;
    counted == whole || counted.len() >= KEPT && whole.starts_with(counted)
}

#[cfg(test)]
mod tests {
    use super::is_named;

    #[test]
    fn long_names_are_found_by_what_the_kernel_keeps() {
        assert!(is_named("nginx", "nginx"));
        assert!(!is_named("nginx", "nginx-debug"));
        assert!(is_named("averylongprogra", "averylongprogramname"));
        assert!(is_named("averylongprogra", "averylongprogra"));
        assert!(!is_named("averylongprogra", "averylongprog"));
    }
}
