//! Secret keys: their types, their lengths and their check values.

use cryptoki_sys::*;
use inout::InOutBuf;
use outboard_engine::scalar::digest::{Digest, Hasher};
use outboard_engine::scalar::{aes, des3};
use zeroize::Zeroizing;

use super::attributes::{Attributes, number};
use super::{Object, Origin};
use crate::abi::Template;
use crate::error::{Error, Result};
use crate::slot::Slot;

/// Types of keys that are bytes of any length.
const BYTES: [CK_KEY_TYPE; 7] = [
    CKK_GENERIC_SECRET,
    CKK_HKDF,
    CKK_SHA_1_HMAC,
    CKK_SHA224_HMAC,
    CKK_SHA256_HMAC,
    CKK_SHA384_HMAC,
    CKK_SHA512_HMAC,
];

/// The length of a check value.
const CHECK_LENGTH: usize = 3;

/// Whether there are secret keys of a type here.
pub(super) fn is_type(key_type: CK_KEY_TYPE) -> bool {
    key_type == CKK_AES || fixed_length(key_type).is_some() || BYTES.contains(&key_type)
}

/// The length of all keys of a type, where they have one length: those of Triple DES.
pub(crate) fn fixed_length(key_type: CK_KEY_TYPE) -> Option<usize> {
    match key_type {
        CKK_DES2 => Some(16),
        CKK_DES3 => Some(24),
        _ => None,
    }
}

/// Whether a key of a type can be that long.
fn has_length(key_type: CK_KEY_TYPE, length: usize) -> bool {
    match key_type {
        CKK_AES => matches!(length, 16 | 24 | 32),
        _ => fixed_length(key_type).map_or(length > 0, |fixed| length == fixed),
    }
}

/// Checks the length of a secret key, and gives it its check value (PKCS #11, 4.10.2): a program that gives one must give the
/// right one, and a program that gives an empty one wants none.
///
/// # Errors
/// `CKR_ATTRIBUTE_VALUE_INVALID`
pub(super) fn check(attributes: &mut Attributes, template: &Template<'_>) -> Result<()> {
    let invalid = Error::from(CKR_ATTRIBUTE_VALUE_INVALID);
    if attributes.number(CKA_CLASS) != Some(CKO_SECRET_KEY) {
        return Ok(());
    }
    let (Some(key_type), Some(value)) =
        (attributes.number(CKA_KEY_TYPE), attributes.get(CKA_VALUE))
    else {
        return Ok(());
    };
    let is_des = fixed_length(key_type).is_some();
    if !has_length(key_type, value.len()) || (is_des && !des3::has_odd_parity(value)) {
        return Err(invalid);
    }
    let check = check_value(key_type, value)?;
    match template.get(CKA_CHECK_VALUE) {
        Some(given) if given.is_empty() || given == check => Ok(()),
        Some(_) => Err(invalid),
        None => {
            attributes.set(CKA_CHECK_VALUE, &check);
            Ok(())
        }
    }
}

/// The first bytes of a block of zeros that the key encrypts; of a key that is no cipher's, of its SHA-1.
fn check_value(key_type: CK_KEY_TYPE, value: &[u8]) -> Result<[u8; CHECK_LENGTH]> {
    let mut check = [0; CHECK_LENGTH];
    if key_type == CKK_AES {
        check.copy_from_slice(&aes::encrypt_block(value, &[0; 16])?[..CHECK_LENGTH]);
    } else if fixed_length(key_type).is_some() {
        let mut block = [0; des3::BLOCK];
        des3::begin(value, None, true)?.update(InOutBuf::from(&mut block[..]))?;
        check.copy_from_slice(&block[..CHECK_LENGTH]);
    } else {
        let mut hasher = Hasher::new(Digest::Sha1)?;
        hasher.update(value)?;
        check.copy_from_slice(&hasher.end()?[..CHECK_LENGTH]);
    }
    Ok(check)
}

impl Object {
    /// A secret that was made here, of that type where the template says none.
    ///
    /// # Errors
    /// `CKR_KEY_SIZE_RANGE`: no key of that type is so long. `CKR_TEMPLATE_INCONSISTENT`: the mechanism makes no such key.
    pub(crate) fn secret(
        slot: Slot,
        session: CK_SESSION_HANDLE,
        template: &Template<'_>,
        (key_type, value): (CK_KEY_TYPE, &[u8]),
        origin: Origin,
    ) -> Result<Self> {
        let wanted = template.get(CKA_KEY_TYPE);
        let wanted =
            wanted.and_then(|wanted| Some(CK_ULONG::from_ne_bytes(wanted.try_into().ok()?)));
        let key_type = match (origin, wanted) {
            // Whatever is derived or unwrapped is what the program says.
            (Origin::Derived { .. } | Origin::Created, Some(wanted)) => wanted,
            // Bytes are as good for an HMAC as for anything.
            (_, Some(wanted)) if BYTES.contains(&wanted) && BYTES.contains(&key_type) => wanted,
            _ => key_type,
        };
        if !has_length(key_type, value.len()) {
            return Err(CKR_KEY_SIZE_RANGE.into());
        }
        let mut value = Zeroizing::new(value.to_vec());
        // A program that has a key says what its parity is; of what is made here, the module does.
        if fixed_length(key_type).is_some() && origin != Origin::Created {
            des3::set_odd_parity(&mut value);
        }
        let (class, key_type) = (number(CKO_SECRET_KEY), number(key_type));
        let length = number(value.len() as CK_ULONG);
        let made: [(_, &[u8]); 4] = [
            (CKA_CLASS, &class),
            (CKA_KEY_TYPE, &key_type),
            (CKA_VALUE, &value),
            (CKA_VALUE_LEN, &length),
        ];
        Self::new(slot, session, template, &made, origin)
    }

    /// The bytes of a secret key that has one of those types.
    ///
    /// # Errors
    /// `CKR_KEY_TYPE_INCONSISTENT`
    pub(crate) fn bytes(&self, types: &[CK_KEY_TYPE]) -> Result<&[u8]> {
        let attributes = &self.attributes;
        let is_secret = attributes.number(CKA_CLASS) == Some(CKO_SECRET_KEY);
        let key_type = attributes.number(CKA_KEY_TYPE);
        let fits = is_secret && key_type.is_some_and(|key_type| types.contains(&key_type));
        let value = attributes.get(CKA_VALUE).filter(|_| fits);
        value.ok_or(CKR_KEY_TYPE_INCONSISTENT.into())
    }
}
