//! Tokens of the card service: a slot each, from number 2 on.
//!
//! ```text
//! abi ──▶ Module ──▶ question ──▶ admin.sock     who logs in, what there is, what is made and changed
//!            │  └── objects: what is known of a token's objects, as objects of its slot
//!            └──▶ coprocessor ──▶ crypto.sock     private halves are used there, with the ticket of a login
//! ```
//!
//! A login belongs to the process and the token, as the standard says. What proves it is a ticket of the service, which outlives
//! the service's end, and which a forked child has, too. Nothing waits for the service under a lock.

mod login;
mod objects;
mod question;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use cryptoki_sys::*;
use outboard_administration::{Reply, Request, Role, Secret, TokenInfo};
use outboard_wire::Ticket;
use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::lock::{Held, lock};
use crate::mechanism;
use crate::module::Module;
use crate::slot::Slot;
use question::Patience;

/// The tokens that the process's user may use, as far as the process has asked.
pub(crate) struct Tokens(Mutex<Known>);

/// What is known of them.
#[derive(Default)]
struct Known {
    has_looked: bool,
    tokens: BTreeMap<CK_SLOT_ID, Token>,
}

/// What is known of a token.
struct Token {
    info: Arc<TokenInfo>,
    login: Option<Login>,
    objects: objects::Known,
}

/// What a login gave.
#[derive(Clone, PartialEq, Eq)]
struct Login {
    role: Role,
    ticket: Proof,
}

impl Login {
    /// Whether it is the user's, who alone sees private objects.
    fn is_user(&self) -> bool {
        self.role == Role::User
    }
}

/// The bytes of a ticket, in one place: a copy would leave them where it was.
pub(crate) type Proof = Arc<Zeroizing<[u8; Ticket::LENGTH]>>;

impl Tokens {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Known {
            has_looked: false,
            tokens: BTreeMap::new(),
        }))
    }

    fn hold(&self) -> Held<'_, Known> {
        lock(&self.0)
    }

    /// What `look` answers of the token of a slot.
    fn with<R>(&self, slot: Slot, look: impl FnOnce(&mut Token) -> R) -> Result<R> {
        let absent = Error::from(CKR_TOKEN_NOT_PRESENT);
        // The other slots are used by programs that pay for no token.
        if !slot.is_token() {
            return Err(absent);
        }
        let mut known = self.hold();
        let token = known.tokens.get_mut(&slot.id());
        token.map(look).ok_or(absent)
    }

    /// The slots of tokens.
    pub(crate) fn slots(&self) -> Vec<Slot> {
        self.hold()
            .tokens
            .keys()
            .copied()
            .map(Slot::Token)
            .collect()
    }

    /// The token of a slot.
    pub(crate) fn info(&self, slot: Slot) -> Result<Arc<TokenInfo>> {
        self.with(slot, |token| Arc::clone(&token.info))
    }

    /// As whom the program is logged in.
    pub(crate) fn role(&self, slot: Slot) -> Option<Role> {
        let login = |token: &mut Token| token.login.as_ref().map(|login| login.role);
        self.with(slot, login).ok().flatten()
    }

    /// The user's ticket, for a key of a slot; none for a slot without tickets.
    ///
    /// # Errors
    /// `CKR_USER_NOT_LOGGED_IN`
    pub(crate) fn ticket(&self, slot: Slot) -> Result<Option<Proof>> {
        if !slot.is_token() {
            return Ok(None);
        }
        match self.with(slot, |token| token.login.clone())? {
            Some(login) if login.is_user() => Ok(Some(login.ticket)),
            _ => Err(CKR_USER_NOT_LOGGED_IN.into()),
        }
    }

    /// Whether a slot's policy lets programs use a mechanism.
    pub(crate) fn allow(&self, slot: Slot, mechanism: CK_MECHANISM_TYPE) -> bool {
        let Ok(info) = self.info(slot) else {
            return true;
        };
        let allowed = info.policy.mechanisms.as_ref();
        allowed.is_none_or(|allowed| {
            let name = mechanism::name(mechanism);
            allowed.iter().any(|one| Some(one.as_str()) == name)
        })
    }

    /// Forgets all of them.
    pub(crate) fn forget(&self) {
        let gone = std::mem::take(&mut *self.hold());
        drop(gone);
    }
}

