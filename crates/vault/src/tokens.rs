//! Tokens: made, logged in to, changed.

use rusqlite::OptionalExtension;
use zeroize::Zeroizing;

use crate::KeyId;
use crate::audit::{self, Act, New};
use crate::cipher;
use crate::error::{Error, Result};
use crate::grants::Grants;
use crate::keys;
use crate::master::Sealed;
use crate::policy::Policy;
use crate::record::{Kind, Name, Record, Which};
use crate::token::{Login, MOST_FAILURES, Pin, Pins, Role, Ticket, Token, TokenKeys};
use crate::vault::{Change, Inner, Vault};

/// The most tokens of a store.
pub const MOST_TOKENS: usize = 64;
/// The first token's slot: the module has two of its own.
const FIRST_SLOT: u64 = 2;
/// The most bytes of a label (PKCS #11's CK_TOKEN_INFO).
const MOST_LABEL: usize = 32;
/// The most bytes of a policy.
const MOST_POLICY: usize = 16 * 1024;

/// A token to make.
pub struct NewToken<'a> {
    /// Its name.
    pub name: Name,
    /// What programs see.
    pub label: &'a str,
    /// The PIN of its security officer, and that of its user, which may be set later; without them, grants alone decide.
    pub pins: Option<(&'a [u8], Option<&'a [u8]>)>,
}

impl Vault {
    /// Makes a token.
    ///
    /// # Errors
    /// The vault is not open, the name is taken, there are too many, the label is none, or the store cannot be written.
    pub fn create_token(&self, actor: u32, new: &NewToken<'_>) -> Result<Token> {
        is_label(new.label)?;
        let pins = match new.pins {
            None => None,
            Some((officer, user)) => Some(Pins {
                officer: Pin::new(officer)?,
                user: user.map(Pin::new).transpose()?,
            }),
        };
        let mut inner = self.inner();
        inner.masters.current(&inner.state)?;
        inner.is_free(&new.name)?;
        let (others, _) = inner.tokens()?;
        if others.len() >= MOST_TOKENS {
            return Err(Error::TooMany {
                what: "tokens",
                most: MOST_TOKENS as u64,
            });
        }
        let is_free = |slot: &u64| others.iter().all(|other| other.slot != *slot);
        let slot = (FIRST_SLOT..).find(is_free).unwrap_or(FIRST_SLOT);
        let secret = Zeroizing::new(cipher::random::<32>()?);
        inner.change(|change| {
            let number = change.next();
            let record = Record {
                id: KeyId(cipher::random()?),
                name: new.name.clone(),
                kind: Kind::Token,
                public: Vec::new(),
                exportable: false,
                created: audit::now(),
                revision: number,
                policy: Policy::default(),
                grants: Grants::default(),
                certificates: Vec::new(),
            };
            keys::insert_row(change, actor, &record, &*secret)?;
            let token = Token {
                record,
                label: new.label.to_owned(),
                slot,
                policy: String::new(),
                epoch: number,
                revision: number,
                pins,
                keys: TokenKeys::new(&*secret)?,
            };
            save(change, &token)?;
            Ok(token)
        })
    }

    /// All tokens by name, and an error for each that is damaged.
    ///
    /// # Errors
    /// The vault is not open; the store cannot be read at all.
    pub fn tokens(&self) -> Result<(Vec<Token>, Vec<Error>)> {
        self.inner().tokens()
    }

