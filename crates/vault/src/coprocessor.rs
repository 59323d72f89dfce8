//! The state of the CCA coprocessor: names and values, each sealed.
//!
//! To the store the coprocessor is a row as a key is, of type `coprocessor`; so the roll, grants and backups know it. Its
//! private half is a random secret of 32 bytes. Two keys are derived from it, and alone used.
//! ```text
//! sealing key = HMAC-SHA-256(secret, "outboard coprocessor sealing 1")
//! naming key  = HMAC-SHA-256(secret, "outboard coprocessor naming 1")
//! id of an entry = the first 16 bytes of HMAC-SHA-256(naming key, name)
//! ```
//! An entry is a row of the table `objects`. Its name is sealed with its value: the file tells how many entries there are, and
//! nothing of labels or accounts.

use std::fmt;

use zeroize::Zeroizing;

use crate::audit::{self, Act, New};
use crate::cipher;
use crate::encoding::{Reader, Writer};
use crate::error::{Error, Result};
use crate::grants::Grants;
use crate::keys;
use crate::master::Sealed;
use crate::policy::Policy;
use crate::record::{Kind, Name, Record};
use crate::vault::{Change, Inner, Vault};
use crate::{KeyId, Unwrapped};

/// The name of the coprocessor's row.
const NAME: &str = "coprocessor";
const LABEL: &str = "outboard coprocessor entry 1";

/// A name of the coprocessor's state, and its value.
pub type StateEntry = (String, Zeroizing<Vec<u8>>);

/// A change of the coprocessor's state.
#[derive(Clone, Copy)]
pub struct StateChange<'a> {
    /// Entries that are written, in the place of older ones of their names.
    pub put: &'a [StateEntry],
    /// The names of entries that are removed before.
    pub remove: &'a [String],
}

/// The coprocessor's row, authenticated, and its keys.
pub struct Coprocessor {
    /// Its grants, among others.
    pub record: Record,
    sealing: Zeroizing<[u8; 32]>,
    naming: Zeroizing<[u8; 32]>,
}

/// Never the keys.
impl fmt::Debug for Coprocessor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Coprocessor({})", self.record.id)
    }
}

impl Vault {
    /// Makes the coprocessor, without state.
    ///
    /// # Errors
    /// The vault is not open; there is one already, or a key of its name; the store cannot be written.
    pub fn create_coprocessor(&self, actor: u32) -> Result<Coprocessor> {
        let name: Name = NAME.parse()?;
        let mut inner = self.inner();
        inner.masters.current(&inner.state)?;
        inner.is_free(&name)?;
        let secret = Zeroizing::new(cipher::random::<32>()?);
        let record = inner.change(|change| {
            let record = Record {
                id: KeyId(cipher::random()?),
                name: name.clone(),
                kind: Kind::Coprocessor,
                public: Vec::new(),
                exportable: false,
                created: audit::now(),
                revision: change.next(),
                policy: Policy::default(),
                grants: Grants::default(),
                certificates: Vec::new(),
            };
            keys::insert_row(change, actor, &record, &*secret)?;
            Ok(record)
        })?;
        Coprocessor::new(record, &*secret)
    }

    /// The coprocessor; none where there is none.
    ///
    /// # Errors
    /// The vault is not open; the row is damaged.
    pub fn coprocessor(&self) -> Result<Option<Coprocessor>> {
        self.inner().coprocessor()
    }

    /// The coprocessor's whole state.
    ///
    /// # Errors
    /// The store cannot be read, or an entry is damaged.
    pub fn state_entries(&self, of: &Coprocessor) -> Result<Vec<StateEntry>> {
        self.inner().state_entries(of)
    }

    /// Writes entries, in the place of older ones of their names, and removes others: all of that or nothing.
    ///
    /// # Errors
    /// The coprocessor is gone; the store cannot be written. Nothing is changed.
    pub fn change_state_entries(
        &self,
        of: &Coprocessor,
        put: &[StateEntry],
        remove: &[String],
    ) -> Result<()> {
        self.change_state(of, &[StateChange { put, remove }])
    }

