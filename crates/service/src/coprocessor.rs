//! The CCA coprocessor: the verbs of `outboard-cca`, for callers that have a grant, with their state in the vault.
//!
//! It is off until an administrator makes it. A verb that may take long runs on a thread of its own, of which there are few: the
//! workers serve other requests meanwhile.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use outboard_administration::{CoprocessorInfo, VerbUsage};
use outboard_cca::{self as cca, Answer, Caller, Request, StorageError};
use outboard_vault as vault;
use outboard_wire::{MOST_MESSAGE, Status};

use crate::administration::of_message;
use crate::gate::lock;
use crate::keys::{Keys, Refusal, administrates};
use crate::peer::Peer;

/// How many verbs that take long run at a time, and how many of them for one user.
const MOST_LONG: usize = 8;
const MOST_LONG_OF_USER: usize = 2;
/// The entry that says whether the coprocessor is on. To the verbs it is one of a later version.
const SWITCH: &str = "service/on";

/// The coprocessor of a service.
pub(crate) struct Coprocessor {
    keys: Arc<Keys>,
    known: RwLock<Option<Known>>,
    /// One for each verb.
    counts: Vec<Counts>,
    /// How many verbs that take long each user has under way.
    long: Mutex<HashMap<u32, usize>>,
}

/// What is known of it since it was first asked for.
#[derive(Clone)]
struct Known {
    row: Arc<vault::Coprocessor>,
    is_on: bool,
    verbs: Arc<cca::Coprocessor>,
}

/// A verb that its caller may call.
pub(crate) struct Call {
    verbs: Arc<cca::Coprocessor>,
    caller: Caller,
    request: Request,
}

/// Room for one verb that takes long.
pub(crate) struct Permit {
    of: Arc<Coprocessor>,
    uid: u32,
}

#[derive(Default)]
struct Counts {
    done: AtomicU64,
    unverified: AtomicU64,
    refused: AtomicU64,
}

/// The state of the verbs, in the vault.
struct State {
    keys: Arc<Keys>,
    row: Arc<vault::Coprocessor>,
}

impl cca::Storage for State {
    fn load(&self) -> Result<Vec<cca::Entry>, StorageError> {
        self.keys.vault.state_entries(&self.row).map_err(failed)
    }

    fn change(&self, put: &[cca::Entry], remove: &[String]) -> Result<(), StorageError> {
        let changed = self.keys.vault.change_state_entries(&self.row, put, remove);
        changed.map_err(|error| {
            tracing::warn!("the coprocessor cannot write its state: {error}");
            failed(error)
        })
    }
}

fn failed(error: vault::Error) -> StorageError {
    StorageError(error.to_string())
}

impl Coprocessor {
    pub(crate) fn new(keys: Arc<Keys>) -> Self {
        Self {
            keys,
            known: RwLock::default(),
            counts: Request::VERBS.iter().map(|_| Counts::default()).collect(),
            long: Mutex::default(),
        }
    }

    /// The verb that those bytes ask for, if the peer may call it.
    pub(crate) fn admit(&self, peer: &Peer, request: &[u8]) -> Result<Call, Refusal> {
        let option = &self.keys.option;
        let refuse = |status, sentence| Err(Refusal::without_key(status, sentence));
        let known = match self.known()? {
            Some(known) if known.is_on => known,
            _ => {
                return refuse(
                    Status::NotAllowed,
                    format!("the coprocessor is off (as root, run 'outboard cca enable{option}')"),
                );
            }
        };
        let (administrator, uid) = (administrates(peer, &known.row.record), peer.uid);
        if !administrator && !known.row.record.grants.may_use(uid, &peer.gids) {
            return refuse(
                Status::Denied,
                format!(
                    "permission denied for uid {uid} (as root, run 'outboard cca grant --user {uid}{option}')"
                ),
            );
        }
        match Request::decode(request) {
            Ok(request) => Ok(Call {
                verbs: known.verbs,
                caller: Caller {
                    administrator,
                    user: uid,
                },
                request,
            }),
            Err(malformed) => refuse(Status::Malformed, malformed.to_string()),
        }
    }

    /// Carries out a verb. The answer always fits a packet.
    pub(crate) fn run(&self, call: &Call) -> cca::Bytes {
        let answer = call.verbs.dispatch(call.caller, &call.request);
        let counts = &self.counts[call.request.verb()];
        let count = match answer.return_code {
            0 => &counts.done,
            4 => &counts.unverified,
            _ => &counts.refused,
        };
        count.fetch_add(1, Relaxed);
        match answer.encode() {
            Ok(bytes) if bytes.len() <= MOST_MESSAGE => bytes,
            _ => TOO_LONG.encode().unwrap_or_default(),
        }
    }

    /// Room for a verb of that user that takes long; none if there is no more.
    pub(crate) fn permit(self: &Arc<Self>, uid: u32) -> Option<Permit> {
        let mut long = lock(&self.long);
        let has_room = long.values().sum::<usize>() < MOST_LONG
            && long
                .get(&uid)
                .is_none_or(|&count| count < MOST_LONG_OF_USER);
        if !has_room {
            return None;
        }
        *long.entry(uid).or_default() += 1;
        Some(Permit {
            of: Arc::clone(self),
            uid,
        })
    }

