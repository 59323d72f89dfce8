//! Signatures: every digest, padding and length; every order of calls; malformed ones.

mod digests;
mod malformed;
mod midway;
mod orders;
mod settings;

use std::ffi::CStr;

use super::Scenario;
use crate::operations::Kind;
use digests::{digests, pss};
use malformed::malformed;
use midway::midway;
use orders::orders;
use settings::settings;

const DIGESTS: [&CStr; 16] = [
    c"MD5",
    c"SHA1",
    c"SHA224",
    c"SHA256",
    c"SHA384",
    c"SHA512",
    c"SHA512-224",
    c"SHA512-256",
    c"SHA3-256",
    c"SHA3-512",
    c"RIPEMD160",
    c"SM3",
    c"BLAKE2S-256",
    c"MD5-SHA1",
    c"SHAKE256",
    c"no such",
];
const SIGNING: [&str; 19] = [
    "rsa512",
    "rsa1024",
    "rsa2048",
    "rsa3072",
    "rsa4096",
    "rsa2048-three-primes",
    "pss2048",
    "pss2048-sha256",
    "pss2048-sha384",
    "ec-P-192",
    "ec-P-256",
    "ec-P-384",
    "ec-P-521",
    "ec-secp256k1",
    "ec-P-256-explicit",
    "sm2",
    "ed25519",
    "ed448",
    "dsa2048",
];

/// One of each kind, as they are many.
const SETTINGS: [&str; 6] = [
    "rsa1024", "rsa2048", "pss2048", "ec-P-256", "sm2", "ed25519",
];

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut all = Vec::new();
    for name in SETTINGS {
        all.push(Scenario::new(format!("sign/settings/{name}"), move |t| {
            settings(t, name)
        }));
    }
    for name in ["rsa2048", "rsa1024", "pss2048", "ec-P-256", "ec-P-224"] {
        all.push(Scenario::new(format!("sign/midway/{name}"), move |t| {
            midway(t, name)
        }));
    }
    for name in SIGNING {
        all.push(Scenario::new(format!("sign/digests/{name}"), move |t| {
            digests(t, name)
        }));
        all.push(Scenario::new(format!("sign/orders/{name}"), move |t| {
            orders(t, name)
        }));
        all.push(Scenario::new(format!("sign/malformed/{name}"), move |t| {
            malformed(t, name)
        }));
    }
    for name in [
        "rsa1024",
        "rsa2048",
        "rsa3072",
        "pss2048",
        "pss2048-sha256",
        "pss2048-sha384",
        "rsa2048-three-primes",
    ] {
        all.push(Scenario::new(format!("sign/pss/{name}"), move |t| {
            pss(t, name)
        }));
    }
    all
}

/// Whether a signature is the same every time.
fn exact(kind: Kind, padding: Option<i32>) -> bool {
    matches!(kind, Kind::Edwards) || kind == Kind::Rsa && padding != Some(6)
}
