//! The roll of the master key, while keys serve.
//!
//! ```text
//!          enter new        prepare              activate             finalise
//! Idle ───────────────▶ Idle ──▶ Preparing ──▶ Prepared ──▶ Activated ──▶ Idle
//!   ▲                     │          │            │            │
//!   └─────────────────────┴──────────┴── cancel ──┴────────────┘
//! ```
//! Between two steps may be days and restarts. A key is wrapped once for each of the two master keys, so that each step is
//! one transaction, or a row of transactions that may end anywhere: a step that was cut off is called again.

use rusqlite::OptionalExtension;
use serde::Serialize;

use crate::KeyId;
use crate::audit::{Act, New};
use crate::error::{Error, Result};
use crate::keys::store_wrapping;
use crate::master::{Pattern, Register};
use crate::record::Record;
use crate::state::Phase;
use crate::vault::{Inner, Vault};

/// How many keys are wrapped while others wait: about a millisecond's work, and one write.
const BATCH: i64 = 64;

/// How far a step of the roll is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Progress {
    /// Keys done.
    pub done: u64,
    /// Keys in all.
    pub total: u64,
}

/// What the preparation of a roll came to.
#[derive(Debug)]
pub struct Prepared {
    /// How many keys are wrapped under the new master key, too.
    pub keys: u64,
    /// One error for each key that is damaged. If there is one, the phase stays [`Phase::Preparing`].
    pub damaged: Vec<Error>,
}

impl Vault {
    /// Wraps every key under the master key in register new, too. Keys serve and change meanwhile; `progress` is called
    /// between batches.
    ///
    /// # Errors
    /// The vault is not open; register new is empty, or its key is not entered; the roll is activated; the store cannot be
    /// written. Called again, it goes on.
    pub fn prepare(&self, actor: u32, progress: impl FnMut(Progress)) -> Result<Prepared> {
        let step = "prepare";
        let new = {
            let mut inner = self.inner();
            let (from, to) = inner.roll_to_prepare()?;
            let detail = format!("from {from} to {to}");
            inner.change(|change| {
                change.state.phase = Phase::Preparing;
                change.append(&New::of(actor, Act::PrepareRoll).detail(detail))
            })?;
            to
        };
        let walked = self.walk(progress, |inner, keys| {
            inner.expect(step, Phase::Preparing, Register::New, new)?;
            inner.wrap_batch(Register::New, keys)
        })?;
        let mut inner = self.inner();
        inner.expect(step, Phase::Preparing, Register::New, new)?;
        if walked.damaged.is_empty() {
            inner.all_wrapped(step, new)?;
            inner.change(|change| {
                change.state.phase = Phase::Prepared;
                let detail = format!("{} keys are wrapped under {new}, too", walked.keys);
                change.append(&New::of(actor, Act::PrepareRoll).detail(detail))
            })?;
        }
        Ok(Prepared {
            keys: walked.keys,
            damaged: walked.damaged,
        })
    }

    /// Makes the new master key the current one, and the current one the old one: one transaction.
    ///
    /// # Errors
    /// The vault is not open; the roll is not prepared; the new master key is not entered; a key is damaged; the store
    /// cannot be written.
    pub fn activate(&self, actor: u32) -> Result<()> {
        let step = "activate";
        let new = {
            let inner = self.inner();
            inner.masters.current(&inner.state)?;
            let (Phase::Prepared, Some(new)) = (inner.state.phase, inner.state.new) else {
                return refuse(step, "it is not prepared (prepare it first)");
            };
            if inner.masters.new.is_none() {
                return refuse(
                    step,
                    "the new master key is not entered since the restart (enter it)",
                );
            }
            new
        };
        self.verify_all(step, Register::New, |inner| {
            inner.expect(step, Phase::Prepared, Register::New, new)
        })?;
        let mut inner = self.inner();
        inner.expect(step, Phase::Prepared, Register::New, new)?;
        inner.all_wrapped(step, new)?;
        inner.change(|change| {
            let state = &mut change.state;
            state.old = state.current.take();
            state.current = state.new.take();
            state.phase = Phase::Activated;
            change.execute("DELETE FROM approvals", ())?;
            let detail = format!("the current master key is {new}");
            change.append(&New::of(actor, Act::ActivateRoll).detail(detail))
        })?;
        inner.masters.old = inner.masters.current.take();
        inner.masters.current = inner.masters.new.take();
        Ok(())
    }

    /// Drops the old master key, and all that is wrapped under it.
    ///
    /// # Errors
    /// The vault is not open; the roll is not activated; a key is damaged under the current master key; the store cannot be
    /// written.
    pub fn finalise(&self, actor: u32) -> Result<()> {
        let step = "finalise";
        let current = {
            let inner = self.inner();
            let current = inner.masters.current(&inner.state)?.pattern();
            inner.expect_activated(step, current)?;
            current
        };
        self.verify_all(step, Register::Current, |inner| {
            inner.expect_activated(step, current)
        })?;
        let mut inner = self.inner();
        inner.expect_activated(step, current)?;
        inner.all_wrapped(step, current)?;
        inner.change(|change| {
            change.execute("DELETE FROM wrappings WHERE master <> ?1", [&current.0[..]])?;
            change.state.old = None;
            change.state.phase = Phase::Idle;
            let detail = format!("the only master key is {current}");
            change.append(&New::of(actor, Act::FinaliseRoll).detail(detail))
        })?;
        inner.masters.old = None;
        Ok(())
    }

