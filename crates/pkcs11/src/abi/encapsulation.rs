//! The functions that encapsulate secrets (PKCS #11 3.2, 5.18.8 and 5.18.9).
#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "what each pointer leads to is the program's word"
)]

use cryptoki_sys::*;

use super::arguments::{Output, Place, bytes};
use super::template::Template;
use super::{mechanism, within};

type Session = CK_SESSION_HANDLE;
type Object = CK_OBJECT_HANDLE;

pub(super) unsafe extern "C" fn C_EncapsulateKey(
    session: Session,
    mechanism: *mut CK_MECHANISM,
    public: Object,
    attributes: *mut CK_ATTRIBUTE,
    count: CK_ULONG,
    ciphertext: *mut CK_BYTE,
    ciphertext_length: *mut CK_ULONG,
    key: *mut Object,
) -> CK_RV {
    within(session, |module| {
        let mechanism = unsafe { mechanism::read(mechanism)? };
        let template = unsafe { Template::new(attributes, count)? };
        let output = unsafe { Output::new(ciphertext, ciphertext_length)? };
        // Who asks for the length needs no place.
        let place = match ciphertext.is_null() {
            true => None,
            false => Some(unsafe { Place::new(key)? }),
        };
        let made = module.encapsulate(session, &mechanism, public, &template, output)?;
        if let (Some(place), Some(made)) = (place, made) {
            place.put(made);
        }
        Ok(())
    })
}

pub(super) unsafe extern "C" fn C_DecapsulateKey(
    session: Session,
    mechanism: *mut CK_MECHANISM,
    private: Object,
    attributes: *mut CK_ATTRIBUTE,
    count: CK_ULONG,
    ciphertext: *mut CK_BYTE,
    length: CK_ULONG,
    key: *mut Object,
) -> CK_RV {
    within(session, |module| {
        let place = unsafe { Place::new(key)? };
        let mechanism = unsafe { mechanism::read(mechanism)? };
        let template = unsafe { Template::new(attributes, count)? };
        let ciphertext = unsafe { bytes(ciphertext, length)? };
        place.put(module.decapsulate(session, &mechanism, private, &template, ciphertext)?);
        Ok(())
    })
}
