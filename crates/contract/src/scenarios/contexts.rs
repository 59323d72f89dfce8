//! What depends on what happened before in the process: what is fetched first, properties, other library contexts,
//! providers that come and go.

use std::ffi::CStr;

use super::Scenario;
use super::key::describe;
use crate::keys::{self, der};
use crate::operations::{self, MESSAGE, begin, context, digest_init, digest_sign, free, produce};
use crate::params::{Param, Params, hex};
use crate::transcript::{Arg, NULL, Object, Transcript, int, object, quietly};

/// What may be the first thing that a process does with a type of key.
type First = (&'static str, fn(&Transcript, &CStr));

const FIRST: &[First] = &[
    ("nothing", |_, _| ()),
    ("fetch", |t, name| {
        _ = object!(t, EVP_KEYMGMT_fetch(NULL, name, NULL))
    }),
    ("fetch-default", |t, name| {
        _ = object!(t, EVP_KEYMGMT_fetch(NULL, name, c"provider=default"))
    }),
    ("fetch-optional", |t, name| {
        _ = object!(t, EVP_KEYMGMT_fetch(NULL, name, c"?provider=default"))
    }),
    ("fetch-fips", |t, name| {
        _ = object!(t, EVP_KEYMGMT_fetch(NULL, name, c"?fips=yes"))
    }),
    ("fetch-not-default", |t, name| {
        _ = object!(t, EVP_KEYMGMT_fetch(NULL, name, c"provider!=default"))
    }),
    ("fetch-outboard", |t, name| {
        _ = quietly!(t, EVP_KEYMGMT_fetch(NULL, name, c"provider=outboard"))
    }),
    ("fetch-prefer-outboard", |t, name| {
        _ = quietly!(t, EVP_KEYMGMT_fetch(NULL, name, c"?provider=outboard"))
    }),
    ("fetch-minus-default", |t, name| {
        _ = object!(t, EVP_KEYMGMT_fetch(NULL, name, c"-provider"))
    }),
    ("signature", |t, name| {
        let name = match name.to_bytes() {
            b"EC" => c"ECDSA",
            _ => name,
        };
        object!(t, EVP_SIGNATURE_fetch(NULL, name, NULL));
    }),
    ("context", |t, name| {
        _ = object!(t, EVP_PKEY_CTX_new_from_name(NULL, name, NULL))
    }),
    ("context-default", |t, name| {
        _ = object!(
            t,
            EVP_PKEY_CTX_new_from_name(NULL, name, c"provider=default")
        )
    }),
    ("sign", |t, name| {
        let key = keys::private(t, key_of(name));
        operations::works(t, key_of(name), key);
    }),
    ("borrow", |t, name| {
        // What a program that signs, and names us, leads to.
        let key = keys::private(t, key_of(name));
        let operation = Object(quietly!(
            t,
            EVP_PKEY_CTX_new_from_pkey(NULL, key, c"?provider=outboard")
        ) as *mut _);
        quietly!(t, EVP_PKEY_sign_init(operation));
        t.clear();
        free(t, operation);
    }),
    ("all-provided", |t, _| {
        quietly!(
            t,
            EVP_KEYMGMT_do_all_provided(NULL, t.address("EVP_KEYMGMT_up_ref"), NULL)
        );
    }),
];

fn key_of(name: &CStr) -> &'static str {
    match name.to_bytes() {
        b"RSA" => "rsa2048",
        b"RSA-PSS" => "pss2048",
        b"EC" => "ec-P-256",
        b"X25519" => "x25519",
        _ => "ed25519",
    }
}

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut all = Vec::new();
    for kind in [c"RSA", c"RSA-PSS", c"EC", c"X25519", c"ED25519"] {
        let title = kind.to_str().unwrap_or_default();
        for &(first, make) in FIRST {
            all.push(Scenario::new(format!("first/{title}/{first}"), move |t| {
                t.scene("first");
                make(t, kind);
                t.clear();
                afterwards(t, kind);
                // RSA keys take long.
                if !title.starts_with("RSA")
                    || matches!(first, "nothing" | "fetch-default" | "borrow" | "sign")
                {
                    generated(t, kind);
                }
            }));
        }
    }
    for (name, run) in [
        ("contexts/two", two as fn(&'static Transcript)),
        ("contexts/child", child),
        ("contexts/properties", properties),
        ("contexts/loaded-and-unloaded", loaded),
        ("contexts/legacy", legacy),
        ("contexts/mixed", mixed),
        ("contexts/capabilities", capabilities),
    ] {
        all.push(Scenario::new(name, run));
    }
    all
}

/// Every use of keys of that type, after it.
fn afterwards(t: &'static Transcript, kind: &CStr) {
    for key in keys::ALL {
        let ours = match kind.to_bytes() {
            b"RSA" => key.name.starts_with("rsa"),
            b"RSA-PSS" => key.name.starts_with("pss"),
            b"EC" => matches!(key.name, "ec-P-256" | "ec-P-224" | "ec-P-256-explicit"),
            _ => key.name == key_of(kind),
        };
        if !ours || matches!(key.name, "rsa512" | "rsa3072" | "rsa4096") {
            continue;
        }
        let name = key.name;
        // The key as OpenSSL alone has it, to take its numbers from.
        let plain = keys::private_in(t, t.plain().into(), name);
        let mut array = std::ptr::null::<Param>();
        quietly!(t, EVP_PKEY_todata(plain, 0x87, &raw mut array));
        // SAFETY: what was answered, or null.
        let elements = unsafe { crate::params::elements(array) };
        let without: [&[&str]; 6] = [
            &[],
            &["rsa-factor", "rsa-exponent", "rsa-coefficient"],
            &["d", "rsa-factor", "rsa-exponent", "rsa-coefficient", "priv"],
            &["pub"],
            &["rsa-exponent", "rsa-coefficient"],
            &["e"],
        ];
        for missing in without {
            // OpenSSL crashes.
            if name == "rsa2048-three-primes" && missing.first() == Some(&"rsa-exponent") {
                continue;
            }
            for selection in [0x87, 0x84] {
                t.scene(format!(
                    "fromdata {name} without {missing:?}, {selection:#x}"
                ));
                let params = elements
                    .iter()
                    .filter(|(name, _)| {
                        !missing.iter().any(|missing| {
                            if missing.len() > 3 {
                                name.starts_with(missing)
                            } else {
                                name == missing
                            }
                        })
                    })
                    .fold(Params::new(), |params, (name, param)| {
                        params.copy(name, param)
                    });
                let operation = begin(
                    t,
                    "EVP_PKEY_fromdata_init",
                    Object(quietly!(t, EVP_PKEY_CTX_new_from_name(NULL, kind, NULL)) as *mut _),
                );
                let mut made = Object::NONE;
                int!(
                    t,
                    EVP_PKEY_fromdata(operation, &mut made, selection, params.arg())
                );
                free(t, operation);
                if made.is_null() {
                    continue;
                }
                describe_briefly(t, made);
                let has_public = missing
                    .first()
                    .is_none_or(|missing| !["pub", "e"].contains(missing));
                if has_public && selection != 0x84 {
                    operations::works(t, name, made);
                    int!(t, EVP_PKEY_eq(made, plain));
                }
                let copy = object!(t, EVP_PKEY_dup(made));
                if !copy.is_null() {
                    describe_briefly(t, copy);
                    if has_public && selection != 0x84 {
                        operations::works(t, name, copy);
                    }
                }
            }
        }
        t.scene(format!("read {name}"));
        let key = keys::private(t, name);
        describe_briefly(t, key);
        operations::works(t, name, key);
        let copy = object!(t, EVP_PKEY_dup(key));
        describe_briefly(t, copy);
        operations::works(t, name, copy);
        t.scene(format!("older {name}"));
        let (get1, set1) = match kind.to_bytes() {
            b"RSA" | b"RSA-PSS" => ("EVP_PKEY_get1_RSA", "EVP_PKEY_set1_RSA"),
            b"EC" => ("EVP_PKEY_get1_EC_KEY", "EVP_PKEY_set1_EC_KEY"),
            _ => continue,
        };
        let old = Object(t.quietly(get1, &[key.into()]) as *mut _);
        let fresh = Object(quietly!(t, EVP_PKEY_new()) as *mut _);
        t.int(set1, &[fresh.into(), old.into()]);
        operations::works(t, name, fresh);
        let (md, _) = digest_init(t, "EVP_DigestSignInit_ex", Some(c"MD5"), fresh);
        digest_sign(t, md, Some(MESSAGE), Some(1024), kind == c"RSA");
        let copy = object!(t, EVP_PKEY_dup(fresh));
        describe_briefly(t, copy);
    }
}

fn generated(t: &Transcript, kind: &CStr) {
    t.scene("generate");
    let operation = begin(
        t,
        "EVP_PKEY_keygen_init",
        Object(quietly!(t, EVP_PKEY_CTX_new_from_name(NULL, kind, NULL)) as *mut _),
    );
    for params in generation(kind) {
        int!(t, EVP_PKEY_CTX_set_params(operation, params.arg()));
    }
    let mut made = Object::NONE;
    int!(t, EVP_PKEY_generate(operation, &mut made));
    free(t, operation);
    describe(t, made, true);
    // A key that is limited to SHA-256 stays so.
    for digest in [c"SHA256", c"SHA384"] {
        let digest = (!kind.to_bytes().ends_with(b"519")).then_some(digest);
        let (md, operation) = digest_init(t, "EVP_DigestSignInit_ex", digest, made);
        if kind == c"RSA-PSS" {
            int!(t, EVP_PKEY_CTX_set_rsa_pss_saltlen(operation, 20));
            int!(t, EVP_PKEY_CTX_set_rsa_pss_saltlen(operation, 32));
        }
        digest_sign(t, md, Some(MESSAGE), Some(1024), false);
    }
    let bytes = der(t, "i2d_PUBKEY", made);
    let algorithm = bytes
        .get(4..if kind == c"RSA-PSS" { 60 } else { 12 })
        .unwrap_or_default();
    t.say(&hex(algorithm));
}

fn generation(kind: &CStr) -> Vec<Params> {
    match kind.to_bytes() {
        b"RSA" => vec![Params::new().uint("bits", 2048)],
        b"RSA-PSS" => vec![
            Params::new().uint("bits", 2048),
            Params::new()
                .text("digest", "SHA256")
                .text("mgf1-digest", "SHA256")
                .int("saltlen", 32),
        ],
        b"EC" => vec![Params::new().text("group", "P-256")],
        _ => vec![],
    }
}

fn describe_briefly(t: &Transcript, key: Object) {
    if key.is_null() {
        return;
    }
    for function in [
        "EVP_PKEY_get_bits",
        "EVP_PKEY_get_size",
        "EVP_PKEY_get_security_bits",
    ] {
        t.int(function, &[key.into()]);
    }
    for function in ["i2d_PrivateKey", "i2d_PUBKEY"] {
        let bytes = der(t, function, key);
        let errors = t.errors();
        t.say(&format!("{function} {}{errors}", hex(&bytes)));
    }
}

/// A second context beside the default one, with OpenSSL's own provider; keys cross over.
fn two(t: &'static Transcript) {
    for name in [
        "rsa2048",
        "rsa1024",
        "pss2048-sha256",
        "ec-P-256",
        "ec-P-224",
        "x25519",
        "ed25519",
    ] {
        t.scene(name);
        let other = t.plain();
        let there = keys::private_in(t, other.into(), name);
        let here = keys::private(t, name);
        int!(t, EVP_PKEY_eq(here, there));
        int!(t, EVP_PKEY_eq(there, here));
        operations::works(t, name, there);
        // A key of one context in an operation of the other.
        for (context, key) in [(NULL, there), (other.into(), here), (other.into(), there)] {
            let operation = Object(
                t.quietly("EVP_PKEY_CTX_new_from_pkey", &[context, key.into(), NULL]) as *mut _,
            );
            let sign = int!(t, EVP_PKEY_sign_init(operation));
            if sign > 0 {
                produce(
                    t,
                    "EVP_PKEY_sign",
                    operation,
                    Some(1024),
                    &operations::hashed(32),
                    name.starts_with("rsa"),
                );
            }
            free(t, operation);
            let operation = Object(
                t.quietly("EVP_PKEY_CTX_new_from_pkey", &[context, key.into(), NULL]) as *mut _,
            );
            if int!(t, EVP_PKEY_derive_init(operation)) > 0 {
                int!(t, EVP_PKEY_derive_set_peer(operation, key));
                int!(t, EVP_PKEY_derive_set_peer(operation, here));
                int!(t, EVP_PKEY_derive_set_peer(operation, there));
                produce(t, "EVP_PKEY_derive", operation, Some(1024), &[], true);
            }
            free(t, operation);
        }
    }
    t.scene("a context that is gone");
    for _ in 0..5 {
        let context = Object(quietly!(t, OSSL_LIB_CTX_new()) as *mut _);
        let file = std::env::var("OPENSSL_CONF").unwrap_or_default();
        let file = std::ffi::CString::new(file).unwrap_or_default();
        int!(t, OSSL_LIB_CTX_load_config(context, file.as_ptr()));
        for name in ["rsa2048", "ec-P-256", "x25519", "ed25519"] {
            let key = keys::private_in(t, context.into(), name);
            operations::works(t, name, key);
            quietly!(t, EVP_PKEY_free(key));
        }
        quietly!(t, OSSL_LIB_CTX_free(context));
    }
}

/// The default context loads its configuration anew, and a context is made below it.
fn child(t: &'static Transcript) {
    t.scene("twice configured");
    let file = std::env::var("OPENSSL_CONF").unwrap_or_default();
    let file = std::ffi::CString::new(file).unwrap_or_default();
    for _ in 0..2 {
        let context = Object(quietly!(t, OSSL_LIB_CTX_new()) as *mut _);
        int!(t, OSSL_LIB_CTX_load_config(context, file.as_ptr()));
        int!(t, OSSL_LIB_CTX_load_config(context, file.as_ptr()));
        let before = Object(quietly!(t, OSSL_LIB_CTX_set0_default(context)) as *mut _);
        for name in ["rsa2048", "ec-P-256", "ed25519", "x25519"] {
            operations::works(t, name, keys::private(t, name));
        }
        quietly!(t, OSSL_LIB_CTX_set0_default(before));
    }
}

/// Default properties that a program changes itself.
fn properties(t: &'static Transcript) {
    for query in [
        c"",
        c"?fips=yes",
        c"provider=default",
        c"?provider=default",
        c"provider!=default",
        c"fips=yes",
        c"-fips",
        c"nonsense==",
        c"?provider=legacy",
    ] {
        t.scene(query.to_string_lossy());
        int!(t, EVP_set_default_properties(NULL, query));
        int!(t, EVP_default_properties_is_fips_enabled(NULL));
        for name in ["rsa2048", "rsa1024", "ec-P-256", "ed25519", "x25519"] {
            let key = keys::private(t, name);
            t.say(&format!("{}{}", key.is_null(), t.errors()));
            operations::works(t, name, key);
        }
        object!(t, EVP_CIPHER_fetch(NULL, c"AES-256-GCM", NULL));
        object!(t, EVP_MD_fetch(NULL, c"SHA256", NULL));
    }
    t.scene("fips");
    for on in [1, 0] {
        int!(t, EVP_default_properties_enable_fips(NULL, on));
        int!(t, EVP_default_properties_is_fips_enabled(NULL));
        object!(t, EVP_KEYMGMT_fetch(NULL, c"RSA", NULL));
        object!(t, EVP_KEYMGMT_fetch(NULL, c"EC", NULL));
    }
}

/// Providers that come and go.
fn loaded(t: &'static Transcript) {
    t.scene("available");
    for name in [c"default", c"base", c"null", c"legacy", c"no such"] {
        int!(t, OSSL_PROVIDER_available(NULL, name));
    }
    t.scene("loaded again");
    let default = object!(t, OSSL_PROVIDER_load(NULL, c"default"));
    let base = object!(t, OSSL_PROVIDER_load(NULL, c"base"));
    int!(t, OSSL_PROVIDER_self_test(default));
    let work = || {
        for name in ["rsa2048", "ec-P-256", "ed25519", "x25519"] {
            let key = keys::private(t, name);
            t.say(&format!("{}{}", key.is_null(), t.errors()));
            operations::works(t, name, key);
        }
    };
    work();
    t.scene("unloaded");
    int!(t, OSSL_PROVIDER_unload(default));
    int!(t, OSSL_PROVIDER_unload(base));
    work();
    t.scene("a context without the default provider");
    let context = Object(quietly!(t, OSSL_LIB_CTX_new()) as *mut _);
    object!(t, OSSL_PROVIDER_load(context, c"null"));
    object!(t, EVP_KEYMGMT_fetch(context, c"RSA", NULL));
    object!(t, EVP_KEYMGMT_fetch(context, c"EC", NULL));
    quietly!(t, OSSL_LIB_CTX_free(context));
    t.scene("a key outlives its provider's last use");
    let context = Object(quietly!(t, OSSL_LIB_CTX_new()) as *mut _);
    let default = object!(t, OSSL_PROVIDER_load(context, c"default"));
    let key = keys::private_in(t, context.into(), "ec-P-256");
    int!(t, OSSL_PROVIDER_unload(default));
    operations::works(t, "ec-P-256", key);
    quietly!(t, EVP_PKEY_free(key));
    quietly!(t, OSSL_LIB_CTX_free(context));
}

/// With `legacy` loaded, signatures by MD4 and others are made of its digests.
fn legacy(t: &'static Transcript) {
    t.scene("load");
    object!(t, OSSL_PROVIDER_load(NULL, c"legacy"));
    for digest in [c"MD4", c"WHIRLPOOL", c"MDC2", c"RIPEMD160"] {
        for name in [
            "rsa1024", "rsa2048", "pss2048", "ec-P-256", "ec-P-224", "dsa2048",
        ] {
            t.scene(format!("{digest:?} {name}"));
            let key = keys::private(t, name);
            let (md, operation) = digest_init(t, "EVP_DigestSignInit_ex", Some(digest), key);
            let made = digest_sign(t, md, Some(MESSAGE), Some(1024), name.starts_with("rsa"));
            if let Some(made) = made {
                let (md, _) = digest_init(
                    t,
                    "EVP_DigestVerifyInit_ex",
                    Some(digest),
                    keys::public(t, name),
                );
                int!(
                    t,
                    EVP_DigestVerify(md, &made, made.len(), MESSAGE, MESSAGE.len())
                );
            }
            if name.starts_with("rsa") {
                let (md, operation) = digest_init(t, "EVP_DigestSignInit_ex", Some(digest), key);
                int!(t, EVP_PKEY_CTX_set_rsa_padding(operation, 6));
                digest_sign(t, md, Some(MESSAGE), Some(1024), false);
                let (md, operation) = digest_init(t, "EVP_DigestSignInit_ex", Some(c"SHA256"), key);
                int!(t, EVP_PKEY_CTX_set_rsa_padding(operation, 6));
                int!(
                    t,
                    EVP_PKEY_CTX_set_rsa_mgf1_md_name(operation, digest, NULL)
                );
                digest_sign(t, md, Some(MESSAGE), Some(1024), false);
            }
            let _ = operation;
            let operation = begin(t, "EVP_PKEY_sign_init", context(t, key));
            let params = Params::new().text("digest", &digest.to_string_lossy());
            int!(t, EVP_PKEY_CTX_set_params(operation, params.arg()));
            produce(
                t,
                "EVP_PKEY_sign",
                operation,
                Some(1024),
                &operations::hashed(16),
                name.starts_with("rsa"),
            );
            free(t, operation);
        }
    }
    t.scene("ECDH with its digest");
    let key = keys::private(t, "ec-P-256");
    let operation = begin(t, "EVP_PKEY_derive_init", context(t, key));
    let params = Params::new()
        .text("kdf-type", "X963KDF")
        .text("kdf-digest", "MD4")
        .size("kdf-outlen", 40);
    int!(t, EVP_PKEY_CTX_set_params(operation, params.arg()));
    int!(t, EVP_PKEY_derive_set_peer(operation, key));
    produce(t, "EVP_PKEY_derive", operation, Some(40), &[], true);
}

/// Properties in the call that do not fit the key's provider.
fn mixed(t: &'static Transcript) {
    for name in [
        "rsa2048", "rsa1024", "pss2048", "ec-P-256", "ed25519", "x25519",
    ] {
        for query in [
            c"provider=default",
            c"?provider=default",
            c"provider!=default",
            c"fips=yes",
            c"?fips=yes",
        ] {
            t.scene(format!("{name} {}", query.to_string_lossy()));
            let key = keys::private(t, name);
            for function in [
                "EVP_PKEY_sign_init",
                "EVP_PKEY_verify_init",
                "EVP_PKEY_derive_init",
                "EVP_PKEY_encrypt_init",
                "EVP_PKEY_encapsulate_init",
            ] {
                let operation = object!(t, EVP_PKEY_CTX_new_from_pkey(NULL, key, query));
                if function == "EVP_PKEY_encapsulate_init" {
                    t.int(function, &[operation.into(), NULL]);
                } else {
                    t.int(function, &[operation.into()]);
                }
                free(t, operation);
            }
            let md = Object(quietly!(t, EVP_MD_CTX_new()) as *mut _);
            let digest = (!name.ends_with("519")).then_some(c"SHA256");
            int!(
                t,
                EVP_DigestSignInit_ex(md, NULL, digest, NULL, query, key, NULL)
            );
            for operation in ["EVP_PKEY_keygen_init", "EVP_PKEY_fromdata_init"] {
                let kind = t
                    .text_quietly("EVP_PKEY_get0_type_name", &[key.into()])
                    .unwrap_or_default();
                let kind = std::ffi::CString::new(kind).unwrap_or_default();
                let context = object!(t, EVP_PKEY_CTX_new_from_name(NULL, kind.as_c_str(), query));
                t.int(operation, &[Arg::from(context)]);
                free(t, context);
            }
        }
    }
}

/// What a provider says of itself that does not name it.
fn capabilities(t: &'static Transcript) {
    t.scene("default");
    let default = object!(t, OSSL_PROVIDER_load(NULL, c"default"));
    t.text("OSSL_PROVIDER_get0_name", &[default.into()]);
    crate::params::ask(
        t,
        "OSSL_PROVIDER_get_params",
        default.into(),
        c"status",
        1,
        false,
    );
    int!(t, OSSL_PROVIDER_self_test(default));
}