    /// Undoes a roll that is not finalised: register new is cleared; or, if the roll is activated, the old master key is the
    /// current one again, and must be there for that.
    ///
    /// # Errors
    /// The vault is not open; there is no roll; it is activated and the old master key is not entered, or a key is damaged;
    /// the store cannot be written.
    pub fn cancel(&self, actor: u32) -> Result<()> {
        let mut inner = self.inner();
        inner.masters.current(&inner.state)?;
        if inner.state.phase == Phase::Activated {
            drop(inner);
            return self.go_back(actor);
        }
        let Some(new) = inner.state.new else {
            return refuse("cancel", "there is none (nothing is to be done)");
        };
        inner.change(|change| {
            change.execute("DELETE FROM wrappings WHERE master = ?1", [&new.0[..]])?;
            change.state.new = None;
            change.state.phase = Phase::Idle;
            let detail = format!("the new master key {new} is dropped");
            change.append(&New::of(actor, Act::CancelRoll).detail(detail))
        })?;
        inner.masters.new = None;
        Ok(())
    }

    /// Cancels an activated roll.
    fn go_back(&self, actor: u32) -> Result<()> {
        let step = "cancel";
        let (current, old) = {
            let inner = self.inner();
            let current = inner.masters.current(&inner.state)?.pattern();
            match &inner.masters.old {
                Some(old) => (current, old.pattern()),
                None => {
                    return refuse(
                        step,
                        "it is activated, and the old master key is not entered (enter it into register old)",
                    );
                }
            }
        };
        let walked = self.walk(drop, |inner, keys| {
            inner.expect(step, Phase::Activated, Register::Old, old)?;
            inner.wrap_batch(Register::Old, keys)
        })?;
        if let Some(damaged) = walked.damaged.into_iter().next() {
            return Err(damaged);
        }
        let mut inner = self.inner();
        inner.expect(step, Phase::Activated, Register::Old, old)?;
        inner.all_wrapped(step, old)?;
        inner.change(|change| {
            change.execute("DELETE FROM wrappings WHERE master <> ?1", [&old.0[..]])?;
            change.execute("DELETE FROM approvals", ())?;
            change.state.current = change.state.old.take();
            change.state.phase = Phase::Idle;
            let detail = format!("the current master key is {old} again, {current} is dropped");
            change.append(&New::of(actor, Act::CancelRoll).detail(detail))
        })?;
        inner.masters.current = inner.masters.old.take();
        Ok(())
    }

    /// Looks whether every key is whole under the master key in a register.
    fn verify_all(
        &self,
        step: &'static str,
        register: Register,
        expect: impl Fn(&Inner) -> Result<()>,
    ) -> Result<()> {
        let walked = self.walk(drop, |inner, keys| {
            expect(inner)?;
            inner.verify_batch(register, keys)
        })?;
        let count = walked.damaged.len() as u64;
        match walked.damaged.into_iter().next() {
            None => Ok(()),
            Some(Error::DamagedKey { key, .. }) => Err(Error::Unprepared { step, count, key }),
            Some(other) => Err(other),
        }
    }

    /// Goes through all keys, batch by batch; others have their turn between two batches.
    fn walk(
        &self,
        mut progress: impl FnMut(Progress),
        mut batch: impl FnMut(&mut Inner, &[KeyId]) -> Result<Vec<Error>>,
    ) -> Result<Walked> {
        let mut walked = Walked::default();
        let mut after = Vec::new();
        loop {
            let total;
            {
                let mut inner = self.inner();
                let keys = inner.some_keys(&after)?;
                let Some(last) = keys.last() else {
                    return Ok(walked);
                };
                after = last.0.to_vec();
                let damaged = batch(&mut inner, &keys)?;
                walked.keys += (keys.len() - damaged.len()) as u64;
                walked.damaged.extend(damaged);
                total = inner.count_keys()?;
            }
            progress(Progress {
                done: walked.keys + walked.damaged.len() as u64,
                total,
            });
        }
    }
}

#[derive(Default)]
struct Walked {
    keys: u64,
    damaged: Vec<Error>,
}

fn refuse<T>(step: &'static str, reason: &'static str) -> Result<T> {
    Err(Error::Roll { step, reason })
}

impl Inner {
    /// The patterns of the current master key, and of the new one.
    fn roll_to_prepare(&self) -> Result<(Pattern, Pattern)> {
        let step = "prepare";
        let current = self.masters.current(&self.state)?;
        match (&self.masters.new, self.state.new) {
            _ if self.state.phase == Phase::Activated => refuse(
                step,
                "the last one is activated and not finalised (finalise it first)",
            ),
            (Some(new), _) => Ok((current.pattern(), new.pattern())),
            (None, Some(_)) => refuse(
                step,
                "the new master key is not entered since the restart (enter it)",
            ),
            (None, None) => refuse(step, "register new is empty (enter the new master key)"),
        }
    }

