//! What can go wrong: each error names the key or the file, the reason and the remedy.

use std::io;
use std::path::{Path, PathBuf};

use crate::KeyId;
use crate::master::{Pattern, Register};

/// The result of whatever the vault does.
pub type Result<T> = std::result::Result<T, Error>;

/// How the owner of a file of the store comes to use it.
fn own(path: &Path, owner: u32, us: u32) -> String {
    match us {
        0 => format!("run this as its owner: 'setpriv --reuid={owner} --clear-groups outboardd …'"),
        us => format!(
            "run the service as its owner, or run 'chown {us} {}'",
            path.display()
        ),
    }
}

/// Why the vault refuses or fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no store.
    #[error("{} does not exist (create a store, or name a backup that is there)", .path.display())]
    Missing {
        /// The store's file.
        path: PathBuf,
    },
    /// There is a store already.
    #[error("{} exists already (choose another name or another directory)", .path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// Another process has the store.
    #[error("another process uses the store in {} (stop that service first)", .path.display())]
    InUse {
        /// The store's directory.
        path: PathBuf,
    },
    /// Others can reach a file of the store.
    #[error("{} has mode {mode:o}, so that other users reach it (run 'chmod {wanted:o} {}')", .path.display(), .path.display())]
    Exposed {
        /// The file or directory.
        path: PathBuf,
        /// Its mode.
        mode: u32,
        /// The mode that it must have.
        wanted: u32,
    },
    /// A file of the store belongs to another user.
    #[error("{} belongs to uid {owner}, not to uid {us} ({})", .path.display(), own(.path, *.owner, *.us))]
    Foreign {
        /// The file or directory.
        path: PathBuf,
        /// Its owner.
        owner: u32,
        /// The user of this process.
        us: u32,
    },
    /// A file is not what a backup is.
    #[error("{} is no backup of Outboard, or is damaged (name a file that 'outboard keys backup' made)", .path.display())]
    NoBackup {
        /// The file.
        path: PathBuf,
    },
    /// The file system failed.
    #[error("cannot {action} {}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// There is no room.
    #[error("cannot write {}: no space is left (free some; the store is as it was)", .path.display())]
    Full {
        /// The store's file.
        path: PathBuf,
    },
    /// The store cannot be written.
    #[error("cannot write {}: it, its directory or its file system is read-only (make it writable and restart the service; the store is as it was)", .path.display())]
    ReadOnly {
        /// The store's file.
        path: PathBuf,
    },
    /// The store's file is damaged.
    #[error("{} is damaged: {reason} (restore the store from a backup; keys that are whole still serve)", .path.display())]
    DamagedStore {
        /// The store's file.
        path: PathBuf,
        /// What was found.
        reason: String,
    },
    /// A key is damaged.
    #[error(
        "key {key} is damaged in the store: {reason} (restore the store from a backup, or delete the key)"
    )]
    DamagedKey {
        /// The key's name or id, or both.
        key: String,
        /// What was found.
        reason: &'static str,
    },
    /// The audit log is damaged.
    #[error("the audit log in {} is damaged at entry {entry}: {reason} (compare it with a backup)", .path.display())]
    DamagedLog {
        /// The store's file.
        path: PathBuf,
        /// The first bad entry's number.
        entry: u64,
        /// What was found.
        reason: &'static str,
    },
    /// A newer version wrote the store.
    #[error("{} has schema {found}, and this version of Outboard knows {known} at most (install the newer version)", .path.display())]
    Newer {
        /// The store's file.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// Ours.
        known: i64,
    },
    /// The database failed in another way.
    #[error("cannot use the store {}: {reason} (the store is as it was)", .path.display())]
    Database {
        /// The store's file.
        path: PathBuf,
        /// What SQLite says.
        reason: String,
    },
    /// No master key was ever entered.
    #[error("the card service has no master key yet (run 'outboard service enter')")]
    Empty,
    /// The master key is not entered.
    #[error(
        "the master key is not entered (run 'outboard service enter' with the key of verification pattern {expected})"
    )]
    Locked {
        /// The pattern of the key to enter.
        expected: Pattern,
    },
    /// No key has that name or id.
    #[error("there is no key or token {key} (run 'outboard keys list' or 'outboard token list')")]
    NoKey {
        /// The name or id.
        key: String,
    },
    /// No token has that name or id.
    #[error("there is no token {token} (run 'outboard token list')")]
    NoToken {
        /// The name or id.
        token: String,
    },
    /// The token has no such object.
    #[error("token {token} has no object {object} (run 'outboard token objects {token}')")]
    NoObject {
        /// The token's name.
        token: String,
        /// The object's id.
        object: KeyId,
    },
    /// A token's object is damaged.
    #[error(
        "object {object} of token {token} is damaged in the store (restore the store from a backup, or remove the object)"
    )]
    DamagedObject {
        /// The token's name.
        token: String,
        /// The object's id.
        object: KeyId,
    },
    /// The PIN is another one.
    #[error("the PIN of token {token} is wrong ({})", tries(*left))]
    WrongPin {
        /// The token's name.
        token: String,
        /// How many more tries there are.
        left: u8,
    },
    /// Too many wrong PINs were tried.
    #[error("the PIN of token {token} is locked after too many wrong ones ({remedy})")]
    LockedPin {
        /// The token's name.
        token: String,
        /// What to do.
        remedy: &'static str,
    },
    /// The user has no PIN yet.
    #[error("the user of token {token} has no PIN yet (run 'outboard token reset-pin {token}')")]
    NoPin {
        /// The token's name.
        token: String,
    },
    /// There is no room for one more.
    #[error("there is no room for more {what}: {most} are the most (remove some)")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there may be.
        most: u64,
    },
    /// Another key has that name.
    #[error("a key or token named {name} exists already (choose another name, or rename that one)")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// Something is not what it must be.
    #[error("{what} {value:?} is not valid: {reason}")]
    Invalid {
        /// What it is.
        what: &'static str,
        /// What was given.
        value: String,
        /// What it must be.
        reason: &'static str,
    },
    /// The wrong master key.
    #[error(
        "the master key with verification pattern {entered} does not belong into register {register}, which expects {expected} (enter that key)"
    )]
    WrongMasterKey {
        /// The register.
        register: Register,
        /// The pattern of what was entered.
        entered: Pattern,
        /// The pattern of what must be entered.
        expected: Pattern,
    },
    /// A master key, or a part of one, that cannot be taken.
    #[error("{what} is refused: {reason}")]
    Refused {
        /// What is refused.
        what: &'static str,
        /// Why, and what to do.
        reason: &'static str,
    },
    /// A step of the roll that does not come next.
    #[error("cannot {step} the roll of the master key: {reason}")]
    Roll {
        /// The step.
        step: &'static str,
        /// Why, and what to do.
        reason: &'static str,
    },
    /// The roll cannot go on, because of keys.
    #[error(
        "cannot {step} the roll of the master key: {count} keys are not ready, {key} among them (run its preparation again; restore or delete keys that it calls damaged)"
    )]
    Unprepared {
        /// The step.
        step: &'static str,
        /// How many keys.
        count: u64,
        /// One of these.
        key: String,
    },
    /// The key stays inside.
    #[error(
        "key {name} was not made exportable, and never leaves the vault (make a new key that is)"
    )]
    NotExportable {
        /// The key's name.
        name: String,
    },
    /// Not enough administrators agree.
    #[error(
        "key {name}: {act} needs {needed} of its administrators (uids {administrators:?}), and {given} agree so far (let the others approve it)"
    )]
    Approvals {
        /// The key's name.
        name: String,
        /// What they must approve.
        act: &'static str,
        /// How many must approve it.
        needed: u8,
        /// How many did.
        given: u8,
        /// Those that may.
        administrators: Vec<u32>,
    },
    /// AWS-LC failed.
    #[error("cannot {action}: the system gives no memory or no randomness (try again)")]
    Resource {
        /// What was tried.
        action: &'static str,
    },
}

impl Error {
    pub(crate) fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| match source.raw_os_error() {
            Some(libc::ENOSPC | libc::EDQUOT) => Self::Full { path },
            Some(libc::EROFS) => Self::ReadOnly { path },
            _ => Self::Io {
                path,
                action,
                source,
            },
        }
    }

    /// What SQLite says of the file at `path`.
    pub(crate) fn database(path: &Path, error: &rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        let path = path.to_owned();
        let reason = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::Full { path },
            Some(ErrorCode::ReadOnly) => Self::ReadOnly { path },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::DamagedStore { path, reason }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::InUse { path },
            _ => Self::Database { path, reason },
        }
    }
}

/// How many wrong PINs are still compared.
fn tries(left: u8) -> String {
    match left {
        0 => "it is locked now".to_owned(),
        1 => "1 more try until it is locked".to_owned(),
        left => format!("{left} more tries until it is locked"),
    }
}