    /// A token.
    ///
    /// # Errors
    /// The vault is not open; there is no such token, or it is damaged.
    pub fn token<'a>(&self, which: impl Into<Which<'a>>) -> Result<Token> {
        self.inner().token(which.into())
    }

    /// The ticket of a user of the system who proves a role by its PIN. A token without PINs takes none, and its caller decides
    /// who plays which role. Takes a while and 32 MiB: the caller sees to it that few come at once.
    ///
    /// # Errors
    /// [`Error::WrongPin`], [`Error::LockedPin`], [`Error::NoPin`]; those of [`Vault::token`]; the store cannot be written.
    pub fn log_in(
        &self,
        actor: u32,
        token: KeyId,
        role: Role,
        pin: Option<&[u8]>,
    ) -> Result<Ticket> {
        let token = self.proved(actor, token, role, pin)?;
        match token.opener(role) {
            Some(opener) => opener.ticket(actor),
            None => Err(token.has_no_pin()),
        }
    }

    /// Gives a role that proves itself another PIN.
    ///
    /// # Errors
    /// As of [`Vault::log_in`].
    pub fn set_pin(
        &self,
        actor: u32,
        token: KeyId,
        role: Role,
        old: &[u8],
        new: &[u8],
    ) -> Result<()> {
        let proved = self.proved(actor, token, role, Some(old))?;
        let new = Pin::new(new)?;
        let act = New::of(actor, Act::SetPin).detail(role.to_string());
        self.alter_token(token, act, |token, _| {
            let salt = |token: &Token| token.pin(role).map(|pin| pin.salt);
            // Another change may have come between.
            if salt(token) != salt(&proved) {
                return Err(Error::WrongPin {
                    token: token.record.name.to_string(),
                    left: MOST_FAILURES,
                });
            }
            match token.pin_mut(role) {
                Some(pin) => *pin = new,
                None => return Err(token.has_no_pin()),
            }
            Ok(())
        })
    }

    /// Gives the user a PIN. The caller has checked the security officer's ticket against `token`.
    ///
    /// # Errors
    /// [`Error::WrongPin`]: the ticket was ended since; the token has no PINs; those of [`Vault::token`]; the store cannot be written.
    pub fn init_pin(&self, actor: u32, checked: &Token, pin: &[u8]) -> Result<()> {
        let pin = Pin::new(pin)?;
        let id = checked.record.id;
        self.alter_token(id, New::of(actor, Act::InitPin), |token, _| {
            // A PIN takes a while, and so does the turn before it: another change may have come between.
            let ends = |token: &Token| (token.epoch, token.pin(Role::Officer).map(|pin| pin.salt));
            if ends(token) != ends(checked) {
                return Err(Error::WrongPin {
                    token: token.record.name.to_string(),
                    left: MOST_FAILURES,
                });
            }
            match &mut token.pins {
                Some(pins) => pins.user = Some(pin),
                None => return Err(token.has_no_pin()),
            }
            Ok(())
        })
    }

    /// Destroys a token's objects and the user's PIN, and gives it another label. The security officer proves itself.
    ///
    /// # Errors
    /// As of [`Vault::log_in`]; the label is none.
    pub fn initialise(
        &self,
        actor: u32,
        token: KeyId,
        pin: Option<&[u8]>,
        label: &str,
    ) -> Result<()> {
        is_label(label)?;
        self.proved(actor, token, Role::Officer, pin)?;
        let act = New::of(actor, Act::Initialise).detail(format!("label {label:?}"));
        self.alter_token(token, act, |token, change| {
            token.epoch = change.next();
            label.clone_into(&mut token.label);
            if let Some(pins) = &mut token.pins {
                pins.user = None;
            }
            destroy_objects(change, token.record.id)
        })
    }

    /// Gives a token another policy.
    ///
    /// # Errors
    /// Those of [`Vault::token`]; it is too long; the store cannot be written.
    pub fn restrict(&self, actor: u32, token: KeyId, policy: &str) -> Result<()> {
        if policy.len() > MOST_POLICY {
            return Err(Error::Invalid {
                what: "the token's policy",
                value: format!("{} bytes", policy.len()),
                reason: "it has at most 16384 bytes",
            });
        }
        let act = New::of(actor, Act::Restrict).detail(policy);
        self.alter_token(token, act, |token, _| {
            policy.clone_into(&mut token.policy);
            Ok(())
        })
    }

    /// The token, where the PIN is right. A try is counted before the PIN is compared: a kill in between gives it back to nobody.
    fn proved(&self, actor: u32, token: KeyId, role: Role, pin: Option<&[u8]>) -> Result<Token> {
        let counted = {
            let mut inner = self.inner();
            let mut token = inner.token(token.into())?;
            match token.login(role) {
                Login::Grant => return Ok(token),
                Login::Unset => return Err(token.has_no_pin()),
                Login::Pin { failures } if failures >= MOST_FAILURES => {
                    return Err(Error::locked_pin(&token.record, role));
                }
                Login::Pin { failures } => inner.count_failures(&mut token, role, failures + 1)?,
            }
            token
        };
        let is_right = match (counted.pin(role), pin) {
            (Some(known), Some(pin)) => known.is(pin)?,
            _ => false,
        };
        let mut inner = self.inner();
        // Another change may have come between: then this PIN proves nothing any more.
        let mut token = inner.token(token.into())?;
        let known = |token: &Token| token.pin(role).map(|pin| (token.epoch, pin.salt));
        if is_right && known(&token) == known(&counted) {
            inner.count_failures(&mut token, role, 0)?;
            return Ok(token);
        }
        let record = &token.record;
        let failures = counted.pin(role).map_or(0, |pin| pin.failures);
        let wrong = Error::WrongPin {
            token: record.name.to_string(),
            left: MOST_FAILURES - failures,
        };
        let new = New::of(actor, Act::LogIn).key(record.id, &record.name);
        inner.refused(new, Err(wrong))
    }

    /// Changes a token's state.
    fn alter_token(
        &self,
        token: KeyId,
        new: New,
        alter: impl FnOnce(&mut Token, &mut Change<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut inner = self.inner();
        let mut token = inner.token(token.into())?;
        inner.change(|change| {
            alter(&mut token, change)?;
            token.revision = change.next();
            save(change, &token)?;
            let new = new.key(token.record.id, &token.record.name);
            change.append(&new).map(drop)
        })
    }
}

