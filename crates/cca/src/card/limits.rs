//! How often a PIN may be wrong: for each verifying key and account, until it is right once or an administrator forgets it.
//!
//! A try is counted in memory before the PIN is compared, so that tries at the same time get no more than their number. A wrong
//! PIN is stored before the answer leaves, so that a kill gives no try for free. A blocked account answers as a wrong PIN does.

use std::collections::HashMap;

use outboard_engine::scalar::digest::{Digest, Hasher};

use crate::answer::{Outcome, Refusal};

/// How many wrong PINs are allowed in a new card.
const DEFAULT_LIMIT: u32 = 10;
/// How many accounts with wrong PINs are remembered. Beyond that, further accounts are refused.
const MOST: usize = 1_000_000;

/// What names a key and an account, and reveals neither.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Account([u8; 16]);

impl Account {
    /// Of the key that verifies and the account's number. The key's own value counts, not its token: a token under another
    /// master key, or another token of the key, is no other account.
    pub(crate) fn new(key: &[u8], account: &[u8]) -> Outcome<Self> {
        let mut hasher = Hasher::new(Digest::Sha256)?;
        for part in [
            b"outboard cca account 1".as_slice(),
            &[key.len() as u8],
            key,
            account,
        ] {
            hasher.update(part)?;
        }
        let mut name = [0; 16];
        name.copy_from_slice(&hasher.end()?[..16]);
        Ok(Self(name))
    }

    pub(crate) fn entry(&self) -> String {
        let digits: String = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("failures/{digits}")
    }
}

/// The counts.
pub(crate) struct Failures {
    pub(crate) limit: u32,
    counts: HashMap<Account, u32>,
}

impl Default for Failures {
    fn default() -> Self {
        Self {
            limit: DEFAULT_LIMIT,
            counts: HashMap::new(),
        }
    }
}

impl Failures {
    /// Counts a try: how many there were since the last right one, with this one. None if there may be no more.
    pub(crate) fn count(&mut self, account: Account) -> Outcome<Option<u32>> {
        if self.counts.len() >= MOST && !self.counts.contains_key(&account) {
            return Err(Refusal::Storage);
        }
        let limit = self.limit;
        let count = self.counts.entry(account).or_insert(0);
        if *count >= limit {
            return Ok(None);
        }
        *count += 1;
        Ok(Some(*count))
    }

    /// How many tries there were.
    pub(crate) fn of(&self, account: Account) -> u32 {
        self.counts.get(&account).copied().unwrap_or(0)
    }

    pub(crate) fn set(&mut self, account: Account, count: u32) {
        match count {
            0 => self.counts.remove(&account),
            _ => self.counts.insert(account, count),
        };
    }

    pub(crate) fn accounts(&self) -> impl Iterator<Item = &Account> {
        self.counts.keys()
    }

    pub(crate) fn forget(&mut self) {
        self.counts.clear();
    }

    pub(crate) fn blocked(&self) -> usize {
        self.counts
            .values()
            .filter(|count| **count >= self.limit)
            .count()
    }

    pub(crate) fn len(&self) -> usize {
        self.counts.len()
    }

    pub(crate) fn load_limit(&mut self, value: &[u8]) -> bool {
        match value.try_into() {
            Ok(bytes) => {
                self.limit = u32::from_be_bytes(bytes);
                true
            }
            Err(_) => false,
        }
    }

    pub(crate) fn load(&mut self, name: &str, value: &[u8]) -> bool {
        let account = crate::value::from_hex(name).and_then(|name| name[..].try_into().ok());
        match (account, value.try_into()) {
            (Some(account), Ok(count)) => {
                self.set(Account(account), u32::from_be_bytes(count));
                true
            }
            _ => false,
        }
    }
}
