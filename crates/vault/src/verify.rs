//! Verification: that the audit log is what was written, and that the keys' rows are those that it tells of.

use rusqlite::OptionalExtension;
use serde::Serialize;

use crate::audit::{Act, living};
use crate::error::{Error, Result};
use crate::master::MasterKey;
use crate::record::Kind;
use crate::state::Head;
use crate::vault::{Inner, Vault};

/// What [`Vault::verify`] found to be right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// How many entries the log has.
    pub entries: u64,
    /// The last entry that the master key authenticates; `None`: the vault is locked, or never had a master key.
    pub authenticated: Option<u64>,
    /// How many keys were compared with the log.
    pub keys: u64,
}

impl Vault {
    /// Verifies the audit log, and compares the keys' rows with it.
    ///
    /// # Errors
    /// [`Error::DamagedLog`] names the first bad entry; [`Error::DamagedKey`] the first key that is not as the log says.
    pub fn verify(&self) -> Result<Verified> {
        self.inner().verify()
    }
}

impl Inner {
    fn verify(&self) -> Result<Verified> {
        let master = self.masters.current.as_ref();
        let sealed = self.state.sealed.as_ref();
        if let Some(master) = master
            && !self.state.is_sealed_by(master)?
        {
            let number = self.state.head.number;
            return Err(
                self.bad_entry(number, "the master key does not authenticate the log's end")
            );
        }
        let mut last = Head::default();
        loop {
            let page = self.page(last.number + 1)?;
            if page.is_empty() {
                break;
            }
            for (entry, hash) in page {
                if entry.number != last.number + 1 {
                    return Err(self.bad_entry(last.number + 1, "it is missing"));
                }
                last = Head {
                    number: entry.number,
                    hash: entry.hash(&last.hash),
                };
                if hash != last.hash {
                    return Err(self.bad_entry(last.number, "it or the one before it was changed"));
                }
                if let Some(sealed) = sealed
                    && sealed.head.number == last.number
                    && sealed.head.hash != last.hash
                {
                    return Err(self.bad_entry(last.number, "it is not the one that was sealed"));
                }
                if entry.act == Act::Mismatch {
                    return Err(self.bad_entry(
                        entry.number - 1,
                        "the log was changed before the master key was entered",
                    ));
                }
            }
        }
        if last != self.state.head {
            let first = last.number.min(self.state.head.number) + 1;
            return Err(self.bad_entry(first, "the log does not end where it did"));
        }
        Ok(Verified {
            entries: last.number,
            authenticated: master.and(sealed).map(|seal| seal.head.number),
            keys: self.compare_keys()?,
        })
    }

    /// That each key is there, and as old as the log says.
    fn compare_keys(&self) -> Result<u64> {
        let failed = self.store.failed();
        let living = living(&self.store.connection).map_err(&failed)?;
        for (&id, (name, number)) in &living {
            let damaged = |reason| Error::DamagedKey {
                key: format!("{name} ({id})"),
                reason,
            };
            let row = self.fetch(id.into())?;
            if row.name.as_str() != name || row.revision != *number {
                return Err(damaged(
                    "its row is not the one that the audit log tells of",
                ));
            }
            if self.masters.current.is_some() {
                self.unwrap(id.into())?;
                match row.kind {
                    Kind::Token => self.verify_token(id)?,
                    Kind::Coprocessor => self.verify_coprocessor()?,
                    Kind::Key(_) => {}
                }
            }
        }
        let count: i64 = self
            .store
            .connection
            .query_row("SELECT count(*) FROM keys", (), |row| row.get(0))
            .map_err(&failed)?;
        if count as usize == living.len() {
            return Ok(living.len() as u64);
        }
        let listing = self.records()?;
        let foreign = listing
            .records
            .iter()
            .find(|row| !living.contains_key(&row.id));
        Err(Error::DamagedKey {
            key: foreign.map_or_else(|| "without a readable row".into(), |row| row.described()),
            reason: "the audit log does not tell of it",
        })
    }

    pub(crate) fn bad_entry(&self, entry: u64, reason: &'static str) -> Error {
        Error::DamagedLog {
            path: self.store.file.clone(),
            entry,
            reason,
        }
    }

    /// Whether the log's end is the one that this master key sealed, and no key is newer than the log.
    pub(crate) fn log_is_as_left(&self, master: &MasterKey) -> Result<bool> {
        let Some(seal) = self.state.sealed.as_ref() else {
            return Ok(false);
        };
        if !self.state.is_sealed_by(master)? {
            return Ok(false);
        }
        let connection = &self.store.connection;
        let look = || -> rusqlite::Result<bool> {
            let hash: Option<Vec<u8>> = connection
                .query_row(
                    "SELECT hash FROM audit WHERE number = ?1",
                    [seal.head.number as i64],
                    |row| row.get(0),
                )
                .optional()?;
            let last: Option<i64> =
                connection.query_row("SELECT max(number) FROM audit", (), |row| row.get(0))?;
            let newest: Option<i64> =
                connection.query_row("SELECT max(revision) FROM keys", (), |row| row.get(0))?;
            let head = self.state.head.number as i64;
            Ok(hash.as_deref() == Some(&seal.head.hash[..])
                && last == Some(head)
                && newest.unwrap_or(0) <= head)
        };
        Ok(look().unwrap_or(false))
    }
}