    /// Carries out several changes, one after the other: all of them or none. The disk is waited for once.
    ///
    /// # Errors
    /// As [`change_state_entries`](Self::change_state_entries).
    pub fn change_state(&self, of: &Coprocessor, changes: &[StateChange<'_>]) -> Result<()> {
        let mut inner = self.inner();
        // It may have been destroyed since the caller looked: entries without a row would stay for ever.
        inner.fetch(of.record.id.into())?;
        inner.change(|change| {
            for StateChange { put, remove } in changes {
                for name in *remove {
                    forget(change, of.id_of(name)?)?;
                }
                for (name, value) in *put {
                    let id = of.id_of(name)?;
                    forget(change, id)?;
                    of.store(change, id, name, value)?;
                }
            }
            Ok(())
        })
    }

    /// Writes into the audit log what an administrator did with the coprocessor.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn note_coprocessor(&self, actor: u32, of: &Coprocessor, detail: &str) -> Result<()> {
        let new = New::of(actor, Act::Note).detail(detail);
        let new = new.key(of.record.id, &of.record.name);
        self.inner().change(|change| change.append(&new).map(drop))
    }
}

impl Inner {
    fn coprocessor(&self) -> Result<Option<Coprocessor>> {
        let name: Name = NAME.parse()?;
        match self.unwrap((&name).into()) {
            Ok(Unwrapped { record, private }) if record.is_coprocessor() => {
                Coprocessor::new(record, &private).map(Some)
            }
            Ok(_) | Err(Error::NoKey { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn state_entries(&self, of: &Coprocessor) -> Result<Vec<StateEntry>> {
        let read = || -> rusqlite::Result<Vec<(KeyId, u64, Sealed)>> {
            let text = "SELECT id, revision, nonce, sealed FROM objects WHERE token = ?1";
            let mut statement = self.store.connection.prepare_cached(text)?;
            let rows = statement.query_map([&of.record.id.0[..]], |row| {
                let sealed = Sealed {
                    nonce: row.get(2)?,
                    sealed: row.get(3)?,
                };
                Ok((KeyId(row.get(0)?), row.get::<_, i64>(1)? as u64, sealed))
            })?;
            rows.collect()
        };
        let rows = read().map_err(self.store.failed())?;
        rows.into_iter()
            .map(|(id, revision, sealed)| of.open(id, revision, &sealed))
            .collect()
    }

    /// That all entries are whole.
    pub(crate) fn verify_coprocessor(&self) -> Result<()> {
        match self.coprocessor()? {
            Some(of) => self.state_entries(&of).map(drop),
            None => Ok(()),
        }
    }
}

impl Coprocessor {
    fn new(record: Record, secret: &[u8]) -> Result<Self> {
        Ok(Self {
            record,
            sealing: cipher::hmac(secret, b"outboard coprocessor sealing 1")?,
            naming: cipher::hmac(secret, b"outboard coprocessor naming 1")?,
        })
    }

    fn id_of(&self, name: &str) -> Result<KeyId> {
        let mut id = [0; 16];
        id.copy_from_slice(&cipher::hmac(&*self.naming, name.as_bytes())?[..16]);
        Ok(KeyId(id))
    }

    fn store(&self, change: &Change<'_>, id: KeyId, name: &str, value: &[u8]) -> Result<()> {
        let mut writer = Writer::secret(LABEL, name.len() + value.len() + 8);
        writer.bytes(name.as_bytes()).bytes(value);
        let content = Zeroizing::new(writer.finish());
        let revision = change.next();
        let sealed = Sealed::new(&*self.sealing, &content, &self.authenticated(id, revision))?;
        change.execute(
            "INSERT INTO objects VALUES (?1, ?2, ?3, ?4, ?5)",
            (
                &id.0[..],
                &self.record.id.0[..],
                revision as i64,
                &sealed.nonce,
                &sealed.sealed,
            ),
        )?;
        Ok(())
    }

    fn open(&self, id: KeyId, revision: u64, sealed: &Sealed) -> Result<StateEntry> {
        let content = sealed.open(&*self.sealing, &self.authenticated(id, revision))?;
        let entry = content.and_then(|content| {
            let mut reader = Reader::new(&content);
            if reader.bytes()? != LABEL.as_bytes() {
                return None;
            }
            let name = std::str::from_utf8(reader.bytes()?).ok()?.to_owned();
            let value = Zeroizing::new(reader.bytes()?.to_vec());
            reader.finish()?;
            Some((name, value))
        });
        entry.ok_or_else(|| Error::DamagedObject {
            token: self.record.name.to_string(),
            object: id,
        })
    }

    fn authenticated(&self, id: KeyId, revision: u64) -> Vec<u8> {
        let mut writer = Writer::labelled(LABEL);
        writer.bytes(&self.record.id.0).bytes(&id.0).u64(revision);
        writer.finish()
    }
}

fn forget(change: &Change<'_>, id: KeyId) -> Result<()> {
    change.execute("DELETE FROM objects WHERE id = ?1", [&id.0[..]])?;
    Ok(())
}
