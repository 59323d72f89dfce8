//! The records of a system's programs, added up.

use super::cpu::{self, Times};
use outboard_observation::{Record, RecordError, RecordedProcess};
use std::path::{Path, PathBuf};

/// What services did, as far as their records can be read.
#[derive(Debug, Default)]
pub struct Services {
    /// All records as one; none if there is none.
    pub record: Option<Record>,
    /// The CPU time of the processes that still run.
    pub times: Times,
    /// Why a record was left out, in words.
    pub notes: Vec<String>,
    was_reset: bool,
}

impl Services {
    /// Reads the record at `path`.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn of_one(path: &Path) -> Result<Self, RecordError> {
        let mut services = Self::default();
        let record = Record::read(path)?;
        services.add(path, record);
        Ok(services)
    }

    /// Reads the records of all users, those that can be read. A user may write anything into their own record. It must
    /// not spoil the report about all users.
    pub fn of_all(paths: &[PathBuf]) -> Self {
        let mut services = Self::default();
        for path in paths {
            match Record::read(path) {
                Ok(record) if !cpu::is_possible(&record) => services.notes.push(format!(
                    "{} contains more time than has passed, so the report leaves it out",
                    path.display()
                )),
                Ok(record) => services.add(path, record),
                // Removed since it was listed.
                Err(error) if error.is_missing() => {}
                Err(error) => services.notes.push(error.to_string()),
            }
        }
        services
    }

    /// The CPU time of `processes`, or why it is not known.
    ///
    /// # Errors
    /// The reason.
    pub fn cpu(&self, processes: &[RecordedProcess]) -> Result<u64, &'static str> {
        if self.was_reset {
            return Err("some of these processes started before the counters were set to zero");
        }
        let time = |process: &RecordedProcess| {
            let key = (process.pid?, process.started);
            self.times.get(&key).copied()
        };
        processes.iter().try_fold(0u64, |sum, process| {
            let time = time(process).ok_or("some of these processes have ended")?;
            Ok(sum.saturating_add(time))
        })
    }

    fn add(&mut self, path: &Path, record: Record) {
        cpu::look(path, &mut self.times);
        let is_older = |process: &RecordedProcess| process.started <= record.reset;
        self.was_reset |= record.processes.iter().any(is_older);
        match &mut self.record {
            None => self.record = Some(record),
            Some(whole) => {
                whole.lost = whole.lost.saturating_add(record.lost);
                whole.processes.extend(record.processes);
            }
        }
    }
}
