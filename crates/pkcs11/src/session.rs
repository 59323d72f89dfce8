//! Sessions, and what is under way in them.

use std::collections::BTreeSet;
use std::sync::Weak;
use std::sync::atomic::AtomicBool;

use cryptoki_sys::*;
use outboard_administration::Role;

use crate::operation::{Ciphering, Digesting, Messages, OrCode, Outstanding, Signing, Verifying};
use crate::slot::Slot;

/// A session.
pub(crate) struct Session {
    pub(crate) slot: Slot,
    /// Whether it is for reading and writing.
    pub(crate) writes: bool,
    /// Whether the program does something else meanwhile (PKCS #11 3.2).
    pub(crate) is_asynchronous: bool,
    /// What it waits for.
    pub(crate) outstanding: Vec<Outstanding>,
    /// Objects that end with it.
    pub(crate) own: BTreeSet<CK_OBJECT_HANDLE>,
    /// Objects that were found and not told yet, the last one first.
    pub(crate) found: Option<Vec<CK_OBJECT_HANDLE>>,
    pub(crate) digest: Option<Digesting>,
    pub(crate) encrypting: Option<Ciphering>,
    pub(crate) decrypting: Option<Ciphering>,
    pub(crate) sealing: Option<Messages>,
    pub(crate) opening: Option<Messages>,
    pub(crate) signing: Option<OrCode<Signing>>,
    pub(crate) verifying: Option<OrCode<Verifying>>,
    /// What the user says yes to before the operation that was begun last, where its key asks for that.
    pub(crate) consent: Weak<AtomicBool>,
}

impl Session {
    pub(crate) fn new(slot: Slot, writes: bool) -> Self {
        Self {
            slot,
            writes,
            is_asynchronous: false,
            outstanding: Vec::new(),
            own: BTreeSet::new(),
            found: None,
            digest: None,
            encrypting: None,
            decrypting: None,
            sealing: None,
            opening: None,
            signing: None,
            verifying: None,
            consent: Weak::new(),
        }
    }

    /// What `C_GetSessionInfo` tells, where somebody is logged in, or nobody.
    pub(crate) fn info(&self, role: Option<Role>) -> CK_SESSION_INFO {
        CK_SESSION_INFO {
            slotID: self.slot.id(),
            state: match (role, self.writes) {
                (None, true) => CKS_RW_PUBLIC_SESSION,
                (None, false) => CKS_RO_PUBLIC_SESSION,
                (Some(Role::User), true) => CKS_RW_USER_FUNCTIONS,
                (Some(Role::User), false) => CKS_RO_USER_FUNCTIONS,
                (Some(Role::Officer), _) => CKS_RW_SO_FUNCTIONS,
            },
            flags: CKF_SERIAL_SESSION
                | if self.writes { CKF_RW_SESSION } else { 0 }
                | if self.is_asynchronous {
                    CKF_ASYNC_SESSION
                } else {
                    0
                },
            ulDeviceError: 0,
        }
    }

    /// Gives up what is under way, of the kinds that `flags` name.
    pub(crate) fn cancel(&mut self, flags: CK_FLAGS) {
        self.outstanding
            .retain(|one| flags & one.function.flag() == 0);
        if flags & CKF_FIND_OBJECTS != 0 {
            self.found = None;
        }
        if flags & CKF_DIGEST != 0 {
            self.digest = None;
        }
        if flags & CKF_ENCRYPT != 0 {
            self.encrypting = None;
        }
        if flags & CKF_DECRYPT != 0 {
            self.decrypting = None;
        }
        if flags & CKF_MESSAGE_ENCRYPT != 0 {
            self.sealing = None;
        }
        if flags & CKF_MESSAGE_DECRYPT != 0 {
            self.opening = None;
        }
        if flags & CKF_SIGN != 0 {
            self.signing = None;
        }
        if flags & CKF_VERIFY != 0 {
            self.verifying = None;
        }
    }
}
