//! Keys that come from others: secrets that two keys share, and what HKDF makes of a secret.

use std::sync::Arc;

use cryptoki_sys::*;
use outboard_engine::card::Request;
use outboard_engine::scalar::ec;
use outboard_wire::Operation as Asked;

use super::computation::Function;
use super::generate::wanted_number;
use crate::abi::Template;
use crate::coprocessor::Kind;
use crate::error::{Error, Result};
use crate::mechanism::{Mechanism, What};
use crate::module::Module;
use crate::object::{Material, Named, Object, fixed_length, point_of};

impl Module {
    /// `C_DeriveKey`
    pub(crate) fn derive(
        &self,
        session: CK_SESSION_HANDLE,
        mechanism: &Mechanism,
        base: CK_OBJECT_HANDLE,
        template: &Template<'_>,
    ) -> Result<CK_OBJECT_HANDLE> {
        let base = self.object(session, base, CKR_KEY_HANDLE_INVALID)?;
        if let What::Hkdf(hkdf) | What::HkdfData(hkdf) = &mechanism.what {
            base.admit(CKA_DERIVE, mechanism.kind)?;
            let is_data = matches!(mechanism.what, What::HkdfData(_));
            return self.hkdf(session, &base, (hkdf, is_data), template);
        }
        let What::Agree(peer) = &mechanism.what else {
            return Err(CKR_MECHANISM_INVALID.into());
        };
        base.admit(CKA_DERIVE, mechanism.kind)?;
        let manner = self.manner(session, CKF_DERIVE)?;
        let invalid = |_| Error::from(CKR_MECHANISM_PARAM_INVALID);
        let shared = match &base.material {
            Material::Ec(key) if key.is_private() => {
                let peer = point_of(peer, Named::Nist(key.curve())).map_err(invalid)?;
                let peer = ec::Key::public(key.curve(), peer);
                let peer = peer.map_err(|_| Error::from(CKR_MECHANISM_PARAM_INVALID))?;
                self.compute(Request::ecdh(Arc::clone(key), Arc::new(peer))?, manner)
            }
            Material::X25519(key) => {
                let peer = point_of(peer, Named::X25519).map_err(invalid)?;
                let peer = peer.try_into().map_err(|_| CKR_MECHANISM_PARAM_INVALID)?;
                self.compute(Request::x25519(key, peer), manner)
            }
            Material::Service(key) if key.kind == Kind::Ec => {
                let named = base.attributes.get(CKA_EC_PARAMS).unwrap_or_default();
                let named = Named::from_parameters(named).ok_or(CKR_GENERAL_ERROR)?;
                let point = point_of(peer, named).map_err(invalid)?;
                self.ask(key, Asked::Ecdh { point }, manner)
            }
            _ => return Err(CKR_KEY_TYPE_INCONSISTENT.into()),
        };
        let wanted = wanted_length(template)?;
        let template = template.keep();
        let key = shared.map(move |shared| {
            let shared = shared?;
            let length = wanted.unwrap_or(shared.len());
            // What is too much is taken away at the front (PKCS #11, ECDH).
            let start = shared.len().checked_sub(length);
            let start = start.filter(|_| length > 0).ok_or(CKR_KEY_SIZE_RANGE)?;
            let secret = Object::secret(
                base.slot,
                session,
                &template.template(),
                (CKK_GENERIC_SECRET, &shared[start..]),
                base.offspring(),
            )?;
            Self::get()?.keep(secret)
        });
        self.give_object(session, Function::DeriveKey, key)
    }
}

/// The length that a template asks for, or that all keys of its type have.
pub(super) fn wanted_length(template: &Template<'_>) -> Result<Option<usize>> {
    let of = |kind| {
        let given = template.get(kind).map(|_| wanted_number(template, kind));
        given.transpose()
    };
    Ok(match of(CKA_VALUE_LEN)? {
        Some(length) => Some(length as usize),
        None => of(CKA_KEY_TYPE)?.and_then(fixed_length),
    })
}
