//! The functions that encrypt and decrypt, messages and keys.
#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "what each pointer leads to is the program's word"
)]

use cryptoki_sys::*;

use super::arguments::{Output, Place, bytes};
use super::exchange::Exchange;
use super::mechanism::cipher;
use super::template::Template;
use super::{go_on, within};
use crate::operation::Direction;

type Session = CK_SESSION_HANDLE;
type Object = CK_OBJECT_HANDLE;

macro_rules! ciphers {
    ($direction:expr, $init:ident, $once:ident, $update:ident, $finish:ident) => {
        pub(super) unsafe extern "C" fn $init(
            session: Session,
            mechanism: *mut CK_MECHANISM,
            key: Object,
        ) -> CK_RV {
            within(session, |module| {
                // No mechanism: what is under way is given up (PKCS #11 3.0).
                if mechanism.is_null() {
                    return module.give_up(session, $direction.flag(), $direction.place());
                }
                let mechanism = unsafe { cipher::read(mechanism)? };
                module.cipher_init(session, $direction, &mechanism, key)
            })
        }

        pub(super) unsafe extern "C" fn $once(
            session: Session,
            input: *mut CK_BYTE,
            length: CK_ULONG,
            output: *mut CK_BYTE,
            output_length: *mut CK_ULONG,
        ) -> CK_RV {
            go_on(session, $direction.place(), |module| {
                let exchange = unsafe { Exchange::new(input, length, output, output_length)? };
                module.cipher(session, $direction, exchange)
            })
        }

        pub(super) unsafe extern "C" fn $update(
            session: Session,
            part: *mut CK_BYTE,
            length: CK_ULONG,
            output: *mut CK_BYTE,
            output_length: *mut CK_ULONG,
        ) -> CK_RV {
            go_on(session, $direction.place(), |module| {
                let mut exchange = unsafe { Exchange::new(part, length, output, output_length)? };
                module.cipher_update(session, $direction, &mut exchange)
            })
        }

        pub(super) unsafe extern "C" fn $finish(
            session: Session,
            output: *mut CK_BYTE,
            output_length: *mut CK_ULONG,
        ) -> CK_RV {
            go_on(session, $direction.place(), |module| {
                let mut output = unsafe { Output::new(output, output_length)? };
                module.cipher_final(session, $direction, &mut output)
            })
        }
    };
}

ciphers! { Direction::Encrypt, C_EncryptInit, C_Encrypt, C_EncryptUpdate, C_EncryptFinal }
ciphers! { Direction::Decrypt, C_DecryptInit, C_Decrypt, C_DecryptUpdate, C_DecryptFinal }

// Keys that are encrypted with others

pub(super) unsafe extern "C" fn C_WrapKey(
    session: Session,
    mechanism: *mut CK_MECHANISM,
    wrapping: Object,
    key: Object,
    wrapped: *mut CK_BYTE,
    wrapped_length: *mut CK_ULONG,
) -> CK_RV {
    within(session, |module| {
        let mechanism = unsafe { cipher::read(mechanism)? };
        let output = unsafe { Output::new(wrapped, wrapped_length)? };
        module.wrap(session, &mechanism, wrapping, key, output)
    })
}

pub(super) unsafe extern "C" fn C_UnwrapKey(
    session: Session,
    mechanism: *mut CK_MECHANISM,
    unwrapping: Object,
    wrapped: *mut CK_BYTE,
    length: CK_ULONG,
    attributes: *mut CK_ATTRIBUTE,
    count: CK_ULONG,
    key: *mut Object,
) -> CK_RV {
    within(session, |module| {
        let place = unsafe { Place::new(key)? };
        let mechanism = unsafe { cipher::read(mechanism)? };
        let wrapped = unsafe { bytes(wrapped, length)? };
        let template = unsafe { Template::new(attributes, count)? };
        place.put(module.unwrap(session, &mechanism, unwrapping, wrapped, &template)?);
        Ok(())
    })
}
