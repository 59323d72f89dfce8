//! Ed25519: its keys and its signatures.

use std::ffi::CStr;
use std::sync::Arc;

use outboard_engine::card::{self, Request};
use outboard_engine::ledger::Reason as Why;
use outboard_engine::scalar::digest::Digest;
use outboard_engine::scalar::ed25519;
use outboard_engine::{Operation, scalar};
use outboard_provider_abi::params::{END, octets, text};
use outboard_provider_abi::raw::Param;
use outboard_provider_abi::signature::Purpose;
use outboard_provider_abi::{ParamMut, ParamRef, Reason, Result, descriptors};
use zeroize::Zeroizing;

use crate::octet_key::{COMMON, LENGTH, OctetAlgorithm, OctetKey};
use crate::outboard::{Shared, refuse};
use crate::signing::{Algorithm, SigningKey};
use crate::stock;

/// Ed25519's keys and signatures.
pub(crate) struct Ed25519;

impl OctetAlgorithm for Ed25519 {
    const NAME: &'static CStr = c"ED25519";
    const BITS: u64 = 256;
    const OUTPUT_LENGTH: u64 = 64;
    const KEYGEN: Operation = Operation::Ed25519Keygen;
    const EXCHANGES: bool = false;
    const GETTABLE: &'static [Param] = descriptors!(COMMON, [text(c"mandatory-digest")]);
    const SETTABLE: &'static [Param] = &[END];

    type Prepared = Arc<card::ed25519::Key>;

    fn generate() -> scalar::Result<Zeroizing<[u8; LENGTH]>> {
        let mut seed = Zeroizing::new([0; LENGTH]);
        scalar::randomise(&mut seed[..])?;
        Ok(seed)
    }

    fn public_of(private: &[u8; LENGTH]) -> [u8; LENGTH] {
        *ed25519::Private::from_seed(private).public()
    }
}

impl SigningKey for OctetKey<Ed25519> {
    fn shared(&self) -> &Shared {
        OctetKey::shared(self)
    }

    fn operation(&self, signing: bool) -> Option<Operation> {
        Some(if signing {
            Operation::Ed25519Sign
        } else {
            Operation::Ed25519Verify
        })
    }

    fn signature_length(&self) -> Result<usize> {
        Ok(ed25519::SIGNATURE_LENGTH)
    }

    fn stock(&self) -> Result<Arc<stock::Key>> {
        OctetKey::stock(self)
    }
}

impl Algorithm for Ed25519 {
    type Key = OctetKey<Ed25519>;
    type Settings = ();
    const HASHES: bool = false;
    const GETTABLE: &'static [Param] = &[octets(c"algorithm-id"), END];
    // Variants with a context or a prehash are the default provider's, where it has them.
    const SETTABLE: &'static [Param] = &[text(c"instance"), octets(c"context-string"), END];

    fn settings(_key: &Self::Key) {}

    fn set(_settings: &mut (), _param: &ParamRef<'_>) -> Result<bool> {
        Ok(false)
    }

    fn get(_settings: &(), _digest: Option<Digest>, param: &mut ParamMut<'_>) -> Result<bool> {
        // AlgorithmIdentifier { id-Ed25519 } (RFC 8410, 3).
        const IDENTIFIER: &[u8] = &[0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70];
        match param.key() {
            b"algorithm-id" => param.set_octets(IDENTIFIER).map(|()| true),
            _ => Ok(false),
        }
    }

    fn objection(
        _key: &Self::Key,
        _settings: &(),
        _digest: Option<Digest>,
        _purpose: Purpose,
    ) -> Option<Why> {
        None
    }

    fn sign(
        key: &Self::Key,
        _settings: &(),
        _digest: Option<Digest>,
        data: &[u8],
        output: &mut [u8],
    ) -> Result<usize> {
        let signature = output.first_chunk_mut().ok_or(Reason::BufferTooSmall)?;
        let private = ed25519::Private::of_halves(key.private()?, key.public()?);
        private.sign(data, signature).map_err(refuse)?;
        Ok(ed25519::SIGNATURE_LENGTH)
    }

    fn request(
        key: &Self::Key,
        _settings: &(),
        _digest: Option<Digest>,
        data: &[u8],
    ) -> Result<Request> {
        let prepared = key.prepared(|private, public| {
            let private = ed25519::Private::of_halves(private, public);
            Arc::new(card::ed25519::Key::new(private))
        })?;
        Ok(Request::ed25519(Arc::clone(prepared), data))
    }

    fn verify(
        key: &Self::Key,
        _settings: &(),
        _digest: Option<Digest>,
        data: &[u8],
        signature: &[u8],
    ) -> Result<bool> {
        Ok(ed25519::verify(key.public()?, data, signature))
    }
}
