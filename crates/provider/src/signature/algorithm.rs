//! What differs between signature algorithms.

use std::ffi::CStr;

use outboard_engine::Operation;
use outboard_engine::card::Request;
use outboard_engine::ledger::Reason as Why;
use outboard_engine::scalar::digest::Digest;
use outboard_provider_abi::{ParamRef, Result};
use outboard_wire::Operation as Asked;

use crate::key::{Key, KeyType, Service};

/// What the engine calculates with.
pub(super) type Native<A> = <<A as Algorithm>::Key as KeyType>::Native;

/// What differs between signature algorithms.
pub(crate) trait Algorithm: Send + 'static {
    /// Its keys.
    type Key: KeyType;
    /// What a program has set, as far as the engine heeds it.
    type Settings: Clone + Send;
    /// Its name.
    const NAME: &'static CStr;
    /// Whether a message is hashed first; if not, it is signed as it is, in one call.
    const HASHES: bool;

    /// How the ledger calls signing or verifying with a key; none where the engine does not.
    fn operation(key: &Native<Self>, signing: bool) -> Option<Operation>;
    /// The most bytes that a signature has.
    fn most(key: &Native<Self>) -> usize;
    /// The settings that hold until others are set.
    fn settings(key: &Key<Self::Key>) -> Self::Settings;
    /// Whether stock is sure to begin with such a key, where nothing is set.
    fn is_certain(key: &Key<Self::Key>) -> bool;
    /// Takes a parameter that stock took; false where the engine does not know what it does.
    fn take(settings: &mut Self::Settings, digest: Option<Digest>, param: &ParamRef<'_>) -> bool;
    /// Why the engine would not sign or verify like this; none where it would.
    fn objection(settings: &Self::Settings, digest: Option<Digest>) -> Option<Why>;
    /// Signs a digest, or what stands for it, into a buffer of [`most`](Self::most) bytes.
    fn sign(
        key: &Native<Self>,
        settings: &Self::Settings,
        digest: Option<Digest>,
        data: &[u8],
        output: &mut [u8],
    ) -> Result<usize>;
    /// The same as a request to a card.
    fn request(
        key: &Native<Self>,
        settings: &Self::Settings,
        digest: Option<Digest>,
        data: &[u8],
    ) -> Result<Request>;
    /// The same as a request to the card service.
    fn asked<'a>(
        key: &Service,
        settings: &Self::Settings,
        digest: Option<Digest>,
        data: &'a [u8],
    ) -> Result<Asked<'a>>;
    /// Whether that is a signature of the digest, or of what stands for it.
    fn verify(
        key: &Native<Self>,
        settings: &Self::Settings,
        digest: Option<Digest>,
        data: &[u8],
        signature: &[u8],
    ) -> Result<bool>;
}