    /// Switches it on; makes it if there is none.
    pub(crate) fn enable(&self, actor: u32) -> Result<(), vault::Error> {
        let vault = &self.keys.vault;
        // What another administrator does at the same time comes before or after.
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let row = match vault.coprocessor()? {
            Some(row) => row,
            None => vault.create_coprocessor(actor)?,
        };
        self.switch(actor, &row, true)?;
        if let Some(known) = &mut *known {
            known.is_on = true;
        }
        Ok(())
    }

    /// Switches it off, with its state.
    pub(crate) fn disable(&self, actor: u32) -> Result<(), vault::Error> {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(row) = self.keys.vault.coprocessor()? {
            self.switch(actor, &row, false)?;
        }
        if let Some(known) = &mut *known {
            known.is_on = false;
        }
        Ok(())
    }

    /// Destroys it and its state.
    pub(crate) fn destroy(&self, actor: u32) -> Result<(), vault::Error> {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(row) = self.keys.vault.coprocessor()? {
            self.keys.vault.delete(actor, row.record.id)?;
        }
        *known = None;
        Ok(())
    }

    /// Gives or takes a grant.
    pub(crate) fn grant(
        &self,
        actor: u32,
        (subject, right): (vault::Subject, vault::Right),
        given: bool,
    ) -> Result<(), vault::Error> {
        let vault = &self.keys.vault;
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let row = vault.coprocessor()?.ok_or_else(|| vault::Error::NoKey {
            key: "coprocessor".into(),
        })?;
        let mut grants = row.record.grants.clone();
        match given {
            true => grants.grant(subject, right),
            false => grants.revoke(subject, right),
        };
        vault.set_grants(actor, row.record.id, &grants)?;
        if let (Some(known), Some(row)) = (&mut *known, vault.coprocessor()?) {
            known.row = Arc::new(row);
        }
        Ok(())
    }

    /// How it does, as far as the peer may know.
    pub(crate) fn info(&self, peer: &Peer) -> Result<CoprocessorInfo, vault::Error> {
        let Some(row) = self.keys.vault.coprocessor()? else {
            return Ok(CoprocessorInfo::default());
        };
        let may_administer = administrates(peer, &row.record);
        let may_call = may_administer || row.record.grants.may_use(peer.uid, &peer.gids);
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let enabled = match &*known {
            Some(known) => known.is_on,
            None => self.is_on(&row)?,
        };
        let records = known.as_ref().map(|known| known.verbs.records() as u64);
        let verbs = Request::VERBS.iter().zip(&self.counts);
        let verbs = verbs.map(|(verb, counts)| VerbUsage {
            verb: verb.name.to_owned(),
            done: counts.done.load(Relaxed),
            unverified: counts.unverified.load(Relaxed),
            refused: counts.refused.load(Relaxed),
        });
        let was_called = |verb: &VerbUsage| verb.done + verb.unverified + verb.refused > 0;
        let grants = row.record.grants.iter().map(of_message);
        Ok(CoprocessorInfo {
            made: true,
            enabled,
            may_call,
            may_administer,
            grants: grants.filter(|_| may_administer).collect(),
            records: records.filter(|_| may_administer),
            verbs: verbs
                .filter(|verb| may_administer && was_called(verb))
                .collect(),
        })
    }

    /// What is known, read from the vault the first time; none where it was not made.
    fn known(&self) -> Result<Option<Known>, Refusal> {
        let read = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if read.is_some() {
            return Ok(read.clone());
        }
        drop(read);
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.is_none()
            && let Some(row) = self.keys.vault.coprocessor()?
        {
            let is_on = self.is_on(&row)?;
            let row = Arc::new(row);
            let state = State {
                keys: Arc::clone(&self.keys),
                row: Arc::clone(&row),
            };
            let verbs = cca::Coprocessor::new(Box::new(state))
                .map_err(|error| Refusal::without_key(Status::Failed, error.to_string()))?;
            *known = Some(Known {
                row,
                is_on,
                verbs: Arc::new(verbs),
            });
        }
        Ok(known.clone())
    }

    fn is_on(&self, row: &vault::Coprocessor) -> Result<bool, vault::Error> {
        let entries = self.keys.vault.state_entries(row)?;
        Ok(entries.iter().any(|(name, _)| name == SWITCH))
    }

    fn switch(&self, actor: u32, row: &vault::Coprocessor, on: bool) -> Result<(), vault::Error> {
        let vault = &self.keys.vault;
        let state = if on { "on" } else { "off" };
        vault.note_coprocessor(actor, row, &format!("the coprocessor is {state}"))?;
        match on {
            true => {
                let entry = (SWITCH.to_owned(), vec![1].into());
                vault.change_state_entries(row, &[entry], &[])?;
            }
            false => vault.change_state_entries(row, &[], &[SWITCH.to_owned()])?,
        }
        tracing::info!("uid {actor} switched the coprocessor {state}");
        Ok(())
    }
}

/// In the place of an answer that fits no packet: the labels of a list, for example.
const TOO_LONG: Answer = Answer {
    return_code: 8,
    reason_code: 1106,
    reply: None,
};

impl Call {
    /// Whether it may take long.
    pub(crate) fn takes_long(&self) -> bool {
        self.request.description().takes_long()
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut long = lock(&self.of.long);
        if let Some(count) = long.get_mut(&self.uid) {
            *count -= 1;
            if *count == 0 {
                long.remove(&self.uid);
            }
        }
    }
}
