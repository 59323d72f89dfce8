//! The keys that the service has ready, its own and those of tokens, and who may use them.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::ops::Bound;
use std::path::Path;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Release},
};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use outboard_engine::scalar::pair::Pair;
use outboard_vault::{self as vault, Name, Vault};
use outboard_wire::{self as wire, KeyId, Page, Reference, Status};

use crate::gate::lock;
use crate::peer::Peer;
use crate::usage::Usage;
use crate::work::{self, Native};

/// The keys of a vault.
pub(crate) struct Keys {
    pub(crate) vault: Vault,
    /// What the lines to type end with, if this is not the system's service.
    pub(crate) option: String,
    /// Those that were used, unwrapped.
    ready: RwLock<HashMap<KeyId, Arc<Key>>>,
    /// How each was used since the service started.
    usage: Mutex<BTreeMap<KeyId, Arc<Usage>>>,
    changes: AtomicU64,
    /// How often anything was forgotten: what is read meanwhile is not kept.
    forgotten: AtomicU64,
    /// The number of changes at which a client's generation begins: another one in each service, so that a client never
    /// takes what it learnt of one for what another says.
    first_generation: u64,
    /// All keys by name, as they were after so many changes: to read a record is to unwrap it.
    listed: Mutex<Option<(u64, Arc<[vault::Record]>)>>,
}

/// A key that is ready.
pub(crate) struct Key {
    /// Its own, or its token's.
    record: vault::Record,
    /// What tells the tickets of its token's user; none where it is the service's own.
    opener: Option<vault::Opener>,
    native: Native,
    usage: Arc<Usage>,
    allowance: Mutex<Allowance>,
}

/// Why a request is not admitted.
pub(crate) struct Refusal {
    /// The key, if it is there.
    pub(crate) key: Option<Arc<Key>>,
    pub(crate) status: Status,
    pub(crate) sentence: String,
}

/// How many operations a key with a rate may still do: at most those of one second at once.
struct Allowance {
    left: f64,
    since: Instant,
}

impl From<vault::Error> for Refusal {
    fn from(error: vault::Error) -> Self {
        let status = match error {
            vault::Error::NoKey { .. } => Status::NoKey,
            vault::Error::Locked { .. } | vault::Error::Empty => Status::Unavailable,
            _ => Status::Failed,
        };
        Self::without_key(status, error.to_string())
    }
}

impl Refusal {
    pub(crate) fn without_key(status: Status, sentence: String) -> Self {
        Self {
            key: None,
            status,
            sentence,
        }
    }
}

impl Keys {
    /// The keys of that vault, for a service in that directory.
    pub(crate) fn new(vault: Vault, directory: &Path) -> Self {
        Self {
            vault,
            option: wire::directory_option(directory),
            ready: RwLock::default(),
            usage: Mutex::default(),
            changes: AtomicU64::new(0),
            forgotten: AtomicU64::new(0),
            first_generation: RandomState::new().hash_one(0),
            listed: Mutex::default(),
        }
    }

    /// The key, where the client may do that with it.
    pub(crate) fn admit(
        &self,
        peer: &Peer,
        id: KeyId,
        ticket: Option<wire::Ticket<'_>>,
        operation: &wire::Operation<'_>,
    ) -> Result<Arc<Key>, Refusal> {
        let key = self.ready(id)?;
        match key.allows(peer, ticket, operation, &self.option) {
            Ok(()) => Ok(key),
            Err((status, sentence)) => Err(Refusal {
                key: Some(key),
                status,
                sentence,
            }),
        }
    }

