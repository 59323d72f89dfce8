//! HKDF (RFC 5869), of secret keys.

use cryptoki_sys::*;
use outboard_engine::scalar::hkdf::{expand, extract};
use zeroize::Zeroizing;

use super::derive::wanted_length;
use crate::abi::Template;
use crate::error::{Error, Result};
use crate::mechanism::{Hkdf, Salt};
use crate::module::Module;
use crate::object::{Object, Origin, number};

/// The types of keys that it is made of.
const TYPES: [CK_KEY_TYPE; 2] = [CKK_GENERIC_SECRET, CKK_HKDF];

impl Module {
    /// `C_DeriveKey` with `CKM_HKDF_DERIVE` or `CKM_HKDF_DATA`
    pub(super) fn hkdf(
        &self,
        session: CK_SESSION_HANDLE,
        base: &Object,
        (hkdf, is_data): (&Hkdf, bool),
        template: &Template<'_>,
    ) -> Result<CK_OBJECT_HANDLE> {
        let digest = hkdf.digest;
        let secret = base.bytes(&TYPES)?;
        let extracted = match &hkdf.extract {
            None => None,
            Some(Salt::Data(salt)) => Some(extract(digest, salt, secret)?),
            Some(Salt::Key(key)) => {
                let key = self.object(session, *key, CKR_KEY_HANDLE_INVALID)?;
                key.admit(CKA_DERIVE, CKM_HKDF_DERIVE)?;
                Some(extract(digest, key.bytes(&TYPES)?, secret)?)
            }
        };
        let extracted = extracted.as_ref().map_or(secret, |extracted| extracted);
        let wanted = wanted_length(template)?;
        let expanded;
        let value = match (&hkdf.expand, wanted) {
            (Some(info), Some(wanted)) => {
                let too_long = Error::from(CKR_KEY_SIZE_RANGE);
                if wanted > 255 * digest.length() {
                    return Err(too_long);
                }
                let mut output = Zeroizing::new(vec![0; wanted]);
                expand(digest, extracted, info, &mut output)?;
                expanded = output;
                &expanded[..]
            }
            (Some(_), None) => return Err(CKR_TEMPLATE_INCOMPLETE.into()),
            (None, Some(wanted)) if wanted != extracted.len() => {
                return Err(CKR_KEY_SIZE_RANGE.into());
            }
            (None, _) => extracted,
        };
        if is_data {
            let class = number(CKO_DATA);
            let made: [(_, &[u8]); 2] = [(CKA_CLASS, &class), (CKA_VALUE, value)];
            let data = template.without(CKA_VALUE_LEN);
            return self.keep(Object::new(
                base.slot,
                session,
                &data,
                &made,
                Origin::Created,
            )?);
        }
        let value = (CKK_GENERIC_SECRET, value);
        let key = Object::secret(base.slot, session, template, value, base.offspring())?;
        self.keep(key)
    }
}
