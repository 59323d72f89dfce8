//! Keys: inserted, listed, unwrapped, changed, deleted, exported.

use rusqlite::{OptionalExtension, Row};
use zeroize::Zeroizing;

use crate::KeyId;
use crate::approvals::{self, Approvable};
use crate::audit::{self, Act, New};
use crate::cipher;
use crate::error::{Error, Result};
use crate::grants::Grants;
use crate::master::{MasterKey, Sealed};
use crate::policy::Policy;
use crate::record::{Kind, MAX_CERTIFICATES, Name, NewKey, Record, Unwrapped, Which};
use crate::state::Phase;
use crate::tokens;
use crate::vault::{Change, Inner, Vault};

const COLUMNS: &str = "id, name, type, public, exportable, created, revision, policy, grants, \
                       (SELECT chain FROM certificates WHERE key = keys.id)";

const DELETE_CERTIFICATES: &str = "DELETE FROM certificates WHERE key = ?1";

/// The keys of a store.
#[derive(Debug, Default)]
pub struct Listing {
    /// Those that are whole, by name.
    pub records: Vec<Record>,
    /// One error for each key that is damaged, naming it.
    pub damaged: Vec<Error>,
}

impl Vault {
    /// Inserts a key.
    ///
    /// # Errors
    /// The vault is not open, the name is taken, or the store cannot be written.
    pub fn insert(&self, actor: u32, key: &NewKey) -> Result<Record> {
        let mut inserted = self.insert_all(actor, std::slice::from_ref(key))?;
        // INVARIANT: there is a record for each key.
        Ok(inserted.remove(0))
    }

    /// Inserts keys, all of them or none.
    ///
    /// # Errors
    /// Those of [`Vault::insert`].
    pub fn insert_all(&self, actor: u32, keys: &[NewKey]) -> Result<Vec<Record>> {
        let mut inner = self.inner();
        for key in keys {
            key.validate()?;
            inner.is_free(&key.name)?;
        }
        inner.masters.current(&inner.state)?;
        inner.change(|change| keys.iter().map(|key| insert(change, actor, key)).collect())
    }

