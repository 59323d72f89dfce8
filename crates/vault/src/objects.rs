//! The objects of tokens: keys, certificates and data, each sealed by its token's sealing key.
//!
//! The token's id, the object's and its revision are authenticated with it. A damaged object is named, and the others serve.

use rusqlite::{OptionalExtension, Row};
use zeroize::Zeroizing;

use crate::audit::{Act, New};
use crate::cipher;
use crate::encoding::{Reader, Writer};
use crate::error::{Error, Result};
use crate::master::Sealed;
use crate::token::Token;
use crate::vault::{Change, Inner, Vault};
use crate::{KeyId, KeyType};

/// The most objects of a token.
pub const MOST_OBJECTS: u64 = 100_000;
/// How many objects one page has at most.
const PAGE: usize = 256;
const LABEL: &str = "outboard token object 1";

/// An object to store.
pub struct NewObject {
    /// Whether only the token's user sees it.
    pub private: bool,
    /// What the caller writes and reads.
    pub attributes: Zeroizing<Vec<u8>>,
    /// The key that it stands for, where the vault keeps its private half.
    pub key: Option<ObjectsKey>,
    /// The public half of the key that it stands for: SubjectPublicKeyInfo, DER.
    pub public: Option<Vec<u8>>,
}

/// The private half that an object stands for.
pub struct ObjectsKey {
    /// Its type.
    pub key_type: KeyType,
    /// PKCS #8, DER.
    pub private: Zeroizing<Vec<u8>>,
}

/// An object.
pub struct Object {
    /// What names it for good.
    pub id: KeyId,
    /// What it is.
    pub content: NewObject,
}

/// Objects that follow each other by id.
#[derive(Default)]
pub struct Objects {
    /// Those that are whole.
    pub objects: Vec<Object>,
    /// One error for each that is damaged.
    pub damaged: Vec<Error>,
    /// The last id that was read; none after the last object.
    pub next: Option<KeyId>,
}

/// An object as it is stored.
struct Stored {
    id: KeyId,
    /// As the row says: only opening tells.
    token: KeyId,
    revision: i64,
    sealed: Sealed,
}

impl Vault {
    /// A token's objects whose ids come after that one, until they have about so many bytes.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn objects(&self, token: &Token, after: Option<KeyId>, room: usize) -> Result<Objects> {
        self.inner().objects(token, after, room)
    }

    /// An object of a token.
    ///
    /// # Errors
    /// There is none of that id, or it is damaged; the store cannot be read.
    pub fn object(&self, token: &Token, id: KeyId) -> Result<Object> {
        let inner = self.inner();
        let found = inner.stored(id)?;
        match found.filter(|stored| stored.token == token.record.id) {
            Some(stored) => stored.open(token),
            None => Err(token.has_no(id)),
        }
    }

    /// How many objects a token has.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn count_objects(&self, token: KeyId) -> Result<u64> {
        self.inner().count_objects(token)
    }

    /// The object of that id and its token, whichever that is.
    ///
    /// # Errors
    /// The vault is not open; there is none, or it or the token is damaged.
    pub fn find_object(&self, id: KeyId) -> Result<(Token, Object)> {
        let inner = self.inner();
        let stored = inner.stored(id)?.ok_or_else(|| Error::NoKey {
            key: id.to_string(),
        })?;
        let token = inner
            .token(stored.token.into())
            .map_err(|error| match error {
                // What the row says is not what was written.
                Error::NoToken { token } => Error::DamagedObject { token, object: id },
                error => error,
            })?;
        let object = stored.open(&token)?;
        Ok((token, object))
    }

    /// Stores objects, all of them or none; their ids. The audit log tells of those that have a private half.
    ///
    /// # Errors
    /// There are too many; the token is gone; the store cannot be written.
    pub fn insert_objects(
        &self,
        actor: u32,
        token: &Token,
        objects: &[NewObject],
    ) -> Result<Vec<KeyId>> {
        let mut inner = self.inner();
        // It may have been deleted since the caller looked.
        let epoch = inner.token(token.record.id.into())?.epoch;
        if epoch != token.epoch {
            return Err(Error::NoToken {
                token: token.record.name.to_string(),
            });
        }
        if inner.count_objects(token.record.id)? + objects.len() as u64 > MOST_OBJECTS {
            return Err(Error::TooMany {
                what: "objects of a token",
                most: MOST_OBJECTS,
            });
        }
        inner.change(|change| {
            let mut ids = Vec::with_capacity(objects.len());
            for object in objects {
                let id = KeyId(cipher::random()?);
                store(change, token, id, object)?;
                if let Some(key) = &object.key {
                    let detail = format!("object {id}, type {}", key.key_type);
                    note(change, actor, token, Act::InsertObject, detail)?;
                }
                ids.push(id);
            }
            Ok(ids)
        })
    }

    /// Gives an object other attributes.
    ///
    /// # Errors
    /// As of [`Vault::object`]; the store cannot be written.
    pub fn change_object(
        &self,
        token: &Token,
        id: KeyId,
        attributes: Zeroizing<Vec<u8>>,
    ) -> Result<()> {
        let mut object = self.object(token, id)?;
        object.content.attributes = attributes;
        let mut inner = self.inner();
        inner.change(|change| {
            // Another may have destroyed it since.
            match remove(change, token, id)? {
                0 => Err(token.has_no(id)),
                _ => store(change, token, id, &object.content),
            }
        })
    }

    /// Destroys an object, a damaged one too.
    ///
    /// # Errors
    /// The token has none of that id; the store cannot be written.
    pub fn destroy_object(&self, actor: u32, token: &Token, id: KeyId) -> Result<()> {
        let has_key = match self.object(token, id) {
            Ok(object) => object.content.key.is_some(),
            Err(Error::DamagedObject { .. }) => true,
            Err(error) => return Err(error),
        };
        self.inner().change(|change| {
            if remove(change, token, id)? == 0 {
                return Err(token.has_no(id));
            }
            match has_key {
                true => note(
                    change,
                    actor,
                    token,
                    Act::DestroyObject,
                    format!("object {id}"),
                ),
                false => Ok(()),
            }
        })
    }
}

