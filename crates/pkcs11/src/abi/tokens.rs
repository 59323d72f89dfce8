//! The functions of tokens, logins and PINs (PKCS #11, 5.5 and 5.6).
#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "what each pointer leads to is the program's word"
)]

use cryptoki_sys::*;
use outboard_administration::PIN_LENGTH;

use super::arguments::bytes;
use super::{answer, within};
use crate::error::Result;

type Session = CK_SESSION_HANDLE;

/// The bytes of a label in `C_InitToken`, which is filled with spaces.
const LABEL: CK_ULONG = 32;

/// One byte more than any PIN has.
const MOST_OF_PIN: usize = *PIN_LENGTH.end() + 1;

/// A PIN; none where the program leaves it to the token to ask for it. Of one that is too long, the beginning is too long as well,
/// and fits a request.
///
/// # Safety
/// As [`bytes`].
unsafe fn pin<'a>(pin: *const CK_UTF8CHAR, length: CK_ULONG) -> Result<Option<&'a [u8]>> {
    if pin.is_null() {
        return Ok(None);
    }
    // SAFETY: by the caller's word.
    let pin = unsafe { bytes(pin, length)? };
    Ok(Some(&pin[..pin.len().min(MOST_OF_PIN)]))
}

pub(super) unsafe extern "C" fn C_InitToken(
    id: CK_SLOT_ID,
    officers: *mut CK_UTF8CHAR,
    length: CK_ULONG,
    label: *mut CK_UTF8CHAR,
) -> CK_RV {
    answer(|module| {
        let slot = module.slot(id)?;
        let (pin, label) = unsafe { (pin(officers, length)?, bytes(label, LABEL)?) };
        module.init_token(slot, pin, label)
    })
}

pub(super) unsafe extern "C" fn C_InitPIN(
    session: Session,
    users: *mut CK_UTF8CHAR,
    length: CK_ULONG,
) -> CK_RV {
    within(session, |module| {
        module.init_pin(session, unsafe { pin(users, length)? })
    })
}

pub(super) unsafe extern "C" fn C_SetPIN(
    session: Session,
    old: *mut CK_UTF8CHAR,
    old_length: CK_ULONG,
    new: *mut CK_UTF8CHAR,
    new_length: CK_ULONG,
) -> CK_RV {
    within(session, |module| {
        let (old, new) = unsafe { (pin(old, old_length)?, pin(new, new_length)?) };
        module.set_pin(session, old, new)
    })
}

pub(super) unsafe extern "C" fn C_Login(
    session: Session,
    user: CK_USER_TYPE,
    of_user: *mut CK_UTF8CHAR,
    length: CK_ULONG,
) -> CK_RV {
    within(session, |module| {
        module.log_in(session, user, unsafe { pin(of_user, length)? })
    })
}

/// A token has one user, whatever his name.
pub(super) unsafe extern "C" fn C_LoginUser(
    session: Session,
    user: CK_USER_TYPE,
    of_user: *mut CK_UTF8CHAR,
    length: CK_ULONG,
    _name: *mut CK_UTF8CHAR,
    _name_length: CK_ULONG,
) -> CK_RV {
    within(session, |module| {
        module.log_in(session, user, unsafe { pin(of_user, length)? })
    })
}

pub(super) unsafe extern "C" fn C_Logout(session: Session) -> CK_RV {
    within(session, |module| module.log_out(session))
}
