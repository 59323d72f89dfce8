//! Backups while serving, and their restoration.
//!
//! A backup is a store's file, whole and checked, under another name. It has no secret but those wrapped under the master
//! key; but whoever has it and the master key has the keys.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use crate::audit::{self, Act, New};
use crate::error::{Error, Result};
use crate::master::Pattern;
use crate::store::{self, FILE, Store};
use crate::vault::Vault;

/// A restored store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// How many keys it has.
    pub keys: u64,
    /// The pattern of the master key that opens it.
    pub current: Option<Pattern>,
    /// Where the store is that was there before.
    pub replaced: Option<PathBuf>,
}

impl Vault {
    /// Writes a copy of the store to a new file, which only its owner reaches. Reading goes on meanwhile; a change waits.
    ///
    /// # Errors
    /// The file exists already; there is no room; the store is damaged.
    pub fn backup(&self, actor: u32, to: impl AsRef<Path>) -> Result<()> {
        let to = to.as_ref();
        let failed = store::failed(to);
        if to.symlink_metadata().is_ok() {
            return Err(Error::Exists {
                path: to.to_owned(),
            });
        }
        let file = {
            let mut inner = self.inner();
            let new = New::of(actor, Act::BackupStore).detail(format!("to {}", to.display()));
            inner.change(|change| change.append(&new))?;
            inner.store.file.clone()
        };
        let directory = directory_of(to);
        let draft = tempfile::Builder::new()
            .prefix(".outboard-")
            .tempfile_in(directory)
            .map_err(Error::io(to, "create"))?;
        let source = store::connect(&file)?;
        copy(&source, draft.path()).map_err(|error| match error {
            // The draft's name means nothing to the caller.
            Error::Full { .. } => Error::Full {
                path: to.to_owned(),
            },
            other => other,
        })?;
        let copied = Connection::open(draft.path()).map_err(&failed)?;
        undamaged(store::check(&copied, to)?, to)?;
        copied.close().map_err(|(_, error)| failed(error))?;
        draft.as_file().sync_all().map_err(Error::io(to, "write"))?;
        draft
            .persist_noclobber(to)
            .map_err(|error| match error.error.kind() {
                io::ErrorKind::AlreadyExists => Error::Exists {
                    path: to.to_owned(),
                },
                _ => Error::io(to, "create")(error.error),
            })?;
        store::synchronise(directory)
    }

    /// Puts a backup in the place of the store in a directory, or makes that directory. The store that was there is kept
    /// under another name. No process may have it open.
    ///
    /// # Errors
    /// The backup is none, or damaged; a process uses the store; the file system fails. The store is then as it was; but if
    /// the last moment fails, or is cut off, it is still under its other name, and the restoration can be repeated.
    pub fn restore(
        actor: u32,
        backup: impl AsRef<Path>,
        directory: impl AsRef<Path>,
    ) -> Result<Restored> {
        let (backup, directory) = (backup.as_ref(), directory.as_ref());
        fs::metadata(backup).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::Missing {
                path: backup.to_owned(),
            },
            _ => Error::io(backup, "read")(error),
        })?;
        let failed = store::failed(backup);
        let source = Connection::open_with_flags(backup, OpenFlags::SQLITE_OPEN_READ_ONLY);
        let source = source.map_err(&failed)?;
        if !store::is_one(&source, backup)? {
            return Err(Error::NoBackup {
                path: backup.to_owned(),
            });
        }
        undamaged(store::check(&source, backup)?, backup)?;

        store::make_directory(directory)?;
        let lock = store::lock(directory)?;
        let file = directory.join(FILE);
        let draft = directory.join("vault.db.new");
        store::remove(&draft)?;
        store::remove(&store::journal_of(&draft))?;
        drop(store::make_file(&draft)?);
        copy(&source, &draft)?;
        let (keys, current) = {
            let mut copied = Store::open_draft(&draft)?;
            undamaged(copied.damage.clone(), backup)?;
            let mut state = copied.read_state()?;
            let new =
                New::of(actor, Act::RestoreStore).detail(format!("from {}", backup.display()));
            let failed = copied.failed();
            let connection = &copied.connection;
            let transaction = connection.unchecked_transaction().map_err(&failed)?;
            audit::append(&transaction, &mut state.head, &new).map_err(&failed)?;
            store::write_state(&transaction, &draft, &state)?;
            transaction.commit().map_err(&failed)?;
            let count = "SELECT count(*) FROM keys WHERE type NOT IN ('token', 'coprocessor')";
            let count = connection.query_row(count, (), |row| row.get(0));
            let count: i64 = count.map_err(&failed)?;
            (count as u64, state.current)
        };
        let replaced = move_aside(&file)?;
        fs::rename(&draft, &file).map_err(Error::io(&file, "create"))?;
        store::synchronise(directory)?;
        drop(lock);
        Ok(Restored {
            keys,
            current,
            replaced,
        })
    }
}

/// Copies a whole database, in one transaction.
fn copy(source: &Connection, to: &Path) -> Result<()> {
    let failed = store::failed(to);
    let mut target = Connection::open(to).map_err(&failed)?;
    let result = Backup::new(source, &mut target)
        .and_then(|backup| backup.step(-1))
        .map_err(&failed)?;
    if result != StepResult::Done {
        return Err(Error::InUse {
            path: to.to_owned(),
        });
    }
    target.close().map_err(|(_, error)| failed(error))
}

fn undamaged(damage: Vec<String>, file: &Path) -> Result<()> {
    match damage.into_iter().next() {
        None => Ok(()),
        Some(reason) => Err(Error::DamagedStore {
            path: file.to_owned(),
            reason,
        }),
    }
}

/// Gives a store that is in the way another name. Its journal, if a kill left one, goes with it: it belongs to that store,
/// and would destroy another.
fn move_aside(file: &Path) -> Result<Option<PathBuf>> {
    let mut number = audit::now();
    let aside = loop {
        let mut name = file.as_os_str().to_owned();
        name.push(format!(".replaced-{number}"));
        let aside = PathBuf::from(name);
        if aside.symlink_metadata().is_err() {
            break aside;
        }
        number += 1;
    };
    let mut moved = None;
    let journals = (store::journal_of(file), store::journal_of(&aside));
    for (from, to) in [(file, &*aside), (&*journals.0, &*journals.1)] {
        match fs::rename(from, to) {
            Ok(()) => moved = Some(aside.clone()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::io(from, "rename")(error)),
        }
    }
    Ok(moved)
}

fn directory_of(file: &Path) -> &Path {
    match file.parent() {
        Some(directory) if directory != Path::new("") => directory,
        _ => Path::new("."),
    }
}
