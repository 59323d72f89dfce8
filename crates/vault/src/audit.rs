//! The audit log: every act of administration, in a table that only grows.
//!
//! ```text
//! hash of entry n = SHA-256(hash of entry n − 1 ‖ entry n)        hash of entry 0 = zeros
//! seal            = HMAC(key derived from the master key, registers ‖ phase ‖ last number ‖ last hash)
//! ```
//! Whoever has only the file can neither change, remove nor add an entry before the seal without being found. Entries that
//! are written while the vault is locked are chained, and sealed when the master key is there again.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use rusqlite::{Connection, OptionalExtension, Row};
use serde::Serialize;

use crate::KeyId;
use crate::cipher;
use crate::encoding::Writer;
use crate::error::{Error, Result};
use crate::record::Which;
use crate::state::Head;
use crate::vault::{Inner, Vault};

/// An entry of the audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its number, from 1.
    pub number: u64,
    /// When, in seconds since 1970.
    pub time: u64,
    /// The user who acted.
    pub uid: u32,
    /// What was done.
    pub act: Act,
    /// The key, by id.
    pub key: Option<KeyId>,
    /// The key, by its name after the act.
    pub name: Option<String>,
    /// What more there is to say; the reason of a refusal.
    pub detail: String,
    /// How it ended.
    pub outcome: Outcome,
}

/// How an act ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It was done.
    Done,
    /// It was refused, or failed.
    Refused,
}

macro_rules! acts {
    ($($(#[$attribute:meta])* $act:ident = $text:literal,)*) => {
        /// What is done to a store, a key or a master key.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
        #[serde(rename_all = "kebab-case")]
        #[non_exhaustive]
        pub enum Act { $($(#[$attribute])* $act,)* }

        impl Act {
            /// As it is written.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$act => $text,)* }
            }
        }

        impl FromStr for Act {
            type Err = ();

            fn from_str(text: &str) -> std::result::Result<Self, ()> {
                match text { $($text => Ok(Self::$act),)* _ => Err(()) }
            }
        }
    };
}

acts! {
    /// The store is made.
    CreateStore = "create-store",
    /// The store is restored from a backup.
    RestoreStore = "restore-store",
    /// The store is backed up.
    BackupStore = "backup-store",
    /// A part of a master key is entered.
    EnterPart = "enter-part",
    /// A master key is entered.
    EnterMasterKey = "enter-master-key",
    /// The master keys are forgotten.
    Lock = "lock",
    /// The roll begins.
    PrepareRoll = "prepare-roll",
    /// The new master key becomes the current one.
    ActivateRoll = "activate-roll",
    /// The old master key is dropped.
    FinaliseRoll = "finalise-roll",
    /// The roll is undone.
    CancelRoll = "cancel-roll",
    /// A key is inserted.
    Insert = "insert",
    /// A key gets another name.
    Rename = "rename",
    /// A key gets another policy.
    SetPolicy = "set-policy",
    /// A key gets other grants.
    SetGrants = "set-grants",
    /// A key gets other certificates.
    SetCertificates = "set-certificates",
    /// A key is deleted.
    Delete = "delete",
    /// A key leaves the vault.
    Export = "export",
    /// A wrong PIN is tried.
    LogIn = "log-in",
    /// Somebody changes a token's PIN.
    SetPin = "set-pin",
    /// The security officer gives a token's user a PIN.
    InitPin = "init-pin",
    /// A token loses its objects and its user's PIN.
    Initialise = "initialise",
    /// A token gets another policy.
    Restrict = "restrict",
    /// A token gets a key.
    InsertObject = "insert-object",
    /// A token's key is destroyed.
    DestroyObject = "destroy-object",
    /// An administrator agrees to an act.
    Approve = "approve",
    /// When the master key was entered, the log was not as it was left.
    Mismatch = "mismatch",
    /// Whatever else the service wants to be known.
    Note = "note",
}

impl Act {
    /// Whether it changes a key's row.
    fn changes_key(self) -> bool {
        use Act::{Delete, Insert, Rename, SetCertificates, SetGrants, SetPolicy};
        matches!(
            self,
            Insert | Rename | SetPolicy | SetGrants | SetCertificates | Delete
        )
    }
}

/// The acts of [`Act::changes_key`], in SQL.
const CHANGES: &str = "act IN ('insert', 'rename', 'set-policy', 'set-grants', 'set-certificates', 'delete') \
                       AND outcome = 'done'";

/// The acts that write a token's state anew, in SQL; its insertion is the first.
const TOKEN_CHANGES: &str =
    "act IN ('insert', 'set-pin', 'init-pin', 'initialise', 'restrict') AND outcome = 'done'";

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Done => "done",
            Self::Refused => "refused",
        })
    }
}

