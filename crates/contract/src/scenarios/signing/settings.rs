//! What can be set and read.

use super::exact;
use crate::keys;
use crate::operations::{
    self, Kind, MESSAGE, begin, context, digest_init, digest_sign, hashed, produce,
};
use crate::params::{Param, Params, ask};
use crate::transcript::{NULL, Object, Transcript, int, quietly};

/// What can be set and read, one by one and after each other; a setting that is refused does no harm.
pub(super) fn settings(t: &'static Transcript, name: &'static str) {
    let kind = Kind::of(name);
    let exact = exact(kind, None);
    let digest = (kind != Kind::Edwards).then_some(c"SHA256");
    let key = keys::private(t, name);
    let hash = hashed(32);
    let every = every_setting();
    for (title, params) in &every {
        for first in [
            "EVP_PKEY_sign_init",
            "EVP_PKEY_verify_init",
            "EVP_PKEY_verify_recover_init",
        ] {
            t.scene(format!("{title}, {first}"));
            let operation = begin(t, first, context(t, key));
            int!(t, EVP_PKEY_CTX_set_params(operation, params.arg()));
            if first == "EVP_PKEY_sign_init" {
                produce(t, "EVP_PKEY_sign", operation, None, &hash, exact);
                let random = !exact || title.contains("6") || title.contains("pss");
                produce(t, "EVP_PKEY_sign", operation, Some(1024), &hash, !random);
            }
            read_all(t, operation);
            operations::free(t, operation);
            // With the initialisation.
            let operation = context(t, key);
            t.int(begin_ex(first), &[operation.into(), params.arg()]);
            operations::free(t, operation);
        }
        t.scene(format!("{title}, of a message"));
        let (md, operation) = digest_init(t, "EVP_DigestSignInit_ex", digest, key);
        int!(t, EVP_PKEY_CTX_set_params(operation, params.arg()));
        read_all(t, operation);
        let random = !exact || title.contains("6") || title.contains("pss");
        digest_sign(t, md, Some(MESSAGE), Some(1024), !random);
        int!(t, EVP_PKEY_CTX_set_params(operation, params.arg()));
        quietly!(t, EVP_MD_CTX_free(md));
        t.scene(format!("{title}, with the initialisation of a message"));
        let md = Object(quietly!(t, EVP_MD_CTX_new()) as *mut _);
        int!(
            t,
            EVP_DigestSignInit_ex(md, NULL, digest, NULL, NULL, key, params.arg())
        );
        digest_sign(t, md, Some(MESSAGE), Some(1024), !random);
        quietly!(t, EVP_MD_CTX_free(md));
    }
    // The functions that libcrypto has for some of them.
    for first in [
        "EVP_PKEY_sign_init",
        "EVP_PKEY_verify_init",
        "EVP_PKEY_verify_recover_init",
        "EVP_PKEY_encrypt_init",
        "EVP_PKEY_derive_init",
    ] {
        for padding in [None, Some(1), Some(3), Some(4), Some(6)] {
            t.scene(format!("functions, {first}, {padding:?}"));
            let operation = begin(t, first, context(t, key));
            if let Some(padding) = padding {
                int!(t, EVP_PKEY_CTX_set_rsa_padding(operation, padding));
            }
            int!(t, EVP_PKEY_CTX_set_rsa_pss_saltlen(operation, 20));
            int!(
                t,
                EVP_PKEY_CTX_set_rsa_mgf1_md_name(operation, c"SHA1", NULL)
            );
            let sha = Object(quietly!(t, EVP_sha384()) as *mut _);
            int!(t, EVP_PKEY_CTX_set_signature_md(operation, sha));
            int!(t, EVP_PKEY_CTX_set_rsa_mgf1_md(operation, sha));
            let mut number = 77_i32;
            int!(t, EVP_PKEY_CTX_get_rsa_padding(operation, &mut number));
            t.say(&format!("{number}"));
            int!(t, EVP_PKEY_CTX_get_rsa_pss_saltlen(operation, &mut number));
            t.say(&format!("{number}"));
            let mut object = Object::NONE;
            int!(t, EVP_PKEY_CTX_get_signature_md(operation, &mut object));
            t.text("EVP_MD_get0_name", &[object.into()]);
            int!(t, EVP_PKEY_CTX_get_rsa_mgf1_md(operation, &mut object));
            t.text("EVP_MD_get0_name", &[object.into()]);
            int!(t, EVP_PKEY_CTX_set_ecdh_cofactor_mode(operation, 1));
            int!(t, EVP_PKEY_CTX_get_ecdh_cofactor_mode(operation));
            int!(t, EVP_PKEY_CTX_set1_id(operation, c"name", 4));
            for (name, value) in [
                (c"rsa_padding_mode", c"pss"),
                (c"rsa_padding_mode", c"x931"),
                (c"rsa_pss_saltlen", c"digest"),
                (c"rsa_pss_saltlen", c"max"),
                (c"rsa_mgf1_md", c"sha256"),
                (c"digest", c"sha512"),
                (c"digest", c"no such"),
                (c"ecdh_cofactor_mode", c"1"),
                (c"distid", c"name"),
                (c"no such", c"1"),
                (c"rsa_padding_mode", c"pkcs1"),
                (c"nonce-type", c"1"),
            ] {
                int!(t, EVP_PKEY_CTX_ctrl_str(operation, name, value));
            }
            for array in [
                "EVP_PKEY_CTX_gettable_params",
                "EVP_PKEY_CTX_settable_params",
            ] {
                let found = t.quietly(array, &[operation.into()]) as *const Param;
                let errors = t.errors();
                // SAFETY: OpenSSL's own array, or null.
                t.say(&format!("{array} -> {}{errors}", unsafe {
                    crate::params::descriptors(found)
                }));
            }
            read_all(t, operation);
            operations::free(t, operation);
        }
    }
    // Several, each refused or taken, and then the operation.
    for (one, first) in every.iter().step_by(3) {
        for (other, second) in every.iter().filter(|(title, _)| title.contains("pad-mode")) {
            t.scene(format!("{one}, then {other}"));
            let operation = context(t, key);
            let operation = begin(t, "EVP_PKEY_sign_init", operation);
            int!(t, EVP_PKEY_CTX_set_params(operation, first.arg()));
            int!(t, EVP_PKEY_CTX_set_params(operation, second.arg()));
            produce(t, "EVP_PKEY_sign", operation, Some(1024), &hash, false);
            operations::free(t, operation);
        }
    }
}

