//! What the service keeps of tokens in memory: how often their objects changed, and whose turn it is.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard};

use outboard_wire::KeyId;

use crate::gate::lock;

/// The tokens whose objects changed since the service started.
pub(crate) struct Tokens {
    /// The number at which generations begin: another one in each service, as in [`Keys`](crate::keys::Keys).
    first_generation: u64,
    changes: Mutex<HashMap<KeyId, u64>>,
    /// For PINs: each takes 32 MiB.
    pub(crate) logins: Turns,
    /// For new key pairs: a large one takes seconds.
    pub(crate) pairs: Turns,
    /// For attributes: what is changed is read before.
    pub(crate) attributes: Turns,
}

/// Lets one thing at a time be done for each token, and few at a time for all.
#[derive(Default)]
pub(crate) struct Turns([Mutex<()>; PLACES]);

/// How many things are done at a time. Tokens whose ids are alike there wait for each other.
const PLACES: usize = 8;

impl Turns {
    /// Waits for a token's turn, which ends where this is dropped.
    pub(crate) fn of(&self, token: KeyId) -> MutexGuard<'_, ()> {
        lock(&self.0[usize::from(token.0[0]) % PLACES])
    }
}

impl Default for Tokens {
    fn default() -> Self {
        Self {
            first_generation: RandomState::new().hash_one(0),
            changes: Mutex::default(),
            logins: Turns::default(),
            pairs: Turns::default(),
            attributes: Turns::default(),
        }
    }
}

impl Tokens {
    /// What is known of a token's objects is true as long as this stays the same; never 0. It tells those who see all objects from
    /// those who see the public ones.
    pub(crate) fn generation(&self, token: KeyId, all: bool) -> u64 {
        let changes = lock(&self.changes).get(&token).copied().unwrap_or_default();
        let generation = self.first_generation.wrapping_add(changes) << 1;
        (generation | u64::from(all)).max(2)
    }

    /// A token's objects have changed.
    pub(crate) fn changed(&self, token: KeyId) {
        *lock(&self.changes).entry(token).or_default() += 1;
    }

    /// The token is deleted.
    pub(crate) fn deleted(&self, token: KeyId) {
        lock(&self.changes).remove(&token);
    }
}