impl Vault {
    /// The audit log's entries, the oldest first.
    pub fn audit(&self) -> impl Iterator<Item = Result<Entry>> + '_ {
        self.audit_from(1)
    }

    /// The audit log's entries from that number on.
    pub fn audit_from(&self, number: u64) -> impl Iterator<Item = Result<Entry>> + '_ {
        Entries {
            vault: self,
            next: number.max(1),
            page: Vec::new().into_iter(),
            ended: false,
        }
    }

    /// Writes that something happened, that the vault itself does not see: that the service refused an act.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn note(
        &self,
        actor: u32,
        act: Act,
        key: Option<(KeyId, &str)>,
        detail: &str,
        outcome: Outcome,
    ) -> Result<()> {
        let note = New {
            key: key.map(|(id, _)| id),
            name: key.map(|(_, name)| name.to_owned()),
            detail: detail.to_owned(),
            outcome,
            ..New::of(actor, act)
        };
        // A log of changes of keys is compared with the keys: what only claims to be a change must not be in it.
        if act.changes_key() && outcome == Outcome::Done {
            return Err(Error::Refused {
                what: "the note",
                reason: "the vault itself writes the changes of keys (write a note of another act)",
            });
        }
        self.inner().change(|change| change.append(&note).map(drop))
    }
}

struct Entries<'a> {
    vault: &'a Vault,
    next: u64,
    page: std::vec::IntoIter<(Entry, Vec<u8>)>,
    ended: bool,
}

impl Iterator for Entries<'_> {
    type Item = Result<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        if self.page.as_slice().is_empty() {
            match self.vault.inner().page(self.next) {
                Ok(page) => self.page = page.into_iter(),
                Err(error) => {
                    self.ended = true;
                    return Some(Err(error));
                }
            }
        }
        let entry = self.page.next().map(|(entry, _)| entry);
        match &entry {
            Some(entry) => self.next = entry.number.saturating_add(1),
            None => self.ended = true,
        }
        entry.map(Ok)
    }
}

/// An entry to write.
pub(crate) struct New {
    pub(crate) uid: u32,
    pub(crate) act: Act,
    pub(crate) key: Option<KeyId>,
    pub(crate) name: Option<String>,
    pub(crate) detail: String,
    pub(crate) outcome: Outcome,
}

impl New {
    pub(crate) fn of(uid: u32, act: Act) -> Self {
        Self {
            uid,
            act,
            key: None,
            name: None,
            detail: String::new(),
            outcome: Outcome::Done,
        }
    }

    pub(crate) fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }

    pub(crate) fn key(mut self, id: KeyId, name: impl fmt::Display) -> Self {
        self.key = Some(id);
        self.name = Some(name.to_string());
        self
    }
}

impl Entry {
    pub(crate) fn hash(&self, before: &[u8; 32]) -> [u8; 32] {
        let mut writer = Writer::labelled("outboard vault audit 1");
        writer
            .bytes(before)
            .u64(self.number)
            .u64(self.time)
            .u32(self.uid)
            .bytes(self.act.as_str().as_bytes())
            .u8(self.key.is_some().into())
            .bytes(self.key.as_ref().map_or(&[], |key| &key.0))
            .u8(self.name.is_some().into())
            .bytes(self.name.as_deref().unwrap_or_default().as_bytes())
            .bytes(self.detail.as_bytes())
            .bytes(self.outcome.to_string().as_bytes());
        cipher::sha256(&writer.finish())
    }

    /// `None`: it is not as it was written.
    fn of_row(row: &Row<'_>) -> rusqlite::Result<Option<(Self, Vec<u8>)>> {
        let number: i64 = row.get(0)?;
        let read = || {
            let uid: i64 = row.get(2).ok()?;
            let act: String = row.get(3).ok()?;
            let key: Option<Vec<u8>> = row.get(4).ok()?;
            let outcome: String = row.get(7).ok()?;
            let entry = Self {
                number: number.try_into().ok()?,
                time: u64::try_from(row.get::<_, i64>(1).ok()?).ok()?,
                uid: uid.try_into().ok()?,
                act: act.parse().ok()?,
                key: match key {
                    None => None,
                    Some(key) => Some(KeyId(key.try_into().ok()?)),
                },
                name: row.get(5).ok()?,
                detail: row.get(6).ok()?,
                outcome: match outcome.as_str() {
                    "done" => Outcome::Done,
                    "refused" => Outcome::Refused,
                    _ => return None,
                },
            };
            Some((entry, row.get(8).ok()?))
        };
        Ok(read())
    }
}