    /// The reference to the key of that name, in DER, where the client may know of it.
    pub(crate) fn find(&self, peer: &Peer, name: &str) -> Result<Vec<u8>, Refusal> {
        let look = || {
            let name: Name = name.parse()?;
            // Not `record`: without the master key, that would be what anybody wrote into the file.
            let found = self.vault.unwrap(&name).map(|key| key.record);
            visible(peer, &name, found).and_then(is_key)
        };
        let record = look().map_err(|error| match error {
            vault::Error::NoKey { .. } if !peer.is_administrator() => {
                let (uid, option) = (peer.uid, &self.option);
                Refusal::without_key(
                    Status::NoKey,
                    format!(
                        "there is no key of that name, or uid {uid} may not use it (run 'outboard keys list{option}' as \
                         root, then 'outboard keys grant {name} --user {uid}{option}')"
                    ),
                )
            }
            error => error.into(),
        })?;
        let reference = Reference {
            id: record.id,
            name: name.to_owned(),
            public: record.public,
        };
        let der = reference.to_der();
        der.map_err(|damaged| Refusal::without_key(Status::Failed, damaged.to_string()))
    }

    /// A page of the keys that a client may use (see [`Page`]).
    pub(crate) fn list(&self, peer: &Peer, known: u64, after: &str) -> Result<Vec<u8>, Refusal> {
        // Before the keys are read: a change while they are read makes the client ask again.
        let changes = self.changes();
        let generation = self.first_generation.wrapping_add(changes).max(1);
        let mut page = Page::begin(generation);
        if known == generation {
            return Ok(page);
        }
        let records = self.records(changes)?;
        let first = records.partition_point(|record| record.name.as_str() <= after);
        let is_usable = |record: &&vault::Record| record.grants.may_use(peer.uid, &peer.gids);
        for record in records[first..].iter().filter(is_usable) {
            let reference = Reference {
                id: record.id,
                name: record.name.to_string(),
                public: record.public.clone(),
            };
            // One that is damaged is left out: an administrator's listing names it.
            let reference = reference.to_der().ok();
            if reference
                .is_some_and(|reference| !Page::add(&mut page, &reference, &record.certificates))
            {
                break;
            }
        }
        Ok(page)
    }

    /// All keys by name, after so many changes.
    fn records(&self, changes: u64) -> Result<Arc<[vault::Record]>, Refusal> {
        let mut listed = lock(&self.listed);
        if let Some((at, records)) = &*listed
            && *at == changes
        {
            return Ok(Arc::clone(records));
        }
        if self.vault.status().condition != vault::Condition::Open {
            // Until then nobody can say whether the grants are those that were given.
            return Err(Refusal::without_key(Status::Unavailable, String::new()));
        }
        let mut records = self.vault.records()?.records;
        records.sort_by(|one, other| one.name.as_str().cmp(other.name.as_str()));
        let records = Arc::from(records);
        *listed = Some((changes, Arc::clone(&records)));
        Ok(records)
    }

    /// Forgets what is ready of a key, because it is new, or its attributes have changed.
    pub(crate) fn forget(&self, id: KeyId) {
        let mut ready = self.ready.write().unwrap_or_else(PoisonError::into_inner);
        ready.remove(&id);
        self.forgotten.fetch_add(1, Release);
        self.changes.fetch_add(1, Release);
    }

    /// Forgets what is ready of a token: its PIN, its grants or its objects have changed.
    pub(crate) fn forget_token(&self, token: KeyId) {
        let mut ready = self.ready.write().unwrap_or_else(PoisonError::into_inner);
        ready.retain(|_, key| key.id() != token);
        self.forgotten.fetch_add(1, Release);
    }

    /// Forgets a key that is deleted.
    pub(crate) fn deleted(&self, id: KeyId) {
        self.forget(id);
        lock(&self.usage).remove(&id);
    }

    /// Forgets a token that is deleted.
    pub(crate) fn deleted_token(&self, token: KeyId) {
        self.forget_token(token);
        lock(&self.usage).remove(&token);
    }

