//! Keys that are encrypted with others.

use cryptoki_sys::*;
use zeroize::Zeroizing;

use super::Direction;
use super::cipher::begin;
use super::generate::wanted_number;
use crate::abi::{Exchange, Output, Template};
use crate::error::{Error, Result};
use crate::mechanism::CipherMechanism;
use crate::module::Module;
use crate::object::{Halves, Object, Origin};

impl Module {
    /// `C_WrapKey`
    pub(crate) fn wrap(
        &self,
        session: CK_SESSION_HANDLE,
        mechanism: &CipherMechanism<'_>,
        wrapping: CK_OBJECT_HANDLE,
        key: CK_OBJECT_HANDLE,
        output: Output<'_>,
    ) -> Result<()> {
        let wrapping = self.object(session, wrapping, CKR_WRAPPING_KEY_HANDLE_INVALID)?;
        let key = self.object(session, key, CKR_KEY_HANDLE_INVALID)?;
        let errors = |error| instead(error, CKR_WRAPPING_KEY_TYPE_INCONSISTENT, &WRAPPING);
        let mut cipher = match mechanism.cipher.wraps() {
            true => begin(&wrapping, Direction::Encrypt, &mechanism.cipher).map_err(errors)?,
            false => return Err(CKR_MECHANISM_INVALID.into()),
        };
        wrapping.admit(CKA_WRAP, mechanism.kind)?;
        let key = plain(&key)?;
        let answer = cipher.whole(&mut Exchange::of(&key, output));
        answer.map(drop).map_err(errors)
    }

    /// `C_UnwrapKey`
    pub(crate) fn unwrap(
        &self,
        session: CK_SESSION_HANDLE,
        mechanism: &CipherMechanism<'_>,
        unwrapping: CK_OBJECT_HANDLE,
        wrapped: &[u8],
        template: &Template<'_>,
    ) -> Result<CK_OBJECT_HANDLE> {
        let unwrapping = self.object(session, unwrapping, CKR_UNWRAPPING_KEY_HANDLE_INVALID)?;
        let errors = |error| instead(error, CKR_UNWRAPPING_KEY_TYPE_INCONSISTENT, &UNWRAPPING);
        let mut cipher = match mechanism.cipher.wraps() {
            true => begin(&unwrapping, Direction::Decrypt, &mechanism.cipher).map_err(errors)?,
            false => return Err(CKR_MECHANISM_INVALID.into()),
        };
        unwrapping.admit(CKA_UNWRAP, mechanism.kind)?;
        let mut key = Zeroizing::new(vec![0; wrapped.len()]);
        let mut length = 0;
        let output = Output::of(&mut key, &mut length);
        let answer = cipher.whole(&mut Exchange::of(wrapped, output));
        answer.map_err(errors)?;
        key.truncate(length as usize);
        let object = object(&unwrapping, session, template, &key)?;
        self.keep(object)
    }
}

/// What is wrapped of a key: a secret key's bytes, a private key's PrivateKeyInfo.
///
/// # Errors
/// `CKR_KEY_UNEXTRACTABLE`, `CKR_KEY_NOT_WRAPPABLE`.
fn plain(key: &Object) -> Result<Zeroizing<Vec<u8>>> {
    let attributes = &key.attributes;
    let class = attributes.number(CKA_CLASS);
    if !matches!(class, Some(CKO_SECRET_KEY | CKO_PRIVATE_KEY)) {
        return Err(CKR_KEY_NOT_WRAPPABLE.into());
    }
    if attributes.flag(CKA_EXTRACTABLE) != Some(true) {
        return Err(CKR_KEY_UNEXTRACTABLE.into());
    }
    // There is no security officer here, who alone makes a wrapping key a trusted one.
    if attributes.flag(CKA_WRAP_WITH_TRUSTED) == Some(true) {
        return Err(CKR_KEY_NOT_WRAPPABLE.into());
    }
    match class {
        Some(CKO_PRIVATE_KEY) => key.private_info(),
        _ => {
            let value = attributes.get(CKA_VALUE).ok_or(CKR_KEY_NOT_WRAPPABLE)?;
            Ok(Zeroizing::new(value.to_vec()))
        }
    }
}

/// The object of what was wrapped. It came from outside, whoever wrapped it.
fn object(
    unwrapping: &Object,
    session: CK_SESSION_HANDLE,
    template: &Template<'_>,
    key: &[u8],
) -> Result<Object> {
    let slot = unwrapping.slot;
    match wanted_number(template, CKA_CLASS)? {
        CKO_SECRET_KEY => {
            let value = (wanted_number(template, CKA_KEY_TYPE)?, key);
            Object::secret(slot, session, template, value, Origin::Created)
        }
        CKO_PRIVATE_KEY => {
            let halves = Halves::read(key).map_err(|_| Error::from(CKR_WRAPPED_KEY_INVALID))?;
            Object::new(slot, session, template, &halves.private(), Origin::Created)
        }
        _ => Err(CKR_ATTRIBUTE_VALUE_INVALID.into()),
    }
}

/// What is said of keys where a cipher says it of data.
type Instead = [(CK_RV, CK_RV); 2];

const WRAPPING: Instead = [
    (CKR_DATA_LEN_RANGE, CKR_KEY_SIZE_RANGE),
    (CKR_DATA_INVALID, CKR_KEY_NOT_WRAPPABLE),
];
const UNWRAPPING: Instead = [
    (CKR_ENCRYPTED_DATA_LEN_RANGE, CKR_WRAPPED_KEY_LEN_RANGE),
    (CKR_ENCRYPTED_DATA_INVALID, CKR_WRAPPED_KEY_INVALID),
];

fn instead(error: Error, wrong_type: CK_RV, others: &Instead) -> Error {
    let found = others.iter().find(|(of_data, _)| *of_data == error.code());
    match (error.code(), found) {
        (CKR_KEY_TYPE_INCONSISTENT, _) => wrong_type.into(),
        (_, Some(&(_, of_keys))) => of_keys.into(),
        _ => error,
    }
}