impl Token {
    fn has_no_pin(&self) -> Error {
        let token = self.record.name.to_string();
        match self.pins {
            Some(_) => Error::NoPin { token },
            None => Error::Refused {
                what: "the PIN",
                reason: "the token has no PINs (its grants alone decide)",
            },
        }
    }
}

impl Inner {
    pub(crate) fn tokens(&self) -> Result<(Vec<Token>, Vec<Error>)> {
        let read = || -> rusqlite::Result<Vec<KeyId>> {
            let text = "SELECT id FROM keys WHERE type = 'token' ORDER BY name";
            let mut statement = self.store.connection.prepare_cached(text)?;
            let rows = statement.query_map((), |row| row.get(0).map(KeyId))?;
            rows.collect()
        };
        let (mut tokens, mut damaged) = (Vec::new(), Vec::new());
        for id in read().map_err(self.store.failed())? {
            match self.token(id.into()) {
                Ok(token) => tokens.push(token),
                Err(error @ Error::DamagedKey { .. }) => damaged.push(error),
                Err(other) => return Err(other),
            }
        }
        Ok((tokens, damaged))
    }

    pub(crate) fn token(&self, which: Which<'_>) -> Result<Token> {
        let missing = || Error::NoToken {
            token: which.to_string(),
        };
        let row = match self.unwrap(which) {
            Ok(row) if row.record.kind == Kind::Token => row,
            Ok(_) | Err(Error::NoKey { .. }) => return Err(missing()),
            Err(error) => return Err(error),
        };
        let damaged = Error::DamagedKey {
            key: row.record.described(),
            reason: "the token's state was changed",
        };
        let state = {
            let statement = "SELECT nonce, sealed FROM tokens WHERE id = ?1";
            let mut statement = self
                .store
                .connection
                .prepare_cached(statement)
                .map_err(self.store.failed())?;
            statement
                .query_row([&row.record.id.0[..]], |row| {
                    Ok(Sealed {
                        nonce: row.get(0)?,
                        sealed: row.get(1)?,
                    })
                })
                .optional()
        };
        let opened = match state {
            Ok(Some(state)) => Token::open(row, &state)?,
            Ok(None) | Err(_) => None,
        };
        opened.ok_or(damaged)
    }

    /// Writes how many wrong PINs were tried. The audit log tells only of those that are wrong.
    fn count_failures(&mut self, token: &mut Token, role: Role, failures: u8) -> Result<()> {
        if let Some(pin) = token.pin_mut(role) {
            pin.failures = failures;
        }
        self.change(|change| save(change, token))
    }

    /// That a token is as old as the audit log says, and its objects are whole.
    pub(crate) fn verify_token(&self, id: KeyId) -> Result<()> {
        let token = self.token(id.into())?;
        let latest = audit::latest_of_token(&self.store.connection, id);
        if token.revision != latest.map_err(self.store.failed())? {
            return Err(Error::DamagedKey {
                key: token.record.described(),
                reason: "the token's state is not the one that the audit log tells of",
            });
        }
        self.verify_objects(&token)
    }
}

/// Writes a token's state.
fn save(change: &Change<'_>, token: &Token) -> Result<()> {
    let state = token.seal()?;
    change.execute(
        "INSERT OR REPLACE INTO tokens VALUES (?1, ?2, ?3)",
        (&token.record.id.0[..], &state.nonce, &state.sealed),
    )?;
    Ok(())
}

/// Deletes what a token has, where that row is one.
pub(crate) fn forget(change: &Change<'_>, id: KeyId) -> Result<()> {
    change.execute("DELETE FROM tokens WHERE id = ?1", [&id.0[..]])?;
    destroy_objects(change, id)
}

fn destroy_objects(change: &Change<'_>, token: KeyId) -> Result<()> {
    change.execute("DELETE FROM objects WHERE token = ?1", [&token.0[..]])?;
    Ok(())
}

fn is_label(label: &str) -> Result<()> {
    let is_fit = (1..=MOST_LABEL).contains(&label.len()) && !label.chars().any(char::is_control);
    match is_fit {
        true => Ok(()),
        false => Err(Error::Invalid {
            what: "the label",
            value: label.chars().take(80).collect(),
            reason: "a token's label has 1 to 32 bytes, and no control characters",
        }),
    }
}
