//! The store: one SQLite file in a directory of its own.
//!
//! A rollback journal, and `synchronous=EXTRA`: the file and its directory are on the disk before a change is acknowledged.
//! No write-ahead log: SQLite takes a damaged frame of such a log for its end, and so loses acknowledged changes in
//! silence; and the store would be two files whenever somebody copies it. Changes are rare, and the service serves from
//! memory meanwhile, so that readers lose nothing.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension};

use crate::cipher;
use crate::error::{Error, Result};
use crate::salvage;
use crate::state::State;

/// The store's file.
pub(crate) const FILE: &str = "vault.db";
/// The file that whoever uses the store locks.
const LOCK: &str = "lock";
/// Tells our files from other SQLite files: "OBvt".
const APPLICATION: i64 = 0x4f42_7674;

/// One change of the schema after the other; as many as applied are `user_version`.
/// A later one must change what `sqlite_schema` says: a version that does not is taken for damage.
const MIGRATIONS: &[&[&str]] = &[
    &[
        "CREATE TABLE keys (id BLOB NOT NULL UNIQUE, name TEXT NOT NULL UNIQUE, type TEXT NOT NULL, public BLOB NOT NULL, \
     exportable INTEGER NOT NULL, created INTEGER NOT NULL, revision INTEGER NOT NULL, policy BLOB NOT NULL, \
     grants BLOB NOT NULL) STRICT",
        "CREATE TABLE wrappings (key BLOB NOT NULL, master BLOB NOT NULL, nonce BLOB NOT NULL, sealed BLOB NOT NULL, \
     UNIQUE (key, master)) STRICT",
        "CREATE TABLE approvals (key BLOB NOT NULL, act TEXT NOT NULL, subject BLOB NOT NULL, uid INTEGER NOT NULL, \
     time INTEGER NOT NULL, revision INTEGER NOT NULL, code BLOB NOT NULL, UNIQUE (key, act, subject, uid)) STRICT",
        "CREATE TABLE audit (number INTEGER PRIMARY KEY, time INTEGER NOT NULL, uid INTEGER NOT NULL, act TEXT NOT NULL, \
     key BLOB, name TEXT, detail TEXT NOT NULL, outcome TEXT NOT NULL, hash BLOB NOT NULL) STRICT",
        "CREATE INDEX audit_key ON audit (key)",
        "CREATE INDEX audit_name ON audit (name)",
        "CREATE TABLE state (one INTEGER PRIMARY KEY, content BLOB NOT NULL, digest BLOB NOT NULL) STRICT",
        "CREATE TABLE state_copy (one INTEGER PRIMARY KEY, content BLOB NOT NULL, digest BLOB NOT NULL) STRICT",
    ],
    &["CREATE TABLE certificates (key BLOB NOT NULL UNIQUE, chain BLOB NOT NULL) STRICT"],
    &[
        "CREATE TABLE tokens (id BLOB NOT NULL UNIQUE, nonce BLOB NOT NULL, sealed BLOB NOT NULL) STRICT",
        "CREATE TABLE objects (id BLOB NOT NULL UNIQUE, token BLOB NOT NULL, revision INTEGER NOT NULL, \
     nonce BLOB NOT NULL, sealed BLOB NOT NULL) STRICT",
        "CREATE INDEX objects_token ON objects (token, id)",
    ],
];

/// The version of our schema.
const KNOWN: i64 = MIGRATIONS.len() as i64;

/// An open store. No other process has it.
pub(crate) struct Store {
    pub(crate) connection: Connection,
    pub(crate) file: PathBuf,
    /// What SQLite found at opening. Nothing is written to a store that is damaged.
    pub(crate) damage: Vec<String>,
    /// Damage that costs nothing: there is a whole copy, and the next change writes both.
    pub(crate) harmless: Vec<String>,
    _lock: Option<File>,
}

