//! The functions that sign and verify, with keys and with codes.
#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "what each pointer leads to is the program's word"
)]

use cryptoki_sys::*;

use super::arguments::{Output, bytes};
use super::{go_on, mechanism, within};

type Session = CK_SESSION_HANDLE;
type Object = CK_OBJECT_HANDLE;

pub(super) unsafe extern "C" fn C_SignInit(
    session: Session,
    mechanism: *mut CK_MECHANISM,
    key: Object,
) -> CK_RV {
    within(session, |module| {
        if mechanism.is_null() {
            return module.give_up(session, CKF_SIGN, |session| &mut session.signing);
        }
        let mechanism = unsafe { mechanism::read(mechanism)? };
        module.sign_init(session, &mechanism, key)
    })
}

pub(super) unsafe extern "C" fn C_Sign(
    session: Session,
    data: *mut CK_BYTE,
    length: CK_ULONG,
    signature: *mut CK_BYTE,
    signature_length: *mut CK_ULONG,
) -> CK_RV {
    go_on(
        session,
        |session| &mut session.signing,
        |module| {
            let (data, output) = unsafe {
                (
                    bytes(data, length)?,
                    Output::new(signature, signature_length)?,
                )
            };
            module.sign(session, data, output)
        },
    )
}

pub(super) unsafe extern "C" fn C_SignUpdate(
    session: Session,
    part: *mut CK_BYTE,
    length: CK_ULONG,
) -> CK_RV {
    go_on(
        session,
        |session| &mut session.signing,
        |module| module.sign_update(session, unsafe { bytes(part, length)? }),
    )
}

pub(super) unsafe extern "C" fn C_SignFinal(
    session: Session,
    signature: *mut CK_BYTE,
    signature_length: *mut CK_ULONG,
) -> CK_RV {
    go_on(
        session,
        |session| &mut session.signing,
        |module| {
            let output = unsafe { Output::new(signature, signature_length)? };
            module.sign_final(session, output)
        },
    )
}

pub(super) unsafe extern "C" fn C_VerifyInit(
    session: Session,
    mechanism: *mut CK_MECHANISM,
    key: Object,
) -> CK_RV {
    within(session, |module| {
        if mechanism.is_null() {
            return module
                .take(session, |session| &mut session.verifying)
                .map(drop);
        }
        let mechanism = unsafe { mechanism::read(mechanism)? };
        module.verify_init(session, &mechanism, key)
    })
}

pub(super) unsafe extern "C" fn C_Verify(
    session: Session,
    data: *mut CK_BYTE,
    length: CK_ULONG,
    signature: *mut CK_BYTE,
    signature_length: CK_ULONG,
) -> CK_RV {
    go_on(
        session,
        |session| &mut session.verifying,
        |module| {
            let (data, signature) =
                unsafe { (bytes(data, length)?, bytes(signature, signature_length)?) };
            module.verify(session, data, signature)
        },
    )
}

pub(super) unsafe extern "C" fn C_VerifyUpdate(
    session: Session,
    part: *mut CK_BYTE,
    length: CK_ULONG,
) -> CK_RV {
    go_on(
        session,
        |session| &mut session.verifying,
        |module| module.verify_update(session, unsafe { bytes(part, length)? }),
    )
}

pub(super) unsafe extern "C" fn C_VerifyFinal(
    session: Session,
    signature: *mut CK_BYTE,
    length: CK_ULONG,
) -> CK_RV {
    go_on(
        session,
        |session| &mut session.verifying,
        |module| module.verify_final(session, unsafe { bytes(signature, length)? }),
    )
}
