//! Who is logged in to a token, and PINs (PKCS #11, 5.5, 5.6).

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use cryptoki_sys::*;
use outboard_administration::{Login as By, Reply, Role, Secret, TokenRequest};
use outboard_wire::Ticket;
use zeroize::Zeroizing;

use super::Login;
use crate::error::{Error, Result};
use crate::module::Module;
use crate::object::Object;
use crate::slot::Slot;

impl Module {
    /// `C_Login`. Without a PIN, the service's grants decide, where the token is one without PINs.
    pub(crate) fn log_in(
        &self,
        session: CK_SESSION_HANDLE,
        user: CK_USER_TYPE,
        pin: Option<&[u8]>,
    ) -> Result<()> {
        let slot = self.session(session, |session| session.slot)?;
        let role = match user {
            CKU_USER | CKU_CONTEXT_SPECIFIC => Role::User,
            CKU_SO => Role::Officer,
            _ => return Err(CKR_USER_TYPE_INVALID.into()),
        };
        match (slot.is_token(), role) {
            (true, _) => {}
            // The operating system says who the program is.
            (false, Role::User) => return Err(CKR_USER_PIN_NOT_INITIALIZED.into()),
            (false, Role::Officer) => return Err(CKR_PIN_INCORRECT.into()),
        }
        if user == CKU_CONTEXT_SPECIFIC {
            return self.agree(session, slot, pin);
        }
        let is_free = || match self.tokens.role(slot) {
            Some(other) if other == role => Err(CKR_USER_ALREADY_LOGGED_IN),
            Some(_) => Err(CKR_USER_ANOTHER_ALREADY_LOGGED_IN),
            None => Ok(()),
        };
        is_free()?;
        let (sessions, writing) = self.sessions_of(slot);
        if role == Role::Officer && sessions > writing {
            return Err(CKR_SESSION_READ_ONLY_EXISTS.into());
        }
        let login = self.prove(slot, role, pin)?;
        self.tokens.with(slot, |token| {
            // Nothing is put there once the module is finalised.
            Self::get()?;
            match token.login {
                None => token.login = Some(login),
                // Another thread was faster.
                Some(_) => return Err(Error::from(CKR_USER_ALREADY_LOGGED_IN)),
            }
            Ok(())
        })??;
        // Another thread may have closed the last session meanwhile.
        self.log_out_of_no_session(slot);
        Ok(())
    }

    /// What the user agrees to is the operation that the session has begun.
    fn agree(&self, session: CK_SESSION_HANDLE, slot: Slot, pin: Option<&[u8]>) -> Result<()> {
        let consent = self.session(session, |session| session.consent.upgrade())?;
        let consent = consent.ok_or(CKR_OPERATION_NOT_INITIALIZED)?;
        self.tokens.ticket(slot)?;
        self.prove(slot, Role::User, pin)?;
        consent.store(true, Relaxed);
        Ok(())
    }

    /// Proves to the service who the program's user is.
    fn prove(&self, slot: Slot, role: Role, pin: Option<&[u8]>) -> Result<Login> {
        let is_by_grant = self.tokens.info(slot)?.user == By::Grant;
        let pin = match pin {
            // Some programs give one all the same.
            _ if is_by_grant => None,
            pin => Some(Secret::new(pin.ok_or(CKR_ARGUMENTS_BAD)?)),
        };
        let answer = self.question_of(slot, None, TokenRequest::Login { role, pin });
        let ticket = match answer {
            Ok(Reply::Ticket { ticket }) => ticket,
            Ok(_) => return Err(CKR_DEVICE_ERROR.into()),
            // It is none, whatever its length.
            Err(error) if error == CKR_PIN_LEN_RANGE.into() => {
                return Err(CKR_PIN_INCORRECT.into());
            }
            Err(error) => return Err(error),
        };
        let mut proof = Arc::new(Zeroizing::new([0; Ticket::LENGTH]));
        match Arc::get_mut(&mut proof) {
            Some(place) if place.len() == ticket.0.len() => place.copy_from_slice(&ticket.0),
            _ => return Err(CKR_DEVICE_ERROR.into()),
        }
        let ticket = proof;
        Ok(Login { role, ticket })
    }