impl Store {
    /// A new store in a directory, which is made if there is none.
    pub(crate) fn create(directory: &Path) -> Result<Self> {
        make_directory(directory)?;
        let lock = lock(directory)?;
        let file = directory.join(FILE);
        if file.try_exists().map_err(Error::io(&file, "look for"))? {
            return Err(Error::Exists { path: file });
        }
        let journal = journal_of(&file);
        if journal
            .try_exists()
            .map_err(Error::io(&journal, "look for"))?
        {
            // It belongs to a store that somebody removed, and would be played back into the new one.
            return Err(Error::Exists { path: journal });
        }
        // Under another name until it is complete: a store that a kill left half made would never open.
        let draft = directory.join("vault.db.new");
        remove(&draft)?;
        remove(&journal_of(&draft))?;
        drop(make_file(&draft)?);
        {
            let connection = connect(&draft)?;
            migrate(&connection, &draft)?;
            write_state(&connection, &draft, &State::empty())?;
        }
        fs::rename(&draft, &file).map_err(Error::io(&file, "create"))?;
        synchronise(directory)?;
        Self::open_locked(file, Some(lock))
    }

    /// The store in a directory.
    pub(crate) fn open(directory: &Path) -> Result<Self> {
        let file = directory.join(FILE);
        if !file.try_exists().map_err(Error::io(&file, "look for"))? {
            return Err(Error::Missing { path: file });
        }
        check_private(directory, 0o700)?;
        let lock = lock(directory)?;
        Self::open_locked(file, Some(lock))
    }

    /// A store that has no place yet.
    pub(crate) fn open_draft(file: &Path) -> Result<Self> {
        Self::open_locked(file.to_owned(), None)
    }

    fn open_locked(file: PathBuf, lock: Option<File>) -> Result<Self> {
        check_private(&file, 0o600)?;
        let opened = connect(&file).and_then(|connection| {
            let damage = check(&connection, &file)?;
            Ok((connection, damage))
        });
        let (connection, damage) = match opened {
            Ok((connection, damage)) if damage.is_empty() => {
                migrate(&connection, &file)?;
                (connection, damage)
            }
            // What is still good is served from a copy in memory, and nothing is written.
            Ok((connection, damage)) => match salvage::image(&file) {
                Some(image) => (image, damage),
                None => (connection, damage),
            },
            Err(error @ (Error::DamagedStore { .. } | Error::Database { .. })) => {
                match (salvage::image(&file), error) {
                    (Some(image), error) => (image, vec![error.to_string()]),
                    (None, error) => return Err(error),
                }
            }
            Err(error) => return Err(error),
        };
        Ok(Self {
            connection,
            file,
            damage,
            harmless: Vec::new(),
            _lock: lock,
        })
    }

    /// Whether changes can be written.
    pub(crate) fn is_writable(&self) -> bool {
        self.damage.is_empty() && !self.connection.is_readonly("main").unwrap_or(true)
    }

    /// What SQLite's errors mean here.
    pub(crate) fn failed(&self) -> impl Fn(rusqlite::Error) -> Error + use<> {
        failed(&self.file)
    }

    /// The registers, the phase and the audit log's head.
    pub(crate) fn read_state(&mut self) -> Result<State> {
        let mut last = None;
        for table in ["state", "state_copy"] {
            match read_state(&self.connection, table) {
                Ok(Some(state)) => {
                    self.harmless.extend(last);
                    return Ok(state);
                }
                Ok(None) => last = Some(format!("table {table} is not as it was written")),
                Err(error) => last = Some(format!("table {table}: {error}")),
            }
        }
        Err(Error::DamagedStore {
            path: self.file.clone(),
            reason: "neither copy of the master key's patterns can be read".into(),
        })
    }
}

/// What SQLite's errors mean for the store at `file`.
pub(crate) fn failed(file: &Path) -> impl Fn(rusqlite::Error) -> Error + use<> {
    let file = file.to_owned();
    move |error| Error::database(&file, &error)
}