/// Writes an entry after the head, which it becomes.
pub(crate) fn append(connection: &Connection, head: &mut Head, new: &New) -> rusqlite::Result<()> {
    let entry = Entry {
        number: head.number + 1,
        time: now(),
        uid: new.uid,
        act: new.act,
        key: new.key,
        name: new.name.clone(),
        detail: new.detail.clone(),
        outcome: new.outcome,
    };
    let hash = entry.hash(&head.hash);
    let mut statement = connection
        .prepare_cached("INSERT INTO audit VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?;
    statement.execute((
        entry.number as i64,
        entry.time as i64,
        entry.uid,
        entry.act.as_str(),
        entry.key.map(|key| key.0.to_vec()),
        &entry.name,
        &entry.detail,
        entry.outcome.to_string(),
        &hash[..],
    ))?;
    *head = Head {
        number: entry.number,
        hash,
    };
    Ok(())
}

/// Seconds since 1970.
pub(crate) fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// What the log says of a key that the store does not find: its id, if it should be there.
pub(crate) fn missing(
    connection: &Connection,
    which: Which<'_>,
) -> rusqlite::Result<Option<KeyId>> {
    let (column, id) = match which {
        Which::Id(id) => ("key", rusqlite::types::Value::Blob(id.0.to_vec())),
        Which::Name(name) => ("name", rusqlite::types::Value::Text(name.to_string())),
    };
    let statement = format!(
        "SELECT key FROM audit WHERE {column} = ?1 AND {CHANGES} ORDER BY number DESC LIMIT 1"
    );
    let mut statement = connection.prepare_cached(&statement)?;
    let found: Option<Vec<u8>> = statement.query_row([id], |row| row.get(0)).optional()?;
    let Some(id) = found.and_then(|id| id.try_into().ok()).map(KeyId) else {
        return Ok(None);
    };
    let statement = format!(
        "SELECT act, name FROM audit WHERE key = ?1 AND {CHANGES} ORDER BY number DESC LIMIT 1"
    );
    let mut statement = connection.prepare_cached(&statement)?;
    let (act, name): (String, Option<String>) =
        statement.query_row([&id.0[..]], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let lives = act != Act::Delete.as_str();
    let is_meant = match which {
        Which::Id(_) => true,
        Which::Name(wanted) => name.as_deref() == Some(wanted.as_str()),
    };
    Ok((lives && is_meant).then_some(id))
}

/// The keys that the log says are there: id, name, latest change.
pub(crate) fn living(connection: &Connection) -> rusqlite::Result<BTreeMap<KeyId, (String, u64)>> {
    let statement = format!(
        "SELECT key, act, name, max(number) FROM audit WHERE key IS NOT NULL AND {CHANGES} GROUP BY key"
    );
    let mut statement = connection.prepare_cached(&statement)?;
    let mut rows = statement.query(())?;
    let mut living = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let id: Vec<u8> = row.get(0)?;
        if row.get::<_, String>(1)? != Act::Delete.as_str()
            && let Ok(id) = id.try_into()
        {
            let name: Option<String> = row.get(2)?;
            let number: i64 = row.get(3)?;
            living.insert(KeyId(id), (name.unwrap_or_default(), number as u64));
        }
    }
    Ok(living)
}

/// The entry that tells the latest change of a token's state.
pub(crate) fn latest_of_token(connection: &Connection, token: KeyId) -> rusqlite::Result<u64> {
    let statement = format!("SELECT max(number) FROM audit WHERE key = ?1 AND {TOKEN_CHANGES}");
    let mut statement = connection.prepare_cached(&statement)?;
    let number: Option<i64> = statement.query_row([&token.0[..]], |row| row.get(0))?;
    Ok(number.unwrap_or_default() as u64)
}

impl Inner {
    /// Some entries from that one on, with their hashes.
    pub(crate) fn page(&self, from: u64) -> Result<Vec<(Entry, Vec<u8>)>> {
        let statement = "SELECT number, time, uid, act, key, name, detail, outcome, hash FROM audit \
                         WHERE number >= ?1 ORDER BY number LIMIT 256";
        let mut page = Vec::new();
        let read = |page: &mut Vec<(Entry, Vec<u8>)>| -> rusqlite::Result<bool> {
            let mut statement = self.store.connection.prepare_cached(statement)?;
            let mut rows = statement.query([i64::try_from(from).unwrap_or(i64::MAX)])?;
            while let Some(row) = rows.next()? {
                match Entry::of_row(row)? {
                    Some(entry) => page.push(entry),
                    None => return Ok(false),
                }
            }
            Ok(true)
        };
        match read(&mut page) {
            // What is good comes first; the bad entry is met by the next call.
            Ok(true) => Ok(page),
            _ if !page.is_empty() => Ok(page),
            Ok(false) => Err(self.bad_entry(from, "it is not as it was written")),
            Err(error) => match self.store.failed()(error) {
                Error::DamagedStore { .. } => Err(self.bad_entry(from, "its page cannot be read")),
                other => Err(other),
            },
        }
    }
}
