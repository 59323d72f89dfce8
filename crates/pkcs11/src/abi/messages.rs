//! The functions that encrypt and decrypt many messages with one key (PKCS #11 3.0, 5.9, 5.11).
#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "what each pointer leads to is the program's word"
)]

use std::ffi::c_void;

use cryptoki_sys::*;

use super::arguments::{bytes, room};
use super::exchange::Exchange;
use super::mechanism::cipher::tag_length;
use super::within;
use crate::error::{Error, Result};
use crate::operation::{Direction, Iv, Message};

type Session = CK_SESSION_HANDLE;
type Object = CK_OBJECT_HANDLE;

macro_rules! messages {
    ($direction:expr, $init:ident, $once:ident, $begin:ident, $next:ident, $finish:ident) => {
        pub(super) unsafe extern "C" fn $init(
            session: Session,
            mechanism: *mut CK_MECHANISM,
            key: Object,
        ) -> CK_RV {
            within(session, |module| match unsafe { mechanism.as_ref() } {
                None => module.messages_final(session, $direction),
                // Its parameter is a message's, of which there is none yet.
                Some(CK_MECHANISM {
                    mechanism: CKM_AES_GCM,
                    ..
                }) => module.messages_init(session, $direction, key),
                Some(_) => Err(CKR_MECHANISM_INVALID.into()),
            })
        }

        pub(super) unsafe extern "C" fn $once(
            session: Session,
            parameter: *mut c_void,
            parameter_length: CK_ULONG,
            associated: *mut CK_BYTE,
            associated_length: CK_ULONG,
            input: *mut CK_BYTE,
            length: CK_ULONG,
            output: *mut CK_BYTE,
            output_length: *mut CK_ULONG,
        ) -> CK_RV {
            within(session, |module| {
                let mut message = unsafe { read(parameter, parameter_length)? };
                let associated = unsafe { bytes(associated, associated_length)? };
                let mut exchange = unsafe { Exchange::new(input, length, output, output_length)? };
                module.message(session, $direction, &mut message, associated, &mut exchange)
            })
        }

        pub(super) unsafe extern "C" fn $begin(
            session: Session,
            parameter: *mut c_void,
            parameter_length: CK_ULONG,
            associated: *mut CK_BYTE,
            associated_length: CK_ULONG,
        ) -> CK_RV {
            within(session, |module| {
                let mut message = unsafe { read(parameter, parameter_length)? };
                let associated = unsafe { bytes(associated, associated_length)? };
                module.message_begin(session, $direction, &mut message, associated)
            })
        }

        pub(super) unsafe extern "C" fn $next(
            session: Session,
            parameter: *mut c_void,
            parameter_length: CK_ULONG,
            part: *mut CK_BYTE,
            length: CK_ULONG,
            output: *mut CK_BYTE,
            output_length: *mut CK_ULONG,
            flags: CK_FLAGS,
        ) -> CK_RV {
            within(session, |module| {
                let message = unsafe { read(parameter, parameter_length)? };
                let mut exchange = unsafe { Exchange::new(part, length, output, output_length)? };
                let tag = match flags & CKF_END_OF_MESSAGE {
                    0 => None,
                    _ => Some(&mut *message.tag),
                };
                module.message_next(session, $direction, tag, &mut exchange)
            })
        }

        pub(super) unsafe extern "C" fn $finish(session: Session) -> CK_RV {
            within(session, |module| module.messages_final(session, $direction))
        }
    };
}

messages! {
    Direction::Encrypt,
    C_MessageEncryptInit, C_EncryptMessage, C_EncryptMessageBegin, C_EncryptMessageNext, C_MessageEncryptFinal
}
messages! {
    Direction::Decrypt,
    C_MessageDecryptInit, C_DecryptMessage, C_DecryptMessageBegin, C_DecryptMessageNext, C_MessageDecryptFinal
}

/// What belongs to a message.
unsafe fn read<'a>(parameter: *mut c_void, length: CK_ULONG) -> Result<Message<'a>> {
    let invalid = Error::from(CKR_MECHANISM_PARAM_INVALID);
    if parameter.is_null() || length != size_of::<CK_GCM_MESSAGE_PARAMS>() as CK_ULONG {
        return Err(invalid);
    }
    let given = unsafe { parameter.cast::<CK_GCM_MESSAGE_PARAMS>().read_unaligned() };
    let tag = tag_length(given.ulTagBits).ok_or(invalid)?;
    let (iv, tag) = unsafe {
        (
            room(given.pIv, given.ulIvLen).map_err(|_| invalid)?,
            room(given.pTag, tag as CK_ULONG).map_err(|_| invalid)?,
        )
    };
    let fixed = usize::try_from(given.ulIvFixedBits).map_err(|_| invalid)?;
    let iv = match given.ivGenerator {
        CKG_NO_GENERATE => Iv::Given(iv),
        CKG_GENERATE | CKG_GENERATE_RANDOM => Iv::drawn(iv, fixed).ok_or(invalid)?,
        _ => return Err(invalid),
    };
    Ok(Message { iv, tag })
}