/// Writes both copies.
pub(crate) fn write_state(connection: &Connection, file: &Path, state: &State) -> Result<()> {
    let content = state.encode();
    let digest = cipher::sha256(&content);
    for table in ["state", "state_copy"] {
        let statement = format!("INSERT OR REPLACE INTO {table} VALUES (1, ?1, ?2)");
        connection
            .prepare(&statement)
            .and_then(|mut statement| statement.execute((&content, &digest[..])))
            .map_err(failed(file))?;
    }
    Ok(())
}

fn read_state(connection: &Connection, table: &str) -> rusqlite::Result<Option<State>> {
    let statement = format!("SELECT content, digest FROM {table} WHERE one = 1");
    let row = connection
        .query_row(&statement, (), |row| {
            Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, Vec<u8>>(1)?))
        })
        .optional()?;
    let whole = row.filter(|(content, digest)| cipher::sha256(content)[..] == digest[..]);
    Ok(whole.and_then(|(content, _)| State::decode(&content)))
}

/// Connects to a file that exists.
pub(crate) fn connect(file: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let failed = failed(file);
    let connection = Connection::open_with_flags(file, flags).map_err(&failed)?;
    connection
        .busy_timeout(Duration::from_secs(10))
        .map_err(&failed)?;
    let settings = "PRAGMA synchronous = EXTRA; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; \
                    PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY; PRAGMA page_size = 4096; PRAGMA journal_mode = DELETE;";
    match connection.execute_batch(settings) {
        // Refused where the store is damaged or read-only, and the default there.
        Err(error) if settings_may_fail(&error) => {}
        other => other.map_err(&failed)?,
    }
    connection.set_prepared_statement_cache_capacity(32);
    Ok(connection)
}

fn settings_may_fail(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    use rusqlite::ErrorCode::{CannotOpen, DatabaseCorrupt, ReadOnly};
    matches!(code, Some(DatabaseCorrupt | ReadOnly | CannotOpen))
}

/// Whether the file says that it is a store.
pub(crate) fn is_one(connection: &Connection, file: &Path) -> Result<bool> {
    let application = connection.query_row("PRAGMA application_id", (), |row| row.get::<_, i64>(0));
    match application {
        Ok(application) => Ok(application == APPLICATION),
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::NotADatabase) => {
            Ok(false)
        }
        Err(error) => Err(failed(file)(error)),
    }
}

/// That the file is one of ours; what of it is damaged.
pub(crate) fn check(connection: &Connection, file: &Path) -> Result<Vec<String>> {
    let failed = failed(file);
    let number = |name: &str| {
        let pragma = format!("PRAGMA {name}");
        connection.query_row(&pragma, (), |row| row.get::<_, i64>(0))
    };
    let version = number("user_version").map_err(&failed)?;
    let application = number("application_id").map_err(&failed)?;
    let mut damage = Vec::new();
    match schema(connection) {
        Err(error) => damage.push(format!("its schema cannot be read: {error}")),
        Ok(found) if found == expected(MIGRATIONS.len()) => {
            if (application, version) != (APPLICATION, KNOWN) {
                damage.push("its header is not the one that was written".to_owned());
            }
        }
        // A later schema differs from ours.
        Ok(_) if application == APPLICATION && version > KNOWN => {
            return Err(Error::Newer {
                path: file.to_owned(),
                found: version,
                known: KNOWN,
            });
        }
        Ok(found) => {
            let version = usize::try_from(version).unwrap_or(0);
            if version == 0 || found != expected(version.min(MIGRATIONS.len())) {
                damage.push("its schema is not the one that was written".to_owned());
            }
        }
    }
    let found = connection
        .prepare("PRAGMA integrity_check(20)")
        .and_then(|mut statement| {
            let lines = statement.query_map((), |row| row.get::<_, String>(0))?;
            lines.collect::<rusqlite::Result<Vec<_>>>()
        });
    match found {
        Ok(lines) => damage.extend(lines.into_iter().filter(|line| line != "ok")),
        Err(error) => damage.push(error.to_string()),
    }
    Ok(damage)
}

