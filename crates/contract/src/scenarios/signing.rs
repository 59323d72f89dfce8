//! Signatures: every digest, padding and length; every order of calls; malformed ones.

use std::ffi::CStr;

use super::Scenario;
use crate::keys;
use crate::operations::{
    self, Kind, MESSAGE, begin, context, digest_init, digest_length, digest_sign, hashed, produce,
};
use crate::params::{Param, Params, ask};
use crate::transcript::{NULL, Object, Transcript, int, quietly};

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

/// Each digest, each padding, of a digest and of a message, signed and verified.
fn digests(t: &'static Transcript, name: &'static str) {
    let kind = Kind::of(name);
    let paddings: &[Option<i32>] = match kind {
        Kind::Rsa => &[None, Some(1), Some(3), Some(4), Some(5), Some(6), Some(7)],
        Kind::Pss => &[None, Some(1), Some(6)],
        _ => &[None],
    };
    let key = keys::private(t, name);
    let public = keys::public(t, name);
    let digests = DIGESTS.into_iter().map(Some).chain([None]);
    for digest in digests {
        for &padding in paddings {
            let exact = exact(kind, padding);
            let length = digest.map_or(32, |digest| digest_length(t, digest));
            let title = format!("{:?} {padding:?}", digest.unwrap_or(c"none"));
            t.scene(format!("{title} sign"));
            let mut signature = None;
            let hash = hashed(length);
            {
                let operation = context(t, key);
                let operation = begin(t, "EVP_PKEY_sign_init", operation);
                set_up(t, operation, digest, padding);
                for length in [length, length.saturating_sub(1), 0] {
                    produce(t, "EVP_PKEY_sign", operation, None, &hash[..length], exact);
                    let made = produce(
                        t,
                        "EVP_PKEY_sign",
                        operation,
                        Some(1024),
                        &hash[..length],
                        exact,
                    );
                    signature = signature.or(made);
                }
                operations::free(t, operation);
            }
            if let Some(signature) = &signature {
                t.scene(format!("{title} verify"));
                for key in [key, public] {
                    let operation = context(t, key);
                    let operation = begin(t, "EVP_PKEY_verify_init", operation);
                    set_up(t, operation, digest, padding);
                    int!(
                        t,
                        EVP_PKEY_verify(operation, signature, signature.len(), &hash, length)
                    );
                    int!(
                        t,
                        EVP_PKEY_verify(operation, signature, 0_usize, &hash, length)
                    );
                    // What is wrong with a random one differs every time: fixed ones are in "malformed".
                    if exact {
                        int!(
                            t,
                            EVP_PKEY_verify(
                                operation,
                                signature,
                                signature.len() - 1,
                                &hash,
                                length
                            )
                        );
                        int!(
                            t,
                            EVP_PKEY_verify(
                                operation,
                                signature,
                                signature.len(),
                                &hash,
                                length.saturating_sub(1)
                            )
                        );
                        let mut wrong = hash.clone();
                        if let Some(first) = wrong.first_mut() {
                            *first ^= 1;
                        }
                        int!(
                            t,
                            EVP_PKEY_verify(operation, signature, signature.len(), &wrong, length)
                        );
                    }
                    operations::free(t, operation);
                }
                if exact {
                    t.scene(format!("{title} recover"));
                    let operation = context(t, public);
                    let operation = begin(t, "EVP_PKEY_verify_recover_init", operation);
                    set_up(t, operation, digest, padding);
                    produce(
                        t,
                        "EVP_PKEY_verify_recover",
                        operation,
                        None,
                        signature,
                        true,
                    );
                    produce(
                        t,
                        "EVP_PKEY_verify_recover",
                        operation,
                        Some(10),
                        signature,
                        true,
                    );
                    produce(
                        t,
                        "EVP_PKEY_verify_recover",
                        operation,
                        Some(1024),
                        signature,
                        true,
                    );
                    operations::free(t, operation);
                }
            }
            t.scene(format!("{title} message"));
            let (md, operation) = digest_init(t, "EVP_DigestSignInit_ex", digest, key);
            if let Some(padding) = padding {
                int!(t, EVP_PKEY_CTX_set_rsa_padding(operation, padding));
            }
            digest_sign(t, md, Some(MESSAGE), None, exact);
            let made = digest_sign(t, md, Some(MESSAGE), Some(1024), exact);
            ask(
                t,
                "EVP_PKEY_CTX_get_params",
                operation.into(),
                c"algorithm-id",
                5,
                false,
            );
            quietly!(t, EVP_MD_CTX_free(md));
            if let Some(signature) = made {
                operations::verify_plainly(
                    t,
                    name,
                    digest,
                    padding == Some(6) || kind == Kind::Pss,
                    MESSAGE,
                    &signature,
                );
                let (md, operation) = digest_init(t, "EVP_DigestVerifyInit_ex", digest, public);
                if let Some(padding) = padding {
                    int!(t, EVP_PKEY_CTX_set_rsa_padding(operation, padding));
                }
                int!(
                    t,
                    EVP_DigestVerify(md, &signature, signature.len(), MESSAGE, MESSAGE.len())
                );
                quietly!(t, EVP_MD_CTX_free(md));
            }
        }
    }
}

