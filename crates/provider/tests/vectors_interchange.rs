//! Every key that one side makes, the other uses; and what is deterministic is the same.

#![allow(clippy::unwrap_used)] // in helpers too, not only in the tests themselves

mod common;

use outboard_engine::Operation;
use outboard_libcrypto::{Context, DigestSigner, Key, Params, Structure};
use outboard_measure::{KeyKind, Keys, validate};

#[test]
fn each_side_accepts_what_the_other_makes() {
    for (version, sides) in common::sides_of_every_version() {
        let keys = Keys::new(&sides.stock);
        for operation in Operation::compared() {
            validate(&sides, &keys, operation)
                .unwrap_or_else(|error| panic!("{version}, {}: {error}", operation.name()));
        }
    }
}

#[test]
fn keys_go_both_ways_in_every_form() {
    let sides = common::sides();
    for &kind in KeyKind::ALL {
        for (maker, user) in [
            (&sides.stock, &sides.outboard),
            (&sides.outboard, &sides.stock),
        ] {
            let key = Key::generate(maker, kind.type_name(), &kind.generation()).unwrap();
            key.check().unwrap();
            for form in forms(&key, user) {
                assert_same(&key, &form, kind);
            }
            let public = key.public().unwrap().in_context(user).unwrap();
            assert_eq!(public.bits(), key.bits());
            public.public_check().unwrap();
        }
    }
}

/// The key in the other context, by way of every form that it has.
fn forms(key: &Key, user: &Context) -> Vec<Key> {
    let pem = key.to_pem(Structure::Pkcs8).unwrap();
    let der = key.to_der(Structure::Pkcs8).unwrap();
    let mut forms = vec![
        Key::from_pem(user, &pem, None).unwrap(),
        Key::from_der(user, &der).unwrap(),
    ];
    // X25519 and Ed25519 have no form of their own.
    if let Ok(der) = key.to_der(Structure::TypeSpecific) {
        forms.push(Key::from_der(user, &der).unwrap());
    }
    forms.push(forms[0].duplicate().unwrap());
    forms
}

fn assert_same(key: &Key, other: &Key, kind: KeyKind) {
    let name = kind.name();
    assert_eq!(
        *key.to_der(Structure::Pkcs8).unwrap(),
        *other.to_der(Structure::Pkcs8).unwrap()
    );
    assert_eq!(key.bits(), other.bits(), "{name}");
    assert_eq!(key.security_bits(), other.security_bits(), "{name}");
    assert_eq!(key.size(), other.size(), "{name}");
    other.check().unwrap();
}

#[test]
fn signatures_without_chance_are_the_same() {
    let sides = common::sides();
    let keys = Keys::new(&sides.stock);
    let kinds = [
        KeyKind::Rsa(2048),
        KeyKind::Rsa(3072),
        KeyKind::Rsa(4096),
        KeyKind::Ed25519,
    ];
    for kind in kinds {
        let digests: &[Option<&str>] = match kind {
            KeyKind::Ed25519 => &[None],
            _ => &[
                Some("SHA1"),
                Some("SHA256"),
                Some("SHA384"),
                Some("SHA512"),
                Some("SHA3-256"),
            ],
        };
        for &digest in digests {
            for message in [&b""[..], b"a", &[0x61; 100_000]] {
                let [stock, outboard] = common::both(&sides).map(|(_, context)| {
                    let key = keys.private(context, kind).unwrap();
                    let mut signer = DigestSigner::new(&key, digest, &Params::new()).unwrap();
                    signer.sign(message).unwrap()
                });
                assert!(stock == outboard, "{} with {digest:?}", kind.name());
            }
        }
    }
}