    /// `C_Logout`
    pub(crate) fn log_out(&self, session: CK_SESSION_HANDLE) -> Result<()> {
        let slot = self.session(session, |session| session.slot)?;
        match self.tokens.role(slot) {
            Some(_) => self.forget_login(slot),
            None => return Err(CKR_USER_NOT_LOGGED_IN.into()),
        }
        Ok(())
    }

    /// Forgets who is logged in to the token of a slot, and its private objects.
    pub(crate) fn forget_login(&self, slot: Slot) {
        let logged_out = self.tokens.with(slot, |token| {
            token.objects.forget_generation();
            token.login.take()
        });
        if let Ok(Some(_)) = logged_out {
            let is_lost = |object: &Arc<Object>| object.slot == slot && object.is_private();
            drop(self.objects.remove_all(is_lost));
            // What is under way with a private key ends, too.
            self.sessions.each(|session| {
                if session.slot == slot {
                    session.cancel(CK_FLAGS::MAX);
                }
            });
        }
    }

    /// Nobody is logged in where the process has no session (5.6.9).
    pub(crate) fn log_out_of_no_session(&self, slot: Slot) {
        if slot.is_token() && self.tokens.role(slot).is_some() && self.sessions_of(slot).0 == 0 {
            self.forget_login(slot);
        }
    }

    /// `C_SetPIN`: the officer's PIN where he is logged in, else the user's.
    pub(crate) fn set_pin(
        &self,
        session: CK_SESSION_HANDLE,
        old: Option<&[u8]>,
        new: Option<&[u8]>,
    ) -> Result<()> {
        let slot = self.slot_for_writing(session)?;
        let (Some(old), Some(new)) = (old, new) else {
            return Err(CKR_ARGUMENTS_BAD.into());
        };
        let login = self.tokens.role(slot);
        let role = login.unwrap_or(Role::User);
        let request = TokenRequest::SetPin {
            role,
            old: Secret::new(old),
            new: Secret::new(new),
        };
        self.question_of(slot, None, request)?;
        if login.is_some() {
            // The ticket of before is no longer good.
            let again = self.prove(slot, role, Some(new));
            if again.is_err() {
                self.forget_login(slot);
            }
            let again = again?;
            self.tokens.with(slot, |token| {
                if token.login.is_some() {
                    token.login = Some(again);
                }
            })?;
        }
        Ok(())
    }

    /// `C_InitPIN`
    pub(crate) fn init_pin(&self, session: CK_SESSION_HANDLE, pin: Option<&[u8]>) -> Result<()> {
        let slot = self.slot_for_writing(session)?;
        let login = self.tokens.with(slot, |token| token.login.clone())?;
        let login = login.filter(|login| login.role == Role::Officer);
        let login = login.ok_or(CKR_USER_NOT_LOGGED_IN)?;
        let pin = Secret::new(pin.ok_or(CKR_ARGUMENTS_BAD)?);
        self.question_of(slot, Some(&login), TokenRequest::InitPin { pin })?;
        Ok(())
    }

    /// `C_InitToken`: destroys all objects.
    pub(crate) fn init_token(&self, slot: Slot, pin: Option<&[u8]>, label: &[u8]) -> Result<()> {
        if !slot.is_token() {
            return Err(CKR_TOKEN_WRITE_PROTECTED.into());
        }
        if self.sessions_of(slot).0 > 0 {
            return Err(CKR_SESSION_EXISTS.into());
        }
        let label = str::from_utf8(label).map_err(|_| CKR_ARGUMENTS_BAD)?;
        let request = TokenRequest::Initialise {
            pin: pin.map(Secret::new),
            label: label.trim_end_matches(' ').to_owned(),
        };
        self.question_of(slot, None, request)?;
        Ok(())
    }

    /// The slot of a session that may write to its token.
    ///
    /// # Errors
    /// `CKR_TOKEN_WRITE_PROTECTED`, `CKR_SESSION_READ_ONLY`
    pub(crate) fn slot_for_writing(&self, session: CK_SESSION_HANDLE) -> Result<Slot> {
        let (slot, writes) = self.session(session, |session| (session.slot, session.writes))?;
        match (slot.is_token(), writes) {
            (false, _) => Err(CKR_TOKEN_WRITE_PROTECTED.into()),
            (true, false) => Err(CKR_SESSION_READ_ONLY.into()),
            (true, true) => Ok(slot),
        }
    }
}
