//! The vault: a store, its registers, and what enters and locks them.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::{Transaction, TransactionBehavior};
use serde::Serialize;

use crate::audit::{self, Act, New, Outcome};
use crate::error::{Error, Result};
use crate::master::{LENGTH, MasterKey, Parts, Pattern, Register};
use crate::secret::Protection;
use crate::state::{Masters, Phase, State};
use crate::store::{self, Store};

/// Keys under the master key. May be shared by threads: one at a time reads or changes the store, for a moment.
pub struct Vault {
    inner: Mutex<Inner>,
}

pub(crate) struct Inner {
    pub(crate) store: Store,
    pub(crate) state: State,
    pub(crate) masters: Masters,
    /// What is entered of the keys for new, current and old.
    parts: [Option<Parts>; 3],
    /// How many private halves were unwrapped since the store was opened.
    pub(crate) unwrapped: std::cell::Cell<u64>,
}

/// Whether keys can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// No master key was ever entered.
    Empty,
    /// The current master key is known by its pattern, and not entered.
    Locked,
    /// The current master key is there.
    Open,
}

/// A register of the master key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RegisterStatus {
    /// The pattern of the key that it has, or must have. `None`: the register is empty.
    pub pattern: Option<Pattern>,
    /// Whether the key is there.
    pub entered: bool,
    /// How many parts of a key for it are entered, and not yet completed.
    pub parts: usize,
}

/// How the vault is.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    /// Whether keys can be used.
    pub condition: Condition,
    /// The roll's phase.
    pub phase: Phase,
    /// Register new.
    pub new: RegisterStatus,
    /// Register current.
    pub current: RegisterStatus,
    /// Register old.
    pub old: RegisterStatus,
    /// How many keys there are; `None`: the store is too damaged to tell.
    pub keys: Option<u64>,
    /// Whether the store can be changed.
    pub writable: bool,
    /// What is damaged in the store's structure, in SQLite's words.
    pub damage: Vec<String>,
    /// How well the master keys' pages are kept; the worst of them.
    #[serde(skip)]
    pub protection: Option<Protection>,
    /// How many private halves were unwrapped since the store was opened.
    pub unwrapped: u64,
}

/// A part of a master key was entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct EnteredPart {
    /// The part's check value, for the person who entered it.
    pub check_value: Pattern,
    /// How many parts there are now.
    pub parts: usize,
}

/// A master key was entered.
#[derive(Debug)]
pub struct Entered {
    /// Its verification pattern.
    pub pattern: Pattern,
    /// Why the audit log does not tell of it: the store cannot be written. The key is there all the same.
    pub unlogged: Option<Error>,
}

impl Vault {
    /// Makes a new store in a directory, which is made if there is none.
    ///
    /// # Errors
    /// There is a store already; the file system fails.
    pub fn create(directory: impl AsRef<Path>, actor: u32) -> Result<Self> {
        let vault = Self::with(Store::create(directory.as_ref())?)?;
        vault
            .inner()
            .change(|change| change.append(&New::of(actor, Act::CreateStore)).map(drop))?;
        Ok(vault)
    }

    /// Opens the store in a directory. No key is unwrapped yet: the time does not depend on that.
    ///
    /// # Errors
    /// There is none, another process has it, others can reach it, or it is damaged beyond reading.
    pub fn open(directory: impl AsRef<Path>) -> Result<Self> {
        Self::with(Store::open(directory.as_ref())?)
    }

    fn with(mut store: Store) -> Result<Self> {
        let state = store.read_state()?;
        let inner = Inner {
            store,
            state,
            masters: Masters::default(),
            parts: [None, None, None],
            unwrapped: 0.into(),
        };
        Ok(Self {
            inner: Mutex::new(inner),
        })
    }

    /// How it is.
    pub fn status(&self) -> Status {
        self.inner().status()
    }

    /// The register whose key has that pattern: which register to enter a key into after a start.
    pub fn register_of(&self, pattern: Pattern) -> Option<Register> {
        let inner = self.inner();
        [Register::Current, Register::New, Register::Old]
            .into_iter()
            .find(|&register| inner.state.pattern(register) == Some(pattern))
    }

    /// Enters a part of a master key. Parts stay in memory: a restart loses them until the key is complete.
    ///
    /// # Errors
    /// The register takes no key now; the part is all zeros; the audit log cannot be written.
    pub fn enter_part(
        &self,
        actor: u32,
        register: Register,
        part: &[u8; LENGTH],
    ) -> Result<EnteredPart> {
        self.inner().enter_part(actor, register, part)
    }

    /// Forgets the parts that are entered for a register.
    pub fn discard_parts(&self, register: Register) {
        self.inner().parts[register as usize] = None;
    }