    /// A key's attributes. While the vault is open they are authenticated; while it is locked, they are only what the file
    /// says.
    ///
    /// # Errors
    /// There is no such key, or it is damaged.
    pub fn record<'a>(&self, which: impl Into<Which<'a>>) -> Result<Record> {
        let (inner, which) = (self.inner(), which.into());
        match inner.masters.current {
            Some(_) => inner.unwrap(which).map(|key| key.record),
            None => inner.fetch(which),
        }
    }

    /// All keys' attributes, authenticated as in [`Vault::record`].
    ///
    /// # Errors
    /// The store cannot be read at all.
    pub fn records(&self) -> Result<Listing> {
        let mut listing = self.inner().records()?;
        listing.records.retain(|record| record.key_type().is_some());
        Ok(listing)
    }

    /// The names that come after that one, at most so many, in order: a page of a listing. They are not authenticated
    /// yet: [`Vault::record`] does that.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn names_after(&self, after: &str, most: u32) -> Result<Vec<Name>> {
        let inner = self.inner();
        let read = || -> rusqlite::Result<Vec<String>> {
            let text = "SELECT name FROM keys WHERE name > ? AND type NOT IN ('token', 'coprocessor') ORDER BY name LIMIT ?";
            let mut statement = inner.store.connection.prepare_cached(text)?;
            let rows = statement.query_map((after, most), |row| row.get(0))?;
            rows.collect()
        };
        let names = read().map_err(inner.store.failed())?;
        // What is no name is damaged: a full listing says so.
        Ok(names.iter().filter_map(|name| name.parse().ok()).collect())
    }

    /// A key with its private half, both authenticated.
    ///
    /// # Errors
    /// The vault is not open; there is no such key, or it is damaged.
    pub fn unwrap<'a>(&self, which: impl Into<Which<'a>>) -> Result<Unwrapped> {
        self.inner().unwrap(which.into())
    }

    /// A key's private half: PKCS #8, DER.
    ///
    /// # Errors
    /// Those of [`Vault::unwrap`].
    pub fn material(&self, id: KeyId) -> Result<Zeroizing<Vec<u8>>> {
        self.unwrap(id).map(|key| key.private)
    }

    /// Gives a key another name.
    ///
    /// # Errors
    /// The vault is not open; there is no such key, it is damaged, or the name is taken; the store cannot be written.
    pub fn rename<'a>(
        &self,
        actor: u32,
        which: impl Into<Which<'a>>,
        name: &Name,
    ) -> Result<Record> {
        let mut inner = self.inner();
        let key = inner.unwrap(which.into())?;
        if key.record.name == *name {
            return Ok(key.record);
        }
        inner.is_free(name)?;
        let new = New::of(actor, Act::Rename).detail(format!("was {}", key.record.name));
        inner.alter(key, new, |record| record.name = name.clone())
    }

    /// Gives a key another policy.
    ///
    /// # Errors
    /// As of [`Vault::rename`]; the policy makes no sense; its approvals change, and not enough administrators approved
    /// that ([`Approvable::Policy`]).
    pub fn set_policy<'a>(
        &self,
        actor: u32,
        which: impl Into<Which<'a>>,
        policy: &Policy,
    ) -> Result<Record> {
        policy.validate()?;
        let mut inner = self.inner();
        let key = inner.unwrap(which.into())?;
        let new = New::of(actor, Act::SetPolicy);
        if key.record.policy.approvals != policy.approvals {
            inner.approved(&new, &key.record, &Approvable::Policy(policy.clone()))?;
        }
        inner.alter(key, new, |record| record.policy = policy.clone())
    }

    /// Gives a key other grants.
    ///
    /// # Errors
    /// As of [`Vault::rename`].
    pub fn set_grants<'a>(
        &self,
        actor: u32,
        which: impl Into<Which<'a>>,
        grants: &Grants,
    ) -> Result<Record> {
        grants.validate()?;
        let mut inner = self.inner();
        let key = inner.unwrap(which.into())?;
        let detail = grants
            .iter()
            .map(|(subject, right)| format!("{subject:?} {right:?}").to_lowercase())
            .collect::<Vec<_>>()
            .join(", ");
        let new = New::of(actor, Act::SetGrants).detail(detail);
        inner.alter(key, new, |record| record.grants = grants.clone())
    }

    /// Gives a key other certificates, or none.
    ///
    /// # Errors
    /// As of [`Vault::rename`]; they are too long.
    pub fn set_certificates<'a>(
        &self,
        actor: u32,
        which: impl Into<Which<'a>>,
        certificates: &[u8],
    ) -> Result<Record> {
        if certificates.len() > MAX_CERTIFICATES {
            return Err(Error::Invalid {
                what: "the certificates",
                value: format!("{} bytes", certificates.len()),
                reason: "a key's certificates have at most 32768 bytes",
            });
        }
        let mut inner = self.inner();
        let key = inner.unwrap(which.into())?;
        let detail = format!("{} bytes", certificates.len());
        let new = New::of(actor, Act::SetCertificates).detail(detail);
        inner.alter(key, new, |record| {
            record.certificates = certificates.to_vec();
        })
    }

    /// Deletes a key for good, a damaged one too.
    ///
    /// # Errors
    /// The vault is not open; there is no such key; not enough administrators approve; the store cannot be written.
    pub fn delete<'a>(&self, actor: u32, which: impl Into<Which<'a>>) -> Result<()> {
        self.inner().delete(actor, which.into())
    }

    /// A key that leaves the vault.
    ///
    /// # Errors
    /// The vault is not open; there is no such key, or it is damaged; it is not exportable; not enough administrators
    /// approve; the audit log cannot be written.
    pub fn export<'a>(&self, actor: u32, which: impl Into<Which<'a>>) -> Result<Unwrapped> {
        let mut inner = self.inner();
        let key = inner.unwrap(which.into())?;
        let record = &key.record;
        let new = || New::of(actor, Act::Export).key(record.id, &record.name);
        if !record.exportable {
            let name = record.name.to_string();
            return inner.refused(new(), Err(Error::NotExportable { name }));
        }
        inner.approved(&new(), record, &Approvable::Export)?;
        inner.change(|change| {
            approvals::spend(change, record.id)?;
            change.append(&new())
        })?;
        Ok(key)
    }
}

