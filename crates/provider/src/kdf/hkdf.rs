//! HKDF (RFC 5869).

use std::ffi::CStr;

use outboard_engine::Operation;
use outboard_engine::scalar::hmac::Hash;
use outboard_engine::scalar::key_schedule;
use outboard_provider_abi::Params;

use super::{Algorithm, Mode, Pieces, hash_once, mode, once};
use crate::hashes::Algorithm as HashAlgorithm;

pub(crate) struct Hkdf;

pub(crate) struct Plan<'a> {
    mode: Mode,
    key: &'a [u8],
    salt: &'a [u8],
    info: Pieces<'a>,
}

impl Algorithm for Hkdf {
    const NAME: &'static CStr = c"HKDF";

    fn operation(hash: HashAlgorithm) -> Operation {
        match hash {
            HashAlgorithm::Sha256 => Operation::HkdfSha256,
            HashAlgorithm::Sha384 => Operation::HkdfSha384,
        }
    }

    type Plan<'a> = Plan<'a>;

    fn plan(params: Params<'_>) -> Option<(HashAlgorithm, Plan<'_>)> {
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
        let plan = Plan {
            mode: wanted.unwrap_or(Mode::Both),
            key: key?,
            salt: salt.unwrap_or_default(),
            info,
        };
        Some((hash?, plan))
    }

    fn derive(plan: &Plan<'_>, hash: Hash, output: &mut [u8]) -> Option<()> {
        let info = plan.info.as_slice();
        match plan.mode {
            Mode::Extract => key_schedule::extract(hash, plan.salt, plan.key, output).ok(),
            Mode::Expand => key_schedule::expand(hash, plan.key, info, output).ok(),
            Mode::Both => key_schedule::hkdf(hash, plan.salt, plan.key, info, output).ok(),
        }
    }
}
