//! The functions that ask for outstanding results (PKCS #11 3.2, 5.21).
#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "what each pointer leads to is the program's word"
)]

use std::ffi::CStr;

use cryptoki_sys::*;

use super::arguments::Place;
use super::within;
use crate::error::Result;
use crate::operation::{Function, Product};

type Session = CK_SESSION_HANDLE;

pub(super) unsafe extern "C" fn C_AsyncComplete(
    session: Session,
    function: *mut CK_UTF8CHAR,
    data: *mut CK_ASYNC_DATA,
) -> CK_RV {
    within(session, |module| {
        let function = unsafe { named(function)? }.ok_or(CKR_OPERATION_NOT_INITIALIZED)?;
        let place = unsafe { Place::new(data)? };
        // Nobody knows the structure's later versions.
        if unsafe { (*data).ulVersion } != 0 {
            return Err(CKR_ARGUMENTS_BAD.into());
        }
        let (product, kept) = module.complete(session, function)?;
        let mut told = CK_ASYNC_DATA {
            ulVersion: 0,
            pValue: kept.buffer(),
            ulValue: 0,
            hObject: CK_INVALID_HANDLE,
            hAdditionalObject: CK_INVALID_HANDLE,
        };
        let given = product.and_then(|product| match product {
            Product::Bytes(bytes) => kept.output(&mut told.ulValue).put(&bytes),
            Product::Object(handle) => {
                told.hObject = handle;
                Ok(())
            }
        });
        place.put(told);
        given
    })
}

pub(super) unsafe extern "C" fn C_AsyncGetID(
    session: Session,
    function: *mut CK_UTF8CHAR,
    id: *mut CK_ULONG,
) -> CK_RV {
    within(session, |module| {
        let function = unsafe { named(function)? };
        unsafe { Place::new(id)? };
        let is_outstanding = |function| module.is_outstanding(session, function);
        match function.map(is_outstanding).transpose()? {
            // A result is lost with its session.
            Some(true) => Err(CKR_STATE_UNSAVEABLE.into()),
            _ => Err(CKR_OPERATION_NOT_INITIALIZED.into()),
        }
    })
}

pub(super) unsafe extern "C" fn C_AsyncJoin(
    session: Session,
    _function: *mut CK_UTF8CHAR,
    _id: CK_ULONG,
    _data: *mut CK_BYTE,
    _length: CK_ULONG,
) -> CK_RV {
    // Nothing has an id.
    within(session, |module| {
        module.session(session, |_| Err(CKR_SAVED_STATE_INVALID.into()))?
    })
}

/// The function of a name; none where the results of that function are never outstanding.
unsafe fn named(name: *const CK_UTF8CHAR) -> Result<Option<Function>> {
    if name.is_null() {
        return Err(CKR_ARGUMENTS_BAD.into());
    }
    let name = unsafe { CStr::from_ptr(name.cast()) };
    Ok(Function::named(name.to_bytes()))
}
