//! What the service keeps of tokens in memory: how often their objects changed, and whose turn it is to log in.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex};

use outboard_wire::KeyId;

use crate::gate::lock;

/// The tokens that were asked for.
pub(crate) struct Tokens {
    /// The number at which generations begin: another one in each service, as in [`Keys`](crate::keys::Keys).
    first_generation: u64,
    known: Mutex<HashMap<KeyId, Known>>,
}

#[derive(Default)]
struct Known {
    changes: u64,
    turn: Arc<Mutex<()>>,
}

impl Default for Tokens {
    fn default() -> Self {
        Self {
            first_generation: RandomState::new().hash_one(0),
            known: Mutex::default(),
        }
    }
}

impl Tokens {
    /// Does what takes long, or much memory: one thing at a time for each token.
    pub(crate) fn in_turn<T>(&self, token: KeyId, what: impl FnOnce() -> T) -> T {
        let turn = Arc::clone(&lock(&self.known).entry(token).or_default().turn);
        let _turn = lock(&turn);
        what()
    }

    /// What is known of a token's objects is true as long as this stays the same; never 0. It tells those who see all objects from
    /// those who see the public ones.
    pub(crate) fn generation(&self, token: KeyId, all: bool) -> u64 {
        let known = lock(&self.known);
        let changes = known.get(&token).map_or(0, |known| known.changes);
        let generation = self.first_generation.wrapping_add(changes) << 1;
        (generation | u64::from(all)).max(2)
    }

    /// A token's objects have changed.
    pub(crate) fn changed(&self, token: KeyId) {
        lock(&self.known).entry(token).or_default().changes += 1;
    }

    /// The token is deleted.
    pub(crate) fn deleted(&self, token: KeyId) {
        lock(&self.known).remove(&token);
    }
}