    /// Makes the entered parts a master key, and puts it into the register. See [`Vault::enter_whole`].
    ///
    /// # Errors
    /// Those of [`Vault::enter_whole`]; less than two parts. After a wrong key the parts are forgotten.
    pub fn complete(&self, actor: u32, register: Register) -> Result<Entered> {
        let mut inner = self.inner();
        let key = match &inner.parts[register as usize] {
            Some(parts) => parts.combined()?,
            None => {
                return Err(Error::Refused {
                    what: "the master key",
                    reason: "no part of it is entered (enter two at least)",
                });
            }
        };
        let entered = inner.enter(actor, register, key);
        if matches!(entered, Ok(_) | Err(Error::WrongMasterKey { .. })) {
            inner.parts[register as usize] = None;
        }
        entered
    }

    /// Puts a whole master key into a register.
    ///
    /// - `Current`: the first one makes an empty vault open; later it must be the one whose pattern is known.
    /// - `New`: any other key begins a roll; after a restart it must be the one whose pattern is known.
    /// - `Old`: after a restart, the one whose pattern is known. Only to go back from an activated roll needs it.
    ///
    /// # Errors
    /// [`Error::WrongMasterKey`]; the vault is locked, or a roll is activated (register new); the register is empty (old);
    /// the store cannot be written, if it must be.
    pub fn enter_whole(
        &self,
        actor: u32,
        register: Register,
        key: &[u8; LENGTH],
    ) -> Result<Entered> {
        self.inner().enter(actor, register, MasterKey::new(key)?)
    }

    /// Forgets all master keys and parts.
    ///
    /// # Errors
    /// The audit log cannot be written; the keys are forgotten all the same.
    pub fn lock(&self, actor: u32) -> Result<()> {
        let mut inner = self.inner();
        let logged = inner.change(|change| change.append(&New::of(actor, Act::Lock)).map(drop));
        inner.masters = Masters::default();
        inner.parts = [None, None, None];
        logged
    }

    pub(crate) fn inner(&self) -> MutexGuard<'_, Inner> {
        // A panic in another thread leaves the state as it was last committed: it is set after the commit alone.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A change of the store under way: one transaction, with its entries in the audit log.
pub(crate) struct Change<'a> {
    pub(crate) transaction: Transaction<'a>,
    /// The state after the change.
    pub(crate) state: State,
    pub(crate) masters: &'a Masters,
    file: &'a Path,
}

impl Change<'_> {
    /// Appends an entry to the audit log; its number.
    pub(crate) fn append(&mut self, new: &New) -> Result<u64> {
        audit::append(&self.transaction, &mut self.state.head, new).map_err(self.failed())?;
        Ok(self.state.head.number)
    }

    /// The number of the next entry.
    pub(crate) fn next(&self) -> u64 {
        self.state.head.number + 1
    }

    pub(crate) fn failed(&self) -> impl Fn(rusqlite::Error) -> Error + use<> {
        store::failed(self.file)
    }

    pub(crate) fn execute(&self, statement: &str, values: impl rusqlite::Params) -> Result<usize> {
        self.transaction
            .prepare_cached(statement)
            .and_then(|mut statement| statement.execute(values))
            .map_err(self.failed())
    }
}

