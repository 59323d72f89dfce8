//! How a key was used since the service started: by which users, for what, and by which processes.
//!
//! However many users and processes ask, a key's account is small: the rows that were used last are told apart, and the
//! others are added up. A row of refusals alone displaces no row of operations, so nobody without a grant can blur it.

use std::sync::Mutex;

use outboard_administration::{ProcessUsage, Used, UserUsage};
use outboard_wire::{Encryption, Operation};

use crate::gate::lock;
use crate::keys;
use crate::peer::Peer;

/// How many users and operations of a key are told apart.
const USERS: usize = 32;
/// How many processes.
const PROCESSES: usize = 16;

/// What a private half is used for, in the words of policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    SignPkcs1,
    SignPss,
    Sign,
    DecryptPkcs1,
    DecryptOaep,
    Derive,
}

/// A process's command, as the kernel keeps it: at most 15 bytes; none where /proc does not show it.
pub(crate) type Command = Option<Vec<u8>>;

/// How a key was used.
#[derive(Default)]
pub(crate) struct Usage(Mutex<Account>);

#[derive(Default)]
struct Account {
    users: Rows<(u32, Purpose), USERS>,
    processes: Rows<Process, PROCESSES>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Process {
    pid: u32,
    uid: u32,
    command: Command,
}

/// Rows, the one that was used first in the front, and the sum of those that had to go.
struct Rows<K, const MOST: usize> {
    rows: Vec<(K, Used)>,
    others: Used,
}

/// Whose use somebody may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    /// Everybody's.
    All,
    /// That user's own.
    Of(u32),
}

impl Purpose {
    /// What an operation is; none for what needs no private half.
    pub(crate) fn of(operation: &Operation<'_>) -> Option<Self> {
        match operation {
            Operation::Describe
            | Operation::Find { .. }
            | Operation::List { .. }
            | Operation::Verb { .. } => None,
            Operation::Pkcs1 { .. } => Some(Self::SignPkcs1),
            Operation::Pss { .. } => Some(Self::SignPss),
            Operation::Ecdsa { .. } | Operation::Ed25519 { .. } => Some(Self::Sign),
            Operation::Ecdh { .. } => Some(Self::Derive),
            Operation::Decrypt { encryption, .. } => Some(match encryption {
                Encryption::Pkcs1 | Encryption::Premaster { .. } => Self::DecryptPkcs1,
                Encryption::Oaep { .. } => Self::DecryptOaep,
            }),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::SignPkcs1 => "sign-pkcs1",
            Self::SignPss => "sign-pss",
            Self::Sign => "sign",
            Self::DecryptPkcs1 => "decrypt-pkcs1",
            Self::DecryptOaep => "decrypt-oaep",
            Self::Derive => "derive",
        }
    }
}

impl Usage {
    /// Counts a request: one that was done, or refused.
    pub(crate) fn count(&self, peer: &Peer, command: &Command, purpose: Purpose, done: bool) {
        let used = Used {
            count: done.into(),
            refused: (!done).into(),
            last: keys::now(),
        };
        let process = Process {
            pid: peer.pid.unsigned_abs(),
            uid: peer.uid,
            command: command.clone(),
        };
        let mut account = lock(&self.0);
        account.users.add((peer.uid, purpose), used);
        account.processes.add(process, used);
    }

    /// Whether anybody asked for anything.
    pub(crate) fn is_any(&self) -> bool {
        !lock(&self.0).users.rows.is_empty()
    }

    /// How many operations were done.
    pub(crate) fn done(&self) -> u64 {
        let account = lock(&self.0);
        let rows = account.users.rows.iter().map(|(_, used)| used.count);
        rows.sum::<u64>() + account.users.others.count
    }

    /// By user and operation; the sum of the others last.
    pub(crate) fn users(&self, view: View) -> Vec<UserUsage> {
        let account = lock(&self.0);
        let rows = account.users.seen(|(uid, _)| *uid, view);
        rows.map(|(row, used)| UserUsage {
            uid: row.map(|(uid, _)| *uid),
            operation: row.map(|(_, purpose)| purpose.name().to_owned()),
            used,
        })
        .collect()
    }

