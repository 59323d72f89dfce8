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
/// How many counts there may be, and those of them that one user may have begun. Beyond that, further accounts are refused.
const MOST: usize = 1_000_000;
const MOST_OF_USER: usize = 100_000;

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

/// What stands before the user in a stored value.
const USER: u8 = 1;

/// The tries of an account, and the user who began them.
#[derive(Default)]
struct Tries {
    counts: Counts,
    /// None: an earlier version did not remember.
    user: Option<u32>,
}

/// The counts.
pub(crate) struct Failures {
    pub(crate) limit: u32,
    counts: HashMap<Account, Tries>,
    /// How many of them each user began.
    of_user: HashMap<u32, usize>,
    most_of_user: usize,
}

impl Default for Failures {
    fn default() -> Self {
        Self {
            limit: DEFAULT_LIMIT,
            counts: HashMap::new(),
            of_user: HashMap::new(),
            most_of_user: MOST_OF_USER,
        }
    }
}

impl Failures {
    /// Counts a try of a user: how many there were since the last right one, compared with the same, with this one. None if there may be
    /// no more.
    pub(crate) fn count(
        &mut self,
        account: Account,
        compared: Account,
        user: u32,
    ) -> Outcome<Option<u32>> {
        if !self.counts.contains_key(&account) {
            let of_user = self.of_user.entry(user).or_default();
            if self.counts.len() >= MOST || *of_user >= self.most_of_user {
                return Err(Refusal::Storage);
            }
            *of_user += 1;
            let user = Some(user);
            let counts = Counts::new();
            self.counts.insert(account, Tries { counts, user });
        }
        let limit = self.limit;
        let counts = &mut self.counts.entry(account).or_default().counts;
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
    fn of(&self, account: Account) -> &[(Account, u32)] {
        self.counts.get(&account).map_or(&[], |tries| &tries.counts)
    }

    /// Forgets the tries that were compared with that. Whether any others are left.
    pub(crate) fn forgive(&mut self, account: Account, compared: Account) -> bool {
        let left = self.of(account).iter();
        let left: Counts = left
            .filter(|(known, _)| *known != compared)
            .copied()
            .collect();
        let is_left = !left.is_empty();
        match self.counts.get_mut(&account) {
            Some(tries) if is_left => tries.counts = left,
            _ => self.remove(account),
        }
        is_left
    }

    /// What is stored of an account.
    pub(crate) fn value(&self, account: Account) -> Vec<u8> {
        let parts = self.of(account).iter();
        let parts =
            parts.flat_map(|(compared, count)| [&compared.0[..], &count.to_be_bytes()].concat());
        let mut value: Vec<u8> = parts.collect();
        if let Some(user) = self.counts.get(&account).and_then(|tries| tries.user) {
            value.push(USER);
            value.extend_from_slice(&user.to_be_bytes());
        }
        value
    }

    fn remove(&mut self, account: Account) {
        let removed = self.counts.remove(&account);
        if let Some(user) = removed.and_then(|tries| tries.user)
            && let Some(of_user) = self.of_user.get_mut(&user)
        {
            *of_user -= 1;
            if *of_user == 0 {
                self.of_user.remove(&user);
            }
        }
    }

    pub(crate) fn accounts(&self) -> impl Iterator<Item = &Account> {
        self.counts.keys()
    }

    pub(crate) fn forget(&mut self) {
        self.counts.clear();
        self.of_user.clear();
    }

    pub(crate) fn blocked(&self) -> usize {
        self.counts
            .values()
            .filter(|tries| sum(&tries.counts) >= self.limit)
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
        let user = match *rest {
            [] => None,
            // An earlier version did not tell what was compared.
            [a, b, c, d] => {
                counts.push((Account::default(), u32::from_be_bytes([a, b, c, d])));
                None
            }
            [USER, a, b, c, d] => Some(u32::from_be_bytes([a, b, c, d])),
            _ => return false,
        };
        if let Some(user) = user {
            *self.of_user.entry(user).or_default() += 1;
        }
        let tries = Tries { counts, user };
        self.counts.insert(Account(account), tries);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(number: u8) -> Account {
        Account([number; 16])
    }

    #[test]
    fn no_user_takes_the_room_of_others() {
        let mut failures = Failures {
            most_of_user: 2,
            ..Failures::default()
        };
        let compared = account(100);
        let mut count = |number, user| failures.count(account(number), compared, user);
        assert_eq!(count(1, 7), Ok(Some(1)));
        assert_eq!(count(2, 7), Ok(Some(1)));
        assert_eq!(count(3, 7), Err(Refusal::Storage));
        // What there is already goes on being counted, and others have room of their own.
        assert_eq!(count(1, 7), Ok(Some(2)));
        assert_eq!(count(3, 8), Ok(Some(1)));
        assert!(!failures.forgive(account(2), compared));
        assert_eq!(failures.count(account(4), compared, 7), Ok(Some(1)));
        assert_eq!(
            failures.count(account(5), compared, 7),
            Err(Refusal::Storage)
        );
    }

    #[test]
    fn the_user_is_there_again_after_a_restart() {
        let mut failures = Failures::default();
        for compared in [100, 101] {
            failures.count(account(1), account(compared), 7).unwrap();
        }
        let value = failures.value(account(1));
        let mut again = Failures {
            most_of_user: 1,
            ..Failures::default()
        };
        let name = account(1).entry();
        let name = name.strip_prefix("failures/").unwrap();
        assert!(again.load(name, &value));
        assert_eq!(again.value(account(1)), value);
        assert_eq!(again.of(account(1)), failures.of(account(1)));
        assert_eq!(
            again.count(account(2), account(100), 7),
            Err(Refusal::Storage)
        );
        // As earlier versions stored it: nobody's.
        assert!(again.load(&"02".repeat(16), &[0, 0, 0, 3]));
        assert!(again.load(&"03".repeat(16), &value[..40]));
        assert_eq!(again.count(account(3), account(200), 8), Ok(Some(1)));
        assert!(!again.load(&"04".repeat(16), &value[..41]));
    }
}