fn insert(change: &mut Change<'_>, actor: u32, key: &NewKey) -> Result<Record> {
    let record = Record {
        id: KeyId(cipher::random()?),
        name: key.name.clone(),
        kind: Kind::Key(key.key_type),
        public: key.public.clone(),
        exportable: key.exportable,
        created: audit::now(),
        revision: change.next(),
        policy: key.policy.clone(),
        grants: key.grants.clone(),
        certificates: Vec::new(),
    };
    insert_row(change, actor, &record, &key.private)?;
    Ok(record)
}

/// Inserts a key or a token that has the number of the audit log's next entry.
pub(crate) fn insert_row(
    change: &mut Change<'_>,
    actor: u32,
    record: &Record,
    private: &[u8],
) -> Result<()> {
    let taken = "SELECT 1 FROM keys WHERE name = ?1";
    let taken = change
        .transaction
        .prepare_cached(taken)
        .and_then(|mut statement| statement.exists([record.name.as_str()]))
        .map_err(change.failed())?;
    if taken {
        let name = record.name.to_string();
        return Err(Error::NameTaken { name });
    }
    change.execute(
        "INSERT INTO keys VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        (
            &record.id.0[..],
            record.name.as_str(),
            record.kind.to_string(),
            &record.public,
            record.exportable,
            record.created as i64,
            record.revision as i64,
            record.policy.encode(),
            record.grants.encode(),
        ),
    )?;
    wrap(change, record, private)?;
    let detail = format!("type {}", record.kind);
    let new = New::of(actor, Act::Insert).detail(detail);
    change.append(&new.key(record.id, &record.name)).map(drop)
}

/// Wraps a key under each master key that keys are written under, and under no other.
fn wrap(change: &mut Change<'_>, record: &Record, private: &[u8]) -> Result<()> {
    change.execute("DELETE FROM wrappings WHERE key = ?1", [&record.id.0[..]])?;
    let masters = change.masters.to_write(&change.state)?;
    if change.state.phase == Phase::Prepared && masters.len() == 1 {
        // The new master key is not there: this key must be prepared again.
        change.state.phase = Phase::Preparing;
    }
    for master in masters {
        let authenticated = record.authenticated(master.pattern());
        let wrapped = master.wrap(private, &authenticated)?;
        store_wrapping(change, record.id, master, &wrapped)?;
    }
    Ok(())
}

/// Stores a wrapping.
pub(crate) fn store_wrapping(
    change: &Change<'_>,
    id: KeyId,
    master: &MasterKey,
    wrapped: &Sealed,
) -> Result<()> {
    change.execute(
        "INSERT INTO wrappings VALUES (?1, ?2, ?3, ?4)",
        (
            &id.0[..],
            &master.pattern().0[..],
            &wrapped.nonce,
            &wrapped.sealed,
        ),
    )?;
    Ok(())
}

impl Inner {
    /// A key's attributes as the file says.
    pub(crate) fn fetch(&self, which: Which<'_>) -> Result<Record> {
        let damaged = |reason| Error::DamagedKey {
            key: which.to_string(),
            reason,
        };
        let (condition, value) = match which {
            Which::Id(id) => ("id", rusqlite::types::Value::Blob(id.0.to_vec())),
            Which::Name(name) => ("name", rusqlite::types::Value::Text(name.to_string())),
        };
        let connection = &self.store.connection;
        let look = |how: &str| {
            let statement = format!("SELECT {COLUMNS} FROM keys {how} WHERE {condition} = ?1");
            connection
                .prepare_cached(&statement)?
                .query_row([&value], of_row)
                .optional()
        };
        let mut found = look("");
        if !self.store.damage.is_empty() && !matches!(&found, Ok(Some(Some(it))) if which.is(it)) {
            // A damaged index, or row, may hide its neighbours: look at each row.
            found = look("NOT INDEXED");
        }
        let record = match found {
            Ok(Some(Some(record))) => record,
            Ok(Some(None)) => return Err(damaged("an attribute is not as it was written")),
            Ok(None) => {
                return match audit::missing(connection, which) {
                    Ok(None) => Err(Error::NoKey {
                        key: which.to_string(),
                    }),
                    Ok(Some(_)) => Err(damaged("the audit log tells of it, but it is not found")),
                    Err(error) => Err(self.damaged_page(which, error)),
                };
            }
            Err(error) => return Err(self.damaged_page(which, error)),
        };
        match which.is(&record) {
            true => Ok(record),
            false => Err(damaged("its index leads to another key")),
        }
    }