    /// That the roll is where a step left it.
    fn expect(
        &self,
        step: &'static str,
        phase: Phase,
        register: Register,
        pattern: Pattern,
    ) -> Result<()> {
        let there = self.masters.register(register).map(|key| key.pattern());
        if self.state.phase == phase && there == Some(pattern) && self.masters.current.is_some() {
            return Ok(());
        }
        refuse(
            step,
            "another step of it, or of locking, came between (look at its status)",
        )
    }

    fn expect_activated(&self, step: &'static str, current: Pattern) -> Result<()> {
        match self.state.phase {
            Phase::Activated => self.expect(step, Phase::Activated, Register::Current, current),
            _ => refuse(step, "it is not activated (activate it first)"),
        }
    }

    fn some_keys(&self, after: &[u8]) -> Result<Vec<KeyId>> {
        let read = || -> rusqlite::Result<Vec<KeyId>> {
            let statement = "SELECT id FROM keys WHERE id > ?1 ORDER BY id LIMIT ?2";
            let mut statement = self.store.connection.prepare_cached(statement)?;
            let rows = statement.query_map((after, BATCH), |row| row.get(0).map(KeyId))?;
            rows.collect()
        };
        read().map_err(self.store.failed())
    }

    fn count_keys(&self) -> Result<u64> {
        let mut statement = self
            .store
            .connection
            .prepare_cached("SELECT count(*) FROM keys")
            .map_err(self.store.failed())?;
        let count: i64 = statement
            .query_row((), |row| row.get(0))
            .map_err(self.store.failed())?;
        Ok(count as u64)
    }

    /// Wraps keys under the master key in a register, as far as they are not; those that are damaged.
    fn wrap_batch(&mut self, register: Register, keys: &[KeyId]) -> Result<Vec<Error>> {
        let mut damaged = Vec::new();
        let mut to_wrap = Vec::new();
        for &id in keys {
            let key = match self.unwrap(id.into()) {
                Ok(key) => key,
                Err(error @ Error::DamagedKey { .. }) => {
                    damaged.push(error);
                    continue;
                }
                Err(other) => return Err(other),
            };
            if !self.is_wrapped(&key.record, register, &key.private)? {
                to_wrap.push(key);
            }
        }
        if to_wrap.is_empty() {
            return Ok(damaged);
        }
        self.change(|change| {
            for key in &to_wrap {
                let Some(master) = change.masters.register(register) else {
                    return refuse("go on with", "its master key is not entered (enter it)");
                };
                let (id, pattern) = (key.record.id, master.pattern());
                let wrapped = master.wrap(&key.private, &key.record.authenticated(pattern))?;
                change.execute(
                    "DELETE FROM wrappings WHERE key = ?1 AND master = ?2",
                    (&id.0[..], &pattern.0[..]),
                )?;
                store_wrapping(change, id, master, &wrapped)?;
            }
            Ok(())
        })?;
        Ok(damaged)
    }

    /// Whether a key is wrapped under the master key in a register, and right.
    fn is_wrapped(&self, record: &Record, register: Register, private: &[u8]) -> Result<bool> {
        let Some(master) = self.masters.register(register) else {
            return Ok(false);
        };
        let unwrapped = self.unwrap_under(record, master)?;
        Ok(unwrapped.is_some_and(|unwrapped| crate::cipher::equal(&unwrapped, private)))
    }

    /// Those keys that are not whole under the master key in a register.
    fn verify_batch(&self, register: Register, keys: &[KeyId]) -> Result<Vec<Error>> {
        let mut damaged = Vec::new();
        for &id in keys {
            let record = match self.fetch(id.into()) {
                Ok(record) => record,
                Err(error @ Error::DamagedKey { .. }) => {
                    damaged.push(error);
                    continue;
                }
                Err(other) => return Err(other),
            };
            let whole = match self.masters.register(register) {
                Some(master) => self.unwrap_under(&record, master)?.is_some(),
                None => false,
            };
            if !whole {
                damaged.push(Error::DamagedKey {
                    key: record.described(),
                    reason: "it is not wrapped under the master key, or was changed",
                });
            }
        }
        Ok(damaged)
    }

    /// That every key has a wrapping under that master key.
    fn all_wrapped(&self, step: &'static str, master: Pattern) -> Result<()> {
        let statement = "SELECT count(*), min(name) FROM keys WHERE NOT EXISTS \
                         (SELECT 1 FROM wrappings WHERE key = keys.id AND master = ?1)";
        let found = self
            .store
            .connection
            .query_row(statement, [&master.0[..]], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, Option<String>>(1)?))
            })
            .optional()
            .map_err(self.store.failed())?;
        match found {
            Some((count, Some(key))) => Err(Error::Unprepared {
                step,
                count: count as u64,
                key,
            }),
            _ => Ok(()),
        }
    }
}