/// The schema after so many migrations.
fn expected(migrations: usize) -> Vec<&'static str> {
    MIGRATIONS[..migrations].concat()
}

fn schema(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement =
        connection.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")?;
    let found = statement.query_map((), |row| row.get(0))?;
    found.collect()
}

/// Brings the schema to our version.
pub(crate) fn migrate(connection: &Connection, file: &Path) -> Result<()> {
    let failed = failed(file);
    let version: i64 = connection
        .query_row("PRAGMA user_version", (), |row| row.get(0))
        .map_err(&failed)?;
    let applied = usize::try_from(version).unwrap_or(0);
    for (at, statements) in MIGRATIONS.iter().enumerate().skip(applied) {
        let steps = statements.iter().copied();
        let number = format!("PRAGMA user_version = {}", at + 1);
        let application = format!("PRAGMA application_id = {APPLICATION}");
        let all: Vec<&str> = std::iter::once("BEGIN IMMEDIATE")
            .chain(steps)
            .chain([&*application, &*number, "COMMIT"])
            .collect();
        if let Err(error) = connection.execute_batch(&all.join(";")) {
            // Where the transaction is over already, there is nothing to roll back.
            let _ = connection.execute_batch("ROLLBACK");
            return Err(failed(error));
        }
    }
    Ok(())
}

/// The directory of a store, private from its first moment.
pub(crate) fn make_directory(directory: &Path) -> Result<()> {
    match DirBuilder::new().mode(0o700).create(directory) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            check_private(directory, 0o700)
        }
        Err(error) => Err(Error::io(directory, "create")(error)),
    }
}

/// A new empty file that is private from its first moment.
pub(crate) fn make_file(file: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).mode(0o600);
    options.open(file).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Error::Exists {
            path: file.to_owned(),
        },
        _ => Error::io(file, "create")(error),
    })
}

/// Whoever holds it has the store. The lock ends with the process, however it ends.
pub(crate) fn lock(directory: &Path) -> Result<File> {
    let path = directory.join(LOCK);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).mode(0o600);
    let opened = options.open(&path).or_else(|error| match error.kind() {
        // What can be read can be locked.
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => File::open(&path),
        _ => Err(error),
    });
    let lock = opened.map_err(Error::io(&path, "open"))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(Error::InUse {
            path: directory.to_owned(),
        }),
        Err(TryLockError::Error(error)) => Err(Error::io(&path, "lock")(error)),
    }
}

/// Makes the names in a directory durable.
pub(crate) fn synchronise(directory: &Path) -> Result<()> {
    File::open(directory)
        .and_then(|directory| directory.sync_all())
        .map_err(Error::io(directory, "write"))
}

/// Removes a file; none is no error.
pub(crate) fn remove(file: &Path) -> Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::io(file, "remove")(error))
        }
        _ => Ok(()),
    }
}

/// SQLite's rollback journal of a file.
pub(crate) fn journal_of(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push("-journal");
    name.into()
}

/// That a file or directory is ours, and of nobody else.
fn check_private(path: &Path, wanted: u32) -> Result<()> {
    let metadata = fs::metadata(path).map_err(Error::io(path, "look at"))?;
    // SAFETY: asks for a number.
    let us = unsafe { libc::geteuid() };
    if metadata.uid() != us {
        return Err(Error::Foreign {
            path: path.to_owned(),
            owner: metadata.uid(),
            us,
        });
    }
    let mode = metadata.mode() & 0o7777;
    match mode & 0o077 {
        0 => Ok(()),
        _ => Err(Error::Exposed {
            path: path.to_owned(),
            mode,
            wanted,
        }),
    }
}
