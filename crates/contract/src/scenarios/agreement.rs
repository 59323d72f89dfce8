//! Agreeing on secrets: with each peer, right and wrong, and with each setting.

use super::Scenario;
use crate::keys;
use crate::operations::{begin, context, free, produce};
use crate::params::{Params, ask};
use crate::transcript::{NULL, Object, Transcript, int, quietly};

const OURS: [&str; 11] = [
    "ec-P-192",
    "ec-P-224",
    "ec-P-256",
    "ec-P-384",
    "ec-P-521",
    "ec-secp256k1",
    "ec-P-256-explicit",
    "ec-sect283r1",
    "x25519",
    "x448",
    "dh2048",
];

/// One of each kind, and every curve.
const PEERS: [&str; 15] = [
    "rsa2048",
    "pss2048",
    "ec-P-224",
    "ec-P-256",
    "ec-P-384",
    "ec-P-521",
    "ec-secp256k1",
    "ec-P-256-explicit",
    "ec-P-256-compressed",
    "sm2",
    "x25519",
    "x448",
    "ed25519",
    "dsa2048",
    "dh2048",
];

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut all: Vec<_> = OURS
        .into_iter()
        .map(|name| Scenario::new(format!("derive/peers/{name}"), move |t| peers(t, name)))
        .collect();
    for name in OURS {
        all.push(Scenario::new(format!("derive/settings/{name}"), move |t| {
            settings(t, name)
        }));
    }
    all.push(Scenario::new("derive/low-order", low_order));
    all.push(Scenario::new("derive/refused-point", refused_point));
    all
}

/// A key into which a point was set that is not on its curve.
fn refused_point(t: &Transcript) {
    for name in ["ec-P-256", "ec-P-224"] {
        t.scene(format!("{name}, set"));
        let key = keys::private(t, name);
        let broken = Object(quietly!(t, EVP_PKEY_dup(key)) as *mut _);
        let point = [&[4], &[7; 64][..if name == "ec-P-256" { 64 } else { 56 }]].concat();
        int!(
            t,
            EVP_PKEY_set1_encoded_public_key(broken, &point, point.len())
        );
        t.scene(format!("{name}, used"));
        let operation = begin(t, "EVP_PKEY_derive_init", context(t, key));
        int!(t, EVP_PKEY_derive_set_peer_ex(operation, broken, 0));
        produce(t, "EVP_PKEY_derive", operation, Some(1000), &[], true);
        free(t, operation);
        let operation = begin(t, "EVP_PKEY_derive_init", context(t, broken));
        int!(t, EVP_PKEY_derive_set_peer(operation, key));
        produce(t, "EVP_PKEY_derive", operation, Some(1000), &[], true);
        free(t, operation);
    }
}

