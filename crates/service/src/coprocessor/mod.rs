//! The CCA coprocessor: the verbs of `outboard-cca`, for callers that have a grant, with their state in the vault.
//!
//! It is off until an administrator makes it. The verbs run in a process of their own ([`crate::verbs`]), which knows no other key of the
//! service and can do nothing but compute and answer.
//!
//! ```text
//! mod.rs     who may call, on and off    keeper.rs  starts the process, hands connections over, stores
//! pair.rs    what both tell each other   running.rs the process    board.rs  what both see
//! ```

pub(crate) mod board;
mod keeper;
pub(crate) mod pair;
mod running;

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, PoisonError, RwLock};

use outboard_administration::{CoprocessorInfo, VerbUsage};
use outboard_cca::{Caller, Request};
use outboard_vault as vault;
use outboard_wire::Status;

use crate::administration::of_message;
use crate::gate::{Connection, Gate};
use crate::keys::{Keys, Refusal, administrates};
use crate::peer::Peer;
use board::Board;
use keeper::{Command, Desk, Keeper};

/// The entry that says whether the coprocessor is on. To the verbs it is one of a later version, and not theirs to change.
const SWITCH: &str = "service/on";

/// The coprocessor of a service.
pub(crate) struct Coprocessor {
    keys: Arc<Keys>,
    known: RwLock<Option<Known>>,
    board: &'static Board,
    board_file: OwnedFd,
    desk: Arc<Desk>,
}

/// What is known of it since it was first asked for.
#[derive(Clone)]
struct Known {
    row: Arc<vault::Coprocessor>,
    is_on: bool,
}

/// How a peer may call verbs, if it may.
fn caller(peer: &Peer, row: &vault::Coprocessor) -> Option<Caller> {
    let administrator = administrates(peer, &row.record);
    (administrator || row.record.grants.may_use(peer.uid, &peer.gids)).then_some(Caller {
        administrator,
        user: peer.uid,
    })
}

impl Coprocessor {
    pub(crate) fn new(keys: Arc<Keys>) -> io::Result<Self> {
        let (board, board_file) = Board::make()?;
        Ok(Self {
            keys,
            known: RwLock::default(),
            board,
            board_file,
            desk: Arc::new(Desk::new()?),
        })
    }

    /// Keeps the process of the verbs, for a service in that directory, until [`Coprocessor::end`]. That process ends with this thread.
    pub(crate) fn keep(&self, gate: Arc<Gate>, directory: &Path) -> io::Result<()> {
        let keeper = Keeper::new(gate, Arc::clone(&self.keys), self, directory)?;
        keeper.keep();
        Ok(())
    }

    /// Ends the process of the verbs, once what is under way there is answered.
    pub(crate) fn end(&self) {
        self.desk.say(Command::End);
    }

    /// Hands a connection over whose next packet asks for a verb, if the peer may call verbs.
    pub(crate) fn hand_over(&self, connection: &Arc<Connection>) -> Result<(), Refusal> {
        let option = &self.keys.option;
        let refuse = |status, sentence| Err(Refusal::without_key(status, sentence));
        self.know()?;
        // As long as this is locked, nobody switches the coprocessor off or takes a grant back: what is said now comes before that.
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let known = match &*known {
            Some(known) if known.is_on => known,
            _ => {
                return refuse(
                    Status::NotAllowed,
                    format!(
                        "the coprocessor is off (as root or the service's own user, run 'outboard cca enable{option}')"
                    ),
                );
            }
        };
        let peer = &connection.peer;
        let Some(caller) = caller(peer, &known.row) else {
            let uid = peer.uid;
            return refuse(
                Status::Denied,
                format!(
                    "permission denied for uid {uid} (as root or the service's own user, run 'outboard cca grant --user {uid}{option}')"
                ),
            );
        };
        self.desk.say(Command::Serve {
            connection: Arc::clone(connection),
            caller,
            row: Arc::clone(&known.row),
        });
        Ok(())
    }

    /// How many verbs were carried out, and how many requests were none of a verb's.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.board.carried_out(), self.board.malformed.load(Relaxed))
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

    /// Switches it off, with its state. No verb is begun any more.
    pub(crate) fn disable(&self, actor: u32) -> Result<(), vault::Error> {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(row) = self.keys.vault.coprocessor()? {
            self.switch(actor, &row, false)?;
        }
        if let Some(known) = &mut *known {
            known.is_on = false;
        }
        let stopped = self.desk.ask(Command::Stop);
        drop(known);
        stopped.wait();
        Ok(())
    }

    /// Destroys it and its state.
    pub(crate) fn destroy(&self, actor: u32) -> Result<(), vault::Error> {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(row) = self.keys.vault.coprocessor()? {
            self.keys.vault.delete(actor, row.record.id)?;
        }
        *known = None;
        let stopped = self.desk.ask(Command::Stop);
        drop(known);
        stopped.wait();
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
        let mut known_by_all = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let row = vault.coprocessor()?.ok_or_else(|| vault::Error::NoKey {
            key: "coprocessor".into(),
        })?;
        let mut grants = row.record.grants.clone();
        match given {
            true => grants.grant(subject, right),
            false => grants.revoke(subject, right),
        };
        vault.set_grants(actor, row.record.id, &grants)?;
        if let (Some(known), Some(row)) = (&mut *known_by_all, vault.coprocessor()?) {
            known.row = Arc::new(row);
            let row = Arc::clone(&known.row);
            let reviewed = self.desk.ask(|done| Command::Review { row, done });
            drop(known_by_all);
            // Whoever lost the grant begins no further verb now.
            reviewed.wait();
        }
        Ok(())
    }

    /// How it does, as far as the peer may know.
    pub(crate) fn info(&self, peer: &Peer) -> Result<CoprocessorInfo, vault::Error> {
        let Some(row) = self.keys.vault.coprocessor()? else {
            return Ok(CoprocessorInfo::default());
        };
        let caller = caller(peer, &row);
        let may_administer = caller.is_some_and(|caller| caller.administrator);
        let may_call = caller.is_some();
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let enabled = match &*known {
            Some(known) => known.is_on,
            None => self.is_on(&row)?,
        };
        let records = self.board.records();
        let verbs = Request::VERBS.iter().enumerate().map(|(number, verb)| {
            let counts = self.board.verb(number);
            VerbUsage {
                verb: verb.name.to_owned(),
                done: counts.done.load(Relaxed),
                unverified: counts.unverified.load(Relaxed),
                refused: counts.refused.load(Relaxed),
            }
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

    /// Reads the first time from the vault whether there is one, and who may call it.
    fn know(&self) -> Result<(), Refusal> {
        let read = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if read.is_some() {
            return Ok(());
        }
        drop(read);
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.is_none()
            && let Some(row) = self.keys.vault.coprocessor()?
        {
            let is_on = self.is_on(&row)?;
            let row = Arc::new(row);
            *known = Some(Known { row, is_on });
        }
        Ok(())
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