    /// By process; the sum of the others last.
    pub(crate) fn processes(&self, view: View) -> Vec<ProcessUsage> {
        let account = lock(&self.0);
        let rows = account.processes.seen(|process| process.uid, view);
        rows.map(|(row, used)| ProcessUsage {
            pid: row.map(|process| process.pid),
            uid: row.map(|process| process.uid),
            command: row
                .and_then(|process| process.command.as_deref())
                .map(|command| String::from_utf8_lossy(command).into_owned()),
            used,
        })
        .collect()
    }
}

impl<K, const MOST: usize> Default for Rows<K, MOST> {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            others: Used::default(),
        }
    }
}

impl<K: PartialEq, const MOST: usize> Rows<K, MOST> {
    fn add(&mut self, key: K, used: Used) {
        if let Some((_, known)) = self.rows.iter_mut().find(|(known, _)| *known == key) {
            return sum(known, used);
        }
        if self.rows.len() == MOST {
            let rows = self.rows.iter().enumerate();
            let oldest = rows.min_by_key(|(_, (_, used))| (used.count > 0, used.last));
            match oldest {
                Some((index, (_, oldest))) if used.count > 0 || oldest.count == 0 => {
                    sum(&mut self.others, *oldest);
                    self.rows.remove(index);
                }
                _ => return sum(&mut self.others, used),
            }
        }
        self.rows.push((key, used));
    }

    /// The rows that may be seen; the sum of the others is for those who see all.
    fn seen(
        &self,
        uid: impl Fn(&K) -> u32,
        view: View,
    ) -> impl Iterator<Item = (Option<&K>, Used)> {
        let rows = self.rows.iter().filter(move |(key, _)| match view {
            View::All => true,
            View::Of(user) => uid(key) == user,
        });
        let others = (view == View::All && self.others != Used::default()).then_some(self.others);
        let rows = rows.map(|(key, used)| (Some(key), *used));
        rows.chain(others.map(|others| (None, others)))
    }
}

fn sum(to: &mut Used, more: Used) {
    to.count += more.count;
    to.refused += more.refused;
    to.last = to.last.max(more.last);
}

/// The command of a process.
pub(crate) fn command(pid: i32) -> Command {
    let mut command = std::fs::read(format!("/proc/{pid}/comm")).ok()?;
    if command.last() == Some(&b'\n') {
        command.pop();
    }
    command.truncate(15);
    Some(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(uid: u32, pid: i32) -> Peer {
        Peer {
            uid,
            gids: vec![uid],
            pid,
        }
    }

    #[test]
    fn an_account_is_bounded_and_loses_no_count() {
        let usage = Usage::default();
        for number in 0..100_000 {
            let peer = peer(number % 1_000, number as i32);
            usage.count(&peer, &None, Purpose::Sign, number % 2 == 0);
        }
        let (users, processes) = (usage.users(View::All), usage.processes(View::All));
        assert_eq!((users.len(), processes.len()), (USERS + 1, PROCESSES + 1));
        let all = |used: Vec<Used>| {
            let mut all = Used::default();
            used.into_iter().for_each(|used| sum(&mut all, used));
            (all.count, all.refused)
        };
        let users = users.into_iter().map(|row| row.used).collect();
        assert_eq!(all(users), (50_000, 50_000));
        let processes = processes.into_iter().map(|row| row.used).collect();
        assert_eq!(all(processes), (50_000, 50_000));
        assert_eq!(usage.done(), 50_000);
    }

    #[test]
    fn refusals_displace_no_operation() {
        let usage = Usage::default();
        usage.count(&peer(33, 7), &Some(b"nginx".into()), Purpose::Sign, true);
        for number in 0..1_000 {
            let hostile = peer(70_000 + number, 8 + number as i32);
            usage.count(&hostile, &None, Purpose::Derive, false);
        }
        let own = usage.users(View::Of(33));
        assert_eq!(own.len(), 1);
        assert_eq!(own[0].operation.as_deref(), Some("sign"));
        assert_eq!((own[0].used.count, own[0].used.refused), (1, 0));
        let own = usage.processes(View::Of(33));
        assert_eq!(own[0].command.as_deref(), Some("nginx"));
        assert_eq!((own.len(), own[0].pid), (1, Some(7)));
    }

    #[test]
    fn a_process_has_a_command() {
        let own = std::process::id().cast_signed();
        assert!(command(own).is_some_and(|command| (1..16).contains(&command.len())));
        assert_eq!(command(-1), None);
    }
}
