//! Verification.

use std::sync::Arc;

use cryptoki_sys::*;
use der::Encode;
use der::asn1::UintRef;
use outboard_engine::scalar::digest::Hasher;
use outboard_engine::scalar::ed25519;
use outboard_engine::scalar::rsa::Scheme;

use super::hash;
use super::mac::{Coding, OrCode};
use super::sign::{Pair, end, fits, go_on, length, unpadded};
use crate::error::Result;
use crate::mechanism::{Mechanism, Sign, SignScheme, What};
use crate::module::{self, Module};
use crate::object::{Material, Object};
use crate::session::Session;

/// A verification under way.
pub(crate) struct Verifying {
    key: Arc<Object>,
    sign: Sign,
    hasher: Option<Hasher>,
}

fn place(session: &mut Session) -> &mut Option<OrCode<Verifying>> {
    &mut session.verifying
}

impl Module {
    /// `C_VerifyInit`
    pub(crate) fn verify_init(
        &self,
        session: CK_SESSION_HANDLE,
        mechanism: &Mechanism,
        key: CK_OBJECT_HANDLE,
    ) -> Result<()> {
        let key = self.object(session, key, CKR_KEY_HANDLE_INVALID)?;
        if let What::Code(code, length) = &mechanism.what {
            let coding = Coding::new(&key, code, *length)?;
            key.admit(CKA_VERIFY, mechanism.kind)?;
            return self.begin(session, place, OrCode::Code(coding));
        }
        let What::Sign(sign) = &mechanism.what else {
            return Err(CKR_MECHANISM_INVALID.into());
        };
        fits(&key.material, &sign.scheme)?;
        key.admit(CKA_VERIFY, mechanism.kind)?;
        let (sign, hasher) = (sign.clone(), None);
        let verifying = Verifying { key, sign, hasher };
        self.begin(session, place, OrCode::Signature(verifying))
    }

    /// `C_Verify`
    pub(crate) fn verify(
        &self,
        session: CK_SESSION_HANDLE,
        data: &[u8],
        signature: &[u8],
    ) -> Result<()> {
        let verifying = match self.take(session, place)? {
            OrCode::Signature(verifying) => verifying,
            OrCode::Code(coding) => return coding.verify(Some(data), signature),
        };
        if verifying.hasher.is_some() {
            return Err(CKR_OPERATION_ACTIVE.into());
        }
        match verifying.sign.hash {
            Some(digest) => verifying.finish(&hash(digest, data)?, signature),
            None => verifying.finish(data, signature),
        }
    }

    /// `C_VerifyUpdate`
    pub(crate) fn verify_update(&self, session: CK_SESSION_HANDLE, part: &[u8]) -> Result<()> {
        let mut verifying = self.take(session, place)?;
        match &mut verifying {
            OrCode::Signature(Verifying { hasher, sign, .. }) => go_on(hasher, sign, part)?,
            OrCode::Code(coding) => coding.update(part)?,
        }
        self.put_back(session, place, verifying);
        Ok(())
    }

    /// `C_VerifyFinal`
    pub(crate) fn verify_final(&self, session: CK_SESSION_HANDLE, signature: &[u8]) -> Result<()> {
        let mut verifying = match self.take(session, place)? {
            OrCode::Signature(verifying) => verifying,
            OrCode::Code(coding) => return coding.verify(None, signature),
        };
        let value = end(&mut verifying.hasher, &verifying.sign)?;
        verifying.finish(&value, signature)
    }
}

/// Whether a signature is as long as the key's are. Those on curves may be shorter, as long as both numbers are equally long (PKCS #11
/// version 3.1, 6.3.1): Java leaves out zeros that both begin with.
fn has_length(key: &Material, signature: &[u8]) -> bool {
    let (longest, length) = (length(key), signature.len());
    match key {
        Material::Ec(_) => (2..=longest).contains(&length) && length % 2 == 0,
        _ => length == longest,
    }
}

impl Verifying {
    /// Judges the signature of a digest, or of what the program gave instead.
    fn finish(&self, value: &[u8], signature: &[u8]) -> Result<()> {
        if !has_length(&self.key.material, signature) {
            return Err(CKR_SIGNATURE_LEN_RANGE.into());
        }
        let is_right = match (&self.key.material, &self.sign.scheme) {
            (Material::Rsa(key), SignScheme::Pkcs1) => match self.sign.hash {
                Some(digest) => key.verify(Scheme::Pkcs1, digest, value, signature),
                None => key.verify_unnamed(value, signature),
            },
            (Material::Rsa(key), SignScheme::Raw) => {
                key.verify_power(&unpadded(key.length(), value)?, signature)
            }
            (Material::Rsa(key), SignScheme::Pss(digest, scheme)) => {
                key.verify(*scheme, *digest, value, signature)
            }
            (Material::Ec(key), _) => {
                let (r, s) = signature.split_at(signature.len() / 2);
                let pair = UintRef::new(r).and_then(|r| {
                    let s = UintRef::new(s)?;
                    Pair { r, s }.to_der()
                });
                pair.is_ok_and(|pair| key.verify(value, &pair))
            }
            (Material::Ed25519(key), _) => ed25519::verify(key.public(), value, signature),
            (Material::MlDsa(key), SignScheme::MlDsa(context)) => {
                let path = module::path(key.set().verification());
                key.verify(path, value, context, signature)?
            }
            (Material::Ed25519Public(key), _) => ed25519::verify(key, value, signature),
            _ => return Err(CKR_KEY_TYPE_INCONSISTENT.into()),
        };
        match is_right {
            true => Ok(()),
            false => Err(CKR_SIGNATURE_INVALID.into()),
        }
    }
}
