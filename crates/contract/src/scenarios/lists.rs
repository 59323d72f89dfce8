//! What can be read and set: the lists of descriptors, and what is not offered.

use std::ffi::CStr;

use super::Scenario;
use crate::params::{Param, descriptors};
use crate::transcript::{Arg, NULL, Object, Transcript, object};

const KEYS: [&CStr; 11] = [
    c"RSA",
    c"RSA-PSS",
    c"EC",
    c"SM2",
    c"X25519",
    c"X448",
    c"ED25519",
    c"ED448",
    c"DSA",
    c"DH",
    c"ML-KEM-768",
];
const SIGNATURES: [&CStr; 8] = [
    c"RSA",
    c"ECDSA",
    c"ED25519",
    c"ED448",
    c"DSA",
    c"SM2",
    c"RSA-SHA256",
    c"ECDSA-SHA256",
];
const EXCHANGES: [&CStr; 4] = [c"ECDH", c"X25519", c"X448", c"DH"];
const CIPHERS: [&CStr; 8] = [
    c"AES-128-GCM",
    c"AES-192-GCM",
    c"AES-256-GCM",
    c"aes-256-gcm",
    c"id-aes256-GCM",
    c"2.16.840.1.101.3.4.1.46",
    c"AES-128-CBC",
    c"ChaCha20-Poly1305",
];

pub(super) fn scenarios() -> Vec<Scenario> {
    vec![
        Scenario::new("lists/keys", |t| {
            lists(
                t,
                &KEYS,
                "EVP_KEYMGMT_fetch",
                "EVP_KEYMGMT_is_a",
                &[
                    "EVP_KEYMGMT_gettable_params",
                    "EVP_KEYMGMT_settable_params",
                    "EVP_KEYMGMT_gen_settable_params",
                    "EVP_KEYMGMT_gen_gettable_params",
                ],
            );
        }),
        Scenario::new("lists/signatures", |t| {
            lists(
                t,
                &SIGNATURES,
                "EVP_SIGNATURE_fetch",
                "EVP_SIGNATURE_is_a",
                &[
                    "EVP_SIGNATURE_gettable_ctx_params",
                    "EVP_SIGNATURE_settable_ctx_params",
                ],
            );
        }),
        Scenario::new("lists/exchanges", |t| {
            lists(
                t,
                &EXCHANGES,
                "EVP_KEYEXCH_fetch",
                "EVP_KEYEXCH_is_a",
                &[
                    "EVP_KEYEXCH_gettable_ctx_params",
                    "EVP_KEYEXCH_settable_ctx_params",
                ],
            );
        }),
        Scenario::new("lists/ciphers", |t| {
            lists(
                t,
                &CIPHERS,
                "EVP_CIPHER_fetch",
                "EVP_CIPHER_is_a",
                &[
                    "EVP_CIPHER_gettable_params",
                    "EVP_CIPHER_gettable_ctx_params",
                    "EVP_CIPHER_settable_ctx_params",
                ],
            );
        }),
        Scenario::new("lists/asymmetric-ciphers", |t| {
            lists(
                t,
                &[c"RSA", c"SM2"],
                "EVP_ASYM_CIPHER_fetch",
                "EVP_ASYM_CIPHER_is_a",
                &[
                    "EVP_ASYM_CIPHER_gettable_ctx_params",
                    "EVP_ASYM_CIPHER_settable_ctx_params",
                ],
            );
        }),
        Scenario::new("lists/encapsulations", |t| {
            lists(
                t,
                &[c"RSA", c"EC", c"X25519", c"ML-KEM-768"],
                "EVP_KEM_fetch",
                "EVP_KEM_is_a",
                &["EVP_KEM_gettable_ctx_params", "EVP_KEM_settable_ctx_params"],
            );
        }),
        Scenario::new("lists/names", names),
    ]
}

fn lists(
    t: &Transcript,
    names: &[&CStr],
    fetch: &'static str,
    is_a: &'static str,
    getters: &[&'static str],
) {
    for name in names {
        t.scene(name.to_string_lossy());
        let fetched = t.object(fetch, &[NULL, (*name).into(), NULL]);
        if fetched.is_null() {
            continue;
        }
        for other in KEYS
            .iter()
            .chain(&SIGNATURES)
            .chain(&EXCHANGES)
            .chain(&CIPHERS)
        {
            t.int(is_a, &[fetched.into(), (*other).into()]);
        }
        for getter in getters {
            list(t, getter, fetched);
        }
    }
}

fn list(t: &Transcript, getter: &'static str, object: Object) {
    let array = t.quietly(getter, &[object.into()]) as *const Param;
    let errors = t.errors();
    // SAFETY: OpenSSL's own array, or null.
    t.say(&format!("{getter} -> {}{errors}", unsafe {
        descriptors(array)
    }));
}

/// Every name of an algorithm leads to it, with any property that names OpenSSL's own, too.
fn names(t: &Transcript) {
    let every = [
        c"RSA",
        c"rsaEncryption",
        c"1.2.840.113549.1.1.1",
        c"RSA-PSS",
        c"RSASSA-PSS",
        c"1.2.840.113549.1.1.10",
        c"EC",
        c"id-ecPublicKey",
        c"1.2.840.10045.2.1",
        c"X25519",
        c"1.3.101.110",
        c"ED25519",
        c"1.3.101.112",
        c"ECDSA",
        c"ECDH",
        c"ed25519",
        c"x25519",
        c"ec",
        c"no such",
    ];
    let properties = [
        c"",
        c"provider=default",
        c"?provider=default",
        c"fips=yes",
        c"?fips=yes",
        c"fips=no",
        c"provider=legacy",
        c"provider!=default",
        c"-fips",
    ];
    for name in every {
        for property in properties {
            t.scene(format!(
                "{}/{}",
                name.to_string_lossy(),
                property.to_string_lossy()
            ));
            object!(t, EVP_KEYMGMT_fetch(NULL, name, property));
            object!(t, EVP_SIGNATURE_fetch(NULL, name, property));
            object!(t, EVP_KEYEXCH_fetch(NULL, name, property));
            object!(t, EVP_ASYM_CIPHER_fetch(NULL, name, property));
            object!(t, EVP_KEM_fetch(NULL, name, property));
            let context = object!(t, EVP_PKEY_CTX_new_from_name(NULL, name, property));
            for operation in [
                // The others need a key, or crash.
                "EVP_PKEY_keygen_init",
                "EVP_PKEY_paramgen_init",
                "EVP_PKEY_fromdata_init",
            ] {
                t.int(operation, &[Arg::from(context)]);
            }
        }
    }
}