fn begin_ex(begin: &str) -> &'static str {
    match begin {
        "EVP_PKEY_sign_init" => "EVP_PKEY_sign_init_ex",
        "EVP_PKEY_verify_init" => "EVP_PKEY_verify_init_ex",
        _ => "EVP_PKEY_verify_recover_init_ex",
    }
}

fn read_all(t: &Transcript, operation: Object) {
    for (name, kind) in [
        (c"digest", 4),
        (c"pad-mode", 1),
        (c"pad-mode", 4),
        (c"saltlen", 1),
        (c"saltlen", 4),
        (c"mgf1-digest", 4),
        (c"algorithm-id", 5),
        (c"digest-size", 2),
        (c"properties", 4),
        (c"nonce-type", 2),
        (c"instance", 4),
        (c"context-string", 5),
        (c"no such", 4),
    ] {
        ask(
            t,
            "EVP_PKEY_CTX_get_params",
            operation.into(),
            name,
            kind,
            false,
        );
    }
}

pub(super) fn every_setting() -> Vec<(String, Params)> {
    let mut every = vec![("nothing".to_owned(), Params::new())];
    for value in [
        "SHA1", "SHA256", "SHA384", "SHA3-256", "MD5", "SHAKE128", "no such", "",
    ] {
        every.push((
            format!("digest {value}"),
            Params::new().text("digest", value),
        ));
        every.push((
            format!("mgf1-digest {value}"),
            Params::new().text("mgf1-digest", value),
        ));
        let both = Params::new().int("pad-mode", 6).text("mgf1-digest", value);
        every.push((format!("pad-mode 6, mgf1-digest {value}"), both));
    }
    for value in [0, 1, 2, 3, 4, 5, 6, 7, -1] {
        every.push((
            format!("pad-mode {value}"),
            Params::new().int("pad-mode", value),
        ));
    }
    for value in ["pkcs1", "none", "oaep", "x931", "pss", "no such"] {
        every.push((
            format!("pad-mode {value}"),
            Params::new().text("pad-mode", value),
        ));
    }
    for value in [0, 20, 32, 222, 223, 478, 500, -1, -2, -3, -4, -5] {
        every.push((
            format!("saltlen {value}"),
            Params::new().int("saltlen", value),
        ));
        let both = Params::new().int("pad-mode", 6).int("saltlen", value);
        every.push((format!("pad-mode 6, saltlen {value}"), both));
    }
    for value in [
        "digest",
        "max",
        "auto",
        "auto-digestmax",
        "20",
        "no such",
        "",
    ] {
        let both = Params::new().text("pad-mode", "pss").text("saltlen", value);
        every.push((format!("pad-mode pss, saltlen {value}"), both));
    }
    for value in [
        "",
        "provider=default",
        "fips=yes",
        "?fips=yes",
        "nonsense===",
    ] {
        every.push((
            format!("properties {value}"),
            Params::new().text("properties", value),
        ));
        let both = Params::new()
            .text("digest", "SHA256")
            .text("properties", value);
        every.push((format!("digest SHA256, properties {value}"), both));
    }
    every.push((
        "digest of the wrong type".into(),
        Params::new().int("digest", 4),
    ));
    every.push((
        "pad-mode of the wrong type".into(),
        Params::new().octets("pad-mode", b"pss"),
    ));
    every.push(("digest-size".into(), Params::new().size("digest-size", 32)));
    every.push(("nonce-type".into(), Params::new().uint("nonce-type", 1)));
    every.push(("no such".into(), Params::new().int("no such", 4)));
    every.push(("distid".into(), Params::new().octets("distid", b"name")));
    every.push((
        "instance".into(),
        Params::new().text("instance", "Ed25519ph"),
    ));
    every.push((
        "context-string".into(),
        Params::new().octets("context-string", b"context"),
    ));
    every.push((
        "algorithm-id".into(),
        Params::new().octets("algorithm-id", b"1"),
    ));
    every
}