impl Inner {
    /// Changes the store, all of it or nothing.
    pub(crate) fn change<T>(
        &mut self,
        change: impl FnOnce(&mut Change<'_>) -> Result<T>,
    ) -> Result<T> {
        self.change_with(None, change)
    }

    /// Changes the store; `entering` is a master key that is in no register yet.
    fn change_with<T>(
        &mut self,
        entering: Option<&MasterKey>,
        change: impl FnOnce(&mut Change<'_>) -> Result<T>,
    ) -> Result<T> {
        if let Some(reason) = self.store.damage.first() {
            return Err(Error::DamagedStore {
                path: self.store.file.clone(),
                reason: reason.clone(),
            });
        }
        let failed = self.store.failed();
        let connection = &self.store.connection;
        let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate);
        let mut draft = Change {
            transaction: transaction.map_err(&failed)?,
            state: self.state.clone(),
            masters: &self.masters,
            file: &self.store.file,
        };
        let result = change(&mut draft)?;
        let Change {
            transaction,
            mut state,
            ..
        } = draft;
        let entering = entering.filter(|key| Some(key.pattern()) == state.current);
        if let Some(master) = entering.or(self.masters.with_pattern(state.current)) {
            state.seal(master)?;
        }
        store::write_state(&transaction, &self.store.file, &state)?;
        transaction.commit().map_err(&failed)?;
        self.state = state;
        Ok(result)
    }

    /// Writes that an act was refused, if that can be written.
    pub(crate) fn refused<T>(&mut self, new: New, result: Result<T>) -> Result<T> {
        if let Err(error) = &result {
            let new = New {
                outcome: Outcome::Refused,
                ..new.detail(error.to_string())
            };
            // What was refused stays refused where there is no room to write so.
            let _ = self.change(|change| change.append(&new));
        }
        result
    }

    fn status(&self) -> Status {
        let register = |register: Register| RegisterStatus {
            pattern: self.state.pattern(register),
            entered: self.masters.register(register).is_some(),
            parts: self.parts[register as usize]
                .as_ref()
                .map_or(0, |parts| parts.count),
        };
        let count = self.store.connection.query_row(
            "SELECT count(*) FROM keys WHERE type NOT IN ('token', 'coprocessor')",
            (),
            |row| row.get::<_, i64>(0),
        );
        let entered = [Register::New, Register::Current, Register::Old];
        let entered = entered
            .into_iter()
            .filter_map(|register| self.masters.register(register));
        let rank = |protection: &Protection| match protection {
            Protection::Unlocked(_) => 0,
            Protection::Locked => 1,
            Protection::Secret => 2,
        };
        Status {
            condition: match (self.state.current, &self.masters.current) {
                (_, Some(_)) => Condition::Open,
                (Some(_), None) => Condition::Locked,
                (None, None) => Condition::Empty,
            },
            phase: self.state.phase,
            new: register(Register::New),
            current: register(Register::Current),
            old: register(Register::Old),
            keys: count.ok().map(|count| count as u64),
            writable: self.store.is_writable(),
            damage: [&*self.store.damage, &*self.store.harmless].concat(),
            protection: entered.map(MasterKey::protection).min_by_key(rank),
            unwrapped: self.unwrapped.get(),
        }
    }

    fn enter_part(
        &mut self,
        actor: u32,
        register: Register,
        part: &[u8; LENGTH],
    ) -> Result<EnteredPart> {
        self.takes_key(register)?;
        let count = 1 + self.parts[register as usize]
            .as_ref()
            .map_or(0, |parts| parts.count);
        let mut parts = match self.parts[register as usize].take() {
            Some(parts) => parts,
            None => Parts::new()?,
        };
        let check_value = Pattern::of_part(part);
        let detail = format!("part {count} for register {register}, check value {check_value}");
        let new = New::of(actor, Act::EnterPart).detail(detail);
        let added = parts.check(part).and_then(|()| {
            let logged = self.change(|change| change.append(&new));
            // What unlocks a store that cannot be written must not be refused for that.
            match self.state.pattern(register) {
                None => logged.map(drop),
                Some(_) => Ok(()),
            }
        });
        if added.is_ok() {
            parts.add(part);
        }
        self.parts[register as usize] = (parts.count > 0).then_some(parts);
        added?;
        Ok(EnteredPart {
            check_value,
            parts: count,
        })
    }

    /// Whether a key may be entered into a register now.
    fn takes_key(&self, register: Register) -> Result<()> {
        let refuse = |reason| {
            Err(Error::Refused {
                what: "the master key",
                reason,
            })
        };
        match register {
            _ if self.masters.register(register).is_some() && register != Register::New => {
                refuse("its register has a key already (to replace it, enter a new one and roll)")
            }
            Register::New if self.masters.new.is_some() => {
                refuse("register new has a key already (cancel the roll first)")
            }
            Register::Current => Ok(()),
            Register::New if self.state.phase == Phase::Activated => {
                refuse("the last roll is activated and not finalised (finalise it first)")
            }
            Register::New => self.masters.current(&self.state).map(drop),
            Register::Old if self.state.old.is_none() => {
                refuse("register old is empty (enter it into register current or new)")
            }
            Register::Old => Ok(()),
        }
    }

    fn enter(&mut self, actor: u32, register: Register, key: MasterKey) -> Result<Entered> {
        self.takes_key(register)?;
        let pattern = key.pattern();
        let new = New::of(actor, Act::EnterMasterKey).detail(format!(
            "register {register}, verification pattern {pattern}"
        ));
        let unlogged = match self.state.pattern(register) {
            Some(expected) if expected != pattern => {
                let wrong = Error::WrongMasterKey {
                    register,
                    entered: pattern,
                    expected,
                };
                return self.refused(new, Err(wrong));
            }
            Some(_) => {
                let mismatch = register == Register::Current && !self.log_is_as_left(&key)?;
                let logged = self.change_with(Some(&key), |change| {
                    if mismatch {
                        change.append(&New::of(actor, Act::Mismatch))?;
                    }
                    change.append(&new)
                });
                logged.err()
            }
            None => {
                if [self.state.current, self.state.old].contains(&Some(pattern)) {
                    return Err(Error::Refused {
                        what: "the master key",
                        reason: "another register has it already (enter another key)",
                    });
                }
                self.change_with(Some(&key), |change| {
                    match register {
                        Register::Current => change.state.current = Some(pattern),
                        _ => change.state.new = Some(pattern),
                    }
                    change.append(&new)
                })?;
                None
            }
        };
        *self.masters.register_mut(register) = Some(key);
        Ok(Entered { pattern, unlogged })
    }
}