fn set_up(t: &Transcript, operation: Object, digest: Option<&CStr>, padding: Option<i32>) {
    if let Some(padding) = padding {
        int!(t, EVP_PKEY_CTX_set_rsa_padding(operation, padding));
    }
    if let Some(digest) = digest {
        let params = Params::new().text("digest", &digest.to_string_lossy());
        int!(t, EVP_PKEY_CTX_set_params(operation, params.arg()));
    }
}

/// PSS: digest, MGF1's digest and salt, set before and after each other.
fn pss(t: &'static Transcript, name: &'static str) {
    let key = keys::private(t, name);
    for digest in [c"SHA1", c"SHA256", c"SHA384", c"SHA512", c"SHA3-256"] {
        for mgf1 in [
            None,
            Some(c"SHA1"),
            Some(c"SHA256"),
            Some(c"SHA512"),
            Some(c"no such"),
        ] {
            for salt in [
                None,
                Some(0),
                Some(20),
                Some(32),
                Some(100),
                Some(400),
                Some(-1),
                Some(-2),
                Some(-3),
                Some(-4),
                Some(-5),
            ] {
                t.scene(format!("{digest:?} {mgf1:?} {salt:?}"));
                let (md, operation) = digest_init(t, "EVP_DigestSignInit_ex", Some(digest), key);
                int!(t, EVP_PKEY_CTX_set_rsa_padding(operation, 6));
                if let Some(mgf1) = mgf1 {
                    int!(t, EVP_PKEY_CTX_set_rsa_mgf1_md_name(operation, mgf1, NULL));
                }
                if let Some(salt) = salt {
                    int!(t, EVP_PKEY_CTX_set_rsa_pss_saltlen(operation, salt));
                }
                let made = digest_sign(t, md, Some(MESSAGE), Some(1024), false);
                for (name, kind) in [
                    (c"saltlen", 4),
                    (c"saltlen", 1),
                    (c"mgf1-digest", 4),
                    (c"pad-mode", 1),
                    (c"algorithm-id", 5),
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
                quietly!(t, EVP_MD_CTX_free(md));
                if let Some(signature) = made {
                    let (md, operation) =
                        digest_init(t, "EVP_DigestVerifyInit_ex", Some(digest), key);
                    int!(t, EVP_PKEY_CTX_set_rsa_padding(operation, 6));
                    if let Some(mgf1) = mgf1 {
                        int!(t, EVP_PKEY_CTX_set_rsa_mgf1_md_name(operation, mgf1, NULL));
                    }
                    if let Some(salt) = salt {
                        int!(t, EVP_PKEY_CTX_set_rsa_pss_saltlen(operation, salt));
                    }
                    int!(
                        t,
                        EVP_DigestVerify(md, &signature, signature.len(), MESSAGE, MESSAGE.len())
                    );
                    quietly!(t, EVP_MD_CTX_free(md));
                }
            }
        }
    }
}

/// Calls in orders that the manual allows, and in others.
fn orders(t: &'static Transcript, name: &'static str) {
    let kind = Kind::of(name);
    let exact = exact(kind, None);
    let digest = (kind != Kind::Edwards).then_some(c"SHA256");
    let key = keys::private(t, name);
    let public = keys::public(t, name);
    let hash = hashed(32);

    t.scene("without a beginning");
    let operation = context(t, key);
    produce(t, "EVP_PKEY_sign", operation, Some(1024), &hash, exact);
    int!(
        t,
        EVP_PKEY_verify(operation, &hash, 32_usize, &hash, 32_usize)
    );
    produce(
        t,
        "EVP_PKEY_verify_recover",
        operation,
        Some(1024),
        &hash,
        exact,
    );
    int!(t, EVP_PKEY_CTX_set_rsa_padding(operation, 6));
    operations::free(t, operation);

    t.scene("begun twice");
    let operation = context(t, key);
    for begin_with in [
        "EVP_PKEY_sign_init",
        "EVP_PKEY_verify_init",
        "EVP_PKEY_sign_init",
        "EVP_PKEY_sign_init",
    ] {
        t.int(begin_with, &[operation.into()]);
        produce(t, "EVP_PKEY_sign", operation, Some(1024), &hash, exact);
        produce(t, "EVP_PKEY_sign", operation, Some(1024), &hash, exact);
        int!(
            t,
            EVP_PKEY_verify(operation, &hash, 32_usize, &hash, 32_usize)
        );
    }
    operations::free(t, operation);

    t.scene("settings are gone after another beginning");
    let operation = context(t, key);
    let operation = begin(t, "EVP_PKEY_sign_init", operation);
    set_up(t, operation, Some(c"SHA384"), Some(6));
    let operation = begin(t, "EVP_PKEY_sign_init", operation);
    produce(t, "EVP_PKEY_sign", operation, Some(1024), &hash, exact);
    for (name, kind) in [
        (c"digest", 4),
        (c"pad-mode", 1),
        (c"saltlen", 4),
        (c"mgf1-digest", 4),
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
    operations::free(t, operation);

    t.scene("room");
    let operation = context(t, key);
    let operation = begin(t, "EVP_PKEY_sign_init", operation);
    for room in [
        None,
        Some(0),
        Some(1),
        Some(16),
        Some(63),
        Some(64),
        Some(70),
        Some(127),
        Some(128),
        Some(255),
        Some(256),
        Some(512),
    ] {
        // ECDSA's lengths vary, and so does which of them fits.
        if !exact && room.is_some_and(|room| (40..256).contains(&room)) {
            continue;
        }
        produce(t, "EVP_PKEY_sign", operation, room, &hash, exact);
    }
    operations::free(t, operation);

    t.scene("with half a key");
    let operation = context(t, public);
    let operation = begin(t, "EVP_PKEY_sign_init", operation);
    produce(t, "EVP_PKEY_sign", operation, None, &hash, exact);
    produce(t, "EVP_PKEY_sign", operation, Some(1024), &hash, exact);
    operations::free(t, operation);
    let (md, _) = digest_init(t, "EVP_DigestSignInit_ex", digest, public);
    digest_sign(t, md, Some(MESSAGE), None, exact);
    digest_sign(t, md, Some(MESSAGE), Some(1024), exact);
    quietly!(t, EVP_MD_CTX_free(md));

    t.scene("a copy in the middle");
    let operation = context(t, key);
    let operation = begin(t, "EVP_PKEY_sign_init", operation);
    set_up(t, operation, digest.map(|_| c"SHA384"), None);
    let copy = Object(quietly!(t, EVP_PKEY_CTX_dup(operation)) as *mut _);
    t.say(&format!("{}{}", copy.is_null(), t.errors()));
    operations::free(t, operation);
    if !copy.is_null() {
        produce(t, "EVP_PKEY_sign", copy, Some(1024), &hashed(48), exact);
        ask(
            t,
            "EVP_PKEY_CTX_get_params",
            copy.into(),
            c"digest",
            4,
            false,
        );
        operations::free(t, copy);
    }

    // Ed25519 has no parts: OpenSSL 3.0 crashes where they are ended.
    let parts = kind != Kind::Edwards;
    t.scene("of a message, in parts");
    let (md, operation) = digest_init(t, "EVP_DigestSignInit_ex", digest, key);
    for _ in 0..3 {
        int!(t, EVP_DigestSignUpdate(md, MESSAGE, MESSAGE.len()));
    }
    let end = |md, room| parts.then(|| digest_sign(t, md, None, room, exact));
    end(md, None);
    let copy = Object(quietly!(t, EVP_MD_CTX_new()) as *mut _);
    int!(t, EVP_MD_CTX_copy_ex(copy, md));
    // After the beginning of the message.
    for padding in [6, 1] {
        int!(t, EVP_PKEY_CTX_set_rsa_padding(operation, padding));
    }
    set_up(t, operation, Some(c"SHA384"), None);
    end(md, Some(3));
    end(md, Some(1024));
    end(md, Some(1024));
    int!(t, EVP_DigestSignUpdate(md, MESSAGE, MESSAGE.len()));
    end(md, Some(1024));
    end(copy, Some(1024));
    int!(t, EVP_DigestSignUpdate(copy, MESSAGE, 0_usize));
    quietly!(t, EVP_MD_CTX_free(md));
    quietly!(t, EVP_MD_CTX_free(copy));

    t.scene("a message at once, twice");
    let (md, _) = digest_init(t, "EVP_DigestSignInit_ex", digest, key);
    for _ in 0..2 {
        let made = digest_sign(t, md, Some(MESSAGE), Some(1024), exact);
        if let Some(signature) = made {
            let twice = [MESSAGE, MESSAGE].concat();
            operations::verify_plainly(t, name, digest, kind == Kind::Pss, MESSAGE, &signature);
            operations::verify_plainly(t, name, digest, kind == Kind::Pss, &twice, &signature);
        }
    }
    quietly!(t, EVP_MD_CTX_free(md));

    t.scene("a size, then parts, then at once");
    let (md, _) = digest_init(t, "EVP_DigestSignInit_ex", digest, key);
    digest_sign(t, md, Some(MESSAGE), None, exact);
    digest_sign(t, md, Some(MESSAGE), Some(10), exact);
    int!(t, EVP_DigestSignUpdate(md, MESSAGE, 4_usize));
    digest_sign(t, md, Some(MESSAGE), Some(1024), exact);
    end(md, Some(1024));
    quietly!(t, EVP_MD_CTX_free(md));

    t.scene("begun again with nothing new");
    let (md, _) = digest_init(t, "EVP_DigestSignInit_ex", digest, key);
    int!(t, EVP_DigestSignUpdate(md, MESSAGE, 4_usize));
    int!(
        t,
        EVP_DigestSignInit_ex(md, NULL, NULL, NULL, NULL, NULL, NULL)
    );
    digest_sign(t, md, Some(MESSAGE), Some(1024), exact);
    int!(
        t,
        EVP_DigestSignInit_ex(md, NULL, c"SHA384", NULL, NULL, NULL, NULL)
    );
    digest_sign(t, md, Some(MESSAGE), Some(1024), exact);
    int!(
        t,
        EVP_DigestVerifyInit_ex(md, NULL, NULL, NULL, NULL, NULL, NULL)
    );
    digest_sign(t, md, Some(MESSAGE), Some(1024), exact);
    quietly!(t, EVP_MD_CTX_free(md));

    t.scene("a message verified, in parts and at once");
    let plain = keys::signature(name);
    let (md, _) = digest_init(t, "EVP_DigestVerifyInit_ex", digest, public);
    int!(t, EVP_DigestVerifyUpdate(md, MESSAGE, 3_usize));
    int!(
        t,
        EVP_DigestVerifyUpdate(md, &MESSAGE[3..], MESSAGE.len() - 3)
    );
    let copy = Object(quietly!(t, EVP_MD_CTX_new()) as *mut _);
    int!(t, EVP_MD_CTX_copy_ex(copy, md));
    for md in [md, copy] {
        if parts {
            int!(t, EVP_DigestVerifyFinal(md, plain, plain.len()));
            int!(t, EVP_DigestVerifyFinal(md, plain, plain.len()));
        }
        int!(t, EVP_DigestVerifyUpdate(md, MESSAGE, 3_usize));
        int!(
            t,
            EVP_DigestVerify(md, plain, plain.len(), MESSAGE, MESSAGE.len())
        );
    }
    quietly!(t, EVP_MD_CTX_free(md));
    quietly!(t, EVP_MD_CTX_free(copy));
    let (md, _) = digest_init(t, "EVP_DigestVerifyInit_ex", digest, public);
    for _ in 0..2 {
        int!(
            t,
            EVP_DigestVerify(md, plain, plain.len(), MESSAGE, MESSAGE.len())
        );
        int!(
            t,
            EVP_DigestVerify(md, plain, plain.len() - 1, MESSAGE, MESSAGE.len())
        );
        if exact {
            int!(
                t,
                EVP_DigestVerify(md, plain, plain.len(), MESSAGE, 3_usize)
            );
        }
    }
    quietly!(t, EVP_MD_CTX_free(md));

    t.scene("one-shot flags");
    let (md, operation) = digest_init(t, "EVP_DigestSignInit_ex", digest, key);
    quietly!(t, EVP_MD_CTX_set_flags(md, 1));
    digest_sign(t, md, Some(&[]), Some(1024), exact);
    quietly!(t, EVP_MD_CTX_free(md));
    let _ = operation;
    // With the older interface.
    t.scene("EVP_SignFinal");
    let md = Object(quietly!(t, EVP_MD_CTX_new()) as *mut _);
    let sha = Object(quietly!(t, EVP_sha256()) as *mut _);
    int!(t, EVP_DigestInit_ex(md, sha, NULL));
    int!(t, EVP_DigestUpdate(md, MESSAGE, MESSAGE.len()));
    let mut buffer = vec![0; 1024];
    let mut length = 0_i32;
    int!(t, EVP_SignFinal(md, &mut buffer, &mut length, key));
    if exact {
        t.say(&format!(
            "length {length} {}",
            crate::params::hex(&buffer[..length.max(0) as usize])
        ));
    }
    let md = Object(quietly!(t, EVP_MD_CTX_new()) as *mut _);
    int!(t, EVP_DigestInit_ex(md, sha, NULL));
    int!(t, EVP_DigestUpdate(md, MESSAGE, MESSAGE.len()));
    int!(t, EVP_VerifyFinal(md, &buffer, length as usize, public));
    if exact {
        int!(t, EVP_VerifyFinal(md, &buffer, length - 1, public));
    }

    t.scene("what a message's operation allows");
    for first in ["EVP_PKEY_sign_message_init", "EVP_PKEY_verify_message_init"] {
        for algorithm in [
            c"RSA-SHA256",
            c"ECDSA-SHA256",
            c"ED25519",
            c"ED25519ph",
            c"RSA",
            c"ECDSA",
            c"ED448",
        ] {
            let fetched = Object(quietly!(t, EVP_SIGNATURE_fetch(NULL, algorithm, NULL)) as *mut _);
            t.clear();
            let operation = context(t, key);
            if t.int(first, &[operation.into(), fetched.into(), NULL]) <= 0 {
                operations::free(t, operation);
                continue;
            }
            if first.contains("sign") {
                produce(t, "EVP_PKEY_sign", operation, None, MESSAGE, exact);
                produce(t, "EVP_PKEY_sign", operation, Some(1024), MESSAGE, exact);
                int!(
                    t,
                    EVP_PKEY_sign_message_update(operation, MESSAGE, MESSAGE.len())
                );
                produce(t, "EVP_PKEY_sign", operation, Some(1024), MESSAGE, exact);
            } else {
                int!(
                    t,
                    EVP_PKEY_verify(operation, plain, plain.len(), MESSAGE, MESSAGE.len())
                );
                int!(
                    t,
                    EVP_PKEY_verify_message_update(operation, MESSAGE, MESSAGE.len())
                );
                int!(t, EVP_PKEY_verify_message_final(operation));
            }
            operations::free(t, operation);
            let operation = context(t, key);
            if int!(t, EVP_PKEY_sign_init_ex2(operation, fetched, NULL)) <= 0 {
                operations::free(t, operation);
                continue;
            }
            produce(t, "EVP_PKEY_sign", operation, Some(1024), &hash, exact);
            operations::free(t, operation);
        }
    }
}

/// What is no signature, or not one of this message.
fn malformed(t: &'static Transcript, name: &'static str) {
    let kind = Kind::of(name);
    let digest = (kind != Kind::Edwards).then_some(c"SHA256");
    let public = keys::public(t, name);
    let plain = keys::signature(name).to_vec();
    let mut every: Vec<(String, Vec<u8>)> = vec![
        ("right".into(), plain.clone()),
        ("empty".into(), vec![]),
        ("a zero".into(), vec![0]),
        ("zeros".into(), vec![0; plain.len()]),
        ("ones".into(), vec![0xff; plain.len()]),
        ("cut".into(), plain[..plain.len() - 1].to_vec()),
        ("long".into(), [&plain[..], &[0]].concat()),
        ("zero before".into(), [&[0], &plain[..]].concat()),
    ];
    for index in [0, 1, 3, plain.len() / 2, plain.len() - 1] {
        let mut wrong = plain.clone();
        wrong[index] ^= 0x01;
        every.push((format!("bit {index}"), wrong));
    }
    if matches!(kind, Kind::Ec | Kind::Dsa | Kind::Sm2) {
        let r = [0x02, 1, 1];
        for (title, der) in [
            ("two ones", vec![0x30, 6, 2, 1, 1, 2, 1, 1]),
            ("zeros in DER", vec![0x30, 6, 2, 1, 0, 2, 1, 0]),
            ("negative", vec![0x30, 6, 2, 1, 0x80, 2, 1, 1]),
            ("padded", vec![0x30, 8, 2, 2, 0, 1, 2, 2, 0, 1]),
            ("long form of length", vec![0x30, 0x81, 6, 2, 1, 1, 2, 1, 1]),
            (
                "indefinite length",
                vec![0x30, 0x80, 2, 1, 1, 2, 1, 1, 0, 0],
            ),
            ("one number", [&[0x30, 3], &r[..]].concat()),
            (
                "three numbers",
                [&[0x30, 9], &r[..], &r[..], &r[..]].concat(),
            ),
            ("a set", [&[0x31, 6], &r[..], &r[..]].concat()),
            ("rubbish after", [&[0x30, 6], &r[..], &r[..], &[0]].concat()),
            (
                "too short a sequence",
                [&[0x30, 5], &r[..], &r[..]].concat(),
            ),
            ("an empty number", vec![0x30, 5, 2, 0, 2, 1, 1]),
            (
                "a huge number",
                [
                    &[0x30, 0x81, 0x85, 2, 0x7f],
                    &[0x7f; 0x7f][..],
                    &[2, 2, 1, 1],
                ]
                .concat(),
            ),
        ] {
            every.push((title.into(), der));
        }
    }
    if name == "ed25519" {
        for (title, signature) in edwards(t, &plain) {
            every.push((title, signature));
        }
    }
    let hash = sha256(t, MESSAGE);
    for (title, signature) in &every {
        t.scene(title.clone());
        let (md, _) = digest_init(t, "EVP_DigestVerifyInit_ex", digest, public);
        int!(
            t,
            EVP_DigestVerify(md, signature, signature.len(), MESSAGE, MESSAGE.len())
        );
        quietly!(t, EVP_MD_CTX_free(md));
        let (md, _) = digest_init(t, "EVP_DigestVerifyInit_ex", digest, public);
        int!(t, EVP_DigestVerifyUpdate(md, MESSAGE, MESSAGE.len()));
        if kind != Kind::Edwards {
            int!(t, EVP_DigestVerifyFinal(md, signature, signature.len()));
        }
        quietly!(t, EVP_MD_CTX_free(md));
        let operation = context(t, public);
        let operation = begin(t, "EVP_PKEY_verify_init", operation);
        set_up(t, operation, digest, None);
        int!(
            t,
            EVP_PKEY_verify(operation, signature, signature.len(), &hash, hash.len())
        );
        let operation = begin(t, "EVP_PKEY_verify_recover_init", operation);
        produce(
            t,
            "EVP_PKEY_verify_recover",
            operation,
            Some(1024),
            signature,
            !title.starts_with("bit"),
        );
        operations::free(t, operation);
        if kind == Kind::Rsa {
            for padding in [3, 6] {
                let operation = context(t, public);
                let operation = begin(t, "EVP_PKEY_verify_init", operation);
                set_up(t, operation, digest, Some(padding));
                int!(
                    t,
                    EVP_PKEY_verify(operation, signature, signature.len(), &hash, hash.len())
                );
                operations::free(t, operation);
            }
        }
    }
}

fn sha256(t: &Transcript, message: &[u8]) -> Vec<u8> {
    let mut out = vec![0; 32];
    quietly!(
        t,
        EVP_Q_digest(
            t.plain(),
            c"SHA256",
            NULL,
            message,
            message.len(),
            &mut out,
            NULL
        )
    );
    out
}

/// Ed25519: encodings of R, S and A that are not the only ones of their value, and points of low order.
fn edwards(t: &Transcript, plain: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut every = Vec::new();
    // S + L, with L the order of the group.
    const ORDER: [u8; 32] = [
        0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde,
        0x14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
    ];
    let mut more = plain.to_vec();
    let mut carry = 0;
    for (byte, order) in more[32..].iter_mut().zip(ORDER) {
        let sum = u16::from(*byte) + u16::from(order) + carry;
        *byte = sum as u8;
        carry = sum >> 8;
    }
    every.push(("S and the order".into(), more));
    for (title, point) in LOW_ORDER {
        every.push((format!("R {title}"), [&point[..], &plain[32..]].concat()));
        every.push((format!("R {title}, S 0"), [&point[..], &[0; 32]].concat()));
    }
    // With such points as the public key.
    for (title, point) in LOW_ORDER {
        t.scene(format!("A {title}"));
        let key = Object(quietly!(
            t,
            EVP_PKEY_new_raw_public_key_ex(NULL, c"ED25519", NULL, point, 32)
        ) as *mut _);
        for (other, r) in LOW_ORDER {
            let signature = [&r[..], &[0; 32]].concat();
            for message in [&b""[..], b"1", b"2", b"3"] {
                let (md, _) = digest_init(t, "EVP_DigestVerifyInit_ex", None, key);
                let answer = quietly!(
                    t,
                    EVP_DigestVerify(md, &signature, 64, message, message.len())
                ) as i32;
                t.say(&format!("R {other} {message:?} -> {answer}{}", t.errors()));
                quietly!(t, EVP_MD_CTX_free(md));
            }
        }
    }
    every
}

const fn point(first: u8, last: u8, middle: u8) -> [u8; 32] {
    let mut point = [middle; 32];
    point[0] = first;
    point[31] = last;
    point
}

/// Points of low order, and encodings of them that are not canonical.
const LOW_ORDER: &[(&str, [u8; 32])] = &[
    ("1", point(1, 0, 0)),
    ("1 with sign", point(1, 0x80, 0)),
    ("0", point(0, 0, 0)),
    ("0 with sign", point(0, 0x80, 0)),
    ("-1", point(0xec, 0x7f, 0xff)),
    ("-1 with sign", point(0xec, 0xff, 0xff)),
    ("p", point(0xed, 0x7f, 0xff)),
    ("p with sign", point(0xed, 0xff, 0xff)),
    ("p+1", point(0xee, 0x7f, 0xff)),
    ("p+1 with sign", point(0xee, 0xff, 0xff)),
    ("no point", point(2, 0, 0)),
    (
        "of order 8",
        [
            0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef,
            0x98, 0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88,
            0x6d, 0x53, 0xfc, 0x05,
        ],
    ),
];

/// What can be set and read, one by one and after each other; a setting that is refused does no harm.
fn settings(t: &'static Transcript, name: &'static str) {
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

fn every_setting() -> Vec<(String, Params)> {
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