impl Token {
    fn has_no(&self, object: KeyId) -> Error {
        Error::NoObject {
            token: self.record.name.to_string(),
            object,
        }
    }
}

fn note(
    change: &mut Change<'_>,
    actor: u32,
    token: &Token,
    act: Act,
    detail: String,
) -> Result<()> {
    let new = New::of(actor, act).detail(detail);
    let new = new.key(token.record.id, &token.record.name);
    change.append(&new).map(drop)
}

fn remove(change: &Change<'_>, token: &Token, id: KeyId) -> Result<usize> {
    change.execute(
        "DELETE FROM objects WHERE id = ?1 AND token = ?2",
        (&id.0[..], &token.record.id.0[..]),
    )
}

fn store(change: &Change<'_>, token: &Token, id: KeyId, object: &NewObject) -> Result<()> {
    let revision = change.next() as i64;
    let content = object.encode();
    let authenticated = authenticated(token, id, revision);
    let sealed = Sealed::new(&*token.keys.sealing, &content, &authenticated)?;
    change.execute(
        "INSERT INTO objects VALUES (?1, ?2, ?3, ?4, ?5)",
        (
            &id.0[..],
            &token.record.id.0[..],
            revision,
            &sealed.nonce,
            &sealed.sealed,
        ),
    )?;
    Ok(())
}

impl Inner {
    fn objects(&self, token: &Token, after: Option<KeyId>, room: usize) -> Result<Objects> {
        let after = after.map_or(Vec::new(), |id| id.0.to_vec());
        // A damaged index would hide rows that are whole, and so would a row that names another token.
        let whose = match self.store.damage.is_empty() {
            true => "WHERE token = ?1 AND",
            false => "NOT INDEXED WHERE ?1 NOTNULL AND",
        };
        let read = || -> rusqlite::Result<Vec<rusqlite::Result<Stored>>> {
            let text = format!(
                "SELECT id, revision, nonce, sealed, token FROM objects {whose} id > ?2 ORDER BY id LIMIT ?3"
            );
            let mut statement = self.store.connection.prepare_cached(&text)?;
            let values = (&token.record.id.0[..], after, PAGE as i64);
            let rows = statement.query_map(values, Stored::of_row)?;
            Ok(rows.collect())
        };
        let rows = read().map_err(self.store.failed())?;
        let (mut page, mut left) = (Objects::default(), room);
        let is_full = rows.len() == PAGE;
        let mut rows = rows.into_iter().peekable();
        while let Some(row) = rows.next() {
            let stored = match row {
                Ok(stored) => stored,
                // A row, or the page with it and all that follow, cannot be read.
                Err(error) => {
                    page.damaged.push(self.store.failed()(error));
                    continue;
                }
            };
            left = left.saturating_sub(stored.sealed.sealed.len());
            let last = stored.id;
            match stored.open(token) {
                Ok(object) => page.objects.push(object),
                Err(Error::DamagedObject { .. }) if stored.token != token.record.id => {}
                Err(error @ Error::DamagedObject { .. }) => page.damaged.push(error),
                Err(other) => return Err(other),
            }
            if left == 0 || rows.peek().is_none() {
                page.next = (is_full || rows.peek().is_some()).then_some(last);
                break;
            }
        }
        // No log tells which objects there were: some may be missing.
        if let Some(reason) = self.store.damage.first() {
            page.damaged.push(Error::DamagedStore {
                path: self.store.file.clone(),
                reason: reason.clone(),
            });
        }
        Ok(page)
    }

