//! The card: its state, who asks it, and how a request reaches its verb.

pub(crate) mod access;
pub(crate) mod cloning;
pub(crate) mod extensions;
pub(crate) mod limits;
pub(crate) mod master;
pub(crate) mod opened;
pub(crate) mod records;
pub(crate) mod storage;
pub(crate) mod tables;

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use zeroize::Zeroizing;

use crate::answer::{Answer, Outcome, Refusal};
use crate::request::Request;
use crate::value::Label;
use access::{AccessPoint, Points};
use cloning::Cloning;
use extensions::Extensions;
use limits::Failures;
use master::Masters;
use opened::Opened;
use records::{Records, Store};
use storage::{Storage, StorageError, Written};
use tables::Tables;

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Whether the caller may enter master keys, switch access-control points and store decimalization tables.
    pub administrator: bool,
    /// The user's number: the labels that a user makes are the user's own.
    pub user: u32,
}

impl Caller {
    /// A program, for tests.
    pub const USER: Self = Self {
        administrator: false,
        user: 1000,
    };
    /// Who administers the card, for tests.
    pub const ADMINISTRATOR: Self = Self {
        administrator: true,
        user: 0,
    };
}

/// A coprocessor. Any number of threads may ask it at the same time.
pub struct Coprocessor {
    storage: Box<dyn Storage>,
    state: RwLock<State>,
    /// Whose turn it is to change the state.
    changing: Mutex<()>,
    failures: Mutex<Failures>,
    opened: Mutex<Opened>,
}

/// The state, for the one verb that may change it now. Others read it as it was until the first change here: what is kept before
/// ([`Call::keep`]) keeps none of them waiting.
pub(crate) struct Changing<'a> {
    state: &'a RwLock<State>,
    as_it_was: Option<RwLockReadGuard<'a, State>>,
    changed: Option<RwLockWriteGuard<'a, State>>,
    _turn: MutexGuard<'a, ()>,
}

impl Deref for Changing<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        match (&self.changed, &self.as_it_was) {
            (Some(state), _) => state,
            (None, Some(state)) => state,
            // INVARIANT: one of them is there.
            (None, None) => unreachable!("the state is locked"),
        }
    }
}

impl DerefMut for Changing<'_> {
    fn deref_mut(&mut self) -> &mut State {
        let Self {
            state,
            as_it_was,
            changed,
            ..
        } = self;
        // Nobody else changes it meanwhile.
        *as_it_was = None;
        changed.get_or_insert_with(|| state.write().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What a coprocessor keeps.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) masters: Masters,
    pub(crate) points: Points,
    pub(crate) records: Records,
    pub(crate) tables: Tables,
    pub(crate) extensions: Extensions,
    pub(crate) cloning: Cloning,
}

impl Coprocessor {
    /// A coprocessor with what the storage has; with an empty storage, a new one without master keys.
    ///
    /// # Errors
    /// The storage cannot be read, or has something that is damaged.
    pub fn new(storage: Box<dyn Storage>) -> Result<Self, StorageError> {
        let (mut state, mut failures) = (State::default(), Failures::default());
        for (name, value) in storage.load()? {
            let (kind, rest) = name.split_once('/').unwrap_or((&name, ""));
            let is_read = match kind {
                "master" => state.masters.load(rest, &value),
                "points" => state.points.load(&value),
                "record" => state.records.load(rest, &value),
                "table" => state.tables.load(rest, &value),
                "clone" => state.cloning.load(rest, &value),
                "extension" => state.extensions.load(rest, &value),
                "limit" => failures.load_limit(&value),
                "failures" => failures.load(rest, &value),
                // Of a later version.
                _ => true,
            };
            if !is_read {
                return Err(StorageError(format!(
                    "the coprocessor's entry '{name}' is damaged (restore a backup)"
                )));
            }
        }
        Ok(Self {
            storage,
            state: RwLock::new(state),
            changing: Mutex::default(),
            failures: Mutex::new(failures),
            opened: Mutex::default(),
        })
    }

    /// How many records key storage has.
    pub fn records(&self) -> usize {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        state.records.len()
    }

