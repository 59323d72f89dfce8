//! Secrets that are encapsulated for a key (PKCS #11 3.2, 5.18.8).

use std::sync::Arc;

use cryptoki_sys::*;
use outboard_engine::kem;

use crate::abi::{Output, Template};
use crate::error::Result;
use crate::mechanism::{Mechanism, What};
use crate::module::{Module, path};
use crate::object::{Material, Object, Origin};

impl Module {
    /// `C_EncapsulateKey`: the handle of the new secret; none where the program asks for the ciphertext's length.
    pub(crate) fn encapsulate(
        &self,
        session: CK_SESSION_HANDLE,
        mechanism: &Mechanism,
        key: CK_OBJECT_HANDLE,
        template: &Template<'_>,
        mut ciphertext: Output<'_>,
    ) -> Result<Option<CK_OBJECT_HANDLE>> {
        let (object, key) = self.kem_key(session, mechanism, key, CKA_ENCAPSULATE)?;
        if ciphertext.is_question(key.set().ciphertext_length())? {
            return Ok(None);
        }
        let (encapsulated, secret) = key.encapsulate(path(key.set().encapsulation()))?;
        let secret = self.shared(&object, session, template, &secret)?;
        ciphertext.put(&encapsulated)?;
        Ok(Some(secret))
    }

    /// `C_DecapsulateKey`
    pub(crate) fn decapsulate(
        &self,
        session: CK_SESSION_HANDLE,
        mechanism: &Mechanism,
        key: CK_OBJECT_HANDLE,
        template: &Template<'_>,
        ciphertext: &[u8],
    ) -> Result<CK_OBJECT_HANDLE> {
        let (object, key) = self.kem_key(session, mechanism, key, CKA_DECAPSULATE)?;
        if ciphertext.len() != key.set().ciphertext_length() {
            return Err(CKR_WRAPPED_KEY_LEN_RANGE.into());
        }
        let secret = key.decapsulate(path(key.set().decapsulation()), ciphertext)?;
        self.shared(&object, session, template, &secret)
    }

    /// A key that may be used so, and its object.
    fn kem_key(
        &self,
        session: CK_SESSION_HANDLE,
        mechanism: &Mechanism,
        key: CK_OBJECT_HANDLE,
        usage: CK_ATTRIBUTE_TYPE,
    ) -> Result<(Arc<Object>, Arc<kem::Key>)> {
        if mechanism.what != What::Kem {
            return Err(CKR_MECHANISM_INVALID.into());
        }
        let (class, no_key, wrong_type) = match usage {
            CKA_ENCAPSULATE => (
                CKO_PUBLIC_KEY,
                CKR_KEY_HANDLE_INVALID,
                CKR_KEY_TYPE_INCONSISTENT,
            ),
            _ => (
                CKO_PRIVATE_KEY,
                CKR_UNWRAPPING_KEY_HANDLE_INVALID,
                CKR_UNWRAPPING_KEY_TYPE_INCONSISTENT,
            ),
        };
        let object = self.object(session, key, no_key)?;
        let is_half = object.attributes.number(CKA_CLASS) == Some(class);
        match &object.material {
            Material::MlKem(key) if is_half => {
                object.admit(usage, mechanism.kind)?;
                Ok((Arc::clone(&object), Arc::clone(key)))
            }
            _ => Err(wrong_type.into()),
        }
    }

    /// The object of a shared secret. The other side has it, too.
    fn shared(
        &self,
        key: &Object,
        session: CK_SESSION_HANDLE,
        template: &Template<'_>,
        secret: &kem::Secret,
    ) -> Result<CK_OBJECT_HANDLE> {
        let origin = Origin::Derived {
            always_sensitive: false,
            never_extractable: false,
        };
        let template = template.or(CKA_EXTRACTABLE, &[CK_TRUE]);
        let value = (CKK_GENERIC_SECRET, &secret[..]);
        let secret = Object::secret(key.slot, session, &template, value, origin)?;
        self.keep(secret)
    }
}