impl Module {
    /// The slots that are there; asks the service for tokens, where the program wants to know what is new.
    pub(crate) fn slots(&self, wants_new: bool) -> Vec<Slot> {
        let is_there = self.coprocessor.look();
        if is_there && (wants_new || !self.tokens.hold().has_looked) {
            // The slots of a service that does not answer are those of before.
            let _ = self.look_for_tokens(Patience::None);
        }
        let own = Slot::own(is_there).iter().copied();
        own.chain(self.tokens.slots()).collect()
    }

    /// The slot of that number. A program may know the number of a token's without having asked.
    pub(crate) fn slot(&self, id: CK_SLOT_ID) -> Result<Slot> {
        let known = || {
            let own = Slot::own(self.coprocessor.is_there());
            let own = own.iter().find(|slot| slot.id() == id).copied();
            let token = || Some(Slot::Token(id)).filter(|slot| self.tokens.info(*slot).is_ok());
            own.or_else(token)
        };
        let absent = Error::from(CKR_SLOT_ID_INVALID);
        let found = known();
        if found.is_some() || !self.coprocessor.look() {
            return found.ok_or(absent);
        }
        // The service may be there only now.
        if known().is_none() {
            self.look_for_tokens(Patience::Settings)?;
        }
        known().ok_or(absent)
    }

    /// Whether programs may use a mechanism in a slot.
    ///
    /// # Errors
    /// `CKR_MECHANISM_INVALID`
    pub(crate) fn admit(&self, slot: Slot, mechanism: CK_MECHANISM_TYPE) -> Result<()> {
        match self.tokens.allow(slot, mechanism) {
            true => Ok(()),
            false => Err(CKR_MECHANISM_INVALID.into()),
        }
    }

    /// What `C_GetSlotInfo` tells.
    pub(crate) fn slot_info(&self, slot: Slot) -> CK_SLOT_INFO {
        let token = self.tokens.info(slot).ok();
        slot.info(token.as_ref().map(|token| &token.name[..]))
    }

    /// What `C_GetTokenInfo` tells.
    pub(crate) fn token_info(&self, slot: Slot) -> Result<CK_TOKEN_INFO> {
        let sessions = self.sessions_of(slot);
        if !slot.is_token() {
            return Ok(slot.token_info(sessions));
        }
        self.look_for_tokens(Patience::Settings)?;
        Ok(slot.info_of_token(&*self.tokens.info(slot)?, sessions))
    }

    /// Learns which tokens there are now. The sessions of a token that is gone end.
    fn look_for_tokens(&self, patience: Patience) -> Result<()> {
        let Reply::Tokens { tokens } = self.question(&Request::Tokens, patience)? else {
            return Err(CKR_DEVICE_ERROR.into());
        };
        let mut place = self.tokens.hold();
        // Nothing is put there once the module is finalised.
        Self::get()?;
        let mut before = std::mem::take(&mut place.tokens);
        place.has_looked = true;
        for info in tokens {
            let is_same = |token: &Token| token.info.id == info.id;
            let slot = CK_SLOT_ID::from(info.slot);
            let kept = before.remove(&slot).filter(is_same);
            let (login, objects) = match kept {
                Some(kept) => (kept.login, kept.objects),
                None => Default::default(),
            };
            let info = Arc::new(info);
            let token = Token {
                info,
                login,
                objects,
            };
            place.tokens.insert(slot, token);
        }
        drop(place);
        for slot in before.into_keys() {
            self.close_all(Slot::Token(slot));
            drop(
                self.objects
                    .remove_all(|object| object.slot == Slot::Token(slot)),
            );
        }
        Ok(())
    }
}

/// A ticket, as the administration's messages have it.
fn secret(ticket: &Proof) -> Secret {
    Secret::new(&ticket[..])
}
