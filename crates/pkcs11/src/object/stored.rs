//! Objects of a token of the card service: what the service keeps of them, and what is made of that again.
//!
//! The service has the private half of a key pair, and tells the public half. All that the other attributes are is kept as bytes
//! ([`outboard_wire::attributes`]).

use std::collections::BTreeMap;
use std::sync::Arc;

use cryptoki_sys::*;
use outboard_administration::{MOST_ATTRIBUTES, NewObject, ObjectInfo, Secret};
use outboard_wire::attributes;
use zeroize::Zeroizing;

use super::attributes::Attributes;
use super::rules::SECRETS;
use super::{Material, Object, Origin, halves};
use crate::abi::Template;
use crate::coprocessor::ServiceKey;
use crate::error::{Error, Result};
use crate::slot::Slot;

/// What the service itself says of an object, and no attribute that is kept.
const SAID: [CK_ATTRIBUTE_TYPE; 3] = [CKA_TOKEN, CKA_PRIVATE, CKA_UNIQUE_ID];

impl Attributes {
    /// The bytes that are kept: all but the secrets of a private key.
    pub(crate) fn kept(&self) -> Zeroizing<Vec<u8>> {
        let is_private = self.number(CKA_CLASS) == Some(CKO_PRIVATE_KEY);
        let is_left_out = |kind: &CK_ATTRIBUTE_TYPE| {
            SAID.contains(kind) || (is_private && SECRETS.contains(kind))
        };
        let kept = self.iter().filter(|(kind, _)| !is_left_out(kind));
        let kept: BTreeMap<u64, &[u8]> = kept.collect();
        Zeroizing::new(attributes::write(&kept))
    }

    /// What the service is given to keep.
    ///
    /// # Errors
    /// `CKR_DEVICE_MEMORY`: it is too much.
    pub(crate) fn to_store(&self) -> Result<NewObject> {
        Ok(NewObject {
            private: self.flag(CKA_PRIVATE) == Some(true),
            attributes: bounded(self.kept())?,
        })
    }

    /// What the service is given to change of what it keeps: another process may have changed the rest.
    ///
    /// # Errors
    /// As of [`to_store`](Self::to_store).
    pub(crate) fn to_change(&self, before: &Self) -> Result<Secret> {
        bounded(self.unlike(before).kept())
    }

    /// The attributes of what is kept.
    ///
    /// # Errors
    /// They are damaged.
    pub(crate) fn of_store(info: &ObjectInfo) -> Result<Self> {
        let damaged = |_| Error::from(CKR_GENERAL_ERROR);
        let kept = attributes::Attributes::read(&info.attributes.0).map_err(damaged)?;
        let private = [info.private.into()];
        let mut made: Vec<(CK_ATTRIBUTE_TYPE, &[u8])> = vec![
            (CKA_TOKEN, &[CK_TRUE]),
            (CKA_PRIVATE, &private),
            (CKA_UNIQUE_ID, info.id.as_bytes()),
        ];
        let public = info.public.as_deref().map(from_base64).transpose()?;
        let halves = public.as_deref().map(halves).transpose()?;
        let halves = halves.unwrap_or_default();
        let half = match info.kind {
            Some(_) => halves.private(),
            None => halves.public(),
        };
        // A program may have called the curve by another name.
        let is_named = kept.find(CKA_EC_PARAMS).is_some();
        made.extend(
            half.into_iter()
                .filter(|(kind, _)| !(is_named && *kind == CKA_EC_PARAMS)),
        );
        for (kind, value) in kept.iter() {
            if !made.iter().any(|(known, _)| *known == kind) {
                made.push((kind, value));
            }
        }
        Self::new(&Template::default(), &made, Origin::Service)
    }
}

impl Object {
    /// The object of what the service keeps in the token of a slot, which has that name.
    ///
    /// # Errors
    /// It makes none: another version of Outboard wrote it.
    pub(crate) fn of_store(
        slot: Slot,
        token: &str,
        info: &ObjectInfo,
        attributes: Attributes,
    ) -> Result<Self> {
        let material = match &info.kind {
            Some(_) => {
                let public = from_base64(info.public.as_deref().ok_or(CKR_GENERAL_ERROR)?)?;
                let id = info.id.parse().map_err(|_| CKR_GENERAL_ERROR)?;
                let asks = attributes.flag(CKA_ALWAYS_AUTHENTICATE) == Some(true);
                let key = ServiceKey::of_token(slot, token.into(), id, &public, asks)?;
                Material::Service(Arc::new(key))
            }
            None => Material::of(&attributes)?,
        };
        Ok(Self {
            slot,
            session: 0,
            attributes,
            material,
        })
    }

    /// Whether only its user sees it.
    pub(crate) fn is_private(&self) -> bool {
        self.attributes.flag(CKA_PRIVATE) == Some(true)
    }

    /// The id of an object of a token, by which the service knows it.
    pub(crate) fn id(&self) -> Result<&str> {
        let id = self.attributes.get(CKA_UNIQUE_ID).map(str::from_utf8);
        id.and_then(std::result::Result::ok)
            .ok_or(CKR_GENERAL_ERROR.into())
    }
}

fn bounded(kept: Zeroizing<Vec<u8>>) -> Result<Secret> {
    match kept.len() {
        0..=MOST_ATTRIBUTES => Ok(Secret(kept)),
        _ => Err(CKR_DEVICE_MEMORY.into()),
    }
}

fn from_base64(text: &str) -> Result<Vec<u8>> {
    use base64ct::{Base64, Encoding};
    Base64::decode_vec(text).map_err(|_| CKR_GENERAL_ERROR.into())
}