    /// How many changes of keys there were: what is known of the keys is true as long as it stays the same.
    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Acquire)
    }

    /// How often a key was used since the service started.
    pub(crate) fn used(&self, id: KeyId) -> u64 {
        let usage = lock(&self.usage);
        usage.get(&id).map_or(0, |usage| usage.done())
    }

    /// How keys were used whose ids come after that one, at most so many, in order.
    pub(crate) fn usage_after(
        &self,
        after: Option<KeyId>,
        most: usize,
    ) -> Vec<(KeyId, Arc<Usage>)> {
        let after = after.map_or(Bound::Unbounded, Bound::Excluded);
        let usage = lock(&self.usage);
        let used = usage
            .range((after, Bound::Unbounded))
            .filter(|(_, usage)| usage.is_any());
        let page = used.take(most);
        page.map(|(id, usage)| (*id, Arc::clone(usage))).collect()
    }

    /// Whether a request needs nothing of the store, which may keep it waiting.
    pub(crate) fn is_at_hand(&self, request: &wire::Request<'_>) -> bool {
        use wire::Operation::{Find, List, Verb};
        match request.operation {
            Find { .. } | List { .. } | Verb { .. } => false,
            _ => self.at_hand(request.key).is_some(),
        }
    }

    fn at_hand(&self, id: KeyId) -> Option<Arc<Key>> {
        let ready = self.ready.read().unwrap_or_else(PoisonError::into_inner);
        ready.get(&id).cloned()
    }

    fn ready(&self, id: KeyId) -> Result<Arc<Key>, Refusal> {
        if let Some(key) = self.at_hand(id) {
            return Ok(key);
        }
        // Without the lock: whoever asks for keys that are not there must not keep others waiting.
        let forgotten = self.forgotten.load(Acquire);
        let key = self.unwrap(id)?;
        let mut ready = self.ready.write().unwrap_or_else(PoisonError::into_inner);
        // What was read before a change is true for this request, which came before it, and for no other.
        if self.forgotten.load(Acquire) == forgotten {
            ready.insert(id, Arc::clone(&key));
        }
        Ok(key)
    }

    fn unwrap(&self, id: KeyId) -> Result<Arc<Key>, vault::Error> {
        let (record, private, opener) = match self.vault.unwrap(id) {
            Ok(key) => (is_key(key.record)?, key.private, None),
            Err(error @ vault::Error::NoKey { .. }) => {
                let (token, object) = self.vault.find_object(id)?;
                let Some(key) = object.content.key else {
                    return Err(error);
                };
                // Without a PIN nobody has a ticket.
                let opener = token.opener(vault::Role::User).ok_or(error)?;
                (token.record, key.private, Some(opener))
            }
            Err(error) => return Err(error),
        };
        let pair = Pair::from_info(&private).map_err(|_| vault::Error::DamagedKey {
            key: record.name.to_string(),
            reason: "its private half is no key that the service can compute with",
        })?;
        let usage = Arc::clone(lock(&self.usage).entry(record.id).or_default());
        Ok(Arc::new(Key {
            record,
            opener,
            native: pair.into(),
            usage,
            allowance: Mutex::new(Allowance {
                left: 0.0,
                since: Instant::now(),
            }),
        }))
    }
}

impl Key {
    pub(crate) fn id(&self) -> KeyId {
        self.record.id
    }

    pub(crate) fn name(&self) -> &str {
        self.record.name.as_str()
    }

    /// What it is called in a sentence: a token's keys have no names of their own.
    pub(crate) fn described(&self) -> String {
        match self.opener {
            None => format!("key '{}'", self.record.name),
            Some(_) => format!("token '{}'", self.record.name),
        }
    }

    pub(crate) fn native(&self) -> &Native {
        &self.native
    }

    pub(crate) fn usage(&self) -> &Usage {
        &self.usage
    }

