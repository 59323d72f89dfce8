//! What the coprocessor stores: the service stores it, and has done so when a change returns.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, PoisonError};

use outboard_cca::{self as cca, StorageError};
use zeroize::Zeroizing;

use super::Out;
use super::crash;
use crate::coprocessor::pair::FromVerbs;
use crate::gate::lock;

/// Changes that are not stored yet, or were not asked after.
#[derive(Default)]
pub(super) struct Changes {
    state: Mutex<State>,
    stored: Condvar,
}

#[derive(Default)]
struct State {
    last: u64,
    /// Whether each is done, once the service says so.
    waiting: HashMap<u64, Option<bool>>,
}

impl Changes {
    /// The service has stored a change, or failed to.
    pub(super) fn tell(&self, number: u64, done: bool) {
        if let Some(waiting) = lock(&self.state).waiting.get_mut(&number) {
            *waiting = Some(done);
        }
        self.stored.notify_all();
    }

    fn begin(&self) -> u64 {
        let mut state = lock(&self.state);
        state.last += 1;
        let number = state.last;
        state.waiting.insert(number, None);
        number
    }

    fn wait(&self, number: u64) -> bool {
        let state = lock(&self.state);
        let is_open = |state: &mut State| matches!(state.waiting.get(&number), Some(None));
        let waited = self.stored.wait_while(state, is_open);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        state.waiting.remove(&number).flatten().unwrap_or_default()
    }
}

/// The storage of the coprocessor in this process.
pub(super) struct Stored {
    /// What was there when the process began.
    entries: Mutex<Vec<cca::Entry>>,
    out: &'static Out,
    changes: &'static Changes,
}

impl Stored {
    pub(super) fn new(
        entries: Vec<cca::Entry>,
        out: &'static Out,
        changes: &'static Changes,
    ) -> Self {
        Self {
            entries: Mutex::new(entries),
            out,
            changes,
        }
    }
}

impl cca::Storage for Stored {
    /// Once: what is stored later, the coprocessor knows.
    fn load(&self) -> Result<Vec<cca::Entry>, StorageError> {
        Ok(std::mem::take(&mut lock(&self.entries)))
    }

    fn change(&self, put: &[cca::Entry], remove: &[String]) -> Result<(), StorageError> {
        self.begin(put, remove).wait()
    }

    fn begin(&self, put: &[cca::Entry], remove: &[String]) -> cca::Written<'_> {
        if let Some(place) = crash::place() {
            // Who carries it out anew would find it done.
            place.changes();
        }
        let number = self.changes.begin();
        let put = put.iter();
        let put = put.map(|(name, value)| (name.clone(), cca::Bytes::from(&value[..])));
        self.out.say(&FromVerbs::Change {
            number,
            put: put.collect(),
            remove: remove.to_vec(),
        });
        cca::Written::new(move || match self.changes.wait(number) {
            true => Ok(()),
            false => Err(StorageError("the service cannot write its store".into())),
        })
    }
}

/// As the coprocessor has it.
pub(super) fn entry((name, value): (String, cca::Bytes)) -> cca::Entry {
    (name, Zeroizing::new(value.take()))
}
