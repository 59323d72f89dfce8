//! How often a PIN may be wrong: for each account, with each verifying key and with all, until it is right once, compared with the same offset or
//! PVV, or an administrator forgets it.
//!
//! A try is counted in memory before the PIN is compared, so that tries at the same time get no more than their number. A wrong
//! PIN is stored before the answer leaves, so that a kill gives no try for free. A blocked account answers as a wrong PIN does.

use std::collections::HashMap;

use outboard_engine::scalar::digest::{Digest, Hasher};

use crate::answer::{Outcome, Refusal};

/// How many wrong PINs are allowed in a new card.
const DEFAULT_LIMIT: u32 = 10;
/// How many offsets or PVVs of an account are told apart. What is wrong beyond that, only an administrator forgets.
const MOST_COMPARED: usize = 16;
/// How many accounts with wrong PINs are remembered. Beyond that, further accounts are refused.
const MOST: usize = 1_000_000;

/// What names a key and an account, and reveals neither.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Account([u8; 16]);

impl Account {
    /// Of the key that verifies (or of the card, for all keys) and the account's number. The key's own value counts, not its token: a token under another
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

/// How many tries there were of an account, by what the PIN was compared with.
pub(crate) type Counts = Vec<(Account, u32)>;

fn sum(counts: &[(Account, u32)]) -> u32 {
    counts.iter().map(|(_, count)| count).sum()
}

/// As it is stored.
pub(crate) fn value(counts: &[(Account, u32)]) -> Vec<u8> {
    let parts = counts
        .iter()
        .map(|(compared, count)| [&compared.0[..], &count.to_be_bytes()].concat());
    parts.flatten().collect()
}

/// The counts.
pub(crate) struct Failures {
    pub(crate) limit: u32,
    counts: HashMap<Account, Counts>,
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
    /// Counts a try: how many there were since the last right one, compared with the same, with this one. None if there may be no
    /// more.
    pub(crate) fn count(&mut self, account: Account, compared: Account) -> Outcome<Option<u32>> {
        if self.counts.len() >= MOST && !self.counts.contains_key(&account) {
            return Err(Refusal::Storage);
        }
        let limit = self.limit;
        let counts = self.counts.entry(account).or_default();
        if sum(counts) >= limit {
            return Ok(None);
        }
        if let Some((_, count)) = counts.iter_mut().find(|(known, _)| *known == compared) {
            *count += 1;
            return Ok(Some(*count));
        }
        if counts.len() >= MOST_COMPARED {
            // The two oldest are one, which nothing is compared with.
            let (_, count) = counts.remove(1);
            counts[0] = (Account::default(), counts[0].1 + count);
        }
        counts.push((compared, 1));
        Ok(Some(1))
    }

    /// The tries that there were.
    pub(crate) fn of(&self, account: Account) -> &[(Account, u32)] {
        self.counts.get(&account).map_or(&[], |counts| counts)
    }

    /// Those of them that were compared with something else.
    pub(crate) fn without(&self, account: Account, compared: Account) -> Counts {
        let others = self.of(account).iter();
        others
            .filter(|(known, _)| *known != compared)
            .copied()
            .collect()
    }

    pub(crate) fn set(&mut self, account: Account, counts: Counts) {
        match counts.is_empty() {
            true => self.counts.remove(&account),
            false => self.counts.insert(account, counts),
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
            .filter(|counts| sum(counts) >= self.limit)
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
        let Some(account) = account else {
            return false;
        };
        let (parts, rest) = value.as_chunks::<20>();
        let counts = parts.iter().map(|part| {
            let (mut compared, mut count) = ([0; 16], [0; 4]);
            compared.copy_from_slice(&part[..16]);
            count.copy_from_slice(&part[16..]);
            (Account(compared), u32::from_be_bytes(count))
        });
        let mut counts: Counts = counts.collect();
        // An earlier version did not tell what was compared.
        match <[u8; 4]>::try_from(rest) {
            Ok(count) => counts.push((Account::default(), u32::from_be_bytes(count))),
            Err(_) if !rest.is_empty() => return false,
            Err(_) => {}
        }
        self.set(Account(account), counts);
        true
    }
}