    /// Whether the client may do that with it; if not, why.
    fn allows(
        &self,
        peer: &Peer,
        ticket: Option<wire::Ticket<'_>>,
        operation: &wire::Operation<'_>,
        option: &str,
    ) -> Result<(), (Status, String)> {
        let name = &self.record.name;
        if !self.record.grants.may_use(peer.uid, &peer.gids) {
            let uid = peer.uid;
            let command = match self.opener {
                None => "keys",
                Some(_) => "token",
            };
            return Err((
                Status::Denied,
                format!(
                    "permission denied for uid {uid} (run 'outboard {command} grant {name} --user {uid}{option}')"
                ),
            ));
        }
        if let Some(opener) = &self.opener
            && !ticket.is_some_and(|ticket| opener.opens(peer.uid, ticket.0))
        {
            let sentence =
                "the program is not logged in, or the token's PIN was changed since (log in again)";
            return Err((Status::LoggedOut, sentence.to_owned()));
        }
        if let wire::Operation::Describe = operation {
            return Ok(());
        }
        for request in work::policy_requests(operation) {
            if let Err(refusal) = self.record.policy.allows(&request, now()) {
                let sentence = format!("{refusal} (see 'outboard keys show {name}{option}')");
                return Err((Status::NotAllowed, sentence));
            }
        }
        if !self.may_go_on() {
            let rate = self.record.policy.rate.unwrap_or_default();
            let sentence = format!("the key's policy allows {rate} operations a second");
            return Err((Status::Busy, sentence));
        }
        Ok(())
    }

    /// Whether its rate allows one more operation now.
    fn may_go_on(&self) -> bool {
        let Some(rate) = self.record.policy.rate else {
            return true;
        };
        lock(&self.allowance).take(rate.into(), Instant::now())
    }
}

impl Allowance {
    fn take(&mut self, rate: f64, now: Instant) -> bool {
        let gained = now.saturating_duration_since(self.since).as_secs_f64() * rate;
        self.left = (self.left + gained).min(rate);
        self.since = now;
        let is_left = self.left >= 1.0;
        if is_left {
            self.left -= 1.0;
        }
        is_left
    }
}

/// What a peer learns of the key that was looked for: whoever may not know of a key learns nothing of it, not even that
/// it is damaged.
pub(crate) fn visible(
    peer: &Peer,
    name: &Name,
    found: Result<vault::Record, vault::Error>,
) -> Result<vault::Record, vault::Error> {
    match found {
        Ok(record) if sees(peer, &record) => Ok(record),
        Err(error) if peer.is_administrator() => Err(error),
        Ok(_) | Err(vault::Error::DamagedKey { .. }) => Err(vault::Error::NoKey {
            key: name.to_string(),
        }),
        Err(error) => Err(error),
    }
}

/// The key itself. A token is none to whoever asks for keys.
pub(crate) fn is_key(record: vault::Record) -> Result<vault::Record, vault::Error> {
    match record.key_type() {
        Some(_) => Ok(record),
        None => Err(vault::Error::NoKey {
            key: record.name.to_string(),
        }),
    }
}

/// Whether a peer may know of a key: who uses it, administers it, or has to agree to its export.
pub(crate) fn sees(peer: &Peer, record: &vault::Record) -> bool {
    let approvals = &record.policy.approvals;
    let agrees = approvals
        .as_ref()
        .is_some_and(|approvals| approvals.administrators.contains(&peer.uid));
    agrees || administrates(peer, record) || record.grants.may_use(peer.uid, &peer.gids)
}

/// Whether a peer administers a key.
pub(crate) fn administrates(peer: &Peer, record: &vault::Record) -> bool {
    peer.is_administrator() || record.grants.may_administer(peer.uid, &peer.gids)
}

/// Seconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_rate_is_kept() {
        let start = Instant::now();
        let mut allowance = Allowance {
            left: 0.0,
            since: start,
        };
        let taken = (0..3_000_u64)
            .filter(|&ms| allowance.take(10.0, start + Duration::from_millis(ms)))
            .count();
        assert!((28..=31).contains(&taken), "{taken}");
        // A long pause saves up no more than a second.
        let later = start + Duration::from_secs(3600);
        let burst = (0..100).filter(|_| allowance.take(10.0, later)).count();
        assert_eq!(burst, 10);
    }
}