    /// The object of that id as it is stored.
    fn stored(&self, id: KeyId) -> Result<Option<Stored>> {
        let read = |how: &str| {
            let text = format!(
                "SELECT id, revision, nonce, sealed, token FROM objects {how} WHERE id = ?1"
            );
            let mut statement = self.store.connection.prepare_cached(&text)?;
            statement.query_row([&id.0[..]], Stored::of_row).optional()
        };
        let mut found = read("");
        if !self.store.damage.is_empty() && !matches!(found, Ok(Some(_))) {
            // As above.
            found = read("NOT INDEXED");
        }
        found.map_err(self.store.failed())
    }

    fn count_objects(&self, token: KeyId) -> Result<u64> {
        let read = || {
            let text = "SELECT count(*) FROM objects WHERE token = ?1";
            let mut statement = self.store.connection.prepare_cached(text)?;
            statement.query_row([&token.0[..]], |row| row.get::<_, i64>(0))
        };
        let count = read().map_err(self.store.failed())?;
        Ok(count as u64)
    }

    /// That all objects of a token are whole.
    pub(crate) fn verify_objects(&self, token: &Token) -> Result<()> {
        let mut after = None;
        loop {
            let page = self.objects(token, after, usize::MAX)?;
            if let Some(damaged) = page.damaged.into_iter().next() {
                return Err(damaged);
            }
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(()),
            }
        }
    }
}

impl Stored {
    fn of_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: KeyId(row.get(0)?),
            revision: row.get(1)?,
            sealed: Sealed {
                nonce: row.get(2)?,
                sealed: row.get(3)?,
            },
            token: KeyId(row.get(4)?),
        })
    }

    fn open(&self, token: &Token) -> Result<Object> {
        let authenticated = authenticated(token, self.id, self.revision);
        let content = self.sealed.open(&*token.keys.sealing, &authenticated)?;
        let content = content.and_then(|content| NewObject::decode(&content));
        match content {
            Some(content) => Ok(Object {
                id: self.id,
                content,
            }),
            None => Err(Error::DamagedObject {
                token: token.record.name.to_string(),
                object: self.id,
            }),
        }
    }
}

fn authenticated(token: &Token, id: KeyId, revision: i64) -> Vec<u8> {
    let mut writer = Writer::labelled(LABEL);
    writer
        .bytes(&token.record.id.0)
        .bytes(&id.0)
        .u64(revision as u64);
    writer.finish()
}

impl NewObject {
    fn encode(&self) -> Zeroizing<Vec<u8>> {
        let public = self.public.as_deref().unwrap_or_default();
        let private = self.key.as_ref().map_or(&[][..], |key| &key.private);
        let kind = self.key.as_ref().map(|key| key.key_type.to_string());
        let room = self.attributes.len() + public.len() + private.len() + 64;
        let mut writer = Writer::secret(LABEL, room);
        writer
            .u8(self.private.into())
            .bytes(&self.attributes)
            .bytes(public)
            .bytes(kind.unwrap_or_default().as_bytes())
            .bytes(private);
        Zeroizing::new(writer.finish())
    }

    fn decode(content: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(content);
        if reader.bytes()? != LABEL.as_bytes() {
            return None;
        }
        let private = match reader.u8()? {
            0 => false,
            1 => true,
            _ => return None,
        };
        let (attributes, public) = (reader.bytes()?, reader.bytes()?);
        let (kind, half) = (reader.bytes()?, reader.bytes()?);
        reader.finish()?;
        Some(Self {
            private,
            attributes: Zeroizing::new(attributes.to_vec()),
            public: (!public.is_empty()).then(|| public.to_vec()),
            key: match kind {
                [] => None,
                kind => Some(ObjectsKey {
                    key_type: std::str::from_utf8(kind).ok()?.parse().ok()?,
                    private: Zeroizing::new(half.to_vec()),
                }),
            },
        })
    }
}