    /// Carries out a verb.
    pub fn dispatch(&self, caller: Caller, request: &Request) -> Answer {
        let call = Call {
            card: self,
            caller,
            within: None,
        };
        Answer::of(request.run(&call))
    }
}

/// A request under way.
pub(crate) struct Call<'a> {
    card: &'a Coprocessor,
    caller: Caller,
    /// For a user-defined extension's own calls: the labels that it was added with.
    within: Option<&'a [Label]>,
}

impl<'a> Call<'a> {
    /// The calls of an extension that has those labels. An extension administers nothing, whoever calls it.
    pub(crate) fn of_extension<'b>(&self, labels: &'b [Label]) -> Call<'b>
    where
        'a: 'b,
    {
        let caller = Caller {
            administrator: false,
            ..self.caller
        };
        Call {
            card: self.card,
            caller,
            within: Some(labels),
        }
    }
}

impl Call<'_> {
    /// Who asks.
    pub(crate) fn caller(&self) -> Caller {
        self.caller
    }

    /// Whether a user-defined extension asks.
    pub(crate) fn is_within(&self) -> bool {
        self.within.is_some()
    }

    /// The token of a label: as far as the caller has it, or the administrator's that an extension was added with.
    pub(crate) fn labelled(&self, store: Store, label: &Label) -> Outcome<Zeroizing<Vec<u8>>> {
        let whose = match self.within {
            None => self.caller,
            Some(labels) if labels.contains(label) => Caller {
                administrator: true,
                ..self.caller
            },
            Some(_) => return Err(Refusal::NoSuchLabel),
        };
        let state = self.state();
        let token = state.records.token(store, whose, label)?;
        Ok(Zeroizing::new(token.to_vec()))
    }

    /// The state, to read. What a verb changes is whole at any time, so a panic elsewhere spoils nothing.
    pub(crate) fn state(&self) -> RwLockReadGuard<'_, State> {
        self.card
            .state
            .read()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The state, to change. What is changed must be kept first ([`Call::keep`]).
    pub(crate) fn change(&self) -> Changing<'_> {
        let turn = self.card.changing.lock();
        Changing {
            _turn: turn.unwrap_or_else(PoisonError::into_inner),
            state: &self.card.state,
            as_it_was: Some(self.state()),
            changed: None,
        }
    }

    /// The counts of wrong PINs.
    pub(crate) fn failures(&self) -> MutexGuard<'_, Failures> {
        self.card
            .failures
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Private keys that were used last.
    pub(crate) fn opened(&self) -> MutexGuard<'_, Opened> {
        self.card
            .opened
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Refuses callers who do not administer.
    pub(crate) fn administers(&self) -> Outcome<()> {
        match self.caller.administrator {
            true => Ok(()),
            false => Err(Refusal::AccessDenied),
        }
    }

    /// Refuses if an access-control point is off.
    pub(crate) fn needs(&self, point: AccessPoint) -> Outcome<()> {
        match self.state().points.is_on(point) {
            true => Ok(()),
            false => Err(Refusal::AccessDenied),
        }
    }

    /// Keeps a value, durably.
    pub(crate) fn keep(&self, name: &str, value: &[u8]) -> Outcome<()> {
        self.card
            .storage
            .put(name, value)
            .map_err(|_| Refusal::Storage)
    }

    /// Keeps values and forgets others, all or none.
    pub(crate) fn keep_all(
        &self,
        put: &[(String, Zeroizing<Vec<u8>>)],
        remove: &[String],
    ) -> Outcome<()> {
        self.card
            .storage
            .change(put, remove)
            .map_err(|_| Refusal::Storage)
    }

    /// Begins to keep values and to forget others, in the order of the calls. Durable when it is waited for.
    pub(crate) fn begin_to_keep(
        &self,
        put: &[(String, Zeroizing<Vec<u8>>)],
        remove: &[String],
    ) -> Written<'_> {
        self.card.storage.begin(put, remove)
    }

    /// Forgets a value, durably.
    pub(crate) fn forget(&self, name: &str) -> Outcome<()> {
        self.card
            .storage
            .change(&[], &[name.to_owned()])
            .map_err(|_| Refusal::Storage)
    }
}
