//! What TLS derives, as libssl does it: algorithm and context are made for each call.

use std::ffi::CStr;

use outboard_libcrypto::{Context, Params, key_schedule};

use super::Prepared;
use crate::Result;

/// As long as a secret can be.
const SECRET: [u8; 64] = [0x5e; 64];
const RANDOMS: [u8; 64] = [0x4a; 64];
/// As long as what a ticket's code is made of.
const MESSAGE: [u8; 64] = [0x61; 64];

/// What is derived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A secret from the one before, by TLS13-KDF.
    Tls13Expand,
    /// The next stage's secret, by TLS13-KDF.
    Tls13Extract,
    /// A block of keys, by TLS1-PRF.
    Tls1Prf,
    /// A key, by HKDF.
    Hkdf,
    /// The code of a short message, by HMAC.
    Hmac,
}

/// The hash that it is done with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hash {
    Sha256,
    Sha384,
    /// Which Outboard leaves to stock.
    Sha512,
}

impl Hash {
    fn name(self) -> &'static CStr {
        match self {
            Self::Sha256 => c"SHA256",
            Self::Sha384 => c"SHA384",
            Self::Sha512 => c"SHA512",
        }
    }

    fn length(self) -> usize {
        match self {
            Self::Sha256 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => 64,
        }
    }
}

impl Kind {
    fn algorithm(self) -> &'static CStr {
        match self {
            Self::Tls13Expand | Self::Tls13Extract => c"TLS13-KDF",
            Self::Tls1Prf => c"TLS1-PRF",
            Self::Hkdf => c"HKDF",
            Self::Hmac => c"HMAC",
        }
    }

    fn params(self, hash: Hash) -> Params {
        let secret = &SECRET[..hash.length()];
        let params = Params::new().text(c"digest", &hash.name().to_string_lossy());
        let tls13 = |params: Params| {
            params
                .bytes(c"key", secret)
                .bytes(c"prefix", b"tls13 ")
                .bytes(c"label", b"derived")
        };
        match self {
            Self::Tls13Expand => tls13(params.int(c"mode", 2)).bytes(c"data", secret),
            Self::Tls13Extract => tls13(params.int(c"mode", 1)).bytes(c"salt", secret),
            Self::Tls1Prf => params
                .bytes(c"secret", &SECRET[..48])
                .bytes(c"seed", b"key expansion")
                .bytes(c"seed", &RANDOMS),
            Self::Hkdf => params
                .bytes(c"key", secret)
                .bytes(c"salt", secret)
                .bytes(c"info", b"info"),
            Self::Hmac => params,
        }
    }

    fn output_length(self, hash: Hash) -> usize {
        match self {
            Self::Tls1Prf => 104,
            _ => hash.length(),
        }
    }

    /// What comes of it.
    pub(crate) fn run(self, context: &Context, hash: Hash, output: &mut [u8]) -> Result<usize> {
        let length = self.output_length(hash);
        match self {
            Self::Hmac => {
                let key = &SECRET[..hash.length()];
                Ok(key_schedule::hmac(
                    context,
                    hash.name(),
                    key,
                    &MESSAGE,
                    output,
                )?)
            }
            _ => {
                let (name, output) = (self.algorithm(), &mut output[..length]);
                key_schedule::derive_by_kdf(context, name, &self.params(hash), output)?;
                Ok(length)
            }
        }
    }
}

/// Derives once and again.
pub(super) fn derive(context: &Context, kind: Kind, hash: Hash) -> Result<Prepared> {
    let served_by = match kind {
        Kind::Hmac => key_schedule::provider_of_mac(context, kind.algorithm()),
        _ => key_schedule::provider_of_kdf(context, kind.algorithm()),
    };
    let (context, params) = (context.clone(), kind.params(hash));
    let mut output = vec![0; kind.output_length(hash)];
    Ok(Prepared::new(served_by, move || {
        match kind {
            Kind::Hmac => {
                let key = &SECRET[..hash.length()];
                key_schedule::hmac(&context, hash.name(), key, &MESSAGE, &mut output)?;
            }
            _ => key_schedule::derive_by_kdf(&context, kind.algorithm(), &params, &mut output)?,
        }
        Ok(())
    }))
}
