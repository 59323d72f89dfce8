//! HKDF (RFC 5869).

use std::ffi::CStr;

use outboard_engine::Operation;
use outboard_engine::scalar::hmac::MAX_LENGTH;
use outboard_engine::scalar::key_schedule;
use outboard_provider_abi::Params;
use zeroize::Zeroizing;

use super::{Algorithm, Mode, Pieces, hash_once, mode, once};
use crate::hashes::{Algorithm as HashAlgorithm, Hashes};

pub(crate) struct Hkdf;

impl Algorithm for Hkdf {
    const NAME: &'static CStr = c"HKDF";

    fn operation(hash: HashAlgorithm) -> Operation {
        match hash {
            HashAlgorithm::Sha256 => Operation::HkdfSha256,
            HashAlgorithm::Sha384 => Operation::HkdfSha384,
        }
    }

    fn derive(hashes: &Hashes, params: Params<'_>, output: &mut [u8]) -> Option<HashAlgorithm> {
        let (mut wanted, mut hash) = (None, None);
        let (mut key, mut salt) = (None, None);
        let mut info = Pieces::default();
        for param in params {
            match param.key() {
                b"mode" => wanted.replace(mode(&param)?).is_none().then_some(())?,
                b"digest" => hash_once(&mut hash, &param)?,
                b"key" => once(&mut key, &param)?,
                b"salt" => once(&mut salt, &param)?,
                b"info" => info.push(param.octets().ok()?)?,
                _ => return None,
            }
        }
        let by = hashes.hash(hash?);
        let (key, salt) = (key?, salt.unwrap_or_default());
        match wanted.unwrap_or(Mode::Both) {
            Mode::Extract if output.len() == by.length() => {
                key_schedule::extract(by, salt, key, output).ok()?;
            }
            Mode::Expand => key_schedule::expand(by, key, info.as_slice(), output).ok()?,
            Mode::Both => {
                let mut secret = Zeroizing::new([0; MAX_LENGTH]);
                let secret = &mut secret[..by.length()];
                key_schedule::extract(by, salt, key, secret).ok()?;
                key_schedule::expand(by, secret, info.as_slice(), output).ok()?;
            }
            Mode::Extract => return None,
        }
        hash
    }
}
