//! TLS13-KDF: the secrets of TLS 1.3 (RFC 8446, 7.1).

use std::ffi::CStr;

use outboard_engine::Operation;
use outboard_engine::scalar::hmac::Hash;
use outboard_engine::scalar::key_schedule;
use outboard_provider_abi::Params;

use super::{Algorithm, Mode, hash_once, mode, once};
use crate::hashes::Algorithm as HashAlgorithm;

pub(crate) struct Tls13;

#[derive(Default)]
pub(crate) struct Plan<'a> {
    mode: Option<Mode>,
    hash: Option<HashAlgorithm>,
    key: Option<&'a [u8]>,
    salt: Option<&'a [u8]>,
    prefix: Option<&'a [u8]>,
    label: Option<&'a [u8]>,
    data: Option<&'a [u8]>,
}

impl<'a> Plan<'a> {
    fn of(params: Params<'a>) -> Option<Self> {
        let mut plan = Self::default();
        for param in params {
            match param.key() {
                b"mode" => plan.mode.replace(mode(&param)?).is_none().then_some(())?,
                b"digest" => hash_once(&mut plan.hash, &param)?,
                b"key" => once(&mut plan.key, &param)?,
                b"salt" => once(&mut plan.salt, &param)?,
                b"prefix" => once(&mut plan.prefix, &param)?,
                b"label" => once(&mut plan.label, &param)?,
                b"data" => once(&mut plan.data, &param)?,
                _ => return None,
            }
        }
        Some(plan)
    }
}

impl Algorithm for Tls13 {
    const NAME: &'static CStr = c"TLS13-KDF";

    fn operation(hash: HashAlgorithm) -> Operation {
        match hash {
            HashAlgorithm::Sha256 => Operation::Tls13KdfSha256,
            HashAlgorithm::Sha384 => Operation::Tls13KdfSha384,
        }
    }

    type Plan<'a> = Plan<'a>;

    fn plan(params: Params<'_>) -> Option<(HashAlgorithm, Plan<'_>)> {
        let plan = Plan::of(params)?;
        Some((plan.hash?, plan))
    }

    fn derive(plan: &Plan<'_>, hash: Hash, output: &mut [u8]) -> Option<()> {
        let label = [plan.prefix?, plan.label?];
        match plan.mode? {
            Mode::Expand if plan.salt.is_none() => {
                let data = plan.data.unwrap_or_default();
                key_schedule::expand_label(hash, plan.key?, label, data, output).ok()
            }
            Mode::Extract if plan.data.is_none() => {
                key_schedule::next_secret(hash, plan.salt, plan.key, label, output).ok()
            }
            _ => None,
        }
    }
}