    /// What an error of SQLite means for a key.
    fn damaged_page(&self, which: Which<'_>, error: rusqlite::Error) -> Error {
        match self.store.failed()(error) {
            Error::DamagedStore { .. } => Error::DamagedKey {
                key: which.to_string(),
                reason: "its page of the store cannot be read",
            },
            other => other,
        }
    }

    /// A key and its private half, authenticated.
    pub(crate) fn unwrap(&self, which: Which<'_>) -> Result<Unwrapped> {
        let master = self.masters.current(&self.state)?;
        let record = self.fetch(which)?;
        let private = self.unwrap_under(&record, master)?;
        match private {
            Some(private) => Ok(Unwrapped { record, private }),
            None => Err(Error::DamagedKey {
                key: record.described(),
                reason: "its attributes or its private half were changed",
            }),
        }
    }

    /// A private half by its wrapping under that master key. `None`: there is none, or it or an attribute was changed.
    pub(crate) fn unwrap_under(
        &self,
        record: &Record,
        master: &MasterKey,
    ) -> Result<Option<Zeroizing<Vec<u8>>>> {
        let look = |how: &str| {
            let statement =
                format!("SELECT nonce, sealed FROM wrappings {how} WHERE key = ?1 AND master = ?2");
            let mut statement = self.store.connection.prepare_cached(&statement)?;
            let values = (&record.id.0[..], &master.pattern().0[..]);
            let read = |row: &Row<'_>| {
                Ok(Sealed {
                    nonce: row.get(0)?,
                    sealed: row.get(1)?,
                })
            };
            statement.query_row(values, read).optional()
        };
        let mut found = look("");
        if !self.store.damage.is_empty() && !matches!(found, Ok(Some(_))) {
            // As above.
            found = look("NOT INDEXED");
        }
        let wrapped = match found {
            Ok(Some(wrapped)) => wrapped,
            Ok(None) => return Ok(None),
            Err(error) => match self.damaged_page(record.id.into(), error) {
                Error::DamagedKey { .. } => return Ok(None),
                other => return Err(other),
            },
        };
        self.unwrapped.set(self.unwrapped.get() + 1);
        master.unwrap(&wrapped, &record.authenticated(master.pattern()))
    }

    pub(crate) fn records(&self) -> Result<Listing> {
        let connection = &self.store.connection;
        // Damage may hide a key from one of these; a key that both name is read once.
        let mut ids = audit::living(connection).unwrap_or_default();
        let scan = || -> rusqlite::Result<Vec<KeyId>> {
            let mut statement = connection.prepare_cached("SELECT id FROM keys NOT INDEXED")?;
            let mut rows = statement.query(())?;
            let mut found = Vec::new();
            while let Ok(Some(row)) = rows.next() {
                let id = row.get::<_, Vec<u8>>(0).ok();
                found.extend(id.and_then(|id| id.try_into().ok()).map(KeyId));
            }
            Ok(found)
        };
        for id in scan().map_err(self.store.failed())? {
            ids.entry(id).or_default();
        }
        let mut listing = Listing::default();
        for (id, (name, _)) in ids {
            let found = match self.masters.current {
                Some(_) => self.unwrap(id.into()).map(|key| key.record),
                None => self.fetch(id.into()),
            };
            let mut damaged = |reason| {
                let key = match name.is_empty() {
                    true => id.to_string(),
                    false => format!("{name} ({id})"),
                };
                listing.damaged.push(Error::DamagedKey { key, reason });
            };
            match found {
                Ok(record) => listing.records.push(record),
                Err(Error::DamagedKey { reason, .. }) => damaged(reason),
                Err(Error::NoKey { .. }) => damaged("its index does not lead to it"),
                Err(other) => return Err(other),
            }
        }
        listing
            .records
            .sort_by(|one, other| one.name.cmp(&other.name));
        Ok(listing)
    }

    /// That no key and no token has that name.
    pub(crate) fn is_free(&self, name: &Name) -> Result<()> {
        match self.fetch(name.into()) {
            Ok(_) => Err(Error::NameTaken {
                name: name.to_string(),
            }),
            Err(Error::NoKey { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Writes a key whose attributes change, and wraps it anew.
    fn alter(
        &mut self,
        key: Unwrapped,
        new: New,
        change_record: impl FnOnce(&mut Record),
    ) -> Result<Record> {
        let Unwrapped {
            mut record,
            private,
        } = key;
        change_record(&mut record);
        self.change(|change| {
            record.revision = change.next();
            change.execute(
                "UPDATE keys SET name = ?2, revision = ?3, policy = ?4, grants = ?5 WHERE id = ?1",
                (
                    &record.id.0[..],
                    record.name.as_str(),
                    record.revision as i64,
                    record.policy.encode(),
                    record.grants.encode(),
                ),
            )?;
            change.execute(DELETE_CERTIFICATES, [&record.id.0[..]])?;
            if !record.certificates.is_empty() {
                change.execute(
                    "INSERT INTO certificates VALUES (?1, ?2)",
                    (&record.id.0[..], &record.certificates),
                )?;
            }
            wrap(change, &record, &private)?;
            approvals::spend(change, record.id)?;
            change.append(&new.key(record.id, &record.name))?;
            Ok(record)
        })
    }

    fn delete(&mut self, actor: u32, which: Which<'_>) -> Result<()> {
        self.masters.current(&self.state)?;
        let new = New::of(actor, Act::Delete);
        let (id, name) = match self.fetch(which) {
            // A damaged key's policy may have been changed, but without the key nobody gains by its deletion.
            Ok(record) => {
                self.approved(&new, &record, &Approvable::Delete)?;
                (record.id, record.name.to_string())
            }
            Err(error @ Error::DamagedKey { .. }) => {
                let found = audit::missing(&self.store.connection, which);
                let found = found.map_err(self.store.failed())?;
                match (which, found) {
                    (Which::Id(id), _) | (_, Some(id)) => (id, which.to_string()),
                    (Which::Name(_), None) => return Err(error),
                }
            }
            Err(error) => return Err(error),
        };
        self.change(|change| {
            change.execute("DELETE FROM keys WHERE id = ?1", [&id.0[..]])?;
            change.execute("DELETE FROM wrappings WHERE key = ?1", [&id.0[..]])?;
            change.execute(DELETE_CERTIFICATES, [&id.0[..]])?;
            tokens::forget(change, id)?;
            approvals::spend(change, id)?;
            change.append(&new.key(id, name)).map(drop)
        })
    }
}

/// `None`: it is not as it was written.
fn of_row(row: &Row<'_>) -> rusqlite::Result<Option<Record>> {
    let read = || {
        let (name, kind): (String, String) = (row.get(1).ok()?, row.get(2).ok()?);
        let (policy, grants): (Vec<u8>, Vec<u8>) = (row.get(7).ok()?, row.get(8).ok()?);
        let number = |at: usize| u64::try_from(row.get::<_, i64>(at).ok()?).ok();
        Some(Record {
            id: KeyId(row.get::<_, Vec<u8>>(0).ok()?.try_into().ok()?),
            name: name.parse().ok()?,
            kind: Kind::parse(&kind)?,
            public: row.get(3).ok()?,
            exportable: match number(4)? {
                0 => false,
                1 => true,
                _ => return None,
            },
            created: number(5)?,
            revision: number(6)?,
            policy: Policy::decode(&policy)?,
            grants: Grants::decode(&grants)?,
            certificates: row.get::<_, Option<_>>(9).ok()?.unwrap_or_default(),
        })
    };
    Ok(read())
}