/// Every key as a peer, validated or not, with each size of buffer.
fn peers(t: &Transcript, name: &str) {
    let key = keys::private(t, name);
    for peer in keys::ALL {
        if !PEERS.contains(&peer.name) && peer.name != name {
            continue;
        }
        t.scene(format!("with {}", peer.name));
        let public = keys::public(t, peer.name);
        let pair = keys::private(t, peer.name);
        for peer in [public, pair] {
            let operation = begin(t, "EVP_PKEY_derive_init", context(t, key));
            int!(t, EVP_PKEY_derive_set_peer(operation, peer));
            produce(t, "EVP_PKEY_derive", operation, None, &[], true);
            for room in [0, 1, 16, 31, 32, 47, 48, 56, 66, 256, 1000] {
                produce(t, "EVP_PKEY_derive", operation, Some(room), &[], true);
            }
            free(t, operation);
            for validate in [0, 1] {
                let operation = begin(t, "EVP_PKEY_derive_init", context(t, key));
                int!(t, EVP_PKEY_derive_set_peer_ex(operation, peer, validate));
                produce(t, "EVP_PKEY_derive", operation, Some(1000), &[], true);
                free(t, operation);
            }
        }
    }
    t.scene("with a peer that has no public half");
    let empty = Object(quietly!(t, EVP_PKEY_new()) as *mut _);
    quietly!(t, EVP_PKEY_copy_parameters(empty, key));
    t.clear();
    if name.starts_with("ec") {
        let operation = begin(t, "EVP_PKEY_derive_init", context(t, key));
        int!(t, EVP_PKEY_derive_set_peer(operation, empty));
        produce(t, "EVP_PKEY_derive", operation, Some(1000), &[], true);
        free(t, operation);
    }
    t.scene("without a peer");
    let operation = begin(t, "EVP_PKEY_derive_init", context(t, key));
    produce(t, "EVP_PKEY_derive", operation, None, &[], true);
    produce(t, "EVP_PKEY_derive", operation, Some(1000), &[], true);
    free(t, operation);
    t.scene("without a beginning");
    let operation = context(t, key);
    int!(t, EVP_PKEY_derive_set_peer(operation, key));
    produce(t, "EVP_PKEY_derive", operation, Some(1000), &[], true);
    free(t, operation);
    t.scene("with half a key");
    let operation = begin(t, "EVP_PKEY_derive_init", context(t, keys::public(t, name)));
    int!(t, EVP_PKEY_derive_set_peer(operation, key));
    produce(t, "EVP_PKEY_derive", operation, Some(1000), &[], true);
    free(t, operation);
    t.scene("a refused peer, then a right one");
    let operation = begin(t, "EVP_PKEY_derive_init", context(t, key));
    for peer in ["rsa2048", "ec-P-256", "ec-P-384", "x25519", name] {
        int!(
            t,
            EVP_PKEY_derive_set_peer(operation, keys::public(t, peer))
        );
        produce(t, "EVP_PKEY_derive", operation, Some(1000), &[], true);
    }
    t.scene("a copy");
    let copy = Object(quietly!(t, EVP_PKEY_CTX_dup(operation)) as *mut _);
    t.say(&format!("{}{}", copy.is_null(), t.errors()));
    free(t, operation);
    produce(t, "EVP_PKEY_derive", copy, Some(1000), &[], true);
    produce(t, "EVP_PKEY_derive", copy, Some(1000), &[], true);
    begin(t, "EVP_PKEY_derive_init", copy);
}

fn every_setting() -> Vec<(&'static str, Params)> {
    vec![
        ("nothing", Params::new()),
        ("cofactor 1", Params::new().int("ecdh-cofactor-mode", 1)),
        ("cofactor 0", Params::new().int("ecdh-cofactor-mode", 0)),
        ("cofactor -1", Params::new().int("ecdh-cofactor-mode", -1)),
        ("cofactor 2", Params::new().int("ecdh-cofactor-mode", 2)),
        ("kdf X963", Params::new().text("kdf-type", "X963KDF")),
        ("kdf none", Params::new().text("kdf-type", "")),
        ("kdf wrong", Params::new().text("kdf-type", "no such")),
        ("kdf X942", Params::new().text("kdf-type", "X942KDF-ASN1")),
        (
            "kdf X963 whole",
            Params::new()
                .text("kdf-type", "X963KDF")
                .text("kdf-digest", "SHA256")
                .size("kdf-outlen", 40)
                .octets("kdf-ukm", b"u"),
        ),
        ("kdf-digest", Params::new().text("kdf-digest", "SHA512")),
        (
            "kdf-digest wrong",
            Params::new().text("kdf-digest", "no such"),
        ),
        (
            "kdf-digest-props",
            Params::new()
                .text("kdf-digest", "SHA1")
                .text("kdf-digest-props", "provider=default"),
        ),
        ("kdf-outlen", Params::new().size("kdf-outlen", 10)),
        (
            "kdf-outlen of the wrong type",
            Params::new().text("kdf-outlen", "10"),
        ),
        ("pad", Params::new().uint("pad", 1)),
        ("digest", Params::new().text("digest", "SHA256")),
        ("no such", Params::new().int("no such", 1)),
        ("tls", Params::new().octets("encoded-pub-key", &[1])),
    ]
}

