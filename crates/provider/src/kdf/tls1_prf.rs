//! TLS1-PRF: the key schedule of TLS 1.2 (RFC 5246, 5).

use std::ffi::CStr;

use outboard_engine::Operation;
use outboard_engine::scalar::hmac::Hash;
use outboard_engine::scalar::key_schedule;
use outboard_provider_abi::Params;

use super::{Algorithm, Pieces, hash_once, once};
use crate::hashes::Algorithm as HashAlgorithm;

pub(crate) struct Tls1Prf;

pub(crate) struct Plan<'a> {
    secret: &'a [u8],
    seed: Pieces<'a>,
}

/// A longer seed is refused by some versions.
const LONGEST_SEED: usize = 256;

impl Algorithm for Tls1Prf {
    const NAME: &'static CStr = c"TLS1-PRF";

    fn operation(hash: HashAlgorithm) -> Operation {
        match hash {
            HashAlgorithm::Sha256 => Operation::Tls1PrfSha256,
            HashAlgorithm::Sha384 => Operation::Tls1PrfSha384,
        }
    }

    type Plan<'a> = Plan<'a>;

    fn plan(params: Params<'_>) -> Option<(HashAlgorithm, Plan<'_>)> {
        let (mut hash, mut secret) = (None, None);
        let mut seed = Pieces::default();
        for param in params {
            match param.key() {
                b"digest" => hash_once(&mut hash, &param)?,
                b"secret" => once(&mut secret, &param)?,
                b"seed" => seed.push(param.octets().ok()?)?,
                _ => return None,
            }
        }
        if !(1..=LONGEST_SEED).contains(&seed.length()) {
            return None;
        }
        let secret = secret?;
        Some((hash?, Plan { secret, seed }))
    }

    fn derive(plan: &Plan<'_>, hash: Hash, output: &mut [u8]) -> Option<()> {
        key_schedule::prf(hash, plan.secret, plan.seed.as_slice(), output);
        Some(())
    }
}
