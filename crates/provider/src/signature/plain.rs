//! What the engine has to know of an operation.

use std::ffi::CStr;

use outboard_engine::scalar::digest::Digest;
use outboard_provider_abi::signature::Purpose;

use super::algorithm::Algorithm;
use crate::key::Key;

/// A setting of which the engine knows all.
pub(super) struct Plain<A: Algorithm> {
    pub(super) settings: A::Settings,
    pub(super) digest: Option<Digest>,
}

impl<A: Algorithm> Clone for Plain<A> {
    fn clone(&self) -> Self {
        Self {
            settings: self.settings.clone(),
            digest: self.digest,
        }
    }
}

impl<A: Algorithm> Plain<A> {
    /// An operation as it was begun; none where the engine does nothing of the kind.
    pub(super) fn begin(key: &Key<A::Key>, purpose: Purpose, name: Option<&CStr>) -> Option<Self> {
        let digest = match name {
            Some(name) => Some(Digest::from_name(name.to_str().ok()?)?),
            None => None,
        };
        let known = match purpose {
            Purpose::Sign | Purpose::Verify => A::HASHES,
            Purpose::DigestSign | Purpose::DigestVerify => A::HASHES == digest.is_some(),
            Purpose::MessageSign | Purpose::MessageVerify => !A::HASHES,
            Purpose::Recover => false,
        };
        known.then(|| Self {
            settings: A::settings(key),
            digest,
        })
    }
}