fn settings(t: &Transcript, name: &str) {
    let key = keys::private(t, name);
    for (title, params) in every_setting() {
        for early in [true, false] {
            t.scene(format!(
                "{title}, {}",
                if early { "before the peer" } else { "after it" }
            ));
            let operation = begin(t, "EVP_PKEY_derive_init", context(t, key));
            if early {
                int!(t, EVP_PKEY_CTX_set_params(operation, params.arg()));
            }
            int!(t, EVP_PKEY_derive_set_peer(operation, key));
            if !early {
                int!(t, EVP_PKEY_CTX_set_params(operation, params.arg()));
            }
            read(t, operation);
            produce(t, "EVP_PKEY_derive", operation, None, &[], true);
            produce(t, "EVP_PKEY_derive", operation, Some(40), &[], true);
            produce(t, "EVP_PKEY_derive", operation, Some(1000), &[], true);
            // Gone with another beginning?
            let operation = begin(t, "EVP_PKEY_derive_init", operation);
            read(t, operation);
            int!(t, EVP_PKEY_derive_set_peer(operation, key));
            produce(t, "EVP_PKEY_derive", operation, Some(1000), &[], true);
            free(t, operation);
        }
        t.scene(format!("{title}, with the initialisation"));
        let operation = context(t, key);
        if int!(t, EVP_PKEY_derive_init_ex(operation, params.arg())) > 0 {
            int!(t, EVP_PKEY_derive_set_peer(operation, key));
            produce(t, "EVP_PKEY_derive", operation, Some(1000), &[], true);
        }
        free(t, operation);
        // A refused setting, then a right one.
        t.scene(format!("{title}, then a KDF"));
        let operation = begin(t, "EVP_PKEY_derive_init", context(t, key));
        int!(t, EVP_PKEY_CTX_set_params(operation, params.arg()));
        int!(t, EVP_PKEY_CTX_set_ecdh_kdf_type(operation, 2));
        let sha = Object(quietly!(t, EVP_sha256()) as *mut _);
        int!(t, EVP_PKEY_CTX_set_ecdh_kdf_md(operation, sha));
        int!(t, EVP_PKEY_CTX_set_ecdh_kdf_outlen(operation, 33));
        int!(t, EVP_PKEY_derive_set_peer(operation, key));
        let mut number = 0_i32;
        int!(t, EVP_PKEY_CTX_get_ecdh_kdf_outlen(operation, &mut number));
        t.say(&format!("{number}"));
        int!(t, EVP_PKEY_CTX_get_ecdh_kdf_type(operation));
        int!(t, EVP_PKEY_CTX_get_ecdh_cofactor_mode(operation));
        int!(t, EVP_PKEY_CTX_set_ecdh_cofactor_mode(operation, 1));
        produce(t, "EVP_PKEY_derive", operation, None, &[], true);
        produce(t, "EVP_PKEY_derive", operation, Some(1000), &[], true);
        free(t, operation);
    }
}

fn read(t: &Transcript, operation: Object) {
    if operation.is_null() {
        return;
    }
    for (name, kind) in [
        (c"ecdh-cofactor-mode", 1),
        (c"kdf-type", 4),
        (c"kdf-digest", 4),
        (c"kdf-outlen", 2),
        (c"pad", 2),
        (c"no such", 1),
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
    // EVP_PKEY_CTX_get0_ecdh_kdf_ukm
    let mut place = std::ptr::null_mut::<u8>();
    let answer = quietly!(t, EVP_PKEY_CTX_get0_ecdh_kdf_ukm(operation, &raw mut place)) as i32;
    t.say(&format!(
        "kdf-ukm {answer} {}{}",
        place.is_null(),
        t.errors()
    ));
}

const fn point(first: u8, last: u8, middle: u8) -> [u8; 32] {
    let mut point = [middle; 32];
    point[0] = first;
    point[31] = last;
    point
}

/// X25519 with points whose secret is nothing, and with encodings above the prime.
fn low_order(t: &Transcript) {
    for (title, public) in [
        ("0", point(0, 0, 0)),
        ("1", point(1, 0, 0)),
        ("p-1", point(0xec, 0x7f, 0xff)),
        ("p", point(0xed, 0x7f, 0xff)),
        ("p+1", point(0xee, 0x7f, 0xff)),
        ("high bit", point(9, 0x80, 0)),
        ("ones", [0xff; 32]),
        (
            "of order 8",
            *b"\xe0\xeb\x7a\x7c\x3b\x41\xb8\xae\x16\x56\xe3\xfa\xf1\x9f\xc4\x6a\xda\x09\x8d\xeb\x9c\x32\xb1\xfd\x86\x62\x05\x16\x5f\x49\xb8\x00",
        ),
    ] {
        t.scene(title);
        let peer = Object(quietly!(t, EVP_PKEY_new_raw_public_key_ex(NULL, c"X25519", NULL, &public, 32_usize)) as *mut _);
        let operation = begin(t, "EVP_PKEY_derive_init", context(t, keys::private(t, "x25519")));
        int!(t, EVP_PKEY_derive_set_peer(operation, peer));
        produce(t, "EVP_PKEY_derive", operation, Some(32), &[], true);
        free(t, operation);
    }
}
